"""SGLang's rules, each with its edges; a role's TP size is the attention TP size."""

from __future__ import annotations

from typing import Any

import pytest

from tests.verdicts import GQA, MLA, is_accepted, told

WINDOW = {**GQA, "has_sliding_window_layers": True}
WINDOW_MLA = {**MLA, "has_sliding_window_layers": True}


def pair(
    prefill: Any = None,
    decode: Any = None,
    *,
    model: Any = GQA,
    kind: str = "mooncake",
    version: str | None = None,
    **connector: Any,
) -> dict[str, Any]:
    """A document with two roles of SGLang."""
    return {
        "engine": {"name": "sglang", "version": version},
        "model": model,
        "connector": {"kind": kind, **connector},
        "prefill": prefill or {},
        "decode": decode or {},
    }


def tp(size: int, **more: Any) -> dict[str, Any]:
    return {"tensor_parallel_size": size, **more}


@pytest.mark.parametrize("model", [GQA, MLA], ids=["heads", "MLA"])
@pytest.mark.parametrize(
    ("prefill", "decode", "expected"),
    [
        (64, 64, []),
        (32, 64, ["sglang-page-size-mismatch"]),
        (64, 32, ["sglang-page-size-mismatch"]),
        (64, None, ["sglang-page-size-one-sided"]),
        (None, None, []),
    ],
)
def test_pages_are_equal(prefill: int | None, decode: int | None, model: Any, expected: list[str]) -> None:
    assert told(pair({"block_size": prefill}, {"block_size": decode}, model=model)) == expected


@pytest.mark.parametrize(
    ("prefill", "decode", "expected"),
    [
        ("auto", None, []),
        ("fp8_e4m3", "fp8_e4m3", []),
        ("bf16", "bfloat16", []),
        ("bfloat16", "fp8_e4m3", ["sglang-kv-cache-dtype-mismatch"]),
        ("fp8_e5m2", "fp8_e4m3", ["sglang-kv-cache-dtype-mismatch"]),
        ("nvfp4", "fp4_mx_block16", ["sglang-kv-cache-dtype-mismatch"]),
        (None, "fp8_e4m3", ["sglang-kv-cache-dtype-unresolved"]),
        ("bfloat16", "auto", ["sglang-kv-cache-dtype-unresolved"]),
        ("of-a-fork", "fp8_e4m3", []),
    ],
)
def test_types_are_equal(prefill: str | None, decode: str | None, expected: list[str]) -> None:
    assert told(pair({"kv_cache_dtype": prefill}, {"kv_cache_dtype": decode}, model=MLA)) == expected


@pytest.mark.parametrize(
    ("prefill", "decode", "model", "expected"),
    [
        (4, 4, GQA, []),
        (2, 4, GQA, ["sglang-unequal-tp-cost"]),
        (4, 2, GQA, ["sglang-unequal-tp-cost"]),
        (2, 4, MLA, []),
        (4, 6, MLA, ["sglang-tp-not-divisible"]),
        (1, 4, WINDOW, ["sglang-sliding-window-layout"]),
        (4, 4, WINDOW, []),
        (1, 4, WINDOW_MLA, []),
        (4, 6, {"is_mla": True, "has_mamba_layers": True}, ["sglang-tp-not-divisible"]),
    ],
)
def test_no_pair_of_tp_sizes_is_an_error_by_itself(prefill: int, decode: int, model: Any, expected: list[str]) -> None:
    document = pair(tp(prefill), tp(decode), model=model)
    assert told(document) == expected
    assert is_accepted(document)


def test_the_scales_of_mxfp8_are_not_cut() -> None:
    scaled = {"kv_cache_dtype": "mxfp8"}
    assert told(pair(tp(2, **scaled), tp(4, **scaled))) == ["sglang-mxfp8-unequal-tp"]
    assert told(pair(tp(2, **scaled), tp(2, **scaled))) == []
    assert told(pair(tp(2, **scaled), tp(4, **scaled), model=MLA)) == []


def test_sliding_windows_move_from_one_stage_between_unequal_tp_sizes() -> None:
    stages = {"pipeline_parallel_size": 2}
    assert told(pair(tp(1, **stages), tp(2), model=WINDOW)) == ["sglang-sliding-window-pipeline"]
    assert told(pair(tp(2, **stages), tp(2), model=WINDOW)) == []
    assert told(pair(tp(1, **stages), tp(2), model=WINDOW_MLA)) == []


@pytest.mark.parametrize(
    ("prefill", "decode", "fits"), [(1, 1, True), (4, 1, True), (4, 4, True), (1, 4, False), (4, 2, False)]
)
def test_decode_has_one_stage_or_as_many_as_prefill(prefill: int, decode: int, fits: bool) -> None:
    document = pair({"pipeline_parallel_size": prefill}, {"pipeline_parallel_size": decode})
    assert told(document) == ([] if fits else ["sglang-pipeline-mismatch"])


def context(dcp: int, pcp: int = 1) -> dict[str, Any]:
    return tp(4, decode_context_parallel_size=dcp, prefill_context_parallel_size=pcp)


@pytest.mark.parametrize(
    ("prefill", "decode", "model", "expected"),
    [
        (context(1), context(2), MLA, []),
        (context(2), context(2), MLA, []),
        (context(2), context(1), MLA, ["sglang-dcp-mismatch"]),
        (context(2), context(4), MLA, ["sglang-dcp-mismatch"]),
        (context(1), context(2), GQA, ["sglang-dcp-needs-mla"]),
        (context(1, 2), context(1), GQA, []),
        (context(1, 2), context(2), MLA, ["sglang-dcp-with-context-parallel"]),
        (context(1), context(1, 2), MLA, ["sglang-decode-context-parallel"]),
    ],
)
def test_context_parallel_sizes(prefill: Any, decode: Any, model: Any, expected: list[str]) -> None:
    assert told(pair(prefill, decode, model=model)) == expected


SHARDS = {"engine_args": {"enable-kv-cache-sharding": True}}


@pytest.mark.parametrize(
    ("prefill", "decode", "model", "expected"),
    [
        (tp(4, **SHARDS), tp(4), MLA, []),
        (tp(4, **SHARDS), tp(2), MLA, ["sglang-kv-cache-sharding-tp"]),
        (tp(4), tp(2, **SHARDS), MLA, []),
        (tp(4, prefill_context_parallel_size=2, **SHARDS), tp(2), MLA, []),
        (tp(4, **SHARDS), tp(2), GQA, ["sglang-unequal-tp-cost"]),
        (tp(4, **SHARDS), context(2), MLA, ["sglang-kv-cache-sharding-dcp"]),
    ],
)
def test_a_sharded_cache(prefill: Any, decode: Any, model: Any, expected: list[str]) -> None:
    assert told(pair(prefill, decode, model=model)) == expected


UNIFIES = {"engine_args": {"enable_unified_memory": True}}


@pytest.mark.parametrize(
    ("prefill", "decode", "kind", "expected"),
    [
        (UNIFIES, UNIFIES, "mooncake", []),
        (UNIFIES, {}, "mooncake", ["sglang-unified-memory-mismatch"]),
        ({}, UNIFIES, "mooncake", []),
        (tp(2, **UNIFIES), UNIFIES, "mooncake", ["sglang-unified-memory-tp"]),
        (tp(2, **UNIFIES), UNIFIES, "nixl", []),
    ],
)
def test_unified_memory(prefill: Any, decode: Any, kind: str, expected: list[str]) -> None:
    assert told(pair(prefill, decode, kind=kind, model=MLA)) == expected


@pytest.mark.parametrize(
    ("value", "kind", "model", "expected"),
    [
        ("1", "mooncake", GQA, []),
        ("1", "mooncake", MLA, ["sglang-staging-buffer-mla"]),
        ("TRUE", "nixl", MLA, ["sglang-staging-buffer-mla"]),
        ("0", "mooncake", MLA, []),
        ("yes", "moriio", GQA, ["sglang-staging-buffer-backend"]),
        ("no", "moriio", GQA, []),
    ],
)
def test_the_staging_buffer(value: str, kind: str, model: Any, expected: list[str]) -> None:
    assert told(pair({"env": {"SGLANG_DISAGG_STAGING_BUFFER": value}}, kind=kind, model=model)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ascend", []),
        ("mooncake_tcp", []),
        (None, []),
        ("fake", ["sglang-fake-backend"]),
        ("uccl", ["sglang-backend-unknown"]),
    ],
)
def test_backends(name: str | None, expected: list[str]) -> None:
    assert told(pair(kind="other", name=name)) == expected


@pytest.mark.parametrize(
    ("version", "is_known"),
    [(None, True), ("0.5.23", True), ("v0.5.23.post1", True), ("0.5.3", False), ("0.5.230", False), ("0.6.0", False)],
)
def test_the_rules_are_those_of_one_release(version: str | None, is_known: bool) -> None:
    assert told(pair(version=version)) == ([] if is_known else ["sglang-version-unknown"])


def test_vllms_rules_are_not_sglangs() -> None:
    document = pair(tp(4, block_size=64), tp(6, block_size=64), model=MLA, kind="moriio")
    assert told(document) == ["sglang-tp-not-divisible"]
