"""Rank and KV-head arithmetic of a prefill/decode pair, in plain integers, by itself.

Each function answers exactly as the vLLM function that its docstring names (the same in vLLM 0.26 to 0.33 unless
a release is given) and raises `GeometryError` where that one raises. `local` and `remote` are the two sides of one
transfer; the producer is prefill, the consumer is decode. Functions without a connector's name in their own are
MoRIIO's in `moriio` and `ports`, those of NIXL and Mooncake in `transfer_topology`, and any connector's in `heads`.
"""

from pdtopology.geometry.heads import (
    GeometryError,
    has_positive_geometry,
    kv_heads_on_rank,
    num_kv_heads_per_rank,
    validate_attention_heads,
)
from pdtopology.geometry.mooncake import MooncakeVerdict, mooncake_verdict
from pdtopology.geometry.moriio import (
    TransferAck,
    WriteMapping,
    WriteTarget,
    expected_ack_count,
    is_ack_divisible_tp_pair,
    peer_tp_size,
    read_source_tp_ranks,
    remote_tp_rank,
    resolve_transfer_ack,
    validate_head_sharding,
    validate_replicated_kv_heads,
    write_mapping,
)
from pdtopology.geometry.nixl import TPMapping, nixl_tp_mapping, validate_nixl_handshake
from pdtopology.geometry.ports import PortUse, fold_local_rank, pod_index, port_offset, port_use
from pdtopology.geometry.transfer_topology import (
    block_size_ratio,
    dcp_consumer_count,
    handshake_target_ranks,
    tp_ratio,
)

__all__ = [
    "GeometryError",
    "MooncakeVerdict",
    "PortUse",
    "TPMapping",
    "TransferAck",
    "WriteMapping",
    "WriteTarget",
    "block_size_ratio",
    "dcp_consumer_count",
    "expected_ack_count",
    "fold_local_rank",
    "handshake_target_ranks",
    "has_positive_geometry",
    "is_ack_divisible_tp_pair",
    "kv_heads_on_rank",
    "mooncake_verdict",
    "nixl_tp_mapping",
    "num_kv_heads_per_rank",
    "peer_tp_size",
    "pod_index",
    "port_offset",
    "port_use",
    "read_source_tp_ranks",
    "remote_tp_rank",
    "resolve_transfer_ack",
    "tp_ratio",
    "validate_attention_heads",
    "validate_head_sharding",
    "validate_nixl_handshake",
    "validate_replicated_kv_heads",
    "write_mapping",
]
