"""SARIF: valid by the schema that OASIS publishes, and with everything that a finding tells."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from pdtopology import RULES, Diagnostic, check
from pdtopology.rendering.sarif import SCHEMA_URI, render_sarif, uri_of
from pdtopology.rule import Rule, Severity
from tests.rendering.findings import NAMES, diagnostics

SCHEMA = json.loads(gzip.decompress((Path(__file__).parent / "sarif-schema-2.1.0.json.gz").read_bytes()))
"""The schema of SARIF 2.1.0 with errata 01, as OASIS publishes it at `SCHEMA_URI`."""
VALIDATOR = Draft4Validator(SCHEMA)

SPLIT = "model: {total_num_kv_heads: 8}\nprefill: {tensor_parallel_size: 4}\ndecode: {tensor_parallel_size: 8}\n"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in an empty folder."""
    monkeypatch.chdir(tmp_path)


def run_of(findings: list[Diagnostic]) -> Any:
    """The only run of a log that the schema allows."""
    log = json.loads(render_sarif(findings))
    assert [error.message for error in VALIDATOR.iter_errors(log)] == []
    [run] = log["runs"]
    return run


def result_of(text: str, name: str = "pd.yaml") -> Any:
    """The only result about a file."""
    Path(name).write_text(text)
    [result] = run_of(check(Path(name)))["results"]
    return result


def rule_of(findings: list[Diagnostic]) -> Any:
    """The only rule of a log."""
    [rule] = run_of(findings)["tool"]["driver"]["rules"]
    return rule


def test_the_log_names_the_schema_that_the_tests_use() -> None:
    assert json.loads(render_sarif([]))["$schema"] == SCHEMA_URI == SCHEMA["id"]


def test_the_tool_is_named_with_its_version() -> None:
    from importlib.metadata import version

    driver = run_of([])["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("pdtopology", version("pdtopology"))


def test_no_findings_are_an_empty_list_of_results() -> None:
    run = run_of([])
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])


def test_columns_count_characters() -> None:
    assert run_of([])["columnKind"] == "unicodeCodePoints"


@given(st.lists(diagnostics(), max_size=3))
def test_every_log_is_valid(findings: list[Diagnostic]) -> None:
    log = json.loads(render_sarif(findings))
    assert [error.message for error in VALIDATOR.iter_errors(log)] == []


@pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
def test_a_rule_is_told_with_all_that_is_known_of_it(rule: Rule) -> None:
    told = rule_of(check(rule.bad))
    assert told["id"] == rule.code
    assert told["shortDescription"] == {"text": rule.title}
    assert told["fullDescription"] == {"text": rule.why}
    assert told["defaultConfiguration"] == {"level": LEVELS[rule.severity]}


@pytest.mark.parametrize("form", ["text", "markdown"])
@pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
def test_the_help_of_a_rule_holds_what_it_requires_its_fix_and_its_source(rule: Rule, form: str) -> None:
    words = rule_of(check(rule.bad))["help"][form]
    assert [part for part in ("Requires:", rule.fix, str(rule.source or "")) if part not in words] == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("model: {\n", "syntax-error"),
        ("model: {}\nmodel: {}\n", "duplicate-key"),
        (SPLIT + "x: 1\n", "extra_forbidden"),
        (SPLIT + "engine: {version: 1}\n", "string_type"),
        ("a: &a [*a]\n", "input-too-large"),
    ],
)
def test_a_fault_or_a_wrong_value_has_a_rule_too(text: str, code: str) -> None:
    told = rule_of(check(text))
    assert (told["id"], told["defaultConfiguration"]) == (code, {"level": "error"})
    assert all(told[key]["text"] for key in ("shortDescription", "fullDescription", "help"))


def test_a_rule_that_two_results_name_is_told_once() -> None:
    Path("pd.yaml").write_text("model: {is_mla: true}\nprefill: {port: 0}\ndecode: {port: 0}\n")
    run = run_of(check(Path("pd.yaml")))
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["greater_than"]
    assert [result["ruleId"] for result in run["results"]] == ["greater_than"] * 2


LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.UNDETERMINED: "note"}


@pytest.mark.parametrize(
    ("severity", "level"),
    [(Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.UNDETERMINED, "note")],
)
def test_a_result_has_the_level_of_its_finding(severity: Severity, level: str) -> None:
    [result] = run_of([Diagnostic("tp-not-divisible", severity, "decode", "x")])["results"]
    assert result["level"] == level


def test_the_message_is_followed_by_the_hint() -> None:
    assert result_of(SPLIT)["message"]["text"] == (
        "prefill TP 4 and decode TP 8 must be equal, or both at least the 8 KV heads\n"
        "hint: decode.tensor_parallel_size: 4, or prefill.tensor_parallel_size: 8, or connector.mode: write"
    )


def test_a_result_is_at_the_key_and_the_place_of_its_value() -> None:
    assert result_of(SPLIT)["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "pd.yaml"},
                "region": {"startLine": 3, "startColumn": 32, "endLine": 3, "endColumn": 33},
            },
            "logicalLocations": [{"fullyQualifiedName": "decode.tensor_parallel_size"}],
        }
    ]


def test_a_column_after_characters_of_several_units_counts_each_once() -> None:
    [location] = result_of("model: {is_mla: true, name: \U0001f680名, is_mlaa: 1}\nprefill: {}\ndecode: {}\n")[
        "locations"
    ]
    assert location["physicalLocation"]["region"]["startColumn"] == 33


def test_the_values_it_disagrees_with_are_related_locations() -> None:
    related = result_of(SPLIT)["relatedLocations"]
    assert [(other["message"]["text"], other["physicalLocation"]["region"]["startLine"]) for other in related] == [
        ("prefill.tensor_parallel_size is 4", 2),
        ("model.total_num_kv_heads is 8", 1),
    ]


def test_a_value_that_the_file_leaves_out_is_no_related_location() -> None:
    result = result_of("model: {total_num_kv_heads: 8}\nprefill: {}\ndecode: {tensor_parallel_size: 2}\n")
    assert [other["message"]["text"] for other in result["relatedLocations"]] == ["model.total_num_kv_heads is 8"]


def test_a_fingerprint_stays_when_lines_move() -> None:
    prints = [result_of(text)["partialFingerprints"] for text in (SPLIT, "# moved\n\n" + SPLIT.replace(": {", ":   {"))]
    assert prints == [{"codeAndPath/v1": "moriio-read-kv-heads-replicated:decode.tensor_parallel_size"}] * 2


def test_a_file_that_cannot_be_read_has_no_region() -> None:
    [result] = run_of(check(Path("missing.yaml")))["results"]
    assert result["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "missing.yaml"}}}]


def test_a_value_put_over_the_file_is_told_with_its_origin_and_without_a_region() -> None:
    Path("pd.yaml").write_text(SPLIT)
    [result] = run_of(check(Path("pd.yaml"), overrides={"decode.port": 0}, origin="--set"))["results"]
    assert result["message"]["text"] == "decode.port is 0, but must be greater than 0 (--set decode.port=0)"
    assert "region" not in result["locations"][0]["physicalLocation"]


def test_standard_input_is_named_as_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SPLIT.encode())))
    [result] = run_of(check("-"))["results"]
    assert unquote(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]) == "<stdin>"


def test_data_without_a_file_has_only_its_key() -> None:
    [result] = run_of(check({"model": {"is_mla": True}, "prefill": {"port": 0}, "decode": {}}))["results"]
    assert result["locations"] == [{"logicalLocations": [{"fullyQualifiedName": "prefill.port"}]}]


def test_data_that_is_wrong_as_a_whole_has_no_location() -> None:
    assert run_of([Diagnostic("model_type", Severity.ERROR, "", "x")])["results"][0]["locations"] == []


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("pd.yaml", "pd.yaml"),
        ("./a//pd.yaml", "a/pd.yaml"),
        ("../pd.yaml", "../pd.yaml"),
        ("a b/100%.yaml", "a%20b/100%25.yaml"),
        ("c:x.yaml", "c%3Ax.yaml"),
        ("a#b?c.yaml", "a%23b%3Fc.yaml"),
        ("名.yaml", "%E5%90%8D.yaml"),
        ("not-utf-8-\udcff.yaml", "not-utf-8-%FF.yaml"),
    ],
)
def test_a_file_name_is_a_relative_uri(file: str, uri: str) -> None:
    assert uri_of(file) == uri


def test_a_file_in_the_working_directory_is_named_relative_to_it() -> None:
    assert uri_of(str(Path("a", "pd.yaml").absolute())) == "a/pd.yaml"


def test_a_file_elsewhere_is_named_by_an_absolute_uri(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("inner").mkdir()
    monkeypatch.chdir("inner")
    assert uri_of(str(tmp_path / "a b.yaml")) == (tmp_path / "a b.yaml").as_uri()


@given(NAMES)
def test_a_uri_leads_back_to_the_file(name: str) -> None:
    parts = urlsplit(uri_of(name))
    assert (parts.scheme, parts.netloc, unquote(parts.path), parts.query, parts.fragment) == ("", "", name, "", "")
