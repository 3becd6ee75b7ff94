"""What is derived from the default config of every model type, against what vLLM derives from its class."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pdtopology.huggingface import HuggingFaceGeometry, UnknownGeometryError, geometry_of
from pdtopology.huggingface.layers import mamba_layers, sliding_window_layers
from pdtopology.huggingface.model_types import (
    NUM_HEADS_MODEL_TYPES,
    OPTIONAL_WINDOW_MODEL_TYPES,
    OWN_KV_HEADS_MODEL_TYPES,
    RECURRENT_MODEL_TYPES,
    SLIDING_WINDOW_MODEL_TYPES,
    WHOLE_HEADS_MODEL_TYPES,
    mla_model_types,
)
from pdtopology.huggingface.part import Part, language_part
from pdtopology.releases import KNOWN_RELEASES

with gzip.open(Path(__file__).parent / "default_configs.jsonl.gz", "rt", encoding="utf-8") as stream:
    ROWS: list[dict[str, Any]] = [json.loads(line) for line in stream]

EVERY_FORM = pytest.mark.parametrize("form", ["config", "full"])

# Where vLLM takes `num_key_value_heads: null` as the number.
BETTER_READ = {"nemotron": (48, 48, False)}
# Where vLLM has no number of heads, and the config does.
MORE_READ = {
    "bagel": (32, 32, False),  # vLLM copies llm_config to text_config only on loading a checkpoint
    "cohere_asr": (8, 8, False),  # vLLM wants the original's transf_decoder, transformers writes its own keys
    "pi0": (8, 1, False),  # transformers does not look into vlm_config
}
# What is said to be unknown, by kind.
UNREAD = {
    "canary": "gives no num_attention_heads",  # the decoder's part is under a name of its own
    "dia": "gives no num_attention_heads",
    "ultravox": "gives no num_attention_heads",  # the language model's config is on a hub
    "sapiens2": "gives num_key_value_heads_per_layer, which vLLM does not read",  # a vision backbone
}


def has_heads(row: dict[str, Any]) -> bool:
    heads = row["expected"].get("num_attention_heads")
    return isinstance(heads, int) and heads > 0


def outcome(config: dict[str, Any]) -> HuggingFaceGeometry | None:
    try:
        return geometry_of(config)
    except UnknownGeometryError:
        return None


def triple(geometry: HuggingFaceGeometry) -> tuple[int, int | None, bool]:
    """The attention heads, vLLM's number of KV heads unless it is MLA, and whether it is."""
    kv_heads = None if geometry.is_mla.value else geometry.kv_heads[0].value
    return geometry.num_attention_heads.value, kv_heads, bool(geometry.is_mla.value)


def expected_triple(row: dict[str, Any]) -> tuple[int, int | None, bool]:
    expected = row["expected"]
    kv_heads = None if expected["is_mla"] else expected["total_num_kv_heads"]
    return expected["num_attention_heads"], kv_heads, expected["is_mla"]


@EVERY_FORM
def test_every_model_type_is_read_as_vllm_reads_it(form: str) -> None:
    rows = [row for row in ROWS if has_heads(row)]
    read = {row["name"]: (triple(geometry), expected_triple(row)) for row in rows if (geometry := outcome(row[form]))}
    assert {name: told for name, (told, expected) in read.items() if told != expected} == BETTER_READ
    assert {row["name"] for row in rows} - read.keys() == UNREAD.keys()
    assert len(rows) == 725


@EVERY_FORM
@pytest.mark.parametrize(("name", "message"), UNREAD.items())
def test_the_rest_is_said_to_be_unknown(form: str, name: str, message: str) -> None:
    [row] = [row for row in ROWS if row["name"] == name]
    with pytest.raises(UnknownGeometryError, match=message):
        geometry_of(row[form])


@EVERY_FORM
def test_a_model_type_without_one_number_of_heads_is_refused(form: str) -> None:
    rows = [row for row in ROWS if not has_heads(row)]
    read = {row["name"]: triple(geometry) for row in rows if (geometry := outcome(row[form]))}
    assert read == MORE_READ
    assert len(rows) == 144


def test_both_forms_of_a_config_tell_the_same() -> None:
    assert [row["name"] for row in ROWS if outcome(row["config"]) != outcome(row["full"])] == []


def test_layers_of_two_kinds_keep_their_own_kv_heads() -> None:
    several = {
        row["name"]: counts
        for row in ROWS
        if (geometry := outcome(row["full"])) and len(counts := geometry.kv_head_counts) > 1
    }
    assert several == {
        "embedding_gemma2": (1, 2),
        "embedding_gemma2_text": (1, 2),
        "inkling_mm_model": (8, 16),
        "inkling_text": (8, 16),
    }


def text_parts() -> dict[str, Part]:
    """The language model's part of each of transformers' full configs by its type, that of the type's own row first."""
    parts: dict[str, Part] = {}
    for row in ROWS:
        if row["source"] == "transformers":
            try:
                part = language_part(row["full"])
            except UnknownGeometryError:
                continue
            if not part.path or part.model_type not in parts:
                parts[part.model_type] = part
    return parts


def test_the_tables_of_heads_are_those_of_transformers() -> None:
    types = {row["config"]["model_type"]: row for row in ROWS if row["source"] == "transformers"}
    assert {name for name, row in types.items() if row.get("own_kv_heads")} == OWN_KV_HEADS_MODEL_TYPES
    assert {name for name, row in types.items() if row.get("heads_key") == "num_heads"} == NUM_HEADS_MODEL_TYPES


def test_the_tables_of_layers_are_those_of_transformers() -> None:
    parts = text_parts()
    assert {name for name, part in parts.items() if mamba_layers(part).value} == RECURRENT_MODEL_TYPES
    assert {name for name, part in parts.items() if sliding_window_layers(part).value} == SLIDING_WINDOW_MODEL_TYPES
    unused = {name for name, part in parts.items() if part.values.get("use_sliding_window") is False}
    assert unused == OPTIONAL_WINDOW_MODEL_TYPES


@pytest.mark.parametrize("release", KNOWN_RELEASES)
def test_no_type_both_has_and_has_not_a_cache_of_latents(release: tuple[int, int]) -> None:
    assert not mla_model_types(release) & WHOLE_HEADS_MODEL_TYPES


def test_each_release_knows_as_many_mla_types_as_its_list_has() -> None:
    counts = {release: len(mla_model_types(release)) for release in KNOWN_RELEASES}
    assert counts == {(0, 26): 17, (0, 28): 20, (0, 30): 25, (0, 32): 24, (0, 33): 24}


@pytest.mark.parametrize(("release", "nearest"), [((0, 1), (0, 26)), ((0, 29), (0, 28)), ((1, 0), (0, 33))])
def test_a_release_that_is_not_known_has_the_nearest_list(release: tuple[int, int], nearest: tuple[int, int]) -> None:
    assert mla_model_types(release) == mla_model_types(nearest)
