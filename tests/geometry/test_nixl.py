"""NIXL's handshake and mapping against the verdicts of vLLM's own functions, row for row."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pdtopology import geometry
from pdtopology.geometry import GeometryError
from tests.geometry.vectors import answer, differences


def handshake(prefill_tp: int, decode_tp: int, kv_heads: int, is_mla: bool, mode: str) -> int:
    """What `nixl_handshake_verdict` records: the ratio of a pair that is not refused."""
    local, remote = (decode_tp, prefill_tp) if mode == "pull" else (prefill_tp, decode_tp)
    geometry.validate_nixl_handshake(local, remote, kv_heads, is_mla)
    return geometry.tp_ratio(local, remote)


def mapping(rank: int, local_tp: int, remote_tp: int, kv_heads: int, is_mla: bool, groups: str) -> list[Any]:
    """What `nixl_tp_mapping` records, of an attention group and perhaps a mamba group."""
    found = geometry.nixl_tp_mapping(rank, local_tp, remote_tp, kv_heads, is_mla, has_mamba=groups == "am")
    ranks_of = {"a": found.attention_source_ranks, "m": found.mamba_source_ranks}
    slots = found.rank_to_attention_slot
    return [
        list(slots),
        [ranks_of[group] for group in groups],
        list(slots.items()),
        found.rank_offset_factor,
        found.local_consumers,
    ]


def test_every_handshake_row_agrees_with_vllm() -> None:
    assert differences("nixl_handshake_verdict", handshake) == []


def test_every_mapping_row_agrees_with_vllm() -> None:
    assert differences("nixl_tp_mapping", mapping) == []


SIZES = st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16])


@given(SIZES, SIZES, SIZES)
def test_every_rank_reads_each_of_its_heads_once_and_into_its_slot(local_tp: int, remote_tp: int, heads: int) -> None:
    assume(all(max(pair) % min(pair) == 0 for pair in ((local_tp, remote_tp), (local_tp, heads), (remote_tp, heads))))
    for rank in range(local_tp):
        own = list(geometry.kv_heads_on_rank(rank, local_tp, heads))
        found = geometry.nixl_tp_mapping(rank, local_tp, remote_tp, heads, False)
        assert list(found.rank_to_attention_slot.values()) == list(range(len(found.attention_source_ranks)))
        held = [
            head
            for source in found.attention_source_ranks
            for head in geometry.kv_heads_on_rank(source, remote_tp, heads)
        ]
        first = found.rank_offset_factor * len(own)
        assert held[first : first + len(own)] == own
        if local_tp <= remote_tp:
            assert held == own


@given(SIZES, SIZES, SIZES)
def test_mamba_state_is_read_from_every_rank_of_the_handshake(local_tp: int, remote_tp: int, heads: int) -> None:
    assume(max(local_tp, remote_tp) % min(local_tp, remote_tp) == 0)
    for rank in range(local_tp):
        found = geometry.nixl_tp_mapping(rank, local_tp, remote_tp, heads, False, has_mamba=True)
        assert found.mamba_source_ranks == geometry.handshake_target_ranks(rank, local_tp, remote_tp)


def test_the_larger_side_replicates_only_where_it_is_local() -> None:
    assert answer(geometry.validate_nixl_handshake, 8, 4, 4, False) is None
    with pytest.raises(GeometryError, match=r"tp=\(4, 8\) kv_heads=4"):
        geometry.validate_nixl_handshake(4, 8, 4, False)


def test_no_heads_cannot_be_mapped() -> None:
    with pytest.raises(GeometryError, match=r"tp=\(4, 8\) kv_heads=0"):
        geometry.nixl_tp_mapping(0, 4, 8, 0, False)
