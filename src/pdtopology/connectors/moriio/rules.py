"""All of what MoRIIO demands."""

from __future__ import annotations

from pdtopology.connectors.moriio import hybrid, parallelism, transfer

RULES = (*transfer.RULES, *hybrid.RULES, *parallelism.RULES)
