"""The JSON Schema of the document, as editors read it: schemas/pdtopology.schema.json and its draft-07 twin."""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

from pdtopology.constraints.schemas import Definitions
from pdtopology.schema.clauses import rule_clauses
from pdtopology.schema.completions import file_completion, size_completions
from pdtopology.schema.definitions import with_shared_definitions
from pdtopology.schema.fields import document_fields

Dialect: TypeAlias = Literal["2020-12", "draft-07"]

DIALECTS: dict[Dialect, str] = {
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft-07": "http://json-schema.org/draft-07/schema#",
}
FILE_NAMES: dict[Dialect, str] = {
    "2020-12": "pdtopology.schema.json",
    "draft-07": "pdtopology.draft-07.schema.json",
}


def json_schema(dialect: Dialect = "2020-12") -> dict[str, Any]:
    """A schema that rejects exactly the documents that `PDTopology` rejects, with words and completions for editors.

    Raises `ValueError` for an unknown dialect.
    """
    if dialect not in DIALECTS:
        raise ValueError(f"unknown dialect {dialect!r}: one of {', '.join(DIALECTS)}")
    definitions = Definitions()
    clauses = [*rule_clauses(definitions), *size_completions(definitions)]
    schema = with_shared_definitions(
        {
            "$schema": DIALECTS[dialect],
            "$id": f"urn:pdtopology:{FILE_NAMES[dialect]}",
            "title": "Prefill/decode topology",
            **document_fields(),
            "defaultSnippets": [file_completion()],
            "allOf": clauses,
            "$defs": definitions.schemas,
        }
    )
    return schema if dialect == "2020-12" else _with_definitions(schema)


def dump(schema: dict[str, Any]) -> str:
    """The schema as text, a line for each member and each rule's clause, so that changes can be read."""
    members = []
    for name, value in schema.items():
        if name in ("allOf", "$defs", "definitions", "properties"):
            members.append(f"{json.dumps(name)}: {_lines(value)}")
        else:
            members.append(f"{json.dumps(name)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(members) + "\n}\n"


def _lines(value: Any) -> str:
    if isinstance(value, dict):
        inner = ",\n".join(f"  {json.dumps(key)}: {_compact(item)}" for key, item in value.items())
        return "{\n" + inner + "\n}"
    return "[\n" + ",\n".join(f"  {_compact(item)}" for item in value) + "\n]"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _with_definitions(value: Any) -> Any:
    """The schema with what 2020-12 calls `$defs` under its draft-07 name."""
    if isinstance(value, dict):
        return {"definitions" if key == "$defs" else key: _with_definitions(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_definitions(item) for item in value]
    if isinstance(value, str) and value.startswith("#/$defs/"):
        return value.replace("#/$defs/", "#/definitions/", 1)
    return value
