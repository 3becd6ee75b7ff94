"""From a file, a text or a mapping to a topology, or to what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pdtopology.deployment import Deployment
from pdtopology.load import Case, Source, SourceFault, read_case, read_cases
from pdtopology.violations import errors, warnings

if TYPE_CHECKING:
    from pdtopology.diagnostic import Diagnostic
    from pdtopology.topology import PDTopology

# What tells of mistakes is imported where there is one: a good file, the usual one, does not wait for it.


def check(
    source: Source | Mapping[str, Any],
    *,
    overrides: Mapping[str, Any] | None = None,
    origin: str = "override",
) -> list[Diagnostic]:
    """Everything wrong with the documents of a source, and every warning. Never raises for bad content.

    `source` is a path, `-` for standard input, the text of a document (a string that holds a line break), or a
    document already read. `overrides` puts values at dotted paths over it: `{"decode.tensor_parallel_size": 8}`;
    findings about those name `origin` instead of a line.
    """
    try:
        cases = read_cases(source, overrides or {}, origin)
    except SourceFault as fault:
        from pdtopology.findings import source_finding

        return [source_finding(fault)]
    return [finding for case in cases for finding in findings_of(case)]


def load_topology(source: Source, *, overrides: Mapping[str, Any] | None = None) -> PDTopology:
    """The one topology that a path, standard input (`-`) or a text holds; `overrides` as for `check`.

    Raises `TopologyError` with every finding, each with file, line and column. Warnings do not raise:
    ask `topology.warnings()`.
    """
    from pdtopology.topology import PDTopology

    try:
        case = read_case(source, overrides or {})
        return PDTopology.model_validate(case.data)
    except SourceFault as fault:
        from pdtopology.diagnostic import TopologyError
        from pdtopology.findings import source_finding

        raise TopologyError([source_finding(fault)]) from None
    except ValidationError:
        from pdtopology.diagnostic import TopologyError

        raise TopologyError(findings_of(case)) from None


def findings_of(case: Case) -> list[Diagnostic]:
    """Everything wrong with one document, and every warning."""
    try:
        deployment = Deployment.of(case.data)
    except ValidationError as error:
        from pdtopology.findings import field_findings

        return field_findings(case, error)
    refused, warned = errors(deployment), warnings(deployment)
    if not refused and not warned:
        return []
    from pdtopology.findings import rule_findings

    return rule_findings(case, deployment, refused, warned)
