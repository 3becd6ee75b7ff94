"""MoRIIO's ranks, heads and acknowledgements against the verdicts of vLLM's own functions, row for row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdtopology import geometry
from pdtopology.geometry import GeometryError, TransferAck
from tests.geometry.vectors import answer, differences, rows


def drive_acks(producer_tp: int, consumer_tp: int, acks_sent: int, known: bool) -> Any:
    """What `moriio_resolve_ack` records: which ack completed, the count left over, and whether it is complete."""
    counts: dict[str, int] = {}
    completed: set[str] = set()
    finished = None
    for index in range(acks_sent):
        done = geometry.resolve_transfer_ack(
            TransferAck("t", consumer_tp), producer_tp, {"t"} if known else set(), counts, completed
        )
        if done is not None:
            finished = index
    return [finished, counts.get("t", 0), "t" in completed]


def can_read_and_write(prefill: int, decode: int, kv_heads: int, is_mla: bool) -> list[bool]:
    """Whether a pair can READ, with every decode rank's peer and the acknowledgements, and whether it can WRITE."""

    def read() -> None:
        for rank in range(decode):
            geometry.remote_tp_rank(rank, decode, prefill)
        geometry.validate_replicated_kv_heads(decode, prefill, kv_heads, is_mla)
        geometry.expected_ack_count(prefill, decode)

    return [answer(read) is None, answer(geometry.validate_head_sharding, prefill, decode, kv_heads, is_mla) is None]


@pytest.mark.parametrize(
    ("vector", "function"),
    [
        ("moriio_remote_tp_rank", geometry.remote_tp_rank),
        ("moriio_read_holders", geometry.read_source_tp_ranks),
        ("moriio_validate_kv_heads", geometry.validate_replicated_kv_heads),
        ("moriio_validate_write_topology", geometry.validate_head_sharding),
        ("moriio_expected_ack_count", geometry.expected_ack_count),
        ("moriio_resolve_ack", drive_acks),
        ("moriio_write_mapping", geometry.write_mapping),
        ("moriio_peer_tp_size", geometry.peer_tp_size),
    ],
)
def test_every_vector_row_agrees_with_vllm(vector: str, function: Callable[..., Any]) -> None:
    assert differences(vector, function) == []


def test_read_and_write_agree_with_vllm_on_every_pair() -> None:
    for sizes, verdicts in rows("moriio_read_vs_write"):
        assert can_read_and_write(*sizes) == [verdict == "ok" for verdict in verdicts], sizes


@given(st.integers(-2, 80), st.integers(-2, 80))
def test_an_ack_divisible_pair_is_one_with_an_ack_count(producer: int, consumer: int) -> None:
    counted = answer(geometry.expected_ack_count, producer, consumer)
    assert geometry.is_ack_divisible_tp_pair(producer, consumer) is isinstance(counted, int)


def test_the_error_text_carries_every_value() -> None:
    with pytest.raises(GeometryError, match=r"invalid geometry: tp=\(4, 8\) kv_heads=0"):
        geometry.validate_replicated_kv_heads(4, 8, 0, False)


SIZES = st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16])


@pytest.mark.parametrize("rank", [-1, 4])
def test_a_rank_out_of_range_writes_nothing(rank: int) -> None:
    with pytest.raises(GeometryError, match=f"tp=4 rank={rank}"):
        geometry.write_mapping(rank, 4, 8, 8, False)


def test_no_heads_are_written_of_none() -> None:
    with pytest.raises(GeometryError, match="tp=4 kv_heads=0"):
        geometry.write_mapping(0, 4, 4, 0, False)


def test_a_peer_size_that_is_no_number_is_told() -> None:
    with pytest.raises(GeometryError, match="peer tp='x' local tp=4"):
        geometry.peer_tp_size({"tp_size": "x"}, 4)


@given(SIZES, SIZES, SIZES)
def test_write_fills_every_consumer_head_once_with_the_right_head(producer: int, consumer: int, heads: int) -> None:
    if isinstance(answer(geometry.validate_head_sharding, producer, consumer, heads, False), dict):
        return
    if max(producer, heads) % min(producer, heads):  # equal sizes pass with any head count
        return
    written: list[tuple[int, int]] = []
    for rank in range(producer):
        own = geometry.kv_heads_on_rank(rank, producer, heads)
        for target in geometry.write_mapping(rank, producer, consumer, heads, False).targets:
            theirs = geometry.kv_heads_on_rank(target.tp_rank, consumer, heads)
            for offset in range(target.num_heads):
                head = theirs[target.remote_head + offset]
                assert head == own[target.local_head + offset]
                written.append((target.tp_rank, head))
    wanted = [(rank, head) for rank in range(consumer) for head in geometry.kv_heads_on_rank(rank, consumer, heads)]
    assert sorted(written) == wanted


def test_a_bare_id_is_an_ack_of_a_consumer_of_size_one() -> None:
    completed: set[str] = set()
    assert geometry.resolve_transfer_ack("t", 4, {"t"}, {}, completed) == "t"
    assert completed == {"t"}


def test_acks_return_the_id_once_after_the_expected_number() -> None:
    counts: dict[str, int] = {}
    completed: set[str] = set()
    ack = TransferAck("t", consumer_tp_size=8)
    answers = [geometry.resolve_transfer_ack(ack, 4, {"t"}, counts, completed) for _ in range(3)]
    assert answers == [None, "t", None]
    assert counts == {}


def test_an_impossible_ack_changes_nothing() -> None:
    counts = {"t": 1}
    completed: set[str] = set()
    with pytest.raises(GeometryError, match=r"tp=\(4, 6\)"):
        geometry.resolve_transfer_ack(TransferAck("t", 6), 4, {"t"}, counts, completed)
    assert (counts, completed) == ({"t": 1}, set())
