"""TOML 1.0, one document a file."""

from __future__ import annotations

import re
import sys
from collections import Counter
from contextlib import suppress
from typing import Any, NamedTuple

from pdtopology.formats.flow import FlowScanner, require_depth, require_modest, require_short_tokens
from pdtopology.formats.place import Fault, Place, Places, Span, duplicate_key, too_deep
from pdtopology.paths import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_REPEATED = ("Cannot overwrite a value", "Cannot declare", "Duplicate inline table key")


def read(text: str) -> list[Any]:
    """The one document. Raises `Fault`."""
    require_short_tokens(text)
    try:
        document = tomllib.loads(text)
        require_modest(document)
    except tomllib.TOMLDecodeError as error:
        raise _fault(text, str(error)) from None
    except RecursionError:
        locate(text)  # tells where
        raise too_deep() from None
    return [document]


def locate(text: str) -> list[Places]:
    """Where each value of the one document stands."""
    scanner = Scanner(text)
    scanner.document()
    return [scanner.places]


class Statement(NamedTuple):
    """A header, or a key with its value."""

    table: Path
    """The one that the header opens, or that the key stands below."""
    span: Span
    is_header: bool


class Scanner(FlowScanner):
    """Walks tables as well; an array of tables stands for its last item in the headers that follow."""

    def __init__(self, text: str) -> None:
        super().__init__(text, "=", lambda quoted: tomllib.loads(f"key = {quoted}")["key"])
        self.statements: list[Statement] = []
        self._tables: set[Path] = set()
        self._lengths: Counter[Path] = Counter()

    def document(self) -> None:
        """Record all statements."""
        table: Path = ()
        self.places[()] = Place(None, Span(0, len(self.text)))
        self.blank()
        while self.position < len(self.text):
            start = self.position
            is_header = self.skip("[")
            if is_header:
                table = self._header(is_array=self.skip("["))
            else:
                self.member(table)
            self.statements.append(Statement(table, Span(start, self.position), is_header=is_header))
            self.blank()

    def _header(self, *, is_array: bool) -> Path:
        """Record the tables that `[a.b]` or `[[a.b]]` opens."""
        *parents, (name, span) = self.dotted_key()
        table: Path = ()
        for parent, at in parents:
            table = self._opened((*table, parent), at)
        table = (*table, name)
        if is_array:
            self._lengths[table] += 1
        elif table in self._tables:
            raise duplicate_key(name, span, self.places[table].key)
        self._tables.add(table)
        self.skip("]]" if is_array else "]")
        return self._opened(table, span)

    def _opened(self, table: Path, span: Span) -> Path:
        self.places.setdefault(table, Place(span, span))
        if self._lengths[table]:
            table = (*table, self._lengths[table] - 1)
            self.places.setdefault(table, Place(None, span))
        require_depth(table, span)
        return table


def _fault(text: str, error: str) -> Fault:
    message, _, place = error.rpartition(" (at ")
    start = len(text)
    if place != "end of document)":
        line, column = map(int, re.findall(r"\d+", place))
        start = sum(len(before) + 1 for before in text.split("\n")[: line - 1]) + column - 1
    code = "syntax-error"
    if message.startswith(_REPEATED):
        code = "duplicate-key"
        with suppress(ValueError):
            locate(text[:start])  # tells which, where it is the very same key
    return Fault(code, f"not TOML: {message[:1].lower()}{message[1:]}", None, Span(start, start + 1))
