"""The whole geometry that a config.json describes.

transformers fills in what a config.json leaves out from the defaults of the model's class, and renames keys on the
way. `geometry_of` reads the keys that decide. Where only the class could tell, it raises `UnknownGeometryError`
instead of guessing. Upstream: vLLM 0.33 vllm/transformers_utils/model_arch_config_convertor.py and transformers
5.24 `PreTrainedConfig.get_text_config`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from pdtopology.huggingface.heads import attention_heads, kv_heads, mla
from pdtopology.huggingface.layers import mamba_layers, sliding_window_layers
from pdtopology.huggingface.part import Derived, Part, UnknownGeometryError, language_part
from pdtopology.releases import NEWEST, Release


class HuggingFaceGeometry(NamedTuple):
    """The attention geometry of a model, by the names of the document's keys."""

    num_attention_heads: Derived
    kv_heads: tuple[Derived, ...]
    """The distinct numbers of KV heads that layers have, vLLM's own `total_num_kv_heads` first.

    Empty under MLA, where every rank holds the one latent, and `num_key_value_heads` means nothing.
    """
    is_mla: Derived
    has_mamba_layers: Derived
    has_sliding_window_layers: Derived

    @property
    def kv_head_counts(self) -> tuple[int, ...]:
        """The distinct numbers of KV heads, ascending."""
        return tuple(sorted(derived.value for derived in self.kv_heads))


def geometry_of(
    config: Mapping[str, Any], stated: Mapping[str, int] = MappingProxyType({}), release: Release = NEWEST
) -> HuggingFaceGeometry:
    """The geometry that a config.json describes; of several models in one, that of the language model.

    Null counts as absent. `stated` are values by hand, by the names of the document's keys: they are taken where the
    config does not tell, and only there. `release` is the vLLM release that decides which types are MLA. Raises
    `UnknownGeometryError`, and nothing else, whatever the values of the config are.
    """
    part = _language_part(config, stated)
    try:
        heads = attention_heads(part)
    except UnknownGeometryError:
        if "num_attention_heads" not in stated:
            raise
        heads = _by_hand(stated["num_attention_heads"])
    try:
        is_mla = mla(part, release)
    except UnknownGeometryError:
        if "is_mla" not in stated:
            raise
        is_mla = _by_hand(stated["is_mla"])
    try:
        counts = () if is_mla.value else kv_heads(part, heads)
    except UnknownGeometryError:
        if "total_num_kv_heads" not in stated:
            raise
        names = ("total_num_kv_heads", "other_total_num_kv_heads")
        counts = tuple(_by_hand(stated[name]) for name in names if name in stated)
    return HuggingFaceGeometry(heads, counts, is_mla, mamba_layers(part), sliding_window_layers(part))


def _language_part(config: Mapping[str, Any], stated: Mapping[str, int]) -> Part:
    try:
        return language_part(config)
    except UnknownGeometryError:
        if "num_attention_heads" not in stated:
            raise
        return Part("", {})


def _by_hand(value: int) -> Derived:
    return Derived(value, "", "stated by hand")
