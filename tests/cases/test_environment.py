"""What people met with environment variables, messages and places elsewhere, each with the report it comes from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from pydantic import ValidationError

from pdtopology import DecodeRole, PDTopology, PDTopologySettings, check

MODEL = "model: {num_attention_heads: 64, total_num_kv_heads: 8}\n"

Written: TypeAlias = Callable[[str], Path]
Set: TypeAlias = Callable[..., None]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """Write the topology file, of which the model is always the same."""
    monkeypatch.chdir(tmp_path)

    def write(text: str) -> Path:
        path = Path("topo.yaml")
        path.write_text(MODEL + text)
        return path

    return write


@pytest.fixture
def set_variables(monkeypatch: pytest.MonkeyPatch) -> Set:
    """Set variables of the topology by the rest of their names."""

    def set_all(**variables: str) -> None:
        for name, text in variables.items():
            monkeypatch.setenv(f"PDTOPOLOGY_{name}", text)

    return set_all


def messages_of(file: Path) -> list[str]:
    """Why settings are refused."""
    with pytest.raises(ValidationError) as caught:
        PDTopologySettings(file)
    return [line["msg"] for line in caught.value.errors()]


# pydantic/pydantic-settings#985
def test_a_misspelt_section_and_a_single_underscore_are_both_told(written: Written, set_variables: Set) -> None:
    set_variables(PREFILL__TENSOR_PARALLEL_SIZE="4", PREFIL__BLOCK_SIZE="64", DECODE_TENSOR_PARALLEL_SIZE="8")
    assert messages_of(written("prefill: {}\ndecode: {tensor_parallel_size: 4}\n")) == [
        (
            "unknown variable PDTOPOLOGY_DECODE_TENSOR_PARALLEL_SIZE "
            "(did you mean PDTOPOLOGY_DECODE__TENSOR_PARALLEL_SIZE?)"
        ),
        "unknown variable PDTOPOLOGY_PREFIL__BLOCK_SIZE (did you mean PDTOPOLOGY_PREFILL__BLOCK_SIZE?)",
    ]


# pydantic/pydantic-settings#756, #538, #544
def test_two_values_that_disagree_are_told_with_the_source_of_each(written: Written, set_variables: Set) -> None:
    set_variables(PREFILL__TENSOR_PARALLEL_SIZE="8")
    file = written("prefill: {tensor_parallel_size: 6}\ndecode: {tensor_parallel_size: 6}\n")
    [message] = [message for message in messages_of(file) if "prefill TP 8 and decode TP 6" in message]
    assert "(topo.yaml:3:32, PDTOPOLOGY_PREFILL__TENSOR_PARALLEL_SIZE=8)" in message


# pydantic/pydantic-settings#320
def test_one_variable_changes_one_key_and_leaves_its_neighbours(written: Written, set_variables: Set) -> None:
    set_variables(DECODE__TENSOR_PARALLEL_SIZE="8")
    file = written("prefill: {tensor_parallel_size: 8}\ndecode: {tensor_parallel_size: 4, block_size: 64}\n")
    decode = PDTopologySettings(file).decode
    assert (decode.tensor_parallel_size, decode.block_size) == (8, 64)


# pydantic/pydantic-settings#203, #347, #244
def test_a_variable_for_one_deep_key_needs_none_of_its_siblings(written: Written, set_variables: Set) -> None:
    set_variables(CONNECTOR__PREFILL__NOTIFY_PORT="61005", DECODE__BLOCK_SIZE="16")
    file = written("connector: {prefill: {handshake_port: 6400}}\nprefill: {}\ndecode: {}\n")
    settings = PDTopologySettings(file, decode=DecodeRole(port=8200))
    assert settings.connector.prefill.model_dump(exclude_unset=True) == {"handshake_port": 6400, "notify_port": 61005}
    assert (settings.decode.block_size, settings.decode.port) == (16, 8200)


# pydantic/pydantic-settings#565
def test_a_mapping_of_a_variable_is_merged_with_that_of_the_file(written: Written, set_variables: Set) -> None:
    set_variables(CONNECTOR__EXTRA_CONFIG='{"notify_port": 62005}')
    file = written("connector: {extra_config: {notify_port: 61005, read_mode: true}}\nprefill: {}\ndecode: {}\n")
    assert PDTopologySettings(file).connector.extra_config == {"notify_port": 62005, "read_mode": True}


# pydantic/pydantic-settings#919
def test_a_text_that_must_be_json_is_told_so_with_an_example(written: Written, set_variables: Set) -> None:
    set_variables(CONNECTOR="{kv_connector:NixlConnector}")
    [message] = messages_of(written("prefill: {}\ndecode: {}\n"))
    assert message.startswith("""connector must be a JSON object such as '{"kind": "nixl"}', but is not JSON""")


# pydantic/pydantic-settings#919
@pytest.mark.parametrize(
    ("name", "text", "meant"),
    [("HOSTS", "10.0.0.1,10.0.0.2", "PREFILL__HOST"), ("KV_TRANSFER_CONFIG", "{kv_connector:Nixl}", "CONNECTOR")],
)
def test_a_variable_of_an_engine_is_told_by_its_name_here(
    name: str, text: str, meant: str, written: Written, set_variables: Set
) -> None:
    set_variables(**{f"PREFILL__{name}": text})
    assert messages_of(written("prefill: {}\ndecode: {}\n")) == [
        f"unknown variable PDTOPOLOGY_PREFILL__{name} (did you mean PDTOPOLOGY_{meant}?)"
    ]


# pydantic/pydantic-settings#198, #228; apify/apify-sdk-python#1080
def test_a_variable_that_a_template_left_empty_is_unset(written: Written, set_variables: Set) -> None:
    set_variables(PREFILL__TENSOR_PARALLEL_SIZE="", DECODE__TENSOR_PARALLEL_SIZE="4")
    settings = PDTopologySettings(written("prefill: {tensor_parallel_size: 4}\ndecode: {}\n"))
    assert (settings.prefill.tensor_parallel_size, settings.decode.tensor_parallel_size) == (4, 4)


# pydantic/pydantic-settings#765, #384; chroma-core/chroma#6535
def test_an_env_file_that_is_shared_with_the_engine_is_fine(written: Written) -> None:
    Path(".env").write_text(
        "HF_TOKEN=redacted\nUCX_TLS=cuda_ipc,cuda_copy,tcp\nVLLM_NIXL_SIDE_CHANNEL_PORT=5600\n"
        "PDTOPOLOGY_PREFILL__TENSOR_PARALLEL_SIZE=2\nPDTOPOLOGY_DECODE__TENSOR_PARALLEL_SIZE=2\n"
    )
    settings = PDTopologySettings(written("prefill: {}\ndecode: {}\n"), _env_file=".env")
    assert (settings.prefill.tensor_parallel_size, settings.decode.tensor_parallel_size) == (2, 2)


# pydantic/pydantic-settings#937, #256
def test_an_error_holds_no_secret(written: Written, set_variables: Set) -> None:
    secrets = dict.fromkeys(("HF_TOKEN", "PREFILL__ENV__HF_TOKEN"), "redacted")
    set_variables(PREFILL__TENSOR_PARALLEL_SIZE="3", **secrets)
    with pytest.raises(ValidationError) as caught:
        PDTopologySettings(written("prefill: {}\ndecode: {}\n"))
    assert "redacted" not in f"{caught.value}{caught.value.errors()}{caught.value.json()}"


# pydantic/pydantic#10668, #734
def test_what_two_sections_disagree_about_is_told_at_a_key() -> None:
    with pytest.raises(ValidationError) as caught:
        PDTopology.model_validate(
            {
                "model": {"is_mla": True},
                "prefill": {"tensor_parallel_size": 8},
                "decode": {"tensor_parallel_size": 3},
            }
        )
    assert [line["loc"] for line in caught.value.errors()] == [("decode", "tensor_parallel_size")]


# dagster-io/dagster#26962; python-accelerator-middle-layer/pyaml#11; Deltares/HYDROLIB-core#63
def test_both_sides_of_a_conflict_are_told_with_line_and_column() -> None:
    text = "# line 1\nprefill:\n  tensor_parallel_size: 8\ndecode:\n  tensor_parallel_size: 6\nmodel: {is_mla: true}\n"
    [finding] = check(text)
    places = [finding.location, *(other.location for other in finding.related)]
    assert [(place.line, place.column) for place in places if place] == [(5, 25), (3, 25)]


# ai-dynamo/dynamo: the CRD's unknown field max-local-prefill-length
@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("services: {}\n", "the keys here are $schema, engine, model, connector, prefill, decode"),
        ("engine: {kv-cache-dtype: fp8}\n", "it belongs at prefill.kv_cache_dtype and decode.kv_cache_dtype"),
        ("connector: {tensor-parallel-size: 8}\n", "it belongs at prefill.tensor_parallel_size and decode."),
    ],
)
def test_an_unknown_key_is_told_where_it_belongs(text: str, hint: str) -> None:
    [finding] = check(f"{MODEL}prefill: {{}}\ndecode: {{}}\n{text}")
    assert str(finding.hint).startswith(hint)
