"""The documents on which every engine must be of one mind with Python."""

from __future__ import annotations

from typing import Any

from pdtopology import RULES
from pdtopology.connectors.examples import DS_LAYOUT
from pdtopology.connectors.kinds import CONNECTORS

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
NIXL = {"kind": "nixl"}
PUSH = {"kind": "nixl", "mode": "push"}
MOONCAKE = {"kind": "mooncake"}
SGLANG = {"name": "sglang"}


def roles(prefill: Any, decode: Any, model: Any = GQA, **sections: Any) -> dict[str, Any]:
    """A topology with these keys in its roles."""
    return {"model": model, "prefill": prefill, "decode": decode, **sections}


CONNECTOR_DOCUMENTS: dict[str, Document] = {
    "MoRIIO of every key": pair(
        8,
        8,
        connector={
            "kind": "moriio",
            "mode": "write",
            "backend": "rdma",
            "proxy_ip": "10.0.0.1",
            "proxy_ping_port": 36367,
            "extra_config": {"read_timeout": 1.5},
            "prefill": {"kv_role": "kv_producer", "handshake_port": 6301, "notify_port": 61005, "http_port": 20005},
            "decode": {"kv_role": "kv_consumer", "handshake_port": 6301, "notify_port": 61005, "http_port": 20005},
        },
    ),
    "MoRIIO with a key of NIXL": pair(4, 4, connector={"kv_buffer_device": "cpu"}),
    "MoRIIO with a port of NIXL": pair(4, 4, connector={"prefill": {"side_channel_port": 5600}}),
    "MoRIIO with a mode of NIXL": pair(4, 4, connector={"kind": "moriio", "mode": "pull"}),
    "NIXL": pair(4, 8, connector=NIXL),
    "NIXL, prefill larger": pair(8, 4, connector=NIXL),
    "NIXL in push mode": pair(8, 4, connector=PUSH),
    "NIXL of every key": pair(
        4,
        8,
        connector={
            "kind": "nixl",
            "mode": "pull",
            "kv_buffer_device": "cuda",
            "enable_permute_local_kv": True,
            "enforce_handshake_compat": False,
            "bidirectional_kv_xfer": True,
            "extra_config": {"num_threads": 4},
            "prefill": {"kv_role": "kv_both", "side_channel_host": "10.0.0.1", "side_channel_port": 5600},
            "decode": {"kv_role": "kv_both", "side_channel_host": "10.0.0.2", "side_channel_port": 5600},
        },
    ),
    "NIXL, replicated prefill": pair(32, 16, connector=NIXL),
    "NIXL, replicated prefill in push mode": pair(32, 16, connector=PUSH),
    "NIXL, replicated decode in push mode": pair(16, 32, connector=PUSH),
    "NIXL, MLA": pair(16, 4, MLA, connector=NIXL),
    "NIXL, MLA of which no size is a multiple": pair(4, 6, {"is_mla": True}, connector=NIXL),
    "NIXL, block sizes": roles({"block_size": 16}, {"block_size": 64}, connector=NIXL),
    "NIXL, block sizes turned round": roles({"block_size": 64}, {"block_size": 16}, connector=NIXL),
    "NIXL, block sizes turned round in push mode": roles({"block_size": 64}, {"block_size": 16}, connector=PUSH),
    "NIXL, block sizes of one large prime": roles({"block_size": 127}, {"block_size": 254}, connector=NIXL),
    "NIXL, block sizes of two large primes": roles({"block_size": 37}, {"block_size": 254}, connector=NIXL),
    "NIXL, the largest block sizes": roles({"block_size": 1021}, {"block_size": 1024}, connector=NIXL),
    "NIXL, one block size": roles({"block_size": 16}, {}, connector=NIXL),
    "NIXL, context parallel": roles(
        {},
        {"tensor_parallel_size": 4, "decode_context_parallel_size": 4},
        MLA,
        connector=NIXL,
    ),
    "NIXL, two names of one layout": roles({"kv_cache_layout": "HND"}, {"kv_cache_layout": "LBHNC"}, connector=NIXL),
    "NIXL, stages in push mode": roles({"pipeline_parallel_size": 2}, {}, connector=PUSH),
    "NIXL with a mode of MoRIIO": pair(4, 4, connector={"kind": "nixl", "mode": "read"}),
    "NIXL with a key of MoRIIO": pair(4, 4, connector={"kind": "nixl", "backend": "rdma"}),
    "NIXL with a port of MoRIIO": pair(4, 4, connector={"kind": "nixl", "decode": {"http_port": 8000}}),
    "NIXL with a port that is none": pair(4, 4, connector={"kind": "nixl", "decode": {"side_channel_port": 0}}),
    "NIXL with text for a truth value": pair(4, 4, connector={"kind": "nixl", "bidirectional_kv_xfer": "yes"}),
    "NIXL with an unknown device": pair(4, 4, connector={"kind": "nixl", "kv_buffer_device": "disk"}),
    "NIXL with a part of a role that is text": pair(4, 4, connector={"kind": "nixl", "prefill": "kv_producer"}),
    "NIXL with an unknown role": pair(4, 4, connector={"kind": "nixl", "prefill": {"kv_role": "producer"}}),
    "Mooncake": pair(4, 8, connector=MOONCAKE),
    "Mooncake of every key": pair(
        4,
        8,
        connector={
            "kind": "mooncake",
            "protocol": "tcp",
            "bootstrap_server_address": "10.0.0.1:8998",
            "extra_config": {"num_workers": 4},
            "prefill": {"kv_role": "kv_producer", "bootstrap_port": 8998},
            "decode": {"kv_role": "kv_consumer"},
        },
    ),
    "Mooncake of an old release": pair(4, 8, connector=MOONCAKE, engine={"version": "0.28"}),
    "Mooncake of an old release, replicated": pair(4, 16, connector=MOONCAKE, engine={"version": "0.28"}),
    "Mooncake, replicated": pair(4, 16, connector=MOONCAKE),
    "Mooncake, uneven": pair(4, 6, {"is_mla": True}, connector=MOONCAKE),
    "Mooncake, block sizes": roles({"block_size": 16}, {"block_size": 64}, connector=MOONCAKE),
    "Mooncake with a mode": pair(4, 4, connector={"kind": "mooncake", "mode": "read"}),
    "Mooncake with a bootstrap port for decode": pair(
        4, 4, connector={"kind": "mooncake", "decode": {"bootstrap_port": 8998}}
    ),
    "Mooncake with an address that is none": pair(
        4, 4, connector={"kind": "mooncake", "bootstrap_server_address": "10.0.0.1"}
    ),
    "another connector": pair(4, 8, connector={"kind": "other", "name": "LMCacheConnectorV1"}),
    "another connector of every key": pair(
        4,
        8,
        connector={
            "kind": "other",
            "name": "AcmeConnector",
            "module_path": "acme.connector",
            "extra_config": {"a": {"b": [1]}},
            "prefill": {"kv_role": "kv_both"},
            "decode": {"kv_role": "kv_both"},
        },
    ),
    "another connector, uneven": pair(4, 6, {"is_mla": True}, connector={"kind": "other"}),
    "another connector, three ranks for 64 heads": pair(3, 3, connector={"kind": "other"}),
    "another connector with a mode": pair(4, 4, connector={"kind": "other", "mode": "read"}),
    "another connector with a port": pair(4, 4, connector={"kind": "other", "prefill": {"http_port": 8000}}),
    "another connector without a name": pair(4, 4, connector={"kind": "other", "name": ""}),
    "a kind that is a number": pair(4, 4, connector={"kind": 1}),
    "a kind that is a list": pair(4, 4, connector={"kind": ["nixl"]}),
    "no kind beside a key of NIXL": pair(4, 4, connector={"mode": "push"}),
    "an unknown key of a connector": pair(4, 4, connector={"kind": "nixl", "mod": "push"}),
    "an unknown key of a connector's part": pair(4, 4, connector={"kind": "nixl", "prefill": {"port": 1}}),
    **{f"SGLang with {kind}": pair(4, 4, connector={"kind": kind}, engine=SGLANG) for kind in CONNECTORS},
    "SGLang, uneven": pair(4, 6, {"is_mla": True}, connector=NIXL, engine=SGLANG),
    "SGLang, split": pair(8, 4, engine=SGLANG),
    "SGLang, three ranks for 64 heads": pair(3, 3, connector=NIXL, engine=SGLANG),
    "SGLang, equal page sizes": roles({"block_size": 64}, {"block_size": 64}, connector=NIXL, engine=SGLANG),
    "SGLang, page sizes": roles({"block_size": 64}, {"block_size": 128}, connector=NIXL, engine=SGLANG),
    "SGLang, two names of one type": roles(
        {"kv_cache_dtype": "bfloat16"}, {"kv_cache_dtype": "bf16"}, connector=MOONCAKE, engine=SGLANG
    ),
    "SGLang, stages of both roles": roles(
        {"pipeline_parallel_size": 4}, {"pipeline_parallel_size": 4}, connector=MOONCAKE, engine=SGLANG
    ),
    "SGLang with a mode of another connector": pair(4, 4, connector={"kind": "nixl", "mode": "read"}, engine=SGLANG),
    "mamba layers": roles(
        DS_LAYOUT, DS_LAYOUT, {**GQA, "has_mamba_layers": True}, connector=NIXL, engine={"version": "0.33"}
    ),
    "a speculative method as text": roles(
        DS_LAYOUT,
        {**DS_LAYOUT, "engine_args": {"speculative-config": "{}"}},
        {**GQA, "has_mamba_layers": True},
    ),
    "a flag that is set": roles({}, {"engine_args": {"use_replayssm": True}}),
    "a flag that is not set": roles({}, {"engine_args": {"use-replayssm": False, "enable-sleep-mode": 1}}),
    "two numbers of KV heads": pair(4, 4, {"total_num_kv_heads": 8, "other_total_num_kv_heads": 2}, connector=NIXL),
    "two numbers of KV heads that fit no size": pair(
        4, 4, {"total_num_kv_heads": 8, "other_total_num_kv_heads": 6}, connector=NIXL
    ),
}

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
    "an argument of SGLang that has a field": pair(4, 4)
    | {"decode": {"tensor_parallel_size": 4, "engine_args": {"--page-size": 64}}},
    "other arguments": pair(4, 4) | {"decode": {"tensor_parallel_size": 4, "engine_args": {"max-model-len": 8192}}},
    "environment variables": pair(4, 4) | {"prefill": {"tensor_parallel_size": 4, "env": {"NCCL_DEBUG": "INFO"}}},
    "a number as an environment variable": pair(4, 4) | {"prefill": {"tensor_parallel_size": 4, "env": {"A": 1}}},
    "a port that is none": pair(4, 4) | {"prefill": {"tensor_parallel_size": 4, "port": 65536}},
    **CONNECTOR_DOCUMENTS,
    **{f"the bad example of {rule.code}": rule.bad for rule in RULES},
}

DOCUMENTS_WITH_NULLS: dict[str, Document] = {
    "optional keys that are null": {
        "engine": {"version": None},
        "model": {**GQA, "other_total_num_kv_heads": None},
        "connector": {"kind": "nixl", "kv_buffer_device": None, "prefill": {"side_channel_host": None}},
        "prefill": {"block_size": None, "kv_cache_dtype": None, "kv_cache_layout": None, "port": None},
        "decode": {"data_parallel_size_local": None, "engine_args": {"use-replayssm": None}},
    },
    "no KV heads but a null": pair(1, 1, {"total_num_kv_heads": None}),
    "a null as a size": pair(None, 1),
    "a null as a section": {**pair(1, 1), "connector": None},
    "a null as the kind of connector": pair(4, 4, connector={"kind": None}),
    "a null as the mode": pair(4, 4, connector={"kind": "nixl", "mode": None}),
    "a null as the connector's part of a role": pair(4, 4, connector={"kind": "nixl", "prefill": None}),
    "a null as an environment variable": pair(4, 4) | {"prefill": {"tensor_parallel_size": 4, "env": {"A": None}}},
}
"""Those that no TOML file can state."""
