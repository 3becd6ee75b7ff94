"""Public deployments (cases.jsonl) as documents.

A case names what its issue, guide or recipe names: the connector's class, SGLang's `--tp-size`, ports as text.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

_FIELDS = {
    "tp": "tensor_parallel_size",
    "pp": "pipeline_parallel_size",
    "dp": "data_parallel_size",
    "dcp": "decode_context_parallel_size",
    **{name: name for name in ("block_size", "kv_cache_dtype", "replicas", "host", "port", "env")},
}
_CONNECTOR_FIELDS = ("handshake_port", "notify_port", "http_port", "side_channel_port")
_MODEL_FIELDS = {
    "name": "name",
    "heads": "num_attention_heads",
    "kv_heads": "total_num_kv_heads",
    "other_kv_heads": "other_total_num_kv_heads",
    "mla": "is_mla",
    "mamba": "has_mamba_layers",
    "sliding_window": "has_sliding_window_layers",
}
_CONNECTORS = {
    "NixlConnector": {"kind": "nixl", "mode": "pull"},
    "NixlPullConnector": {"kind": "nixl", "mode": "pull"},
    "NixlPushConnector": {"kind": "nixl", "mode": "push"},
    "MooncakeConnector": {"kind": "mooncake"},
    "mooncake": {"kind": "mooncake"},
    "nixl": {"kind": "nixl"},
}


class Case(NamedTuple):
    """One public deployment, what must be said of it, and what is."""

    name: str
    document: dict[str, Any]
    expected: str
    """`accept` and `unknown` have no error, `reject` has one; `unknown` is what cannot be told from a document."""
    finds: list[str]
    """The codes of all findings, in alphabetical order."""


def cases() -> list[Case]:
    """Every case that one document can state."""
    lines = Path(__file__).with_name("cases.jsonl").read_text().splitlines()
    return [_case(json.loads(line)) for line in lines]


def _case(row: dict[str, Any]) -> Case:
    document = {
        "engine": {key: row[given] for given, key in (("engine", "name"), ("version", "version")) if given in row},
        "model": {field: row["model"][name] for name, field in _MODEL_FIELDS.items() if name in row["model"]},
        "connector": {**_connector(row), **{role: _connector_part(row[role]) for role in ("prefill", "decode")}},
        "prefill": _role(row["prefill"]),
        "decode": _role(row["decode"]),
    }
    return Case(row["id"], document, row["expected"], row["finds"])


def _connector(row: dict[str, Any]) -> dict[str, Any]:
    name = row["connector"]
    if name == "MoRIIOConnector":
        # As vLLM's get_moriio_mode reads it: true and 1 in any case, everything else is WRITE.
        reads = str(row.get("read_mode")).lower() in ("true", "1")
        return {"kind": "moriio", "mode": "read" if reads else "write", "backend": row.get("backend", "rdma")}
    return _CONNECTORS.get(name, {"kind": "other", "name": name})


def _connector_part(role: dict[str, Any]) -> dict[str, Any]:
    ports = {field: int(role[field]) for field in _CONNECTOR_FIELDS if field in role}
    return ports | {field: role[field] for field in ("kv_role", "side_channel_host") if field in role}


def _role(role: dict[str, Any]) -> dict[str, Any]:
    sizes = dict(role)
    if role.get("dp_attention"):
        # SGLang's --tp-size counts the ranks of all its attention data-parallel groups.
        sizes["tp"] = role["tp"] // role["dp"]
    arguments = dict(role.get("arguments", {}))
    if "kv_events" in role:
        arguments["kv-events-config"] = role["kv_events"]
    section = {field: sizes[name] for name, field in _FIELDS.items() if name in sizes}
    return {**section, "engine_args": arguments} if arguments else section
