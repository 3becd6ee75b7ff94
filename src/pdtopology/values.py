"""Values as messages show them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_MAX_BITS = 256
_MAX_SHOWN = 60


def shown(value: Any) -> str:
    """A value as a document would state it, or its kind where it is long."""
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return f"a number of {value.bit_length()} bits"
    if isinstance(value, (str, int, float, bool, type(None))):
        text = json.dumps(value)
        return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 10]}… ({len(text):,} characters)"
    if isinstance(value, Mapping):
        return "a mapping"
    return "a list" if isinstance(value, (list, tuple)) else f"a {type(value).__name__}"
