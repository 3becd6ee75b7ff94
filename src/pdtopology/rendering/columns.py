"""Text as a terminal shows it: what stands in place of each character, and the columns that it takes."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

MAX_COLUMNS = 160
"""More of a source line than this is not shown."""
TAB_COLUMNS = 4


def harmless(text: str) -> str:
    r"""The text with escapes for what a terminal would obey or not show: `\x1b`, `\u202e`, `\u200d`."""
    return text if text.isprintable() else "".join(map(_shown, text))


def columns(text: str) -> int:
    """How many columns a printable text takes: two for a wide character, none for a mark on the one before it."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


@dataclass(frozen=True)
class Excerpt:
    """The part of a source line that is shown; offsets count characters of the line from 0."""

    start: int
    text: str
    """With tabs as spaces, escapes, and an ellipsis for what is left out."""
    stops: tuple[int, ...]
    """The column of each character, and the one after the last."""

    @classmethod
    def around(cls, line: str, begin: int, end: int) -> Excerpt:
        """The excerpt with a span: the beginning of the line where that holds it, or else what is around its begin."""
        first = cls._from(line, 0)
        if first.holds(begin, end):
            return first
        start, room = begin, MAX_COLUMNS // 2
        for character in reversed(line[max(0, begin - room) : begin]):
            room -= TAB_COLUMNS if character == "\t" else columns(_shown(character))
            if room < 0:
                break
            start -= 1
        return cls._from(line, start)

    def holds(self, begin: int, end: int) -> bool:
        """Whether a span is shown whole."""
        return self.start <= begin and end < self.start + len(self.stops)

    def underline(self, begin: int, end: int) -> tuple[int, int]:
        """The columns before a span that begins in the excerpt, and those under what is shown of it; at least one."""
        left = self.stops[begin - self.start]
        right = self.stops[min(end - self.start, len(self.stops) - 1)]
        return left, max(1, right - left)

    @classmethod
    def _from(cls, line: str, start: int) -> Excerpt:
        """As much of the line as fits, from one of its characters."""
        parts = ["…"] if start else []
        stops = [len(parts)]
        for character in line[start : start + MAX_COLUMNS]:
            tab = " " * (TAB_COLUMNS - stops[-1] % TAB_COLUMNS)
            part = tab if character == "\t" else _shown(character)
            stop = stops[-1] + columns(part)
            if stop - stops[0] > MAX_COLUMNS:
                break
            parts.append(part)
            stops.append(stop)
        if start + len(stops) <= len(line):
            parts.append("…")
        return cls(start, "".join(parts), tuple(stops))


def _shown(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def _columns_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
