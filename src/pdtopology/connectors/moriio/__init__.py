"""MoRIIO, vLLM's connector over AMD's RDMA library: its part of the document and its rules."""

from pdtopology.connectors.moriio.connector import MoRIIOConnector, MoRIIORole

__all__ = ["MoRIIOConnector", "MoRIIORole"]
