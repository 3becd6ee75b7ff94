"""Names of KV-cache data types, by engine; names that are not here are passed on and compared with nothing."""

from __future__ import annotations

# vLLM CacheDType, vllm/config/cache.py, 0.26 to 0.33.
VLLM_DTYPES = (
    "auto",
    "float16",
    "bfloat16",
    "fp8",
    "fp8_e4m3",
    "fp8_e5m2",
    "fp8_inc",
    "fp8_ds_mla",
    "nvfp4_ds_mla",
    "nvfp4",
    "nvfp4_4over6",
    "int4_per_token_head",
    "int8_per_token_head",
    "fp8_per_token_head",
)
TWO_BYTE_DTYPES = ("float16", "bfloat16")
ONE_BYTE_DTYPES = ("fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc")
FOUR_BIT_DTYPES = ("nvfp4", "nvfp4_4over6")

SGLANG_DTYPE_GROUPS = (
    ("bfloat16", "bf16"),
    ("fp8_e4m3",),
    ("fp8_e5m2",),
    ("mxfp8",),
    ("nvfp4",),
    ("fp4_mx_block16",),
)
"""What SGLang compares once it has resolved `auto`, which cannot be told from outside."""
