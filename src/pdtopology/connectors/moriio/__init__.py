"""MoRIIO, vLLM's connector over AMD's RDMA library: its part of the document and its rules."""

from pdtopology.connectors.moriio import hybrid, parallelism, transfer
from pdtopology.connectors.moriio.connector import MoRIIOConnector, MoRIIORole

RULES = (*transfer.RULES, *hybrid.RULES, *parallelism.RULES)

__all__ = ["RULES", "MoRIIOConnector", "MoRIIORole"]
