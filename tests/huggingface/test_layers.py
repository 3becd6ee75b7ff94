"""What kinds of layers a config.json tells of."""

from __future__ import annotations

from typing import Any

import pytest

from pdtopology.huggingface import geometry_of
from tests.huggingface.configs import QWEN3_32B


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        pytest.param({}, False, id="plain"),
        pytest.param({"sliding_window": 4096, "use_sliding_window": True}, True, id="used"),
        pytest.param({"sliding_window": 4096, "use_sliding_window": False}, False, id="not used"),
        pytest.param({"sliding_window": 4096}, False, id="not used by the class's default"),
        pytest.param({"sliding_window": 4096, "model_type": "phi3"}, True, id="Phi-3"),
        pytest.param({"sliding_window_size": 512, "model_type": "inkling"}, True, id="Inkling"),
        pytest.param({"sliding_window": None, "model_type": "mistral"}, False, id="Mistral-7B-v0.3"),
        pytest.param({"model_type": "mistral"}, True, id="the class's default"),
        pytest.param({"sliding_window": 4096, "layer_types": ["full_attention"]}, False, id="no layer"),
        pytest.param({"layer_types": ["full_attention", "sliding_attention"]}, True, id="some layer"),
        pytest.param({"layer_types": [["sliding_attention"], 1]}, False, id="no names"),
        pytest.param({"layer_types": ["heavily_compressed_attention"]}, True, id="DeepSeek-V4"),
    ],
)
def test_a_sliding_window_is_one_that_some_layer_uses(keys: dict[str, Any], expected: bool) -> None:
    assert geometry_of({**QWEN3_32B, **keys}).has_sliding_window_layers.value is expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        pytest.param({}, False, id="plain"),
        pytest.param({"layer_types": ["linear_attention", "full_attention"]}, True, id="Qwen3-Next"),
        pytest.param({"layers_block_type": ["mamba", "attention"]}, True, id="granite-4"),
        pytest.param({"layer_types": ["attention"], "mamba_d_state": 128}, False, id="granite-4 of attention alone"),
        pytest.param({"layers_block_type": ["hybrid", "hybrid"]}, True, id="Zamba2"),
        pytest.param({"layer_types": ["hybrid", "hybrid_sliding"]}, False, id="Inkling"),
        pytest.param({"block_types": ["recurrent", "attention"]}, True, id="recurrentgemma"),
        pytest.param({"layer_types": ["conv", "full_attention"]}, True, id="LFM2"),
        pytest.param({"hybrid_override_pattern": "M-M*-"}, True, id="Nemotron-H"),
        pytest.param({"hybrid_override_pattern": "*-*-"}, False, id="no M"),
        pytest.param({"attn_type_list": [0, 0, 1]}, True, id="MiniMax-Text-01"),
        pytest.param({"attn_type_list": [1, 1]}, False, id="MiniMax-M2"),
        pytest.param({"linear_attn_config": {"kda_layers": [1]}}, True, id="Kimi-Linear"),
        pytest.param({"layer_group_size": 8}, True, id="Ring-2.5"),
        pytest.param({"layer_group_size": 1}, False, id="groups of one layer"),
        pytest.param({"mamba_d_state": 256}, True, id="Falcon-H1"),
        pytest.param({"model_type": "qwen3_5_text"}, True, id="the class's default"),
        pytest.param({"layer_types": [], "mamba_d_state": None}, False, id="nothing said"),
    ],
)
def test_a_mamba_layer_keeps_a_state(keys: dict[str, Any], expected: bool) -> None:
    assert geometry_of({**QWEN3_32B, **keys}).has_mamba_layers.value is expected
