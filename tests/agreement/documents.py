"""Documents on which Python and the JSON Schema must agree: a full product of sizes, and junk."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

PREFILL_TP = range(1, 49)
DECODE_TP = range(1, 49)
KV_HEADS = range(1, 33)
RELEASES = (None, "0.32.1", "0.33.0")

PRODUCT_SIZE = len(PREFILL_TP) * len(DECODE_TP) * len(KV_HEADS) * 2 * 2 * len(RELEASES)


def full_product(keep: float = 1.0, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Every combination once, or a random part of them; a coin decides whether a default is written out."""
    random = Random(seed)
    combinations = product(PREFILL_TP, DECODE_TP, KV_HEADS, (False, True), ("read", "write"), RELEASES)
    for prefill, decode, kv_heads, is_mla, mode, release in combinations:
        if keep == 1.0 or random.random() < keep:
            yield document(random, prefill, decode, kv_heads, is_mla=is_mla, mode=mode, release=release)


def document(
    random: Random, prefill: int, decode: int, kv_heads: int, *, is_mla: bool, mode: str, release: str | None
) -> dict[str, Any]:
    """A document with these values; half of those that are defaults are left out."""

    def stated(key: str, value: Any, default: Any) -> dict[str, Any]:
        return {} if value == default and random.random() < 0.5 else {key: value}

    model = {"total_num_kv_heads": kv_heads, **stated("is_mla", is_mla, default=False)}
    if random.random() < 0.25:
        model["num_attention_heads"] = kv_heads * random.choice((1, 2, 3, 4, 8, 12))
    connector = {**stated("kind", "moriio", "moriio"), **stated("mode", mode, "read")}
    return {
        "model": model,
        "prefill": stated("tensor_parallel_size", prefill, 1),
        "decode": stated("tensor_parallel_size", decode, 1),
        **({"connector": connector} if connector or random.random() < 0.5 else {}),
        **({"engine": {"version": release}} if release else {}),
    }
