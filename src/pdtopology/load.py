"""Files, standard input and text, as documents that know where each of their values stands."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from pdtopology.formats import Format, format_of
from pdtopology.formats.place import Fault, Place, Places
from pdtopology.paths import Path, dotted, with_value

MAX_BYTES = 10 * 1024 * 1024

STANDARD_INPUT, TEXT, DATA = "<stdin>", "<text>", "<data>"
"""What findings call a source that is no file."""

Source: TypeAlias = "str | os.PathLike[str]"
"""A path, `-` for standard input, or the text of a document (a string with a line break, or that begins with `{`)."""


class SourceText:
    """What a source holds, and what to call it."""

    def __init__(self, name: str, content: str, file_format: Format) -> None:
        self.name = name
        self.content = content
        self.format = file_format

    def documents(self) -> list[Any]:
        """What it holds, in any format one empty document where it is blank. Raises `Fault`."""
        return [None] if self._is_blank else self.format.read(self.content)

    @cached_property
    def places(self) -> list[Places]:
        """Where each value of each document stands; nothing where all is empty.

        Worked out when something is wrong, so that a good file pays nothing.
        """
        return [] if self._is_blank else self.format.locate(self.content)

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of each line's first character."""
        return [0, *(index + 1 for index, end in enumerate(self.content) if end == "\n")]

    @property
    def _is_blank(self) -> bool:
        return not self.content.strip()


class Document(NamedTuple):
    """One document of a text."""

    text: SourceText
    number: int
    """Its place in the text, from 0."""

    @property
    def places(self) -> Places:
        """Where each of its values stands."""
        located = self.text.places
        return located[self.number] if located else {}

    def place(self, path: Path) -> Place | None:
        """Where the value stands, or the nearest thing around it that the document states."""
        for length in range(len(path), -1, -1):
            if found := self.places.get(path[:length]):
                return found
        return None


class Case(NamedTuple):
    """Data to judge, and what its values came from."""

    data: Any
    document: Document | None
    overrides: Mapping[Path, Any]
    origin: str
    """What findings call the source of the overrides."""


class SourceFault(Exception):
    """A source that holds no documents, or not as many as wanted."""

    def __init__(self, fault: Fault, name: str, text: SourceText | None = None) -> None:
        super().__init__(f"{name}: {fault.message}")
        self.fault = fault
        self.name = name
        self.text = text


def read_cases(
    source: Source | Mapping[str, Any], overrides: Mapping[str, Any], origin: str = "override"
) -> list[Case]:
    """The documents of a source, with values put over them at dotted paths. Raises `SourceFault`."""
    changes: dict[Path, Any] = {tuple(path.split(".")): value for path, value in overrides.items()}

    def case(data: Any, document: Document | None) -> Case:
        path: Path = ()
        try:
            for path, value in changes.items():
                data = with_value(data, path, value)
        except TypeError:
            message = f"{origin} {dotted(path)} does not fit: what stands above it is no mapping"
            raise SourceFault(Fault("model_type", message), document.text.name if document else DATA) from None
        return Case(data, document, changes, origin)

    if isinstance(source, Mapping):
        return [case(dict(source), None)]
    text = _read_text(source)
    try:
        values = text.documents()
    except Fault as fault:
        raise SourceFault(fault, text.name, text) from None
    return [case(value, Document(text, number)) for number, value in enumerate(values)]


def read_case(source: Source, overrides: Mapping[str, Any]) -> Case:
    """The one document of a source, as `read_cases`. Raises `SourceFault`, also where there are several."""
    case, *others = read_cases(source, overrides)
    if others:
        assert case.document
        fault = Fault("syntax-error", f"holds {len(others) + 1} documents, where one topology is wanted")
        raise SourceFault(fault, case.document.text.name)
    return case


def _read_text(source: Source) -> SourceText:
    if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
        return SourceText(TEXT, source, _format_of_text(source))
    name = _name_of(source)
    try:
        content = _read_bytes(source)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceFault(Fault("unreadable-file", f"cannot be read: {reason}"), name) from None
    try:
        text = _decoded(content)
        return SourceText(name, text, _format_of_text(text) if source == "-" else format_of(name))
    except Fault as fault:
        raise SourceFault(fault, name) from None


def _read_bytes(source: Source) -> bytes:
    if source == "-":
        if sys.stdin is None:  # as after `<&-`
            raise OSError("standard input is closed")
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    with open(source, "rb") as file:
        return file.read(MAX_BYTES + 1)


def _format_of_text(text: str) -> Format:
    """JSON where the text is that, since YAML's parser reads no surrogate pairs; else YAML."""
    import json

    try:
        return format_of(".json") if text.lstrip().startswith("{") and json.loads(text) else format_of("")
    except (ValueError, RecursionError):
        return format_of("")


def _name_of(source: Source) -> str:
    return STANDARD_INPUT if source == "-" else os.fspath(source)


def _decoded(content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise Fault("input-too-large", f"larger than {MAX_BYTES // 1024**2} MiB, which no topology is")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        encoding = "UTF-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "not UTF-8"
        raise Fault(
            "unreadable-file",
            f"is {encoding}: byte 0x{error.object[error.start]:02x} in line {line}",
            "save it as UTF-8",
        ) from None
