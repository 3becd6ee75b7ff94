"""All of what NIXL demands."""

from __future__ import annotations

from pdtopology.connectors.nixl import block_sizes, caches, handshake, mamba, parallelism

RULES = (
    *handshake.RULES,
    *block_sizes.RULES,
    *caches.RULES,
    *parallelism.RULES,
    *mamba.RULES,
)
