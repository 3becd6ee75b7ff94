"""What is told of one document: its wrong values, or else the rules that it breaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from pdtopology.constraints import Key
from pdtopology.diagnostic import Diagnostic, Location, Related
from pdtopology.field_errors import dotted, hint_of, message_of, path_of, shown
from pdtopology.formats.place import Fault, Path
from pdtopology.hints import hint_for
from pdtopology.load import Document, Text
from pdtopology.rule import Severity
from pdtopology.suggestions import suggested_key
from pdtopology.topology import Deployment
from pdtopology.violations import Violation, errors, warnings


@dataclass(frozen=True)
class Case:
    """Data to judge, and what its values came from."""

    data: Any
    document: Document | None
    overrides: Mapping[Path, Any]

    def origin(self, path: Path, *, of_key: bool = False) -> tuple[str | None, Location | None]:
        """The file and location of a value (or of its key), or the override that gave it."""
        for override, value in self.overrides.items():
            if path[: len(override)] == override:
                return f"--set {dotted(override)}={shown(value)}", None
        if self.document is None:
            return None, None
        text = self.document.text
        place = self.document.place(path)
        if place is None:
            return text.name, None
        wants_key = of_key or path not in self.document.places
        span = place.key if place.key and wants_key else place.value
        return text.name, Location.of(text.name, text.content, span)

    def states(self, path: Path) -> bool:
        """Whether the data has a value there."""
        value = self.data
        for part in path:
            if not isinstance(value, Mapping) or part not in value:
                return False
            value = value[part]
        return True


def findings_of(case: Case) -> list[Diagnostic]:
    """Everything wrong with the case, and every warning, in the order of the file."""
    try:
        deployment = Deployment.model_validate(case.data)
    except ValidationError as error:
        return _in_order(_field_findings(case, error))
    found = [
        _rule_finding(case, deployment, violation, severity)
        for violations, severity in (
            (errors(deployment), Severity.ERROR),
            (warnings(deployment), Severity.WARNING),
        )
        for violation in violations
    ]
    return _in_order(found)


def fault_finding(fault: Fault, file: str | None, text: Text | None) -> Diagnostic:
    """A fault of the text as a whole."""

    def located(span: Any) -> Location | None:
        return Location.of(text.name, text.content, span) if text and span else None

    earlier = located(fault.earlier)
    return Diagnostic(
        code=fault.code,
        severity=Severity.ERROR,
        path="",
        message=fault.message,
        hint=fault.hint,
        file=file,
        location=located(fault.span),
        related=[Related("", None, earlier)] if earlier else [],
    )


def _in_order(findings: list[Diagnostic]) -> list[Diagnostic]:
    def start(finding: Diagnostic) -> tuple[int, int]:
        place = finding.location
        return (place.line, place.column) if place else (0, 0)

    return sorted(findings, key=start)


def _field_findings(case: Case, error: ValidationError) -> list[Diagnostic]:
    lines = error.errors(include_url=False)
    # A misspelt key is one mistake, not an unknown key and a missing one.
    meant = {
        (*path_of(line)[:-1], suggested_key(path_of(line)))
        for line in lines
        if line["type"] == "extra_forbidden"
    }
    found = []
    for line in lines:
        path = path_of(line)
        if line["type"] == "missing" and path in meant:
            continue
        of_key = line["type"] in ("extra_forbidden", "argument_has_a_field")
        file, location = case.origin(path, of_key=of_key)
        found.append(
            Diagnostic(
                code=line["type"],
                severity=Severity.ERROR,
                path=dotted(path),
                message=message_of(line),
                hint=hint_of(line),
                file=file,
                location=location,
            )
        )
    return found


def _rule_finding(
    case: Case, deployment: Deployment, violation: Violation, severity: Severity
) -> Diagnostic:
    rule = violation.clause.rule
    file, location = case.origin(violation.clause.at.parts)
    return Diagnostic(
        code=rule.code,
        severity=severity,
        path=violation.clause.at.path,
        message=violation.message,
        hint=hint_for(deployment, violation) if severity is Severity.ERROR else rule.fix,
        file=file,
        location=location,
        related=[_related(case, violation, key) for key in violation.clause.see],
        title=rule.title,
        note=f"The engine says so {rule.raised.value}.",
    )


def _related(case: Case, violation: Violation, key: Key) -> Related:
    location = case.origin(key.parts)[1] if case.states(key.parts) else None
    return Related(key.path, violation.values[key.name], location)
