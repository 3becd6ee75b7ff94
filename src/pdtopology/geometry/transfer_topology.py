"""Which ranks of a pair talk to each other in the connectors over vLLM's `TransferTopology`, NIXL and Mooncake.

`local` is the side that moves the cache: decode when it is pulled, prefill when it is pushed.
"""

from __future__ import annotations

from pdtopology.geometry.heads import GeometryError, has_positive_geometry, is_whole_share


def tp_ratio(local_tp_size: int, remote_tp_size: int) -> int:
    """How many local ranks share one remote rank or, below zero, how many remote ranks one local rank has.

    vLLM `TransferTopology.tp_ratio`.

    Raises `GeometryError` for a size that is not positive, or sizes of which neither is a multiple of the other.
    """
    if not is_whole_share(local_tp_size, remote_tp_size):
        raise GeometryError(
            f"invalid geometry: tp=({local_tp_size}, {remote_tp_size}): "
            "sizes must be positive, and one a multiple of the other"
        )
    if local_tp_size >= remote_tp_size:
        return local_tp_size // remote_tp_size
    return -(remote_tp_size // local_tp_size)


def block_size_ratio(local_block_size: int, remote_block_size: int) -> int:
    """How many remote blocks fill one local block; sizes in tokens. vLLM `TransferTopology.block_size_ratio`.

    Raises `GeometryError` for a size that is not positive, or a local size that is no multiple of the remote one.
    """
    if not has_positive_geometry(local_block_size, remote_block_size) or local_block_size % remote_block_size:
        raise GeometryError(
            f"invalid geometry: block_size=({local_block_size}, {remote_block_size}): "
            "sizes must be positive, and the local one a multiple of the remote one"
        )
    return local_block_size // remote_block_size


def handshake_target_ranks(
    local_tp_rank: int, local_tp_size: int, remote_tp_size: int, local_dcp_size: int = 1, remote_dcp_size: int = 1
) -> tuple[int, ...]:
    """The remote ranks that a local rank shakes hands with, in ascending order.

    Where the remote side shards sequences (`remote_dcp_size` above 1, MLA only), these are the ranks whose part
    overlaps the local one. vLLM 0.30 `TransferTopology.handshake_target_ranks`, which knows no DCP up to 0.28.

    Raises `GeometryError` as `tp_ratio` does unless the remote side shards sequences, for a DCP size that is neither
    1 nor the TP size, and for a rank out of range.
    """
    _check_dcp_size(local_tp_size, local_dcp_size)
    _check_dcp_size(remote_tp_size, remote_dcp_size)
    if not 0 <= local_tp_rank < local_tp_size:
        raise GeometryError(f"invalid geometry: tp=({local_tp_size}, {remote_tp_size}) rank={local_tp_rank}")
    if remote_dcp_size == 1:
        first = local_tp_rank * remote_tp_size // local_tp_size
        return tuple(range(first, first + max(1, -tp_ratio(local_tp_size, remote_tp_size))))
    dcp_rank = local_tp_rank % local_dcp_size
    if local_dcp_size <= remote_dcp_size:
        return tuple(range(dcp_rank, remote_tp_size, local_dcp_size))
    return (dcp_rank % remote_dcp_size,)


def dcp_consumer_count(
    local_tp_size: int, remote_tp_size: int, local_dcp_size: int = 1, remote_dcp_size: int = 1
) -> int:
    """How many local ranks read one remote rank, which keeps a request's blocks until all of them have.

    vLLM 0.30 `TransferTopology.dcp_consumer_count`.

    Raises `GeometryError` as `handshake_target_ranks` does.
    """
    _check_dcp_size(local_tp_size, local_dcp_size)
    _check_dcp_size(remote_tp_size, remote_dcp_size)
    if remote_dcp_size == 1:
        return max(1, tp_ratio(local_tp_size, remote_tp_size))
    if local_dcp_size == 1:
        return local_tp_size
    return max(1, local_dcp_size // remote_dcp_size)


def _check_dcp_size(tp_size: int, dcp_size: int) -> None:
    """Refuse a side whose cache is sharded in part only. vLLM `VllmConfig.__post_init__`, for NIXL."""
    if not has_positive_geometry(tp_size, dcp_size) or dcp_size not in {1, tp_size}:
        raise GeometryError(f"invalid geometry: tp={tp_size} dcp={dcp_size}: dcp must be 1 or the TP size")
