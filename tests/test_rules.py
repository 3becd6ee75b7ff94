"""What is true of every rule."""

from __future__ import annotations

import json
import re
from operator import attrgetter
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from pdtopology import RULES, PDTopology, check, json_schema
from pdtopology.catalogue import CLAUSES, RULE_BY_CODE
from pdtopology.cli import main
from pdtopology.connectors.kinds import CONNECTORS
from pdtopology.constraints import Key
from pdtopology.constraints.absence import holds_without
from pdtopology.constraints.expressions import Computed
from pdtopology.constraints.json_schema import InexactError, compile_to_json_schema
from pdtopology.deployment import ENGINES, Deployment, is_unusual
from pdtopology.keys import DECODE_TP
from pdtopology.paths import FREE_MAPPINGS
from pdtopology.rule import Clause, Rule, Severity
from pdtopology.rules import clauses_for, usual_clauses_for
from pdtopology.section import sections_of

EVERY_RULE = pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
EVERY_PAIR = pytest.mark.parametrize(
    ("engine", "connector"), [(engine, connector) for engine in ENGINES for connector in CONNECTORS]
)
SCHEMA = json_schema()
VALIDATOR = jsonschema_rs.validator_for(SCHEMA)
REFUSING = [rule for rule in RULES if rule.severity is Severity.ERROR]
EVERY_REFUSING_RULE = pytest.mark.parametrize("rule", REFUSING, ids=[rule.code for rule in REFUSING])


def told(document: Any) -> list[tuple[str, str]]:
    """The code and key of each finding about a document."""
    return [(finding.code, finding.path) for finding in check(document)]


def keys_of(rule: Rule) -> set[str]:
    """The keys at which a rule is reported."""
    if isinstance(rule.require, Computed):
        return {found.at.path for found in rule.require.find(Deployment.of(dict(rule.bad)))}
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
def test_the_command_tells_its_bad_example_with_its_line(
    rule: Rule, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pd.json"
    file.write_text(json.dumps(rule.bad, indent=1))
    status = main(["check", str(file), "--format", "json"])
    [finding] = json.loads(capsys.readouterr().out)["diagnostics"]
    assert status == (1 if rule.severity is Severity.ERROR else 0)
    assert (finding["code"], finding["severity"]) == (rule.code, rule.severity.value)
    line = file.read_text().splitlines()[finding["line"] - 1]
    assert f'"{last_stated(rule.bad, finding["path"])}"' in line


def last_stated(document: Any, path: str) -> str:
    """The last key on the path that the document states."""
    last = ""
    for part in path.split("."):
        if not isinstance(document, dict) or part not in document:
            break
        last, document = part, document[part]
    return last


IN_SCHEMA = [rule for rule in REFUSING if not rule.beyond_schema]


@pytest.mark.parametrize("rule", IN_SCHEMA, ids=[rule.code for rule in IN_SCHEMA])
def test_the_schema_rejects_its_bad_example_in_its_own_clause_at_its_key(rule: Rule) -> None:
    errors = list(VALIDATOR.iter_errors(dict(rule.bad)))
    assert {comment_of(SCHEMA, error.evaluation_path) for error in errors} == {rule.code}
    told = {key.path for clause in rule.clauses for key in (clause.at, *clause.see)}
    # What is absent is missed in its section.
    assert all(any(f"{path}.".startswith(place_of(error)) for path in told) for error in errors)


def place_of(error: jsonschema_rs.ValidationError) -> str:
    """The error's path with a point behind each part."""
    return "".join(f"{part}." for part in error.instance_path)


def comment_of(schema: Any, path: list[str | int]) -> str | None:
    """The comment of the innermost clause on a path into the schema."""
    comment = None
    for part in path:
        if isinstance(schema, dict) and "$ref" in schema:
            break
        schema = schema[part]
        comment = schema.get("$comment", comment) if isinstance(schema, dict) else comment
    return comment


BEYOND_SCHEMA = [rule for rule in RULES if rule.beyond_schema]


@pytest.mark.parametrize("rule", BEYOND_SCHEMA, ids=[rule.code for rule in BEYOND_SCHEMA])
def test_what_is_beyond_the_schema_cannot_be_compiled_to_it(rule: Rule) -> None:
    assert VALIDATOR.is_valid(dict(rule.bad))
    for clause in rule.clauses:
        assert clause.refused
        with pytest.raises(InexactError):
            compile_to_json_schema(clause.refused, clause.related_pairs(CLAUSES))


@EVERY_RULE
def test_its_code_is_kebab_case(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.code)


@EVERY_RULE
def test_its_texts_are_sentences(rule: Rule) -> None:
    assert not rule.title.endswith(".")
    assert rule.why.endswith(".")
    assert rule.fix.endswith(".")


@EVERY_RULE
def test_its_message_has_no_name_that_it_does_not_know(rule: Rule) -> None:
    [finding] = check(rule.bad)
    assert not re.search(r"[{}]|None", finding.message)


@EVERY_RULE
def test_its_message_states_a_value_where_there_is_one(rule: Rule) -> None:
    [finding] = check(rule.bad)
    values = [str(related.value) for related in finding.related if isinstance(related.value, int | str)]
    assert not values or any(value in finding.message for value in values) or isinstance(rule.require, Computed)


@EVERY_RULE
def test_it_has_a_source_in_a_file_of_its_engine(rule: Rule) -> None:
    assert rule.source.file.startswith(("vllm/", "docs/") if rule.engine != "sglang" else "sglang/")
    assert rule.source.function


def test_there_are_at_least_sixty_rules() -> None:
    assert len(RULES) >= 60


@EVERY_RULE
def test_the_rules_that_silence_it_exist(rule: Rule) -> None:
    assert set(rule.after) <= set(RULE_BY_CODE)


def test_no_code_is_used_twice() -> None:
    assert len(RULE_BY_CODE) == len(RULES)


def fields_at(path: tuple[str, ...]) -> list[FieldInfo]:
    """The fields that a path leads to: of each kind of connector one."""
    sections: list[Any] = [Deployment]
    fields: list[FieldInfo] = []
    for part in path:
        fields = [section.model_fields[part] for section in sections if part in section.model_fields]
        sections = [inner for field in fields for inner in sections_of(field.annotation)]
    return fields


EVERY_KEY = {key for clause in CLAUSES for key in (*clause.constraint.keys, clause.at, *clause.see)}


@pytest.mark.parametrize("key", sorted(EVERY_KEY, key=attrgetter("path", "name")), ids=attrgetter("path"))
def test_every_key_means_what_the_field_of_its_path_does(key: Key) -> None:
    fields = fields_at(key.parts[: key.mapping_depth])
    assert fields
    assert key.maximum is None or all(f"le={key.maximum})" in repr(field) for field in fields)
    defaults = {repr(field.get_default(call_default_factory=True)) for field in fields}
    is_below_mapping = key.mapping_depth < len(key.parts) or key.parts[-1] in FREE_MAPPINGS
    assert is_below_mapping or key.nullable or key.default is None or repr(key.default) in defaults
    assert not key.nullable or is_below_mapping or defaults == {"None"}


@EVERY_PAIR
def test_no_key_has_the_name_of_another_or_of_a_section(engine: str, connector: str) -> None:
    compared = {key for clause in clauses_for(engine, connector) for key in clause.constraint.compared_keys}
    names = {key.name for key in compared}
    assert len(names) == len(compared)
    assert not names & set(Deployment.model_fields)


@EVERY_PAIR
def test_a_pair_has_the_general_rules_and_its_own(engine: str, connector: str) -> None:
    rules = [clause.rule for clause in clauses_for(engine, connector)]
    assert {rule.engine for rule in rules} == {None, engine}
    assert all(connector in rule.connectors or not rule.connectors for rule in rules)


@EVERY_PAIR
def test_a_plain_topology_breaks_no_rule_that_it_does_not_import(engine: str, connector: str) -> None:
    usual = {clause.name for clause in usual_clauses_for(engine, connector)}
    for clause in clauses_for(engine, connector):
        is_met = not holds_without(clause.constraint, lambda key: is_unusual(key.parts))
        assert clause.name in usual or not is_met, clause.name


@EVERY_PAIR
def test_every_rule_about_a_pair_is_among_its_own(engine: str, connector: str) -> None:
    expected = {clause.name for clause in CLAUSES if clause.rule.is_about(engine, connector)}
    assert {clause.name for clause in clauses_for(engine, connector)} == expected


def test_no_two_keys_have_the_same_initials() -> None:
    initials = {key.initials: key for key in EVERY_KEY if key.maximum}
    assert len(initials) == len({key for key in EVERY_KEY if key.maximum})


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
