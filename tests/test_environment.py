"""Environment variables: what they set, and what is told of those that set nothing."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from pdtopology.deployment import Deployment
from pdtopology.environment import (
    PREFIX,
    Environment,
    Variable,
    read_environment,
    variable_for,
    variables_of,
)
from pdtopology.overrides import Override
from pdtopology.paths import FREE_MAPPINGS, Path, dotted
from pdtopology.section import sections_of
from pdtopology.suggestions import suggested_paths


def read(**variables: str) -> Environment:
    """What variables say, by the rest of their names."""
    return read_environment(variables_of({PREFIX + name: text for name, text in variables.items()}))


def values_of(**variables: str) -> dict[str, Any]:
    """The values that they set, at dotted paths."""
    return {dotted(path): override.value for path, override in read(**variables).overrides.items()}


def origins_of(**variables: str) -> list[str]:
    """What findings call those."""
    return [override.origin for override in read(**variables).overrides.values()]


def hint_for(name: str) -> str | None:
    """What is said of an unknown variable."""
    [finding] = read(**{name: "x"}).findings
    assert (finding.code, finding.message) == ("unknown-variable", f"unknown variable {PREFIX}{name}")
    return finding.hint


def _paths(model: type[BaseModel], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every key of a document that is not for editors, with its annotation."""
    for name, field in model.model_fields.items():
        if not field.alias:
            yield (*path, name), field.annotation
            for section in sections_of(field.annotation):
                yield from _paths(section, (*path, name))


ANNOTATIONS = dict(_paths(Deployment))
PATHS = list(ANNOTATIONS)
MAPPINGS = [path for path, kind in ANNOTATIONS.items() if get_origin(kind) is dict or sections_of(kind)]


# Names


@pytest.mark.parametrize("path", [path for path in PATHS if path not in MAPPINGS], ids=dotted)
def test_every_key_has_a_variable(path: Path) -> None:
    variable = Variable(variable_for(path), "1")
    assert list(read_environment([variable]).overrides) == [path]


@pytest.mark.parametrize("path", MAPPINGS, ids=dotted)
def test_every_mapping_has_a_variable(path: Path) -> None:
    variable = Variable(variable_for(path), "{}")
    assert read_environment([variable]).overrides == {path: Override({}, variable.name)}


def test_the_mappings_of_any_keys_are_known_by_their_names() -> None:
    assert {path[-1] for path, kind in ANNOTATIONS.items() if get_origin(kind) is dict} == set(FREE_MAPPINGS)


def test_a_name_is_read_in_any_case() -> None:
    assert read_environment(variables_of({"pdtopology_Decode__Port": "8200"})).overrides == {
        ("decode", "port"): Override(8200, "pdtopology_Decode__Port=8200")
    }


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("DECODE__ENV__NCCL_debug", "decode.env.NCCL_debug"),
        ("DECODE__ENV__A__B", "decode.env.A__B"),
        ("DECODE__ENGINE_ARGS__MAX_MODEL_LEN", "decode.engine_args.max-model-len"),
        ("CONNECTOR__EXTRA_CONFIG__NOTIFY_PORT", "connector.extra_config.notify_port"),
    ],
)
def test_a_key_below_a_mapping_is_spelled_as_the_engine_does(name: str, path: str) -> None:
    assert values_of(**{name: "1"}) == {path: "1"}


def test_a_connector_of_any_kind_has_variables() -> None:
    assert values_of(
        CONNECTOR__KIND="nixl", CONNECTOR__PREFILL__SIDE_CHANNEL_PORT="5700", CONNECTOR__DECODE__NOTIFY_PORT="6000"
    ) == {"connector.kind": "nixl", "connector.decode.notify_port": 6000, "connector.prefill.side_channel_port": 5700}


def test_the_variable_of_the_file_sets_no_value() -> None:
    assert read(FILE="pd.yaml") == Environment({}, "pd.yaml", [])


@pytest.mark.parametrize("name", ["DECODE__PORT", "DECODE", "FILE", "DECODE_PORT", "NONSENSE"])
def test_an_empty_variable_is_unset(name: str) -> None:
    assert read(**{name: ""}) == Environment({}, None, [])


@pytest.mark.parametrize("name", ["HF_TOKEN", "VLLM_NIXL_SIDE_CHANNEL_PORT", "PDTOPOLOGY", "XPDTOPOLOGY_DECODE__PORT"])
def test_a_variable_without_the_prefix_is_left_alone(name: str) -> None:
    assert variables_of({name: "x"}) == []


# Values


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("DECODE__TENSOR_PARALLEL_SIZE", "8", 8),
        ("DECODE__TENSOR_PARALLEL_SIZE", " 8 ", 8),
        ("DECODE__TENSOR_PARALLEL_SIZE", "0", 0),
        ("DECODE__TENSOR_PARALLEL_SIZE", "four", "four"),
        ("DECODE__PORT", "0", 0),
        ("DECODE__PORT", "-1", -1),
        ("DECODE__PORT", "70000", 70_000),
        ("DECODE__DATA_PARALLEL_SIZE_LOCAL", "-1", -1),
        ("DECODE__PORT", '{"a": 1}', '{"a": 1}'),
        ("MODEL__IS_MLA", "true", True),
        ("MODEL__IS_MLA", "0", False),
        ("MODEL__IS_MLA", "maybe", "maybe"),
        ("MODEL__NAME", "1234", "1234"),
        ("ENGINE__VERSION", "0.30", "0.30"),
        ("CONNECTOR__ENFORCE_HANDSHAKE_COMPAT", "false", False),
        ("CONNECTOR__MODE", "1", "1"),
        ("DECODE__ENV__A", "1", "1"),
        ("DECODE__ENGINE_ARGS__A", "true", "true"),
    ],
)
def test_a_text_is_what_its_key_holds(name: str, text: str, value: Any) -> None:
    assert [(v, type(v)) for v in values_of(**{name: text}).values()] == [(value, type(value))]


@given(st.integers())
def test_a_whole_number_is_read_whatever_its_bounds(number: int) -> None:
    assert values_of(DECODE__PORT=str(number)) == {"decode.port": number}


@given(st.text(min_size=1))
def test_any_text_can_be_a_value_of_the_engine(text: str) -> None:
    assert values_of(DECODE__ENV__X=text) == {"decode.env.X": text}


@given(st.text(min_size=1), st.sampled_from([path for path in PATHS if path not in MAPPINGS]))
def test_no_text_is_a_traceback(text: str, path: Path) -> None:
    assert list(read_environment([Variable(variable_for(path), text)]).overrides) == [path]


def test_a_json_object_sets_each_of_its_keys() -> None:
    assert values_of(DECODE='{"port": 8200, "env": {"A": "b"}, "engine_args": {"x": {"y": 1}}}') == {
        "decode.port": 8200,
        "decode.env.A": "b",
        "decode.engine_args.x": {"y": 1},
    }


def test_a_variable_for_one_key_goes_over_a_json_object() -> None:
    assert values_of(DECODE__PORT="8300", DECODE='{"port": 8200, "block_size": 16}') == {
        "decode.port": 8300,
        "decode.block_size": 16,
    }


def test_a_later_source_goes_over_an_earlier_one_key_by_key() -> None:
    weak = variables_of({"PDTOPOLOGY_DECODE__PORT": "1", "PDTOPOLOGY_DECODE__HOST": "a"})
    strong = variables_of({"PDTOPOLOGY_DECODE": '{"port": 2}'})
    overrides = read_environment(weak, strong).overrides
    assert {dotted(path): override.value for path, override in overrides.items()} == {
        "decode.port": 2,
        "decode.host": "a",
    }


# Where a value came from


@pytest.mark.parametrize(
    ("variables", "origins"),
    [
        ({"DECODE__PORT": "0"}, ["PDTOPOLOGY_DECODE__PORT=0"]),
        ({"CONNECTOR__MODE": "push"}, ["PDTOPOLOGY_CONNECTOR__MODE=push"]),
        ({"DECODE": '{"port": 0, "host": "a"}'}, ["PDTOPOLOGY_DECODE"] * 2),
        ({"DECODE__ENV__HF_TOKEN": "secret"}, ["PDTOPOLOGY_DECODE__ENV__HF_TOKEN"]),
        ({"DECODE__ENGINE_ARGS__API_KEY": "secret"}, ["PDTOPOLOGY_DECODE__ENGINE_ARGS__API_KEY"]),
        ({"CONNECTOR__EXTRA_CONFIG__X": "secret"}, ["PDTOPOLOGY_CONNECTOR__EXTRA_CONFIG__X"]),
        ({"DECODE__HOST": "a\nb"}, ["PDTOPOLOGY_DECODE__HOST='a\\nb'"]),
    ],
)
def test_a_value_is_called_by_its_variable(variables: dict[str, str], origins: list[str]) -> None:
    assert origins_of(**variables) == origins


def test_a_value_of_a_file_is_called_by_its_line_too() -> None:
    [override] = read_environment([Variable("PDTOPOLOGY_DECODE__PORT", "0", ".env:3")]).overrides.values()
    assert override.origin == ".env:3: PDTOPOLOGY_DECODE__PORT=0"


# Unknown variables


@pytest.mark.parametrize("path", [path for path in PATHS if path[1:]], ids=dotted)
@pytest.mark.parametrize("underscores", ["_", "___"])
def test_any_other_number_of_underscores_is_understood(path: Path, underscores: str) -> None:
    words = variable_for(path).removeprefix(PREFIX).replace("__", underscores)
    assert suggested_paths(words) == [path]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("DECODE_TENSOR_PARALLEL_SIZE", ["DECODE__TENSOR_PARALLEL_SIZE"]),
        ("_DECODE__PORT", ["DECODE__PORT"]),
        ("DECODE__TENSOR__PARALLEL__SIZE", ["DECODE__TENSOR_PARALLEL_SIZE"]),
        ("PREFIL__BLOCK_SIZE", ["PREFILL__BLOCK_SIZE"]),
        ("PREFIL_BLOCK_SIZE", ["PREFILL__BLOCK_SIZE"]),
        ("decod__port", ["DECODE__PORT"]),
        ("PREFILL__BLOK_SIZE", ["PREFILL__BLOCK_SIZE"]),
        ("PREFILL__HOSTS", ["PREFILL__HOST"]),
        ("DECODE__TP", ["DECODE__TENSOR_PARALLEL_SIZE"]),
        ("DECODE_TP", ["DECODE__TENSOR_PARALLEL_SIZE"]),
        ("DECODE__TP_SIZE", ["DECODE__TENSOR_PARALLEL_SIZE"]),
        ("CONSUMER_DP", ["DECODE__DATA_PARALLEL_SIZE"]),
        ("MODEL__NUM_KEY_VALUE_HEADS", ["MODEL__TOTAL_NUM_KV_HEADS"]),
        ("DECODE__NUM_KEY_VALUE_HEADS", ["MODEL__TOTAL_NUM_KV_HEADS"]),
        ("DECODE__PORT__X", ["DECODE__PORT"]),
        ("DECODE__ENV__", ["DECODE__ENV"]),
        ("DECODE_ENV_HF_Token", ["DECODE__ENV__HF_Token"]),
        ("DECODE_ENGINE_ARGS_MAX_MODEL_LEN", ["DECODE__ENGINE_ARGS__MAX_MODEL_LEN"]),
        ("CONNECTOR_PREFILL_KV_ROLE", ["CONNECTOR__PREFILL__KV_ROLE"]),
        ("PREFILL__KV_ROLE", ["CONNECTOR__PREFILL__KV_ROLE", "CONNECTOR__DECODE__KV_ROLE"]),
        ("PREFILL__KV_TRANSFER_CONFIG", ["CONNECTOR"]),
        ("TENSOR_PARALLEL_SIZE", ["PREFILL__TENSOR_PARALLEL_SIZE", "DECODE__TENSOR_PARALLEL_SIZE"]),
        ("TP", ["PREFILL__TENSOR_PARALLEL_SIZE", "DECODE__TENSOR_PARALLEL_SIZE"]),
        ("VERSION", ["ENGINE__VERSION"]),
        ("FILES", ["FILE"]),
        ("_FILE", ["FILE"]),
    ],
)
def test_an_unknown_variable_is_told_what_was_meant(name: str, meant: list[str]) -> None:
    assert hint_for(name) == f"did you mean {' or '.join(PREFIX + other for other in meant)}?"


@pytest.mark.parametrize("name", ["", "_", "NONSENSE", "SCHEMA", "$SCHEMA", "SCHEMA_URI", "HF_TOKEN", "DECODE__"])
def test_a_variable_like_no_other_is_told_how_names_are_made(name: str) -> None:
    known = "did you mean PDTOPOLOGY_DECODE?" if name == "DECODE__" else None
    assert hint_for(name) == known or (
        "a name is PDTOPOLOGY_, a section and its key, with two underscores between them: "
        "PDTOPOLOGY_DECODE__TENSOR_PARALLEL_SIZE"
    )


@given(st.text("ABDEFILMNOPRT_", max_size=30))
def test_what_is_suggested_is_a_variable(name: str) -> None:
    for finding in read(**{name: "{}"}).findings:
        hint = str(finding.hint)
        if finding.code == "unknown-variable" and hint.startswith("did you mean "):
            names = hint.removeprefix("did you mean ").removesuffix("?").split(" or ")
            assert not [other for other in names if hint_codes(other)]


def hint_codes(name: str) -> list[str]:
    """The codes that tell a variable to be unknown."""
    findings = read_environment([Variable(name, "{}")]).findings
    return [finding.code for finding in findings if finding.code == "unknown-variable"]


def test_an_unknown_variable_of_a_file_is_told_with_its_line() -> None:
    [finding] = read_environment([Variable("PDTOPOLOGY_DECODE_PORT", "secret", ".env:3")]).findings
    assert str(finding) == (
        ".env:3: error[unknown-variable]: unknown variable PDTOPOLOGY_DECODE_PORT "
        "(did you mean PDTOPOLOGY_DECODE__PORT?)"
    )


# Texts that must be JSON objects


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{kind:nixl}", "not JSON: expecting property name enclosed in double quotes"),
        ("A=secret,B=secret", "not JSON: expecting value"),
        ('["secret"]', "JSON of another kind"),
        ("4", "JSON of another kind"),
        ("null", "JSON of another kind"),
        ("NaN", "not JSON: NaN is no JSON number"),
    ],
)
def test_a_text_that_is_no_json_object_is_told_with_an_example(text: str, found: str) -> None:
    [finding] = read(DECODE__ENV=text).findings
    example = """'{"NCCL_DEBUG": "INFO"}'"""
    assert (finding.code, finding.path) == ("dict_type", "decode.env")
    assert finding.message_with_sources == (
        f"decode.env must be a JSON object such as {example}, but is {found} (PDTOPOLOGY_DECODE__ENV) "
        "(a key by itself is set as PDTOPOLOGY_DECODE__ENV__NCCL_DEBUG)"
    )


def test_a_key_twice_in_a_json_object_is_told() -> None:
    [finding] = read(DECODE='{"port": 1, "port": 2}').findings
    assert (finding.code, finding.message, finding.hint) == (
        "duplicate-key",
        "decode: the key port stands twice",
        "keep one of the two",
    )


@pytest.mark.parametrize("path", MAPPINGS, ids=dotted)
def test_the_example_for_every_mapping_can_be_taken(path: Path) -> None:
    name = variable_for(path)
    [finding] = read_environment([Variable(name, "x")]).findings
    example = finding.message.partition("'")[2].partition("'")[0]
    by_key = str(finding.hint).rpartition(" ")[2]
    [(key, value)] = json.loads(example).items()
    found = read_environment([Variable(name, example)]), read_environment([Variable(by_key, str(value))])
    assert [(list(environment.overrides), environment.findings) for environment in found] == [([(*path, key)], [])] * 2


def test_findings_are_in_the_order_of_their_names() -> None:
    names = ["B", "A", "DECODE__X", "C"]
    for order in itertools.permutations(names):
        found = [finding.path for finding in read(**dict.fromkeys(order, "x")).findings]
        assert found == [PREFIX + name for name in ("A", "B", "C", "DECODE__X")]


@pytest.mark.parametrize("name", ["A_" * 100_000, "A" * 200_000, "DECODE_" * 50_000, "_" * 200_000 + "A"])
def test_a_very_long_name_is_told_at_once(name: str) -> None:
    assert hint_for(name)
