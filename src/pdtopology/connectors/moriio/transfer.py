"""What MoRIIO demands of the two roles' TP sizes, blocks and caches."""

from __future__ import annotations

from pdtopology.connectors.examples import GQA, MLA
from pdtopology.connectors.moriio.sources import DOCUMENTATION, ENGINE, HEAD_SLICES, READ_OFFSETS, connector
from pdtopology.constraints import Key, agree, same
from pdtopology.keys import (
    DECODE_BLOCK_SIZE,
    DECODE_DTYPE,
    DECODE_TP,
    EQUAL_BLOCK_SIZES,
    EQUAL_TP,
    HAS_MAMBA,
    IS_MLA,
    KV_HEADS,
    MORIIO_MODE,
    OTHER_KV_HEADS,
    PREFILL_BLOCK_SIZE,
    PREFILL_DTYPE,
    PREFILL_TP,
)
from pdtopology.kv_cache_dtypes import ONE_BYTE_DTYPES, TWO_BYTE_DTYPES, VLLM_DTYPES
from pdtopology.rule import Rule, Severity, Stage

_READS = MORIIO_MODE.is_("read")
_WRITES = MORIIO_MODE.is_("write")
# Patterns, since editors offer the values of a list wherever it stands, and this is the default connector.
_TWO_BYTES = f"^({'|'.join(TWO_BYTE_DTYPES)})$"
_ONE_BYTE = f"^({'|'.join(ONE_BYTE_DTYPES)})$"
_BACKEND = Key("backend", "connector.backend", default="rdma")

RULES = (
    Rule(
        code="moriio-read-kv-heads-replicated",
        title="MoRIIO READ between unequal TP sizes needs replicated KV heads",
        connectors=("moriio",),
        at=DECODE_TP,
        see=(PREFILL_TP, KV_HEADS),
        when=_READS & ~IS_MLA & ~same(PREFILL_TP, DECODE_TP),
        require=(PREFILL_TP >= KV_HEADS) & (DECODE_TP >= KV_HEADS),
        after=("tp-not-divisible", "kv-heads-not-divisible"),
        message="prefill TP {prefill_tp} and decode TP {decode_tp} must be equal, "
        "or both at least the {kv_heads} KV heads",
        why="READ copies whole blocks. With unequal sizes a decode rank would need only some of the heads in a "
        "prefill rank's block, or heads of several ranks, unless every rank holds exactly one replicated head.",
        fix="Make the two TP sizes equal, make both at least the KV heads, or set connector.mode to write "
        "(vLLM 0.33 or later).",
        raised=Stage.FIRST_REQUEST,
        source=connector("validate_moriio_heterogeneous_tp_kv_heads"),
        bad={
            "model": {"total_num_kv_heads": 8},
            "prefill": {"tensor_parallel_size": 4},
            "decode": {"tensor_parallel_size": 8},
        },
    ),
    Rule(
        code="moriio-write-unequal-tp",
        title="MoRIIO WRITE before vLLM 0.33 needs equal TP sizes",
        connectors=("moriio",),
        at=DECODE_TP,
        see=(PREFILL_TP,),
        when=_WRITES,
        require=same(PREFILL_TP, DECODE_TP),
        after=("tp-not-divisible",),
        until=(0, 33),
        message="decode TP {decode_tp} must equal prefill TP {prefill_tp} in WRITE mode before vLLM 0.33",
        why="Before vLLM 0.33 each prefill rank writes to one decode rank as if the sizes were equal, and tells the "
        "decode rank of its own number that the transfer is complete. The other ranks serve blocks that nobody "
        "wrote, or wait until they time out. vLLM 0.33 maps the heads, and the sizes may differ.",
        fix="Make the two TP sizes equal, or run vLLM 0.33 or later on both roles.",
        raised=Stage.NEVER,
        source=ENGINE,
        bad={
            "engine": {"version": "0.32"},
            "model": {"total_num_kv_heads": 8},
            "connector": {"mode": "write"},
            "prefill": {"tensor_parallel_size": 8},
            "decode": {"tensor_parallel_size": 4},
        },
    ),
    Rule(
        code="moriio-read-other-kv-heads-replicated",
        title="MoRIIO READ between unequal TP sizes needs every layer's KV heads replicated",
        connectors=("moriio",),
        at=DECODE_TP,
        see=(PREFILL_TP, OTHER_KV_HEADS),
        when=_READS & ~IS_MLA & ~EQUAL_TP,
        require=(PREFILL_TP >= OTHER_KV_HEADS) & (DECODE_TP >= OTHER_KV_HEADS),
        after=(
            "tp-not-divisible",
            "kv-heads-not-divisible",
            "other-kv-heads-not-divisible",
            "moriio-read-kv-heads-replicated",
        ),
        message="prefill TP {prefill_tp} and decode TP {decode_tp} must be equal, "
        "or both at least the {other_kv_heads} KV heads of the other layers",
        why="The layers with another number of KV heads are copied in whole blocks too.",
        fix="Make the two TP sizes equal, or both at least model.other_total_num_kv_heads.",
        raised=Stage.FIRST_REQUEST,
        source=READ_OFFSETS,
        bad={
            "model": {"total_num_kv_heads": 2, "other_total_num_kv_heads": 4},
            "prefill": {"tensor_parallel_size": 2},
            "decode": {"tensor_parallel_size": 4},
        },
    ),
    Rule(
        code="moriio-write-block-size",
        title="MoRIIO WRITE needs equal block sizes",
        connectors=("moriio",),
        at=DECODE_BLOCK_SIZE,
        see=(PREFILL_BLOCK_SIZE,),
        when=_WRITES & ~HAS_MAMBA,
        require=EQUAL_BLOCK_SIZES,
        since=(0, 33),
        message="decode block size {decode_block_size} must be prefill's, {prefill_block_size}",
        why="Blocks are written one for one, by their numbers.",
        fix="Give both roles one block size.",
        raised=Stage.FIRST_REQUEST,
        source=connector("_check_peer_block_size"),
        bad={
            "model": MLA,
            "connector": {"mode": "write"},
            "prefill": {"block_size": 16},
            "decode": {"block_size": 32},
        },
    ),
    Rule(
        code="moriio-read-block-size",
        title="MoRIIO READ needs equal block sizes",
        connectors=("moriio",),
        at=DECODE_BLOCK_SIZE,
        see=(PREFILL_BLOCK_SIZE,),
        when=_READS & ~IS_MLA & ~HAS_MAMBA,
        require=EQUAL_BLOCK_SIZES,
        since=(0, 33),
        message="decode block size {decode_block_size} must be prefill's, {prefill_block_size}",
        why="Heads are sliced out of blocks of one size only.",
        fix="Give both roles one block size.",
        raised=Stage.FIRST_REQUEST,
        source=READ_OFFSETS,
        bad={"model": GQA, "prefill": {"block_size": 16}, "decode": {"block_size": 32}},
    ),
    Rule(
        code="moriio-block-size-unchecked",
        title="MoRIIO copies blocks of different sizes as they are",
        connectors=("moriio",),
        severity=Severity.WARNING,
        at=DECODE_BLOCK_SIZE,
        see=(PREFILL_BLOCK_SIZE,),
        require=EQUAL_BLOCK_SIZES,
        after=("moriio-write-block-size", "moriio-read-block-size"),
        message="decode block size {decode_block_size} should be prefill's, {prefill_block_size}",
        why="Blocks are copied one for one, by their numbers. Before vLLM 0.33, and with MLA models in READ mode "
        "since, nothing compares their sizes. With mamba layers vLLM raises both, perhaps to one size.",
        fix="Give both roles one block size.",
        raised=Stage.NEVER,
        source=connector("_compute_block_transfer_offsets"),
        bad={"model": MLA, "prefill": {"block_size": 16}, "decode": {"block_size": 32}},
    ),
    Rule(
        code="moriio-kv-cache-dtype-length",
        title="MoRIIO refuses KV caches whose types differ in length",
        connectors=("moriio",),
        at=DECODE_DTYPE,
        see=(PREFILL_DTYPE,),
        when=~IS_MLA,
        require=~(PREFILL_DTYPE.matches(_TWO_BYTES) & DECODE_DTYPE.matches(_ONE_BYTE))
        & ~(PREFILL_DTYPE.matches(_ONE_BYTE) & DECODE_DTYPE.matches(_TWO_BYTES)),
        since=(0, 33),
        message="decode kv_cache_dtype {decode_kv_cache_dtype} must be prefill's, {prefill_kv_cache_dtype}",
        why="Each role tells how many bytes a head has, and heads of different lengths are not copied.",
        fix="Write the same kv_cache_dtype for both roles.",
        raised=Stage.FIRST_REQUEST,
        source=HEAD_SLICES,
        bad={"model": GQA, "prefill": {"kv_cache_dtype": "bfloat16"}, "decode": {"kv_cache_dtype": "fp8"}},
    ),
    Rule(
        code="moriio-kv-cache-dtype-unchecked",
        title="MoRIIO copies KV caches of different types as they are",
        connectors=("moriio",),
        severity=Severity.WARNING,
        at=DECODE_DTYPE,
        see=(PREFILL_DTYPE,),
        require=agree(PREFILL_DTYPE, DECODE_DTYPE, *((name,) for name in VLLM_DTYPES)),
        after=("moriio-kv-cache-dtype-length",),
        message="decode kv_cache_dtype {decode_kv_cache_dtype} should be prefill's, {prefill_kv_cache_dtype}",
        why="The handshake tells no data type, and nothing converts the cache. Since vLLM 0.33 types of different "
        "lengths are found by their bytes, but not in an MLA model. Others are read as what they are not.",
        fix="Write the same kv_cache_dtype for both roles.",
        raised=Stage.NEVER,
        source=connector("MoRIIOAgentMetadata (tells no dtype)"),
        bad={"model": GQA, "prefill": {}, "decode": {"kv_cache_dtype": "fp8"}},
    ),
    Rule(
        code="moriio-read-late-release",
        title="MoRIIO READ before vLLM 0.33 frees the blocks of a larger prefill role late",
        connectors=("moriio",),
        severity=Severity.WARNING,
        at=PREFILL_TP,
        see=(DECODE_TP,),
        when=_READS,
        require=PREFILL_TP <= DECODE_TP,
        after=("tp-not-divisible", "moriio-read-kv-heads-replicated"),
        until=(0, 33),
        message="with prefill TP {prefill_tp} above decode TP {decode_tp}, only one prefill rank for each decode rank "
        "is told that its blocks were read",
        why="Before vLLM 0.33 a decode rank notifies one prefill rank; the others hold their blocks until they time "
        "out.",
        fix="Run vLLM 0.33 or later on both roles, and say so in engine.version.",
        raised=Stage.NEVER,
        source=connector("MoRIIOConnectorWorker (notifies one rank)"),
        bad={
            "engine": {"version": "0.32"},
            "model": MLA,
            "prefill": {"tensor_parallel_size": 2},
            "decode": {},
        },
    ),
    Rule(
        code="moriio-xgmi-fan-out",
        title="MoRIIO over xgmi may fail to write to more decode ranks than prefill has",
        connectors=("moriio",),
        severity=Severity.WARNING,
        at=DECODE_TP,
        see=(PREFILL_TP,),
        when=_WRITES & _BACKEND.is_("xgmi"),
        require=PREFILL_TP >= DECODE_TP,
        after=("tp-not-divisible", "moriio-write-unequal-tp"),
        since=(0, 33),
        message="decode TP {decode_tp} should be at most prefill TP {prefill_tp} over xgmi",
        why="vLLM's documentation says that such transfers fail inside one node.",
        fix="Set connector.backend to rdma, or lower decode.tensor_parallel_size.",
        raised=Stage.FIRST_REQUEST,
        source=DOCUMENTATION,
        bad={
            "engine": {"version": "0.33"},
            "model": MLA,
            "connector": {"mode": "write", "backend": "xgmi"},
            "prefill": {},
            "decode": {"tensor_parallel_size": 2},
        },
    ),
)
