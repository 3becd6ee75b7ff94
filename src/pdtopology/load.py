"""Files, standard input and text, as documents that know where each of their values stands."""

from __future__ import annotations

import os
import pathlib
import sys
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pdtopology.formats import Format, format_of
from pdtopology.formats.place import Fault, Place, Places
from pdtopology.keys import HF_CONFIG
from pdtopology.overrides import Override
from pdtopology.paths import Path, value_at, with_value

if TYPE_CHECKING:
    from pdtopology.hf_config import NamedConfig

MAX_BYTES = 10 * 1024 * 1024

STANDARD_INPUT, TEXT, DATA, ENVIRONMENT = "<stdin>", "<text>", "<data>", "<environment>"
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
    overrides: Mapping[Path, Override]
    config: NamedConfig | None = None
    """What completed the model section, once it is checked."""

    @property
    def config_folder(self) -> pathlib.Path:
        """The folder below which the model's config.json is meant: that of the document's file, else the current one.

        A path that was put over the document is one below the current folder too.
        """
        path = HF_CONFIG.parts
        is_put_over = any(path[: len(override)] == override for override in self.overrides)
        return pathlib.Path() if is_put_over or not self.document else pathlib.Path(self.document.text.name).parent

    @property
    def anchored(self) -> Any:
        """The data, with the path of a config.json below another folder than the current one made absolute."""
        path = HF_CONFIG.parts
        folder, named = self.config_folder, value_at(self.data, path)
        if folder == pathlib.Path() or not isinstance(named, str) or not named:
            return self.data
        return with_value(self.data, path, str(folder.absolute() / named))


class SourceFault(Exception):
    """A source that holds no documents, or not as many as wanted."""

    def __init__(self, fault: Fault, name: str, text: SourceText | None = None) -> None:
        super().__init__(f"{name}: {fault.message}")
        self.fault = fault
        self.name = name
        self.text = text


def read_cases(source: Source | Mapping[str, Any], overrides: Mapping[Path, Override]) -> list[Case]:
    """The documents of a source, with values put over them, the later over the earlier. Raises `SourceFault`."""

    def case(data: Any, document: Document | None) -> Case:
        for path, override in overrides.items() if isinstance(data, Mapping | None) else ():
            data = _overridden(data, path, override, document)
        return Case(data, document, overrides)

    if isinstance(source, Mapping):
        return [case(dict(source), None)]
    text = _read_text(source)
    try:
        values = text.documents()
    except Fault as fault:
        raise SourceFault(fault, text.name, text) from None
    return [case(value, Document(text, number)) for number, value in enumerate(values)]


def _overridden(data: Any, path: Path, override: Override, document: Document | None) -> Any:
    """The data with an override put in. Raises `SourceFault` where it has no mapping to go into."""
    try:
        return with_value(data, path, override.value)
    except TypeError:
        fault = Fault("model_type", f"{override.origin} does not fit: what stands above it is no mapping")
        raise SourceFault(fault, document.text.name if document else DATA) from None


def read_case(source: Source | Mapping[str, Any], overrides: Mapping[Path, Override]) -> Case:
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
    name, content = _name_of(source), read_content(source)
    return SourceText(name, content, _format_of_text(content) if source == "-" else format_of(name))


def read_content(source: Source) -> str:
    """What the file at a path, or standard input for `-`, holds. Raises `SourceFault`."""
    name = _name_of(source)
    try:
        return _decoded(_read_bytes(source))
    except Fault as fault:
        raise SourceFault(fault, name) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceFault(Fault("unreadable-file", f"cannot be read: {reason}"), name) from None


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
