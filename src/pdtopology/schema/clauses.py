"""The rules as clauses of the JSON Schema: `if` a document breaks one, `then` it fails at the rule's key, in words.

`if` holds the whole verdict. `then` is reached by broken documents only and always fails, so what it says is free.
Of the ways to fail, editors with `errorMessage` show that; the others print the numbers of an `enum`, or a `const`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from pdtopology.catalogue import CLAUSES
from pdtopology.connectors.kinds import DEFAULT_CONNECTOR
from pdtopology.constraints import ALWAYS, Expression, Key
from pdtopology.constraints.absence import holds_without
from pdtopology.constraints.expressions import AllOf
from pdtopology.constraints.json_schema import (
    NONE,
    Definitions,
    JsonSchema,
    at,
    compile_condition,
    compile_to_json_schema,
)
from pdtopology.deployment import ENGINES, is_unusual
from pdtopology.keys import HAS_MAMBA, HAS_SLIDING_WINDOW, HF_CONFIG, IS_MLA, OFFERED_SIZES
from pdtopology.rule import Clause

_LARGEST_NAMED = 16

_MODEL_FLAGS = (IS_MLA.key, HAS_MAMBA.key, HAS_SLIDING_WINDOW.key)
_FLAGS_ARE_STATED = ~HF_CONFIG.is_set | AllOf(tuple(flag.is_set for flag in _MODEL_FLAGS))

NAMED_SIZES = tuple(size for size in OFFERED_SIZES if size <= _LARGEST_NAMED)
"""Wrong sizes that the message names; others are only under the editor's mark."""


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
        "then": _unless_silenced(clause, _failure(clause, _places(clause), definitions), definitions),
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


def _places(clause: Clause) -> tuple[Key, ...]:
    """The keys at which the rule may be told; of one that is met less often, the first two.

    Its own key is enough where no document that leaves it out breaks the rule.
    """
    if holds_without(clause.constraint, lambda key: key is clause.at):
        return (clause.at,)
    places = (clause.at, *clause.see)
    return places if is_met_often(clause) else places[:2]


def _failure(clause: Clause, places: tuple[Key, ...], definitions: Definitions | None) -> JsonSchema:
    """Fail at the first of the keys that the document states; at the last one where it states none."""
    first, *others = places
    if first == clause.at:
        refusal = _refusal(clause)
    elif first.common and clause.at.common and isinstance(clause.at.default, int) and is_met_often(clause):
        # Reached only where the document leaves the rule's own key out.
        refusal = _refusal_beside(clause, first, clause.at, clause.at.default)
    else:
        refusal = _sentence(clause, first)
    if not others:
        return refusal
    stated = compile_condition(first.is_set, definitions)
    return {"if": stated, "then": refusal, "else": _failure(clause, tuple(others), definitions)}


def _refusal(clause: Clause) -> JsonSchema:
    """Fail at the rule's own key, with the number that it disagrees with where that is a common one."""
    other = next((key for key in clause.see if key.common), None)
    sentence = _sentence(clause, clause.at)
    if other is None or not clause.at.common or not is_met_often(clause):
        return sentence
    branches = [
        {
            "if": at(other, {"minimum": size, "maximum": size}, absent=other.default == size),
            "then": _refusal_beside(clause, clause.at, other, size),
        }
        for size in other.common
    ]
    uncommon = at(other, {"not": {"enum": list(other.common)}}, absent=False)
    return {"allOf": [*branches, {"if": uncommon, "then": sentence}]}


def _refusal_beside(clause: Clause, blamed: Key, other: Key, size: int) -> JsonSchema:
    """Fail at one key, with the sizes that fit a size of the other, and name both where the wrong one is common."""
    fitting = _fitting_sizes(clause, blamed, other, size)
    if not fitting:
        return _sentence(clause, blamed, {other.name: size})
    section, field = blamed.parts
    named = [wrong for wrong in NAMED_SIZES if wrong not in fitting]

    def refused(numbers: dict[str, int]) -> JsonSchema:
        return {"properties": {field: {"enum": fitting, "errorMessage": _message(clause, numbers)}}}

    # The conditions stand on the section, since tombi reads none on a number.
    branches = [
        {
            "if": {"properties": {field: {"minimum": wrong, "maximum": wrong}}},
            "then": refused({other.name: size, blamed.name: wrong}),
        }
        for wrong in named
    ]
    unnamed = refused({other.name: size})
    if named:
        branches.append({"if": {"properties": {field: {"not": {"enum": named}}}}, "then": unnamed})
    said = {"allOf": branches} if named else unnamed
    return {"required": [section], "properties": {section: {"required": [field], **said}}}


def is_of_plain_documents(clause: Clause) -> bool:
    """Whether a document can break it that states the usual keys only."""
    return not holds_without(clause.constraint, lambda key: is_unusual(key.parts))


def is_met_often(clause: Clause) -> bool:
    """Whether plain documents break it; the words with numbers of all rules would be most of the schema."""
    is_newest = clause.rule.is_about(ENGINES[0], DEFAULT_CONNECTOR) and not clause.rule.until
    return is_newest and is_of_plain_documents(clause)


def _fitting_sizes(clause: Clause, blamed: Key, other: Key, size: int) -> list[int]:
    """The sizes that satisfy the clause whatever the rest of the document says."""
    assert clause.refused
    return [
        fitting
        for fitting in blamed.common
        if compile_to_json_schema(clause.refused, known={other: size, blamed: fitting}) == NONE
    ]


def _sentence(clause: Clause, blamed: Key, numbers: Mapping[str, int] = MappingProxyType({})) -> JsonSchema:
    message = _message(clause, numbers)
    told = {"errorMessage": message} if is_met_often(clause) else {}
    return at(blamed, {"const": message, **told}, absent=False)


def _message(clause: Clause, numbers: Mapping[str, int]) -> str:
    """The rule's message with the numbers that are known; it reads without the others too."""
    text = re.sub(r"{(\w+)}", lambda name: str(numbers.get(name[1], "")), clause.message)
    return re.sub(r" +", " ", text).replace(" :", ":").strip()
