"""Refuse a prefill/decode-disaggregated serving deployment whose geometry cannot work, when its file is parsed."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pdtopology.check import check, load_topology
from pdtopology.connectors.mooncake import MooncakeConnector
from pdtopology.connectors.moriio import MoRIIOConnector
from pdtopology.connectors.nixl import NixlConnector
from pdtopology.connectors.other import OtherConnector
from pdtopology.deployment import ModelGeometry
from pdtopology.roles import DecodeRole, PrefillRole

if TYPE_CHECKING:
    from pdtopology.catalogue import RULES
    from pdtopology.diagnostic import Diagnostic, TopologyError
    from pdtopology.schema import json_schema
    from pdtopology.settings import PDTopologySettings
    from pdtopology.topology import PDTopology

__all__ = [
    "RULES",
    "DecodeRole",
    "Diagnostic",
    "MoRIIOConnector",
    "ModelGeometry",
    "MooncakeConnector",
    "NixlConnector",
    "OtherConnector",
    "PDTopology",
    "PDTopologySettings",
    "PrefillRole",
    "TopologyError",
    "check",
    "json_schema",
    "load_topology",
]

# Imported when first asked for: pydantic-settings alone takes as long as all the rest.
_LATE = {
    "RULES": "pdtopology.catalogue",
    "Diagnostic": "pdtopology.diagnostic",
    "TopologyError": "pdtopology.diagnostic",
    "PDTopology": "pdtopology.topology",
    "PDTopologySettings": "pdtopology.settings",
    "json_schema": "pdtopology.schema",
}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
