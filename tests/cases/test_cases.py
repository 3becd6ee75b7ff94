"""Public deployments replayed: what works is never refused, and what one document can tell to fail is."""

from __future__ import annotations

from typing import Any

import pytest

from pdtopology import PDTopology, check
from pdtopology.rule import Severity
from tests.cases.documents import Case, cases

UNSTATABLE = {
    "a14": "the prefill role has no connector, and one connector key states that of both roles",
    "a21": "the two roles have different connectors",
    "a22": "neither engine has a connector, and a document without one means MoRIIO",
    "a23": "the TP size that is declared differs from the one in the rendered command",
    "a29": "the connector's own table of sizes contradicts the launch flags; a document states each size once",
    "a33": "prefill has a connector made of several and decode a plain one",
    "a39": "two nodes of one engine disagree on a flag",
    "a44": "a typographic quote in a shell script",
}
"""The public cases that one document cannot state, and why."""

CASES = cases()
EVERY_CASE = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def errors(document: Any) -> list[str]:
    """The codes of what refuses a document."""
    return [finding.code for finding in check(document) if finding.severity is Severity.ERROR]


@EVERY_CASE
def test_a_case_is_refused_only_where_it_fails(case: Case) -> None:
    assert bool(errors(case.document)) is (case.expected == "reject")


@EVERY_CASE
def test_a_case_is_judged_alike_at_the_newest_release_and_without_one(case: Case) -> None:
    engine = case.document["engine"]
    stated = case.document if "name" in engine else {**case.document, "engine": {"version": "0.33"}}
    assert errors(stated) == errors(case.document)


@EVERY_CASE
def test_a_case_has_these_findings(case: Case) -> None:
    assert sorted(finding.code for finding in check(case.document)) == case.finds


@EVERY_CASE
def test_the_model_agrees_with_the_check(case: Case) -> None:
    if case.expected == "reject":
        with pytest.raises(ValueError, match="PDTopology"):
            PDTopology.model_validate(case.document)
    else:
        PDTopology.model_validate(case.document)


def test_what_a_release_before_the_newest_gets_wrong_is_an_error_there() -> None:
    [case] = [case for case in CASES if case.name == "a01"]
    assert errors({**case.document, "engine": {"version": "0.32"}}) == ["moriio-write-unequal-tp"]


def test_each_case_is_stated_once_or_said_to_be_unstatable() -> None:
    names = [case.name for case in CASES]
    assert len({*names, *UNSTATABLE}) == len(names) + len(UNSTATABLE) == 48
