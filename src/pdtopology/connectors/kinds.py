"""The kinds of connector, by what `connector.kind` says."""

from __future__ import annotations

from pdtopology.connectors.mooncake.connector import MooncakeConnector
from pdtopology.connectors.moriio.connector import MoRIIOConnector
from pdtopology.connectors.nixl.connector import NixlConnector
from pdtopology.connectors.other import OtherConnector
from pdtopology.section import Section

CONNECTORS: dict[str, type[Section]] = {
    "moriio": MoRIIOConnector,
    "nixl": NixlConnector,
    "mooncake": MooncakeConnector,
    "other": OtherConnector,
}
DEFAULT_CONNECTOR = "moriio"
"""What a document without `connector.kind` means."""
