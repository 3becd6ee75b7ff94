"""JSON by RFC 8259: no `NaN`, no key twice."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from pdtopology.formats.flow import FlowScanner, find_bare, require_modest, require_short_tokens
from pdtopology.formats.place import Fault, Places, Span, too_deep


def read(text: str) -> list[Any]:
    """The one document. Raises `Fault`."""
    require_short_tokens(text)
    try:
        document = _decode(text)
        require_modest(document)
    except json.JSONDecodeError as error:
        message = error.msg[:1].lower() + error.msg[1:]
        raise Fault("syntax-error", f"not JSON: {message}", None, Span(error.pos, error.pos + 1)) from None
    except RecursionError:
        locate(text)  # tells where
        raise too_deep() from None
    return [document]


def locate(text: str) -> list[Places]:
    """Where each value of the one document stands."""
    scanner = FlowScanner(text, ":", json.loads)
    scanner.value(())
    return [scanner.places]


def _decode(text: str) -> Any:
    has_repeated = False

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal has_repeated
        members = dict(pairs)
        has_repeated = has_repeated or len(members) != len(pairs)
        return members

    def constant(name: str) -> NoReturn:
        span = find_bare(rf"(?<!\w){name}", text)
        raise Fault("syntax-error", f"not JSON: {name} is no JSON number", None, span)

    document = json.loads(text, object_pairs_hook=mapping, parse_constant=constant)
    if has_repeated:
        locate(text)  # tells which
    return document
