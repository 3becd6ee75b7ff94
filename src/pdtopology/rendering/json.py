"""Findings as one JSON object."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pdtopology.diagnostic import Diagnostic
from pdtopology.rule import Severity


def render_json(files: Sequence[str], findings: Sequence[Diagnostic]) -> str:
    """The object that `check --format json` prints; its shape is part of the public surface."""
    counts = {severity: sum(finding.severity is severity for finding in findings) for severity in Severity}
    report = {
        "files": list(files),
        "summary": {
            "errors": counts[Severity.ERROR],
            "warnings": counts[Severity.WARNING],
            "undetermined": counts[Severity.UNDETERMINED],
        },
        "diagnostics": [finding.to_json() for finding in findings],
    }
    return json.dumps(report, indent=2)
