"""Single values as each format writes them, in the quotes that stood there before where they can hold the new one."""

from __future__ import annotations

import json
import re
from typing import Any

_PLAIN = re.compile(r"[A-Za-z][\w./-]*", re.ASCII)
_NOT_PLAIN = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
"""What is no text to a reader of YAML 1.2 or 1.1, in any case."""

_BARE_KEY = re.compile(r"[\w-]+", re.ASCII)
_UNPRINTED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def json_scalar(value: Any) -> str:
    """A value in JSON, where it is text in double quotes that YAML and TOML read too."""
    written = json.dumps(value, ensure_ascii=False)
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def yaml_scalar(value: Any, before: str = "") -> str:
    """A value in YAML; text in the quotes of what stood there before, without any where it needs none."""
    if isinstance(value, str):
        if before[:1] == "'" and value.isprintable():
            return "'" + value.replace("'", "''") + "'"
        if before[:1] not in ("'", '"') and _PLAIN.fullmatch(value) and value.lower() not in _NOT_PLAIN:
            return value
    return json_scalar(value)


def toml_scalar(value: Any, before: str = "") -> str:
    """A value in TOML; text in the quotes of what stood there before."""
    if isinstance(value, str) and before[:1] == "'" and value.isprintable() and "'" not in value:
        return f"'{value}'"
    return json_scalar(value)


def toml_key(name: str) -> str:
    """A key in TOML, in quotes where it needs them."""
    return name if _BARE_KEY.fullmatch(name) else json_scalar(name)
