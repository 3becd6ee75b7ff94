"""The rules as clauses of the JSON Schema: `if` a document breaks one, `then` it fails at the rule's key, in words.

`if` holds the whole verdict. `then` is reached by broken documents only and always fails, so what it says is free.
Of the ways to fail, editors with `errorMessage` show that; the others print the numbers of an `enum`, or a `const`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from pdtopology.constraints import Key
from pdtopology.constraints.json_schema import NONE, Definitions, JsonSchema, at, compile_to_json_schema
from pdtopology.keys import OFFERED_SIZES
from pdtopology.rule import Clause
from pdtopology.rules import CLAUSES

_LARGEST_NAMED = 16

NAMED_SIZES = tuple(size for size in OFFERED_SIZES if size <= _LARGEST_NAMED)
"""Wrong sizes that the message names; others are only under the editor's mark."""


def rule_clauses(definitions: Definitions | None = None) -> list[JsonSchema]:
    """A clause for each place where a rule refuses a document, in the order of the rules.

    Without definitions the clauses stand by themselves, wherever the model's schema is put. With them, a clause is
    silent where one that silences it is broken, as in Python; the verdict is the same.
    """
    return [
        {
            "$comment": clause.rule.code,
            "if": _broken(clause, definitions),
            "then": _unless_silenced(clause, _failure(clause, (clause.at, *clause.see)), definitions),
        }
        for clause in CLAUSES
        if clause.refused
    ]


def _broken(clause: Clause, definitions: Definitions | None) -> JsonSchema:
    """The documents that break the clause; exact where those that silence it are not broken."""
    assert clause.refused_by_schema
    related = clause.related_pairs(CLAUSES)
    broken = compile_to_json_schema(clause.refused_by_schema, related, definitions=definitions)
    return definitions.define(clause.name, broken) if definitions else broken


def _unless_silenced(clause: Clause, failure: JsonSchema, definitions: Definitions | None) -> JsonSchema:
    silencing = [other for other in CLAUSES if other.refused and clause.is_silenced_by(other)]
    if definitions is None or not silencing:
        return failure
    return {"if": {"anyOf": [definitions.reference(other.name) for other in silencing]}, "else": failure}


def _failure(clause: Clause, places: tuple[Key, ...]) -> JsonSchema:
    """Fail at the first of the keys that the document states; at the last one where it states none."""
    first, *others = places
    if first == clause.at:
        refusal = _refusal(clause)
    elif first.common and clause.at.common and isinstance(clause.at.default, int):
        # Reached only where the document leaves the rule's own key out.
        refusal = _refusal_beside(clause, first, clause.at, clause.at.default)
    else:
        refusal = _sentence(clause, first)
    if not others:
        return refusal
    stated = at(first, {"not": {"type": "null"}}, absent=False)
    return {"if": stated, "then": refusal, "else": _failure(clause, tuple(others))}


def _refusal(clause: Clause) -> JsonSchema:
    """Fail at the rule's own key, with the number that it disagrees with where that is a common one."""
    other = next((key for key in clause.see if key.common), None)
    sentence = _sentence(clause, clause.at)
    if other is None or not clause.at.common:
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
    return at(blamed, {"const": message, "errorMessage": message}, absent=False)


def _message(clause: Clause, numbers: Mapping[str, int]) -> str:
    """The rule's message with the numbers that are known; it reads without the others too."""
    text = re.sub(r"{(\w+)}", lambda name: str(numbers.get(name[1], "")), clause.message)
    return re.sub(r" +", " ", text).replace(" :", ":").strip()
