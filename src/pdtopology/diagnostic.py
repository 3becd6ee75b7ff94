"""What is told of a document: one kind of object for syntax faults, wrong values and broken rules alike."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pdtopology.formats.place import Span
from pdtopology.load import SourceText
from pdtopology.paths import Path
from pdtopology.rule import Severity
from pdtopology.values import shown


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

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Related:
    """A value that the finding disagrees with."""

    path: str
    value: Any
    """None where the document does not state it and it has no default."""
    location: Location | None = None
    """None where the document does not state it."""
    origin: str = ""
    """What it came from, where that is not the file: `config.json: num_key_value_heads`."""

    @property
    def label(self) -> str:
        """What to say of it, and what says so where that is not the line shown."""
        if not self.path:
            return "first here"
        if self.origin:
            return f"{self.path} is {shown(self.value)}, from {self.origin}"
        if self.location:
            return f"{self.path} is {shown(self.value)}"
        return f"{self.path} is " + ("not stated" if self.value is None else f"{shown(self.value)}, by default")

    @property
    def source(self) -> str:
        """Where it came from; empty for a default."""
        return self.origin or (f"{self.path} at {self.location}" if self.location else "")


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
    loc: Path = field(default=(), repr=False, compare=False)
    """The key as pydantic tells of it."""

    def __str__(self) -> str:
        place = str(self.location or f"{self.file or ''} {self.origin}".strip())
        others = self._related_sources if self._has_origins else []
        told = " ".join([self.message, *_in_brackets(others), *_in_brackets([self.hint])])
        return f"{place}{': ' if place else ''}{self.severity.value}[{self.code}]: {told}"

    @property
    def message_with_origin(self) -> str:
        """The message, and what the values came from where one did not come from the file."""
        return " ".join([self.message, *_in_brackets(self._sources if self._has_origins else [])])

    @property
    def message_with_sources(self) -> str:
        """The message, what the values came from, and the hint, in one line."""
        return " ".join([self.message, *_in_brackets(self._sources), *_in_brackets([self.hint])])

    @property
    def _has_origins(self) -> bool:
        return any((self.origin, *(other.origin for other in self.related)))

    @property
    def _sources(self) -> list[str]:
        return [self.origin or str(self.location or ""), *self._related_sources]

    @property
    def _related_sources(self) -> list[str]:
        return [other.source for other in self.related]

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
                    # Of a mapping a rule reads one key; others may be secrets.
                    "value": shown(other.value) if isinstance(other.value, Mapping) else other.value,
                    "file": other.location and other.location.file,
                    "line": other.location and other.location.line,
                    "column": other.location and other.location.column,
                    **({"origin": other.origin} if other.origin else {}),
                }
                for other in self.related
            ],
        }


def _in_brackets(parts: Iterable[str | None]) -> list[str]:
    """The parts that say something, each once, in one pair of brackets; nothing where there is none."""
    said = ", ".join(dict.fromkeys(filter(None, parts)))
    return [f"({said})"] if said else []


class TopologyError(Exception):
    """A document that is refused; its text is the findings, a line each."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("\n".join(map(str, diagnostics)))
        self.diagnostics = tuple(diagnostics)
