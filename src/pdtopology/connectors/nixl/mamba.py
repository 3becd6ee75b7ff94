"""What NIXL demands of models with mamba layers."""

from __future__ import annotations

from pdtopology.connectors.examples import DS_LAYOUT, MAMBA
from pdtopology.connectors.nixl.sources import HANDSHAKE, NIXL
from pdtopology.keys import CONV_STATE_LAYOUT, DECODE_TP, EQUAL_TP, HAS_MAMBA, PREFILL_TP
from pdtopology.rule import Rule, Severity, Stage, Upstream

RULES = (
    Rule(
        code="nixl-mamba-conv-state-layout",
        title="NIXL moves mamba layers only in the DS layout",
        connectors=("nixl",),
        at=CONV_STATE_LAYOUT,
        when=HAS_MAMBA & CONV_STATE_LAYOUT.is_set,
        require=CONV_STATE_LAYOUT.is_("DS"),
        message="{role} VLLM_SSM_CONV_STATE_LAYOUT {conv_state_layout} must be DS",
        why="The convolution's state is moved by whole channels.",
        fix="Set VLLM_SSM_CONV_STATE_LAYOUT to DS in the env of both roles.",
        raised=Stage.START,
        source=Upstream(f"{NIXL}/base_worker.py", "register_kv_caches"),
        bad={
            "model": MAMBA,
            "connector": {"kind": "nixl"},
            "prefill": {"env": {"VLLM_SSM_CONV_STATE_LAYOUT": "SD"}},
            "decode": DS_LAYOUT,
        },
    ),
    Rule(
        code="nixl-mamba-conv-state-layout-unset",
        title="NIXL moves mamba layers only in the DS layout, which is not vLLM's default",
        connectors=("nixl",),
        severity=Severity.UNDETERMINED,
        at=CONV_STATE_LAYOUT,
        when=HAS_MAMBA,
        require=CONV_STATE_LAYOUT.is_set,
        message="{role} does not state VLLM_SSM_CONV_STATE_LAYOUT, so it cannot be told whether it is DS",
        why="vLLM stops at its start unless the variable is DS. It may be set where this file does not see it.",
        fix="Set VLLM_SSM_CONV_STATE_LAYOUT to DS in the env of both roles.",
        raised=Stage.START,
        source=Upstream(f"{NIXL}/base_worker.py", "register_kv_caches"),
        bad={"model": MAMBA, "connector": {"kind": "nixl"}, "prefill": DS_LAYOUT, "decode": {}},
    ),
    Rule(
        code="nixl-mamba-unequal-tp",
        title="Physical block sizes of a model with mamba layers change with the TP size",
        connectors=("nixl",),
        severity=Severity.WARNING,
        at=DECODE_TP,
        see=(PREFILL_TP,),
        when=HAS_MAMBA,
        require=EQUAL_TP,
        after=("tp-not-divisible",),
        message="prefill TP {prefill_tp} and decode TP {decode_tp} may give the two roles different physical block "
        "sizes",
        why="vLLM pads attention blocks to the size of a mamba state, which is split by TP: equal block sizes as "
        "stated may become unequal. With prefix caching the handshake then refuses every request.",
        fix="Make the two TP sizes equal, or try the pair on one request before it serves.",
        raised=Stage.FIRST_REQUEST,
        source=HANDSHAKE,
        bad={
            "model": {"total_num_kv_heads": 2, "has_mamba_layers": True},
            "connector": {"kind": "nixl"},
            "prefill": {**DS_LAYOUT, "tensor_parallel_size": 2},
            "decode": DS_LAYOUT,
        },
    ),
)
