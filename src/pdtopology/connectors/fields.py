"""Fields that the connectors share."""

from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from pdtopology.section import NonEmpty, Section

Port = Annotated[int, Field(gt=0, le=65_535)]


class Connector(Section):
    """A connector, which says its kind wherever it is dumped: without it, what is read again would be another one."""

    @model_serializer(mode="wrap")
    def _with_kind(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"kind": self.__dict__["kind"], **handler(self)}


class ConnectorRole(Section):
    """A connector's part of one role."""

    kv_role: Literal["kv_producer", "kv_consumer", "kv_both"] | None = Field(
        default=None,
        description="What the role does with KV caches; unset, `kv_producer` for prefill and `kv_consumer` for decode. "
        "vLLM: `kv_role` of `--kv-transfer-config`.",
    )


ExtraConfig = Annotated[
    dict[NonEmpty, Any],
    Field(description="Further keys of vLLM's `kv_connector_extra_config`, passed on unread."),
]
