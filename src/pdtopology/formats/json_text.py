"""JSON by RFC 8259: no `NaN`, no key twice."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from pdtopology.formats.flow import FlowScanner
from pdtopology.formats.place import (
    MAX_DIGITS,
    Fault,
    Places,
    Span,
    duplicate_key,
    too_deep,
    too_many_digits,
)


def read(text: str) -> list[Any]:
    """The one document. Raises `Fault`."""
    try:
        return [_decode(text)]
    except json.JSONDecodeError as error:
        message = error.msg[:1].lower() + error.msg[1:]
        raise Fault("syntax-error", f"not JSON: {message}", None, Span(error.pos, error.pos + 1)) from None
    except RecursionError:
        raise too_deep() from None


def locate(text: str, index: int) -> Places:
    """Where each value stands."""
    scanner = FlowScanner(text, separator=":")
    scanner.value(())
    return scanner.places


def _decode(text: str) -> Any:
    repeated: list[str] = []

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            seen: set[str] = set()
            repeated.extend(key for key, _ in pairs if key in seen or seen.add(key))
        return result

    document = json.loads(
        text, object_pairs_hook=mapping, parse_int=_integer, parse_constant=_constant
    )
    if repeated:
        scanner = FlowScanner(text, separator=":")
        scanner.value(())
        key, earlier, span = scanner.repeated[0]
        raise duplicate_key(key, span, earlier)
    return document


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise too_many_digits(len(digits))
    return int(digits)


def _constant(name: str) -> NoReturn:
    raise Fault("syntax-error", f"not JSON: {name} is no JSON number")
