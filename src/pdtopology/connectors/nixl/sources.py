"""Where vLLM's NIXL connector enforces its rules."""

from __future__ import annotations

from pdtopology.rule import Upstream

NIXL = "vllm/distributed/kv_transfer/kv_connector/v1/nixl"

HANDSHAKE = Upstream(f"{NIXL}/base_worker.py", "_validate_remote_agent_handshake")
PUSH_REGISTRATION = Upstream(f"{NIXL}/push_worker.py", "_send_registration_to_p (notif_agents_only)")
COMPATIBILITY = Upstream(f"{NIXL}/metadata.py", "compute_nixl_compatibility_hash")
WORKER_START = Upstream(f"{NIXL}/base_worker.py", "NixlBaseConnectorWorker.__init__")
CONNECTOR_START = Upstream(f"{NIXL}/connector.py", "NixlBaseConnector.__init__")
BLOCK_SIZE_RATIO = Upstream("vllm/distributed/kv_transfer/kv_connector/utils.py", "TransferTopology.block_size_ratio")
ENGINE_CONFIG = Upstream("vllm/config/vllm.py", "VllmConfig.__post_init__")
