from __future__ import annotations

from typing import TypeAlias

import pytest
from pydantic import ValidationError

from pdtopology import RULES, PDTopology
from pdtopology.rule import Rule, Severity

from .engines import Document, Editor, Engine, Finding, VSCodeJson, YamlLanguageServer

UNEQUAL = {
    "model": {"total_num_kv_heads": 12},
    "prefill": {"tensor_parallel_size": 4},
    "decode": {"tensor_parallel_size": 6},
}
DOCUMENTS: dict[str, Document] = {
    "defaults left out": {"model": {"total_num_kv_heads": 8}, "prefill": {}, "decode": {}},
    "defaults stated": {
        "engine": {"name": "vllm"},
        "model": {"total_num_kv_heads": 8, "is_mla": False},
        "connector": {"kind": "moriio", "mode": "read", "backend": "rdma"},
        "prefill": {"tensor_parallel_size": 1, "pipeline_parallel_size": 1, "env": {}, "engine_args": {}},
        "decode": {"tensor_parallel_size": 1},
    },
    "default that breaks a rule": {
        "model": {"total_num_kv_heads": 8},
        "prefill": {"tensor_parallel_size": 4},
        "decode": {},
    },
    "unequal sizes": UNEQUAL,
    "typo": {"model": {"total_num_kv_heads": 8}, "prefill": {"tensor_paralel_size": 4}, "decode": {}},
    **{rule.code: rule.bad for rule in RULES},
}

TextFor: TypeAlias = dict[type[Editor], str]

CHOICE: TextFor = {
    VSCodeJson: '{"connector": {"mode": |}}',
    YamlLanguageServer: "connector:\n  mode: |",
}
PART_OF_A_KEY: TextFor = {
    VSCodeJson: '{"prefill": {"t|"}}',
    YamlLanguageServer: "prefill:\n  t|",
}
KEY: TextFor = {
    VSCodeJson: '{"prefill": {"ten|sor_parallel_size": 1}}',
    YamlLanguageServer: "prefill:\n  ten|sor_parallel_size: 1",
}
UNKNOWN_KEY: TextFor = {
    VSCodeJson: '{"typ|o": 1}',
    YamlLanguageServer: "typ|o: 1",
}

Findings: TypeAlias = dict[str, list[Finding]]


@pytest.fixture(scope="module")
def findings(engine: Engine) -> Findings:
    # One call for all the documents: a command reads the schema again each time.
    return dict(zip(DOCUMENTS, engine.diagnose_all(list(DOCUMENTS.values())), strict=True))


def is_valid(document: Document) -> bool:
    try:
        PDTopology.model_validate(document)
    except ValidationError:
        return False
    return True


def test_every_engine_accepts_a_document_that_leaves_the_defaults_out(findings: Findings) -> None:
    assert findings["defaults left out"] == []


def test_every_engine_accepts_a_document_that_states_the_defaults(findings: Findings) -> None:
    assert findings["defaults stated"] == []


def test_every_engine_holds_a_default_that_is_left_out_against_the_rules(findings: Findings) -> None:
    assert findings["default that breaks a rule"]


def test_every_engine_rejects_sizes_of_which_none_is_a_multiple_of_the_other(findings: Findings) -> None:
    assert any(finding.path_or_text in ("6", "decode.tensor_parallel_size") for finding in findings["unequal sizes"])


def test_every_engine_names_a_key_that_is_misspelt(findings: Findings) -> None:
    assert any("tensor_paralel_size" in finding.message for finding in findings["typo"])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_engine_rejects_the_example_of_a_rule_unless_it_only_warns(findings: Findings, rule: Rule) -> None:
    assert bool(findings[rule.code]) is (rule.severity is not Severity.WARNING)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_engine_agrees_with_python(findings: Findings, name: str) -> None:
    assert (findings[name] == []) is is_valid(DOCUMENTS[name])


def test_every_editor_accepts_a_document_that_it_says_nothing_against(editor: Editor) -> None:
    assert editor.accepts(DOCUMENTS["defaults left out"])


def test_every_editor_rejects_a_document_that_it_says_something_against(editor: Editor) -> None:
    assert not editor.accepts(UNEQUAL)


def test_every_editor_completes_a_choice(editor: Editor) -> None:
    assert {"read", "write"} <= {item.label.strip('"') for item in editor.complete(CHOICE[type(editor)])}


def test_every_editor_tells_of_the_key_that_it_completes(editor: Editor) -> None:
    documentation = {item.label: item.documentation for item in editor.complete(PART_OF_A_KEY[type(editor)])}
    assert "Ranks that split the heads" in documentation["tensor_parallel_size"]


def test_every_editor_explains_a_key_under_the_cursor(editor: Editor) -> None:
    assert "Ranks that split the heads" in editor.hover(KEY[type(editor)])


def test_every_editor_shows_nothing_of_a_key_that_it_does_not_know(editor: Editor) -> None:
    assert editor.hover(UNKNOWN_KEY[type(editor)]) == ""
