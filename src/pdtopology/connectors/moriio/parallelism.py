"""What MoRIIO demands of data, pipeline and context parallelism."""

from __future__ import annotations

from pdtopology.connectors.examples import GQA, MLA
from pdtopology.connectors.moriio.sources import connector
from pdtopology.constraints import same
from pdtopology.keys import (
    DECODE_DCP,
    DP,
    DP_LOCAL,
    KV_ROLE,
    PP,
    PREFILL_DCP,
    RANKS_ARE_PLACED_BY_ARGUMENTS,
    TP,
)
from pdtopology.rule import Rule, Severity, Stage, Upstream

_PORT_OFFSET = Upstream("vllm/distributed/kv_transfer/kv_connector/v1/moriio/moriio_common.py", "get_port_offset")

RULES = (
    Rule(
        code="moriio-dp-with-tp",
        title="MoRIIO gives two ranks one port where a node has several data-parallel ranks of several TP ranks",
        connectors=("moriio",),
        at=TP,
        see=(DP,),
        when=~DP_LOCAL.is_set & ~RANKS_ARE_PLACED_BY_ARGUMENTS & ~DP.is_(1),
        require=TP.is_(1),
        message="{role} TP {tp} must be 1 where a node has all {dp} data-parallel ranks",
        why="A rank binds the port base + DP rank + TP rank, so DP rank 0's second TP rank and DP rank 1's first bind "
        "the same one. A peer dials base + DP rank x TP size + TP rank, which is then not the port that the rank has.",
        fix="Set tensor_parallel_size or data_parallel_size_local to 1.",
        raised=Stage.START,
        source=_PORT_OFFSET,
        bad={
            "model": GQA,
            "prefill": {"tensor_parallel_size": 2},
            "decode": {"tensor_parallel_size": 2, "data_parallel_size": 2},
        },
    ),
    Rule(
        code="moriio-dp-local-with-tp",
        title="MoRIIO gives two ranks one port where a node has several data-parallel ranks of several TP ranks",
        connectors=("moriio",),
        at=TP,
        see=(DP_LOCAL,),
        when=~DP_LOCAL.is_(0, 1),
        require=TP.is_(1),
        message="{role} TP {tp} must be 1 where a node has {dp_local} data-parallel ranks",
        why="The ports are counted as if each data-parallel rank had a single TP rank.",
        fix="Set tensor_parallel_size or data_parallel_size_local to 1.",
        raised=Stage.START,
        source=_PORT_OFFSET,
        bad={
            "model": GQA,
            "prefill": {"tensor_parallel_size": 2},
            "decode": {"tensor_parallel_size": 2, "data_parallel_size": 4, "data_parallel_size_local": 2},
        },
    ),
    Rule(
        code="moriio-pipeline",
        title="MoRIIO knows nothing of pipeline stages",
        connectors=("moriio",),
        severity=Severity.WARNING,
        at=PP,
        require=PP.is_(1),
        message="{role} PP {pp} should be 1",
        why="Every stage of a node binds the same ports, and names only its own layers.",
        fix="Set pipeline_parallel_size to 1.",
        raised=Stage.NEVER,
        source=connector("MoRIIOConnectorWorker (no pipeline rank)"),
        bad={"model": GQA, "prefill": {"pipeline_parallel_size": 2}, "decode": {}},
    ),
    Rule(
        code="moriio-dcp-mismatch",
        title="MoRIIO does not compare decode context parallel sizes",
        connectors=("moriio",),
        severity=Severity.WARNING,
        at=DECODE_DCP,
        see=(PREFILL_DCP,),
        require=same(PREFILL_DCP, DECODE_DCP),
        after=(
            "dcp-not-divisible",
            "dcp-needs-replicated-kv-heads",
            "dcp-exceeds-replicas",
            "dcp-query-heads",
            "pcp-dcp-size",
        ),
        message="decode DCP {decode_dcp} should be prefill's, {prefill_dcp}",
        why="With different sizes a rank holds other tokens than its peer, and blocks are copied as they are.",
        fix="Give both roles one decode_context_parallel_size.",
        raised=Stage.NEVER,
        source=connector("MoRIIOAgentMetadata (tells no DCP size)"),
        bad={
            "model": MLA,
            "prefill": {"tensor_parallel_size": 2},
            "decode": {"tensor_parallel_size": 2, "decode_context_parallel_size": 2},
        },
    ),
    Rule(
        code="moriio-kv-both",
        title="MoRIIO's parts disagree about a role that both produces and consumes",
        connectors=("moriio",),
        severity=Severity.WARNING,
        at=KV_ROLE,
        require=~KV_ROLE.is_("kv_both"),
        message="connector.{role}.kv_role {kv_role} should be kv_producer or kv_consumer",
        why="The scheduler takes kv_both for a consumer and the worker takes it for a producer.",
        fix="Set kv_role to kv_producer for prefill and to kv_consumer for decode, or remove it.",
        raised=Stage.NEVER,
        source=connector("MoRIIOConnectorScheduler, MoRIIOConnectorWorker"),
        bad={"model": GQA, "connector": {"decode": {"kv_role": "kv_both"}}, "prefill": {}, "decode": {}},
    ),
)
