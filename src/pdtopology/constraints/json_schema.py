"""Constraints compiled to JSON Schema, exactly: the schema accepts a document if and only if Python does.

JSON Schema can compare a number with a constant only. Two facts make relations between two keys exact
all the same, over sizes that are bounded:

- `a` divides `b` if and only if every prime power that divides `a` divides `b`; `multipleOf` says that.
  A size below 37 squared has at most one prime factor of 37 or more. Such primes are told apart by the classes that
  they are in, where none has a subset of another's, so that ten classes take the place of 161 primes.
  Two sizes are equal if and only if each divides the other, or, of small ones, where their binary digits are the same.
- Where one of `a` and `b` is a multiple of the other, `a >= b` if and only if `a` reaches every power of
  two that `b` reaches: a smaller `a` is at most half of `b`, and a power of two lies between. Elsewhere that is
  not exact, so an order is refused unless another rule, already broken there, relates the pair.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from pdtopology.constraints.constraint import Constraint
from pdtopology.constraints.expressions import (
    Agree,
    AllOf,
    AnyOf,
    AtLeast,
    Before,
    Comparison,
    Computed,
    Divides,
    Expression,
    Is,
    IsSet,
    Key,
    Matches,
    Not,
    Product,
    Same,
)
from pdtopology.constraints.primes import (
    CLASSES,
    FIRST_LARGE_PRIME,
    MAX_RELATED_SIZE,
    large_primes_of_class,
    prime_powers,
)
from pdtopology.constraints.schemas import (
    ALL,
    NONE,
    Definitions,
    JsonSchema,
    at,
    at_least_one,
    every,
    one_of,
    opposite_of,
)
from pdtopology.releases import DEVELOPMENT_PATTERN, NEWEST, Release, before_pattern, release_name

Pairs: TypeAlias = frozenset[frozenset[Key]]
Sizes: TypeAlias = Mapping[Key, int]

_TIER = 8

_LARGEST_SMALL_SIZE = 64  # below it there are fewer large primes than classes


class InexactError(Exception):
    """A constraint that JSON Schema could not express exactly; raised when the schema is built."""


def compile_to_json_schema(
    constraint: Constraint,
    related: Pairs = frozenset(),
    known: Sizes = MappingProxyType({}),
    definitions: Definitions | None = None,
) -> JsonSchema:
    """A schema that a document matches if and only if it breaks the constraint.

    `related` are pairs of sizes of which one is a multiple of the other wherever this verdict counts. `known` sizes
    take the place of what the document says at their keys. Raises `InexactError`.
    """
    return _Compiler(related, known, definitions).broken(constraint)


def compile_condition(expression: Expression, definitions: Definitions | None = None) -> JsonSchema:
    """A schema that a document matches if and only if the expression, which needs no key, holds."""
    return _Compiler(frozenset(), MappingProxyType({}), definitions).schema(expression)


class _Compiler(NamedTuple):
    related: Pairs
    known: Sizes
    definitions: Definitions | None

    def broken(self, constraint: Constraint) -> JsonSchema:
        broken = opposite_of(self.schema(constraint.require))
        when = NONE if broken == NONE else self.schema(constraint.when)
        if when == NONE:
            return NONE
        typed = [
            self.shared(at(key, {"type": "integer"}, absent=key.default is not None), f"{key.initials}_integer")
            for key in constraint.keys
            if key.maximum is not None
            and key not in self.known
            and (key.default is not None or key in constraint.needed_keys)
        ]
        present = [self.is_set(key) for key in constraint.needed_keys if key.maximum is None]
        return every([*typed, *present, when, broken])

    def schema(self, expression: Expression) -> JsonSchema:
        match expression:
            case AllOf(parts):
                return every([self.schema(part) for part in parts if not self.is_implied(part, parts)])
            case AnyOf(parts):
                return at_least_one([self.schema(part) for part in parts])
            case Not(part):
                return opposite_of(self.schema(part))
            case Computed():
                raise InexactError(f"that {expression.name} is no matter of single keys")
            case _:
                return self.comparison(expression)

    def is_implied(self, part: Expression, parts: tuple[Expression, ...]) -> bool:
        """Whether another part says more: of known sizes that are to reach one key, the least must."""
        return isinstance(part, AtLeast) and any(
            isinstance(other, AtLeast)
            and other.right == part.right
            and self.known.get(other.left, MAX_RELATED_SIZE + 1) < self.known.get(part.left, 0)
            for other in parts
        )

    def comparison(self, expression: Comparison) -> JsonSchema:
        match expression:
            case Is(key, values) if key in self.known:
                return ALL if self.known[key] in values else NONE
            case Is(key, values):
                return self.is_one_of(key, values)
            case Matches(key, pattern):
                is_default = isinstance(key.default, str) and re.search(pattern, key.default) is not None
                return at(key, {"type": "string", "pattern": pattern}, absent=is_default)
            case Agree(left, right, groups):
                return every(
                    [
                        {"if": self.is_one_of(left, group), "then": matches, "else": opposite_of(matches)}
                        for group in groups
                        if (matches := self.is_one_of(right, group))
                    ]
                )
            case IsSet(key) if key in self.known:
                return ALL
            case IsSet(key):
                return self.is_set(key)
            case Before(key, release):
                return self.shared(_before(key, release), f"{key.name}_before_{release_name(release)}")
            case Divides(divisor, dividend):
                return self.divides(divisor, dividend)
            case Same(Key() as left, Key() as right) if self.has_order(left, right):
                return every([self.at_least(left, right), self.at_least(right, left)])
            case Same(Key() as left, Key() as right) if max(_maximum(left), _maximum(right)) <= _LARGEST_SMALL_SIZE:
                return self.has_same_digits(left, right)
            case Same(left, right):
                return every([self.divides(left, right), self.divides(right, left)])
            case _:
                return self.at_least(expression.left, expression.right)

    def is_set(self, key: Key) -> JsonSchema:
        return self.shared(at(key, {"not": {"type": "null"}}, absent=False), f"{key.name}_is_set")

    def is_one_of(self, key: Key, values: tuple[str | int | bool, ...]) -> JsonSchema:
        is_default = key.default in values
        told = (*values, None) if is_default and key.nullable else values
        name = f"{key.name}_{'_'.join(map(str, values))}".lower()
        return self.shared(at(key, one_of(told), absent=is_default), name)

    def has_order(self, left: Key, right: Key) -> bool:
        """Whether the order of two sizes can be told: of related ones, or where one is known."""
        return left in self.known or right in self.known or frozenset((left, right)) in self.related

    def has_same_digits(self, left: Key, right: Key) -> JsonSchema:
        """Whether two small sizes have the same binary digits."""
        digits = (
            (self.has_digit(left, place), self.has_digit(right, place))
            for place in range(_LARGEST_SMALL_SIZE.bit_length())
        )
        return every([{"if": one, "then": other, "else": opposite_of(other)} for one, other in digits])

    def has_digit(self, key: Key, place: int) -> JsonSchema:
        """Whether a binary digit of a small size is 1; an absent key counts by its default, or not at all."""
        sizes = [size for size in range(1, _LARGEST_SMALL_SIZE + 1) if size >> place & 1]
        digit = self.shared({"enum": sizes}, f"digit_{place}")
        return self.shared(at(key, digit, absent=key.default in sizes), f"{key.initials}_digit_{place}")

    def divides(self, divisor: Key | Product, dividend: Key | Product) -> JsonSchema:
        """A long list of clauses, said once in a file."""
        divisor, dividend = _single(divisor), _single(dividend)
        by, into = self.known.get(divisor), self.known.get(dividend)
        if by is not None and into is not None:
            return ALL if into % by == 0 else NONE
        if by is not None:
            return self.is_multiple(dividend, by)
        if into is not None:
            divisors = [size for size in range(1, into + 1) if into % size == 0]
            return at(divisor, {"enum": divisors}, absent=divisor.default in divisors)
        bound = _maximum(divisor)
        clauses = []
        if dividend.maximum is not None and dividend.maximum < bound:
            bound = dividend.maximum
            clauses.append(opposite_of(self.reaches(divisor, bound + 1)))
        name = f"{divisor.name}_divides_{dividend.name}"
        if self.definitions and name in self.definitions.schemas:
            return self.definitions.reference(name)
        if self.definitions and _LARGEST_SMALL_SIZE < bound and _maximum(dividend) <= MAX_RELATED_SIZE:
            clauses += self.divides_by_powers(divisor, dividend, bound, 1, FIRST_LARGE_PRIME)
            large = [
                {"if": self.is_in_class(divisor, number), "then": self.is_in_class(dividend, number)}
                for number in range(CLASSES)
            ]
            clauses.append({"if": self.reaches(divisor, FIRST_LARGE_PRIME), "then": {"allOf": large}})
        else:
            clauses += self.divides_by_powers(divisor, dividend, bound, 1)
        return self.shared({"allOf": clauses}, name)

    def divides_by_powers(
        self, divisor: Key, dividend: Key, bound: int, above: int, primes_below: int | None = None
    ) -> list[JsonSchema]:
        """A clause for each prime power; the large ones behind a condition, since few divisors reach them."""
        tier = above * _TIER
        clauses = [
            {"if": self.is_multiple(divisor, power), "then": self.is_multiple(dividend, power)}
            for power in prime_powers(bound, primes_below or bound + 1)
            if above < power <= tier
        ]
        if tier < bound:
            larger = {"allOf": self.divides_by_powers(divisor, dividend, bound, tier, primes_below)}
            clauses.append({"if": self.reaches(divisor, tier + 1), "then": larger})
        return clauses

    def at_least(self, left: Key, right: Key | Product) -> JsonSchema:
        right = _single(right)
        high, low = self.known.get(left), self.known.get(right)
        if high is not None and low is not None:
            return ALL if high >= low else NONE
        if high is not None:
            return opposite_of(self.reaches(right, high + 1))
        if low is not None:
            return self.reaches(left, low)
        if frozenset((left, right)) not in self.related:
            raise InexactError(
                f"the order of {left.path} and {right.path} is exact only after a rule "
                "that makes one a multiple of the other"
            )
        powers = [1 << exponent for exponent in range(1, _maximum(right).bit_length())]
        clauses = [{"if": self.reaches(right, power), "then": self.reaches(left, power)} for power in powers]
        return self.shared({"allOf": clauses}, f"{left.name}_at_least_{right.name}")

    def is_multiple(self, key: Key, of: int) -> JsonSchema:
        """An absent key counts by its default, or not at all."""
        if of == 1:
            return ALL
        name = f"{key.initials}{of}"
        if self.definitions and name in self.definitions.schemas:
            return self.definitions.reference(name)
        # Where a key without a default is absent, the constraint is silent whatever this says.
        absent = not isinstance(key.default, int) or key.default % of == 0
        return self.shared(at(key, {"multipleOf": of}, absent=absent), name)

    def is_in_class(self, key: Key, number: int) -> JsonSchema:
        """Whether the size has a prime factor of a class; a key with a default has one without."""
        assert self.definitions
        name = f"{key.initials}_class_{number}"
        if name in self.definitions.schemas:
            return self.definitions.reference(name)
        factors = [{"multipleOf": prime} for prime in large_primes_of_class(number)]
        has_one = self.definitions.define(f"class_{number}", {"anyOf": factors})
        return self.definitions.define(name, at(key, has_one, absent=key.default is None))

    def reaches(self, key: Key, size: int) -> JsonSchema:
        absent = not isinstance(key.default, int) or key.default >= size
        return self.shared(at(key, {"minimum": size}, absent=absent), f"{key.initials}_from_{size}")

    def shared(self, schema: JsonSchema, name: str) -> JsonSchema:
        return self.definitions.define(name, schema) if self.definitions else schema


def _before(key: Key, release: Release) -> JsonSchema:
    older: JsonSchema = {
        "type": "string",
        "pattern": before_pattern(release),
        "not": {"pattern": DEVELOPMENT_PATTERN},
    }
    unset_is_before = NEWEST < release
    if unset_is_before:
        older = {"anyOf": [{"type": "null"}, older]}
    return at(key, older, absent=unset_is_before)


def _single(operand: Key | Product) -> Key:
    if isinstance(operand, Product):
        raise InexactError(f"{operand.left.path} times {operand.right.path} is no key")
    return operand


def _maximum(key: Key) -> int:
    if key.maximum is None:
        raise InexactError(f"{key.path} has no maximum, so nothing can be compared with it exactly")
    return key.maximum
