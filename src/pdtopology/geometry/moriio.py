"""MoRIIO: which ranks of a pair talk to each other, which KV heads go between them, and who acknowledges."""

from __future__ import annotations

from collections.abc import Collection, Mapping, MutableMapping, MutableSet
from typing import NamedTuple

from pdtopology.geometry.heads import (
    GeometryError,
    has_positive_geometry,
    held_heads,
    is_whole_share,
    num_kv_heads_per_rank,
)


def is_ack_divisible_tp_pair(producer_tp: int, consumer_tp: int) -> bool:
    """Whether a producer can count acknowledgements: the consumer is not larger, or a multiple.

    vLLM `get_moriio_expected_ack_count` raises for the other pairs.
    """
    if not has_positive_geometry(producer_tp, consumer_tp):
        return False
    return consumer_tp <= producer_tp or consumer_tp % producer_tp == 0


def expected_ack_count(producer_tp_size: int, consumer_tp_size: int) -> int:
    """How many consumer ranks acknowledge one transfer of one producer rank.

    1 when the consumer is not larger, else the ratio of the sizes. vLLM `get_moriio_expected_ack_count`.

    Raises `GeometryError` for a size that is not positive or a ratio that is not whole.
    """
    if not is_ack_divisible_tp_pair(producer_tp_size, consumer_tp_size):
        raise GeometryError(
            f"invalid geometry: tp=({producer_tp_size}, {consumer_tp_size}): "
            "both must be positive, and a larger consumer a multiple of the producer"
        )
    return max(1, consumer_tp_size // producer_tp_size)


def peer_tp_size(kv_transfer_params: Mapping[str, int | str | None] | None, local_tp_size: int) -> int:
    """The TP size that a request states for its peer, under `remote_tp_size` or else `tp_size`; the local one if none.

    A zero states nothing; a negative size is returned as it is. vLLM 0.33 `get_moriio_peer_tp_size`; vLLM 0.26 took 1
    if none was stated.

    Raises `GeometryError` for a text that is no whole number.
    """
    stated = kv_transfer_params or {}
    size = stated.get("remote_tp_size") or stated.get("tp_size") or local_tp_size
    try:
        return int(size)
    except ValueError:
        raise GeometryError(f"invalid geometry: peer tp={size!r} local tp={local_tp_size}") from None


def remote_tp_rank(local_tp_rank: int, local_tp_size: int, remote_tp_size: int) -> int:
    """The remote rank that a local rank talks to, the first where it talks to several.

    `rank * ratio` if the remote side is larger, else `rank // ratio`. vLLM `get_moriio_remote_tp_rank`.

    Raises `GeometryError` for a size that is not positive, a rank out of range, or sizes of which neither is a
    multiple of the other.
    """
    given = f"invalid geometry: tp=({local_tp_size}, {remote_tp_size}) rank={local_tp_rank}"
    if not is_whole_share(local_tp_size, remote_tp_size):
        raise GeometryError(f"{given}: sizes must be positive, and one a multiple of the other")
    if not 0 <= local_tp_rank < local_tp_size:
        raise GeometryError(f"{given}: no such local rank")
    return local_tp_rank * remote_tp_size // local_tp_size


def read_source_tp_ranks(local_tp_rank: int, local_tp_size: int, remote_tp_size: int) -> tuple[int, ...]:
    """The prefill ranks that together hold what one decode rank reads, in ascending order.

    One rank when prefill is not larger, else as many as the ratio of the sizes. vLLM 0.33
    `get_moriio_read_holder_tp_ranks`; up to 0.32 only the first of them was told that the read is done.

    Raises `GeometryError` as `remote_tp_rank` does.
    """
    first = remote_tp_rank(local_tp_rank, local_tp_size, remote_tp_size)
    return tuple(range(first, first + max(1, remote_tp_size // local_tp_size)))


def validate_replicated_kv_heads(
    local_tp_size: int, remote_tp_size: int, total_num_kv_heads: int, is_mla: bool
) -> None:
    """Refuse what MoRIIO READ cannot copy: unequal sizes of which one is below the KV heads.

    READ copies whole blocks, so with unequal sizes every rank must hold one replicated head. MLA and
    equal sizes always pass. vLLM `validate_moriio_heterogeneous_tp_kv_heads`.

    Raises `GeometryError`.
    """
    if is_mla or local_tp_size == remote_tp_size:
        return
    if (
        not has_positive_geometry(local_tp_size, remote_tp_size, total_num_kv_heads)
        or min(local_tp_size, remote_tp_size) < total_num_kv_heads
    ):
        raise GeometryError(f"invalid geometry: tp=({local_tp_size}, {remote_tp_size}) kv_heads={total_num_kv_heads}")


def validate_head_sharding(producer_tp_size: int, consumer_tp_size: int, total_num_kv_heads: int, is_mla: bool) -> None:
    """Refuse what MoRIIO WRITE cannot map: sizes that do not divide, or that split a KV head.

    With unequal sizes of a model that is not MLA, each side must shard the heads evenly or replicate them
    evenly. vLLM 0.33 `validate_write_tp_topology`; earlier releases support no unequal sizes in WRITE.

    Raises `GeometryError`.
    """
    if is_whole_share(producer_tp_size, consumer_tp_size) and (
        is_mla
        or producer_tp_size == consumer_tp_size
        or (
            is_whole_share(producer_tp_size, total_num_kv_heads)
            and is_whole_share(consumer_tp_size, total_num_kv_heads)
        )
    ):
        return
    raise GeometryError(f"invalid geometry: tp=({producer_tp_size}, {consumer_tp_size}) kv_heads={total_num_kv_heads}")


class TransferAck(NamedTuple):
    """One consumer rank's word that it has read a transfer. vLLM `MoRIIOTransferAck`."""

    transfer_id: str
    consumer_tp_size: int = 1


def resolve_transfer_ack(
    ack: TransferAck | str,
    producer_tp_size: int,
    live_transfer_ids: Collection[str],
    notification_counts: MutableMapping[str, int],
    completed_transfer_ids: MutableSet[str],
) -> str | None:
    """Count one acknowledgement; return the transfer's id when the last expected one has come.

    A bare id is an acknowledgement by a consumer of TP size 1. An id that is not live or is already
    complete gives None and changes nothing. vLLM `resolve_moriio_transfer_ack`.

    Raises `GeometryError` for a live transfer as `expected_ack_count` does, before anything is counted.
    """
    transfer_id, consumer_tp_size = TransferAck(ack) if isinstance(ack, str) else ack
    if transfer_id not in live_transfer_ids or transfer_id in completed_transfer_ids:
        return None
    expected = expected_ack_count(producer_tp_size, consumer_tp_size)
    count = notification_counts.get(transfer_id, 0) + 1
    if count < expected:
        notification_counts[transfer_id] = count
        return None
    notification_counts.pop(transfer_id, None)
    completed_transfer_ids.add(transfer_id)
    return transfer_id


class WriteTarget(NamedTuple):
    """What one producer rank writes to one consumer rank, in KV heads counted from each rank's own first.

    `num_heads` is 0 where only recurrent state is written. The slices say which part of the larger side's
    share this is: the producer sends slice `local_slice` of `local_slices` of what it holds, which becomes slice
    `remote_slice` of `remote_slices` on the consumer. `num_writers` producer ranks write to that consumer.
    """

    tp_rank: int
    local_head: int
    remote_head: int
    num_heads: int
    local_slice: int
    local_slices: int
    remote_slice: int
    remote_slices: int
    num_writers: int


class WriteMapping(NamedTuple):
    """The KV heads on a producer rank and on a consumer rank, and the writes between them."""

    local_num_heads: int
    remote_num_heads: int
    targets: tuple[WriteTarget, ...]


def write_mapping(
    producer_tp_rank: int,
    producer_tp_size: int,
    consumer_tp_size: int,
    total_num_kv_heads: int,
    is_mla: bool,
    has_mamba: bool = False,
) -> WriteMapping:
    """Which consumer ranks, and which of their heads, one producer rank writes in MoRIIO WRITE.

    Each head of a consumer rank is written once: of the producer ranks that hold copies of a head, the first
    in the consumer's group writes it. With recurrent (mamba) layers every rank of the group writes, since their
    state is sharded over all ranks. vLLM 0.33 `compute_write_tp_mapping` in moriio_tp_mapping.py.

    Raises `GeometryError` as `validate_head_sharding` does, for a rank out of range, and for KV heads that are not
    positive.
    """
    validate_head_sharding(producer_tp_size, consumer_tp_size, total_num_kv_heads, is_mla)
    if not 0 <= producer_tp_rank < producer_tp_size:
        raise GeometryError(f"invalid geometry: tp={producer_tp_size} rank={producer_tp_rank}")
    remote_num_heads = num_kv_heads_per_rank(consumer_tp_size, total_num_kv_heads, is_mla)
    # An MLA latent is one head that every rank holds.
    heads = 1 if is_mla else total_num_kv_heads
    local = held_heads(producer_tp_rank, producer_tp_size, heads)
    local_slices = max(1, consumer_tp_size // producer_tp_size)
    remote_slices = max(1, producer_tp_size // consumer_tp_size)
    remote_slice = producer_tp_rank % remote_slices
    copies = min(max(1, producer_tp_size // heads), remote_slices)
    writes_heads = remote_slice % copies == 0
    targets = []
    if writes_heads or has_mamba:
        first_rank = producer_tp_rank * consumer_tp_size // producer_tp_size
        for local_slice in range(local_slices):
            remote = held_heads(first_rank + local_slice, consumer_tp_size, heads)
            targets.append(
                WriteTarget(
                    tp_rank=first_rank + local_slice,
                    local_head=max(0, remote.start - local.start),
                    remote_head=max(0, local.start - remote.start),
                    num_heads=min(len(local), len(remote)) if writes_heads else 0,
                    local_slice=local_slice,
                    local_slices=local_slices,
                    remote_slice=remote_slice,
                    remote_slices=remote_slices,
                    num_writers=remote_slices if has_mamba else remote_slices // copies,
                )
            )
    return WriteMapping(len(local), remote_num_heads, tuple(targets))
