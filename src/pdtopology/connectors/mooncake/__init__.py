"""Mooncake, vLLM's connector over the Mooncake transfer engine: its part of the document and its rules."""

from pdtopology.connectors.mooncake.connector import MooncakeConnector
from pdtopology.connectors.mooncake.transfer import RULES

__all__ = ["RULES", "MooncakeConnector"]
