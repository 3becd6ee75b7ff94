"""What is true of every rule."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from pydantic import ValidationError

from pdtopology import RULES, PDTopology, check, json_schema
from pdtopology.deployment import Deployment
from pdtopology.keys import DECODE_TP
from pdtopology.rule import Clause, Rule, Severity
from pdtopology.rules import CLAUSES, RULE_BY_CODE, clauses_for

EVERY_RULE = pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
REFUSING = [rule for rule in RULES if rule.severity is Severity.ERROR]
EVERY_REFUSING_RULE = pytest.mark.parametrize("rule", REFUSING, ids=[rule.code for rule in REFUSING])


def told(document: Any) -> list[tuple[str, str]]:
    """The code and key of each finding about a document."""
    return [(finding.code, finding.path) for finding in check(document)]


def keys_of(rule: Rule) -> set[str]:
    """The keys at which a rule is reported."""
    return {clause.at.path for clause in rule.clauses}


@EVERY_RULE
def test_its_bad_example_yields_exactly_its_code_at_its_key(rule: Rule) -> None:
    [(code, path)] = told(rule.bad)
    assert code == rule.code
    assert path in keys_of(rule)


@EVERY_REFUSING_RULE
def test_the_model_raises_its_code_at_its_key_for_its_bad_example(rule: Rule) -> None:
    with pytest.raises(ValidationError) as caught:
        PDTopology.model_validate(rule.bad)
    [error] = caught.value.errors()
    assert error["type"] == rule.code
    assert ".".join(map(str, error["loc"])) in keys_of(rule)


@EVERY_RULE
def test_the_command_tells_its_bad_example_with_its_line(rule: Rule, tmp_path: Path) -> None:
    file = tmp_path / "pd.json"
    file.write_text(json.dumps(rule.bad, indent=1))
    command = [sys.executable, "-m", "pdtopology", "check", str(file), "--format", "json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    [finding] = json.loads(run.stdout)["diagnostics"]
    assert run.returncode == (1 if rule.severity is Severity.ERROR else 0)
    assert (finding["code"], finding["severity"]) == (rule.code, rule.severity.value)
    section, _, leaf = finding["path"].partition(".")
    line = file.read_text().splitlines()[finding["line"] - 1]
    assert (leaf if leaf in rule.bad[section] else section) in line


@EVERY_REFUSING_RULE
def test_the_schema_rejects_its_bad_example_in_its_own_clause_at_its_key(rule: Rule) -> None:
    schema = json_schema()
    errors = list(jsonschema_rs.validator_for(schema).iter_errors(dict(rule.bad)))
    clauses = {error.schema_path[1] for error in errors}
    assert [schema["allOf"][index]["$comment"] for index in clauses] == [rule.code]
    paths = {".".join(map(str, error.instance_path)) for error in errors}
    # What is absent is missed in its section.
    assert paths <= keys_of(rule) | ({"model"} if rule.code == "kv-heads-unknown" else set())


@EVERY_RULE
def test_its_code_is_kebab_case(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.code)


@EVERY_RULE
def test_its_texts_are_sentences(rule: Rule) -> None:
    assert not rule.title.endswith(".")
    assert rule.why.endswith(".")
    assert rule.fix.endswith(".")


@EVERY_RULE
def test_its_message_states_the_value_at_its_key_where_there_is_one(rule: Rule) -> None:
    for clause in rule.clauses:
        may_be_absent = clause.at.default is None and clause.at not in clause.constraint.needed_keys
        assert f"{{{clause.at.name}}}" in clause.message or may_be_absent


@EVERY_RULE
def test_the_rules_that_silence_it_exist(rule: Rule) -> None:
    assert set(rule.after) <= set(RULE_BY_CODE)


def test_no_code_is_used_twice() -> None:
    assert len(RULE_BY_CODE) == len(RULES)


def test_every_key_means_what_the_field_of_its_path_does() -> None:
    for key in {key for clause in CLAUSES for key in (*clause.constraint.keys, clause.at, *clause.see)}:
        model: Any = Deployment
        for part in key.parts:
            field = model.model_fields[part]
            model = field.annotation
        assert key.default == field.get_default(call_default_factory=True), key.path
        assert key.maximum is None or f"le={key.maximum})" in repr(field), key.path


def test_no_key_has_the_name_of_another_or_of_a_section() -> None:
    keys = {key for clause in CLAUSES for key in clause.constraint.keys}
    names = {key.name for key in keys}
    assert len(names) == len(keys)
    assert not names & set(Deployment.model_fields)


def test_a_connector_has_the_general_rules_and_its_own() -> None:
    assert {clause.rule.connector for clause in clauses_for("moriio")} == {None, "moriio"}


def test_a_clause_of_one_role_silences_none_of_the_other() -> None:
    heads, kv_heads = RULE_BY_CODE["attention-heads-not-divisible"], RULE_BY_CODE["kv-heads-not-divisible"]
    assert Clause(kv_heads, "decode").is_silenced_by(Clause(heads, "decode"))
    assert not Clause(kv_heads, "decode").is_silenced_by(Clause(heads, "prefill"))


def test_a_rule_of_one_role_is_of_its_keys() -> None:
    clause = Clause(RULE_BY_CODE["kv-heads-not-divisible"], "decode")
    assert (clause.at, clause.message) == (
        DECODE_TP,
        "decode TP {decode_tp} and {kv_heads} KV heads: one must be a multiple of the other",
    )
