"""What SGLang demands of the two caches: pages, data types and sliding windows."""

from __future__ import annotations

from pdtopology.connectors.examples import GQA, MLA
from pdtopology.constraints import agree, same
from pdtopology.keys import (
    DECODE_BLOCK_SIZE,
    DECODE_DTYPE,
    DECODE_TP,
    EQUAL_BLOCK_SIZES,
    EQUAL_TP,
    HAS_SLIDING_WINDOW,
    IS_MLA,
    PREFILL_BLOCK_SIZE,
    PREFILL_DTYPE,
    PREFILL_PP,
    PREFILL_TP,
)
from pdtopology.kv_cache_dtypes import SGLANG_DTYPE_GROUPS
from pdtopology.rule import Rule, Severity, Stage, Upstream
from pdtopology.sglang.sources import CONNECTION, PARALLEL_INFO, SGLANG

_PLAIN_DTYPES = tuple(name for group in SGLANG_DTYPE_GROUPS for name in group)

RULES = (
    Rule(
        code="sglang-page-size-mismatch",
        title="SGLang needs equal page sizes",
        engine="sglang",
        at=DECODE_BLOCK_SIZE,
        see=(PREFILL_BLOCK_SIZE,),
        require=EQUAL_BLOCK_SIZES,
        message="decode block_size {decode_block_size} must be prefill's, {prefill_block_size}",
        why="The decode scheduler raises where the prefill server tells another page size, and goes down with it.",
        fix="Give both roles one block_size (SGLang: --page-size).",
        raised=Stage.FIRST_REQUEST,
        source=PARALLEL_INFO,
        bad={
            "engine": SGLANG,
            "model": GQA,
            "connector": {"kind": "mooncake"},
            "prefill": {"block_size": 32},
            "decode": {"block_size": 64},
        },
    ),
    Rule(
        code="sglang-page-size-one-sided",
        title="SGLang compares two page sizes, and one is not stated",
        engine="sglang",
        severity=Severity.UNDETERMINED,
        at=DECODE_BLOCK_SIZE,
        see=(PREFILL_BLOCK_SIZE,),
        require=(PREFILL_BLOCK_SIZE.is_set & DECODE_BLOCK_SIZE.is_set)
        | (~PREFILL_BLOCK_SIZE.is_set & ~DECODE_BLOCK_SIZE.is_set),
        message="only one role states its block_size, so it cannot be told whether they are equal",
        why="The page size that SGLang chooses depends on the attention backend.",
        fix="State block_size on both roles, or on neither.",
        raised=Stage.FIRST_REQUEST,
        source=PARALLEL_INFO,
        bad={
            "engine": SGLANG,
            "model": GQA,
            "connector": {"kind": "mooncake"},
            "prefill": {},
            "decode": {"block_size": 64},
        },
    ),
    Rule(
        code="sglang-kv-cache-dtype-mismatch",
        title="SGLang needs equal KV-cache data types",
        engine="sglang",
        at=DECODE_DTYPE,
        see=(PREFILL_DTYPE,),
        when=PREFILL_DTYPE.is_(*_PLAIN_DTYPES) & DECODE_DTYPE.is_(*_PLAIN_DTYPES),
        require=agree(PREFILL_DTYPE, DECODE_DTYPE, *SGLANG_DTYPE_GROUPS),
        message="decode kv_cache_dtype {decode_kv_cache_dtype} must be prefill's, {prefill_kv_cache_dtype}",
        why="The transfer converts nothing. Since the check was added the decode scheduler raises; before, text was "
        "wrong at low load and the process crashed at high load.",
        fix="Write the same kv_cache_dtype for both roles.",
        raised=Stage.FIRST_REQUEST,
        source=PARALLEL_INFO,
        bad={
            "engine": SGLANG,
            "model": MLA,
            "connector": {"kind": "mooncake"},
            "prefill": {"kv_cache_dtype": "bfloat16"},
            "decode": {"kv_cache_dtype": "fp8_e4m3"},
        },
    ),
    Rule(
        code="sglang-kv-cache-dtype-unresolved",
        title="SGLang compares KV-cache data types that it resolves first",
        engine="sglang",
        severity=Severity.UNDETERMINED,
        at=DECODE_DTYPE,
        see=(PREFILL_DTYPE,),
        require=agree(PREFILL_DTYPE, DECODE_DTYPE, ("auto",)),
        message="prefill kv_cache_dtype {prefill_kv_cache_dtype} and decode {decode_kv_cache_dtype}: it cannot be "
        "told what auto becomes",
        why="auto is the checkpoint's own type, which is not in this file. Where it resolves to another one, the "
        "decode scheduler raises at the first request.",
        fix="Write the same kv_cache_dtype for both roles.",
        raised=Stage.FIRST_REQUEST,
        source=PARALLEL_INFO,
        bad={
            "engine": SGLANG,
            "model": MLA,
            "connector": {"kind": "mooncake"},
            "prefill": {},
            "decode": {"kv_cache_dtype": "fp8_e4m3"},
        },
    ),
    Rule(
        code="sglang-mxfp8-unequal-tp",
        title="SGLang needs equal attention TP sizes for an mxfp8 KV cache",
        engine="sglang",
        at=DECODE_TP,
        see=(PREFILL_TP,),
        when=~IS_MLA & (PREFILL_DTYPE.is_("mxfp8") | DECODE_DTYPE.is_("mxfp8")),
        require=same(PREFILL_TP, DECODE_TP),
        after=("sglang-kv-cache-dtype-mismatch",),
        message="decode TP {decode_tp} must equal prefill TP {prefill_tp} with an mxfp8 cache",
        why="The scales of a block belong to all its heads, so a block cannot be cut.",
        fix="Make the two TP sizes equal, or choose another kv_cache_dtype.",
        raised=Stage.FIRST_REQUEST,
        source=PARALLEL_INFO,
        bad={
            "engine": SGLANG,
            "model": {"total_num_kv_heads": 8},
            "connector": {"kind": "mooncake"},
            "prefill": {"tensor_parallel_size": 2, "kv_cache_dtype": "mxfp8"},
            "decode": {"kv_cache_dtype": "mxfp8"},
        },
    ),
    Rule(
        code="sglang-sliding-window-pipeline",
        title="SGLang moves sliding-window layers between unequal TP sizes from one pipeline stage only",
        engine="sglang",
        at=PREFILL_PP,
        see=(PREFILL_TP, DECODE_TP),
        when=HAS_SLIDING_WINDOW & ~IS_MLA & ~same(PREFILL_TP, DECODE_TP),
        require=PREFILL_PP.is_(1),
        message="prefill PP {prefill_pp} must be 1 where prefill TP {prefill_tp} and decode TP {decode_tp} differ",
        why="The window's state is cut by heads, which the transfer does for a single stage.",
        fix="Make the two TP sizes equal, or set prefill.pipeline_parallel_size to 1.",
        raised=Stage.FIRST_REQUEST,
        source=Upstream(CONNECTION, "CommonKVManager (sliding-window state)"),
        bad={
            "engine": SGLANG,
            "model": {"total_num_kv_heads": 8, "has_sliding_window_layers": True},
            "connector": {"kind": "mooncake"},
            "prefill": {"pipeline_parallel_size": 2},
            "decode": {"tensor_parallel_size": 2},
        },
    ),
    Rule(
        code="sglang-sliding-window-layout",
        title="SGLang moves sliding-window layers between unequal TP sizes in the NHD layout only",
        engine="sglang",
        severity=Severity.UNDETERMINED,
        at=DECODE_TP,
        see=(PREFILL_TP,),
        when=HAS_SLIDING_WINDOW & ~IS_MLA,
        require=EQUAL_TP,
        after=("sglang-tp-not-divisible", "sglang-sliding-window-pipeline"),
        message="prefill TP {prefill_tp} and decode TP {decode_tp} differ: sliding windows then need the NHD layout, "
        "and it cannot be told whether they have it",
        why="The window's state is cut by heads, for which SGLang asserts a layout that the platform and the attention "
        "backend decide. Releases before 0.5.23 refuse every unequal pair.",
        fix="Make the two TP sizes equal.",
        raised=Stage.FIRST_REQUEST,
        source=Upstream(CONNECTION, "CommonKVManager (sliding-window state)"),
        bad={
            "engine": SGLANG,
            "model": {"total_num_kv_heads": 8, "has_sliding_window_layers": True},
            "connector": {"kind": "nixl"},
            "prefill": {},
            "decode": {"tensor_parallel_size": 4},
        },
    ),
)
