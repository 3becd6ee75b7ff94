"""The keys of the document that rules read: where each is, what its absence means, how large it may be."""

from __future__ import annotations

from pdtopology.constraints import Key

MAX_TENSOR_PARALLEL_SIZE = 512
"""No model comes near: the size must divide the attention heads. A bound makes the JSON Schema exact."""
MAX_HEADS = 4096
"""Far above the most attention heads that any published model has."""

OFFERED_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64)
"""The TP sizes that editors offer where they fit; others are as valid."""

TP = Key(
    "tp",
    "role.tensor_parallel_size",
    default=1,
    maximum=MAX_TENSOR_PARALLEL_SIZE,
    common=OFFERED_SIZES,
)
PREFILL_TP = TP.for_role("prefill")
DECODE_TP = TP.for_role("decode")

ATTENTION_HEADS = Key(
    "attention_heads",
    "model.num_attention_heads",
    maximum=MAX_HEADS,
    common=(8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128),
)
KV_HEADS = Key(
    "kv_heads",
    "model.total_num_kv_heads",
    maximum=MAX_HEADS,
    common=(1, 2, 4, 8, 16, 32, 40, 48, 64, 96, 128),
)
IS_MLA = Key("is_mla", "model.is_mla", default=False).is_(True)

CONNECTOR_KIND = Key("kind", "connector.kind", default="moriio")
MORIIO_MODE = Key("mode", "connector.mode", default="read")

ENGINE_VERSION = Key("version", "engine.version")
