"""The topology from environment variables over a file."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pdtopology import DecodeRole, PDTopology, PDTopologySettings, TopologyError

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
        ("DECODE__TP_SIZE", "4", ("decode", "tp_size")),
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


def test_other_variables_of_the_prefix_are_left_alone(file: Path, environment: Any) -> None:
    environment(SOMETHING_ELSE="1")
    assert PDTopologySettings(file).prefill.port == 8100


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


def test_a_subclass_leaves_other_variables_alone_too(file: Path, environment: Any) -> None:
    settings: Any = type("Settings", (PDTopologySettings,), {})
    environment(SOMETHING_ELSE="1", SCHEMA_URI="x")
    assert settings(file).prefill.port == 8100
