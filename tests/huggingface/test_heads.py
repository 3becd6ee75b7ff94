"""The heads that a config.json gives, in the shapes of published ones."""

from __future__ import annotations

from typing import Any

import pytest

from pdtopology.huggingface import UnknownGeometryError, geometry_of
from tests.huggingface.configs import DEEPSEEK_V3, GEMMA_4_26B, NEMOTRON_NAS, QWEN3_32B


def told(config: dict[str, Any]) -> tuple[int, tuple[int, ...], bool]:
    """The attention heads, the KV heads with vLLM's number first, and whether it is MLA."""
    geometry = geometry_of(config)
    return (
        geometry.num_attention_heads.value,
        tuple(derived.value for derived in geometry.kv_heads),
        bool(geometry.is_mla.value),
    )


@pytest.mark.parametrize(
    ("config", "heads", "kv_heads"),
    [
        pytest.param(QWEN3_32B, 64, (8,), id="Qwen3-32B"),
        pytest.param(
            {"model_type": "llama", "num_attention_heads": 32, "num_key_value_heads": 8}, 32, (8,), id="Llama-3.1-8B"
        ),
        pytest.param({"model_type": "llama", "num_attention_heads": 32}, 32, (32,), id="llama before it had KV heads"),
        pytest.param(GEMMA_4_26B, 16, (8, 2), id="gemma-4-26B-A4B"),
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
        pytest.param(NEMOTRON_NAS, 64, (8, 4), id="nemotron-nas"),
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
            (8, 4),
            id="step3p5",
        ),
        pytest.param(
            {**QWEN3_32B, "num_key_value_heads_per_layer": [8, 4, 4, 2]}, 64, (8, 4, 2), id="a list of the layers"
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
            (4, 2),
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
    assert told(config) == (heads, kv_heads, False)


@pytest.mark.parametrize(
    ("change", "kv_heads"),
    [
        ({"attention_k_eq_v": False}, (8,)),
        ({"attention_k_eq_v": None}, (8,)),
        ({"attention_k_eq_v": None, "model_type": "diffusion_gemma_text"}, (8, 2)),
        ({"num_global_key_value_heads": 16}, (16, 8)),
        ({"num_global_key_value_heads": None}, (8,)),
    ],
)
def test_the_global_kv_heads_of_gemma_count_only_where_they_are_used(
    change: dict[str, Any], kv_heads: tuple[int, ...]
) -> None:
    text = {**GEMMA_4_26B["text_config"], **change}
    assert told({"text_config": text})[1] == kv_heads


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
    assert told(config) == (128, (), True)


@pytest.mark.parametrize(
    "config",
    [
        {**DEEPSEEK_V3, "model_type": "minicpm3"},
        {**DEEPSEEK_V3, "kv_lora_rank": None},
        {"model_type": "deepseek_vl_v2", "language_config": {**DEEPSEEK_V3, "kv_lora_rank": None}},
    ],
)
def test_a_latent_that_vllm_does_not_cache_leaves_the_kv_heads(config: dict[str, Any]) -> None:
    assert told(config)[1:] == ((128,), False)


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
            "text_config (model_type 'mistral') gives no num_key_value_heads, for which its class may have a default; "
            "state model.total_num_kv_heads",
            id="default KV heads",
        ),
        pytest.param(
            {"model_type": "gemma4", "text_config": {"num_attention_heads": 16}},
            "text_config gives no num_key_value_heads, for which its class may have a default",
            id="a part without a type",
        ),
        pytest.param(
            {"num_attention_heads": 32, "num_key_value_heads_per_layer": [4, 2]},
            "the model gives num_key_value_heads_per_layer, which vLLM does not read",
            id="DeciLM-7B",
        ),
        pytest.param(
            {"text_config": {"model_type": "deepseek_v3", "num_attention_heads": 128}},
            "text_config (model_type 'deepseek_v3') can be MLA but gives no kv_lora_rank; state model.is_mla",
            id="default rank",
        ),
        pytest.param(
            {**DEEPSEEK_V3, "model_type": "deepseek_ref"},
            "the model (model_type 'deepseek_ref') has a latent but is of no type that vLLM 0.33 knows as MLA; "
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
            "the model (model_type 'falcon') does not say whether it is multi_query; state model.total_num_kv_heads",
            id="default multi_query",
        ),
        pytest.param(
            {"model_type": "mamba", "num_attention_heads": 8},
            "the model (model_type 'mamba') is of a type without attention",
            id="mamba",
        ),
        pytest.param({"model_type": "mamba2", "num_heads": 128}, "is of a type without attention", id="mamba2"),
        pytest.param({"model_type": "gla", "num_heads": 4}, "gives no num_attention_heads", id="unknown num_heads"),
        pytest.param(
            {"model_type": "some_remote_code", "heads": 8}, "gives no num_attention_heads", id="unknown remote name"
        ),
        pytest.param({}, "the model gives no num_attention_heads", id="nothing"),
        pytest.param(
            {"num_attention_heads": [4, 8, 16, 32]},
            "num_attention_heads is not one integer from 1 to 1024; state model.num_attention_heads",
            id="list",
        ),
        pytest.param(
            {"num_attention_heads": 12, "num_kv_heads": [3, 4]},
            "num_kv_heads is not one integer from 1 to 1024; state model.total_num_kv_heads",
            id="list of KV heads",
        ),
        pytest.param(
            {"decoder": QWEN3_32B, "text_encoder": {"model_type": "t5", "num_heads": 8}},
            "the model holds several, text_encoder and decoder; state model.num_attention_heads",
            id="musicgen",
        ),
        pytest.param(
            {"encoder_attention_heads": 16, "decoder_attention_heads": 8},
            "the model gives several numbers of attention heads; state model.num_attention_heads",
            id="encoder and decoder disagree",
        ),
        pytest.param(
            {"num_attention_heads": 8, "per_layer_config": {"3": {"num_attention_heads": 4}}},
            "the model gives several numbers of attention heads; state model.num_attention_heads",
            id="layers disagree",
        ),
        pytest.param(
            {**NEMOTRON_NAS, "num_attention_heads": 60},
            "block_configs.*.attention.n_heads_in_group does not divide the attention heads; "
            "state model.total_num_kv_heads",
            id="uneven groups",
        ),
        pytest.param(
            {"n_heads": 32, "n_kv_heads": 8},
            "the model gives n_kv_heads, which vLLM does not read, and no num_key_value_heads; "
            "state model.total_num_kv_heads",
            id="KV heads by another name",
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
    "value", [0, -8, 1025, True, False, 8.0, "8", [8], {"heads": 8}, pytest.param(-(10**5000), id="long")]
)
@pytest.mark.parametrize("name", ["num_attention_heads", "num_key_value_heads", "swa_num_key_value_heads"])
def test_a_count_is_an_integer_that_a_model_can_have(name: str, value: object) -> None:
    with pytest.raises(UnknownGeometryError, match=f"^{name} is not one integer from 1 to 1024"):
        geometry_of({**QWEN3_32B, name: value})


def test_endless_nesting_is_refused_in_a_few_words() -> None:
    config: dict[str, Any] = {}
    for _ in range(10_000):
        config = {"text_config": config}
    with pytest.raises(UnknownGeometryError, match=r"^(text_config\.){3}text_config gives no num_attention_heads"):
        geometry_of(config)
