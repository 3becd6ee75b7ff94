"""Mooncake's verdicts against those of vLLM's own plan and validator, row for row."""

from __future__ import annotations

import re
from itertools import combinations, product

import pytest

from pdtopology import geometry
from pdtopology.geometry import GeometryError
from tests.geometry.vectors import differences

HEAD_AWARE = {"0_26_0": False, "0_28_0": False, "0_30_0": True, "0_32_0": True, "0_33_0": True}


@pytest.mark.parametrize(("release", "head_aware"), HEAD_AWARE.items())
def test_every_vector_row_agrees_with_vllm(release: str, head_aware: bool) -> None:
    def verdict(prefill_tp: int, decode_tp: int, kv_heads: int, is_mla: bool) -> list[object]:
        outcome, reason = geometry.mooncake_verdict(prefill_tp, decode_tp, kv_heads, is_mla, head_aware)
        if outcome == "ok":
            return ["ok", geometry.tp_ratio(prefill_tp, decode_tp)]
        if outcome == "reject":
            return ["reject", reason]
        return ["WRONG", re.sub(r"decode rank 0 needs KV heads (.*) and gets (.*)", r"d0 needs \1 got \2", reason)]

    assert differences(f"mooncake_{release}", verdict) == []


SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24)


def copied_heads(sender: int, receiver: int, sizes: tuple[int, int, int], head_aware: bool) -> tuple[int, int, int]:
    """What one prefill rank copies to one decode rank: from its head, to their head, and how many."""
    prefill_tp, decode_tp, kv_heads = sizes
    own = geometry.kv_heads_on_rank(sender, prefill_tp, kv_heads)
    theirs = geometry.kv_heads_on_rank(receiver, decode_tp, kv_heads)
    prefill_replicates, decode_replicates = prefill_tp > kv_heads, decode_tp > kv_heads
    if prefill_tp == decode_tp:
        return 0, 0, len(own)
    if head_aware and prefill_replicates is not decode_replicates:
        is_first_copy = sender % max(1, prefill_tp // kv_heads) == 0
        return max(0, theirs.start - own.start), max(0, own.start - theirs.start), int(is_first_copy)
    senders, receivers = max(1, prefill_tp // decode_tp), max(1, decode_tp // prefill_tp)
    if prefill_replicates:
        return 0, 0, int(sender % senders == 0)
    return receiver % receivers * len(theirs), sender % senders * len(own), min(len(own), len(theirs))


def replayed_outcome(prefill_tp: int, decode_tp: int, kv_heads: int, head_aware: bool) -> str:
    """The outcome of comparing the lengths, then of each copy of the plan."""
    sizes = (prefill_tp, decode_tp, kv_heads)
    lengths = [len(geometry.kv_heads_on_rank(0, tp, kv_heads)) for tp in (prefill_tp, decode_tp)]
    parts = [min(tp, kv_heads) if head_aware else tp for tp in (prefill_tp, decode_tp)]
    if (head_aware or prefill_tp <= kv_heads) and lengths[0] * parts[0] != lengths[1] * parts[1]:
        return "reject"
    for receiver in range(decode_tp):
        needed = geometry.kv_heads_on_rank(receiver, decode_tp, kv_heads)
        received: list[int | None] = [None] * len(needed)
        for sender in geometry.handshake_target_ranks(receiver, decode_tp, prefill_tp):
            own = geometry.kv_heads_on_rank(sender, prefill_tp, kv_heads)
            source, target, count = copied_heads(sender, receiver, sizes, head_aware)
            assert received[target : target + count] == [None] * count
            received[target : target + count] = own[source : source + count]
        if received != list(needed):
            return "wrong"
    return "ok"


@pytest.mark.parametrize("head_aware", [False, True])
def test_the_outcome_is_that_of_replaying_every_copy(head_aware: bool) -> None:
    pairs = [
        sizes
        for sizes in product(SIZES, SIZES, SIZES)
        if all(max(pair) % min(pair) == 0 for pair in combinations(sizes, 2))
    ]
    outcomes = {sizes: replayed_outcome(*sizes, head_aware) for sizes in pairs}
    assert outcomes == {sizes: geometry.mooncake_verdict(*sizes, False, head_aware).outcome for sizes in pairs}
    assert set(outcomes.values()) == ({"ok"} if head_aware else {"ok", "reject", "wrong"})


def test_uneven_sizes_have_no_verdict() -> None:
    with pytest.raises(GeometryError, match=r"tp=\(4, 6\)"):
        geometry.mooncake_verdict(4, 6, 1, True, False)


@pytest.mark.parametrize("sizes", [(4, 8, 6), (3, 6, 2)], ids=["both roles", "prefill"])
def test_heads_that_a_role_cannot_hold_have_no_verdict(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(GeometryError, match=f"tp={sizes[0]} rank=0 kv_heads={sizes[2]}"):
        geometry.mooncake_verdict(*sizes, False, True)


def test_mla_moves_between_any_even_sizes() -> None:
    assert geometry.mooncake_verdict(16, 2, 8, True, False).outcome == "ok"
