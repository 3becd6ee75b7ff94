"""The rules as clauses of the JSON Schema: `if` a document breaks one, `then` it fails at the rule's key, in words.

`if` holds the whole verdict. `then` is reached by broken documents only and always fails, so what it says is free.
"""

from __future__ import annotations

from pdtopology.catalogue import CLAUSES
from pdtopology.constraints import ALWAYS, Expression
from pdtopology.constraints.json_schema import Definitions, JsonSchema, compile_condition, compile_to_json_schema
from pdtopology.rule import Clause
from pdtopology.schema.words import Words


def rule_clauses(definitions: Definitions | None = None) -> list[JsonSchema]:
    """A clause for each place where a rule refuses a document, in the order of the rules.

    The clauses of one engine and kind of connector stand together behind one condition. Without definitions the clauses
    stand by themselves, wherever the model's schema is put. With them, a clause is silent where one that silences it is
    broken, as in Python; the verdict is the same.
    """
    scopes: dict[Expression, list[JsonSchema]] = {}
    for clause in CLAUSES:
        if clause.refused_by_schema:
            scopes.setdefault(clause.rule.scope, []).append(_rule_clause(clause, definitions))
    found = []
    for scope, clauses in scopes.items():
        if scope == ALWAYS:
            found += clauses
        else:
            condition = compile_condition(scope, definitions)
            found.append({"if": condition, "then": {"allOf": clauses}})
    return found


def _rule_clause(clause: Clause, definitions: Definitions | None) -> JsonSchema:
    return {
        "$comment": clause.rule.code,
        "if": _broken(clause, definitions),
        "then": _unless_silenced(clause, Words(clause, definitions).failure, definitions),
    }


def _broken(clause: Clause, definitions: Definitions | None) -> JsonSchema:
    """The documents of the rule's scope that break the clause; exact where those that silence it are not broken."""
    assert clause.refused_by_schema
    related = clause.related_pairs(CLAUSES)
    broken = compile_to_json_schema(clause.refused_by_schema, related, definitions=definitions)
    return definitions.define(clause.name, broken) if definitions else broken


def _unless_silenced(clause: Clause, failure: JsonSchema, definitions: Definitions | None) -> JsonSchema:
    silencing = [
        other
        for other in CLAUSES
        if other.refused_by_schema and clause.is_silenced_by(other) and other.rule.is_wider_than(clause.rule)
    ]
    if definitions is None or not silencing:
        return failure
    return {"if": {"anyOf": [definitions.reference(other.name) for other in silencing]}, "else": failure}
