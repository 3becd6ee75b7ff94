"""The starter file: valid, with its schema beside it, and never in the place of something else."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pdtopology import check, load_topology
from pdtopology.cli import main
from pdtopology.schema import dump, json_schema
from pdtopology.starter import starter_for
from tests.huggingface.configs import GEMMA_4_26B, QWEN3_32B, THREE_COUNTS

SCHEMA = "pdtopology.schema.json"
EVERY_FORMAT = pytest.mark.parametrize("name", ["pd.yaml", "pd.yml", "pd.json", "pd.toml"])


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write into a folder of the test's own."""
    monkeypatch.chdir(tmp_path)


@EVERY_FORMAT
def test_the_file_passes_check(name: str) -> None:
    assert main(["init", name]) == 0
    assert check(name) == []


@EVERY_FORMAT
def test_the_file_names_the_schema_beside_it(name: str) -> None:
    main(["init", name])
    first_lines = "".join(Path(name).read_text().splitlines()[:2])
    assert SCHEMA in first_lines
    assert Path(SCHEMA).read_text() == dump(json_schema())


def test_the_default_file_is_yaml(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"]) == 0
    assert capsys.readouterr().out == f"wrote pd.yaml and {SCHEMA}\n"
    assert load_topology("pd.yaml").prefill.tensor_parallel_size == 8


@pytest.mark.parametrize("existing", ["pd.yaml", SCHEMA])
def test_what_exists_is_not_overwritten_and_nothing_else_is_written(
    existing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(existing).write_text("mine\n")
    assert main(["init"]) == 2
    assert Path(existing).read_text() == "mine\n"
    assert [file.name for file in tmp_path.iterdir()] == [existing]
    assert capsys.readouterr().err == f"pdtopology: {existing} exists; --force overwrites it\n"


def test_force_overwrites() -> None:
    Path("pd.yaml").write_text("mine\n")
    assert main(["init", "--force"]) == 0
    assert check("pd.yaml") == []


def test_beginning_twice_is_no_mistake() -> None:
    assert [main(["init"]), main(["init"])] == [0, 0]


@pytest.mark.parametrize(
    ("path", "reason"), [("missing/pd.yaml", "No such file or directory"), (".", "Is a directory")]
)
def test_a_path_that_cannot_be_written_is_told(path: str, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", path]) == 2
    assert capsys.readouterr().err == f"pdtopology: {path} cannot be written: {reason}\n"


def test_a_file_that_cannot_be_put_in_place_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fails)
    assert main(["init"]) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("model", "size"),
    [
        ({"num_attention_heads": 64, "total_num_kv_heads": 8}, 8),
        ({"num_attention_heads": 24, "total_num_kv_heads": 4}, 8),
        ({"num_attention_heads": 12, "total_num_kv_heads": 12}, 6),
        ({"num_attention_heads": 7, "total_num_kv_heads": 7}, 1),
        ({"num_attention_heads": 128, "is_mla": True}, 8),
    ],
)
def test_the_size_fits_the_model(model: dict[str, Any], size: int) -> None:
    text = starter_for(Path("pd.yaml"), model).text
    assert load_topology(text).decode.tensor_parallel_size == size


def test_a_model_that_no_topology_can_have_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="no topology has the model"):
        starter_for(Path("pd.yaml"), {"num_attention_heads": 64})


def test_the_schemas_own_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", SCHEMA]) == 2
    assert capsys.readouterr().err == f"pdtopology: {SCHEMA} is the name of the schema\n"


def test_a_disk_that_is_full_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fails)
    assert main(["init"]) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"model_type": "qwen3", "num_attention_heads": 64, "num_key_value_heads": 8}, (64, 8, False)),
        ({"model_type": "deepseek_v3", "num_attention_heads": 128, "kv_lora_rank": 512}, (128, None, True)),
    ],
)
@pytest.mark.parametrize("place", ["config.json", "."])
def test_the_model_comes_from_its_config(
    config: dict[str, Any], expected: tuple[int, int | None, bool], place: str
) -> None:
    Path("config.json").write_text(json.dumps(config))
    assert main(["init", "--hf-config", place]) == 0
    model = load_topology("pd.yaml").model
    assert (model.num_attention_heads, model.total_num_kv_heads, model.is_mla) == expected


@pytest.mark.parametrize(
    ("config", "keys"),
    [
        (GEMMA_4_26B, {"other_total_num_kv_heads": 2, "has_sliding_window_layers": True}),
        ({**QWEN3_32B, "layer_types": ["linear_attention", "full_attention"]}, {"has_mamba_layers": True}),
    ],
    ids=["gemma-4-26B-A4B", "Qwen3-Next"],
)
def test_what_else_the_config_tells_is_written_too(config: dict[str, Any], keys: dict[str, Any]) -> None:
    Path("config.json").write_text(json.dumps(config))
    assert main(["init", "--hf-config", "."]) == 0
    model = load_topology("pd.yaml").model
    assert {key: getattr(model, key) for key in keys} == keys
    assert model.hf_config is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"model_type": "mamba"}', "config.json: the model (model_type 'mamba') is of a type without attention"),
        (json.dumps(THREE_COUNTS), "of which a document states two; name the file as model.hf_config"),
        ("[]", "config.json"),
        ("{", "config.json"),
        (None, "No such file or directory"),
    ],
)
def test_a_config_that_does_not_tell_writes_nothing(
    text: str | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        Path("config.json").write_text(text)
    assert main(["init", "--hf-config", "config.json"]) == 2
    assert message in capsys.readouterr().err
    assert not Path("pd.yaml").exists()
