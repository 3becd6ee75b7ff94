"""The connector's schema: one flat closed object, whose kind says which of its keys are allowed.

Editors complete and judge such an object better than a union: some show the failures of every branch, and one picks
the wrong branch.
"""

from __future__ import annotations

import json
from typing import Any

from pdtopology.connectors.kinds import CONNECTORS, DEFAULT_CONNECTOR
from pdtopology.constraints.schemas import JsonSchema
from pdtopology.schema.fields import typed

_OFFERED = ("type", "enum", "default")


def connector_schema() -> JsonSchema:
    """Every kind's keys, and for each kind a clause that offers its own and refuses those of the others."""
    kinds = {kind: _inlined(model.model_json_schema()) for kind, model in CONNECTORS.items()}
    known = [schema["properties"].pop("kind") for schema in kinds.values()]
    kind_field = {
        "enum": list(kinds),
        "type": "string",
        "default": DEFAULT_CONNECTOR,
        "description": known[0]["description"],
    }
    merged = _merged(kinds)
    clauses = []
    for kind, schema in kinds.items():
        is_kind: JsonSchema = {"properties": {"kind": {"const": kind}}}
        if kind != DEFAULT_CONNECTOR:
            is_kind = {"required": ["kind"], **is_kind}
        clauses.append({"if": is_kind, "then": {"properties": _limits(schema, merged)}})
    return {**merged, "properties": {"kind": kind_field, **merged["properties"]}, "allOf": clauses}


def _merged(kinds: dict[str, JsonSchema]) -> JsonSchema:
    """One object with the keys of all."""
    keys = dict.fromkeys(key for schema in kinds.values() for key in schema["properties"])
    properties = {}
    for key in keys:
        known = {kind: schema["properties"][key] for kind, schema in kinds.items() if key in schema["properties"]}
        merged = _merged(known) if _is_object(known) else _merged_field(known)
        # Editors offer it where the clause of its kind does.
        properties[key] = merged if len(known) == len(kinds) else {**merged, "doNotSuggest": True}
    description = next(iter(kinds.values())).get("description", "")
    return {"type": "object", "description": description, "additionalProperties": False, "properties": properties}


def _merged_field(kinds: dict[str, JsonSchema]) -> JsonSchema:
    """One field that takes what any of the kinds takes, as far as they agree; each says what it means there."""
    first, *others = kinds.values()
    merged = {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}
    if "description" not in merged:
        merged["description"] = " ".join(f"With {kind}: {_meaning(field)}" for kind, field in kinds.items())
    return merged


def _meaning(field: JsonSchema) -> str:
    return f"{field['description']} Default: `{json.dumps(field['default'])}`."


def _limits(schema: JsonSchema, merged: JsonSchema) -> JsonSchema:
    """What one kind takes of the merged keys, where that is not what all take."""
    limits: JsonSchema = {}
    for key, field in merged["properties"].items():
        own = schema["properties"].get(key)
        if own is None:
            limits[key] = False
        elif "properties" in own:
            if inner := _limits(own, field):
                limits[key] = {"properties": inner}
        elif own != field:
            limits[key] = _own(typed(own), field)
    return limits


def _own(field: JsonSchema, merged: JsonSchema) -> JsonSchema:
    """What the merged key does not say, and what editors read of a key that they offer."""
    told = {key: value for key, value in field.items() if key in _OFFERED or merged.get(key) != value}
    plain = {"description": field["description"].replace("`", "")}
    return {key: value for key, value in {**told, **plain}.items() if value is not None}


def _is_object(kinds: dict[str, JsonSchema]) -> bool:
    return all("properties" in field for field in kinds.values())


def _inlined(schema: JsonSchema) -> JsonSchema:
    """The schema with the models it refers to in their places."""
    definitions = schema.pop("$defs", {})

    def inline(value: Any) -> Any:
        if isinstance(value, dict):
            reference = value.get("$ref", "").rpartition("/")[2]
            told = {**definitions[reference], **value} if reference else value
            return {key: inline(item) for key, item in told.items() if key not in ("$ref", "title")}
        return [inline(item) for item in value] if isinstance(value, list) else value

    inlined: JsonSchema = inline(schema)
    return inlined
