"""The attention geometry of a model from its Hugging Face config.json, as vLLM derives it, without transformers.

transformers fills in what a config.json leaves out from the defaults of the model's class, and renames keys on the
way. `geometry_of` reads the keys that decide. Where only the class could tell, it raises `UnknownGeometryError`
instead of guessing. Upstream: vLLM 0.33 vllm/transformers_utils/model_arch_config_convertor.py and transformers
5.24 `PreTrainedConfig.get_text_config`.
"""

from __future__ import annotations

import json
import os
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pdtopology.model_types import (
    ATTENTION_FREE_MODEL_TYPES,
    MLA_MODEL_TYPES,
    MULTI_QUERY_MODEL_TYPES,
    NUM_HEADS_MODEL_TYPES,
    OWN_KV_HEADS_MODEL_TYPES,
    WHOLE_HEADS_MODEL_TYPES,
)

MAX_CONFIG_BYTES = 10 * 1024 * 1024


# What a config may nest its language model under: the names that transformers resolves, then those that only vLLM's
# own or remote classes do.
_TEXT_KEYS = ("text_config", "text_encoder", "decoder", "generator")
_OTHER_TEXT_KEYS = ("llm_config", "language_config", "vlm_config", "thinker_config", "transf_decoder", "config_dict")
_MAX_NESTED = 4

# `attribute_map` of the classes in transformers. `num_heads` is apart.
_OTHER_HEADS_KEYS = (
    "n_head",
    "n_heads",
    "attention_heads",
    "encoder_attention_heads",
    "decoder_attention_heads",
    "encoder_num_attention_heads",
    "decoder_num_attention_heads",
    "num_encoder_attention_heads",
    "num_decoder_attention_heads",
)

# In vLLM's order; the last is transformers' name for the third in moonshine.
_KV_HEADS_KEYS = (
    "n_head_kv",
    "num_kv_heads",
    "num_key_value_heads",
    "multi_query_group_num",
    "num_attention_groups",
    "decoder_num_key_value_heads",
)

_RECURRENT_LAYERS = frozenset(("linear_attention", "mamba", "mamba2", "recurrent", "conv", "hybrid", "hybrid_sliding"))
_RECURRENT_KEYS = ("conv_L_cache", "linear_attn_config", "linear_num_value_heads", "mamba_d_state", "ssm_state_size")

_STATE_HEADS = "state model.num_attention_heads"
_STATE_KV_HEADS = "state model.total_num_kv_heads"
_STATE_MLA = "state model.is_mla"
_STATE_ALL = f"{_STATE_HEADS} and model.total_num_kv_heads"


class UnknownGeometryError(ValueError):
    """A config.json that does not tell the geometry; the text says why and which key to state by hand."""


class HuggingFaceGeometry(NamedTuple):
    """The attention geometry of a model, and the key of its config.json that decided each value, be it by absence.

    `kv_head_counts` holds the distinct KV-head counts of the layers, ascending; vLLM's `total_num_kv_heads` is most
    often the largest. It is empty under MLA, where every rank holds the one latent whatever the config says.
    `has_sliding_window` and `is_hybrid` (recurrent, linear-attention or convolution layers) are true only where the
    config says so.
    """

    num_attention_heads: int
    kv_head_counts: tuple[int, ...]
    is_mla: bool
    has_sliding_window: bool
    is_hybrid: bool
    sources: Mapping[str, str]


def read_config(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The config.json at a path, or in the model folder there.

    Raises `OSError` for one that cannot be read, `ValueError` for one that is no JSON object or is too large.
    """
    file = Path(path)
    if file.is_dir():
        file /= "config.json"
    with file.open("rb") as stream:
        text = stream.read(MAX_CONFIG_BYTES + 1)
    if len(text) > MAX_CONFIG_BYTES:
        raise ValueError(f"{file} is larger than {MAX_CONFIG_BYTES:,} bytes")
    try:
        config = json.loads(text)
    except RecursionError:
        raise ValueError(f"{file} is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{file} is not JSON: {error}") from None
    if not isinstance(config, dict):
        raise ValueError(f"{file} is not a JSON object")  # noqa: TRY004
    return config


def geometry_of(config: Mapping[str, Any]) -> HuggingFaceGeometry:
    """The geometry that a config.json describes; of several models in one, that of the language model.

    Null counts as absent. Raises `UnknownGeometryError`, and nothing else, whatever the values are.
    """
    part = _language_part(config)
    heads, heads_key = _attention_heads(part)
    is_mla, mla_key = _mla(part)
    kv_heads = {} if is_mla else _kv_heads(part, heads, heads_key)
    has_sliding_window, window_key = _sliding_window(part)
    is_hybrid, hybrid_key = _hybrid(part)
    sources = {
        "num_attention_heads": heads_key,
        "kv_head_counts": ", ".join(kv_heads.values()) or mla_key,
        "is_mla": mla_key,
        "has_sliding_window": window_key,
        "is_hybrid": hybrid_key,
    }
    return HuggingFaceGeometry(heads, tuple(sorted(kv_heads)), is_mla, has_sliding_window, is_hybrid, sources)


class _Part(NamedTuple):
    """A JSON object inside a config.json, and what leads to its keys."""

    path: str
    values: Mapping[str, Any]

    @property
    def model_type(self) -> str:
        value = self.values.get("model_type")
        return value if isinstance(value, str) else ""

    def key(self, name: str) -> str:
        return f"{self.path}{name}"

    def spells(self, name: str) -> bool:
        return self.values.get(name) is not None

    def number(self, name: str, advice: str) -> int | None:
        value = self.values.get(name)
        if value is not None and (type(value) is not int or value <= 0):
            raise UnknownGeometryError(f"{self.key(name)} is not one positive integer; {advice}")
        return value

    def flag(self, name: str) -> bool | None:
        value = self.values.get(name)
        if value is not None and not isinstance(value, bool):
            raise UnknownGeometryError(f"{self.key(name)} is neither true nor false; {_STATE_KV_HEADS}")
        return value

    def inner(self, name: str) -> _Part:
        """The object under a key, empty if there is none."""
        value = self.values.get(name)
        return _Part(f"{self.key(name)}.", value if isinstance(value, Mapping) else {})

    def each(self, name: str) -> Iterator[_Part]:
        """The objects in the list or object under a key."""
        value = self.values.get(name)
        items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
        return (_Part(f"{self.key(name)}.*.", item) for item in items if isinstance(item, Mapping))

    def __str__(self) -> str:
        where = self.path.rstrip(".") or "config.json"
        return f"{where} (model_type {reprlib.repr(self.model_type)})" if self.model_type else where


def _language_part(config: Mapping[str, Any]) -> _Part:
    """Where the language model is described: transformers `get_text_config`, and the names that vLLM adds."""
    part = _Part("", config)
    for _ in range(_MAX_NESTED):
        names = [name for name in _TEXT_KEYS if part.spells(name)]
        names = names or [name for name in _OTHER_TEXT_KEYS if isinstance(part.values.get(name), Mapping)]
        if not names:
            break
        if len(names) > 1:
            raise UnknownGeometryError(f"{part} holds several models, {' and '.join(names)}; {_STATE_ALL}")
        part = part.inner(names[0])
    return part


def _attention_heads(part: _Part) -> tuple[int, str]:
    """The query heads: `num_attention_heads`, or what the class in transformers calls it."""
    if part.model_type in ATTENTION_FREE_MODEL_TYPES:
        raise UnknownGeometryError(f"{part} is of a type without attention; if it has some, {_STATE_ALL}")
    others = (*_OTHER_HEADS_KEYS, "num_heads") if part.model_type in NUM_HEADS_MODEL_TYPES else _OTHER_HEADS_KEYS
    names = [name for name in others if part.spells(name)]
    if part.spells("num_attention_heads"):
        names = ["num_attention_heads"]
    if not names:
        raise UnknownGeometryError(
            f"{part} gives no num_attention_heads, which at best is a default in the model's class; {_STATE_ALL}"
        )
    counts = [part.number(name, _STATE_HEADS) for name in names]
    layers = [layer.number("num_attention_heads", _STATE_HEADS) for layer in part.each("per_layer_config")]
    count = counts[0]
    if count is None or {*counts, *layers} - {None, count}:
        raise UnknownGeometryError(f"{part} gives several numbers of attention heads; {_STATE_HEADS}")
    return count, part.key(names[0])


def _mla(part: _Part) -> tuple[bool, str]:
    """Whether the cache holds a latent. vLLM `is_deepseek_mla`: a listed type whose rank is given and not null."""
    is_compressed = any(part.values.get(name) for name in ("compress_ratios", "compress_rates"))
    name = "head_dim" if is_compressed else "kv_lora_rank"
    if part.model_type in MLA_MODEL_TYPES:
        if name not in part.values:
            raise UnknownGeometryError(f"{part} can be MLA but gives no {name}; {_STATE_MLA}")
        return part.number(name, _STATE_MLA) is not None, part.key(name)
    has_latent = is_compressed or part.spells("kv_lora_rank")
    if has_latent and part.model_type not in WHOLE_HEADS_MODEL_TYPES:
        raise UnknownGeometryError(f"{part} has a latent but is of no type that vLLM 0.33 knows as MLA; {_STATE_MLA}")
    return False, part.key("model_type" if has_latent else name)


def _kv_heads(part: _Part, heads: int, heads_key: str) -> dict[int, str]:
    """Each number of KV heads that some layer has, and the key that gives it."""
    found = list(_block_kv_heads(part, heads))
    if not found:
        layers = list(_given_kv_heads((layer, "num_key_value_heads") for layer in part.each("per_layer_config")))
        if not layers or len(layers) != part.values.get("num_hidden_layers"):
            found = [_common_kv_heads(part, heads, heads_key)]
        found += [*_special_kv_heads(part), *layers]
    kv_heads: dict[int, str] = {}
    for count, key in found:
        kv_heads.setdefault(count, key)
    return kv_heads


def _common_kv_heads(part: _Part, heads: int, heads_key: str) -> tuple[int, str]:
    """The KV heads of the layers that have none of their own. vLLM `get_total_num_kv_heads` and its overrides."""
    if not part.flag("new_decoder_architecture"):
        is_multi_query = part.flag("multi_query")
        if is_multi_query:
            return 1, part.key("multi_query")
        if is_multi_query is None and part.model_type in MULTI_QUERY_MODEL_TYPES:
            raise UnknownGeometryError(f"{part} does not say whether it is multi_query; {_STATE_KV_HEADS}")
    places = [(part.inner("attn_config"), "kv_n_heads"), *((part, name) for name in _KV_HEADS_KEYS)]
    for given in _given_kv_heads(places):
        return given
    if part.model_type in OWN_KV_HEADS_MODEL_TYPES and part.values.keys().isdisjoint(_KV_HEADS_KEYS):
        raise UnknownGeometryError(
            f"{part} gives no num_key_value_heads, for which its class has a default; {_STATE_KV_HEADS}"
        )
    return heads, heads_key


def _special_kv_heads(part: _Part) -> Iterator[tuple[int, str]]:
    """The KV heads that one kind of layer has instead.

    Sliding-window layers of MiMo-V2, inkling and Step 3.5; full-attention layers of gemma4, if `attention_k_eq_v`,
    and of its relatives without that key.
    """
    places = [(part, "swa_num_key_value_heads"), (part.inner("attention_other_setting"), "num_attention_groups")]
    is_shared = part.flag("attention_k_eq_v")
    if is_shared or (is_shared is None and not part.model_type.startswith("gemma4")):
        places.append((part, "num_global_key_value_heads"))
    return _given_kv_heads(places)


def _block_kv_heads(part: _Part, heads: int) -> Iterator[tuple[int, str]]:
    """The KV heads of nemotron-nas, whose blocks say how many query heads share one."""
    for attention in (block.inner("attention") for block in part.each("block_configs")):
        group = None if attention.flag("no_op") else attention.number("n_heads_in_group", _STATE_KV_HEADS)
        if group is not None:
            if heads % group:
                key = attention.key("n_heads_in_group")
                raise UnknownGeometryError(f"{key} does not divide the attention heads; {_STATE_KV_HEADS}")
            yield heads // group, attention.key("n_heads_in_group")


def _given_kv_heads(places: Iterable[tuple[_Part, str]]) -> Iterator[tuple[int, str]]:
    for part, name in places:
        count = part.number(name, _STATE_KV_HEADS)
        if count is not None:
            yield count, part.key(name)


def _sliding_window(part: _Part) -> tuple[bool, str]:
    """Whether a layer's type names a sliding window or, without types, a `sliding_window` is given and not unused."""
    types = part.values.get("layer_types")
    if isinstance(types, list) and types:
        return any(isinstance(kind, str) and "sliding" in kind for kind in types), part.key("layer_types")
    is_used = part.values.get("use_sliding_window") is not False
    return is_used and bool(part.values.get("sliding_window")), part.key("sliding_window")


def _hybrid(part: _Part) -> tuple[bool, str]:
    """Whether some layers keep a recurrent state.

    Looks at the layers' types; without them at an `M` in nemotron_h's `hybrid_override_pattern`, a 0 in minimax's
    `attn_type_list`, and the keys that size a recurrent state.
    """
    for name in ("layer_types", "layers_block_type", "block_types"):
        types = part.values.get(name)
        if isinstance(types, list) and types:
            return any(isinstance(kind, str) and kind in _RECURRENT_LAYERS for kind in types), part.key(name)
    for name, mark in (("hybrid_override_pattern", "M"), ("attn_type_list", 0)):
        pattern = part.values.get(name)
        if isinstance(pattern, str | list) and pattern:
            return mark in list(pattern), part.key(name)
    sized = next((name for name in _RECURRENT_KEYS if part.spells(name)), None)
    return sized is not None, part.key(sized or "layer_types")
