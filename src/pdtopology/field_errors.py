"""Pydantic's errors about single values, in the words of the document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from pydantic_core import ErrorDetails

from pdtopology.connectors.kinds import CONNECTORS
from pdtopology.paths import Path, dotted
from pdtopology.roles import HAS_A_FIELD
from pdtopology.suggestions import keys_of, kinds_with, sections_with, suggested_key
from pdtopology.values import shown

_KEY_DEPTH = 3


def path_of(error: ErrorDetails) -> Path:
    """Where the error is, without pydantic's mark for a key of `env` or `engine_args`."""
    path = error["loc"]
    is_marked = len(path) > _KEY_DEPTH and path[-1] == "[key]"
    return path[:-1] if is_marked else path


def message_of(error: ErrorDetails, *, hides_value: bool = False) -> str:
    """What is wrong, with the key and its value unless that may be a secret."""
    path = path_of(error)
    name = dotted(path) or "the document"
    if error["type"] == "missing":
        return f"{name} is missing"
    if error["type"] == "extra_forbidden":
        return f"unknown key {path[-1]}" + (f" in {dotted(path[:-1])}" if path[1:] else "")
    if error["type"] == HAS_A_FIELD:
        return f"{name} has a field of its own"
    if error["type"] in _TOLD:
        return error["msg"]
    value = error["input"]
    if not path and value is None:
        return "the document is empty, but must be a mapping with model, prefill and decode"
    return f"{name} {'' if hides_value else f'is {shown(value)}, but '}must be {_wanted(error)}"


def hint_of(error: ErrorDetails, *, hides_value: bool = False) -> str | None:
    """What to do about it, where that can be told, and without the value if that may be a secret."""
    hint = _HINTS.get(error["type"])
    return hint(path_of(error), None if hides_value else error["input"]) if hint else None


_TOLD = ("model-geometry-conflict", "model-geometry-unknown", "unreadable-file", "input-too-large", "syntax-error")
"""What is wrong with the config.json that the model names."""

_WANTED: Mapping[str, str] = {
    "greater_than": "greater than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "string_type": "text",
    "string_too_short": "some text",
    "string_too_long": "at most {max_length} characters",
    "string_unicode": "text without halves of surrogate pairs",
    "string_pattern_mismatch": 'a version such as "0.33" or "0.33.1"',
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dict_type": "a mapping",
}


def _wanted(error: ErrorDetails) -> str:
    context: Mapping[str, Any] = error.get("ctx", {})
    if error["type"] == "literal_error":
        return str(context["expected"]).replace("'", '"')
    wanted = _WANTED.get(error["type"])
    # Kinds that the models do not raise today keep pydantic's words.
    return wanted.format_map(context) if wanted else error["msg"].removeprefix("Input should be ")


def _missing(path: Path, _: Any) -> str:
    if path in (("prefill",), ("decode",)):
        return f"add it; `{path[0]}: {{}}` is a role of TP size 1"
    return "add it with total_num_kv_heads, with hf_config (the path of its config.json), or with is_mla: true"


def _unknown(path: Path, _: Any) -> str | None:
    if kinds := kinds_with(path):
        return f"it is a key of connector.kind {' and '.join(kinds)}"
    if known := suggested_key(path):
        return f"did you mean {known}?"
    if elsewhere := sections_with(path):
        return f"it belongs at {' and '.join(elsewhere)}"
    return f"the keys here are {', '.join(keys_of(path[:-1]))}"


def _conflict(path: Path, _: Any) -> str:
    return f"remove {dotted(path)}, or name the config.json of this model"


def _unreadable(path: Path, _: Any) -> str:
    return f"{dotted(path)} is the path of a config.json, or of the folder that holds it"


def _whole_number(_: Path, value: Any) -> str | None:
    if isinstance(value, str) and value.strip().isdecimal():
        return f"write it without quotes: {value.strip()[:20]}"
    if value is None:
        return "state a number, or remove the key for its default"
    return None


def _section(path: Path, value: Any) -> str | None:
    if isinstance(value, str) and path in _NAMED_BY:
        return f"name it in {dotted((*path, _NAMED_BY[path]))}"
    return "write {} for its defaults" if path and value is None else None


_NAMED_BY: Mapping[Path, str] = {("engine",): "name", ("model",): "name", ("connector",): "kind"}
"""The key that takes the name of what a section is about."""


def _text(_: Path, value: Any) -> str | None:
    if isinstance(value, float):
        return "put it in quotes as it is written: 0.30 without them is 0.3"
    return f'put it in quotes: "{shown(value)}"' if isinstance(value, (bool, int)) else None


def _truth(_: Path, value: Any) -> str | None:
    if isinstance(value, str) and value.lower() in ("yes", "no", "on", "off", "true", "false"):
        return f"write {str(value.lower() in ('yes', 'on', 'true')).lower()}"
    return None


def _literal(path: Path, value: Any) -> str | None:
    return _mode(value) if path == ("connector", "mode") else _kind(path, value)


def _mode(value: Any) -> str | None:
    """The kind of a connector that has the mode."""
    for kind, model in CONNECTORS.items():
        mode = model.model_fields.get("mode")
        if mode and value in get_args(mode.annotation):
            return f"it is a mode of connector.kind {kind}"
    return None


def _kind(path: Path, value: Any) -> str | None:
    """The kind of a connector that is called by its class's name."""
    if path != ("connector", "kind") or not isinstance(value, str):
        return None
    for kind in CONNECTORS:
        if kind in value.lower():
            return f"write {kind}, with mode: push" if "push" in value.lower() else f"write {kind}"
    return f"write other, with name: {value}" if value.isidentifier() else None


def _owned(path: Path, _: Any) -> str | None:
    names = suggested_key((path[0], path[-1]))
    if names in keys_of((path[0],)):
        return f"set {path[0]}.{names} instead"
    return "it is written from the connector section"


_HINTS: Mapping[str, Callable[[Path, Any], str | None]] = {
    "missing": _missing,
    "extra_forbidden": _unknown,
    "int_type": _whole_number,
    "literal_error": _literal,
    "string_type": _text,
    "bool_type": _truth,
    "model_type": _section,
    "model_attributes_type": _section,
    HAS_A_FIELD: _owned,
    "model-geometry-conflict": _conflict,
    "unreadable-file": _unreadable,
}
