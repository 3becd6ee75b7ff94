"""Small configs in the shapes of published ones."""

from __future__ import annotations

from typing import Any

QWEN3_32B: dict[str, Any] = {
    "model_type": "qwen3",
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "num_hidden_layers": 64,
}
DEEPSEEK_V3: dict[str, Any] = {
    "model_type": "deepseek_v3",
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "kv_lora_rank": 512,
}
GEMMA_4_26B: dict[str, Any] = {
    "model_type": "gemma4",
    "text_config": {
        "model_type": "gemma4_text",
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "num_global_key_value_heads": 2,
        "attention_k_eq_v": True,
        "layer_types": ["sliding_attention", "full_attention"],
    },
    "vision_config": {"num_attention_heads": 12, "num_key_value_heads": 12},
}
NEMOTRON_NAS: dict[str, Any] = {
    "model_type": "nemotron-nas",
    "num_attention_heads": 64,
    "num_key_value_heads": None,
    "block_configs": [
        {"attention": {"n_heads_in_group": None, "no_op": True}},
        {"attention": {"n_heads_in_group": 8, "no_op": False}},
        {"attention": {"n_heads_in_group": 16, "no_op": False}},
    ],
}
SPARSE: dict[str, Any] = {"model_type": "gemma3", "text_config": {"model_type": "gemma3_text"}}
THREE_COUNTS: dict[str, Any] = {
    "num_attention_heads": 24,
    "block_configs": [{"attention": {"n_heads_in_group": group}} for group in (3, 6, 8)],
}
