"""The keys of NIXL's section that rules read."""

from __future__ import annotations

from pdtopology.constraints import Key

BUFFER_DEVICE = Key("kv_buffer_device", "connector.kv_buffer_device", default="cuda", nullable=True)
PERMUTES = Key("enable_permute_local_kv", "connector.enable_permute_local_kv", default=False).is_(True)
ENFORCES_COMPATIBILITY = Key("enforce_handshake_compat", "connector.enforce_handshake_compat", default=True).is_(True)
BIDIRECTIONAL = Key("bidirectional_kv_xfer", "connector.bidirectional_kv_xfer", default=False)
