"""The products on which Python and the JSON Schema must agree: what the rules of each connector and engine relate."""

from __future__ import annotations

from typing import Any

from pdtopology.connectors.kinds import CONNECTORS
from pdtopology.kv_cache_dtypes import SGLANG_DTYPE_GROUPS, VLLM_DTYPES
from tests.agreement.documents import UNSTATED, Axis, Product, axis, of_both_roles, of_each_role

MORIIO: Axis = tuple({"connector.kind": "moriio", "connector.mode": mode} for mode in ("read", "write"))
NIXL: Axis = tuple({"connector.kind": "nixl", "connector.mode": mode} for mode in ("pull", "push"))
MOONCAKE = axis("connector.kind", "mooncake")
OTHER = axis("connector.kind", "other")
SGLANG: Axis = tuple({"engine.name": "sglang", "connector.kind": kind} for kind in CONNECTORS)
EVERY: Axis = (*MORIIO, *NIXL, *MOONCAKE, *OTHER, SGLANG[1])

RELEASES = axis("engine.version", UNSTATED, "0.26", "0.28.1", "v0.30.0", "0.32.1", "0.33.0rc1")
MLA = axis("model.is_mla", False, True)
TRAITS: Axis = tuple(
    {"model.has_mamba_layers": mamba, "model.has_sliding_window_layers": window}
    for mamba in (False, True)
    for window in (False, True)
)
TP_PAIRS: Axis = tuple(
    {"prefill.tensor_parallel_size": prefill, "decode.tensor_parallel_size": decode}
    for prefill, decode in ((1, 1), (2, 4), (4, 2), (8, 8))
)

_TP = of_each_role("role.tensor_parallel_size", *range(1, 49))
_SIZES = (*_TP, axis("model.total_num_kv_heads", *range(1, 33)), MLA)
_FEW_TP = of_each_role("role.tensor_parallel_size", 1, 2, 3, 4, 6, 8, 12, 16)
_ALL_TP = of_both_roles("role.tensor_parallel_size", *range(1, 513))
_ONE_MLA = axis("model.is_mla", True)
_ONE_HEAD = axis("model.total_num_kv_heads", 1)
_EIGHT_HEADS = axis("model.total_num_kv_heads", 8)
SIZES = (
    Product("MoRIIO's sizes", (*_SIZES, MORIIO, RELEASES)),
    Product("NIXL's sizes", (*_SIZES, NIXL, RELEASES)),
    Product("Mooncake's sizes", (*_SIZES, MOONCAKE, RELEASES)),
    Product("sizes of other connectors", (*_SIZES, OTHER)),
    Product("SGLang's sizes", (*_SIZES, SGLANG)),
    Product(
        "attention heads",
        (
            *_FEW_TP,
            axis("model.total_num_kv_heads", UNSTATED, 1, 2, 3, 4, 8, 12),
            axis("model.num_attention_heads", UNSTATED, None, 12, 16, 24, 48, 64, 96),
            MLA,
            EVERY,
        ),
    ),
    Product(
        "two numbers of KV heads",
        (
            *_FEW_TP,
            axis("model.total_num_kv_heads", 1, 2, 4, 8),
            axis("model.other_total_num_kv_heads", UNSTATED, None, 1, 2, 3, 4, 8, 16, 37, 64),
            MLA,
            EVERY,
        ),
    ),
    Product("all TP sizes and KV heads", (_ALL_TP, axis("model.total_num_kv_heads", *range(1, 1025)))),
    Product(
        "all TP sizes and attention heads", (_ALL_TP, axis("model.num_attention_heads", *range(1, 1025)), _ONE_MLA)
    ),
    Product(
        "all TP sizes and other KV heads", (_ALL_TP, axis("model.other_total_num_kv_heads", *range(1, 65)), _ONE_HEAD)
    ),
    Product("all pairs of TP sizes", (*of_each_role("role.tensor_parallel_size", *range(1, 513)), _ONE_MLA)),
)

_BLOCK_SIZES = of_each_role("role.block_size", UNSTATED, None, 1, 8, 16, 24, 37, 48, 64, 74, 127, 254, 1021, 1024)
_FEW_BLOCK_SIZES = of_each_role("role.block_size", UNSTATED, 16, 32, 48)
BLOCK_SIZES = (
    Product("block sizes", (*_BLOCK_SIZES, TP_PAIRS, _EIGHT_HEADS, MLA, TRAITS, EVERY, RELEASES[:3])),
    Product(
        "NIXL's block sizes",
        (
            *_BLOCK_SIZES,
            axis("connector.kv_buffer_device", UNSTATED, None, "cuda", "cpu"),
            TP_PAIRS,
            _EIGHT_HEADS,
            MLA,
            NIXL,
            RELEASES[:3],
        ),
    ),
    Product(
        "all pairs of NIXL's block sizes", (*of_each_role("role.block_size", *range(1, 1025)), _ONE_HEAD, NIXL[:1])
    ),
    Product(
        "all pairs of SGLang's page sizes", (*of_each_role("role.block_size", *range(1, 1025, 3)), _ONE_HEAD, SGLANG)
    ),
)

_MODELS: Axis = (
    {"model.is_mla": True},
    {"model.is_mla": True, "model.has_mamba_layers": True},
    {"model.total_num_kv_heads": 1},
    {"model.total_num_kv_heads": 2, "model.num_attention_heads": 12},
)
PARALLELISM = (
    Product(
        "context parallel sizes",
        (
            *of_each_role("role.tensor_parallel_size", 1, 2, 4, 6),
            *of_each_role("role.decode_context_parallel_size", 1, 2, 4),
            *of_each_role("role.prefill_context_parallel_size", 1, 2, 3),
            _MODELS,
            EVERY,
            RELEASES[:4],
        ),
    ),
    Product(
        "all TP and decode context parallel sizes",
        (_ALL_TP, of_both_roles("role.decode_context_parallel_size", *range(1, 65)), _ONE_MLA, NIXL[:1]),
    ),
    Product(
        "decode context parallel sizes and KV heads",
        (
            of_both_roles("role.tensor_parallel_size", *range(1, 65), 74, 111, 128, 254, 256, 508, 509, 512),
            of_both_roles("role.decode_context_parallel_size", 1, 2, 3, 4),
            axis("model.total_num_kv_heads", *range(1, 65), 74, 127, 128, 254, 508, 1018, 1024),
            EVERY,
        ),
    ),
    Product(
        "all of SGLang's decode context parallel sizes",
        (*of_each_role("role.decode_context_parallel_size", *range(1, 65)), _ONE_MLA, SGLANG),
    ),
    Product(
        "all pipelines of SGLang", (*of_each_role("role.pipeline_parallel_size", *range(1, 65)), _ONE_HEAD, SGLANG)
    ),
    Product(
        "pipelines",
        (
            *of_each_role("role.pipeline_parallel_size", 1, 2, 3),
            *_FEW_BLOCK_SIZES,
            TP_PAIRS,
            TRAITS,
            MLA,
            *of_each_role("role.engine_args.disable-hybrid-kv-cache-manager", UNSTATED, True),
            _EIGHT_HEADS,
            (*NIXL, MORIIO[1], *MOONCAKE, SGLANG[2]),
            (RELEASES[0], *RELEASES[2:]),
        ),
    ),
    Product(
        "data parallel sizes",
        (
            *of_each_role("role.tensor_parallel_size", 1, 2),
            *of_each_role("role.data_parallel_size", UNSTATED, 1, 2, 8),
            *of_each_role("role.data_parallel_size_local", UNSTATED, None, 0, 1, 2),
            of_both_roles("role.prefill_context_parallel_size", 1, 2),
            _ONE_HEAD,
            EVERY,
            RELEASES[:4],
        ),
    ),
    Product(
        "roles of KV caches",
        (
            *of_each_role("connector.role.kv_role", UNSTATED, None, "kv_producer", "kv_consumer", "kv_both"),
            axis("prefill.prefill_context_parallel_size", 1, 2),
            _ONE_HEAD,
            (*EVERY, *SGLANG),
            RELEASES,
        ),
    ),
    Product(
        "bidirectional transfers",
        (
            axis("connector.bidirectional_kv_xfer", UNSTATED, False, True),
            *of_each_role("role.prefill_context_parallel_size", 1, 2),
            *of_each_role("role.decode_context_parallel_size", 1, 2),
            of_both_roles("role.tensor_parallel_size", 1, 2),
            _MODELS,
            NIXL,
            RELEASES,
        ),
    ),
)

_DTYPES = (UNSTATED, None, *VLLM_DTYPES, *(name for group in SGLANG_DTYPE_GROUPS for name in group), "unknown")
_SPECULATION: tuple[Any, ...] = (
    UNSTATED,
    None,
    "eagle3",
    {},
    {"method": None},
    {"method": "none"},
    {"method": "eagle"},
    {"method": "mtp"},
    {"method": "deepseek_mtp"},
    {"method": "dspark"},
    {"method": "ngram"},
    {"method": 1},
)
CACHES = (
    Product(
        "types of KV caches",
        (
            *of_each_role("role.kv_cache_dtype", *dict.fromkeys(_DTYPES)),
            TP_PAIRS,
            axis("model.total_num_kv_heads", 2, 8),
            MLA,
            EVERY,
            (RELEASES[0], RELEASES[2], RELEASES[4]),
        ),
    ),
    Product(
        "types of KV caches beside block sizes",
        (
            *of_each_role("role.kv_cache_dtype", UNSTATED, "auto", "bfloat16", "float16", "fp8", "fp8_inc", "nvfp4"),
            *_FEW_BLOCK_SIZES,
            _EIGHT_HEADS,
            MLA,
            EVERY,
        ),
    ),
    Product(
        "layouts of KV caches",
        (
            *of_each_role("role.kv_cache_layout", UNSTATED, None, "NHD", "HND", "LBNHC", "LBHNC", "LHBNC", "BLNHC"),
            axis("connector.enable_permute_local_kv", UNSTATED, True),
            *of_each_role("role.env.VLLM_KV_CACHE_LAYOUT", UNSTATED, "NHD"),
            TP_PAIRS,
            TRAITS[1:3],
            axis("model.total_num_kv_heads", 2, 8),
            MLA,
            NIXL,
        ),
    ),
    Product(
        "hybrid models",
        (
            TRAITS,
            *of_each_role("role.env.VLLM_SSM_CONV_STATE_LAYOUT", UNSTATED, "DS", "SD"),
            *of_each_role("role.engine_args.disable-hybrid-kv-cache-manager", UNSTATED, True, 1),
            *of_each_role("role.engine_args.disable_hybrid_kv_cache_manager", UNSTATED, True, None),
            TP_PAIRS[:2],
            _ONE_HEAD,
            MLA,
            (*MORIIO, *NIXL, *SGLANG[:1]),
            RELEASES,
        ),
    ),
    Product(
        "speculative methods",
        (
            *of_each_role("role.engine_args.speculative-config", *_SPECULATION),
            *of_each_role("role.engine_args.speculative_config", UNSTATED, None, {"method": "eagle"}),
            axis("decode.engine_args.spec-method", UNSTATED, "mtp"),
            axis("model.has_mamba_layers", False, True),
            _ONE_HEAD,
            EVERY,
            (RELEASES[0], *RELEASES[2:5]),
        ),
    ),
    Product(
        "the handshake of NIXL",
        (
            axis("connector.enforce_handshake_compat", UNSTATED, True, False),
            *of_each_role("role.kv_cache_dtype", UNSTATED, "fp8", "nvfp4"),
            *of_each_role("role.engine_args.speculative-config", UNSTATED, {"method": "eagle"}),
            *of_each_role("role.engine_args.disable-hybrid-kv-cache-manager", UNSTATED, True),
            TRAITS,
            TP_PAIRS,
            _EIGHT_HEADS,
            NIXL,
            RELEASES[2:4],
        ),
    ),
)

_FLAG_VALUES = (UNSTATED, True, False, None, 1, 1.0, "true", [True])
_FLAGS = ("enable-return-routed-experts", "use-replayssm", "enable-sleep-mode")
ARGUMENTS = (
    *(
        Product(
            f"the flag {flag}",
            (
                *of_each_role(f"role.engine_args.{flag}", *_FLAG_VALUES),
                *of_each_role(f"role.engine_args.{flag.replace('-', '_')}", UNSTATED, True),
                _ONE_HEAD,
                EVERY,
                RELEASES,
            ),
        )
        for flag in _FLAGS
    ),
    Product(
        "Mooncake's protocols",
        (
            axis("connector.protocol", UNSTATED, "rdma", "tcp"),
            *of_each_role("role.engine_args.enable-sleep-mode", *_FLAG_VALUES),
            *of_each_role("role.engine_args.enable_sleep_mode", UNSTATED, True),
            _ONE_HEAD,
            MOONCAKE,
            RELEASES,
        ),
    ),
    Product(
        "SGLang's features",
        (
            *of_each_role("role.engine_args.enable-kv-cache-sharding", UNSTATED, True, 1),
            *of_each_role("role.engine_args.enable_unified_memory", UNSTATED, True, None),
            of_both_roles("role.decode_context_parallel_size", 1, 2),
            axis("prefill.prefill_context_parallel_size", 1, 2),
            TP_PAIRS,
            _MODELS,
            SGLANG,
        ),
    ),
    Product(
        "variables of the environment",
        (
            *of_each_role("role.env.SGLANG_DISAGG_STAGING_BUFFER", UNSTATED, "1", "TRUE", "yEs", "y", "0", "1\n", "a1"),
            *of_each_role("role.env.PYTORCH_CUDA_ALLOC_CONF", UNSTATED, "", "a:1,expandable_segments:True"),
            of_both_roles("role.engine_args.enable-sleep-mode", UNSTATED, None, True),
            _MODELS,
            (*EVERY, *SGLANG),
        ),
    ),
    Product(
        "names of connectors",
        (
            axis("connector.name", UNSTATED, None, "fake", "mori", "AcmeConnector"),
            _ONE_HEAD,
            (*OTHER, SGLANG[-1]),
            RELEASES,
        ),
    ),
)

PRODUCTS = (*SIZES, *BLOCK_SIZES, *PARALLELISM, *CACHES, *ARGUMENTS)
