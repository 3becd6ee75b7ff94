"""A part of a config.json, what is derived from it, and what it cannot tell."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pdtopology.keys import MAX_HEADS

# What a config may nest its language model under: the names that transformers resolves, then those that only vLLM's
# own or remote classes do.
_TEXT_KEYS = ("text_config", "text_encoder", "decoder", "generator")
_OTHER_TEXT_KEYS = ("llm_config", "language_config", "vlm_config", "thinker_config", "transf_decoder", "config_dict")
_MAX_NESTED = 4

STATE_HEADS = "state model.num_attention_heads"
STATE_KV_HEADS = "state model.total_num_kv_heads"
STATE_MLA = "state model.is_mla"
STATE_ALL = f"{STATE_HEADS} and model.total_num_kv_heads"


class ConfigError(ValueError):
    """A config.json from which no geometry is taken; `code` is that of the finding."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class UnknownGeometryError(ConfigError):
    """A config.json that does not tell the geometry; the text says why and which key to state by hand."""

    def __init__(self, message: str) -> None:
        super().__init__("model-geometry-unknown", message)


class Derived(NamedTuple):
    """A number or truth value, the key of the config.json that decides it, be it by absence, and how."""

    value: int
    key: str
    """Dotted; empty for what was stated by hand, since the config does not tell it."""
    rule: str


class Part(NamedTuple):
    """A JSON object inside a config.json, and what leads to its keys."""

    path: str
    values: Mapping[str, Any]

    @property
    def model_type(self) -> str:
        """Its `model_type`, empty if it has none."""
        value = self.values.get("model_type")
        return value if isinstance(value, str) else ""

    @property
    def is_of_unsaid_type(self) -> bool:
        """Whether only transformers, by the type of the whole, knows the class of this part."""
        return not self.model_type and self.path.split(".")[-2:-1] in ([key] for key in _TEXT_KEYS)

    def key(self, name: str) -> str:
        """The dotted path of a key."""
        return f"{self.path}{name}"

    def gives(self, name: str) -> bool:
        """Whether a key is there and not null."""
        return self.values.get(name) is not None

    def number(self, name: str, advice: str, maximum: int = MAX_HEADS) -> int | None:
        """The count under a key, None where it is absent or null. Raises `UnknownGeometryError` for anything else."""
        value = self.values.get(name)
        if value is not None and (type(value) is not int or not 0 < value <= maximum):
            raise UnknownGeometryError(f"{self.key(name)} is not one integer from 1 to {maximum}; {advice}")
        return value

    def flag(self, name: str) -> bool | None:
        """The truth value under a key, None where it is absent or null. Raises `UnknownGeometryError`."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, bool):
            raise UnknownGeometryError(f"{self.key(name)} is neither true nor false; {STATE_KV_HEADS}")
        return value

    def inner(self, name: str) -> Part:
        """The object under a key, empty if there is none."""
        value = self.values.get(name)
        return Part(f"{self.key(name)}.", value if isinstance(value, Mapping) else {})

    def each(self, name: str) -> Iterator[Part]:
        """The objects in the list or object under a key."""
        value = self.values.get(name)
        items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
        return (Part(f"{self.key(name)}.*.", item) for item in items if isinstance(item, Mapping))

    def __str__(self) -> str:
        where = self.path.rstrip(".") or "the model"
        return f"{where} (model_type {reprlib.repr(self.model_type)})" if self.model_type else where


def language_part(config: Mapping[str, Any]) -> Part:
    """Where the language model is described: transformers `get_text_config`, and the names that vLLM adds.

    Raises `UnknownGeometryError` where there are several.
    """
    part = Part("", config)
    for _ in range(_MAX_NESTED):
        names = [name for name in _TEXT_KEYS if part.gives(name)]
        names = names or [name for name in _OTHER_TEXT_KEYS if isinstance(part.values.get(name), Mapping)]
        if not names:
            break
        if len(names) > 1:
            raise UnknownGeometryError(f"{part} holds several, {' and '.join(names)}; {STATE_ALL}")
        part = part.inner(names[0])
    return part
