"""Mooncake's part of the document."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pdtopology.connectors.fields import Connector, ConnectorRole, ExtraConfig, Port
from pdtopology.section import NonEmpty


class MooncakeRole(ConnectorRole):
    """Mooncake's part of one role."""


class MooncakePrefillRole(MooncakeRole):
    """Mooncake's part of prefill."""

    bootstrap_port: Port = Field(
        default=8998,
        description="Port of the bootstrap server, of which each prefill instance runs one. "
        "vLLM: the environment variable `VLLM_MOONCAKE_BOOTSTRAP_PORT`.",
    )


class MooncakeConnector(Connector):
    """vLLM's `MooncakeConnector`."""

    kind: Literal["mooncake"] = Field(
        default="mooncake",
        description="The KV connector that moves the cache from prefill to decode; `mooncake` is vLLM's "
        "`MooncakeConnector`, or SGLang's transfer backend of that name.",
    )
    protocol: NonEmpty = Field(
        default="rdma",
        description="The transfer engine's transport. vLLM: `mooncake_protocol` of `kv_connector_extra_config`.",
    )
    bootstrap_server_address: Annotated[str, Field(pattern=r"^[^:]+:[1-9][0-9]{0,4}$")] | None = Field(
        default=None,
        description="A bootstrap server of its own, as `host:port`; unset, prefill runs one. "
        "vLLM: `bootstrap_server_address` of `kv_connector_extra_config`, since 0.32.",
    )
    extra_config: ExtraConfig = Field(default_factory=dict)
    prefill: MooncakePrefillRole = Field(
        default=MooncakePrefillRole.model_construct(), description="The connector's part of prefill."
    )
    decode: MooncakeRole = Field(default=MooncakeRole.model_construct(), description="The connector's part of decode.")
