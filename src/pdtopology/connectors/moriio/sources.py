"""Where vLLM's MoRIIO connector enforces its rules."""

from __future__ import annotations

from pdtopology.rule import Upstream

_MORIIO = "vllm/distributed/kv_transfer/kv_connector/v1/moriio"


def connector(function: str) -> Upstream:
    """A function of the connector itself."""
    return Upstream(f"{_MORIIO}/moriio_connector.py", function)


READ_OFFSETS = connector("_compute_read_attention_offsets")
HEAD_SLICES = Upstream(f"{_MORIIO}/moriio_layout.py", "compute_head_slice_offsets")
ENGINE = Upstream(
    f"{_MORIIO}/moriio_engine.py", "MoRIIOWriter (calls _compute_block_transfer_offsets without remote_tp_size)"
)
DOCUMENTATION = Upstream("docs/features/moriio_connector_usage.md", "Heterogeneous TP")
