"""`model.hf_config`: what is filled in, what disagrees, what cannot be told, and below which folder it is meant."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from pdtopology import (
    Diagnostic,
    ModelGeometry,
    PDTopology,
    PDTopologySettings,
    TopologyError,
    check,
    load_topology,
)
from pdtopology.cli import main
from pdtopology.rendering.text import render_text
from tests.huggingface.configs import DEEPSEEK_V3, GEMMA_4_26B, QWEN3_32B, SPARSE, THREE_COUNTS


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)


def write(config: Any, path: str = "config.json") -> str:
    """Write a config and say where."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(config), encoding="utf-8")
    return path


def document(config: Any, prefill: int = 8, decode: int = 8, **model: Any) -> dict[str, Any]:
    """A topology of a model whose config is written beside it."""
    return {
        "model": {"hf_config": write(config), **model},
        "prefill": {"tensor_parallel_size": prefill},
        "decode": {"tensor_parallel_size": decode},
    }


def errors(data: Any) -> list[tuple[str, str]]:
    """The type and path of each error."""
    with pytest.raises(ValidationError) as caught:
        PDTopology.model_validate(data)
    return [(error["type"], ".".join(map(str, error["loc"]))) for error in caught.value.errors()]


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


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (QWEN3_32B, (64, 8, None, False, False, False)),
        (DEEPSEEK_V3, (128, None, None, True, False, False)),
        (GEMMA_4_26B, (16, 8, 2, False, False, True)),
        ({**QWEN3_32B, "layer_types": ["linear_attention"]}, (64, 8, None, False, True, False)),
    ],
    ids=["Qwen3-32B", "DeepSeek-V3", "gemma-4-26B-A4B", "Qwen3-Next"],
)
def test_what_the_document_leaves_out_is_filled_in(config: dict[str, Any], expected: tuple[Any, ...]) -> None:
    assert geometry(PDTopology.model_validate(document(config)).model) == expected


def test_the_path_may_be_that_of_the_models_folder() -> None:
    write(QWEN3_32B, "model/config.json")
    topology = PDTopology.model_validate({**document({}), "model": {"hf_config": "model"}})
    assert topology.model.total_num_kv_heads == 8


def test_only_what_was_stated_counts_as_stated() -> None:
    topology = PDTopology.model_validate(document(QWEN3_32B, name="a"))
    assert topology.model.model_fields_set == {"hf_config", "name"}


@pytest.mark.parametrize(
    "again",
    [
        PDTopology.model_validate,
        lambda topology: PDTopology.model_validate(topology.model_dump()),
        lambda topology: PDTopology.model_validate(topology.model_dump(exclude_unset=True)),
        lambda topology: topology.replace(),
        copy.deepcopy,
        lambda topology: pickle.loads(pickle.dumps(topology)),
    ],
    ids=["validated", "dumped", "dumped as stated", "replaced", "copied", "pickled"],
)
def test_a_completed_topology_is_a_topology_again(again: Any) -> None:
    topology = PDTopology.model_validate(document(GEMMA_4_26B))
    assert again(topology) == topology


def test_a_topology_that_is_validated_again_follows_its_config() -> None:
    topology = PDTopology.model_validate(document(GEMMA_4_26B))
    write(QWEN3_32B)
    assert geometry(PDTopology.model_validate(topology).model) == (64, 8, None, False, False, False)


def test_another_config_can_be_put_in_the_place_of_one() -> None:
    topology = PDTopology.model_validate(document(GEMMA_4_26B))
    changed = topology.replace(model={"hf_config": write(DEEPSEEK_V3, "other.json")})
    assert (changed.model.is_mla, changed.model.total_num_kv_heads) == (True, None)


@pytest.mark.parametrize(
    ("prefill", "decode", "expected"),
    [
        (4, 8, [("moriio-read-kv-heads-replicated", "decode.tensor_parallel_size")]),
        (6, 6, [("attention-heads-not-divisible", f"{role}.tensor_parallel_size") for role in ("prefill", "decode")]),
    ],
)
def test_rules_judge_the_derived_values(prefill: int, decode: int, expected: list[tuple[str, str]]) -> None:
    assert errors(document(QWEN3_32B, prefill, decode)) == expected


def test_rules_judge_the_derived_kinds_of_layers() -> None:
    data = {**document(GEMMA_4_26B), "connector": {"mode": "write"}}
    assert errors(data) == [("moriio-write-sliding-window", "connector.mode")]


@pytest.mark.parametrize(
    ("config", "stated"),
    [
        (QWEN3_32B, {"num_attention_heads": 64, "total_num_kv_heads": 8, "is_mla": False}),
        (QWEN3_32B, {"total_num_kv_heads": None, "num_attention_heads": None}),
        (GEMMA_4_26B, {"total_num_kv_heads": 8, "other_total_num_kv_heads": 2}),
        (DEEPSEEK_V3, {"total_num_kv_heads": 16, "is_mla": True}),
        (QWEN3_32B, {"has_sliding_window_layers": True}),
    ],
    ids=["all", "null", "two counts", "KV heads of MLA mean nothing", "a kind of layer"],
)
def test_what_agrees_with_the_config_may_be_stated(config: dict[str, Any], stated: dict[str, Any]) -> None:
    assert PDTopology.model_validate(document(config, **stated))


def test_of_two_counts_either_may_be_stated_as_the_models() -> None:
    assert geometry(PDTopology.model_validate(document(GEMMA_4_26B, total_num_kv_heads=2)).model)[1:3] == (2, 8)


@pytest.mark.parametrize("stated", [True, False])
def test_a_stated_kind_of_layer_is_not_overridden(stated: bool) -> None:
    model = PDTopology.model_validate(document(GEMMA_4_26B, has_sliding_window_layers=stated)).model
    assert model.has_sliding_window_layers is stated


def test_what_contradicts_the_config_is_refused_at_each_key() -> None:
    data = document(QWEN3_32B, num_attention_heads=32, total_num_kv_heads=4, other_total_num_kv_heads=2, is_mla=True)
    keys = ("num_attention_heads", "is_mla", "total_num_kv_heads", "other_total_num_kv_heads")
    assert errors(data) == [("model-geometry-conflict", f"model.{key}") for key in keys]


@pytest.mark.parametrize(
    ("config", "stated", "message"),
    [
        (
            QWEN3_32B,
            {"total_num_kv_heads": 4},
            "model.total_num_kv_heads is 4, but config.json: num_key_value_heads says 8",
        ),
        (
            GEMMA_4_26B,
            {"other_total_num_kv_heads": 4},
            (
                "model.other_total_num_kv_heads is 4, but config.json: text_config.num_key_value_heads and "
                "text_config.num_global_key_value_heads says 2 and 8"
            ),
        ),
        (
            QWEN3_32B,
            {"is_mla": True},
            "model.is_mla is true, but config.json: kv_lora_rank says false (no latent's rank is given)",
        ),
    ],
)
def test_a_contradiction_names_both_sources_and_what_to_do(
    config: dict[str, Any], stated: dict[str, Any], message: str
) -> None:
    [finding] = check(document(config, **stated))
    [key] = stated
    assert (finding.code, finding.path, finding.message) == ("model-geometry-conflict", f"model.{key}", message)
    assert finding.hint == f"remove model.{key}, or name the config.json of this model"


@pytest.mark.parametrize("others", [{}, {"other_total_num_kv_heads": 4}, {"total_num_kv_heads": 3}])
@pytest.mark.parametrize(("size", "refused"), [(1, False), (3, True), (4, True), (12, True), (24, False)])
def test_of_more_than_two_kv_head_counts_each_is_judged(others: dict[str, int], size: int, refused: bool) -> None:
    found = check(document(THREE_COUNTS, size, size, **others))
    assert any("not-divisible" in finding.code for finding in found) is refused


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.integers(1, 12), min_size=1, max_size=4, unique=True), st.sampled_from([1, 2, 3, 4, 6, 8, 12]))
def test_a_config_is_accepted_if_and_only_if_each_pair_of_its_counts_is(counts: list[int], size: int) -> None:
    layers = {str(number): {"num_key_value_heads": count} for number, count in enumerate(counts)}
    config = {"num_attention_heads": 24, "num_hidden_layers": len(counts), "per_layer_config": layers}
    total = max(counts)
    pairs = [{"total_num_kv_heads": total, "other_total_num_kv_heads": count} for count in counts]
    roles = {role: {"tensor_parallel_size": size} for role in ("prefill", "decode")}
    expected = all(check({"model": {"num_attention_heads": 24, **pair}, **roles}) == [] for pair in pairs)
    assert (check(document(config, size, size)) == []) is expected


def test_what_the_config_does_not_tell_is_refused_with_the_keys_to_state() -> None:
    data = document(SPARSE)
    assert errors(data) == [("model-geometry-unknown", "model.hf_config")]
    [finding] = check(data)
    assert finding.message == (
        "config.json: text_config (model_type 'gemma3_text') gives no num_attention_heads, which at best is a default "
        "in the model's class; state model.num_attention_heads and model.total_num_kv_heads"
    )


def test_what_the_message_asks_for_is_enough() -> None:
    model = PDTopology.model_validate(document(SPARSE, 4, 4, num_attention_heads=8, total_num_kv_heads=4)).model
    assert geometry(model) == (8, 4, None, False, False, True)


def test_the_release_decides_which_types_are_mla() -> None:
    data = document({**DEEPSEEK_V3, "model_type": "hy_v4"})
    assert PDTopology.model_validate({**data, "engine": {"version": "0.30"}}).model.is_mla
    [finding] = check({**data, "engine": {"version": "0.28.1"}})
    assert finding.message.endswith("is of no type that vLLM 0.28 knows as MLA; state model.is_mla")


def test_a_version_of_sglang_is_no_release_of_vllm() -> None:
    data = {**document(DEEPSEEK_V3), "engine": {"name": "sglang", "version": "0.5.9"}, "connector": {"kind": "nixl"}}
    assert not [finding for finding in check(data) if finding.code.startswith("model-")]


def test_a_second_count_that_no_document_holds_is_refused() -> None:
    [finding] = check(document({**QWEN3_32B, "swa_num_key_value_heads": 128}))
    assert finding.message == (
        "config.json: swa_num_key_value_heads is a second number of KV heads above 64, which no document holds"
    )


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (None, "unreadable-file", "config.json cannot be read: No such file or directory"),
        ('{\n"secret": s3cr3t}', "syntax-error", "config.json:2:11 is not JSON: expecting value"),
        ("[1]", "syntax-error", "config.json:1 is not a JSON object"),
        ("{}".ljust(10 * 1024 * 1024 + 1), "input-too-large", "config.json is larger than 10 MiB"),
        ("[" * 100_000, "input-too-large", "config.json is nested too deeply"),
    ],
)
def test_a_file_that_is_no_config_is_one_finding_at_the_key(content: str | None, code: str, message: str) -> None:
    data = document({})
    Path("config.json").unlink()
    if content is not None:
        Path("config.json").write_text(content)
    assert errors(data) == [(code, "model.hf_config")]
    [finding] = check(data)
    assert (finding.code, finding.path, finding.message) == (code, "model.hf_config", message)
    assert "s3cr3t" not in render_text([finding])


@pytest.mark.parametrize("value", ["", 1, None, ["config.json"], "a\0b", "x" * 5000, "."])
def test_any_other_value_is_told_and_no_traceback(value: Any) -> None:
    model = {"hf_config": value}
    assert check({"model": model, "prefill": {}, "decode": {}})


def test_nothing_is_read_unless_it_is_named() -> None:
    Path("config.json").write_text("no config")
    assert check({"model": {"total_num_kv_heads": 8}, "prefill": {}, "decode": {}}) == []


YAML = """\
model:
  hf_config: ./model
prefill:
  tensor_parallel_size: 4
decode:
  tensor_parallel_size: {}
"""


@pytest.fixture
def file() -> Path:
    """A file in a folder, with its model's config beside it."""
    write(QWEN3_32B, "deploy/model/config.json")
    path = Path("deploy/pd.yaml")
    path.write_text(YAML.format(4))
    return path


def test_a_path_is_relative_to_the_file(file: Path) -> None:
    assert check(file) == []
    assert load_topology(file).model.total_num_kv_heads == 8


def test_a_loaded_topology_finds_its_config_from_any_folder(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topology = load_topology(file)
    monkeypatch.chdir("/")
    assert topology.replace(decode={"tensor_parallel_size": 2, "port": 8100}, prefill={"tensor_parallel_size": 2})


def test_a_path_in_a_text_is_relative_to_the_current_folder(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    assert check(YAML.format(4)) == []
    assert load_topology(YAML.format(4)).model.hf_config == "./model"


@pytest.mark.parametrize("overrides", [{"model.hf_config": "other.json"}, {"model": {"hf_config": "other.json"}}])
def test_a_path_put_over_the_file_is_relative_to_the_current_folder(file: Path, overrides: dict[str, Any]) -> None:
    write({**QWEN3_32B, "num_key_value_heads": 4}, "other.json")
    assert check(file, overrides=overrides) == []
    assert load_topology(file, overrides=overrides).model.total_num_kv_heads == 4


def test_the_command_puts_a_config_over_every_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = Path("other.yaml")
    other.write_text("model: {total_num_kv_heads: 8}\nprefill: {}\ndecode: {}\n")
    config = write({**QWEN3_32B, "num_key_value_heads": 4}, "config.json")
    assert main(["check", str(file), str(other), "--hf-config", config]) == 1
    output = capsys.readouterr().out
    assert "  other.yaml:1:29\n" in output
    assert "model.total_num_kv_heads is 8, but config.json: num_key_value_heads says 4" in output
    assert output.count("error[") == 1


def test_the_command_exits_with_2_for_a_config_that_cannot_be_read(file: Path) -> None:
    assert main(["check", str(file), "--hf-config", "missing"]) == 2


def test_a_variable_names_a_config_below_the_current_folder(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write({**QWEN3_32B, "num_key_value_heads": 4})
    assert PDTopologySettings(file).model.total_num_kv_heads == 8
    monkeypatch.setenv("PDTOPOLOGY_MODEL__HF_CONFIG", "config.json")
    assert PDTopologySettings(file).model.total_num_kv_heads == 4
    assert PDTopologySettings(file).replace(decode={"port": 8200}).model.total_num_kv_heads == 4


def test_a_loaded_topology_that_is_refused_tells_what_the_config_tells(file: Path) -> None:
    file.write_text(YAML.format(8))
    with pytest.raises(TopologyError, match="or both at least the 8 KV heads"):
        load_topology(file)


def finding_of(file: Path) -> Diagnostic:
    """The one finding where decode has 8 ranks."""
    file.write_text(YAML.format(8))
    [finding] = check(file)
    return finding


def test_a_finding_shows_a_derived_value_where_its_config_is_named(file: Path) -> None:
    assert render_text([finding_of(file)]).splitlines()[1:5] == [
        "  deploy/pd.yaml:6:25",
        "  2 |   hf_config: ./model",
        "    |              ------- model.total_num_kv_heads is 8, from deploy/model/config.json: num_key_value_heads",
        "  4 |   tensor_parallel_size: 4",
    ]


def test_a_finding_at_a_derived_value_names_the_origin_beside_its_place(file: Path) -> None:
    finding = replace(finding_of(file), origin="config.json: num_key_value_heads")
    assert render_text([finding]).splitlines()[1] == "  deploy/pd.yaml:6:25 (config.json: num_key_value_heads)"


def test_a_finding_in_json_names_the_origin_of_a_derived_value(file: Path) -> None:
    related = finding_of(file).to_json()["related"]
    assert related[1] == {
        "path": "model.total_num_kv_heads",
        "value": 8,
        "file": "deploy/pd.yaml",
        "line": 2,
        "column": 14,
        "origin": "deploy/model/config.json: num_key_value_heads",
    }
    assert "origin" not in related[0]


def test_a_finding_without_a_place_for_it_names_the_origin_too() -> None:
    [finding] = check(document(QWEN3_32B, 4, 8))
    assert (
        "  model.total_num_kv_heads is 8, from config.json: num_key_value_heads" in render_text([finding]).splitlines()
    )
