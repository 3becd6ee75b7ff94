"""Findings as SARIF 2.1.0, the exchange format of static analysis: for code scanning and for viewers in editors.

Section numbers are those of the OASIS standard.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pdtopology.catalogue import RULE_BY_CODE
from pdtopology.diagnostic import Diagnostic, Location
from pdtopology.explain import facts
from pdtopology.rule import Severity

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.UNDETERMINED: "note"}

_FAULTS = {
    "syntax-error": "A file must be well-formed YAML, JSON or TOML",
    "duplicate-key": "A key must stand once in its mapping",
    "unreadable-file": "A file must be readable, and in UTF-8",
    "input-too-large": "A file must be no larger than a topology needs",
    "fingerprint-mismatch": "A topology must be the one whose fingerprint is expected",
    "unknown-variable": "A variable with the prefix must be one that sets a key",
    "missing": "A topology must state its model and both roles",
    "extra_forbidden": "A key must be one that its section has",
    "argument_has_a_field": "An engine argument must be stated in its own field where there is one",
}
_WRONG_VALUE = "A value must be one that its key allows"


def render_sarif(findings: Sequence[Diagnostic]) -> str:
    """The log that `check --format sarif` prints: one run, with a result for each finding.

    Columns count Unicode code points from 1. A file in the working directory is named relative to it, and standard
    input `<stdin>` as everywhere.
    """
    codes = dict.fromkeys(finding.code for finding in findings)
    run = {
        "tool": {
            "driver": {
                "name": "pdtopology",
                "version": version("pdtopology"),
                "rules": [_rule(code) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding) for finding in findings],
    }
    return json.dumps({"version": "2.1.0", "$schema": SCHEMA_URI, "runs": [run]}, indent=2)


def _rule(code: str) -> dict[str, Any]:
    """What is told once of all the results with a code."""
    rule = RULE_BY_CODE.get(code)
    if rule is None:
        title = _FAULTS.get(code, _WRONG_VALUE)
        return {
            "id": code,
            "shortDescription": {"text": title},
            "fullDescription": {"text": title},
            "help": {"text": f"{title}. The message of a result tells what is wrong and what to do."},
            "defaultConfiguration": {"level": "error"},
        }
    told = facts(rule)
    return {
        "id": code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {
            "text": "\n\n".join(f"{name}: {fact}" for name, fact in told.items()),
            "markdown": "\n\n".join(f"**{name}:** {fact}" for name, fact in told.items()),
        },
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(finding: Diagnostic) -> dict[str, Any]:
    location = _location(finding.file, finding.path, finding.location)
    return {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        # Braces stay single, against 3.11.5: viewers format no message that has no arguments.
        "message": {"text": finding.message_with_hint},
        "locations": [location] if location else [],
        "relatedLocations": [
            {"message": {"text": other.label}, **_location(finding.file, other.path, other.location)}
            for other in finding.related
            if other.location
        ],
        "partialFingerprints": {"codeAndPath/v1": f"{finding.code}:{finding.path}"},
    }


def _location(file: str | None, path: str, place: Location | None) -> dict[str, Any]:
    """A key and where it stands; without a place, only the file."""
    location: dict[str, Any] = {}
    if file:
        location["physicalLocation"] = {"artifactLocation": {"uri": uri_of(file)}}
        if place:
            location["physicalLocation"]["region"] = {
                "startLine": place.line,
                "startColumn": place.column,
                "endLine": place.end_line,
                "endColumn": place.end_column,
            }
    if path:
        location["logicalLocations"] = [{"fullyQualifiedName": path}]
    return location


def uri_of(file: str) -> str:
    """A file's name as a URI: relative where the file is named so or is in the working directory."""
    path = Path(file)
    if path.is_absolute():
        try:
            path = path.relative_to(Path.cwd())
        except ValueError:
            return path.as_uri()
    return quote(os.fsencode(path.as_posix()))
