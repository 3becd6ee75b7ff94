"""geometry.py against the verdicts of vLLM's own functions (tests/vectors), row for row."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdtopology import geometry
from pdtopology.geometry import GeometryError, TransferAck

VECTORS = Path(__file__).parent / "vectors"


def rows(name: str) -> Iterator[tuple[list[Any], Any]]:
    """Each row's inputs and result; the exception's name stands for a raised one."""
    with gzip.open(VECTORS / f"{name}.jsonl.gz", "rt") as lines:
        next(lines)
        for line in lines:
            row = json.loads(line)
            yield row["i"], {"raises": row["e"]} if "e" in row else row["r"]


def answer(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function returns, in JSON's types, or that it raised."""
    try:
        return json.loads(json.dumps(function(*arguments)))
    except GeometryError:
        return {"raises": "GeometryError"}


def differences(name: str, function: Callable[..., Any]) -> list[Any]:
    """The rows on which the function and vLLM differ; an exception equals any exception."""
    different = []
    for arguments, expected in rows(name):
        got = answer(function, *arguments)
        raised = isinstance(got, dict), isinstance(expected, dict)
        if raised[0] != raised[1] or (not raised[0] and got != expected):
            different.append((arguments, expected, got))
    return different


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
    ],
)
def test_every_vector_row_agrees_with_vllm(vector: str, function: Callable[..., Any]) -> None:
    assert differences(vector, function) == []


def test_every_port_row_agrees_with_vllm() -> None:
    for (_, tp_size, dp_rank, tp_rank), (bind, dial, equal) in rows("moriio_ports"):
        bound = geometry.port_offset(dp_rank, tp_rank)
        dialled = geometry.port_offset(dp_rank, tp_rank, tp_size)
        assert [bound, dialled, bound == dialled] == [bind, dial, equal]


def test_a_port_offset_needs_a_positive_tp_size() -> None:
    with pytest.raises(GeometryError, match="tp=0 rank=1 dp_rank=2"):
        geometry.port_offset(2, 1, 0)


@pytest.mark.parametrize("size", [0, -1, True, 4.0, "4", None, float("nan"), [4]])
def test_only_ints_above_zero_are_positive_geometry(size: object) -> None:
    assert not geometry.has_positive_geometry(4, size)


@given(st.lists(st.integers(min_value=1), max_size=4))
def test_ints_above_zero_are_positive_geometry(sizes: list[int]) -> None:
    assert geometry.has_positive_geometry(*sizes)


@given(st.integers(-2, 80), st.integers(-2, 80))
def test_an_ack_divisible_pair_is_one_with_an_ack_count(producer: int, consumer: int) -> None:
    counted = answer(geometry.expected_ack_count, producer, consumer)
    assert geometry.is_ack_divisible_tp_pair(producer, consumer) is isinstance(counted, int)


def test_the_error_text_carries_every_value() -> None:
    with pytest.raises(GeometryError, match=r"invalid geometry: tp=\(4, 8\) kv_heads=0"):
        geometry.validate_replicated_kv_heads(4, 8, 0, False)


def test_a_geometry_error_is_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"tp=\(4, 6\)"):
        geometry.remote_tp_rank(0, 4, 6)


SIZES = st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16])


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


@pytest.mark.parametrize("rank", [-1, 4])
def test_a_rank_out_of_range_writes_nothing(rank: int) -> None:
    with pytest.raises(GeometryError, match=f"tp=4 rank={rank}"):
        geometry.write_mapping(rank, 4, 8, 8, False)


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
