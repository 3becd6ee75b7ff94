"""Every engine gives Python's verdict on every document of the table."""

from __future__ import annotations

import pytest

from tests.agreement.run import verdict

from .documents import DOCUMENTS, DOCUMENTS_WITH_NULLS, pair
from .engines import ENGINES, TOML_ENGINES, Engine, Finding, Tombi, VSCodeJson

EVERY_DOCUMENT = pytest.mark.parametrize("name", DOCUMENTS)


@pytest.fixture(scope="module")
def findings(engine: Engine) -> dict[str, list[Finding]]:
    """What the engine says of each document; one call for all, since a command reads the schema each time."""
    return dict(zip(DOCUMENTS, engine.diagnose_all(list(DOCUMENTS.values())), strict=True))


def test_the_table_has_enough_of_both_kinds() -> None:
    valid = [verdict(document) for document in DOCUMENTS.values()].count(True)
    assert (len(DOCUMENTS) >= 200, valid >= 70, len(DOCUMENTS) - valid >= 120) == (True, True, True)


@EVERY_DOCUMENT
def test_every_engine_agrees_with_python(findings: dict[str, list[Finding]], name: str) -> None:
    assert (findings[name] == []) is verdict(DOCUMENTS[name])


# TOML states no null.
SHOWN_NULLS = [kind for kind in ENGINES if kind not in TOML_ENGINES]


@pytest.mark.parametrize("engine", SHOWN_NULLS, ids=lambda kind: kind.__name__, indirect=True)
def test_every_engine_that_is_shown_nulls_agrees_with_python(engine: Engine) -> None:
    findings = engine.diagnose_all(list(DOCUMENTS_WITH_NULLS.values()))
    accepted = {name: found == [] for name, found in zip(DOCUMENTS_WITH_NULLS, findings, strict=True)}
    assert accepted == {name: verdict(document) for name, document in DOCUMENTS_WITH_NULLS.items()}


@pytest.mark.parametrize("name", ["a misspelt key", "a misspelt section"])
def test_every_engine_names_a_key_that_is_misspelt(findings: dict[str, list[Finding]], name: str) -> None:
    key = {"a misspelt key": "tensor_paralel_size", "a misspelt section": "prefil"}[name]
    assert any(key in finding.message for finding in findings[name])


@pytest.mark.parametrize("name", ["six for four", "zero", "text"])
def test_every_engine_marks_the_value_that_is_wrong(findings: dict[str, list[Finding]], name: str) -> None:
    marks = {
        "six for four": {"6", "decode.tensor_parallel_size"},
        "zero": {"0", "prefill.tensor_parallel_size"},
        "text": {'"4"', "prefill.tensor_parallel_size"},
    }[name]
    assert {finding.path_or_text for finding in findings[name]} & marks


def test_only_vs_code_and_tombi_call_a_whole_float_no_integer(engine: Engine) -> None:
    assert engine.accepts(pair(4.0, 4)) is not isinstance(engine, (VSCodeJson, Tombi))
