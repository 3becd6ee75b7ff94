"""Rebuild default_configs.jsonl.gz from an installed transformers: `python tests/huggingface/regenerate.py`.

Needs `pip install transformers==5.24.0`, no torch, no network. Writes one row for each model type that transformers
can make with defaults alone:

- `config` and `full`: what `save_pretrained` writes and what `to_dict` holds, without the keys that say nothing
  about attention;
- `expected`: what vLLM 0.33 derives from the class, by the same steps as its model_arch_config_convertor.py, or
  `{"error": true}` where it cannot;
- `heads_key`: the class's own name for `num_attention_heads`, if it has one;
- `own_kv_heads`: whether the class has a number of KV heads that does not follow the attention heads.

Rows of `"source": "vllm"`, made with the config classes inside vLLM 0.33, are kept as they are.
"""

from __future__ import annotations

import gzip
import json
import logging
import re
from pathlib import Path
from typing import Any

from pdtopology.huggingface.model_types import mla_model_types
from pdtopology.releases import NEWEST

DATA = Path(__file__).with_name("default_configs.jsonl.gz")

KV_HEADS = ("n_head_kv", "num_kv_heads", "num_key_value_heads", "multi_query_group_num", "num_attention_groups")
KEPT = re.compile(
    r"heads?(_|s?$)|attention|attn|(^|_)(config|encoder|decoder|generator|model_type|layer_types?|block_types?)s?$"
    r"|^[0-9]+$|kv|compress|multi_query|new_decoder_architecture|sliding|^mamba_|^ssm_|^linear_|conv_L|hybrid"
    r"|hidden_size$|num_hidden_layers|is_encoder_decoder|architectures"
)


def main() -> None:
    from transformers import CONFIG_MAPPING  # type: ignore[import-not-found, unused-ignore]

    logging.disable(logging.CRITICAL)
    with gzip.open(DATA, "rt", encoding="utf-8") as stream:
        kept = [row for row in map(json.loads, stream) if row["source"] != "transformers"]
    made = {name: made_with_defaults(CONFIG_MAPPING[name]) for name in CONFIG_MAPPING}
    rows = [row_of(name, config) for name, config in made.items() if config is not None]
    refused = [name for name, config in made.items() if config is None]
    lines = [json.dumps(row, separators=(",", ":")) + "\n" for row in (*rows, *kept)]
    # No time of writing, so that the same rows are the same file.
    DATA.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
    print(f"{len(rows)} model types of transformers, {len(kept)} rows kept; not made: {', '.join(refused)}")


def made_with_defaults(config_class: Any, **values: int) -> Any:
    try:
        return config_class(**values)
    except Exception:  # noqa: BLE001 - each class refuses in its own way
        return None


def row_of(name: str, config: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": name,
        "source": "transformers",
        "config": trimmed(json.loads(config.to_json_string(use_diff=True))),
        "full": trimmed(json.loads(config.to_json_string(use_diff=False))),
        "expected": expected(config),
    }
    if heads_key := config.attribute_map.get("num_attention_heads"):
        row["heads_key"] = heads_key
    if has_own_kv_heads(type(config), row["expected"]):
        row["own_kv_heads"] = True
    return row


def expected(config: Any) -> dict[str, Any]:
    try:
        text = config.get_text_config()
        return {
            "total_num_kv_heads": kv_heads_of(config.model_type, text),
            "num_attention_heads": getattr(text, "num_attention_heads", 0),
            "is_mla": is_mla(text),
            "text_model_type": text.model_type,
        }
    except Exception:  # noqa: BLE001 - as above; a per-layer value raises one more error when it is read
        return {"error": True}


def kv_heads_of(model_type: str, text: Any) -> Any:
    """VLLM `get_total_num_kv_heads`, with the overrides of its subclasses; of several layers the most."""
    if text.is_heterogeneous:
        return max(kv_heads_of(model_type, layer) for layer in text.per_layer_config)
    if model_type == "cohere_asr":
        return text.transf_decoder["config_dict"]["num_attention_heads"]
    if model_type in {"mamba", "falcon_mamba", "timm_wrapper"}:
        return 0
    if model_type == "dbrx":
        return text.attn_config.kv_n_heads
    if model_type == "falcon" and text.multi_query and not text.new_decoder_architecture:
        return 1
    # A null counts: vLLM takes the first name that the config has.
    names = [name for name in KV_HEADS if hasattr(text, name)]
    return getattr(text, names[0]) if names else getattr(text, "num_attention_heads", 0)


def is_mla(text: Any) -> bool:
    is_compressed = getattr(text, "compress_ratios", None) or getattr(text, "compress_rates", None)
    rank = getattr(text, "head_dim" if is_compressed else "kv_lora_rank", None)
    return text.model_type in mla_model_types(NEWEST) and rank is not None


def has_own_kv_heads(config_class: Any, default: dict[str, Any]) -> bool:
    """Whether the KV heads stay behind when the attention heads change; not every number of heads is allowed."""
    heads = default.get("num_attention_heads")
    if not isinstance(heads, int) or not heads or not default["total_num_kv_heads"]:
        return False
    others = (heads * 2, heads * 4, heads // 2, 1, heads * 3)
    configs = (made_with_defaults(config_class, num_attention_heads=other) for other in others)
    config = next((config for config in configs if config is not None), None)
    if config is None or not hasattr(config, "num_attention_heads"):
        return False
    return bool(kv_heads_of("", config) != config.num_attention_heads)


def trimmed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: trimmed(item) for key, item in value.items() if KEPT.search(key)}
    return value


if __name__ == "__main__":
    main()
