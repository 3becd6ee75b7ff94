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


def locate(text: str) -> list[Places]:
    """Where each value of the one document stands."""
    scanner = FlowScanner(text, separator=":")
    scanner.value(())
    return [scanner.places]


def _decode(text: str) -> Any:
    has_repeated = False

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal has_repeated
        members = dict(pairs)
        has_repeated = has_repeated or len(members) != len(pairs)
        return members

    document = json.loads(text, object_pairs_hook=mapping, parse_int=_integer, parse_constant=_constant)
    if has_repeated:
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
