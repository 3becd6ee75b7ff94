"""The rules as clauses of the JSON Schema: `if` a document breaks one, `then` it fails at the rule's key, in words.

`if` holds the whole verdict. `then` is reached by broken documents only and always fails, so what it says is free.
Of the ways to fail, editors with `errorMessage` show that; the others print the numbers of an `enum`, or a `const`.
"""

from __future__ import annotations

import re

from pdtopology.constraints import Constraint, Key
from pdtopology.constraints.json_schema import NONE, Definitions, JsonSchema, at, compile_to_json_schema
from pdtopology.keys import CONNECTOR_KIND, OFFERED_SIZES
from pdtopology.rule import Clause
from pdtopology.rules import CLAUSES

NAMED_SIZES = tuple(size for size in OFFERED_SIZES if size <= 16)
"""Wrong sizes that the message names; others are only under the editor's mark."""


def rule_clauses(definitions: Definitions | None = None) -> list[JsonSchema]:
    """A clause for each place where a rule refuses a document, in the order of the rules.

    Without definitions the clauses stand by themselves, wherever the model's schema is put.
    """
    return [
        {
            "$comment": clause.rule.code,
            "if": compile_to_json_schema(constraint, clause.related_pairs(CLAUSES), definitions=definitions),
            "then": _failure(clause, (clause.at, *clause.see)),
        }
        for clause in CLAUSES
        if (constraint := _refused(clause))
    ]


def _refused(clause: Clause) -> Constraint | None:
    if clause.refused and clause.rule.connector:
        return clause.refused.only_where(CONNECTOR_KIND.is_(clause.rule.connector))
    return clause.refused


def _failure(clause: Clause, places: tuple[Key, ...]) -> JsonSchema:
    """Fail at the first of the keys that the document states; at the last one where it states none."""
    first, *others = places
    if first == clause.at:
        refusal = _refusal(clause)
    elif first.common and clause.at.common and isinstance(clause.at.default, int):
        # Reached only where the document leaves the rule's own key out.
        refusal = at(first, _numbers(clause, first, clause.at, clause.at.default), absent=False)
    else:
        refusal = at(first, _sentence(clause, {}), absent=False)
    if not others:
        return refusal
    stated = at(first, {"not": {"type": "null"}}, absent=False)
    return {"if": stated, "then": refusal, "else": _failure(clause, tuple(others))}


def _refusal(clause: Clause) -> JsonSchema:
    """Fail at the rule's own key, with the number that it disagrees with where that is a common one."""
    other = next((key for key in clause.see if key.common), None)
    sentence = at(clause.at, _sentence(clause, {}), absent=False)
    if other is None or not clause.at.common:
        return sentence
    branches = [
        {
            "if": at(other, {"minimum": size, "maximum": size}, absent=other.default == size),
            "then": at(clause.at, _numbers(clause, clause.at, other, size), absent=False),
        }
        for size in other.common
    ]
    uncommon = at(other, {"not": {"enum": list(other.common)}}, absent=False)
    return {"allOf": [*branches, {"if": uncommon, "then": sentence}]}


def _numbers(clause: Clause, blamed: Key, other: Key, size: int) -> JsonSchema:
    """The sizes that fit one size of the other key, and a message that names both where the wrong one is common."""
    fitting = _fitting_sizes(clause, blamed, other, size)
    if not fitting:
        return _sentence(clause, {other.name: size})

    def refused(numbers: dict[str, int]) -> JsonSchema:
        return {"enum": fitting, "errorMessage": _message(clause, numbers)}

    named = [wrong for wrong in NAMED_SIZES if wrong not in fitting]
    branches = [
        {
            "if": {"minimum": wrong, "maximum": wrong},
            "then": refused({other.name: size, blamed.name: wrong}),
        }
        for wrong in named
    ]
    return {"allOf": [*branches, {"if": {"not": {"enum": named}}, "then": refused({other.name: size})}]}


def _fitting_sizes(clause: Clause, blamed: Key, other: Key, size: int) -> list[int]:
    """The sizes that satisfy the clause whatever the rest of the document says."""
    assert clause.refused
    return [
        fitting
        for fitting in blamed.common
        if compile_to_json_schema(clause.refused, known={other: size, blamed: fitting}) == NONE
    ]


def _sentence(clause: Clause, numbers: dict[str, int]) -> JsonSchema:
    message = _message(clause, numbers)
    return {"const": message, "errorMessage": message}


def _message(clause: Clause, numbers: dict[str, int]) -> str:
    """The rule's message with the numbers that are known; it reads without the others too."""
    text = re.sub(r"{(\w+)}", lambda name: str(numbers.get(name[1], "")), clause.message)
    return re.sub(r" +", " ", text).replace(" :", ":").strip()
