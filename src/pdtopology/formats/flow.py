"""Finds the places of nested values in text that is already known to be valid JSON or TOML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from pdtopology.formats.place import (
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_VALUES,
    Place,
    Places,
    Span,
    duplicate_key,
    too_deep,
    too_many_digits,
    too_many_values,
)
from pdtopology.paths import Path

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_QUOTED = r"""(?:"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\n]*')"""
_TEXT = re.compile(
    r'"""[^"\\]*(?:(?:\\.|""?(?!"))[^"\\]*)*"{3,5}' r"|'''.*?'{3,5}|" + _QUOTED,
    re.DOTALL,
)
_BARE = re.compile(r"[^,\]}\n#]*[^,\]}\n#\s]")
_BARE_KEY = re.compile(r"[^\s.=\]]+")

_LONG_NUMBER = rf"(?<![\w.+-])[-+\d][\w.+-]{{{MAX_DIGITS},}}"
_KEY_PART = rf"(?:[\w-]+|{_QUOTED})"
_DEEP_KEY = rf"(?<![\w.-]){_KEY_PART}(?:[ \t]*\.[ \t]*{_KEY_PART}){{{MAX_DEPTH},}}"


def find_bare(pattern: str, text: str) -> Span | None:
    """Where a pattern first matches outside of quotes and comments."""
    for found in re.finditer(rf"({pattern})|{_TEXT.pattern}|#[^\n]*", text, re.DOTALL):
        if found[1]:
            return Span(*found.span())
    return None


def require_short_tokens(text: str) -> None:
    """Refuse the numbers and the dotted keys that take parsers long. Raises `Fault`."""
    # Both are quick to rule out.
    longest_word = max(map(len, text.split()), default=0)
    if longest_word > MAX_DIGITS and (number := find_bare(_LONG_NUMBER, text)):
        raise too_many_digits(number)
    if text.count(".") >= MAX_DEPTH and (key := find_bare(_DEEP_KEY, text)):
        raise too_deep(key)


def require_depth(path: Path, span: Span) -> None:
    """Refuse a path that is longer than any topology needs. Raises `Fault`."""
    if len(path) > MAX_DEPTH:
        raise too_deep(span)


def require_modest(document: Any) -> None:
    """Refuse more values than a topology needs by `Fault`, and more levels by `RecursionError`, as parsers do."""
    level, count = [document], 1
    for _ in range(MAX_DEPTH + 1):
        level = [inner for value in level for inner in _inner(value)]
        count += len(level)
        if count > MAX_VALUES:
            raise too_many_values()
        if not level:
            return
    raise RecursionError


def _inner(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


class FlowScanner:
    """Walks bracketed values and records where each stands.

    Raises `Fault` for a key that stands twice and for nesting that is too deep, `ValueError` where the text ends
    too early.
    """

    def __init__(self, text: str, separator: str, unquoted: Callable[[str], str]) -> None:
        self.text = text
        self.position = 0
        self.places: Places = {}
        self._separator = separator
        self._unquoted = unquoted

    def value(self, path: Path, key: Span | None = None) -> None:
        """Record the value that starts here, and all inside it."""
        self.blank()
        start = self.position
        require_depth(path, Span(start, start + 1))
        if self.skip("{"):
            self._members(path)
        elif self.skip("["):
            self._items(path)
        elif found := _TEXT.match(self.text, start) or _BARE.match(self.text, start):
            self.position = found.end()
        else:
            raise ValueError(f"no value at {start}")
        self.places[path] = Place(key, Span(start, self.position))

    def key(self) -> tuple[str, Span]:
        """The quoted or bare key that starts here."""
        self.blank()
        if found := _TEXT.match(self.text, self.position):
            name = self._unquoted(found[0])
        elif found := _BARE_KEY.match(self.text, self.position):
            name = found[0]
        else:
            raise ValueError(f"no key at {self.position}")
        self.position = found.end()
        return name, Span(*found.span())

    def dotted_key(self) -> list[tuple[str, Span]]:
        """The key that starts here and those that follow it after dots."""
        parts = [self.key()]
        self.blank()
        while self.skip("."):
            parts.append(self.key())
            self.blank()
        return parts

    def member(self, path: Path) -> None:
        """Record one `key: value`, or `a.b = value` with the tables that it implies."""
        keys = self.dotted_key() if self._separator == "=" else [self.key()]
        self.blank()
        self.skip(self._separator)
        name, span = keys[-1]
        inner = (*path, *(part for part, _ in keys))
        if inner in self.places:
            raise duplicate_key(name, span, self.places[inner].key)
        self.value(inner, span)
        for count, (_, part) in enumerate(keys[:-1], start=len(path) + 1):
            self.places.setdefault(inner[:count], Place(part, Span(part.start, self.position)))

    def blank(self) -> None:
        """Go past white space and comments."""
        found = _BLANK.match(self.text, self.position)
        assert found
        self.position = found.end()

    def skip(self, mark: str) -> bool:
        """Go past this, if the text goes on with it."""
        found = self.text.startswith(mark, self.position)
        if found:
            self.position += len(mark)
        return found

    def _members(self, path: Path) -> None:
        self.blank()
        while not self.skip("}"):
            self.member(path)
            self.blank()
            self.skip(",")
            self.blank()

    def _items(self, path: Path) -> None:
        self.blank()
        index = 0
        while not self.skip("]"):
            self.value((*path, index))
            index += 1
            self.blank()
            self.skip(",")
            self.blank()
