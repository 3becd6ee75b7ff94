"""What kinds of layers a model has beside full attention."""

from __future__ import annotations

from pdtopology.huggingface.model_types import (
    OPTIONAL_WINDOW_MODEL_TYPES,
    RECURRENT_MODEL_TYPES,
    SLIDING_WINDOW_MODEL_TYPES,
)
from pdtopology.huggingface.part import Derived, Part

_RECURRENT_LAYERS = frozenset(("linear_attention", "mamba", "mamba2", "recurrent", "conv"))
_LISTS_OF_LAYERS = (
    ("layer_types", _RECURRENT_LAYERS),
    ("layers_block_type", _RECURRENT_LAYERS | {"hybrid"}),  # zamba2's hybrid is mamba beside shared attention
    ("block_types", _RECURRENT_LAYERS),
    ("hybrid_override_pattern", frozenset("M")),
    ("attn_type_list", frozenset((0,))),
)
_SIZES_OF_RECURRENT_LAYERS = (
    "conv_L_cache",
    "linear_attn_config",
    "linear_num_value_heads",
    "mamba_d_state",
    "ssm_state_size",
)


def mamba_layers(part: Part) -> Derived:
    """Whether some layers keep a state of one size: mamba, linear attention or a short convolution.

    Upstream: vLLM `ModelConfig.is_hybrid`, whose models give their layers a `MambaSpec`.
    """
    for name, recurrent in _LISTS_OF_LAYERS:
        kinds = part.values.get(name)
        if isinstance(kinds, str | list) and kinds:
            is_hybrid = any(isinstance(kind, str | int) and kind in recurrent for kind in kinds)
            return Derived(is_hybrid, part.key(name), f"{'some' if is_hybrid else 'no'} layer keeps a state")
    group = part.values.get("layer_group_size")  # bailing_hybrid: the last layer of each group is attention
    if type(group) is int and group > 1:
        return Derived(value=True, key=part.key("layer_group_size"), rule="the other layers of a group keep a state")
    sized = next((name for name in _SIZES_OF_RECURRENT_LAYERS if part.gives(name)), None)
    if sized:
        return Derived(value=True, key=part.key(sized), rule="the size of a layer's state is given")
    if part.model_type in RECURRENT_MODEL_TYPES:
        return Derived(
            value=True, key=part.key("model_type"), rule="some layer keeps a state unless the config says otherwise"
        )
    return Derived(value=False, key=part.key("layer_types"), rule="no layer that keeps a state is given")


def sliding_window_layers(part: Part) -> Derived:
    """Whether some layers attend to a sliding window, for which vLLM keeps blocks of their own.

    By the layers' kinds if they are given, else by a `sliding_window` that is neither null nor unused. DeepSeek-V4's
    compressed layers keep a window too (vLLM `DeepseekV4SWACache`).
    """
    kinds = part.values.get("layer_types")
    if isinstance(kinds, list) and kinds:
        has_window = any(isinstance(kind, str) and ("sliding" in kind or "compressed" in kind) for kind in kinds)
        return Derived(has_window, part.key("layer_types"), f"{'some' if has_window else 'no'} layer has a window")
    is_used = part.values.get("use_sliding_window", part.model_type not in OPTIONAL_WINDOW_MODEL_TYPES)
    name = next((name for name in ("sliding_window", "sliding_window_size") if part.gives(name)), "sliding_window")
    window = part.values.get(name, part.model_type in SLIDING_WINDOW_MODEL_TYPES)
    if window and is_used is False:
        return Derived(value=False, key=part.key("use_sliding_window"), rule="the window is not used")
    return Derived(bool(window), part.key(name), "a window is given" if window else "no window is given")
