"""What is told of one document: its wrong values, or else the rules that it breaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from pdtopology.constraints import Key
from pdtopology.deployment import Deployment
from pdtopology.diagnostic import Diagnostic, Location, Related
from pdtopology.field_errors import hint_of, message_of, path_of
from pdtopology.fixes import nearest_fixes
from pdtopology.formats.place import Span
from pdtopology.keys import HF_CONFIG
from pdtopology.load import Case, SourceFault
from pdtopology.paths import Path, dotted, is_private
from pdtopology.roles import HAS_A_FIELD
from pdtopology.rule import Severity
from pdtopology.suggestions import suggested_key
from pdtopology.violations import Violation

MAX_FINDINGS = 100
"""More wrong values than this in one document are counted, not told."""


def source_finding(fault: SourceFault) -> Diagnostic:
    """What is wrong with a source as a whole."""
    text, told = fault.text, fault.fault

    def located(span: Span | None) -> Location | None:
        return Location.of(text, span) if text and span else None

    earlier = located(told.earlier)
    return Diagnostic(
        code=told.code,
        severity=Severity.ERROR,
        path="",
        message=told.message,
        hint=told.hint,
        file=fault.name,
        location=located(told.span),
        related=[Related("", None, earlier)] if earlier else [],
    )


def field_findings(case: Case, error: ValidationError) -> list[Diagnostic]:
    """What is wrong with single values, in the order of the file."""
    lines = error.errors(include_url=False)
    told, more = lines[:MAX_FINDINGS], len(lines) - MAX_FINDINGS
    # A misspelt key is one mistake, not an unknown key and a missing one.
    meant = {(*path_of(line)[:-1], suggested_key(path_of(line))) for line in told if line["type"] == "extra_forbidden"}
    found = [_field_finding(case, line) for line in told if not (line["type"] == "missing" and path_of(line) in meant)]
    if more > 0:
        found.append(
            Diagnostic(
                "input-too-large",
                Severity.ERROR,
                "",
                f"{more:,} more wrong values are not told",
                file=found[0].file,
            )
        )
    return _in_order(found)


def rule_findings(
    case: Case,
    deployment: Deployment,
    refused: Sequence[Violation],
    warned: Sequence[Violation],
) -> list[Diagnostic]:
    """The rules that a case breaks, in the order of the file.

    What is refused has one hint, which mends all of it; where there is none, each rule's own advice.
    """
    mended = ", or ".join(map(str, nearest_fixes(deployment))) if refused else ""
    return _in_order(
        [
            *(
                _rule_finding(case, violation, Severity.ERROR, mended or violation.clause.rule.fix)
                for violation in refused
            ),
            *(_rule_finding(case, violation, _softened(violation), violation.clause.rule.fix) for violation in warned),
        ]
    )


def _softened(violation: Violation) -> Severity:
    """An error of older releases only is a warning where no release is stated."""
    severity = violation.clause.rule.severity
    return Severity.WARNING if severity is Severity.ERROR else severity


def _in_order(findings: list[Diagnostic]) -> list[Diagnostic]:
    def start(finding: Diagnostic) -> tuple[bool, int, int]:
        place = finding.location
        return (False, place.line, place.column) if place else (True, 0, 0)

    return sorted(findings, key=start)


def _field_finding(case: Case, line: ErrorDetails) -> Diagnostic:
    path = path_of(line)
    of_key = line["type"] in ("extra_forbidden", HAS_A_FIELD)
    file, origin, location = _origin(case, path, of_key=of_key)
    hides_value = bool(origin) and is_private(path)
    return Diagnostic(
        code=line["type"],
        severity=Severity.ERROR,
        path=dotted(path),
        message=message_of(line, hides_value=hides_value),
        hint=hint_of(line, hides_value=hides_value),
        file=file,
        origin=origin,
        location=location,
        loc=path,
    )


def _rule_finding(case: Case, violation: Violation, severity: Severity, hint: str) -> Diagnostic:
    rule, at = violation.clause.rule, violation.at
    file, origin, location = _origin(case, at.parts)
    return Diagnostic(
        code=rule.code,
        severity=severity,
        path=at.path,
        message=violation.message,
        hint=hint,
        file=file,
        origin=origin,
        location=location,
        related=[_related(case, violation, key) for key in violation.see],
        title=rule.title,
        note=rule.raised.value,
        loc=at.parts,
    )


def _related(case: Case, violation: Violation, key: Key) -> Related:
    value = violation.values[key.name]
    if not _states(case, key.parts) and not _derives(case, key.parts):
        return Related(key.path, value)
    _, origin, location = _origin(case, key.parts)
    return Related(key.path, value, location, origin)


def _origin(case: Case, path: Path, *, of_key: bool = False) -> tuple[str | None, str, Location | None]:
    """The file of a value (or of its key), and its location there or else the overrides that gave it.

    A value from a config.json is located where that is named.
    """
    if case.config and _derives(case, path):
        file, _, location = _origin(case, HF_CONFIG.parts)
        return file, case.config.origin_of(str(path[-1])), location
    document = case.document
    name = document.text.name if document else None
    is_stated = document is not None and path in document.places
    given = [
        override
        for over, override in case.overrides.items()
        if over == path[: len(over)] and (over == path or override.value != {})
    ]
    if not given and not is_stated:
        given = [override for over, override in case.overrides.items() if over[: len(path)] == path]
    if given:
        return name, ", ".join(dict.fromkeys(override.origin for override in given)), None
    place = document.place(path) if document else None
    if place is None or document is None:
        return name, "", None
    wants_key = of_key or not is_stated
    return name, "", Location.of(document.text, place.key if place.key and wants_key else place.value)


def _derives(case: Case, path: Path) -> bool:
    """Whether the value comes from the config.json that the document names."""
    return case.config is not None and dotted(path) in (f"model.{key}" for key in case.config.filled)


def _states(case: Case, path: Path) -> bool:
    value = case.data
    for part in path:
        if not isinstance(value, Mapping) or part not in value:
            return False
        value = value[part]
    return True
