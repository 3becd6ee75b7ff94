"""MoRIIO's part of the document."""

from typing import Literal

from pydantic import Field

from pdtopology.connectors.fields import Connector, ConnectorRole, ExtraConfig, Port
from pdtopology.section import NonEmpty


class MoRIIORole(ConnectorRole):
    """MoRIIO's part of one role."""

    handshake_port: Port = Field(
        default=6301,
        description="First port of the handshake; data-parallel and TP ranks take those above it. "
        "vLLM: `handshake_port` of `kv_connector_extra_config`.",
    )
    notify_port: Port = Field(
        default=61_005,
        description="First port of the notifications of finished transfers; data-parallel and TP ranks take those "
        "above it. vLLM: `notify_port` of `kv_connector_extra_config`.",
    )
    http_port: Port | None = Field(
        default=None,
        description="Port of the role's API server as the proxy reaches it. "
        "vLLM: `http_port` of `kv_connector_extra_config`, which vLLM requires.",
    )


class MoRIIOConnector(Connector):
    """vLLM's `MoRIIOConnector`."""

    kind: Literal["moriio"] = Field(
        default="moriio",
        description="The KV connector that moves the cache from prefill to decode; `moriio` is vLLM's "
        "`MoRIIOConnector`, or SGLang's transfer backend `mori`. vLLM: `kv_connector` of `--kv-transfer-config`.",
    )
    mode: Literal["read", "write"] = Field(
        default="read",
        description="`read`: decode reads finished blocks from prefill. `write`: prefill writes each layer as it is "
        "computed, which is vLLM's own default. Both roles use the same. vLLM: `read_mode` of "
        "`kv_connector_extra_config`, which is true for `read`.",
    )
    backend: Literal["rdma", "xgmi"] = Field(
        default="rdma",
        description="The transport: `rdma` between nodes, `xgmi` inside one node. "
        "vLLM: `backend` of `kv_connector_extra_config`.",
    )
    proxy_ip: NonEmpty | None = Field(
        default=None,
        description="Address of the proxy that both roles announce themselves to; unset, none. "
        "vLLM: `proxy_ip` of `kv_connector_extra_config`.",
    )
    proxy_ping_port: Port | None = Field(
        default=None,
        description="Port on which the proxy hears of the roles. vLLM: `proxy_ping_port` of "
        "`kv_connector_extra_config`.",
    )
    extra_config: ExtraConfig = Field(default_factory=dict)
    prefill: MoRIIORole = Field(default=MoRIIORole.model_construct(), description="The connector's part of prefill.")
    decode: MoRIIORole = Field(default=MoRIIORole.model_construct(), description="The connector's part of decode.")
