"""What is told of a document: one kind of object for syntax faults, wrong values and broken rules alike."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pdtopology.formats.place import Span
from pdtopology.load import SourceText
from pdtopology.rule import Severity


@dataclass(frozen=True)
class Location:
    """A part of a named text; lines and columns count from 1, columns in characters."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    source_line: str = field(repr=False, compare=False)
    """The line it begins in, without its end."""

    @classmethod
    def of(cls, text: SourceText, span: Span) -> Location:
        """The location of a span of a text."""
        starts = text.line_starts
        line, end_line = (bisect_right(starts, offset) for offset in span)
        first = starts[line - 1]
        stop = text.content.find("\n", first)
        source_line = text.content[first : None if stop < 0 else stop].removesuffix("\r")
        column, end_column = span.start - first + 1, span.end - starts[end_line - 1] + 1
        return cls(text.name, line, column, end_line, end_column, source_line)


@dataclass(frozen=True)
class Related:
    """A value that the finding disagrees with."""

    path: str
    value: Any
    """None where the document does not state it and it has no default."""
    location: Location | None = None
    """None where the document does not state it."""

    @property
    def label(self) -> str:
        """What to say beside it."""
        return f"{self.path} is {shown(self.value)}" if self.path else "first here"


@dataclass(frozen=True)
class Diagnostic:
    """One finding."""

    code: str
    """A rule's code, pydantic's error type, or that of a fault: `syntax-error`, `duplicate-key` and so on."""
    severity: Severity
    path: str
    """The key, dotted; empty for the document itself."""
    message: str
    hint: str | None = None
    """What to do about it."""
    file: str | None = None
    """The file's name; None for data without a file."""
    origin: str = ""
    """What the value came from, where that is not the file: `--set decode.port=0`."""
    location: Location | None = None
    related: Sequence[Related] = ()
    title: str = ""
    """The headline; empty where the message says all."""
    note: str = ""
    """When the engine itself would tell, for a rule."""

    def __str__(self) -> str:
        place = f"{self.file or ''} {self.origin}".strip()
        if self.location:
            place = f"{self.location.file}:{self.location.line}:{self.location.column}"
        hint = f" ({self.hint})" if self.hint else ""
        return f"{place}{': ' if place else ''}{self.severity.value}[{self.code}]: {self.message}{hint}"

    @property
    def message_with_origin(self) -> str:
        """The message, and what the value came from where that is not the file."""
        return f"{self.message} ({self.origin})" if self.origin else self.message

    @property
    def message_with_hint(self) -> str:
        """The message with its origin, and the hint in a line of its own."""
        return self.message_with_origin + (f"\nhint: {self.hint}" if self.hint else "")

    def to_json(self) -> dict[str, Any]:
        """The finding as `check --format json` prints it."""
        place = self.location
        return {
            "code": self.code,
            "severity": self.severity.value,
            "path": self.path,
            "message": self.message_with_origin,
            "hint": self.hint,
            "file": self.file,
            "line": place and place.line,
            "column": place and place.column,
            "end_line": place and place.end_line,
            "end_column": place and place.end_column,
            "related": [
                {
                    "path": other.path,
                    "value": other.value,
                    "file": other.location and other.location.file,
                    "line": other.location and other.location.line,
                    "column": other.location and other.location.column,
                }
                for other in self.related
            ],
        }


_MAX_BITS = 256
_MAX_SHOWN = 60


def shown(value: Any) -> str:
    """A value as a document would state it, or its kind where it is long."""
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return f"a number of {value.bit_length()} bits"
    if isinstance(value, (str, int, float, bool, type(None))):
        text = json.dumps(value)
        return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 10]}… ({len(text):,} characters)"
    if isinstance(value, Mapping):
        return "a mapping"
    return "a list" if isinstance(value, (list, tuple)) else f"a {type(value).__name__}"


class TopologyError(Exception):
    """A document that is refused; its text is the findings, a line each."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("\n".join(map(str, diagnostics)))
        self.diagnostics = tuple(diagnostics)
