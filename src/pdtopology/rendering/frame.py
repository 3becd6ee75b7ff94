"""A frame: the source lines with marks in them, and under each line its marks with what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from pdtopology.diagnostic import Location
from pdtopology.rendering.columns import Excerpt, harmless

Paint: TypeAlias = Callable[[str, str], str]
"""From a text and its tone to the text in that tone."""

BLUE = "\033[34m"


@dataclass(frozen=True)
class Mark:
    """A span to underline, and what to say beside it."""

    location: Location
    sign: str
    tone: str
    label: str


def frame(marks: Iterable[Mark], paint: Paint) -> Iterator[str]:
    """The lines of a frame, in the order of the file; marks that say the same of the same place are shown once."""
    ordered = sorted(dict.fromkeys(marks), key=lambda mark: (mark.location.line, mark.location.column))
    width = len(str(ordered[-1].location.line)) if ordered else 0
    gutter = paint(f"{'':>{width}} |", BLUE)
    line, excerpt = 0, Excerpt.around("", 0, 0)
    for mark in ordered:
        place = mark.location
        begin, end = _span(place)
        is_shown = place.line == line and excerpt.holds(begin, end)
        needed = excerpt if is_shown else Excerpt.around(place.source_line, begin, end)
        if (place.line, needed) != (line, excerpt):
            line, excerpt = place.line, needed
            yield f"  {paint(f'{line:>{width}} |', BLUE)} {excerpt.text}".rstrip()
        before, length = excerpt.underline(begin, end)
        yield f"  {gutter} {' ' * before}{paint(mark.sign * length, mark.tone)} {harmless(mark.label)}".rstrip()


def _span(place: Location) -> tuple[int, int]:
    """The offsets between which a place stands in its first line; the end of the line is its last."""
    last = len(place.source_line)
    end = place.end_column - 1 if place.end_line == place.line else last
    return min(place.column - 1, last), min(end, last)
