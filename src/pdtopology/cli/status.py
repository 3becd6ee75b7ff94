"""What a run begins and ends with: its sources and its exit status."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pdtopology.rule import Severity

if TYPE_CHECKING:
    from pdtopology.diagnostic import Diagnostic

VALID, INVALID, UNUSABLE = 0, 1, 2


class UnusableError(Exception):
    """What keeps a run from checking anything; the message says why."""


def status_of(findings: Sequence[Diagnostic], *, strict: bool = False) -> int:
    """The exit status that findings amount to."""
    if any(finding.code == "unreadable-file" for finding in findings):
        return UNUSABLE
    severities = {finding.severity for finding in findings}
    if Severity.ERROR in severities or (strict and Severity.WARNING in severities):
        return INVALID
    return VALID


def source_of(file: str) -> str | Path:
    """A file by its name, which is never taken for a text."""
    return file if file == "-" else Path(file)
