"""What NIXL demands of the two KV caches' types, draft models and managers."""

from __future__ import annotations

from pdtopology.connectors.examples import GQA
from pdtopology.connectors.nixl.keys import ENFORCES_COMPATIBILITY
from pdtopology.connectors.nixl.sources import COMPATIBILITY, HANDSHAKE
from pdtopology.constraints import Expression, agree, same
from pdtopology.constraints.expressions import for_role
from pdtopology.keys import (
    DECODE_DTYPE,
    DECODE_TP,
    ENGINE_ARGUMENTS,
    HYBRID_MANAGER_IS_OFF,
    IS_MLA,
    KV_HEADS,
    PREFILL_DTYPE,
    PREFILL_TP,
    SPECULATIVE_METHOD,
    SPECULATIVE_METHOD_IS_KNOWN,
)
from pdtopology.kv_cache_dtypes import FOUR_BIT_DTYPES, VLLM_DTYPES
from pdtopology.rule import Rule, Severity, Stage, Upstream

_SAME_DTYPE = agree(PREFILL_DTYPE, DECODE_DTYPE, *((name,) for name in VLLM_DTYPES))


def _are(*names: str) -> Expression:
    return PREFILL_DTYPE.is_(*names) & DECODE_DTYPE.is_(*names)


# What auto becomes where the checkpoint says so, and the names for which an MLA backend writes another.
_MAY_BECOME_ONE_DTYPE = (
    _are("auto", "fp8")
    | _are("auto", "fp8_e4m3")
    | _are("auto", "fp8_ds_mla")
    | _are("auto", "nvfp4")
    | (IS_MLA & (_are("auto", "bfloat16") | _are("fp8", "fp8_e4m3", "fp8_ds_mla")))
)

# The methods that vLLM compares, by the names that it takes for each; n-gram and suffix methods need not match.
_SPECULATIVE_METHODS = (
    ("eagle",),
    ("eagle3",),
    ("dflash",),
    ("dspark",),
    ("mtp", "deepseek_mtp", "mimo_mtp", "glm4_moe_mtp", "ernie_mtp", "qwen3_next_mtp", "longcat_flash_mtp"),
)

_PREFILL_MANAGER_IS_OFF = for_role(HYBRID_MANAGER_IS_OFF, "prefill")
_DECODE_MANAGER_IS_OFF = for_role(HYBRID_MANAGER_IS_OFF, "decode")

RULES = (
    Rule(
        code="nixl-kv-cache-dtype-mismatch",
        title="NIXL needs the same kv_cache_dtype on both roles",
        connectors=("nixl",),
        at=DECODE_DTYPE,
        see=(PREFILL_DTYPE,),
        when=ENFORCES_COMPATIBILITY,
        require=_SAME_DTYPE | _MAY_BECOME_ONE_DTYPE,
        message="decode kv_cache_dtype {decode_kv_cache_dtype} must be prefill's, {prefill_kv_cache_dtype}",
        why="The setting is part of the compatibility hash that the two exchange, word for word: auto differs from "
        "bfloat16 there, and fp8 from fp8_e4m3.",
        fix="Write the same kv_cache_dtype for both roles.",
        raised=Stage.FIRST_REQUEST,
        source=COMPATIBILITY,
        bad={
            "model": GQA,
            "connector": {"kind": "nixl"},
            "prefill": {"kv_cache_dtype": "bfloat16"},
            "decode": {"kv_cache_dtype": "fp8"},
        },
    ),
    Rule(
        code="nixl-kv-cache-dtype-unresolved",
        title="NIXL compares KV-cache data types that vLLM resolves first",
        connectors=("nixl",),
        severity=Severity.UNDETERMINED,
        at=DECODE_DTYPE,
        see=(PREFILL_DTYPE,),
        when=ENFORCES_COMPATIBILITY & _MAY_BECOME_ONE_DTYPE,
        require=_SAME_DTYPE,
        message="prefill kv_cache_dtype {prefill_kv_cache_dtype} and decode {decode_kv_cache_dtype}: it cannot be told "
        "whether they become the same",
        why="auto becomes the type that a quantized checkpoint names, and the backends of sparse MLA models write "
        "another name for fp8. Where the two then differ, the handshake refuses every request.",
        fix="Write the same kv_cache_dtype for both roles.",
        raised=Stage.FIRST_REQUEST,
        source=Upstream("vllm/utils/torch_utils.py", "resolve_kv_cache_dtype_string"),
        bad={"model": GQA, "connector": {"kind": "nixl"}, "prefill": {}, "decode": {"kv_cache_dtype": "fp8"}},
    ),
    Rule(
        code="nixl-kv-cache-dtype-unchecked",
        title="Without the handshake's check, KV caches of two types are copied as they are",
        connectors=("nixl",),
        severity=Severity.WARNING,
        at=DECODE_DTYPE,
        see=(PREFILL_DTYPE,),
        when=~ENFORCES_COMPATIBILITY,
        require=_SAME_DTYPE,
        message="decode kv_cache_dtype {decode_kv_cache_dtype} should be prefill's, {prefill_kv_cache_dtype}",
        why="enforce_handshake_compat is false, so nothing compares the types, and nothing converts them.",
        fix="Write the same kv_cache_dtype for both roles.",
        raised=Stage.NEVER,
        source=COMPATIBILITY,
        bad={
            "model": GQA,
            "connector": {"kind": "nixl", "enforce_handshake_compat": False},
            "prefill": {},
            "decode": {"kv_cache_dtype": "fp8"},
        },
    ),
    Rule(
        code="nixl-speculative-method-mismatch",
        title="NIXL needs one model-based speculative method on both roles",
        connectors=("nixl",),
        at=SPECULATIVE_METHOD.for_role("decode"),
        see=(SPECULATIVE_METHOD.for_role("prefill"),),
        when=ENFORCES_COMPATIBILITY
        & for_role(SPECULATIVE_METHOD_IS_KNOWN, "prefill")
        & for_role(SPECULATIVE_METHOD_IS_KNOWN, "decode"),
        require=agree(
            SPECULATIVE_METHOD.for_role("prefill"), SPECULATIVE_METHOD.for_role("decode"), *_SPECULATIVE_METHODS
        ),
        since=(0, 28),
        message="decode speculative method {decode_speculative_config_method} must be prefill's, "
        "{prefill_speculative_config_method}",
        why="A draft model has KV caches of its own, so its method is part of the compatibility hash. Methods without "
        "a model, such as ngram, may differ.",
        fix="Give both roles the same speculative-config.",
        raised=Stage.FIRST_REQUEST,
        source=COMPATIBILITY,
        bad={
            "model": GQA,
            "connector": {"kind": "nixl"},
            "prefill": {},
            "decode": {"engine_args": {"speculative-config": {"method": "eagle3"}}},
        },
    ),
    Rule(
        code="nixl-hybrid-manager-mismatch",
        title="NIXL needs the hybrid KV-cache manager on both roles, or on neither",
        connectors=("nixl",),
        at=ENGINE_ARGUMENTS.for_role("decode"),
        see=(ENGINE_ARGUMENTS.for_role("prefill"),),
        when=ENFORCES_COMPATIBILITY,
        require=(_PREFILL_MANAGER_IS_OFF & _DECODE_MANAGER_IS_OFF)
        | (~_PREFILL_MANAGER_IS_OFF & ~_DECODE_MANAGER_IS_OFF),
        after=("mamba-without-hybrid-manager",),
        message="disable-hybrid-kv-cache-manager must be set for both roles or for neither",
        why="The groups of blocks differ with the manager, so that it is part of the compatibility hash, for models "
        "without such groups too.",
        fix="Set disable-hybrid-kv-cache-manager in the engine_args of both roles, or of neither.",
        raised=Stage.FIRST_REQUEST,
        source=COMPATIBILITY,
        bad={
            "model": {**GQA, "has_sliding_window_layers": True},
            "connector": {"kind": "nixl"},
            "prefill": {"engine_args": {"disable-hybrid-kv-cache-manager": True}},
            "decode": {},
        },
    ),
    Rule(
        code="nixl-nvfp4-unequal-heads",
        title="NIXL cannot reshard an NVFP4 KV cache",
        connectors=("nixl",),
        at=DECODE_TP,
        see=(PREFILL_TP, KV_HEADS),
        when=~IS_MLA & PREFILL_DTYPE.is_(*FOUR_BIT_DTYPES) & ~same(PREFILL_TP, DECODE_TP),
        require=(PREFILL_TP >= KV_HEADS) & (DECODE_TP >= KV_HEADS),
        after=("tp-not-divisible", "kv-heads-not-divisible", "nixl-kv-cache-dtype-mismatch"),
        since=(0, 33),
        message="prefill TP {prefill_tp} and decode TP {decode_tp} must be equal, or both at least the {kv_heads} KV "
        "heads, with an NVFP4 cache",
        why="The scales of a four-bit block belong to all its heads, so a block cannot be cut.",
        fix="Make the two TP sizes equal, or choose another kv_cache_dtype.",
        raised=Stage.FIRST_REQUEST,
        source=HANDSHAKE,
        bad={
            "model": {"total_num_kv_heads": 8},
            "connector": {"kind": "nixl"},
            "prefill": {"tensor_parallel_size": 2, "kv_cache_dtype": "nvfp4"},
            "decode": {"tensor_parallel_size": 4, "kv_cache_dtype": "nvfp4"},
        },
    ),
    Rule(
        code="nixl-nvfp4-sliced",
        title="NIXL before vLLM 0.33 slices an NVFP4 KV cache wrongly",
        connectors=("nixl",),
        severity=Severity.WARNING,
        at=DECODE_TP,
        see=(PREFILL_TP, KV_HEADS),
        when=~IS_MLA & PREFILL_DTYPE.is_(*FOUR_BIT_DTYPES) & ~same(PREFILL_TP, DECODE_TP),
        require=(PREFILL_TP >= KV_HEADS) & (DECODE_TP >= KV_HEADS),
        after=(
            "tp-not-divisible",
            "kv-heads-not-divisible",
            "nixl-kv-cache-dtype-mismatch",
            "nixl-nvfp4-unequal-heads",
        ),
        until=(0, 33),
        message="prefill TP {prefill_tp} and decode TP {decode_tp} should be equal, or both at least the {kv_heads} KV "
        "heads, with an NVFP4 cache",
        why="Before vLLM 0.33 nothing refuses the cut of a four-bit block, whose scales belong to all its heads.",
        fix="Make the two TP sizes equal, or choose another kv_cache_dtype.",
        raised=Stage.NEVER,
        source=HANDSHAKE,
        bad={
            "engine": {"version": "0.32"},
            "model": {"total_num_kv_heads": 8},
            "connector": {"kind": "nixl"},
            "prefill": {"tensor_parallel_size": 2, "kv_cache_dtype": "nvfp4"},
            "decode": {"tensor_parallel_size": 4, "kv_cache_dtype": "nvfp4"},
        },
    ),
)
