"""Finds the places of nested values in text that is already known to be valid JSON or TOML."""

from __future__ import annotations

import re

from pdtopology.formats.place import Path, Place, Places, Span

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_TEXT = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}' r"|'''.*?'{3,5}" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'",
    re.DOTALL,
)
_BARE = re.compile(r"[^,\]}\n#]*[^,\]}\n#\s]")
_BARE_KEY = re.compile(r"[^\s.=\]]+")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


class FlowScanner:
    """Walks bracketed values and records where each stands.

    A path met again is kept where it stood first and noted in `repeated`.
    """

    def __init__(self, text: str, separator: str) -> None:
        self.text = text
        self.position = 0
        self.places: Places = {}
        self.repeated: list[tuple[str, Span, Span]] = []
        self._separator = separator

    def value(self, path: Path, key: Span | None = None) -> None:
        """Record the value that starts here, and all inside it."""
        self.blank()
        start = self.position
        if self.peek("{"):
            self._members(path)
        elif self.peek("["):
            self._items(path)
        elif (found := _TEXT.match(self.text, start)) or (found := _BARE.match(self.text, start)):
            self.position = found.end()
        self.record(path, Place(key, Span(start, self.position)))

    def key(self) -> tuple[str, Span]:
        """The quoted or bare key that starts here."""
        self.blank()
        if found := _TEXT.match(self.text, self.position):
            name = _unquoted(found[0])
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

    def record(self, path: Path, place: Place) -> None:
        """Note a place, unless the path has one."""
        known = self.places.setdefault(path, place)
        if known is not place and known.key and place.key:
            self.repeated.append((str(path[-1]), known.key, place.key))

    def member(self, path: Path) -> None:
        """Record one `key: value`, or `a.b = value` with the tables that it implies."""
        keys = self.dotted_key() if self._separator == "=" else [self.key()]
        self.blank()
        self.skip(self._separator)
        inner = (*path, *(name for name, _ in keys))
        self.value(inner, keys[-1][1])
        for count, (_, span) in enumerate(keys[:-1], start=len(path) + 1):
            self.places.setdefault(inner[:count], Place(span, Span(span.start, self.position)))

    def blank(self) -> None:
        """Go past white space and comments."""
        found = _BLANK.match(self.text, self.position)
        assert found
        self.position = found.end()

    def peek(self, mark: str) -> bool:
        """Whether the text goes on with this."""
        return self.text.startswith(mark, self.position)

    def skip(self, mark: str) -> bool:
        """Go past this, if the text goes on with it."""
        found = self.peek(mark)
        if found:
            self.position += len(mark)
        return found

    def _members(self, path: Path) -> None:
        self.skip("{")
        self.blank()
        while not self.skip("}"):
            self.member(path)
            self.blank()
            self.skip(",")
            self.blank()

    def _items(self, path: Path) -> None:
        self.skip("[")
        self.blank()
        index = 0
        while not self.skip("]"):
            self.value((*path, index))
            index += 1
            self.blank()
            self.skip(",")
            self.blank()


def _unquoted(text: str) -> str:
    inner = text[1:-1]
    if text[0] == "'":
        return inner

    def character(found: re.Match[str]) -> str:
        escape = found[1]
        if escape[0] in "uU" and len(escape) > 1:
            return chr(int(escape[1:], 16))
        return _ESCAPES.get(escape, escape)

    joined = _ESCAPE.sub(character, inner)
    # JSON writes characters beyond U+FFFF as two surrogates.
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
