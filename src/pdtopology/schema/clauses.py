"""The rules as clauses of the JSON Schema: `if` a document breaks one, `then` it fails at the rule's key, in words.

`if` holds the whole verdict. `then` is reached by broken documents only and always fails, so what it says is free.
"""

from __future__ import annotations

from pdtopology.catalogue import CLAUSES, RULES
from pdtopology.constraints import ALWAYS, Expression
from pdtopology.constraints.expressions import AllOf
from pdtopology.constraints.json_schema import compile_condition, compile_to_json_schema
from pdtopology.constraints.schemas import Definitions, JsonSchema
from pdtopology.keys import HAS_MAMBA, HAS_SLIDING_WINDOW, HF_CONFIG, IS_MLA
from pdtopology.rule import Clause
from pdtopology.schema.words import Words

_MODEL_FLAGS = (IS_MLA.key, HAS_MAMBA.key, HAS_SLIDING_WINDOW.key)
_CLAUSES_OF = {rule.code: [clause for clause in CLAUSES if clause.rule is rule] for rule in RULES}
_FLAGS_ARE_STATED = ~HF_CONFIG.is_set | AllOf(tuple(flag.is_set for flag in _MODEL_FLAGS))


def rule_clauses(definitions: Definitions | None = None) -> list[JsonSchema]:
    """A clause for each place where a rule refuses a document, in the order of the rules.

    The clauses of one engine and kind of connector stand together behind one condition. Without definitions the clauses
    stand by themselves, wherever the model's schema is put. With them, a clause is silent where one that silences it is
    broken, as in Python; the verdict is the same.

    No schema reads the file that `model.hf_config` names. Beside it, clauses that read a flag of the model are silent
    unless the document states every flag.
    """
    scopes: dict[Expression, dict[Expression, list[JsonSchema]]] = {}
    for clause in CLAUSES:
        if clause.refused_by_schema:
            groups = scopes.setdefault(clause.rule.scope, {})
            flags = _FLAGS_ARE_STATED if {*_MODEL_FLAGS} & {*clause.constraint.keys} else ALWAYS
            groups.setdefault(flags, []).append(_rule_clause(clause, definitions))
    found = []
    for scope, groups in scopes.items():
        clauses = [clause for flags, group in groups.items() for clause in _only_where(flags, group, definitions)]
        found += _only_where(scope, clauses, definitions)
    return found


def _only_where(condition: Expression, clauses: list[JsonSchema], definitions: Definitions | None) -> list[JsonSchema]:
    if condition == ALWAYS:
        return clauses
    compiled = compile_condition(condition, definitions)
    return [{"if": definitions.share(compiled) if definitions else compiled, "then": {"allOf": clauses}}]


def _rule_clause(clause: Clause, definitions: Definitions | None) -> JsonSchema:
    return {
        "$comment": clause.rule.code,
        "if": _broken(clause, definitions),
        "then": _unless_silenced(clause, Words(clause, definitions).failure, definitions),
    }


def _broken(clause: Clause, definitions: Definitions | None) -> JsonSchema:
    """The documents of the rule's scope that break the clause; exact where those that silence it are not broken."""
    assert clause.refused_by_schema
    related = clause.related_pairs(_silencing(clause))
    broken = compile_to_json_schema(clause.refused_by_schema, related, definitions=definitions)
    return definitions.define(clause.name, broken) if definitions else broken


def _unless_silenced(clause: Clause, failure: JsonSchema, definitions: Definitions | None) -> JsonSchema:
    silencing = [
        other for other in _silencing(clause) if other.refused_by_schema and other.rule.is_wider_than(clause.rule)
    ]
    if definitions is None or not silencing:
        return failure
    return {"if": {"anyOf": [definitions.reference(other.name) for other in silencing]}, "else": failure}


def _silencing(clause: Clause) -> list[Clause]:
    return [other for code in clause.rule.after for other in _CLAUSES_OF[code] if clause.is_silenced_by(other)]
