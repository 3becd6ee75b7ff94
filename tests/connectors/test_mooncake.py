"""Mooncake's rules: what its plan and validator do in five releases row for row, then each rule's edges."""

from __future__ import annotations

from typing import Any

import pytest

from tests.geometry.vectors import rows
from tests.verdicts import GQA, MLA, is_accepted, told

RELEASES = ("0.26.0", "0.28.0", "0.30.0", "0.32.0", "0.33.0")
MAMBA = {**GQA, "has_mamba_layers": True}


def pair(
    prefill: Any = None, decode: Any = None, *, model: Any = GQA, version: str | None = None, **connector: Any
) -> dict[str, Any]:
    """A document with two roles over Mooncake."""
    return {
        "engine": {"version": version} if version else {},
        "model": model,
        "connector": {"kind": "mooncake", **connector},
        "prefill": prefill or {},
        "decode": decode or {},
    }


def tp(size: int, **more: Any) -> dict[str, Any]:
    return {"tensor_parallel_size": size, **more}


def outcomes(release: str) -> dict[tuple[int, int, int, bool], str]:
    """What becomes of each pair in a release: `ok`, `reject`, `WRONG`, or the name of an exception."""
    return {
        (prefill, decode, kv_heads, is_mla): result["raises"] if isinstance(result, dict) else result[0]
        for (prefill, decode, kv_heads, is_mla), result in rows(f"mooncake_{release.replace('.', '_')}")
    }


@pytest.mark.parametrize("release", RELEASES)
def test_exactly_the_pairs_that_a_release_serves_are_accepted(release: str) -> None:
    different = []
    for sizes, outcome in outcomes(release).items():
        prefill, decode, kv_heads, is_mla = sizes
        model = {"total_num_kv_heads": kv_heads, "is_mla": is_mla}
        if is_accepted(pair(tp(prefill), tp(decode), model=model, version=release)) is not (outcome == "ok"):
            different.append(sizes)
    assert different == []


def test_what_older_releases_get_silently_wrong_is_refused_there_and_accepted_since() -> None:
    wrong = [sizes for sizes, outcome in outcomes("0.28.0").items() if outcome == "WRONG"]
    assert wrong
    for prefill, decode, kv_heads, _ in wrong:
        document = pair(tp(prefill), tp(decode), model={"total_num_kv_heads": kv_heads}, version="0.28")
        assert told(document) == ["mooncake-replicated-to-split"]
        assert told({**document, "engine": {"version": "0.30"}}) == []
        assert told({**document, "engine": {}}) == ["mooncake-replicated-to-split"]
        assert is_accepted({**document, "engine": {}})


@pytest.mark.parametrize(
    ("model", "expected"), [(GQA, ["mooncake-block-size-mismatch"]), (MLA, ["mooncake-block-size-mla"]), (MAMBA, [])]
)
def test_different_block_sizes(model: Any, expected: list[str]) -> None:
    assert told(pair({"block_size": 16}, {"block_size": 32}, model=model)) == expected
    assert told(pair({"block_size": 16}, {"block_size": 16}, model=model)) == []
    assert told(pair({"block_size": 16}, {}, model=model)) == []


@pytest.mark.parametrize(
    ("prefill", "decode", "block_size", "model", "expected"),
    [
        ("bfloat16", "fp8", 16, GQA, "length"),
        ("fp8", "bfloat16", 16, GQA, "length"),
        ("fp8", "fp8_e5m2", 16, GQA, "unchecked"),
        ("bfloat16", "fp8", None, GQA, "unchecked"),
        ("bfloat16", "fp8", 16, MLA, "unchecked"),
        ("auto", "fp8", 16, GQA, "unchecked"),
        ("fp8", "fp8", 16, GQA, None),
    ],
)
def test_different_types(prefill: str, decode: str, block_size: int | None, model: Any, expected: str | None) -> None:
    blocks = {"block_size": block_size}
    document = pair({"kv_cache_dtype": prefill, **blocks}, {"kv_cache_dtype": decode, **blocks}, model=model)
    assert told(document) == ([f"mooncake-kv-cache-dtype-{expected}"] if expected else [])


@pytest.mark.parametrize(
    ("sizes", "model", "version", "fits"),
    [
        ((2, 4), GQA, "0.30", False),
        ((2, 4), GQA, "0.28", True),
        ((2, 2), GQA, "0.30", True),
        ((8, 16), GQA, "0.30", True),
        ((2, 4), MLA, "0.30", True),
        ((2, 4), MAMBA, "0.30", True),
    ],
)
def test_a_four_bit_cache_is_not_cut(sizes: tuple[int, int], model: Any, version: str, fits: bool) -> None:
    document = pair(*(tp(size, kv_cache_dtype="nvfp4") for size in sizes), model=model, version=version)
    assert told(document) == ([] if fits else ["mooncake-nvfp4-unequal-heads"])


@pytest.mark.parametrize(
    ("role", "model", "expected"),
    [
        ({"kv_cache_layout": "NHD"}, GQA, ["mooncake-layout"]),
        ({"kv_cache_layout": "HND"}, GQA, []),
        ({"kv_cache_layout": "NHD"}, MLA, []),
        ({"kv_cache_layout": "NHD", "env": {"VLLM_KV_CACHE_LAYOUT": "HND"}}, GQA, []),
    ],
)
def test_layouts(role: Any, model: Any, expected: list[str]) -> None:
    assert told(pair(role, model=model)) == expected


def test_decode_context_parallelism_is_only_a_warning() -> None:
    document = pair({}, tp(2, decode_context_parallel_size=2), model=MLA)
    assert told(document) == ["mooncake-dcp"]
    assert is_accepted(document)


@pytest.mark.parametrize(
    ("prefill", "decode", "fits"), [(2, 2, True), (2, 1, True), (1, 2, False), (4, 2, False), (8, 1, True)]
)
def test_a_prefill_stage_needs_all_its_layers_on_a_decode_stage_before_0_30(
    prefill: int, decode: int, fits: bool
) -> None:
    document = pair({"pipeline_parallel_size": prefill}, {"pipeline_parallel_size": decode}, version="0.28")
    assert told(document) == ([] if fits else ["mooncake-decode-pipeline"])
    assert told({**document, "engine": {"version": "0.30"}}) == []


@pytest.mark.parametrize("role", ["prefill", "decode"])
def test_sleep_mode_needs_rdma_since_0_33(role: str) -> None:
    document = pair(protocol="tcp", version="0.33")
    document[role] = {"engine_args": {"enable-sleep-mode": True}}
    assert told(document) == ["mooncake-sleep-mode"]
    assert told({**document, "connector": {"kind": "mooncake"}}) == []
    assert told({**document, "engine": {"version": "0.32"}}) == []
