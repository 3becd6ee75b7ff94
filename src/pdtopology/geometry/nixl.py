"""NIXL: which pairs pass its handshake, and which KV heads a rank reads from where.

`local` is the side that moves the cache: decode in `NixlPullConnector` (also called `NixlConnector`), prefill in
`NixlPushConnector`.
"""

from __future__ import annotations

from typing import NamedTuple

from pdtopology.geometry.heads import GeometryError, has_positive_geometry
from pdtopology.geometry.transfer_topology import dcp_consumer_count, handshake_target_ranks, tp_ratio


def validate_nixl_handshake(local_tp_size: int, remote_tp_size: int, total_num_kv_heads: int, is_mla: bool) -> None:
    """Refuse sizes that NIXL refuses at the handshake: uneven ones, or a larger remote side with replicated KV heads.

    A local rank gathers its heads from several remote ranks, which then must hold different heads. MLA passes. What
    else the handshake compares (block sizes, layouts, DCP) is not asked here, and models with mamba layers, which
    pass as MLA does, are not meant. vLLM `NixlBaseConnectorWorker._validate_remote_agent_handshake`.

    Raises `GeometryError`.
    """
    if tp_ratio(local_tp_size, remote_tp_size) < 0 and not is_mla and remote_tp_size > total_num_kv_heads:
        raise GeometryError(
            f"invalid geometry: tp=({local_tp_size}, {remote_tp_size}) kv_heads={total_num_kv_heads}: "
            "a larger remote size must not exceed the KV heads"
        )


class TPMapping(NamedTuple):
    """The remote ranks that one local rank reads. vLLM `TPMapping` in nixl/tp_mapping.py.

    Each rank of `attention_source_ranks` holds other KV heads; mamba layers are read from all `mamba_source_ranks`,
    none without such layers. `rank_to_attention_slot` says which part of the local heads a rank's heads are.
    `rank_offset_factor` says where the local heads begin on a remote rank that holds more, in units of the local
    heads. `local_consumers` is how many local ranks read the same remote rank.
    """

    attention_source_ranks: tuple[int, ...]
    mamba_source_ranks: tuple[int, ...]
    rank_to_attention_slot: dict[int, int]
    rank_offset_factor: int
    local_consumers: int


def nixl_tp_mapping(
    local_tp_rank: int,
    local_tp_size: int,
    remote_tp_size: int,
    total_num_kv_heads: int,
    is_mla: bool,
    has_mamba: bool = False,
) -> TPMapping:
    """Which remote ranks, and which of their heads, one local rank reads; of copies of a head, the first.

    vLLM 0.30 to 0.33 `compute_tp_mapping` in nixl/tp_mapping.py, without DCP; up to 0.28 it rounds where the sizes
    are uneven, and the handshake refuses them. It also maps what `validate_nixl_handshake` refuses for its KV heads.

    Raises `GeometryError` as `handshake_target_ranks` does, and for KV heads that are not positive.
    """
    # An MLA latent is one head that every rank holds.
    heads = 1 if is_mla else total_num_kv_heads
    targets = handshake_target_ranks(local_tp_rank, local_tp_size, remote_tp_size)
    if not has_positive_geometry(heads):
        raise GeometryError(f"invalid geometry: tp=({local_tp_size}, {remote_tp_size}) kv_heads={heads}")
    first_heads = {rank: rank * heads // remote_tp_size for rank in targets}
    source_of_head: dict[int, int] = {}
    for rank, head in first_heads.items():
        source_of_head.setdefault(head, rank)
    slot_of_head = {head: slot for slot, head in enumerate(source_of_head)}
    sources = tuple(source_of_head.values())
    all_sources = targets if has_mamba else sources
    if local_tp_size <= remote_tp_size:
        offset = 0
    elif local_tp_size > heads:
        offset = local_tp_rank * heads // local_tp_size - first_heads[sources[0]]
    else:
        offset = local_tp_rank % (local_tp_size // remote_tp_size)
    return TPMapping(
        attention_source_ranks=sources,
        mamba_source_ranks=targets if has_mamba else (),
        rank_to_attention_slot={rank: slot_of_head[first_heads[rank]] for rank in all_sources},
        rank_offset_factor=offset,
        local_consumers=dcp_consumer_count(local_tp_size, remote_tp_size),
    )
