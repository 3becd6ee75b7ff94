"""The topology from environment variables over a file."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from typing_extensions import Self

from pdtopology import DecodeRole, NixlConnector, PDTopology, PDTopologySettings, PrefillRole, TopologyError
from pdtopology.check import findings_in
from pdtopology.environment import read_environment, variables_of

FILE = """\
model: {total_num_kv_heads: 8}
prefill: {tensor_parallel_size: 8, port: 8100}
decode: {tensor_parallel_size: 8}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A topology file."""
    path = tmp_path / "pd.yaml"
    path.write_text(FILE)
    return path


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Set variables of the topology by the rest of their names."""

    def set_variables(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(f"PDTOPOLOGY_{name}", value)

    return set_variables


def refused(*arguments: Any, **values: Any) -> ValidationError:
    """Why settings are refused."""
    with pytest.raises(ValidationError) as caught:
        PDTopologySettings(*arguments, **values)
    return caught.value


def lines_of(*arguments: Any, **values: Any) -> list[tuple[tuple[str | int, ...], str]]:
    """The place and the type of each line of that."""
    return [(line["loc"], line["type"]) for line in refused(*arguments, **values).errors()]


def messages_of(*arguments: Any, **values: Any) -> list[str]:
    """The message of each line of that."""
    return [line["msg"] for line in refused(*arguments, **values).errors()]


def test_the_environment_alone_makes_a_topology(environment: Any) -> None:
    environment(MODEL__IS_MLA="true", PREFILL__TENSOR_PARALLEL_SIZE="4", DECODE__TENSOR_PARALLEL_SIZE="8")
    settings = PDTopologySettings()
    assert isinstance(settings, PDTopology)
    assert (settings.model.is_mla, settings.decode.tensor_parallel_size) == (True, 8)


def test_a_variable_goes_over_one_key_of_the_file(file: Path, environment: Any) -> None:
    environment(DECODE__TENSOR_PARALLEL_SIZE="16")
    settings = PDTopologySettings(file)
    assert (settings.prefill.port, settings.decode.tensor_parallel_size) == (8100, 16)


def test_a_variable_names_the_file(file: Path, environment: Any) -> None:
    environment(FILE=str(file))
    assert PDTopologySettings().prefill.port == 8100


def test_a_file_passed_in_goes_before_the_one_that_is_named(file: Path, environment: Any) -> None:
    environment(FILE="missing.yaml")
    assert PDTopologySettings(file).prefill.port == 8100


def test_an_argument_goes_over_a_variable(file: Path, environment: Any) -> None:
    environment(DECODE__TENSOR_PARALLEL_SIZE="4")
    settings = PDTopologySettings(file, decode={"tensor_parallel_size": 16})
    assert settings.decode.tensor_parallel_size == 16


def test_an_argument_can_be_a_model(file: Path) -> None:
    assert PDTopologySettings(file, decode=DecodeRole(tensor_parallel_size=16)).decode.tensor_parallel_size == 16


def test_the_merged_result_goes_through_every_rule(file: Path, environment: Any) -> None:
    environment(DECODE__TENSOR_PARALLEL_SIZE="12")
    with pytest.raises(ValidationError) as caught:
        PDTopologySettings(file)
    assert "decode TP 12 and 8 KV heads" in str(caught.value)


def test_a_whole_section_and_one_of_its_keys_merge(file: Path, environment: Any) -> None:
    environment(DECODE__PORT="8300", DECODE='{"port": 8200, "tensor_parallel_size": 16}')
    decode = PDTopologySettings(file).decode
    assert (decode.port, decode.tensor_parallel_size) == (8300, 16)


def test_an_empty_variable_counts_as_unset(file: Path, environment: Any) -> None:
    environment(DECODE__TENSOR_PARALLEL_SIZE="", FILE="")
    assert PDTopologySettings(file).decode.tensor_parallel_size == 8


def test_text_is_converted_where_the_field_is_a_number(file: Path, environment: Any) -> None:
    environment(PREFILL__PORT=" 8200 ", MODEL__NAME="1234", ENGINE__VERSION="0.33", MODEL__IS_MLA="0")
    settings = PDTopologySettings(file)
    assert (settings.prefill.port, settings.model.name, settings.engine.version) == (8200, "1234", "0.33")


@pytest.mark.parametrize(
    ("name", "text", "path"),
    [
        ("DECODE__TENSOR_PARALLEL_SIZE", "four", ("decode", "tensor_parallel_size")),
        ("DECODE__TENSOR_PARALLEL_SIZE", "4.5", ("decode", "tensor_parallel_size")),
        ("DECODE__TENSOR_PARALLEL_SIZE", "0", ("decode", "tensor_parallel_size")),
        ("MODEL__IS_MLA", "maybe", ("model", "is_mla")),
        ("DECODE", "{broken", ("decode",)),
        ("DECODE", '{"tp_size": 4}', ("decode", "tp_size")),
        ("DECODE__ENV", "[]", ("decode", "env")),
    ],
)
def test_text_that_is_not_convertible_is_an_error_of_its_field(
    file: Path, environment: Any, name: str, text: str, path: tuple[str, ...]
) -> None:
    environment(**{name: text})
    with pytest.raises(ValidationError) as caught:
        PDTopologySettings(file)
    assert [error["loc"] for error in caught.value.errors()] == [path]


def test_an_environment_variable_for_the_engine_keeps_its_case(file: Path, environment: Any) -> None:
    environment(DECODE__ENV__NCCL_DEBUG="INFO", DECODE__ENV='{"A": "b"}')
    assert PDTopologySettings(file).decode.env == {"A": "b", "NCCL_DEBUG": "INFO"}


def test_an_engine_argument_is_written_as_the_engine_spells_it(file: Path, environment: Any) -> None:
    environment(DECODE__ENGINE_ARGS__MAX_MODEL_LEN="8192")
    assert PDTopologySettings(file).decode.engine_args == {"max-model-len": "8192"}


def test_an_engine_argument_that_has_a_field_is_refused(file: Path, environment: Any) -> None:
    environment(DECODE__ENGINE_ARGS__TENSOR_PARALLEL_SIZE="16")
    with pytest.raises(ValidationError, match="has a field of its own"):
        PDTopologySettings(file)


@pytest.mark.parametrize("name", ["SOMETHING_ELSE", "SCHEMA_URI", "DECODE__TP_SIZE", "DECODE_PORT"])
def test_an_unknown_variable_is_an_error_named_after_it(file: Path, environment: Any, name: str) -> None:
    environment(**{name: "1"})
    assert lines_of(file) == [((f"PDTOPOLOGY_{name}",), "unknown-variable")]


def test_a_file_that_cannot_be_read_is_a_topology_error(environment: Any) -> None:
    environment(FILE="missing.yaml")
    with pytest.raises(TopologyError, match=r"missing\.yaml: error\[unreadable-file\]"):
        PDTopologySettings()


def test_a_file_that_is_no_mapping_is_a_topology_error(tmp_path: Path) -> None:
    path = tmp_path / "list.yaml"
    path.write_text("- 1\n")
    with pytest.raises(TopologyError, match=r"list\.yaml:1:1: error\[model_type\]: the document is a list"):
        PDTopologySettings(path)


def test_an_error_does_not_print_other_values(environment: Any) -> None:
    environment(PREFILL__ENV='{"HF_TOKEN": "hf_secret"}', PREFILL__PORT="0")
    with pytest.raises(ValidationError) as caught:
        PDTopologySettings()
    assert "hf_secret" not in str(caught.value)


def test_settings_can_be_changed_like_a_topology(file: Path) -> None:
    assert PDTopologySettings(file).replace(decode={"tensor_parallel_size": 16}).decode.tensor_parallel_size == 16


def test_a_changed_copy_does_not_read_the_environment_again(file: Path, environment: Any) -> None:
    settings = PDTopologySettings(file)
    environment(DECODE__TENSOR_PARALLEL_SIZE="6")
    changed = settings.replace(decode={"tensor_parallel_size": 16})
    assert (type(changed), changed.decode.tensor_parallel_size) == (PDTopology, 16)


def test_settings_are_valid_where_a_topology_is_wanted(file: Path) -> None:
    assert PDTopology.model_validate(PDTopologySettings(file)).prefill.port == 8100


def test_a_list_on_standard_input_is_told_once(monkeypatch: pytest.MonkeyPatch, environment: Any) -> None:
    environment(FILE="-")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"- 1\n")))
    with pytest.raises(TopologyError, match=r"<stdin>:1:1: .*the document is a list"):
        PDTopologySettings()


# What a model as an argument says


def test_a_model_as_an_argument_leaves_what_it_does_not_state_to_the_file(file: Path) -> None:
    prefill = PDTopologySettings(file, prefill=PrefillRole(tensor_parallel_size=16)).prefill
    assert (prefill.port, prefill.tensor_parallel_size) == (8100, 16)


def test_a_connector_as_an_argument_is_of_its_kind(file: Path) -> None:
    assert PDTopologySettings(file, connector=NixlConnector(mode="push")).connector == NixlConnector(mode="push")


def test_a_model_that_was_changed_without_validation_is_validated(file: Path) -> None:
    role = DecodeRole().model_copy(update={"port": 0})
    assert messages_of(file, decode=role) == ["decode.port is 0, but must be greater than 0 (argument decode.port=0)"]


# What is told


@pytest.mark.parametrize(
    "values",
    [
        {"DECODE__TENSOR_PARALLEL_SIZE": "6"},
        {"DECODE__TENSOR_PARALLEL_SIZE": "four"},
        {"DECODE__PORT": "0"},
        {"CONNECTOR__MODE": "push"},
        {"DECODE": '{"hosst": "x"}'},
    ],
)
def test_a_line_has_the_message_of_the_finding(file: Path, environment: Any, values: dict[str, str]) -> None:
    environment(**values)
    overrides = read_environment(variables_of(os.environ)).overrides
    told = [(finding.code, finding.message_with_sources) for finding in findings_in(file, overrides)]
    assert [(line["type"], line["msg"]) for line in refused(file).errors()] == told


def test_both_sources_are_named_where_two_values_disagree(file: Path, environment: Any) -> None:
    environment(DECODE__TENSOR_PARALLEL_SIZE="12")
    [message] = [message for message in messages_of(file) if message.startswith("prefill TP 8 and decode TP 12")]
    assert message == (
        "prefill TP 8 and decode TP 12: one must be a multiple of the other "
        f"(PDTOPOLOGY_DECODE__TENSOR_PARALLEL_SIZE=12, prefill.tensor_parallel_size at {file}:2:33) "
        "(decode.tensor_parallel_size: 16)"
    )


def test_a_wrong_value_of_the_file_is_told_with_its_line(file: Path) -> None:
    file.write_text(FILE.replace("8100", "0"))
    assert messages_of(file) == [f"prefill.port is 0, but must be greater than 0 ({file}:2:42)"]


def test_an_unknown_variable_is_told_beside_what_else_is_wrong(file: Path, environment: Any) -> None:
    environment(DECODE_PORT="1", PREFILL__PORT="0")
    assert lines_of(file) == [
        (("PDTOPOLOGY_DECODE_PORT",), "unknown-variable"),
        (("prefill", "port"), "greater_than"),
    ]


def test_a_key_with_dots_is_one_part_of_its_place(file: Path) -> None:
    assert lines_of(file, decode={"env": {"a.b": 1}}) == [(("decode", "env", "a.b"), "string_type")]


def test_an_empty_file_lacks_its_sections(tmp_path: Path) -> None:
    path = tmp_path / "pd.yaml"
    path.touch()
    assert lines_of(path) == [(("model",), "missing"), (("prefill",), "missing"), (("decode",), "missing")]


def test_a_line_holds_the_wrong_value(file: Path, environment: Any) -> None:
    environment(DECODE__PORT="0")
    assert [line["input"] for line in refused(file).errors()] == [0]


SECRETS: list[dict[str, str]] = [
    {"DECODE__ENV": '{"HF_TOKEN": 1234567, "A": "s3cret"}', "PREFILL__PORT": "0"},
    {"DECODE__ENV__HF_TOKEN": "s3cret", "MODEL": '{"total_num_kv_heads": 0}'},
    {"DECODE__ENV__HF_TOKEN": "s3cret\udcff"},
    {"DECODE__ENV": "HF_TOKEN=s3cret"},
    {"DECODE__ENV": '{"HF_TOKEN": "s3cret"'},
    {"DECODE__ENV": '["s3cret"]'},
    {"DECODE_ENV_HF_TOKEN": "s3cret"},
    {"HF_TOKEN": "s3cret"},
    {"DECODE__ENGINE_ARGS": '{"api-key": "s3cret", "tp": "s3cret"}'},
    {"DECODE__ENGINE_ARGS__TP": "s3cret"},
    {"DECODE": '{"env": {"HF_TOKEN": "s3cret"}, "env_": {"HF_TOKEN": "s3cret"}}'},
    {"MODEL": "", "DECODE__ENV__HF_TOKEN": "s3cret", "PREFILL__X": "s3cret"},
]


@pytest.mark.parametrize("values", SECRETS)
def test_no_value_that_may_be_a_secret_is_told(tmp_path: Path, environment: Any, values: dict[str, str]) -> None:
    path = tmp_path / "pd.yaml"
    path.write_text("prefill: {}\ndecode: {}\n")
    environment(**values)
    error = refused(path)
    assert not [secret for secret in ("s3cret", "1234567") if secret in f"{error}{error.errors()}"]


# .env files


def test_no_env_file_is_read_unless_it_is_asked_for(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    Path(".env").write_text("PDTOPOLOGY_DECODE__PORT=8200\n")
    assert PDTopologySettings(file).decode.port is None


def test_an_env_file_goes_over_the_file_and_under_the_environment(file: Path, environment: Any) -> None:
    env_file = file.with_name(".env")
    env_file.write_text("PDTOPOLOGY_PREFILL__PORT=8200\nPDTOPOLOGY_DECODE__PORT=8200\n")
    environment(DECODE__PORT="8300")
    settings = PDTopologySettings(file, _env_file=env_file)
    assert (settings.prefill.port, settings.decode.port) == (8200, 8300)


def test_a_later_env_file_goes_over_an_earlier_one(file: Path) -> None:
    files = [file.with_name("a.env"), file.with_name("b.env")]
    for env_file, port in zip(files, ("8200", "8300"), strict=True):
        env_file.write_text(f"PDTOPOLOGY_DECODE__PORT={port}\n")
    assert PDTopologySettings(file, _env_file=files).decode.port == 8300


def test_an_env_file_can_be_named_by_the_configuration_of_a_subclass(file: Path) -> None:
    env_file = file.with_name(".env")
    env_file.write_text("PDTOPOLOGY_DECODE__PORT=8200\n")

    class Settings(PDTopologySettings):
        model_config = SettingsConfigDict(env_file=env_file)

    settings: Any = Settings
    assert (settings(file).decode.port, settings(file, _env_file=None).decode.port) == (8200, None)


def test_an_env_file_names_the_file(file: Path) -> None:
    env_file = file.with_name(".env")
    env_file.write_text(f"PDTOPOLOGY_FILE={file}\n")
    assert PDTopologySettings(_env_file=env_file).prefill.port == 8100


def test_a_missing_env_file_is_a_topology_error(file: Path) -> None:
    with pytest.raises(TopologyError, match=r"missing\.env: error\[unreadable-file\]"):
        PDTopologySettings(file, _env_file="missing.env")


# Models around it and below it


def test_a_model_that_holds_a_topology_takes_it_from_one_variable(environment: Any) -> None:
    class Service(BaseSettings):
        model_config = SettingsConfigDict(env_prefix="PDTOPOLOGY_")
        topology: PDTopology

    environment(TOPOLOGY='{"model": {"is_mla": true}, "prefill": {}, "decode": {"tensor_parallel_size": 2}}')
    service: Any = Service
    assert service().topology.decode.tensor_parallel_size == 2


class Launcher(PDTopologySettings):
    """Settings with fields of their own."""

    gpus: int = 8
    log: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.decode.tensor_parallel_size > self.gpus:
            raise ValueError("too few GPUs")
        return self


LAUNCHER: Any = Launcher
"""The same, as the type checker does not see that a subclass takes the file too."""


def test_the_fields_of_a_subclass_have_variables_too(file: Path, environment: Any) -> None:
    environment(GPUS="16", LOG__Level="debug")
    launcher = LAUNCHER(file)
    assert (launcher.gpus, launcher.log, launcher.prefill.port) == (16, {"level": "debug"}, 8100)


@pytest.mark.parametrize(
    ("values", "lines"),
    [
        ({"GPUS": "many"}, [(("gpus",), "int_type")]),
        ({"GPUS": "4"}, [((), "value_error")]),
        ({"GPUS": "many", "DECODE__PORT": "0"}, [(("decode", "port"), "greater_than"), (("gpus",), "int_type")]),
        ({"GPUSS": "4"}, [(("PDTOPOLOGY_GPUSS",), "unknown-variable")]),
    ],
)
def test_the_fields_of_a_subclass_are_told_in_pydantics_words(
    file: Path, environment: Any, values: dict[str, str], lines: list[Any]
) -> None:
    environment(**values)
    with pytest.raises(ValidationError) as caught:
        LAUNCHER(file)
    assert [(line["loc"], line["type"]) for line in caught.value.errors()] == lines


class NamedRole(PrefillRole):
    """A role with a field of its own."""

    pool: str


def test_a_section_that_a_subclass_extends_is_told_in_pydantics_words(file: Path) -> None:
    class Settings(PDTopologySettings):
        prefill: NamedRole

    settings: Any = Settings
    with pytest.raises(ValidationError, match="Field required"):
        settings(file)
