"""MoRIIO's rules against the arithmetic of vLLM's own functions, exhaustively over small sizes."""

from __future__ import annotations

from itertools import product

import pytest

from pdtopology import geometry
from pdtopology.deployment import Deployment
from pdtopology.geometry import GeometryError
from pdtopology.violations import FIND_REFUSALS

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
