"""From a file, a text or a mapping to a topology, or to what is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from pdtopology.diagnostic import Diagnostic, TopologyError
from pdtopology.findings import Case, fault_finding, findings_of
from pdtopology.formats.place import Fault
from pdtopology.load import Source, read_documents, read_source, with_overrides
from pdtopology.topology import PDTopology


def check(
    source: Source | Mapping[str, Any], *, overrides: Mapping[str, Any] | None = None
) -> list[Diagnostic]:
    """Everything wrong with the documents of a source, and every warning. Never raises for bad content.

    `source` is a path, `-` for standard input, the text of a document (a string that holds a line break), or a
    document already read. `overrides` puts values at dotted paths over it: `{"decode.tensor_parallel_size": 8}`.
    """
    try:
        cases = _cases(source, overrides)
    except TopologyError as error:
        return list(error.diagnostics)
    return [finding for case in cases for finding in findings_of(case)]


def load_topology(source: Source, *, overrides: Mapping[str, Any] | None = None) -> PDTopology:
    """The one topology that a path, standard input (`-`) or a text holds; `overrides` as for `check`.

    Raises `TopologyError` with every finding, each with file, line and column. Warnings do not raise:
    ask `topology.warnings()`.
    """
    cases = _cases(source, overrides)
    if len(cases) != 1:
        fault = Fault("syntax-error", f"holds {len(cases)} documents, where one topology is wanted")
        raise TopologyError([fault_finding(fault, _name(source), None)])
    try:
        return PDTopology.model_validate(cases[0].data)
    except ValidationError:
        raise TopologyError(findings_of(cases[0])) from None


def _cases(
    source: Source | Mapping[str, Any], overrides: Mapping[str, Any] | None
) -> list[Case]:
    """Raises `TopologyError` for a source that holds no documents."""
    changes = {tuple(path.split(".")): value for path, value in (overrides or {}).items()}
    if isinstance(source, Mapping):
        return [Case(with_overrides(source, changes), None, changes)]
    text = None
    try:
        text = read_source(source)
        documents = read_documents(text)
    except Fault as fault:
        name = text.name if text else _name(source)
        raise TopologyError([fault_finding(fault, name, text)]) from None
    return [Case(with_overrides(document.data, changes), document, changes) for document in documents]


def _name(source: Source) -> str:
    return "<stdin>" if source == "-" else os.fspath(source)
