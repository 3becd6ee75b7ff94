"""Engine arguments and variables that a KV connector refuses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.verdicts import GQA, told

MAMBA = {**GQA, "has_mamba_layers": True}


def document_of(role: Any, kind: str, *, model: Any = GQA, version: str = "0.33", **connector: Any) -> dict[str, Any]:
    """A document whose decode role is the one in question."""
    return {
        "engine": {"version": version},
        "model": model,
        "connector": {"kind": kind, **connector},
        "prefill": {},
        "decode": role,
    }


def arguments(**named: Any) -> dict[str, Any]:
    return {"engine_args": {name.replace("_", "-"): value for name, value in named.items()}}


@pytest.mark.parametrize("kind", ["moriio", "nixl", "mooncake"])
def test_routed_experts_are_not_returned(kind: str) -> None:
    assert told(document_of(arguments(enable_return_routed_experts=True), kind)) == ["routed-experts"]
    assert told(document_of(arguments(enable_return_routed_experts=False), kind)) == []
    underscored = {"engine_args": {"enable_return_routed_experts": True}}
    assert told(document_of(underscored, kind)) == ["routed-experts"]


@pytest.mark.parametrize("kind", ["moriio", "nixl", "mooncake"])
def test_replayed_states_are_not_moved_unless_a_model_speculates(kind: str) -> None:
    assert told(document_of(arguments(use_replayssm=True), kind)) == ["replay-ssm"]
    speculating = arguments(use_replayssm=True, speculative_config={"method": "dspark"})
    assert "replay-ssm" not in told(document_of(speculating, kind))


@pytest.mark.parametrize(
    ("kind", "connector", "version", "expected"),
    [
        ("moriio", {}, "0.33", ["moriio-sleep-mode"]),
        ("moriio", {}, "0.32", []),
        ("nixl", {"mode": "push"}, "0.33", ["nixl-push-sleep-mode"]),
        ("nixl", {"mode": "push"}, "0.32", []),
        ("nixl", {"mode": "pull"}, "0.33", []),
        ("mooncake", {}, "0.33", []),
    ],
)
def test_sleep_mode(kind: str, connector: Any, version: str, expected: list[str]) -> None:
    document = document_of(arguments(enable_sleep_mode=True), kind, version=version, **connector)
    assert told(document) == expected


EXPANDABLE = {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:512,expandable_segments:True"}


@pytest.mark.parametrize(
    ("role", "fits"),
    [
        ({"env": EXPANDABLE}, False),
        ({"env": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:False"}}, True),
        ({"env": EXPANDABLE, **arguments(enable_cumem_allocator=True)}, True),
        ({"env": EXPANDABLE, **arguments(enable_sleep_mode=True)}, True),
        ({}, True),
    ],
)
def test_expandable_segments_need_another_allocator(role: Any, fits: bool) -> None:
    assert told(document_of(role, "mooncake")) == ([] if fits else ["expandable-segments"])


@pytest.mark.parametrize(
    ("layout", "version", "fits"),
    [("BLHNC", "0.28", False), ("LBHNC", "0.30", True), ("HND", "0.26", True), (None, "0.26", True)],
)
def test_the_names_of_layouts(layout: str | None, version: str, fits: bool) -> None:
    document = document_of({"kv_cache_layout": layout}, "moriio", version=version)
    assert told(document) == ([] if fits else ["kv-cache-layout-name"])


def test_a_new_name_of_a_layout_is_no_warning_where_no_release_is_stated() -> None:
    document = document_of({"kv_cache_layout": "LBHNC"}, "moriio")
    assert told({**document, "engine": {}}) == []


@pytest.mark.parametrize("kind", ["moriio", "nixl", "mooncake"])
def test_mamba_layers_need_the_hybrid_manager(kind: str) -> None:
    env = {"VLLM_SSM_CONV_STATE_LAYOUT": "DS"}
    document = document_of({"env": env, **arguments(disable_hybrid_kv_cache_manager=True)}, kind, model=MAMBA)
    document["prefill"] = {"env": env}
    assert told(document) == ["mamba-without-hybrid-manager"]


@pytest.mark.parametrize("kind", ["moriio", "mooncake"])
@pytest.mark.parametrize(
    ("role", "kv_role", "fits"),
    [
        ("prefill", "kv_producer", True),
        ("prefill", "kv_consumer", False),
        ("decode", "kv_consumer", True),
        ("decode", "kv_producer", False),
    ],
)
def test_a_connector_acts_by_its_kv_role(kind: str, role: str, kv_role: str, fits: bool) -> None:
    document = document_of({}, kind)
    document["connector"][role] = {"kv_role": kv_role}
    assert told(document) == ([] if fits else [f"{role}-kv-role"])
