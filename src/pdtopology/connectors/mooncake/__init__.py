"""Mooncake, vLLM's connector over the Mooncake transfer engine: its part of the document and its rules."""

from pdtopology.connectors.mooncake.connector import MooncakeConnector

__all__ = ["MooncakeConnector"]
