"""The geometry that a config.json tells, against what vLLM derives for every model type of transformers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdtopology.huggingface import MAX_CONFIG_BYTES, HuggingFaceGeometry, UnknownGeometryError, geometry_of, read_config
from pdtopology.model_types import (
    MLA_MODEL_TYPES,
    NUM_HEADS_MODEL_TYPES,
    OWN_KV_HEADS_MODEL_TYPES,
    WHOLE_HEADS_MODEL_TYPES,
)

with gzip.open(Path(__file__).parent / "huggingface" / "default_configs.jsonl.gz", "rt", encoding="utf-8") as stream:
    ROWS: list[dict[str, Any]] = [json.loads(line) for line in stream]

# Where vLLM's one number is not what the layers hold.
BETTER_READ = {
    "inkling_text": (64, (8, 16)),  # vLLM overlooks swa_num_key_value_heads, 16 on the sliding-window layers
    "inkling_mm_model": (64, (8, 16)),
    "nemotron": (48, (48,)),  # vLLM takes `num_key_value_heads: null` as the number
}
# Where vLLM has no number of heads, and the config does.
MORE_READ = {
    "bagel": (32, (32,)),  # vLLM copies llm_config to text_config only on loading a checkpoint
    "cohere_asr": (8, (8,)),  # vLLM wants the original's transf_decoder, transformers writes its own keys
    "pi0": (8, (1,)),  # transformers does not look into vlm_config
}
# What the config does not spell: the decoder's part is under a name of its own, or on a hub.
UNREAD = {"canary", "dia", "ultravox"}


def has_heads(row: dict[str, Any]) -> bool:
    heads = row["expected"].get("num_attention_heads")
    return isinstance(heads, int) and heads > 0


def outcome(config: dict[str, Any]) -> HuggingFaceGeometry | None:
    try:
        return geometry_of(config)
    except UnknownGeometryError:
        return None


@pytest.mark.parametrize("form", ["config", "full"])
def test_every_model_type_is_read_as_vllm_reads_it(form: str) -> None:
    wrong, unread = {}, set()
    rows = [row for row in ROWS if has_heads(row)]
    for row in rows:
        expected, geometry = row["expected"], outcome(row[form])
        if geometry is None:
            unread.add(row["name"])
        elif (geometry.num_attention_heads, geometry.is_mla) != (
            expected["num_attention_heads"],
            expected["is_mla"],
        ) or (not geometry.is_mla and max(geometry.kv_head_counts) != expected["total_num_kv_heads"]):
            wrong[row["name"]] = (geometry.num_attention_heads, geometry.kv_head_counts)
    assert wrong == BETTER_READ
    assert unread == UNREAD
    assert len(rows) == 725


@pytest.mark.parametrize("form", ["config", "full"])
def test_a_model_type_without_one_number_of_heads_is_refused(form: str) -> None:
    rows = [row for row in ROWS if not has_heads(row)]
    read = {row["name"]: geometry[:2] for row in rows if (geometry := outcome(row[form]))}
    assert read == MORE_READ
    assert len(rows) == 144


def test_both_forms_of_a_config_tell_the_same() -> None:
    assert [row["name"] for row in ROWS if outcome(row["config"]) != outcome(row["full"])] == []


def test_the_tables_are_those_of_transformers() -> None:
    types = {row["config"]["model_type"]: row for row in ROWS if row["source"] == "transformers"}
    assert {name for name, row in types.items() if row.get("own_kv_heads")} == OWN_KV_HEADS_MODEL_TYPES
    assert {name for name, row in types.items() if row.get("heads_key") == "num_heads"} == NUM_HEADS_MODEL_TYPES


def test_no_type_both_has_and_has_not_a_cache_of_latents() -> None:
    assert len(MLA_MODEL_TYPES) == 24
    assert not MLA_MODEL_TYPES & WHOLE_HEADS_MODEL_TYPES


QWEN3_32B = {"model_type": "qwen3", "num_attention_heads": 64, "num_key_value_heads": 8, "num_hidden_layers": 64}
DEEPSEEK_V3 = {
    "model_type": "deepseek_v3",
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "kv_lora_rank": 512,
}
GEMMA_4_26B = {
    "model_type": "gemma4",
    "text_config": {
        "model_type": "gemma4_text",
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "num_global_key_value_heads": 2,
        "attention_k_eq_v": True,
        "layer_types": ["sliding_attention", "full_attention"],
    },
    "vision_config": {"num_attention_heads": 12, "num_key_value_heads": 12},
}
NEMOTRON_NAS = {
    "model_type": "nemotron-nas",
    "num_attention_heads": 64,
    "num_key_value_heads": None,
    "block_configs": [
        {"attention": {"n_heads_in_group": None, "no_op": True}},
        {"attention": {"n_heads_in_group": 8, "no_op": False}},
        {"attention": {"n_heads_in_group": 16, "no_op": False}},
    ],
}


@pytest.mark.parametrize(
    ("config", "heads", "kv_heads"),
    [
        pytest.param(QWEN3_32B, 64, (8,), id="Qwen3-32B"),
        pytest.param(
            {"model_type": "llama", "num_attention_heads": 32, "num_key_value_heads": 8}, 32, (8,), id="Llama-3.1-8B"
        ),
        pytest.param({"model_type": "llama", "num_attention_heads": 32}, 32, (32,), id="llama before it had KV heads"),
        pytest.param(GEMMA_4_26B, 16, (2, 8), id="gemma-4-26B-A4B"),
        pytest.param(
            {
                "model_type": "falcon",
                "multi_query": True,
                "new_decoder_architecture": False,
                "num_attention_heads": 71,
                "num_kv_heads": 71,
            },
            71,
            (1,),
            id="falcon-7b",
        ),
        pytest.param(
            {
                "model_type": "falcon",
                "multi_query": True,
                "new_decoder_architecture": True,
                "num_attention_heads": 128,
                "num_kv_heads": 8,
            },
            128,
            (8,),
            id="falcon-40b",
        ),
        pytest.param(
            {"model_type": "dbrx", "n_heads": 48, "attn_config": {"kv_n_heads": 8}}, 48, (8,), id="dbrx-instruct"
        ),
        pytest.param({"model_type": "mpt", "n_heads": 32, "attn_config": {"kv_n_heads": 4}}, 32, (4,), id="mpt"),
        pytest.param(NEMOTRON_NAS, 64, (4, 8), id="nemotron-nas"),
        pytest.param({"model_type": "gpt2", "n_head": 12}, 12, (12,), id="gpt2"),
        pytest.param({"model_type": "t5", "num_heads": 8}, 8, (8,), id="t5"),
        pytest.param({"encoder_attention_heads": 20, "decoder_attention_heads": 20}, 20, (20,), id="whisper"),
        pytest.param(
            {"model_type": "chatglm", "num_attention_heads": 32, "multi_query_group_num": 2}, 32, (2,), id="chatglm3-6b"
        ),
        pytest.param(
            {"model_type": "mimo_v2_flash", **dict(QWEN3_32B, num_key_value_heads=4), "swa_num_key_value_heads": 8},
            64,
            (4, 8),
            id="MiMo-V2-Flash",
        ),
        pytest.param(
            {
                "num_attention_heads": 64,
                "num_attention_groups": 8,
                "attention_other_setting": {"num_attention_heads": 96, "num_attention_groups": 4},
            },
            64,
            (4, 8),
            id="step3p5",
        ),
        pytest.param(
            {"model_type": "cohere_asr", "transf_decoder": {"config_dict": {"num_attention_heads": 8}}},
            8,
            (8,),
            id="cohere_asr",
        ),
        pytest.param({"model_type": "moss_audio", "language_config": QWEN3_32B}, 64, (8,), id="moss_audio"),
        pytest.param({"thinker_config": {"text_config": QWEN3_32B}, "talker_config": {}}, 64, (8,), id="omni"),
        pytest.param({"num_attention_heads": 48, "num_key_value_heads": None}, 48, (48,), id="null KV heads"),
        pytest.param({"text_config": None, **QWEN3_32B}, 64, (8,), id="null text_config"),
        pytest.param({"num_attention_heads": 8, "n_head": 4}, 8, (8,), id="an old name beside the new one"),
        pytest.param(
            {
                "num_attention_heads": 8,
                "num_key_value_heads": 4,
                "per_layer_config": {"05": {"num_key_value_heads": 2}},
            },
            8,
            (2, 4),
            id="one layer of its own",
        ),
        pytest.param(
            {
                "num_attention_heads": 8,
                "num_key_value_heads": 4,
                "num_hidden_layers": 2,
                "per_layer_config": {"0": {"num_key_value_heads": 2}, "1": {"num_key_value_heads": 2}},
            },
            8,
            (2,),
            id="every layer of its own",
        ),
    ],
)
def test_heads_of(config: dict[str, Any], heads: int, kv_heads: tuple[int, ...]) -> None:
    geometry = geometry_of(config)
    assert (geometry.num_attention_heads, geometry.kv_head_counts, geometry.is_mla) == (heads, kv_heads, False)


@pytest.mark.parametrize(
    ("change", "kv_heads"),
    [
        ({"attention_k_eq_v": False}, (8,)),
        ({"attention_k_eq_v": None}, (8,)),
        ({"attention_k_eq_v": None, "model_type": "diffusion_gemma_text"}, (2, 8)),
        ({"num_global_key_value_heads": None}, (8,)),
    ],
)
def test_the_global_kv_heads_of_gemma_count_only_where_they_are_used(
    change: dict[str, Any], kv_heads: tuple[int, ...]
) -> None:
    text = {**GEMMA_4_26B["text_config"], **change}  # type: ignore[dict-item]
    assert geometry_of({"text_config": text}).kv_head_counts == kv_heads


@pytest.mark.parametrize(
    "config",
    [
        DEEPSEEK_V3,
        {"model_type": "kimi_k25", "text_config": DEEPSEEK_V3},
        {"model_type": "deepseek_v4", "num_attention_heads": 128, "compress_ratios": [4, 128], "head_dim": 512},
    ],
    ids=["DeepSeek-V3", "Kimi-K2.5", "DeepSeek-V4"],
)
def test_mla_has_no_kv_heads(config: dict[str, Any]) -> None:
    geometry = geometry_of(config)
    assert (geometry.num_attention_heads, geometry.kv_head_counts, geometry.is_mla) == (128, (), True)


@pytest.mark.parametrize(
    "config",
    [
        {**DEEPSEEK_V3, "model_type": "minicpm3"},
        {**DEEPSEEK_V3, "kv_lora_rank": None},
        {"model_type": "deepseek_vl_v2", "language_config": {**DEEPSEEK_V3, "kv_lora_rank": None}},
    ],
)
def test_a_latent_that_vllm_does_not_cache_leaves_the_kv_heads(config: dict[str, Any]) -> None:
    geometry = geometry_of(config)
    assert (geometry.kv_head_counts, geometry.is_mla) == ((128,), False)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        pytest.param(
            {"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 2560}},
            "text_config (model_type 'gemma3_text') gives no num_attention_heads, which at best is a default in the "
            "model's class; state model.num_attention_heads and model.total_num_kv_heads",
            id="gemma-3-4b-it",
        ),
        pytest.param(
            {"num_attention_heads": 32, "text_config": {"model_type": "mistral", "num_key_value_heads": 8}},
            "text_config (model_type 'mistral') gives no num_attention_heads",
            id="llava-v1.6-mistral-7b",
        ),
        pytest.param(
            {"text_config": {"model_type": "mistral", "num_attention_heads": 16}},
            "text_config (model_type 'mistral') gives no num_key_value_heads, for which its class has a default; "
            "state model.total_num_kv_heads",
            id="default KV heads",
        ),
        pytest.param(
            {"text_config": {"model_type": "deepseek_v3", "num_attention_heads": 128}},
            "text_config (model_type 'deepseek_v3') can be MLA but gives no kv_lora_rank; state model.is_mla",
            id="default rank",
        ),
        pytest.param(
            {**DEEPSEEK_V3, "model_type": "deepseek_ref"},
            "config.json (model_type 'deepseek_ref') has a latent but is of no type that vLLM 0.33 knows as MLA; "
            "state model.is_mla",
            id="unknown MLA type",
        ),
        pytest.param(
            {"model_type": "eagle", "num_attention_heads": 128, "kv_lora_rank": 512, "model": DEEPSEEK_V3},
            "state model.is_mla",
            id="eagle",
        ),
        pytest.param(
            {"model_type": "falcon", "num_attention_heads": 71, "num_kv_heads": 71},
            "config.json (model_type 'falcon') does not say whether it is multi_query; state model.total_num_kv_heads",
            id="default multi_query",
        ),
        pytest.param(
            {"model_type": "mamba", "num_attention_heads": 8},
            "config.json (model_type 'mamba') is of a type without attention",
            id="mamba",
        ),
        pytest.param({"model_type": "mamba2", "num_heads": 128}, "is of a type without attention", id="mamba2"),
        pytest.param({"model_type": "gla", "num_heads": 4}, "gives no num_attention_heads", id="unknown num_heads"),
        pytest.param(
            {"model_type": "some_remote_code", "heads": 8}, "gives no num_attention_heads", id="unknown remote name"
        ),
        pytest.param({}, "config.json gives no num_attention_heads", id="nothing"),
        pytest.param(
            {"num_attention_heads": [4, 8, 16, 32]},
            "num_attention_heads is not one positive integer; state model.num_attention_heads",
            id="list",
        ),
        pytest.param(
            {"num_attention_heads": 12, "num_kv_heads": [3, 4]},
            "num_kv_heads is not one positive integer; state model.total_num_kv_heads",
            id="list of KV heads",
        ),
        pytest.param(
            {"decoder": QWEN3_32B, "text_encoder": {"model_type": "t5", "num_heads": 8}},
            "config.json holds several models, text_encoder and decoder; state model.num_attention_heads",
            id="musicgen",
        ),
        pytest.param(
            {"encoder_attention_heads": 16, "decoder_attention_heads": 8},
            "config.json gives several numbers of attention heads; state model.num_attention_heads",
            id="encoder and decoder disagree",
        ),
        pytest.param(
            {"num_attention_heads": 8, "per_layer_config": {"3": {"num_attention_heads": 4}}},
            "config.json gives several numbers of attention heads; state model.num_attention_heads",
            id="layers disagree",
        ),
        pytest.param(
            {**NEMOTRON_NAS, "num_attention_heads": 60},
            "block_configs.*.attention.n_heads_in_group does not divide the attention heads; "
            "state model.total_num_kv_heads",
            id="uneven groups",
        ),
        pytest.param({"text_config": "gemma", **QWEN3_32B}, "text_config gives no num_attention_heads", id="text"),
        pytest.param({"num_attention_heads": 8, "multi_query": "yes"}, "multi_query is neither true", id="no flag"),
    ],
)
def test_what_only_the_class_could_tell_is_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownGeometryError) as caught:
        geometry_of(config)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "value", [0, -8, True, False, 8.0, "8", [8], {"heads": 8}, pytest.param(-(10**5000), id="long")]
)
@pytest.mark.parametrize("name", ["num_attention_heads", "num_key_value_heads", "swa_num_key_value_heads"])
def test_a_count_is_a_positive_integer(name: str, value: object) -> None:
    with pytest.raises(UnknownGeometryError, match=f"^{name} is not one positive integer"):
        geometry_of({**QWEN3_32B, name: value})


def test_endless_nesting_is_refused_in_a_few_words() -> None:
    config: dict[str, Any] = {}
    for _ in range(10_000):
        config = {"text_config": config}
    with pytest.raises(UnknownGeometryError, match=r"^(text_config\.){3}text_config gives no num_attention_heads"):
        geometry_of(config)


def test_the_sources_name_the_keys_that_decided() -> None:
    assert geometry_of(GEMMA_4_26B).sources == {
        "num_attention_heads": "text_config.num_attention_heads",
        "kv_head_counts": "text_config.num_key_value_heads, text_config.num_global_key_value_heads",
        "is_mla": "text_config.kv_lora_rank",
        "has_sliding_window": "text_config.layer_types",
        "is_hybrid": "text_config.layer_types",
    }
    assert geometry_of({"n_head": 12}).sources["kv_head_counts"] == "n_head"
    assert geometry_of(DEEPSEEK_V3).sources["kv_head_counts"] == "kv_lora_rank"


@pytest.mark.parametrize(
    ("keys", "has_sliding_window"),
    [
        ({}, False),
        ({"sliding_window": 4096}, True),
        ({"sliding_window": 4096, "use_sliding_window": True}, True),
        ({"sliding_window": 4096, "use_sliding_window": False}, False),
        ({"sliding_window": None}, False),
        ({"sliding_window": 4096, "layer_types": ["full_attention"]}, False),
        ({"sliding_window": 4096, "layer_types": ["full_attention", "sliding_attention"]}, True),
        ({"layer_types": [["sliding_attention"], 1]}, False),
    ],
)
def test_a_sliding_window_is_one_that_some_layer_uses(keys: dict[str, Any], has_sliding_window: bool) -> None:
    assert geometry_of({**QWEN3_32B, **keys}).has_sliding_window is has_sliding_window


@pytest.mark.parametrize(
    ("keys", "is_hybrid"),
    [
        pytest.param({}, False, id="plain"),
        pytest.param({"layer_types": ["linear_attention", "full_attention"]}, True, id="Qwen3-Next"),
        pytest.param({"layers_block_type": ["mamba", "attention"]}, True, id="granite-4"),
        pytest.param({"layer_types": ["attention"], "mamba_d_state": 128}, False, id="granite-4 of attention alone"),
        pytest.param({"block_types": ["recurrent", "attention"]}, True, id="recurrentgemma"),
        pytest.param({"layer_types": ["conv", "full_attention"]}, True, id="LFM2"),
        pytest.param({"hybrid_override_pattern": "M-M*-"}, True, id="Nemotron-H"),
        pytest.param({"hybrid_override_pattern": "*-*-"}, False, id="no M"),
        pytest.param({"attn_type_list": [0, 0, 1]}, True, id="MiniMax-Text-01"),
        pytest.param({"attn_type_list": [1, 1]}, False, id="MiniMax-M2"),
        pytest.param({"linear_attn_config": {"kda_layers": [1]}}, True, id="Kimi-Linear"),
        pytest.param({"mamba_d_state": 256}, True, id="Falcon-H1"),
        pytest.param({"layer_types": [], "mamba_d_state": None}, False, id="nothing said"),
    ],
)
def test_a_hybrid_keeps_a_recurrent_state_in_some_layers(keys: dict[str, Any], is_hybrid: bool) -> None:
    assert geometry_of({**QWEN3_32B, **keys}).is_hybrid is is_hybrid


NAMES = st.sampled_from(
    """
    model_type text_config text_encoder decoder language_config config_dict num_attention_heads n_head num_heads
    encoder_attention_heads decoder_attention_heads num_key_value_heads n_head_kv multi_query new_decoder_architecture
    attn_config kv_n_heads block_configs attention n_heads_in_group no_op per_layer_config num_hidden_layers
    swa_num_key_value_heads attention_other_setting num_attention_groups num_global_key_value_heads attention_k_eq_v
    kv_lora_rank compress_ratios compress_rates head_dim layer_types layers_block_type sliding_window
    use_sliding_window hybrid_override_pattern attn_type_list mamba_d_state
    """.split()  # noqa: SIM905
)
TYPES = st.sampled_from(["falcon", "gemma4_text", "t5", "mamba", "mistral", "deepseek_v3", "deepseek_v4", "minicpm3"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | TYPES | st.integers(1, 8)
KEYS = NAMES | st.text(max_size=3)
VALUES = st.recursive(
    SCALARS, lambda values: st.lists(values, max_size=3) | st.dictionaries(KEYS, values, max_size=4), max_leaves=8
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=6)


def assert_positive(geometry: HuggingFaceGeometry) -> None:
    counts = geometry.kv_head_counts
    assert all(count > 0 for count in (geometry.num_attention_heads, *counts))
    assert sorted(set(counts)) == list(counts)
    assert bool(counts) is not geometry.is_mla
    assert all(geometry.sources[name] for name in geometry._fields if name != "sources")


@given(OBJECTS)
def test_any_object_is_read_or_refused(config: dict[str, Any]) -> None:
    if geometry := outcome(config):
        assert_positive(geometry)


@given(st.sampled_from([QWEN3_32B, DEEPSEEK_V3, NEMOTRON_NAS, GEMMA_4_26B["text_config"]]), OBJECTS)
def test_any_change_of_a_config_is_read_or_refused(config: dict[str, Any], change: dict[str, Any]) -> None:
    if geometry := outcome({**config, **change}):
        assert_positive(geometry)


def test_a_config_is_read_from_its_file_or_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(QWEN3_32B), encoding="utf-8")
    assert read_config(file) == read_config(str(tmp_path)) == QWEN3_32B


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(b"{", "is not JSON: Expecting", id="cut off"),
        pytest.param(b"", "is not JSON: Expecting value", id="empty"),
        pytest.param(b"\xff\xfe\xfd", "is not JSON: ", id="not text"),
        pytest.param(b'{"a": ' + b"1" * 5000 + b"}", "is not JSON: ", id="number of 5000 digits"),
        pytest.param(b"[]", "is not a JSON object", id="list"),
        pytest.param(b"[" * 100_000, "is nested too deeply", id="deep"),
        pytest.param(b"{}".ljust(MAX_CONFIG_BYTES + 1), "is larger than 10,485,760 bytes", id="large"),
    ],
)
def test_a_file_that_is_no_config_is_refused_with_its_name(tmp_path: Path, text: bytes, message: str) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(text)
    with pytest.raises(ValueError, match=message) as caught:
        read_config(tmp_path)
    assert str(caught.value).startswith(str(file))


def test_a_config_of_the_largest_size_is_read(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(b"{}".ljust(MAX_CONFIG_BYTES))
    assert read_config(file) == {}


def test_a_missing_config_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_config(tmp_path)
