"""Paths into a document: the keys and indexes that lead to a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""As pydantic's `loc`: `("decode", "tensor_parallel_size")`."""


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

    Raises `TypeError` where something else stands in a mapping's place.
    """
    if not path:
        return value
    if not isinstance(data, Mapping | None):
        raise TypeError(f"{data!r} is no mapping")
    members = dict(data or {})
    members[path[0]] = with_value(members.get(path[0]), path[1:], value)
    return members
