"""From a file, a text or a mapping to a topology, or to what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pdtopology.deployment import Deployment
from pdtopology.load import Case, Source, SourceFault, read_case, read_cases
from pdtopology.overrides import Override, overrides_at
from pdtopology.paths import Path
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
    expect_fingerprint: str | None = None,
) -> list[Diagnostic]:
    """Everything wrong with the documents of a source, and every warning. Never raises for bad content.

    `source` is a path, `-` for standard input, the text of a document (a string that holds a line break), or a
    document already read. `overrides` puts values at dotted paths over it, mappings key by key:
    `{"decode.tensor_parallel_size": 8}`; findings about those name `origin` instead of a line. `expect_fingerprint`, of
    which 12 digits will do, is what `fingerprint()` of each must be. Raises `ValueError` where that is no fingerprint.
    """
    if expect_fingerprint is not None:
        from pdtopology.fingerprint import expected_digits

        expect_fingerprint = expected_digits(expect_fingerprint)
    return findings_in(source, overrides_at(overrides or {}, origin), expect_fingerprint)


def findings_in(
    source: Source | Mapping[str, Any], overrides: Mapping[Path, Override], expect_fingerprint: str | None = None
) -> list[Diagnostic]:
    """As `check`, with overrides that each have an origin of their own, and all the digits of a fingerprint."""
    try:
        cases = read_cases(source, overrides)
    except SourceFault as fault:
        from pdtopology.findings import source_finding

        return [source_finding(fault)]
    return [finding for case in cases for finding in findings_of(case, expect_fingerprint)]


def load_topology(source: Source, *, overrides: Mapping[str, Any] | None = None) -> PDTopology:
    """The one topology that a path, standard input (`-`) or a text holds; `overrides` as for `check`.

    Raises `TopologyError` with every finding, each with file, line and column. Warnings do not raise:
    ask `topology.warnings()`.
    """
    from pdtopology.topology import PDTopology

    try:
        case = read_case(source, overrides_at(overrides or {}, "override"))
        return PDTopology.model_validate(case.anchored)
    except SourceFault as fault:
        from pdtopology.diagnostic import TopologyError
        from pdtopology.findings import source_finding

        raise TopologyError([source_finding(fault)]) from None
    except ValidationError:
        from pdtopology.diagnostic import TopologyError

        raise TopologyError(findings_of(case)) from None


def findings_of(case: Case, expect_fingerprint: str | None = None) -> list[Diagnostic]:
    """Everything wrong with one document, and every warning; of a valid one, also that its fingerprint is another."""
    try:
        deployment = Deployment.of(case.data)
        if deployment.model.hf_config is not None:
            from pdtopology.hf_config import complete

            case = case._replace(config=complete(deployment, case.config_folder))
    except ValidationError as error:
        from pdtopology.findings import field_findings

        return field_findings(case, error)
    refused, warned = errors(deployment), warnings(deployment)
    found: list[Diagnostic] = []
    if expect_fingerprint is not None and not refused:
        from pdtopology.fingerprint import mismatch

        found = mismatch(case, deployment, expect_fingerprint)
    if not refused and not warned:
        return found
    from pdtopology.findings import rule_findings

    return [*found, *rule_findings(case, deployment, refused, warned)]
