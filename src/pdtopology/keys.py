"""The keys of the document that rules read: where each is, what its absence means, how large it may be.

JSON Schema can relate two sizes exactly where both are bounded, so sizes that take part in relations are. No real
deployment comes near the bounds.
"""

from __future__ import annotations

from functools import cache, reduce
from operator import or_

from pdtopology.constraints import Expression, Key, same
from pdtopology.constraints.expressions import for_role

MAX_TENSOR_PARALLEL_SIZE = 512
"""No model comes near: the size must divide the attention heads."""
MAX_HEADS = 1024
"""Far above the most attention heads that any published model has."""
MAX_OTHER_KV_HEADS = 64
MAX_CONTEXT_PARALLEL_SIZE = 64
"""A decode context parallel size divides the TP size, and so the attention heads."""
MAX_PIPELINE_PARALLEL_SIZE = 64
"""Each stage holds whole layers."""
MAX_BLOCK_SIZE = 1024

OFFERED_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64)
"""The TP sizes that editors offer where they fit; others are as valid."""

TP = Key(
    "tp",
    "role.tensor_parallel_size",
    default=1,
    maximum=MAX_TENSOR_PARALLEL_SIZE,
    common=(1, 2, 4, 6, 8, 16, 32),
)
PREFILL_TP = TP.for_role("prefill")
DECODE_TP = TP.for_role("decode")

PP = Key("pp", "role.pipeline_parallel_size", default=1, maximum=MAX_PIPELINE_PARALLEL_SIZE)
PREFILL_PP = PP.for_role("prefill")
DECODE_PP = PP.for_role("decode")

DP = Key("dp", "role.data_parallel_size", default=1)
DP_LOCAL = Key("dp_local", "role.data_parallel_size_local")

PCP = Key("pcp", "role.prefill_context_parallel_size", default=1, maximum=MAX_CONTEXT_PARALLEL_SIZE)
PREFILL_PCP = PCP.for_role("prefill")
DECODE_PCP = PCP.for_role("decode")
DCP = Key("dcp", "role.decode_context_parallel_size", default=1, maximum=MAX_CONTEXT_PARALLEL_SIZE)
PREFILL_DCP = DCP.for_role("prefill")
DECODE_DCP = DCP.for_role("decode")

BLOCK_SIZE = Key("block_size", "role.block_size", maximum=MAX_BLOCK_SIZE)
PREFILL_BLOCK_SIZE = BLOCK_SIZE.for_role("prefill")
DECODE_BLOCK_SIZE = BLOCK_SIZE.for_role("decode")

KV_CACHE_DTYPE = Key("kv_cache_dtype", "role.kv_cache_dtype", default="auto", nullable=True)
PREFILL_DTYPE = KV_CACHE_DTYPE.for_role("prefill")
DECODE_DTYPE = KV_CACHE_DTYPE.for_role("decode")

# Layouts by their names before and since vLLM 0.30. NIXL and Mooncake ask the engine for the first where none is set.
HEADS_FIRST = ("HND", "LBHNC")
TOKENS_FIRST = ("NHD", "LBNHC")
LAYOUT_GROUPS = (HEADS_FIRST, TOKENS_FIRST, ("LHBNC",), ("BLHNC",), ("BLNHC",), ("BHLNC",))
CONTIGUOUS_HEADS = (*HEADS_FIRST, "BLHNC")
"""Layouts in which the heads of a block lie together. vLLM `KVCacheLayout.is_block_contiguous`."""
LAYOUT = Key("kv_cache_layout", "role.kv_cache_layout", default="HND", nullable=True)

ATTENTION_HEADS = Key(
    "attention_heads",
    "model.num_attention_heads",
    maximum=MAX_HEADS,
    common=(16, 32, 40, 64, 128),
)
KV_HEADS = Key(
    "kv_heads",
    "model.total_num_kv_heads",
    maximum=MAX_HEADS,
    common=(1, 2, 4, 8, 16, 32),
)
OTHER_KV_HEADS = Key("other_kv_heads", "model.other_total_num_kv_heads", maximum=MAX_OTHER_KV_HEADS)
IS_MLA = Key("is_mla", "model.is_mla", default=False).is_(True)
HAS_MAMBA = Key("has_mamba", "model.has_mamba_layers", default=False).is_(True)
HAS_SLIDING_WINDOW = Key("has_sliding_window", "model.has_sliding_window_layers", default=False).is_(True)
HF_CONFIG = Key("hf_config", "model.hf_config")

CONNECTOR_KIND = Key("kind", "connector.kind", default="moriio")
CONNECTOR_NAME = Key("connector_name", "connector.name")
MORIIO_MODE = Key("mode", "connector.mode", default="read")
NIXL_MODE = Key("nixl_mode", "connector.mode", default="pull")
KV_ROLE = Key("kv_role", "connector.role.kv_role", default="its role's own", nullable=True)
PREFILL_KV_ROLE = KV_ROLE.for_role("prefill")
DECODE_KV_ROLE = KV_ROLE.for_role("decode")

ENGINE_NAME = Key("engine", "engine.name", default="vllm")
ENGINE_VERSION = Key("version", "engine.version")


@cache
def argument(name: str, default: str | bool | None = None) -> tuple[Key, Key]:
    """An argument of `engine_args`, in the two spellings that engines take: `use-x` and `use_x`."""
    plain = name.replace("-", "_")
    short = plain.replace(".", "_") if default is not None else f"stated_{plain.replace('.', '_')}"
    dashed, underscored = (
        Key(spelling, f"role.engine_args.{path}", default=default, nullable=default is not None)
        for spelling, path in ((short, name), (f"{short}_", plain))
    )
    return dashed, underscored


def flag(name: str) -> Expression:
    """Whether a role's `engine_args` turn a flag on."""
    dashed, underscored = argument(name, default=False)
    return dashed.is_(True) | underscored.is_(True)


def is_stated(name: str) -> Expression:
    """Whether a role's `engine_args` say anything of an argument."""
    dashed, underscored = argument(name)
    return dashed.is_set | underscored.is_set


HYBRID_MANAGER_IS_OFF = flag("disable-hybrid-kv-cache-manager")
"""Without it, vLLM treats sliding-window layers as full attention."""
HAS_WINDOW_GROUPS = HAS_SLIDING_WINDOW & ~(
    for_role(HYBRID_MANAGER_IS_OFF, "prefill") & for_role(HYBRID_MANAGER_IS_OFF, "decode")
)
"""Whether some role keeps the cache of sliding-window layers in groups of its own."""

EQUAL_BLOCK_SIZES = same(PREFILL_BLOCK_SIZE, DECODE_BLOCK_SIZE)
EQUAL_TP = same(PREFILL_TP, DECODE_TP)

ENGINE_ARGUMENTS = Key("engine_args", "role.engine_args")
PLACING_ARGUMENTS = ("nnodes", "data-parallel-rank", "data-parallel-backend")
"""Those that say how many data-parallel ranks a node has; without them it has those of `data_parallel_size_local`."""
RANKS_ARE_PLACED_BY_ARGUMENTS: Expression = reduce(or_, map(is_stated, PLACING_ARGUMENTS))

SPECULATIVE_METHOD = argument("speculative-config.method", default="none")[0]
SPECULATIVE_METHOD_IS_KNOWN = ~(
    argument("speculative-config")[1].is_set | argument("spec-method")[0].is_set | argument("spec-model")[0].is_set
) & (argument("speculative-config.method")[0].is_set | ~argument("speculative-config")[0].is_set)
"""Whether `speculative-config.method` is all that is said of it: vLLM finds out an unstated method from the model."""

CONV_STATE_LAYOUT = Key("conv_state_layout", "role.env.VLLM_SSM_CONV_STATE_LAYOUT")
ENV_LAYOUT = Key("env_layout", "role.env.VLLM_KV_CACHE_LAYOUT")
LAYOUTS_ARE_KNOWN = ~ENV_LAYOUT.for_role("prefill").is_set & ~ENV_LAYOUT.for_role("decode").is_set
"""Whether no variable of `env` sets a layout past the field."""
