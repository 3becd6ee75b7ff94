"""Pydantic's errors about single values, in the words of the document."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import ErrorDetails

from pdtopology.formats.place import Path
from pdtopology.suggestions import keys_of, sections_of, suggested_key

_MAX_BITS = 256
_MAX_SHOWN = 60


def path_of(error: ErrorDetails) -> Path:
    """Where the error is, without pydantic's mark for a mapping's key."""
    return tuple(part for part in error["loc"] if part != "[key]")


def dotted(path: Path) -> str:
    """A path as people write it: `decode.tensor_parallel_size`."""
    return ".".join(map(str, path))


def message_of(error: ErrorDetails) -> str:
    """What is wrong, with the key and its value."""
    path = path_of(error)
    name = dotted(path) or "the document"
    if error["type"] == "missing":
        return f"{name} is missing"
    if error["type"] == "extra_forbidden":
        return f"unknown key {path[-1]}" + (f" in {dotted(path[:-1])}" if path[1:] else "")
    if error["type"] == "argument_has_a_field":
        return f"{name} has a field of its own"
    value = error["input"]
    if not path and value is None:
        return "the document is empty, but must be a mapping with model, prefill and decode"
    return f"{name} is {shown(value)}, but must be {_wanted(error)}"


def hint_of(error: ErrorDetails) -> str | None:
    """What to do about it, where that can be told."""
    hint = _HINTS.get(error["type"])
    return hint(path_of(error), error["input"]) if hint else None


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


def _wanted(error: ErrorDetails) -> str:
    context: Mapping[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "greater_than":
            return f"greater than {context['gt']}"
        case "greater_than_equal":
            return f"at least {context['ge']}"
        case "less_than_equal":
            return f"at most {context['le']:,}"
        case "int_type":
            return "a whole number"
        case "bool_type":
            return "true or false"
        case "string_type":
            return "text"
        case "string_too_short":
            return "some text"
        case "string_pattern_mismatch":
            return 'a version such as "0.33" or "0.33.1"'
        case "literal_error":
            return str(context["expected"]).replace("'", '"')
        case "model_type" | "dict_type":
            return "a mapping"
        case _:
            return error["msg"].removeprefix("Input should be ")


def _missing(path: Path, _: Any) -> str:
    if path in (("prefill",), ("decode",)):
        return f"add it; `{path[0]}: {{}}` is a role of TP size 1"
    return "add it with total_num_kv_heads, or with is_mla: true"


def _unknown(path: Path, _: Any) -> str | None:
    if known := suggested_key(path):
        return f"did you mean {known}?"
    if elsewhere := sections_of(path):
        return f"it belongs at {' and '.join(elsewhere)}"
    return f"the keys here are {', '.join(keys_of(path[:-1]))}"


def _whole_number(_: Path, value: Any) -> str | None:
    if isinstance(value, str) and value.strip().isdecimal():
        return f"write it without quotes: {value.strip()[:20]}"
    if value is None:
        return "state a number, or remove the key for its default"
    return None


def _text(_: Path, value: Any) -> str | None:
    if isinstance(value, (int, float)):
        return f"put it in quotes as it is written, since 0.30 without them is {shown(0.3)}"
    return None


def _truth(_: Path, value: Any) -> str | None:
    if isinstance(value, str) and value.lower() in ("yes", "no", "on", "off", "true", "false"):
        return f"write {str(value.lower() in ('yes', 'on', 'true')).lower()}"
    return None


def _owned(path: Path, _: Any) -> str | None:
    names = suggested_key((path[0], path[-1]))
    if names in keys_of((path[0],)):
        return f"set {path[0]}.{names} instead"
    return "it is written from the connector section"


_HINTS: Mapping[str, Callable[[Path, Any], str | None]] = {
    "missing": _missing,
    "extra_forbidden": _unknown,
    "int_type": _whole_number,
    "string_type": _text,
    "bool_type": _truth,
    "argument_has_a_field": _owned,
}
