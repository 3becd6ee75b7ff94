"""Refuse a prefill/decode-disaggregated serving deployment whose geometry cannot work, when its file is parsed."""

from typing import TYPE_CHECKING, Any

from pdtopology.check import check, load_topology
from pdtopology.connectors.moriio import MoRIIOConnector
from pdtopology.diagnostic import Diagnostic, TopologyError
from pdtopology.rules import RULES
from pdtopology.schema import json_schema
from pdtopology.topology import DecodeRole, ModelGeometry, PDTopology, PrefillRole

if TYPE_CHECKING:
    from pdtopology.settings import PDTopologySettings

__all__ = [
    "RULES",
    "DecodeRole",
    "Diagnostic",
    "ModelGeometry",
    "MoRIIOConnector",
    "PDTopology",
    "PDTopologySettings",
    "PrefillRole",
    "TopologyError",
    "check",
    "json_schema",
    "load_topology",
]


def __getattr__(name: str) -> Any:
    # pydantic-settings takes as long to import as everything else here together.
    if name == "PDTopologySettings":
        from pdtopology.settings import PDTopologySettings

        return PDTopologySettings
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
