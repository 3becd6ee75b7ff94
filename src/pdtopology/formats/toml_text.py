"""TOML 1.0, one document a file."""

from __future__ import annotations

import re
import sys
from collections import Counter
from typing import Any

from pdtopology.formats.flow import FlowScanner
from pdtopology.formats.place import (
    MAX_DIGITS,
    Fault,
    Path,
    Place,
    Places,
    Span,
    too_deep,
    too_many_digits,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_LONG_NUMBER = re.compile(rf"(?<![\w.\"'])[-+]?[0-9_xob]{{{MAX_DIGITS + 1},}}")
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_REPEATED = ("Cannot overwrite a value", "Cannot declare", "Duplicate inline table key")


def read(text: str) -> list[Any]:
    """The one document. Raises `Fault`."""
    try:
        return [tomllib.loads(text)]
    except tomllib.TOMLDecodeError as error:
        raise _fault(text, str(error)) from None
    except RecursionError:
        raise too_deep() from None
    except ValueError:  # int() refuses thousands of digits
        found = _LONG_NUMBER.search(text)
        span = Span(*found.span()) if found else None
        raise too_many_digits(len(found[0]) if found else MAX_DIGITS + 1, span) from None


def locate(text: str) -> list[Places]:
    """Where each value of the one document stands."""
    scanner = FlowScanner(text, separator="=")
    table: Path = ()
    items: Counter[Path] = Counter()
    scanner.record((), Place(None, Span(0, len(text))))
    scanner.blank()
    while scanner.position < len(text):
        if scanner.skip("["):
            table = _header(scanner, items, is_array=scanner.skip("["))
        else:
            scanner.member(table)
        scanner.blank()
    return [scanner.places]


def _header(scanner: FlowScanner, items: Counter[Path], *, is_array: bool) -> Path:
    """Record the tables that `[a.b]` or `[[a.b]]` opens; an array stands for its last item."""
    path: Path = ()
    keys = scanner.dotted_key()
    for position, (name, span) in enumerate(keys, start=1):
        path = (*path, name)
        scanner.places.setdefault(path, Place(span, span))
        if is_array and position == len(keys):
            items[path] += 1
        if items[path]:
            path = (*path, items[path] - 1)
            scanner.places.setdefault(path, Place(None, span))
    scanner.skip("]]" if is_array else "]")
    return path


def _fault(text: str, message: str) -> Fault:
    span = None
    if found := _AT.search(message):
        message = message[: found.start()]
        start = len(text)
        if found[1]:
            lines = text.split("\n")[: int(found[1]) - 1]
            start = sum(len(line) + 1 for line in lines) + int(found[2]) - 1
        span = Span(start, start + 1)
    code = "duplicate-key" if message.startswith(_REPEATED) else "syntax-error"
    return Fault(code, f"not TOML: {message[:1].lower()}{message[1:]}", None, span)
