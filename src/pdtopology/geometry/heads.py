"""The sizes of one role and the KV heads on its ranks, as vLLM shards or replicates them whatever the connector."""

from __future__ import annotations


class GeometryError(ValueError):
    """Sizes for which no transfer can be laid out; the text carries every value involved."""


def has_positive_geometry(*sizes: object) -> bool:
    """Whether every size is an `int` above zero (`True` is not a size). Never raises."""
    return all(isinstance(size, int) and not isinstance(size, bool) and size > 0 for size in sizes)


def is_whole_share(tp_size: int, count: int) -> bool:
    """Whether `count` things spread evenly over the ranks, as shards or as copies. Never raises."""
    return has_positive_geometry(tp_size, count) and (count % tp_size == 0 or tp_size % count == 0)


def validate_attention_heads(
    num_attention_heads: int, total_num_kv_heads: int, tp_size: int, dcp_size: int, is_mla: bool
) -> None:
    """Refuse heads that one role cannot split: attention heads over TP, or copies of a KV head over DCP.

    Decode context parallelism shares a sequence out between ranks that hold the same KV head. Unless MLA makes every
    rank such a copy, each head needs at least `dcp_size` of them, and its query heads must be a multiple of
    `dcp_size`. vLLM `ModelConfig.verify_with_parallel_config`; that `dcp_size` divides `tp_size` is checked by its
    `ParallelConfig` and not here.

    Raises `GeometryError`.
    """
    is_split = (
        has_positive_geometry(num_attention_heads, tp_size, dcp_size)
        and num_attention_heads % tp_size == 0
        and (is_mla or dcp_size == 1 or _is_dcp_of_heads(num_attention_heads, total_num_kv_heads, tp_size, dcp_size))
    )
    if not is_split:
        raise GeometryError(
            f"invalid geometry: heads={num_attention_heads} kv_heads={total_num_kv_heads} tp={tp_size} dcp={dcp_size}"
        )


def num_kv_heads_per_rank(tp_size: int, total_num_kv_heads: int, is_mla: bool) -> int:
    """How many KV heads vLLM reckons a rank to hold: the heads over the ranks, rounded down, and at least one.

    One latent under MLA. vLLM `ModelConfig.get_num_kv_heads`, which does not mind an uneven split; building the
    model does, and so does `kv_heads_on_rank`.

    Raises `GeometryError` for a size that is not positive.
    """
    heads = 1 if is_mla else total_num_kv_heads
    if not has_positive_geometry(tp_size, heads):
        raise GeometryError(f"invalid geometry: tp={tp_size} kv_heads={heads}")
    return max(1, heads // tp_size)


def kv_heads_on_rank(tp_rank: int, tp_size: int, total_num_kv_heads: int) -> range:
    """The KV heads whose cache a rank holds: its shard of the heads, or one replicated head.

    Raises `GeometryError` unless the heads can be sharded (a multiple of the ranks) or replicated (the
    ranks a multiple of the heads) and the rank exists. vLLM `QKVParallelLinear` in model_executor/layers/linear.py.
    """
    if not is_whole_share(tp_size, total_num_kv_heads) or not 0 <= tp_rank < tp_size:
        raise GeometryError(f"invalid geometry: tp={tp_size} rank={tp_rank} kv_heads={total_num_kv_heads}")
    return held_heads(tp_rank, tp_size, total_num_kv_heads)


def held_heads(tp_rank: int, tp_size: int, heads: int) -> range:
    """The heads on a rank of sizes that are known to be positive, rounded as `num_kv_heads_per_rank` is."""
    first = tp_rank * heads // tp_size
    return range(first, first + max(1, heads // tp_size))


def _is_dcp_of_heads(num_attention_heads: int, total_num_kv_heads: int, tp_size: int, dcp_size: int) -> bool:
    """Whether each KV head has enough copies for DCP, and query heads that split over it."""
    return (
        has_positive_geometry(total_num_kv_heads)
        and dcp_size <= tp_size // total_num_kv_heads
        and num_attention_heads // total_num_kv_heads % dcp_size == 0
    )
