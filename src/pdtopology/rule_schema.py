"""The rules as clauses of the JSON Schema: `if` a document breaks one, `then` it fails at the rule's key."""

from __future__ import annotations

from pdtopology.constraints import Key
from pdtopology.constraints.json_schema import JsonSchema, at, compile_to_json_schema
from pdtopology.keys import CONNECTOR_KIND
from pdtopology.rule import Clause
from pdtopology.rules import CLAUSES


def rule_clauses() -> list[JsonSchema]:
    """A clause for each place where a rule refuses a document, in the order of the rules."""
    return [schema for clause in CLAUSES if (schema := _schema(clause))]


def _schema(clause: Clause) -> JsonSchema | None:
    constraint = clause.refused
    if constraint is None:
        return None
    if clause.rule.connector:
        constraint = constraint.only_where(CONNECTOR_KIND.is_(clause.rule.connector))
    sentence = f"{clause.rule.title} [{clause.rule.code}]"
    return {
        "$comment": clause.rule.code,
        "if": compile_to_json_schema(constraint, clause.related_pairs(CLAUSES)),
        "then": _failure(sentence, (clause.at, *clause.see)),
    }


def _failure(sentence: str, places: tuple[Key, ...]) -> JsonSchema:
    """A schema that always fails, on the first of the keys that the document states, and says the sentence."""
    first, *others = places
    stated = at(first, {"not": {"type": "null"}}, absent=False)
    fails = at(first, {"const": sentence}, absent=False)
    if not others:
        return fails
    return {"if": stated, "then": fails, "else": _failure(sentence, tuple(others))}
