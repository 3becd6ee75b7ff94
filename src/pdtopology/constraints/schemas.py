"""JSON Schemas as values: what they combine to, where in a document they stand, and which are said once."""

from __future__ import annotations

from typing import Any, TypeAlias

from pdtopology.constraints.expressions import Key

JsonSchema: TypeAlias = dict[str, Any]

ALL: JsonSchema = {}
"""The schema that every document matches."""
NONE: JsonSchema = {"not": {}}
"""The schema that no document matches."""


class Definitions:
    """Schemas said once in a file and referred to; what a model's own schema cannot have, since it may be nested."""

    def __init__(self) -> None:
        self.schemas: dict[str, JsonSchema] = {}
        self._names: dict[str, str] = {}

    def define(self, name: str, schema: JsonSchema) -> JsonSchema:
        """A reference to the schema of this name. Raises `ValueError` where the name is another's."""
        if self.schemas.setdefault(name, schema) != schema:
            raise ValueError(f"two schemas have the name {name}")
        return self.reference(name)

    def reference(self, name: str) -> JsonSchema:
        """A reference to what is, or will be, defined under a name."""
        return {"$ref": f"#/$defs/{name}"}

    def share(self, schema: JsonSchema) -> JsonSchema:
        """A reference to a schema of no name, and to one place for all that are equal."""
        name = self._names.setdefault(repr(schema), f"s{len(self._names) + 1}")
        return self.define(name, schema)


REQUIRED_SECTIONS = ("model", "prefill", "decode")
"""A document without one of these is refused whatever else is asked of it."""


def at(key: Key, schema: JsonSchema, *, absent: bool) -> JsonSchema:
    """The schema put at the key's place; `absent` says whether a document without the key matches."""
    for depth, part in reversed(list(enumerate(key.parts))):
        schema = {"properties": {part: schema}}
        if not absent and (depth or part not in REQUIRED_SECTIONS):
            schema = {"required": [part], **schema}
        # Below a mapping anything may stand in the place of an object, which has no keys then.
        if not absent and depth > key.mapping_depth:
            schema = {"type": "object", **schema}
    return schema


def every(schemas: list[JsonSchema]) -> JsonSchema:
    """The schema of the documents that match all of these."""
    parts = [part for schema in schemas for part in (schema["allOf"] if [*schema] == ["allOf"] else [schema])]
    told = [part for part in parts if part != ALL]
    if NONE in told:
        return NONE
    return told[0] if len(told) == 1 else {"allOf": told} if told else ALL


def at_least_one(schemas: list[JsonSchema]) -> JsonSchema:
    """The schema of the documents that match one of these."""
    told = [schema for schema in schemas if schema != NONE]
    if ALL in told:
        return ALL
    return told[0] if len(told) == 1 else {"anyOf": told} if told else NONE


def opposite_of(schema: JsonSchema) -> JsonSchema:
    """The schema of the documents that do not match this one."""
    if [*schema] == ["not"]:
        opposite: JsonSchema = schema["not"]
        return opposite
    return {"not": schema}


def one_of(values: tuple[str | int | bool | None, ...]) -> JsonSchema:
    """The schema of the values themselves."""
    return {"const": values[0]} if len(values) == 1 else {"enum": list(values)}
