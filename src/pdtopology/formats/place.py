"""Where things stand in a text, and faults that stand somewhere in it."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from pdtopology.paths import Path

MAX_DEPTH = 100
MAX_VALUES = 50_000
MAX_DIGITS = 100
_MAX_SHOWN = 60


class Span(NamedTuple):
    """A part of a text, by offsets in characters; the end is not included."""

    start: int
    end: int


class Place(NamedTuple):
    """Where a value stands, and the key it belongs to (none for an item of a list or a whole document)."""

    key: Span | None
    value: Span


Places: TypeAlias = dict[Path, Place]


class Fault(Exception):
    """A text that is no document: it cannot be read, is not in its format, or is too large.

    `code` is `syntax-error`, `duplicate-key`, `unreadable-file` or `input-too-large`; `earlier` is where a
    duplicate key stood first.
    """

    def __init__(
        self,
        code: str,
        message: str,
        hint: str | None = None,
        span: Span | None = None,
        earlier: Span | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.span = span
        self.earlier = earlier


def duplicate_key(key: str, span: Span, earlier: Span | None) -> Fault:
    """The same key twice in one mapping."""
    return Fault("duplicate-key", f"the key {one_line(key)} stands twice", "keep one of the two", span, earlier)


def too_deep(span: Span | None = None) -> Fault:
    """Nesting that no topology needs; also what an alias inside itself amounts to."""
    return Fault("input-too-large", f"nested deeper than {MAX_DEPTH} levels", None, span)


def too_many_values(span: Span | None = None) -> Fault:
    """More than any topology holds."""
    return Fault("input-too-large", f"more than {MAX_VALUES:,} values", None, span)


def too_many_digits(span: Span) -> Fault:
    """A number that no topology needs and that would take long to convert."""
    return Fault("input-too-large", f"a number of {span.end - span.start:,} characters", None, span)


def one_line(text: str) -> str:
    """A key or tag as a message can hold it."""
    short = text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
    return short if short and short.isprintable() else repr(short)
