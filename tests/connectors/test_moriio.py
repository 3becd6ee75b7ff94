"""MoRIIO's rules against the arithmetic of vLLM's own functions, exhaustively over small sizes; each rule's edges."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from pdtopology import geometry
from pdtopology.deployment import Deployment
from pdtopology.geometry import GeometryError
from pdtopology.violations import FIND_REFUSALS
from tests.geometry.vectors import rows
from tests.verdicts import GQA, MLA, holds_its_heads, told
from tests.verdicts import is_accepted as is_taken

SIZES = (1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 24, 32)


def works(prefill: int, decode: int, kv_heads: int, *, is_mla: bool, mode: str) -> bool:
    """Whether both models can be built, every rank finds its peer, and the mode can move the heads (vLLM 0.33)."""
    try:
        if not is_mla:
            for size in (prefill, decode):
                geometry.kv_heads_on_rank(0, size, kv_heads)
        for rank in range(decode):
            geometry.remote_tp_rank(rank, decode, prefill)
        if mode == "read":
            geometry.validate_replicated_kv_heads(decode, prefill, kv_heads, is_mla)
            geometry.expected_ack_count(prefill, decode)
        else:
            geometry.validate_head_sharding(prefill, decode, kv_heads, is_mla)
    except GeometryError:
        return False
    return True


def is_accepted(prefill: int, decode: int, kv_heads: int, *, is_mla: bool, mode: str) -> bool:
    """The rules' verdict."""
    deployment = Deployment.of(
        {
            "model": {"total_num_kv_heads": kv_heads, "is_mla": is_mla},
            "connector": {"mode": mode},
            "prefill": {"tensor_parallel_size": prefill},
            "decode": {"tensor_parallel_size": decode},
        }
    )
    return FIND_REFUSALS["vllm"]["moriio"](deployment) is None


@pytest.mark.parametrize("is_mla", [False, True], ids=["heads", "MLA"])
@pytest.mark.parametrize("mode", ["read", "write"])
def test_a_pair_is_accepted_exactly_where_vllm_can_serve_it(mode: str, *, is_mla: bool) -> None:
    different = [
        sizes
        for sizes in product(SIZES, SIZES, SIZES)
        if is_accepted(*sizes, is_mla=is_mla, mode=mode) is not works(*sizes, is_mla=is_mla, mode=mode)
    ]
    assert different == []


@pytest.mark.parametrize("mode", ["read", "write"])
def test_every_accepted_pair_copies_each_decode_rank_its_own_heads(mode: str) -> None:
    for prefill, decode, kv_heads in product(SIZES, SIZES, SIZES):
        if not is_accepted(prefill, decode, kv_heads, is_mla=False, mode=mode):
            continue
        for rank in range(decode):
            wanted = set(geometry.kv_heads_on_rank(rank, decode, kv_heads))
            sources = geometry.read_source_tp_ranks(rank, decode, prefill)
            held = {head for source in sources for head in geometry.kv_heads_on_rank(source, prefill, kv_heads)}
            assert wanted <= held


def pair(
    prefill: Any = None, decode: Any = None, *, model: Any = GQA, version: str = "0.33", **connector: Any
) -> dict[str, Any]:
    """A document with two roles over MoRIIO."""
    return {
        "engine": {"version": version},
        "model": model,
        "connector": connector,
        "prefill": prefill or {},
        "decode": decode or {},
    }


def tp(size: int, **more: Any) -> dict[str, Any]:
    return {"tensor_parallel_size": size, **more}


def test_exactly_the_pairs_that_vllm_refuses_in_each_mode_are_rejected() -> None:
    different = []
    for (prefill, decode, kv_heads, is_mla), verdicts in rows("moriio_read_vs_write"):
        if min(prefill, decode, kv_heads) == 0:
            continue
        model = {"total_num_kv_heads": kv_heads, "is_mla": is_mla}
        for mode, verdict in zip(("read", "write"), verdicts, strict=True):
            passes = verdict == "ok" and holds_its_heads(kv_heads, is_mla, prefill, decode)
            if is_taken(pair(tp(prefill), tp(decode), model=model, mode=mode)) is not passes:
                different.append((prefill, decode, kv_heads, is_mla, mode))
    assert different == []


@pytest.mark.parametrize("sizes", [(0, 1, 8), (1, 0, 8), (1, 1, 0)])
def test_no_ranks_and_no_heads_are_no_sizes(sizes: tuple[int, int, int]) -> None:
    prefill, decode, kv_heads = sizes
    assert not is_taken(pair(tp(prefill), tp(decode), model={"total_num_kv_heads": kv_heads}))


@pytest.mark.parametrize("version", ["0.26", "0.28", "0.30", "0.32"])
def test_write_needs_equal_tp_sizes_before_0_33(version: str) -> None:
    for model in (GQA, MLA):
        assert told(pair(tp(8), tp(4), model=model, mode="write", version=version)) == ["moriio-write-unequal-tp"]
        assert told(pair(tp(8), tp(8), model=model, mode="write", version=version)) == []
        assert told(pair(tp(8), tp(4), model=model, mode="write")) == []


def test_read_needs_the_heads_of_every_layer_replicated() -> None:
    model = {"total_num_kv_heads": 2, "other_total_num_kv_heads": 4}
    assert told(pair(tp(2), tp(4), model=model)) == ["moriio-read-other-kv-heads-replicated"]
    assert told(pair(tp(4), tp(8), model=model)) == []
    assert told(pair(tp(2), tp(4), model=model, mode="write")) == []


def test_a_larger_prefill_role_waits_for_its_blocks_before_0_33() -> None:
    assert told(pair(tp(16), tp(8), version="0.32")) == ["moriio-read-late-release"]
    assert told(pair(tp(8), tp(16), version="0.32")) == []
    assert told(pair(tp(16), tp(8))) == []


MAMBA = {**GQA, "has_mamba_layers": True}
WINDOW = {**GQA, "has_sliding_window_layers": True}
DS = {"env": {"VLLM_SSM_CONV_STATE_LAYOUT": "DS"}}
MANAGER_OFF = {"engine_args": {"disable-hybrid-kv-cache-manager": True}}
BLOCKS = {"block_size": 16}, {"block_size": 32}


@pytest.mark.parametrize(
    ("mode", "model", "version", "expected"),
    [
        ("read", GQA, "0.33", "moriio-read-block-size"),
        ("write", GQA, "0.33", "moriio-write-block-size"),
        ("write", MLA, "0.33", "moriio-write-block-size"),
        ("read", MLA, "0.33", "moriio-block-size-unchecked"),
        ("read", GQA, "0.32", "moriio-block-size-unchecked"),
        ("write", GQA, "0.32", "moriio-block-size-unchecked"),
    ],
)
def test_different_block_sizes(mode: str, model: Any, version: str, expected: str) -> None:
    assert told(pair(*BLOCKS, model=model, mode=mode, version=version)) == [expected]


@pytest.mark.parametrize("mode", ["read", "write"])
def test_the_block_sizes_of_a_mamba_model_are_only_a_warning(mode: str) -> None:
    roles = [{**role, **DS} for role in BLOCKS]
    assert told(pair(*roles, model=MAMBA, mode=mode)) == ["moriio-block-size-unchecked"]


@pytest.mark.parametrize("mode", ["read", "write"])
@pytest.mark.parametrize(
    ("prefill", "decode", "model", "version", "expected"),
    [
        ("bfloat16", "fp8", GQA, "0.33", "length"),
        ("fp8_e5m2", "float16", GQA, "0.33", "length"),
        ("bfloat16", "fp8", GQA, "0.32", "unchecked"),
        ("bfloat16", "fp8", MLA, "0.33", "unchecked"),
        ("fp8", "fp8_e5m2", GQA, "0.33", "unchecked"),
        ("auto", "fp8", GQA, "0.33", "unchecked"),
        ("float16", "float16", GQA, "0.33", None),
    ],
)
def test_different_types(mode: str, prefill: str, decode: str, model: Any, version: str, expected: str | None) -> None:
    document = pair({"kv_cache_dtype": prefill}, {"kv_cache_dtype": decode}, model=model, mode=mode, version=version)
    assert told(document) == ([f"moriio-kv-cache-dtype-{expected}"] if expected else [])


def test_xgmi_may_fail_to_fan_out() -> None:
    assert told(pair(tp(1), tp(2), mode="write", backend="xgmi")) == ["moriio-xgmi-fan-out"]
    assert told(pair(tp(2), tp(1), mode="write", backend="xgmi")) == []
    assert told(pair(tp(1), tp(2), mode="write")) == []


@pytest.mark.parametrize(
    ("mode", "prefill", "decode", "version", "fits"),
    [
        ("write", {}, {}, "0.33", False),
        ("write", {}, {}, "0.30", False),
        ("write", {}, {}, "0.28", True),
        ("write", MANAGER_OFF, MANAGER_OFF, "0.33", True),
        ("write", MANAGER_OFF, {}, "0.33", False),
        ("read", {}, {}, "0.33", True),
    ],
)
def test_sliding_windows_are_not_written(mode: str, prefill: Any, decode: Any, version: str, fits: bool) -> None:
    document = pair(prefill, decode, model=WINDOW, mode=mode, version=version)
    assert told(document) == ([] if fits else ["moriio-write-sliding-window"])


@pytest.mark.parametrize(
    ("mode", "version", "expected"),
    [
        ("read", "0.26", ["moriio-mamba-unsupported"]),
        ("write", "0.28", ["moriio-mamba-unsupported"]),
        ("read", "0.30", ["moriio-mamba-unsupported"]),
        ("write", "0.32", ["moriio-write-hybrid"]),
        ("read", "0.32", []),
        ("write", "0.33", []),
    ],
)
def test_the_releases_that_move_mamba_layers(mode: str, version: str, expected: list[str]) -> None:
    assert told(pair(DS, DS, model=MAMBA, mode=mode, version=version)) == expected


def test_mamba_states_are_read_between_equal_tp_sizes_only() -> None:
    roles = tp(8, **DS), tp(16, **DS)
    assert told(pair(*roles, model=MAMBA)) == ["moriio-mamba-unequal-tp"]
    assert told(pair(*roles, model=MAMBA, mode="write")) == []


@pytest.mark.parametrize(
    ("env", "expected"),
    [({"VLLM_SSM_CONV_STATE_LAYOUT": "DS"}, []), ({"VLLM_SSM_CONV_STATE_LAYOUT": "SD"}, [""]), ({}, ["-unset"])],
)
def test_the_layout_of_mamba_states(env: dict[str, str], expected: list[str]) -> None:
    document = pair(DS, {"env": env}, model=MAMBA)
    assert told(document) == [f"moriio-conv-state-layout{code}" for code in expected]
    assert told({**document, "model": GQA}) == []


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        ({"speculative-config": {"method": "eagle3"}}, False),
        ({"speculative-config": {"method": "dspark"}}, True),
        ({"speculative-config": {"model": "org/draft"}}, True),
        ({"speculative-config": '{"method": "dspark"}'}, True),
        ({}, True),
    ],
)
def test_mamba_models_speculate_with_dspark(arguments: Any, fits: bool) -> None:
    document = pair(DS, {**DS, "engine_args": arguments}, model=MAMBA)
    assert told(document) == ([] if fits else ["moriio-hybrid-speculation"])
    assert told({**document, "model": GQA}) == []


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (tp(2, data_parallel_size=2), ["moriio-dp-with-tp"]),
        (tp(1, data_parallel_size=8), []),
        (tp(8), []),
        (tp(2, data_parallel_size=4, data_parallel_size_local=2), ["moriio-dp-local-with-tp"]),
        (tp(2, data_parallel_size=4, data_parallel_size_local=1), []),
        (tp(2, data_parallel_size=4, data_parallel_size_local=0), []),
        (tp(2, data_parallel_size=4, engine_args={"data-parallel-rank": 3}), []),
        (tp(2, data_parallel_size=4, engine_args={"data_parallel_rank": 0}), []),
        (tp(8, data_parallel_size=2, engine_args={"nnodes": 2}), []),
        (tp(2, data_parallel_size=2, engine_args={"data-parallel-backend": "ray"}), []),
    ],
)
def test_data_parallel_ranks_of_one_node_have_one_tp_rank(role: Any, expected: list[str]) -> None:
    assert told(pair(role, role, model=MLA)) == expected * 2


def test_what_nothing_checks_is_only_a_warning() -> None:
    context = tp(2, decode_context_parallel_size=2)
    warned = {
        "moriio-pipeline": pair({"pipeline_parallel_size": 2}),
        "moriio-dcp-mismatch": pair(tp(2), context, model=MLA),
        "moriio-kv-both": pair(prefill={}, decode={}) | {"connector": {"decode": {"kv_role": "kv_both"}}},
    }
    for code, document in warned.items():
        assert told(document) == [code]
        assert is_taken(document)


@pytest.mark.parametrize(("role", "kv_role"), [("prefill", "kv_consumer"), ("decode", "kv_producer")])
def test_a_role_does_its_own_part(role: str, kv_role: str) -> None:
    assert told(pair() | {"connector": {role: {"kv_role": kv_role}}}) == [f"{role}-kv-role"]
