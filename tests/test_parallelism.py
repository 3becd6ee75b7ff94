"""What vLLM demands of one role's sizes: its own verdicts row for row, then each rule's edges."""

from __future__ import annotations

from typing import Any

import pytest

from pdtopology.geometry.heads import is_whole_share
from tests.geometry.vectors import rows
from tests.verdicts import GQA, MLA, holds_its_heads, is_accepted, told

CONNECTOR = {"kind": "mooncake"}


def document_of(role: Any, *, model: Any = MLA, version: str = "0.33", other: Any = None) -> dict[str, Any]:
    """A document whose prefill role is the one in question."""
    return {
        "engine": {"version": version},
        "model": model,
        "connector": CONNECTOR,
        "prefill": role,
        "decode": role if other is None else other,
    }


@pytest.mark.parametrize("release", ["0.26.0", "0.33.0"])
def test_exactly_the_sizes_that_vllm_refuses_are_rejected(release: str) -> None:
    different = []
    for sizes, result in rows(f"general_verify_{release.replace('.', '_')}"):
        heads, kv_heads, tp, dcp, is_mla = sizes
        # That DCP divides TP is checked by ParallelConfig, and the KV heads when the model is built.
        passes = (
            not isinstance(result, dict)
            and is_whole_share(dcp, tp)
            and tp % dcp == 0
            and holds_its_heads(kv_heads, is_mla, tp)
        )
        model = {"num_attention_heads": heads, "total_num_kv_heads": kv_heads, "is_mla": is_mla}
        role = {"tensor_parallel_size": tp, "decode_context_parallel_size": dcp}
        if is_accepted(document_of(role, model=model, version=release)) is not passes:
            different.append(sizes)
    assert different == []


@pytest.mark.parametrize(
    ("tp", "pcp", "dcp", "fits"),
    [(2, 1, 2, True), (2, 1, 4, False), (2, 2, 1, True), (2, 2, 2, True), (2, 2, 4, True), (4, 2, 4, False)],
)
def test_the_decode_context_parallel_sizes_beside_prefill_context_parallelism(
    tp: int, pcp: int, dcp: int, fits: bool
) -> None:
    role = {
        "tensor_parallel_size": tp,
        "prefill_context_parallel_size": pcp,
        "decode_context_parallel_size": dcp,
    }
    assert is_accepted(document_of(role)) is fits


def test_prefill_context_and_data_parallelism_are_combined_since_0_30() -> None:
    role = {"prefill_context_parallel_size": 2, "data_parallel_size": 2}
    assert told(document_of(role, version="0.28", other={})) == ["pcp-with-dp"]
    assert told(document_of(role, version="0.30", other={})) == []


@pytest.mark.parametrize(
    ("dp", "local", "expected"),
    [
        (4, 8, ["dp-local-exceeds-dp"]),
        (4, 4, []),
        (4, 2, []),
        (4, 3, ["dp-local-uneven"]),
        (4, 0, []),
        (4, None, []),
    ],
)
def test_the_data_parallel_ranks_of_a_node(dp: int, local: int | None, expected: list[str]) -> None:
    role = {"data_parallel_size": dp, "data_parallel_size_local": local}
    assert told(document_of(role, other={})) == expected


@pytest.mark.parametrize("heads", [None, 64])
def test_heads_that_are_not_stated_are_not_divided(heads: int | None) -> None:
    model = {"num_attention_heads": heads, "is_mla": True}
    assert is_accepted(document_of({"tensor_parallel_size": 3}, model=model)) is (heads is None)


def test_each_role_is_told_by_itself() -> None:
    document = document_of({"tensor_parallel_size": 3}, model=GQA, other={"tensor_parallel_size": 5})
    assert told(document) == ["attention-heads-not-divisible", "attention-heads-not-divisible", "tp-not-divisible"]
