"""The sections by themselves."""

from __future__ import annotations

import pytest

from pdtopology.deployment import takes_text


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("engine.version", True),
        ("model.name", True),
        ("decode.host", True),
        ("decode.kv_cache_dtype", True),
        ("decode.env.OMP_NUM_THREADS", True),
        ("decode.tensor_parallel_size", False),
        ("model.is_mla", False),
        ("decode.env", False),
        ("decode.engine_args.max-model-len", False),
        ("decode.unknown", False),
        ("unknown", False),
        ("decode", False),
    ],
)
def test_a_field_that_is_text_is_told_from_others(path: str, *, expected: bool) -> None:
    assert takes_text(tuple(path.split("."))) is expected
