"""Which known key an unknown one was probably meant to be."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from pdtopology.deployment import Deployment
from pdtopology.paths import Path

# What engines, charts and config.json files call the same things.
OTHER_NAMES: Mapping[str, str] = {
    "tp": "tensor_parallel_size",
    "tp_size": "tensor_parallel_size",
    "tensor": "tensor_parallel_size",
    "tensor_parallel": "tensor_parallel_size",
    "tensor_model_parallel_size": "tensor_parallel_size",
    "pp": "pipeline_parallel_size",
    "pp_size": "pipeline_parallel_size",
    "pipeline": "pipeline_parallel_size",
    "dp": "data_parallel_size",
    "dp_size": "data_parallel_size",
    "data": "data_parallel_size",
    "data_local": "data_parallel_size_local",
    "dp_local": "data_parallel_size_local",
    "dcp": "decode_context_parallel_size",
    "pcp": "prefill_context_parallel_size",
    "page_size": "block_size",
    "num_instances": "replicas",
    "num_replicas": "replicas",
    "num_heads": "num_attention_heads",
    "n_heads": "num_attention_heads",
    "num_key_value_heads": "total_num_kv_heads",
    "num_kv_heads": "total_num_kv_heads",
    "kv_heads": "total_num_kv_heads",
    "n_kv_heads": "total_num_kv_heads",
    "mla": "is_mla",
    "use_mla": "is_mla",
    "kv_connector": "kind",
    "type": "kind",
    "read_mode": "mode",
    "producer": "prefill",
    "consumer": "decode",
}


def suggested_key(path: Path) -> str | None:
    """The key that an unknown one stands for, in the same section; None where nothing is near."""
    known = _sections().get(path[:-1], ())
    name = _plain(path[-1])
    if name in known:
        return name
    if sections_of(path):
        return None
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, known, 1, 0.7)), None)


def sections_of(path: Path) -> list[str]:
    """The paths at which other sections have a key of this name."""
    name = _plain(path[-1])
    return [
        ".".join((*map(str, section), name))
        for section, known in _sections().items()
        if name in known and section != path[:-1]
    ]


def keys_of(section: Path) -> list[str]:
    """The keys that a section knows."""
    return _sections().get(section, [])


def _plain(key: Any) -> str:
    name = str(key).lstrip("-").lower().replace("-", "_")
    return OTHER_NAMES.get(name, name)


@lru_cache
def _sections() -> dict[Path, list[str]]:
    """The known keys of the document and of each of its sections."""
    found: dict[Path, list[str]] = {(): _keys(Deployment)}
    for name, field in Deployment.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            found[(name,)] = _keys(field.annotation)
    return found


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]
