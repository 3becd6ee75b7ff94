"""Findings as workflow commands of GitHub Actions, which show each at its line in a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import normpath
from pathlib import Path

from pdtopology.diagnostic import Diagnostic
from pdtopology.load import DATA, STANDARD_INPUT, TEXT
from pdtopology.rule import Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.UNDETERMINED: "notice"}


def render_github(findings: Sequence[Diagnostic]) -> str:
    """The lines that `check --format github` prints, one for each finding; the last has no end."""
    return "\n".join(map(_command, findings))


def _command(finding: Diagnostic) -> str:
    file, place = finding.file, finding.location
    properties: dict[str, object] = {}
    message = finding.message_with_hint
    if file not in (None, STANDARD_INPUT, TEXT, DATA):
        # The runner takes the workspace off an absolute name; a relative one it would take from there, wherever the
        # step runs (actions/runner, ActionCommandManager.cs).
        properties["file"] = normpath(Path(file).absolute())
        if place:
            properties |= {"line": place.line, "endLine": place.end_line}
        if place and place.line == place.end_line:  # the runner takes no columns otherwise
            properties |= {"col": place.column, "endColumn": place.end_column}
    elif place:
        message = f"{place}: {message}"
    properties["title"] = finding.code
    stated = ",".join(f"{name}={_escaped_property(str(value))}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {stated}::{_escaped(message)}"


def _escaped(text: str) -> str:
    """As `escapeData` of actions/toolkit."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    """As `escapeProperty` of actions/toolkit."""
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
