"""MoRIIO's ports against the verdicts of vLLM's own functions, row for row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdtopology import geometry
from pdtopology.geometry import GeometryError
from tests.geometry.vectors import differences, rows


def test_every_port_row_agrees_with_vllm() -> None:
    for (_, tp_size, dp_rank, tp_rank), (bind, dial, equal) in rows("moriio_ports"):
        bound = geometry.port_offset(dp_rank, tp_rank)
        dialled = geometry.port_offset(dp_rank, tp_rank, tp_size)
        assert [bound, dialled, bound == dialled] == [bind, dial, equal]


def test_a_port_offset_needs_a_positive_tp_size() -> None:
    with pytest.raises(GeometryError, match="tp=0 rank=1 dp_rank=2"):
        geometry.port_offset(2, 1, 0)


def test_every_host_of_the_vectors_uses_its_ports_as_in_vllm() -> None:
    for sizes, (num_ports, num_ranks, collide, misdialled) in rows("moriio_port_collisions"):
        assert geometry.port_use(*sizes) == (num_ranks, num_ports, misdialled)
        assert collide is (num_ports < num_ranks)


def test_the_ports_of_no_ranks_are_refused() -> None:
    with pytest.raises(GeometryError, match="tp=4 dp=0"):
        geometry.port_use(0, 4)


def test_every_fold_row_agrees_with_vllm() -> None:
    def fold(dp_rank: int, dp_size_local: int) -> list[int]:
        return [geometry.fold_local_rank(dp_rank, dp_size_local), geometry.pod_index(dp_rank, dp_size_local)]

    assert differences("moriio_dp_fold", fold) == []


@given(st.integers(0, 10_000), st.integers(1, 64))
def test_a_host_and_the_rank_on_it_are_the_rank_again(dp_rank: int, dp_size_local: int) -> None:
    host = geometry.pod_index(dp_rank, dp_size_local)
    assert host * dp_size_local + geometry.fold_local_rank(dp_rank, dp_size_local) == dp_rank
