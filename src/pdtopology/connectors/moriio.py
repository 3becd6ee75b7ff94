"""MoRIIO, vLLM's connector over AMD's RDMA library: its part of the document and its rules."""

from typing import Literal

from pydantic import Field

from pdtopology.constraints import same
from pdtopology.keys import DECODE_TP, IS_MLA, KV_HEADS, MORIIO_MODE, PREFILL_TP
from pdtopology.rule import Rule, Stage, Upstream
from pdtopology.section import Section

_MORIIO = "vllm/distributed/kv_transfer/kv_connector/v1/moriio"


class MoRIIOConnector(Section):
    """vLLM's `MoRIIOConnector`."""

    kind: Literal["moriio"] = Field(
        default="moriio",
        description="The KV connector that moves the cache from prefill to decode; `moriio` is vLLM's "
        "`MoRIIOConnector`. vLLM: `kv_connector` of `--kv-transfer-config`.",
    )
    mode: Literal["read", "write"] = Field(
        default="read",
        description="`read`: decode reads finished blocks from prefill. `write`: prefill writes each layer as it is "
        "computed, which is vLLM's own default. Both roles use the same. vLLM: `read_mode` of "
        "`kv_connector_extra_config`, which is true for `read`.",
    )
    backend: Literal["rdma", "xgmi"] = Field(
        default="rdma",
        description="The transport: `rdma` between nodes, `xgmi` inside one node. "
        "vLLM: `backend` of `kv_connector_extra_config`.",
    )


RULES = (
    Rule(
        code="moriio-read-kv-heads-replicated",
        title="MoRIIO READ between unequal TP sizes needs replicated KV heads",
        connector="moriio",
        at=DECODE_TP,
        see=(PREFILL_TP, KV_HEADS),
        when=MORIIO_MODE.is_("read") & ~IS_MLA & ~same(PREFILL_TP, DECODE_TP),
        require=(PREFILL_TP >= KV_HEADS) & (DECODE_TP >= KV_HEADS),
        after=("tp-not-divisible", "kv-heads-not-divisible"),
        message="prefill TP {prefill_tp} and decode TP {decode_tp} must be equal, "
        "or both at least the {kv_heads} KV heads",
        why="READ copies whole blocks. With unequal sizes a decode rank would need only some of the heads in a "
        "prefill rank's block, or heads of several ranks, unless every rank holds exactly one replicated head.",
        fix="Make the two TP sizes equal, make both at least the KV heads, or set connector.mode to write "
        "(vLLM 0.33 or later).",
        raised=Stage.FIRST_REQUEST,
        source=Upstream(f"{_MORIIO}/moriio_connector.py", "validate_moriio_heterogeneous_tp_kv_heads"),
        bad={
            "model": {"total_num_kv_heads": 8},
            "prefill": {"tensor_parallel_size": 4},
            "decode": {"tensor_parallel_size": 8},
        },
    ),
    Rule(
        code="moriio-write-unequal-tp",
        title="MoRIIO WRITE before vLLM 0.33 needs equal TP sizes",
        connector="moriio",
        at=DECODE_TP,
        see=(PREFILL_TP,),
        when=MORIIO_MODE.is_("write"),
        require=same(PREFILL_TP, DECODE_TP),
        after=("tp-not-divisible",),
        until=(0, 33),
        message="decode TP {decode_tp} must equal prefill TP {prefill_tp} in WRITE mode before vLLM 0.33",
        why="Before vLLM 0.33 each prefill rank writes to one decode rank as if the sizes were equal, and tells the "
        "decode rank of its own number that the transfer is complete. The other ranks serve blocks that nobody "
        "wrote, or wait until they time out. vLLM 0.33 maps the heads, and the sizes may differ.",
        fix="Make the two TP sizes equal, or run vLLM 0.33 or later on both roles.",
        raised=Stage.NEVER,
        source=Upstream(
            f"{_MORIIO}/moriio_engine.py", "MoRIIOWriter (calls _compute_block_transfer_offsets without remote_tp_size)"
        ),
        bad={
            "engine": {"version": "0.32"},
            "model": {"total_num_kv_heads": 8},
            "connector": {"mode": "write"},
            "prefill": {"tensor_parallel_size": 8},
            "decode": {"tensor_parallel_size": 4},
        },
    ),
)
