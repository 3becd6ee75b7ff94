"""All of what NIXL demands."""

from __future__ import annotations

from pdtopology.connectors.nixl import block_sizes, caches, context, handshake, mamba, pipeline

RULES = (
    *handshake.RULES,
    *block_sizes.RULES,
    *caches.RULES,
    *pipeline.RULES,
    *context.RULES,
    *mamba.RULES,
)
