"""Paths into a document: the keys and indexes that lead to a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""As pydantic's `loc`: `("decode", "tensor_parallel_size")`."""


def dotted(path: Path) -> str:
    """The path as people write it: `decode.tensor_parallel_size`."""
    return ".".join(map(str, path))


def with_value(data: Any, path: Path, value: Any) -> Any:
    """The data with one value put in, mappings made where they are missing; the data itself is not changed."""
    if not path:
        return value
    members = dict(data) if isinstance(data, Mapping) else {}
    members[path[0]] = with_value(members.get(path[0]), path[1:], value)
    return members
