"""The document's fields in the schema: flat closed objects, and for each field what an editor shows on hover."""

from __future__ import annotations

import json
from typing import Any

from pdtopology.catalogue import CLAUSES
from pdtopology.constraints.schemas import JsonSchema
from pdtopology.deployment import Deployment
from pdtopology.keys import DECODE_TP, PREFILL_TP
from pdtopology.schema.completions import value_completions
from pdtopology.schema.words import is_met_often

# Their default is in the hover only: an editor would offer it also where it does not fit.
_OFFERED_BY_RULES = (PREFILL_TP.path, DECODE_TP.path)


def document_fields() -> JsonSchema:
    """The schema of the sections and their fields, without the rules."""
    models = Deployment.model_json_schema()
    sections = models["$defs"]
    return {
        "type": "object",
        "additionalProperties": False,
        "required": models["required"],
        "properties": {
            name: _field(name, {**sections.get(field.get("$ref", "").rpartition("/")[2], {}), **field})
            for name, field in models["properties"].items()
        },
    }


def _section(path: str, section: JsonSchema) -> JsonSchema:
    snippets = value_completions().get(path, {})
    fields = {key: _field(f"{path}.{key}", field) for key, field in section["properties"].items()}
    for key, offered in snippets.items():
        fields[key]["defaultSnippets"] = offered
    kept: JsonSchema = {key: section[key] for key in ("required", "allOf") if key in section}
    return {
        "type": "object",
        **_hover(section["description"]),
        "additionalProperties": False,
        **kept,
        "properties": fields,
    }


def typed(field: JsonSchema) -> JsonSchema:
    """The field with `type: [T, null]` for an optional one, which every editor shows as T."""
    if "anyOf" not in field:
        return field
    stated, _null = field["anyOf"]
    rest = {key: value for key, value in field.items() if key != "anyOf"}
    enum = {"enum": [*stated["enum"], None]} if "enum" in stated else {}
    return {**rest, **stated, "type": [stated["type"], "null"], **enum}


def _field(path: str, field: JsonSchema) -> JsonSchema:
    if "properties" in field:
        return _section(path, field)
    field = {key: value for key, value in typed(field).items() if key != "title"}
    default = field.pop("default", None)
    if default is not None and path not in _OFFERED_BY_RULES:
        field["default"] = default
    return {**field, **_hover(field["description"], default, _rules_about(path))}


def _rules_about(path: str) -> list[str]:
    """What the rules that are met most demand of a key, each once."""
    told = [
        f"{clause.rule.title} (`{clause.rule.code}`)."
        for clause in CLAUSES
        if clause.refused and is_met_often(clause) and path in {key.path for key in (clause.at, *clause.see)}
    ]
    return list(dict.fromkeys(told))


def _hover(description: str, default: Any = None, rules: list[str] | None = None) -> JsonSchema:
    """What the field means, its default, and what constrains it; editors differ in whether they read Markdown."""
    parts = [description]
    if default is not None:
        parts.append(f"Default: `{json.dumps(default)}`.")
    text = "\n\n".join([" ".join(parts), *(f"- {rule}" for rule in rules or ())])
    return {"description": text.replace("`", ""), "markdownDescription": text}
