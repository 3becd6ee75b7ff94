"""What `show` prints: the same topology with everything stated, in either format, and where its model comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pdtopology import RULES, PDTopology, check, load_topology
from pdtopology.cli import main
from pdtopology.connectors.kinds import CONNECTORS
from pdtopology.deployment import Deployment
from pdtopology.hf_config import complete
from pdtopology.rule import Severity
from pdtopology.show import as_json, as_yaml, filled
from tests.huggingface.configs import DEEPSEEK_V3, GEMMA_4_26B

GOOD = {"model": {"is_mla": True}, "prefill": {"tensor_parallel_size": 8}, "decode": {}}
EVERY_WRITER = pytest.mark.parametrize("write", [as_yaml, as_json], ids=["yaml", "json"])


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)


def topology_of(**sections: Any) -> PDTopology:
    """A topology of 8 KV heads."""
    return PDTopology.model_validate({"model": {"is_mla": True}, "prefill": {}, "decode": {}, **sections})


def test_every_key_of_every_section_is_stated() -> None:
    document = filled(topology_of())
    assert list(document) == ["engine", "model", "connector", "prefill", "decode"]
    assert list(document["prefill"]) == list(Deployment.model_fields["prefill"].annotation.model_fields)  # type: ignore[union-attr]
    assert (document["decode"]["tensor_parallel_size"], document["decode"]["port"]) == (1, None)


@pytest.mark.parametrize("kind", CONNECTORS)
def test_every_connector_is_shown_with_its_defaults(kind: str) -> None:
    topology = topology_of(connector={"kind": kind})
    assert set(filled(topology)["connector"]) == set(CONNECTORS[kind].model_fields)
    assert PDTopology.model_validate(filled(topology)) == topology


VALID = [rule for rule in RULES if rule.severity is not Severity.ERROR]


@pytest.mark.parametrize("rule", VALID, ids=[rule.code for rule in VALID])
def test_what_is_shown_is_judged_as_what_was_stated(rule: Any) -> None:
    document = filled(PDTopology.model_validate(rule.bad))
    assert [finding.code for finding in check(document)] == [rule.code]


@pytest.mark.parametrize(
    ("kind", "field", "variable"),
    [
        ("nixl", "side_channel_port", "VLLM_NIXL_SIDE_CHANNEL_PORT"),
        ("mooncake", "bootstrap_port", "VLLM_MOONCAKE_BOOTSTRAP_PORT"),
    ],
)
def test_a_default_that_a_variable_takes_the_place_of_is_not_stated(kind: str, field: str, variable: str) -> None:
    topology = topology_of(connector={"kind": kind}, prefill={"env": {variable: "7000"}})
    assert field not in filled(topology)["connector"]["prefill"]
    stated = topology.replace(connector={"prefill": {field: 7000}})
    assert filled(stated)["connector"]["prefill"][field] == 7000


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8) | st.sampled_from(
    [
        "yes",
        "null",
        "~",
        "1e3",
        "0o17",
        "010",
        "0x1F",
        "1_000",
        ".inf",
        "<<",
        "a: b",
        "- a",
        "#",
        "a\u2028b",
        "\U0001f600",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(TEXT, values, max_size=3),
    max_leaves=6,
)
ROLES = st.fixed_dictionaries(
    {},
    optional={
        "tensor_parallel_size": st.sampled_from([1, 8, 16]),
        "host": TEXT,
        "port": st.integers(1, 65535),
        "env": st.dictionaries(TEXT, TEXT, max_size=3),
        "engine_args": st.dictionaries(TEXT, VALUES, max_size=3),
    },
)
DOCUMENTS = st.fixed_dictionaries(
    {
        "model": st.fixed_dictionaries({"is_mla": st.just(True)}, optional={"name": TEXT}),
        "prefill": ROLES,
        "decode": ROLES,
    },
    optional={
        "connector": st.fixed_dictionaries({"kind": st.sampled_from(list(CONNECTORS))}),
        "engine": st.fixed_dictionaries({"version": st.sampled_from(["0.30", "0.33.1"])}),
    },
)


@EVERY_WRITER
@settings(suppress_health_check=list(HealthCheck), deadline=None)
@given(document=DOCUMENTS)
def test_what_is_shown_is_valid_and_shown_again_alike(write: Any, document: dict[str, Any]) -> None:
    assume(all(finding.severity is not Severity.ERROR for finding in check(document)))
    topology = PDTopology.model_validate(document)
    text = write(topology)
    assert load_topology(text) == topology
    assert write(load_topology(text)) == text


def test_a_long_key_is_read_again() -> None:
    topology = topology_of(prefill={"engine_args": {"a" * 2000: "b" * 20_000}})
    assert load_topology(as_yaml(topology)) == topology


@pytest.mark.parametrize("value", [float("inf"), float("-inf")])
def test_an_infinite_number_is_yaml_but_no_json(value: float) -> None:
    topology = topology_of(prefill={"engine_args": {"a": value}})
    assert load_topology(as_yaml(topology)) == topology
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json(topology)


def test_half_of_a_surrogate_pair_is_json_but_no_yaml() -> None:
    topology = topology_of(prefill={"engine_args": {"a": "\ud800"}})
    assert load_topology(as_json(topology)) == topology
    with pytest.raises(ValueError, match="surrogates not allowed"):
        as_yaml(topology)


def test_a_date_of_toml_is_shown_as_text() -> None:
    Path("pd.toml").write_text("model.is_mla = true\nprefill.engine_args.a = 1979-05-27\n[decode]\n")
    assert filled(load_topology("pd.toml"))["prefill"]["engine_args"] == {"a": "1979-05-27"}


def write_file(config: Any, model: str = "hf_config: config.json") -> None:
    """A file of a model whose config stands beside it."""
    Path("config.json").write_text(json.dumps(config))
    Path("pd.yaml").write_text(f"model: {{{model}}}\nprefill: {{}}\ndecode: {{}}\n")


def model_lines(text: str) -> list[str]:
    """The lines of the model section."""
    lines = text.splitlines()
    return lines[lines.index("model:") + 1 : lines.index("connector:")]


def test_yaml_says_beside_each_derived_value_what_it_came_from(capsys: pytest.CaptureFixture[str]) -> None:
    write_file(GEMMA_4_26B)
    assert main(["show", "pd.yaml", "--model"]) == 0
    assert model_lines(capsys.readouterr().out) == [
        "  name: null",
        "  hf_config: config.json",
        "  num_attention_heads: 16          # text_config.num_attention_heads: the name that vLLM reads",
        "  total_num_kv_heads: 8            # text_config.num_key_value_heads: the first of the names that vLLM reads",
        "  other_total_num_kv_heads: 2      # text_config.num_global_key_value_heads: that of full-attention layers",
        "  is_mla: false                    # text_config.kv_lora_rank: no latent's rank is given",
        "  has_mamba_layers: false          # text_config.layer_types: no layer keeps a state",
        "  has_sliding_window_layers: true  # text_config.layer_types: some layer has a window",
    ]


def test_json_has_what_was_derived_as_a_member_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    write_file(DEEPSEEK_V3)
    assert main(["show", "pd.yaml", "--model", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["model"]["is_mla"], shown["model"]["total_num_kv_heads"]) == (True, None)
    assert shown["derived"]["file"] == "config.json"
    assert shown["derived"]["values"][1] == {
        "path": "model.is_mla",
        "value": True,
        "key": "kv_lora_rank",
        "rule": "vLLM 0.33 keeps one latent for deepseek_v3",
    }


def test_what_the_config_does_not_tell_is_said_to_be_stated_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    write_file({"model_type": "mamba"}, "hf_config: config.json, num_attention_heads: 8, total_num_kv_heads: 4")
    assert main(["show", "pd.yaml", "--model"]) == 0
    lines = model_lines(capsys.readouterr().out)
    assert lines[2:4] == [
        "  num_attention_heads: 8           # stated by hand",
        "  total_num_kv_heads: 4            # stated by hand",
    ]


def test_a_stated_kind_of_layer_is_not_said_to_be_derived() -> None:
    write_file(GEMMA_4_26B, "hf_config: config.json, has_sliding_window_layers: false")
    topology = load_topology("pd.yaml")
    assert "  has_sliding_window_layers: false\n" in as_yaml(topology, complete(topology))


def test_of_three_counts_the_third_is_told_beside_the_second() -> None:
    blocks = [{"attention": {"n_heads_in_group": group}} for group in (3, 6, 8)]
    write_file({"num_attention_heads": 24, "block_configs": blocks})
    topology = load_topology("pd.yaml")
    [line] = [line for line in as_yaml(topology, complete(topology)).splitlines() if "other_total" in line]
    rule = "block_configs.*.attention.n_heads_in_group: the attention heads over those that share one"
    assert line == f"  other_total_num_kv_heads: 4      # {rule}; 3 too, {rule}"


@pytest.mark.parametrize("config", [GEMMA_4_26B, DEEPSEEK_V3, {"num_attention_heads": 8}])
def test_comments_change_no_value(config: dict[str, Any]) -> None:
    write_file(config, "hf_config: config.json, name: 'a # b'")
    topology = load_topology("pd.yaml")
    assert load_topology(as_yaml(topology, complete(topology))) == topology


@pytest.mark.parametrize("arguments", [[], ["--model"], ["--format", "json"]])
def test_the_key_of_the_config_is_kept_and_the_output_is_a_file_again(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    write_file(GEMMA_4_26B)
    outputs = []
    for name in ("pd.yaml", "again.yaml"):
        assert main(["show", name, *arguments]) == 0
        outputs.append(capsys.readouterr().out)
        Path("again.yaml").write_text(outputs[-1])
    assert outputs[0] == outputs[1]
    assert load_topology("again.yaml").model.hf_config == "config.json"
    assert check("again.yaml") == []


def test_a_file_of_another_folder_is_shown_with_a_path_that_is_found_from_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_file(GEMMA_4_26B)
    monkeypatch.chdir("/")
    topology = load_topology(tmp_path / "pd.yaml")
    assert filled(topology)["model"]["hf_config"] == str(tmp_path / "config.json")


def test_without_a_config_there_is_nothing_derived(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pd.json").write_text(json.dumps(GOOD))
    outputs = []
    for arguments in ([], ["--model"]):
        main(["show", "pd.json", *arguments])
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] == as_yaml(PDTopology.model_validate(GOOD))


def test_a_file_that_is_refused_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pd.yaml").write_text("model: {is_mla: true}\nprefill: {port: 0}\ndecode: {}\n")
    assert main(["show", "pd.yaml"]) == 1
    output, error = capsys.readouterr()
    assert output == ""
    assert error.startswith("error[greater_than]: prefill.port is 0, but must be greater than 0\n  pd.yaml:2:17\n")


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_a_file_that_cannot_be_read_is_told(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", name]) == 2
    assert "unreadable-file" in capsys.readouterr().err


def test_a_number_that_json_has_not_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pd.yaml").write_text("model: {is_mla: true}\nprefill: {engine_args: {a: .inf}}\ndecode: {}\n")
    assert main(["show", "pd.yaml", "--format", "json"]) == 2
    assert capsys.readouterr().err.startswith("pdtopology: no json holds this topology: Out of range float values")
