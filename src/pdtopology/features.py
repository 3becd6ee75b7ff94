"""What vLLM refuses beside a KV connector."""

from __future__ import annotations

from pdtopology.connectors.examples import GQA
from pdtopology.constraints import Key
from pdtopology.keys import DECODE_KV_ROLE, ENGINE_ARGUMENTS, PREFILL_KV_ROLE, flag
from pdtopology.rule import Rule, Severity, Stage, Upstream

_KNOWN = ("moriio", "nixl", "mooncake")
_ALLOCATOR = Key("allocator", "role.env.PYTORCH_CUDA_ALLOC_CONF")
_CONFIG = Upstream("vllm/config/vllm.py", "VllmConfig.__post_init__")
_TRANSFER_CONFIG = Upstream("vllm/config/kv_transfer.py", "KVTransferConfig")

RULES = (
    Rule(
        code="prefill-kv-role",
        title="The prefill role produces KV caches",
        at=PREFILL_KV_ROLE,
        require=~PREFILL_KV_ROLE.is_("kv_consumer"),
        message="connector.prefill.kv_role must be kv_producer or kv_both, not {prefill_kv_role}",
        why="Two consumers wait for each other, or decode computes every prompt again.",
        fix="Set connector.prefill.kv_role to kv_producer, or remove it.",
        raised=Stage.FIRST_REQUEST,
        source=_TRANSFER_CONFIG,
        bad={
            "model": GQA,
            "connector": {"kind": "nixl", "prefill": {"kv_role": "kv_consumer"}},
            "prefill": {},
            "decode": {},
        },
    ),
    Rule(
        code="decode-kv-role",
        title="The decode role consumes KV caches",
        at=DECODE_KV_ROLE,
        require=~DECODE_KV_ROLE.is_("kv_producer"),
        message="connector.decode.kv_role must be kv_consumer or kv_both, not {decode_kv_role}",
        why="With two producers nobody takes the caches, and decode computes every prompt again.",
        fix="Set connector.decode.kv_role to kv_consumer, or remove it.",
        raised=Stage.FIRST_REQUEST,
        source=_TRANSFER_CONFIG,
        bad={
            "model": GQA,
            "connector": {"kind": "nixl", "decode": {"kv_role": "kv_producer"}},
            "prefill": {},
            "decode": {},
        },
    ),
    Rule(
        code="expandable-segments",
        title="KV connectors cannot register expandable memory segments",
        severity=Severity.WARNING,
        at=_ALLOCATOR,
        require=~_ALLOCATOR.matches("expandable_segments:True"),
        message="{role} PYTORCH_CUDA_ALLOC_CONF sets expandable_segments:True beside a KV connector",
        why="Registered memory must not move. vLLM refuses this unless its own allocator takes the place of PyTorch's.",
        fix="Remove expandable_segments:True.",
        raised=Stage.PARSE,
        source=_CONFIG,
        bad={
            "model": GQA,
            "prefill": {},
            "decode": {"env": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}},
        },
    ),
    Rule(
        code="routed-experts",
        title="KV connectors do not move routed experts",
        connectors=_KNOWN,
        at=ENGINE_ARGUMENTS,
        require=~flag("enable-return-routed-experts"),
        message="{role} must not set enable-return-routed-experts beside a KV connector",
        why="The experts that prefill chose are not part of what is transferred.",
        fix="Remove enable-return-routed-experts from the engine_args.",
        raised=Stage.PARSE,
        source=_CONFIG,
        bad={"model": GQA, "prefill": {}, "decode": {"engine_args": {"enable-return-routed-experts": True}}},
    ),
    Rule(
        code="replay-ssm",
        title="KV connectors do not move replayed mamba states",
        connectors=_KNOWN,
        at=ENGINE_ARGUMENTS,
        require=~flag("use-replayssm"),
        message="{role} must not set use-replayssm beside a KV connector",
        why="States that are computed again have no blocks to transfer.",
        fix="Remove use-replayssm from the engine_args.",
        raised=Stage.PARSE,
        source=_CONFIG,
        bad={"model": GQA, "prefill": {}, "decode": {"engine_args": {"use-replayssm": True}}},
    ),
    Rule(
        code="moriio-sleep-mode",
        title="MoRIIO does not support sleep mode",
        connectors=("moriio",),
        at=ENGINE_ARGUMENTS,
        require=~flag("enable-sleep-mode"),
        since=(0, 33),
        message="{role} must not set enable-sleep-mode with MoRIIO",
        why="The connector cannot register its memory again after a sleep.",
        fix="Remove enable-sleep-mode from the engine_args.",
        raised=Stage.PARSE,
        source=_CONFIG,
        bad={"model": GQA, "prefill": {}, "decode": {"engine_args": {"enable-sleep-mode": True}}},
    ),
)
