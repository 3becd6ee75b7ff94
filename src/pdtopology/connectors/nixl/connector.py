"""NIXL's part of the document."""

from typing import Literal

from pydantic import Field

from pdtopology.connectors.fields import Connector, ConnectorRole, ExtraConfig, Port
from pdtopology.section import NonEmpty


class NixlRole(ConnectorRole):
    """NIXL's part of one role."""

    side_channel_host: NonEmpty | None = Field(
        default=None,
        description="Address of the handshake's side channel, which the other role dials; unset, vLLM's `localhost`, "
        "which no other host reaches. vLLM: the environment variable `VLLM_NIXL_SIDE_CHANNEL_HOST`.",
    )
    side_channel_port: Port = Field(
        default=5600,
        description="First port of the handshake's side channel; each data-parallel rank takes the next. "
        "vLLM: the environment variable `VLLM_NIXL_SIDE_CHANNEL_PORT`.",
    )


class NixlConnector(Connector):
    """vLLM's `NixlConnector` (pull) and `NixlPushConnector` (push)."""

    kind: Literal["nixl"] = Field(
        default="nixl",
        description="The KV connector that moves the cache from prefill to decode; `nixl` is vLLM's `NixlConnector`, "
        "or SGLang's transfer backend of that name.",
    )
    mode: Literal["pull", "push"] = Field(
        default="pull",
        description="`pull`: decode reads the blocks from prefill, as `NixlConnector` and `NixlPullConnector` do. "
        "`push`: prefill writes them, as `NixlPushConnector` does.",
    )
    kv_buffer_device: Literal["cuda", "cpu", "xpu", "tpu"] | None = Field(
        default=None,
        description="Device of the transfer buffer: `cpu` stages through host memory; unset, the platform's own. "
        "vLLM: `kv_buffer_device` of `--kv-transfer-config`.",
    )
    enable_permute_local_kv: bool = Field(
        default=False,
        description="Whether decode turns blocks received as `HND` into its own `NHD`. "
        "vLLM: `enable_permute_local_kv` of `--kv-transfer-config`.",
    )
    enforce_handshake_compat: bool = Field(
        default=True,
        description="Whether the handshake refuses a peer whose release, model or cache type differs. "
        "vLLM: `enforce_handshake_compat` of `kv_connector_extra_config`.",
    )
    bidirectional_kv_xfer: bool = Field(
        default=False,
        description="Whether prefill also reads blocks back from decode. "
        "vLLM: `bidirectional_kv_xfer` of `kv_connector_extra_config`.",
    )
    extra_config: ExtraConfig = Field(default_factory=dict)
    prefill: NixlRole = Field(default=NixlRole.model_construct(), description="The connector's part of prefill.")
    decode: NixlRole = Field(default=NixlRole.model_construct(), description="The connector's part of decode.")
