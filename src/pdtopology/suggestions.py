"""Which known key an unknown one was probably meant to be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from pdtopology.connectors.kinds import CONNECTORS
from pdtopology.deployment import Deployment
from pdtopology.paths import FREE_MAPPINGS, Path
from pdtopology.section import Section, sections_of

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
    "dcp_size": "decode_context_parallel_size",
    "pcp": "prefill_context_parallel_size",
    "attn_cp_size": "prefill_context_parallel_size",
    "attention_context_parallel_size": "prefill_context_parallel_size",
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
    "kv_transfer_config": "connector",
    "producer": "prefill",
    "consumer": "decode",
}


_MAX_WORDS = 8
"""No key has more."""


def suggested_key(path: Path) -> str | None:
    """The key that an unknown one stands for, in the same section; None where nothing is near."""
    if (key := _same_key(path)) or sections_with(path):
        return key
    from difflib import get_close_matches

    return next(iter(get_close_matches(_plain(path[-1]), keys_of(path[:-1]), 1, 0.7)), None)


def _same_key(path: Path) -> str | None:
    """The key that an unknown one is in another spelling or by another name, in the same section."""
    name = _plain(path[-1])
    return name if name in keys_of(path[:-1]) else None


def suggested_paths(words: str) -> list[Path]:
    """The keys that words joined by any number of underscores stand for, as `DECODE_TP` for the TP size of decode."""
    if path := _path_of_words((), words, _same_key):
        return [path]
    elsewhere = sections_with((_in_one(words),))
    if not elsewhere and (path := _path_of_words((), words, suggested_key)):
        return [path]
    section, _, key = _in_one(words).partition("_")
    elsewhere = elsewhere or sections_with((suggested_key((section,)) or section, key))
    return [tuple(key.split(".")) for key in elsewhere]


def _path_of_words(section: Path, words: str, key_of: Callable[[Path], str | None]) -> Path | None:
    """The path below a section, of which each key is the first words that are a key there, and so on."""
    for gap in islice(re.finditer("(?!^)(?:_+|$)", words), _MAX_WORDS):
        key, rest = key_of((*section, _in_one(words[: gap.start()]))), words[gap.end() :]
        if key is None:
            continue
        path = (*section, key)
        if not rest:
            return path
        if key in FREE_MAPPINGS:
            return (*path, rest)
        if inner := _path_of_words(path, rest, key_of):
            return inner
    return None


def _in_one(words: str) -> str:
    return re.sub("_+", "_", words)


def sections_with(path: Path) -> list[str]:
    """The paths at which other sections have a key of this name."""
    name = _plain(path[-1])
    return [
        ".".join((*map(str, section), name))
        for section, known in _sections().items()
        if name in known and section != path[:-1]
    ]


def kinds_with(path: Path) -> list[str]:
    """The kinds of connector that have the key at a path, which another kind does not."""
    if path[0] != "connector":
        return []
    return [kind for kind, model in CONNECTORS.items() if str(path[-1]) in _known_keys(model, path[1:-1])]


def _known_keys(model: type[Section], path: Path) -> Iterable[str]:
    for part in path:
        field = model.model_fields.get(str(part))
        sections = sections_of(field.annotation) if field else []
        if not sections:
            return ()
        model = sections[0]
    return model.model_fields


def keys_of(section: Path) -> list[str]:
    """The keys that a section knows."""
    return _sections().get(section, [])


def _plain(key: Any) -> str:
    name = str(key).lstrip("-").lower().replace("-", "_")
    return OTHER_NAMES.get(name, name)


@lru_cache
def _sections() -> dict[Path, list[str]]:
    """The known keys of the document and of each of its sections, with those of every kind of connector."""
    found: dict[Path, list[str]] = {}
    _add(found, (), [Deployment])
    return found


def _add(found: dict[Path, list[str]], path: Path, models: list[type[Section]]) -> None:
    fields = [(field.alias or name, field) for model in models for name, field in model.model_fields.items()]
    found[path] = list(dict.fromkeys(name for name, _ in fields))
    for name in found[path]:
        below = [section for other, field in fields if other == name for section in sections_of(field.annotation)]
        if below:
            _add(found, (*path, name), list(dict.fromkeys(below)))
