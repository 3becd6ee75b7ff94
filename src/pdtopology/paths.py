"""Paths into a document: the keys and indexes that lead to a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""As pydantic's `loc`: `("decode", "tensor_parallel_size")`."""


FREE_MAPPINGS = ("env", "engine_args", "extra_config")
"""Keys that hold any keys at all, of which the values are the engine's and may be secrets."""


def is_private(path: Path) -> bool:
    """Whether the value at a path is the engine's own, which only the file that states it may show."""
    return any(key in FREE_MAPPINGS for key in path)


def dotted(path: Path) -> str:
    """The path as people write it: `decode.tensor_parallel_size`."""
    return ".".join(map(str, path))


def value_at(data: Any, path: Path) -> Any:
    """The value at a path, None where there is none."""
    for part in path:
        data = data.get(part) if isinstance(data, Mapping) else None
    return data


def with_value(data: Any, path: Path, value: Any) -> Any:
    """The data with one value put in, mappings made where they are missing; the data itself is not changed.

    An empty mapping leaves one that is there as it is. Raises `TypeError` where something else stands in a mapping's
    place.
    """
    if not path:
        return data if value == {} and isinstance(data, Mapping) else value
    if not isinstance(data, Mapping | None):
        raise TypeError(f"{data!r} is no mapping")
    members = dict(data or {})
    members[path[0]] = with_value(members.get(path[0]), path[1:], value)
    return members
