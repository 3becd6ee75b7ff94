"""Who talks to whom in NIXL and Mooncake, against the verdicts of vLLM's own functions, row for row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdtopology import geometry
from pdtopology.geometry import GeometryError
from tests.geometry.vectors import differences


def dcp_targets(rank: int, local_tp: int, local_dcp: int, remote_tp: int, remote_dcp: int) -> list[Any]:
    """What `nixl_dcp` records."""
    return [
        geometry.handshake_target_ranks(rank, local_tp, remote_tp, local_dcp, remote_dcp),
        geometry.dcp_consumer_count(local_tp, remote_tp, local_dcp, remote_dcp),
    ]


@pytest.mark.parametrize(
    ("vector", "function"),
    [
        ("nixl_tp_ratio", geometry.tp_ratio),
        ("nixl_block_size_ratio", geometry.block_size_ratio),
        ("nixl_handshake_ranks", geometry.handshake_target_ranks),
        ("nixl_dcp", dcp_targets),
    ],
)
def test_every_vector_row_agrees_with_vllm(vector: str, function: Callable[..., Any]) -> None:
    assert differences(vector, function) == []


SHARDED = st.booleans()
POWERS = st.sampled_from([1, 2, 4, 8, 16])


@given(POWERS, POWERS, SHARDED, SHARDED)
def test_a_remote_rank_is_read_by_as_many_as_it_waits_for(
    local_tp: int, remote_tp: int, local_sharded: bool, remote_sharded: bool
) -> None:
    local_dcp = local_tp if local_sharded else 1
    remote_dcp = remote_tp if remote_sharded else 1
    readers = [0] * remote_tp
    for rank in range(local_tp):
        for target in geometry.handshake_target_ranks(rank, local_tp, remote_tp, local_dcp, remote_dcp):
            readers[target] += 1
    assert set(readers) == {geometry.dcp_consumer_count(local_tp, remote_tp, local_dcp, remote_dcp)}


def test_an_uneven_ratio_is_told_with_both_sizes() -> None:
    with pytest.raises(GeometryError, match=r"tp=\(4, 6\)"):
        geometry.tp_ratio(4, 6)


@pytest.mark.parametrize("sizes", [(16, 0), (0, 16), (16, 32)])
def test_a_block_that_no_remote_blocks_fill_is_told_with_both_sizes(sizes: tuple[int, int]) -> None:
    with pytest.raises(GeometryError, match=rf"block_size=\({sizes[0]}, {sizes[1]}\)"):
        geometry.block_size_ratio(*sizes)


@pytest.mark.parametrize("rank", [-1, 4])
def test_a_rank_out_of_range_has_no_targets(rank: int) -> None:
    with pytest.raises(GeometryError, match=rf"tp=\(4, 8\) rank={rank}"):
        geometry.handshake_target_ranks(rank, 4, 8)


@pytest.mark.parametrize("dcp", [0, 2, 8])
def test_dcp_over_a_part_of_the_ranks_is_refused_on_either_side(dcp: int) -> None:
    with pytest.raises(GeometryError, match=f"tp=4 dcp={dcp}"):
        geometry.handshake_target_ranks(0, 4, 4, local_dcp_size=dcp)
    with pytest.raises(GeometryError, match=f"tp=4 dcp={dcp}"):
        geometry.dcp_consumer_count(4, 4, remote_dcp_size=dcp)
