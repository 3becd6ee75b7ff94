"""The sections by themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pdtopology import ModelGeometry, PDTopology
from pdtopology.deployment import takes_text
from pdtopology.huggingface import ConfigError
from tests.huggingface.configs import GEMMA_4_26B, QWEN3_32B, SPARSE, THREE_COUNTS


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("engine.version", True),
        ("model.name", True),
        ("decode.host", True),
        ("decode.kv_cache_dtype", True),
        ("decode.env.OMP_NUM_THREADS", True),
        ("decode.tensor_parallel_size", False),
        ("model.is_mla", False),
        ("decode.env", False),
        ("decode.engine_args.max-model-len", False),
        ("decode.unknown", False),
        ("unknown", False),
        ("decode", False),
    ],
)
def test_a_field_that_is_text_is_told_from_others(path: str, *, expected: bool) -> None:
    assert takes_text(tuple(path.split("."))) is expected


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(config: Any) -> str:
    """Write a config into the current folder and say where."""
    Path("config.json").write_text(json.dumps(config), encoding="utf-8")
    return "config.json"


def geometry(model: ModelGeometry) -> tuple[Any, ...]:
    """The values that a config can tell."""
    return (
        model.num_attention_heads,
        model.total_num_kv_heads,
        model.other_total_num_kv_heads,
        model.is_mla,
        model.has_mamba_layers,
        model.has_sliding_window_layers,
    )


@pytest.mark.usefixtures("folder")
def test_a_geometry_is_made_of_a_path_or_of_what_the_file_holds() -> None:
    assert geometry(ModelGeometry.from_hf_config(Path(write(GEMMA_4_26B)))) == (16, 8, 2, False, False, True)
    from_path = ModelGeometry.from_hf_config(write(QWEN3_32B))
    from_config = ModelGeometry.from_hf_config(QWEN3_32B)
    assert geometry(from_path) == geometry(from_config)
    assert (from_path.hf_config, from_config.hf_config) == ("config.json", None)
    assert from_config.model_fields_set == {"num_attention_heads", "total_num_kv_heads", "is_mla"}


@pytest.mark.usefixtures("folder")
def test_a_geometry_of_a_config_is_taken_into_a_topology() -> None:
    for model in (ModelGeometry.from_hf_config(write(GEMMA_4_26B)), ModelGeometry.from_hf_config(GEMMA_4_26B)):
        assert geometry(PDTopology(model=model, prefill={}, decode={}).model) == geometry(model)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("missing.json", r"^missing\.json cannot be read: No such file or directory$"),
        (SPARSE, r"; state model\.num_attention_heads and model\.total_num_kv_heads$"),
        (THREE_COUNTS, "^the layers have 3, 4 and 8 KV heads, of which a document states two; name the file as"),
    ],
)
def test_a_geometry_that_cannot_be_told_is_a_value_error(config: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ModelGeometry.from_hf_config(config)
    assert issubclass(ConfigError, ValueError)


@pytest.mark.usefixtures("folder")
def test_of_three_counts_a_geometry_by_itself_has_two() -> None:
    assert geometry(ModelGeometry.from_hf_config(write(THREE_COUNTS)))[1:3] == (8, 4)
