"""A connector whose rules are not known: judged by the general rules only."""

from typing import Literal

from pydantic import Field

from pdtopology.connectors.examples import GQA
from pdtopology.connectors.fields import Connector, ConnectorRole, ExtraConfig
from pdtopology.keys import CONNECTOR_KIND, CONNECTOR_NAME
from pdtopology.rule import Rule, Severity, Stage, Upstream
from pdtopology.section import NonEmpty


class OtherConnector(Connector):
    """Any other connector, by its name."""

    kind: Literal["other"] = Field(
        default="other",
        description="The KV connector that moves the cache from prefill to decode; `other` is one whose rules are not "
        "known, so that only the general ones are checked.",
    )
    name: NonEmpty | None = Field(
        default=None,
        description="The connector's own name, such as `LMCacheConnectorV1`; unset where the platform chooses one. "
        "vLLM: `kv_connector` of `--kv-transfer-config`. SGLang: `--disaggregation-transfer-backend`.",
    )
    module_path: NonEmpty | None = Field(
        default=None,
        description="The Python module that defines it, for a third party's. "
        "vLLM: `kv_connector_module_path` of `--kv-transfer-config`.",
    )
    extra_config: ExtraConfig = Field(default_factory=dict)
    prefill: ConnectorRole = Field(
        default=ConnectorRole.model_construct(), description="The connector's part of prefill."
    )
    decode: ConnectorRole = Field(
        default=ConnectorRole.model_construct(), description="The connector's part of decode."
    )


RULES = (
    Rule(
        code="connector-unknown",
        title="The rules of this connector are not known",
        connectors=("other",),
        severity=Severity.WARNING,
        at=CONNECTOR_NAME,
        require=~CONNECTOR_KIND.is_("other"),
        message="only the general rules were checked for this connector",
        why="What it demands of TP sizes, blocks and caches was not read from its source.",
        fix="Try the pair on one request before it serves.",
        raised=Stage.FIRST_REQUEST,
        source=Upstream("vllm/distributed/kv_transfer/kv_connector/factory.py", "KVConnectorFactory"),
        bad={"model": GQA, "connector": {"kind": "other", "name": "AcmeConnector"}, "prefill": {}, "decode": {}},
    ),
)
