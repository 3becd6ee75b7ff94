"""Values that go over those of a document, and what they came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pdtopology.paths import Path, dotted, is_private
from pdtopology.section import Section
from pdtopology.values import shown

_DEPTH = 3
"""That of a document's keys, as `connector.prefill.kv_role` or `decode.engine_args.max-model-len`."""


class Override(NamedTuple):
    """A value that goes over what a document states."""

    value: Any
    origin: str
    """What it came from, with the value unless that may be a secret: `--set decode.port=0`."""


def overrides_at(values: Mapping[str, Any], origin: str) -> dict[Path, Override]:
    """Values by dotted paths, mappings and sections taken apart so that each key goes over its own."""
    return {
        leaf: Override(value, _named(origin, leaf, value))
        for path, given in values.items()
        for leaf, value in leaves(tuple(path.split(".")), given)
    }


def leaves(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    """The values inside of mappings and sections, each with its path; an empty mapping is a value itself."""
    members = _members(value) if len(path) < _DEPTH else {}
    for key, inner in members.items():
        yield from leaves((*path, key), inner)
    if not members:
        yield path, {} if isinstance(value, Section) else value


def _members(value: Any) -> Mapping[Any, Any]:
    if isinstance(value, Section):
        # A connector's kind says what the section is, also where it was left to the model.
        stated = value.model_fields_set | ({"kind"} & type(value).model_fields.keys())
        return {name: getattr(value, name) for name in type(value).model_fields if name in stated}
    return value if isinstance(value, Mapping) else {}


def _named(origin: str, path: Path, value: Any) -> str:
    name = f"{origin} {dotted(path)}"
    return name if is_private(path) else f"{name}={shown(value)}"
