"""Files, standard input and text, as documents that know where each of their values stands."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from pdtopology.formats import YAML, Format, format_of
from pdtopology.formats.place import Fault, Path, Place, Places, Span

MAX_BYTES = 10 * 1024 * 1024

Source: TypeAlias = "str | os.PathLike[str]"
"""A path, `-` for standard input, or the text of a document (a string that holds a line break)."""


@dataclass(frozen=True)
class Text:
    """What a source holds, and what to call it."""

    name: str
    content: str
    format: Format


@dataclass(frozen=True)
class Document:
    """One document of a text."""

    text: Text
    index: int
    data: Any

    @cached_property
    def places(self) -> Places:
        """Where each value stands. Worked out when something is wrong, so that a good file pays nothing."""
        try:
            return self.text.format.locate(self.text.content, self.index)
        except RecursionError:
            return {}

    def place(self, path: Path) -> Place | None:
        """Where the value stands, or the nearest thing around it that the document states."""
        for length in range(len(path), -1, -1):
            if found := self.places.get(path[:length]):
                return found
        return None


def read_source(source: Source) -> Text:
    """The text of a source. Raises `Fault`."""
    if isinstance(source, str) and "\n" in source:
        return Text("<text>", source, YAML)
    name = os.fspath(source)
    if name == "-":
        return Text("<stdin>", _decoded(sys.stdin.buffer.read(MAX_BYTES + 1)), YAML)
    try:
        with open(name, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Fault("unreadable-file", f"cannot be read: {reason}") from None
    return Text(name, _decoded(content), format_of(name))


def read_documents(text: Text) -> list[Document]:
    """The documents of a text; an empty text is one document without data. Raises `Fault`."""
    values = text.format.read(text.content) if text.content.strip() else [None]
    return [Document(text, index, value) for index, value in enumerate(values)]


def with_overrides(data: Any, overrides: Mapping[Path, Any]) -> Any:
    """The data with values put at paths, mappings made where they are missing; the data itself is not changed."""
    for path, value in overrides.items():
        data = _with_override(data, path, value)
    return data


def _with_override(data: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    members = dict(data) if isinstance(data, dict) else {}
    members[path[0]] = _with_override(members.get(path[0]), path[1:], value)
    return members


def _decoded(content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise Fault("input-too-large", f"larger than {MAX_BYTES // 1024**2} MiB, which no topology is")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        encoding = "UTF-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "not UTF-8"
        raise Fault(
            "unreadable-file",
            f"is {encoding}: byte 0x{content[error.start]:02x} in line {line}",
            "save it as UTF-8",
        ) from None


__all__ = ["Document", "Fault", "Source", "Span", "Text", "read_documents", "read_source", "with_overrides"]
