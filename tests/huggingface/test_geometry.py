"""The whole geometry: what is taken by hand, what is traced to its key, and that any input has an outcome."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdtopology.huggingface import Derived, HuggingFaceGeometry, UnknownGeometryError, geometry_of
from tests.huggingface.configs import DEEPSEEK_V3, GEMMA_4_26B, NEMOTRON_NAS, QWEN3_32B, SPARSE


def test_each_value_names_the_key_that_decided_and_how() -> None:
    geometry = geometry_of(GEMMA_4_26B)
    assert geometry.num_attention_heads == Derived(16, "text_config.num_attention_heads", "the name that vLLM reads")
    assert geometry.kv_heads == (
        Derived(8, "text_config.num_key_value_heads", "the first of the names that vLLM reads"),
        Derived(2, "text_config.num_global_key_value_heads", "that of full-attention layers"),
    )
    assert geometry.is_mla == Derived(False, "text_config.kv_lora_rank", "no latent's rank is given")
    assert geometry.has_sliding_window_layers == Derived(True, "text_config.layer_types", "some layer has a window")


def test_an_mla_type_is_one_by_the_list_of_a_release() -> None:
    assert geometry_of(DEEPSEEK_V3).is_mla == Derived(
        True, "kv_lora_rank", "vLLM 0.33 keeps one latent for deepseek_v3"
    )


def test_a_release_before_a_type_was_listed_does_not_know_it_as_mla() -> None:
    config = {**DEEPSEEK_V3, "model_type": "glm5_next_text"}
    assert geometry_of(config, release=(0, 30)).is_mla.value
    with pytest.raises(UnknownGeometryError, match=r"of no type that vLLM 0\.28 knows as MLA"):
        geometry_of(config, release=(0, 29))


MUSICGEN = {"decoder": QWEN3_32B, "text_encoder": {"model_type": "t5", "num_heads": 8}}


@pytest.mark.parametrize("config", [SPARSE, MUSICGEN, {"model_type": "mamba"}], ids=["sparse", "several", "mamba"])
def test_what_the_config_does_not_tell_is_taken_by_hand(config: dict[str, Any]) -> None:
    stated = {"num_attention_heads": 8, "total_num_kv_heads": 4, "other_total_num_kv_heads": 2}
    geometry = geometry_of(config, stated)
    assert geometry.num_attention_heads == Derived(8, "", "stated by hand")
    assert geometry.kv_head_counts == (2, 4)
    assert not geometry.is_mla.value


@pytest.mark.parametrize(
    ("config", "stated", "wanted"),
    [
        (SPARSE, {"total_num_kv_heads": 4}, "model.num_attention_heads and model.total_num_kv_heads"),
        (SPARSE, {"num_attention_heads": 8}, "model.total_num_kv_heads"),
        (MUSICGEN, {"num_attention_heads": 8}, "model.total_num_kv_heads"),
        ({**DEEPSEEK_V3, "model_type": "own"}, {"total_num_kv_heads": 4}, "model.is_mla"),
    ],
)
def test_what_is_stated_does_not_make_up_for_the_rest(
    config: dict[str, Any], stated: dict[str, int], wanted: str
) -> None:
    with pytest.raises(UnknownGeometryError, match=f"; state {wanted}$"):
        geometry_of(config, stated)


@pytest.mark.parametrize(("is_mla", "counts"), [(True, ()), (False, (128,))])
def test_an_unknown_latent_is_one_if_it_is_said_to_be(is_mla: bool, counts: tuple[int, ...]) -> None:
    geometry = geometry_of({**DEEPSEEK_V3, "model_type": "deepseek_ref"}, {"is_mla": is_mla})
    assert (geometry.is_mla.value, geometry.kv_head_counts) == (is_mla, counts)


def test_what_the_config_tells_is_not_taken_by_hand() -> None:
    stated = {"num_attention_heads": 1, "total_num_kv_heads": 1, "is_mla": True}
    assert geometry_of(QWEN3_32B, stated) == geometry_of(QWEN3_32B)


NAMES = st.sampled_from(
    """
    model_type text_config text_encoder decoder language_config config_dict num_attention_heads n_head num_heads
    encoder_attention_heads decoder_attention_heads num_key_value_heads n_head_kv multi_query new_decoder_architecture
    attn_config kv_n_heads block_configs attention n_heads_in_group no_op per_layer_config num_hidden_layers
    swa_num_key_value_heads attention_other_setting num_attention_groups num_global_key_value_heads attention_k_eq_v
    kv_lora_rank compress_ratios compress_rates head_dim layer_types layers_block_type layer_group_size sliding_window
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


def assert_sound(geometry: HuggingFaceGeometry) -> None:
    counts = geometry.kv_head_counts
    assert all(count > 0 for count in (geometry.num_attention_heads.value, *counts))
    assert sorted(set(counts)) == list(counts)
    assert bool(counts) is not geometry.is_mla.value
    flags = (geometry.is_mla, geometry.has_mamba_layers, geometry.has_sliding_window_layers)
    assert all(isinstance(flag.value, bool) for flag in flags)
    assert all(derived.key and derived.rule for derived in (geometry.num_attention_heads, *geometry.kv_heads, *flags))


def assert_read_or_refused(config: dict[str, Any]) -> None:
    try:
        geometry = geometry_of(config)
    except UnknownGeometryError:
        return
    assert_sound(geometry)


@given(OBJECTS)
def test_any_object_is_read_or_refused(config: dict[str, Any]) -> None:
    assert_read_or_refused(config)


@given(st.sampled_from([QWEN3_32B, DEEPSEEK_V3, NEMOTRON_NAS, GEMMA_4_26B["text_config"]]), OBJECTS)
def test_any_change_of_a_config_is_read_or_refused(config: dict[str, Any], change: dict[str, Any]) -> None:
    assert_read_or_refused({**config, **change})
