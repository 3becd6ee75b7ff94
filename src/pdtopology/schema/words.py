"""What a broken clause says in editors: a schema that every document fails, at the key that is to be mended.

Of the ways to fail, editors with `errorMessage` show that; the others print the numbers of an `enum`, or a `const`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from pdtopology.connectors.kinds import DEFAULT_CONNECTOR
from pdtopology.constraints import Constraint, Key
from pdtopology.constraints.absence import holds_without
from pdtopology.constraints.expressions import Is, Not, conjuncts
from pdtopology.constraints.json_schema import compile_condition, compile_to_json_schema
from pdtopology.constraints.schemas import NONE, Definitions, JsonSchema, at
from pdtopology.deployment import ENGINES, is_unusual
from pdtopology.keys import OFFERED_SIZES
from pdtopology.rule import Clause

_LARGEST_NAMED = 16

NAMED_SIZES = tuple(size for size in OFFERED_SIZES if size <= _LARGEST_NAMED)
"""Wrong sizes that the messages of the default connector name; others are only under the editor's mark."""

Values = Mapping[str, Any]
_NO_VALUES: Values = MappingProxyType({})


def is_of_plain_documents(clause: Clause) -> bool:
    """Whether a document can break it that states the usual keys only."""
    return not holds_without(clause.constraint, lambda key: is_unusual(key.parts))


@cache
def is_met_often(clause: Clause) -> bool:
    """Whether plain documents of today break it; the sizes that fit each other by all rules would be too many."""
    return is_of_plain_documents(clause) and not clause.rule.until


class Words(NamedTuple):
    """The words of one clause."""

    clause: Clause
    definitions: Definitions | None

    @property
    def failure(self) -> JsonSchema:
        """Fail at the first of the rule's keys that the document states; at the last one where it states none."""
        return self._failure_at(self._places)

    def sentence(self, values: Values = _NO_VALUES) -> str:
        """The rule's message with the values that are known; it reads without the others too."""
        known = {**_values_where_broken(self.clause.constraint), **values}
        text = self.clause.message
        for name in re.findall(r"{(\w+)}", text):
            text = text.replace(f"{{{name}}}", str(known.get(name, "")))
        # What is left of `sizes {a} and {b}`, `is not {a}` and `must be its peer's, {a}`.
        text = re.sub(r" +and +(?=must)| *,( not)? *$| *,(?= *,)", " ", text)
        return re.sub(r" +(?=[ ,:]|$)", "", text)

    @property
    def _places(self) -> tuple[Key, ...]:
        """The keys at which the rule may be told; of one that is met less often, the first two.

        Its own key is enough where no document that leaves it out breaks the rule.
        """
        if holds_without(self.clause.constraint, lambda key: key is self.clause.at):
            return (self.clause.at,)
        places = (self.clause.at, *self.clause.see)
        return places if is_met_often(self.clause) else places[:2]

    @property
    def _is_of_default(self) -> bool:
        return self.clause.rule.is_about(ENGINES[0], DEFAULT_CONNECTOR)

    def _failure_at(self, places: tuple[Key, ...]) -> JsonSchema:
        first, *others = places
        clause = self.clause
        if first == clause.at:
            refusal = self._refusal()
        elif first.common and clause.at.common and isinstance(clause.at.default, int) and is_met_often(clause):
            # Reached only where the document leaves the rule's own key out.
            refusal = self._refusal_beside(first, clause.at, clause.at.default)
        else:
            refusal = self._refusal_with(first)
        if not others:
            return refusal
        stated = compile_condition(first.is_set, self.definitions)
        return {"if": stated, "then": refusal, "else": self._failure_at(tuple(others))}

    def _refusal(self) -> JsonSchema:
        """Fail at the rule's own key, with the number that it disagrees with where that is a common one."""
        own = self.clause.at
        other = next((key for key in self.clause.see if key.common), None)
        refusal = self._refusal_with(own)
        if other is None or not own.common or not is_met_often(self.clause):
            return refusal
        branches = [
            {
                "if": at(other, {"minimum": size, "maximum": size}, absent=other.default == size),
                "then": self._refusal_beside(own, other, size),
            }
            for size in other.common
        ]
        uncommon = at(other, {"not": {"enum": list(other.common)}}, absent=False)
        return {"allOf": [*branches, {"if": uncommon, "then": refusal}]}

    def _refusal_beside(self, blamed: Key, other: Key, size: int) -> JsonSchema:
        """Fail at one key, with the sizes that fit a size of the other, and name both where the wrong one is common."""
        fitting = self._fitting_sizes(blamed, other, size)
        if not fitting:
            return self._refusal_with(blamed, {other.name: size})
        section, field = blamed.parts
        named = [wrong for wrong in NAMED_SIZES if wrong not in fitting] if self._is_of_default else []

        def refused(numbers: Values) -> JsonSchema:
            return {"properties": {field: {"enum": fitting, "errorMessage": self.sentence(numbers)}}}

        branches = [
            {"if": self._is_size(field, wrong), "then": refused({other.name: size, blamed.name: wrong})}
            for wrong in named
        ]
        unnamed = refused({other.name: size})
        if named:
            branches.append({"if": {"properties": {field: {"not": {"enum": named}}}}, "then": unnamed})
        said = {"allOf": branches} if named else unnamed
        return {"required": [section], "properties": {section: {"required": [field], **said}}}

    def _fitting_sizes(self, blamed: Key, other: Key, size: int) -> list[int]:
        """The sizes that satisfy the clause whatever the rest of the document says."""
        assert self.clause.refused
        return [
            fitting
            for fitting in blamed.common
            if compile_to_json_schema(self.clause.refused, known={other: size, blamed: fitting}) == NONE
        ]

    def _is_size(self, field: str, size: int) -> JsonSchema:
        """A condition on the section, since tombi reads none on a number."""
        return self._said_once({"properties": {field: {"minimum": size, "maximum": size}}})

    def _refusal_with(self, blamed: Key, numbers: Values = _NO_VALUES) -> JsonSchema:
        """Fail at one key, with a sentence."""
        sentence = self.sentence(numbers)
        return at(blamed, self._said_once({"const": sentence, "errorMessage": sentence}), absent=False)

    def _said_once(self, schema: JsonSchema) -> JsonSchema:
        return self.definitions.share(schema) if self.definitions else schema


def _values_where_broken(constraint: Constraint) -> dict[str, Any]:
    """The values that keys have in every document that breaks the constraint, by the keys' names."""
    met = [*conjuncts(constraint.when), *([constraint.require.part] if isinstance(constraint.require, Not) else [])]
    return {part.key.name: part.values[0] for part in met if isinstance(part, Is) and len(part.values) == 1}
