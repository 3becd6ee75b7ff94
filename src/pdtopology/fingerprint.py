"""A topology's fingerprint, which both roles compare before they start."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date, time
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pdtopology.deployment import Deployment

if TYPE_CHECKING:
    from pdtopology.diagnostic import Diagnostic
    from pdtopology.load import Case

FORMAT = "pdtopology-fingerprint/1\n"
"""Hashed before the document. A release that changes what counts, or how it is written, raises the number."""

MIN_DIGITS = 12
"""Fewer digits of a fingerprint could be those of another file too."""

_DOES_NOT_COUNT: Mapping[str, Mapping[str, Any] | set[str]] = {
    "model": {"hf_config"},
    "connector": {
        "proxy_ip": True,
        "bootstrap_server_address": True,
        "prefill": {"side_channel_host"},
        "decode": {"side_channel_host"},
    },
    "prefill": {"host", "replicas"},
    "decode": {"host", "replicas"},
}


def fingerprint_of(topology: Deployment) -> str:
    """The SHA-256 of what both roles must agree on, as 64 hexadecimal digits.

    Every value of the document counts, those that it leaves to this package's defaults too. What does not count is
    where things run and how many of them: `replicas`, `host`, `side_channel_host`, `proxy_ip` and
    `bootstrap_server_address`; and what only leads to values: `$schema` and the path in `model.hf_config`, though the
    heads that were read there do count. `model.name` counts: no rule reads it, but two roles that name different models
    were started from different files. `env`, `engine_args` and `extra_config` count whole, since nothing here knows
    what is in them. A default that the engine chooses is not known either: `port: 8000` is another file than no port.

    Hashed is, after `FORMAT`, the document as JSON in UTF-8 with sorted keys and without white space. A field that is
    null is left out, and a whole number is written without a fraction, so neither the format of a file, nor the order
    of its keys, nor `8.0` for 8 matters. Raises `TypeError` for an engine argument that no file can hold.
    """
    document = topology.model_dump(exclude=_DOES_NOT_COUNT, exclude_none=True)
    text = json.dumps(
        _with_whole_numbers(document), sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_date_text
    )
    # JSON text can hold halves of surrogate pairs, which plain UTF-8 cannot.
    return sha256((FORMAT + text).encode("utf-8", "surrogatepass")).hexdigest()


def expected_digits(text: str) -> str:
    """A fingerprint that is expected, or at least its first `MIN_DIGITS` digits. Raises `ValueError` for other text."""
    digits = text.strip().lower()
    if not re.fullmatch(rf"[0-9a-f]{{{MIN_DIGITS},64}}", digits):
        raise ValueError(f"{text!r} is no fingerprint, which has 64 hexadecimal digits; the first {MIN_DIGITS} will do")
    return digits


def mismatch(case: Case, deployment: Deployment, expected: str) -> list[Diagnostic]:
    """What is told where a document's fingerprint does not begin with the expected digits; nothing where it does."""
    found = fingerprint_of(deployment)
    if found.startswith(expected):
        return []
    from pdtopology.diagnostic import Diagnostic
    from pdtopology.rule import Severity

    return [
        Diagnostic(
            code="fingerprint-mismatch",
            severity=Severity.ERROR,
            path="",
            message=f"the fingerprint is {found}, but {expected} is expected",
            hint="start both roles from the same file; `pdtopology show FILE --fingerprint` prints what a file has",
            file=case.document.text.name if case.document else None,
        )
    ]


def _with_whole_numbers(value: Any) -> Any:
    """The value with each whole float as its integer: JSON has one number type, and its tools write either."""
    if isinstance(value, dict):
        return {key: _with_whole_numbers(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _date_text(value: Any) -> str:
    """TOML's dates as the text that they are in other formats."""
    if isinstance(value, (date, time)):
        return value.isoformat()
    raise TypeError(f"an engine argument is a {type(value).__name__}, which no file can hold")
