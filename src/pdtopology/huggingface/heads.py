"""The attention heads, KV heads and latent of a language model's part of a config.json."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from pdtopology.huggingface.model_types import (
    ATTENTION_FREE_MODEL_TYPES,
    MULTI_QUERY_MODEL_TYPES,
    NUM_HEADS_MODEL_TYPES,
    OWN_KV_HEADS_MODEL_TYPES,
    WHOLE_HEADS_MODEL_TYPES,
    mla_model_types,
)
from pdtopology.huggingface.part import (
    STATE_ALL,
    STATE_HEADS,
    STATE_KV_HEADS,
    STATE_MLA,
    Derived,
    Part,
    UnknownGeometryError,
)
from pdtopology.releases import Release, nearest_known, release_name

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
_LOOKS_LIKE_KV_HEADS = re.compile(r"(kv|key_?value)_?heads?(_per_layer)?$|query_groups?$")


def attention_heads(part: Part) -> Derived:
    """The query heads: `num_attention_heads`, or what the class in transformers calls it.

    Raises `UnknownGeometryError`.
    """
    if part.model_type in ATTENTION_FREE_MODEL_TYPES:
        raise UnknownGeometryError(f"{part} is of a type without attention; if it has some, {STATE_ALL}")
    names = ["num_attention_heads"]
    rule = "the name that vLLM reads"
    if not part.gives("num_attention_heads"):
        names = [name for name in _other_heads_keys(part) if part.gives(name)]
        rule = "the name in transformers of num_attention_heads"
    if not names:
        raise UnknownGeometryError(
            f"{part} gives no num_attention_heads, which at best is a default in the model's class; {STATE_ALL}"
        )
    counts = [part.number(name, STATE_HEADS) for name in names]
    layers = [layer.number("num_attention_heads", STATE_HEADS) for layer in part.each("per_layer_config")]
    count = counts[0]
    if count is None or {*counts, *layers} - {None, count}:
        raise UnknownGeometryError(f"{part} gives several numbers of attention heads; {STATE_HEADS}")
    return Derived(count, part.key(names[0]), rule)


def _other_heads_keys(part: Part) -> tuple[str, ...]:
    return (*_OTHER_HEADS_KEYS, "num_heads") if part.model_type in NUM_HEADS_MODEL_TYPES else _OTHER_HEADS_KEYS


def mla(part: Part, release: Release) -> Derived:
    """Whether the cache holds a latent. vLLM `is_deepseek_mla`: a listed type whose rank is given and not null.

    Raises `UnknownGeometryError`.
    """
    engine = f"vLLM {release_name(nearest_known(release))}"
    is_compressed = any(part.values.get(name) for name in ("compress_ratios", "compress_rates"))
    name = "head_dim" if is_compressed else "kv_lora_rank"
    if part.model_type in mla_model_types(release):
        if name not in part.values:
            raise UnknownGeometryError(f"{part} can be MLA but gives no {name}; {STATE_MLA}")
        is_mla = part.number(name, STATE_MLA, sys.maxsize) is not None
        rule = f"{engine} keeps one latent for {part.model_type}" if is_mla else "the latent's rank is null"
        return Derived(is_mla, part.key(name), rule)
    if not is_compressed and not part.gives("kv_lora_rank"):
        return Derived(value=False, key=part.key(name), rule="no latent's rank is given")
    if part.model_type not in WHOLE_HEADS_MODEL_TYPES:
        raise UnknownGeometryError(f"{part} has a latent but is of no type that {engine} knows as MLA; {STATE_MLA}")
    return Derived(value=False, key=part.key("model_type"), rule=f"{engine} keeps whole heads for {part.model_type}")


def kv_heads(part: Part, heads: Derived) -> tuple[Derived, ...]:
    """Each distinct number of KV heads that some layer has, the one that vLLM takes for the model first.

    vLLM takes the most that its own reading of the layers finds, and overlooks what `_overlooked_kv_heads` finds.
    Raises `UnknownGeometryError`.
    """
    found = list(_block_kv_heads(part, heads)) or _layer_kv_heads(part, heads)
    counts: dict[int, Derived] = {}
    for derived in (*found, *_overlooked_kv_heads(part)):
        counts.setdefault(derived.value, derived)
    return tuple(counts.values())


def _layer_kv_heads(part: Part, heads: Derived) -> list[Derived]:
    layers = [
        derived
        for layer in part.each("per_layer_config")
        for derived in _given(layer, "num_key_value_heads", "that of one layer")
    ]
    found = [*layers, *_global_kv_heads(part)]
    if not layers or len(layers) != part.values.get("num_hidden_layers"):
        found.insert(0, _common_kv_heads(part, heads))
    return sorted(found, key=lambda derived: derived.value, reverse=True)


def _common_kv_heads(part: Part, heads: Derived) -> Derived:
    """The KV heads of the layers that have none of their own. vLLM `get_total_num_kv_heads` and its overrides."""
    if not part.flag("new_decoder_architecture"):
        is_multi_query = part.flag("multi_query")
        if is_multi_query:
            return Derived(1, part.key("multi_query"), "all query heads share one")
        if is_multi_query is None and part.model_type in MULTI_QUERY_MODEL_TYPES:
            raise UnknownGeometryError(f"{part} does not say whether it is multi_query; {STATE_KV_HEADS}")
    places = [(part.inner("attn_config"), "kv_n_heads"), *((part, name) for name in _KV_HEADS_KEYS)]
    for place, name in places:
        for derived in _given(place, name, "the first of the names that vLLM reads"):
            return derived
    _require_none_elsewhere(part, heads)
    return Derived(heads.value, heads.key, "as many as attention heads, since none are given")


def _require_none_elsewhere(part: Part, heads: Derived) -> None:
    """Refuse to take the attention heads where the KV heads may be a default, or under a name that vLLM never reads."""
    may_have_default = part.model_type in OWN_KV_HEADS_MODEL_TYPES or part.is_of_unsaid_type
    if not heads.key or (may_have_default and part.values.keys().isdisjoint(_KV_HEADS_KEYS)):
        raise UnknownGeometryError(
            f"{part} gives no num_key_value_heads, for which its class may have a default; {STATE_KV_HEADS}"
        )
    for name in part.values:
        if _LOOKS_LIKE_KV_HEADS.search(name) and name not in _KV_HEADS_KEYS and part.gives(name):
            raise UnknownGeometryError(
                f"{part} gives {name}, which vLLM does not read, and no num_key_value_heads; {STATE_KV_HEADS}"
            )


def _global_kv_heads(part: Part) -> Iterator[Derived]:
    """The KV heads of gemma4's full-attention layers, if `attention_k_eq_v`, and of its relatives without that key."""
    is_shared = part.flag("attention_k_eq_v")
    if is_shared or (is_shared is None and not part.model_type.startswith("gemma4")):
        yield from _given(part, "num_global_key_value_heads", "that of full-attention layers")


def _overlooked_kv_heads(part: Part) -> Iterator[Derived]:
    """What only the models read: sliding-window layers of MiMo-V2, inkling and Step 3.5, and a list of all layers."""
    rule = "that of sliding-window layers"
    yield from _given(part, "swa_num_key_value_heads", rule)
    yield from _given(part.inner("attention_other_setting"), "num_attention_groups", rule)
    name = "num_key_value_heads_per_layer"
    counts = part.values.get(name)
    for count in counts if isinstance(counts, list) else ():
        yield from _given(part._replace(values={name: count}), name, "that of one layer")


def _block_kv_heads(part: Part, heads: Derived) -> Iterator[Derived]:
    """The KV heads of nemotron-nas, whose blocks say how many query heads share one; vLLM takes the first block's."""
    for attention in (block.inner("attention") for block in part.each("block_configs")):
        group = None if attention.flag("no_op") else attention.number("n_heads_in_group", STATE_KV_HEADS)
        if group is not None:
            key = attention.key("n_heads_in_group")
            if heads.value % group:
                raise UnknownGeometryError(f"{key} does not divide the attention heads; {STATE_KV_HEADS}")
            yield Derived(heads.value // group, key, "the attention heads over those that share one")


def _given(part: Part, name: str, rule: str) -> Iterator[Derived]:
    """The count under a key, if there is one."""
    count = part.number(name, STATE_KV_HEADS)
    if count is not None:
        yield Derived(count, part.key(name), rule)
