"""The heads of one role against the verdicts of vLLM's own functions, row for row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdtopology import geometry
from pdtopology.geometry import GeometryError
from tests.geometry.vectors import answer, differences

SIZES = st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16])


def verified_kv_heads(num_attention_heads: int, total_num_kv_heads: int, tp: int, dcp: int, is_mla: bool) -> int:
    """What `general_verify_*` record: the KV heads on a rank of a model that is not refused."""
    geometry.validate_attention_heads(num_attention_heads, total_num_kv_heads, tp, dcp, is_mla)
    return geometry.num_kv_heads_per_rank(tp, total_num_kv_heads, is_mla)


@pytest.mark.parametrize("release", ["0_26_0", "0_33_0"])
def test_every_vector_row_agrees_with_vllm(release: str) -> None:
    assert differences(f"general_verify_{release}", verified_kv_heads) == []


@pytest.mark.parametrize("size", [0, -1, True, 4.0, "4", None, float("nan"), [4]])
def test_only_ints_above_zero_are_positive_geometry(size: object) -> None:
    assert not geometry.has_positive_geometry(4, size)


@given(st.lists(st.integers(min_value=1), max_size=4))
def test_ints_above_zero_are_positive_geometry(sizes: list[int]) -> None:
    assert geometry.has_positive_geometry(*sizes)


def test_a_geometry_error_is_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"tp=4 rank=0 kv_heads=6"):
        geometry.kv_heads_on_rank(0, 4, 6)


@given(SIZES, SIZES)
def test_the_ranks_of_one_side_cover_the_heads_evenly(tp_size: int, heads: int) -> None:
    held = [answer(lambda rank: list(geometry.kv_heads_on_rank(rank, tp_size, heads)), rank) for rank in range(tp_size)]
    if max(tp_size, heads) % min(tp_size, heads):
        assert all(isinstance(rank, dict) for rank in held)
    else:
        counts = [sum(head in rank for rank in held) for head in range(heads)]
        assert counts == [max(1, tp_size // heads)] * heads


@pytest.mark.parametrize("rank", [-1, 4])
def test_a_rank_out_of_range_holds_no_heads(rank: int) -> None:
    with pytest.raises(GeometryError, match=f"tp=4 rank={rank} kv_heads=8"):
        geometry.kv_heads_on_rank(rank, 4, 8)


@given(SIZES, SIZES)
def test_a_rank_holds_as_many_heads_as_vllm_reckons(tp_size: int, heads: int) -> None:
    held = answer(lambda: list(geometry.kv_heads_on_rank(tp_size - 1, tp_size, heads)))
    if not isinstance(held, dict):
        assert len(held) == geometry.num_kv_heads_per_rank(tp_size, heads, False)


def test_a_rank_of_no_heads_holds_none() -> None:
    with pytest.raises(GeometryError, match="tp=4 kv_heads=0"):
        geometry.num_kv_heads_per_rank(4, 0, False)


@pytest.mark.parametrize(
    "sizes", [(0, 8, 4, 1), (64, 0, 8, 2), (64, 8, 0, 1), (64, 8, 4, 0)], ids=["heads", "kv_heads", "tp", "dcp"]
)
def test_attention_heads_need_positive_sizes(sizes: tuple[int, int, int, int]) -> None:
    heads, kv_heads, tp, dcp = sizes
    with pytest.raises(GeometryError, match=f"heads={heads} kv_heads={kv_heads} tp={tp} dcp={dcp}"):
        geometry.validate_attention_heads(*sizes, False)
