"""Findings as text: the source lines, a caret under the value, and a mark under each value it disagrees with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pdtopology.diagnostic import Diagnostic, Location, Related, shown
from pdtopology.rule import Severity

_BOLD, _RED, _YELLOW, _BLUE, _RESET = "\033[1m", "\033[31m", "\033[33m", "\033[34m", "\033[0m"
_MAX_WIDTH = 160


@dataclass(frozen=True)
class _Mark:
    """A span to underline, and what to say beside it."""

    location: Location
    sign: str
    label: str


def render_text(finding: Diagnostic, *, color: bool = False) -> str:
    """A finding as a few lines, the last one without an end."""
    paint = _painter(color)
    tone = _RED if finding.severity is Severity.ERROR else _YELLOW
    head = paint(f"{finding.severity.value}[{finding.code}]", tone + _BOLD)
    lines = [f"{head}: {paint(_harmless(finding.title or finding.message), _BOLD)}"]
    if finding.location:
        place = finding.location
        origin = f" ({_harmless(finding.origin)})" if finding.origin else ""
        lines.append(f"  {place.file}:{place.line}:{place.column}{origin}")
    elif finding.file or finding.origin:
        lines.append("  " + _harmless(f"{finding.file or ''} {finding.origin}".strip()))
    lines += _frame(finding, paint, tone)
    if finding.title and not finding.location:
        lines.append(f"  {_harmless(finding.message)}")
    unplaced = [other for other in finding.related if other.path and not other.location]
    lines += [f"  {_harmless(_stated(other))}" for other in unplaced]
    if finding.note:
        lines.append(f"  {finding.note}")
    if finding.hint:
        lines.append(f"  {paint('hint', _BOLD)}: {_harmless(finding.hint)}")
    return "\n".join(lines)


def _stated(other: Related) -> str:
    """What a value is, and what says so where that is not the line shown."""
    if other.origin:
        return f"{other.path} is {shown(other.value)}, from {other.origin}"
    if other.location:
        return f"{other.path} is {shown(other.value)}"
    return f"{other.path} is " + ("not stated" if other.value is None else f"{shown(other.value)}, by default")


def _frame(finding: Diagnostic, paint: Callable[[str, str], str], tone: str) -> Iterator[str]:
    marks = [
        _Mark(
            other.location,
            "-",
            _stated(other) if other.path else "first here",
        )
        for other in finding.related
        if other.location
    ]
    if finding.location:
        marks.append(_Mark(finding.location, "^", finding.message if finding.title else ""))
    marks.sort(key=lambda mark: (mark.location.line, mark.location.column))
    width = len(str(max((mark.location.line for mark in marks), default=0)))
    shown_line = (0, 0)
    for mark in marks:
        place = mark.location
        start = _window_start(place)
        if (place.line, start) != shown_line:
            number = paint(f"{place.line:>{width}} |", _BLUE)
            yield f"  {number} {_part(place.source_line, start)}".rstrip()
        shown_line = (place.line, start)
        gutter = paint(f"{'':>{width}} |", _BLUE)
        indent, length = _underline(place, start)
        underline = paint(mark.sign * length, tone if mark.sign == "^" else _BLUE)
        yield f"  {gutter} {indent}{underline} {_harmless(mark.label)}".rstrip()


def _window_start(place: Location) -> int:
    """The first column shown of a line that is too long to show whole."""
    fits = len(place.source_line) <= _MAX_WIDTH or place.end_column <= _MAX_WIDTH
    return 0 if fits else max(0, place.column - _MAX_WIDTH // 2)


def _part(line: str, start: int) -> str:
    """What is shown of a line."""
    before, after = "…" if start else "", "…" if len(line) > start + _MAX_WIDTH else ""
    return before + _visible(line[start : start + _MAX_WIDTH]) + after


def _underline(place: Location, start: int) -> tuple[str, int]:
    """The blank before a span in what is shown of its first line, and the span's length there."""
    line = place.source_line
    end = min(place.end_column if place.end_line == place.line else len(line) + 1, start + _MAX_WIDTH)
    before = len(_visible(line[start : place.column - 1])) + (1 if start else 0)
    return " " * before, max(1, len(_visible(line[place.column - 1 : end - 1])))


def _visible(line: str) -> str:
    """The line as it is shown, a tab as four columns."""
    return _harmless(line.replace("\t", "    "))


def _harmless(text: str) -> str:
    """The text without what a terminal would obey."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def _painter(color: bool) -> Callable[[str, str], str]:
    return (lambda text, tone: f"{tone}{text}{_RESET}") if color else (lambda text, _: text)
