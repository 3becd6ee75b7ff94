"""Model sections that the rules' bad examples share."""

from __future__ import annotations

GQA = {"num_attention_heads": 64, "total_num_kv_heads": 8}
MLA = {"is_mla": True}
SLIDING_WINDOW = {**GQA, "has_sliding_window_layers": True}
MAMBA = {**GQA, "has_mamba_layers": True}

DS_LAYOUT = {"env": {"VLLM_SSM_CONV_STATE_LAYOUT": "DS"}}
