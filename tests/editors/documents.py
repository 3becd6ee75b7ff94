"""The documents on which every engine must be of one mind with Python."""

from __future__ import annotations

from typing import Any

from pdtopology import RULES

from .engine import Document

GQA = {"num_attention_heads": 64, "total_num_kv_heads": 8}
MLA = {"num_attention_heads": 128, "is_mla": True}


def pair(prefill: Any, decode: Any, model: Any = GQA, **sections: Any) -> dict[str, Any]:
    """A topology with these TP sizes."""
    return {
        "model": model,
        "prefill": {"tensor_parallel_size": prefill},
        "decode": {"tensor_parallel_size": decode},
        **sections,
    }


WRITE = {"mode": "write"}

DOCUMENTS: dict[str, Document] = {
    "defaults left out": {"model": {"total_num_kv_heads": 8}, "prefill": {}, "decode": {}},
    "defaults stated": {
        "engine": {"name": "vllm"},
        "model": {"total_num_kv_heads": 8, "is_mla": False},
        "connector": {"kind": "moriio", "mode": "read", "backend": "rdma"},
        "prefill": {"tensor_parallel_size": 1, "pipeline_parallel_size": 1, "env": {}, "engine_args": {}},
        "decode": {"tensor_parallel_size": 1},
    },
    "a default that breaks a rule": {"model": GQA, "prefill": {"tensor_parallel_size": 4}, "decode": {}},
    "another default that breaks a rule": {"model": GQA, "prefill": {}, "decode": {"tensor_parallel_size": 4}},
    "equal": pair(8, 8),
    "replicated": pair(8, 16),
    "replicated, prefill larger": pair(32, 8),
    "an uncommon size": pair(5, 5, {"total_num_kv_heads": 5}),
    "an uncommon pair": pair(5, 7, {"is_mla": True}),
    "an uncommon head count": pair(8, 8, {"total_num_kv_heads": 12}),
    "split in READ": pair(4, 8),
    "split in READ, prefill larger": pair(8, 4),
    "split in WRITE": pair(4, 8, connector=WRITE),
    "split in WRITE of a known release": pair(4, 8, connector=WRITE, engine={"version": "0.33.1"}),
    "split in WRITE of an old release": pair(4, 8, connector=WRITE, engine={"version": "0.28"}),
    "split in WRITE of an untagged build": pair(4, 8, connector=WRITE, engine={"version": "0.1.dev1+g51f799c1a"}),
    "MLA": pair(4, 16, MLA),
    "MLA of which no size is a multiple": pair(4, 6, {"is_mla": True}),
    "three ranks for 64 heads": pair(3, 3),
    "six for four": pair(4, 6),
    "six for four, of 24 heads": pair(4, 6, {"num_attention_heads": 24, "total_num_kv_heads": 12}),
    "no KV heads": pair(1, 1, {"num_attention_heads": 64}),
    "the largest size": pair(512, 512, {"total_num_kv_heads": 1}),
    "more than the largest size": pair(513, 513, MLA),
    "zero": pair(0, 1),
    "negative": pair(1, -1),
    "true": pair(True, 1),
    "text": pair("4", 4),
    "four and a half": pair(4.5, 4),
    "a list": pair([4], 4),
    "no roles": {"model": GQA},
    "nothing": {},
    "a misspelt key": {"model": GQA, "prefill": {"tensor_paralel_size": 4}, "decode": {}},
    "a key with dashes": {"model": GQA, "prefill": {"tensor-parallel-size": 4}, "decode": {}},
    "a short key": {"model": GQA, "prefill": {"tp_size": 4}, "decode": {}},
    "a misspelt section": {"model": GQA, "prefil": {}, "decode": {}},
    "a key in the wrong place": {**pair(4, 4), "tensor_parallel_size": 4},
    "an unknown connector": pair(4, 4, connector={"kind": "carrier-pigeon"}),
    "an unknown mode": pair(4, 4, connector={"mode": "push"}),
    "an unknown backend": pair(4, 4, connector={"backend": "tcp"}),
    "an unknown engine": pair(4, 4, engine={"name": "other"}),
    "a version that is none": pair(4, 4, engine={"version": "newest"}),
    "a version without quotes": pair(4, 4, engine={"version": 0.33}),
    "a section that is text": pair(4, 4, connector="moriio"),
    "an argument that has a field": pair(4, 4) | {"decode": {"tensor_parallel_size": 4, "engine_args": {"tp": 4}}},
    "other arguments": pair(4, 4) | {"decode": {"tensor_parallel_size": 4, "engine_args": {"max-model-len": 8192}}},
    "environment variables": pair(4, 4) | {"prefill": {"tensor_parallel_size": 4, "env": {"NCCL_DEBUG": "INFO"}}},
    "a number as an environment variable": pair(4, 4) | {"prefill": {"tensor_parallel_size": 4, "env": {"A": 1}}},
    "a port that is none": pair(4, 4) | {"prefill": {"tensor_parallel_size": 4, "port": 65536}},
    **{f"the bad example of {rule.code}": rule.bad for rule in RULES},
}
