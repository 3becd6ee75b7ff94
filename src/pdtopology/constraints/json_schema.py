"""Constraints compiled to JSON Schema, exactly: the schema accepts a document if and only if Python does.

JSON Schema can compare a number with a constant only. Two facts make relations between two keys exact
all the same, over sizes that are bounded:

- `a` divides `b` if and only if every prime power that divides `a` divides `b`; `multipleOf` says that.
- Where one of `a` and `b` is a multiple of the other, `a >= b` if and only if `a` reaches every power of
  two that `b` reaches: a smaller `a` is at most half of `b`, and a power of two lies between. Elsewhere that is
  not exact, so an order is refused unless another rule, already broken there, relates the pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from pdtopology.constraints.expressions import (
    AllOf,
    AnyOf,
    AtLeast,
    Before,
    Constraint,
    Divides,
    Expression,
    Is,
    IsSet,
    Key,
    Not,
    Same,
)
from pdtopology.releases import NEWEST, UNTAGGED_PATTERN, Release, before_pattern

JsonSchema: TypeAlias = dict[str, Any]
Pairs: TypeAlias = frozenset[frozenset[Key]]


class InexactError(Exception):
    """A constraint that JSON Schema could not express exactly; raised when the schema is built."""


def compile_to_json_schema(constraint: Constraint, related: Pairs = frozenset()) -> JsonSchema:
    """A schema that a document matches if and only if it breaks the constraint.

    `related` are pairs of sizes of which one is a multiple of the other wherever this verdict counts.
    Raises `InexactError`.
    """
    typed = [
        at(key, {"type": "integer"}, absent=key.default is not None)
        for key in constraint.keys
        if key.maximum is not None and (key.default is not None or key in constraint.needed_keys)
    ]
    present = [
        at(key, {"not": {"type": "null"}}, absent=False) for key in constraint.needed_keys if key.maximum is None
    ]
    when = [] if constraint.when == AllOf(()) else [_schema(constraint.when, related)]
    return {"allOf": [*typed, *present, *when, {"not": _schema(constraint.require, related)}]}


def at(key: Key, schema: JsonSchema, *, absent: bool) -> JsonSchema:
    """The schema put at the key's place; `absent` says whether a document without the key matches."""
    for part in reversed(key.parts):
        schema = {"properties": {part: schema}}
        if not absent:
            schema = {"required": [part], **schema}
    return schema


def _schema(expression: Expression, related: Pairs) -> JsonSchema:
    match expression:
        case AllOf(()):
            return {}
        case AllOf(parts):
            return {"allOf": [_schema(part, related) for part in parts]}
        case AnyOf(parts):
            return {"anyOf": [_schema(part, related) for part in parts]}
        case Not(part):
            return {"not": _schema(part, related)}
        case Is(key, values):
            return at(key, _one_of(values), absent=key.default in values)
        case IsSet(key):
            return at(key, {"not": {"type": "null"}}, absent=False)
        case Before(key, release):
            return _before(key, release)
        case Divides(divisor, dividend):
            return _divides(divisor, dividend)
        case Same(left, right):
            _require_related(expression, related)
            return {"allOf": [_at_least(left, right), _at_least(right, left)]}
        case _:
            _require_related(expression, related)
            return _at_least(expression.left, expression.right)


def _before(key: Key, release: Release) -> JsonSchema:
    older: JsonSchema = {
        "type": "string",
        "pattern": before_pattern(release),
        "not": {"pattern": UNTAGGED_PATTERN},
    }
    unset_is_before = NEWEST < release
    if unset_is_before:
        older = {"anyOf": [{"type": "null"}, older]}
    return at(key, older, absent=unset_is_before)


def _one_of(values: tuple[str | int | bool, ...]) -> JsonSchema:
    return {"const": values[0]} if len(values) == 1 else {"enum": list(values)}


def _divides(divisor: Key, dividend: Key) -> JsonSchema:
    bound = _maximum(divisor)
    clauses = []
    if dividend.maximum is not None and dividend.maximum < bound:
        bound = dividend.maximum
        clauses.append({"not": at(divisor, {"minimum": bound + 1}, absent=_reaches(divisor, bound + 1))})
    for power in _prime_powers(bound):
        multiple = {"multipleOf": power}
        clauses.append(
            {
                "if": at(divisor, multiple, absent=_is_multiple(divisor, power)),
                "then": at(dividend, multiple, absent=_is_multiple(dividend, power)),
            }
        )
    return {"allOf": clauses}


def _at_least(left: Key, right: Key) -> JsonSchema:
    clauses = []
    power = 2
    while power <= _maximum(right):
        reaches = {"minimum": power}
        clauses.append(
            {
                "if": at(right, reaches, absent=_reaches(right, power)),
                "then": at(left, reaches, absent=_reaches(left, power)),
            }
        )
        power *= 2
    return {"allOf": clauses}


def _require_related(order: Same | AtLeast, related: Pairs) -> None:
    if frozenset((order.left, order.right)) not in related:
        raise InexactError(
            f"the order of {order.left.path} and {order.right.path} is exact only after a rule "
            "that makes one a multiple of the other"
        )


def _maximum(key: Key) -> int:
    if key.maximum is None:
        raise InexactError(f"{key.path} has no maximum, so nothing can be compared with it exactly")
    return key.maximum


def _is_multiple(key: Key, power: int) -> bool:
    """Whether an absent key counts as a multiple: its default decides."""
    return isinstance(key.default, int) and key.default % power == 0


def _reaches(key: Key, size: int) -> bool:
    return isinstance(key.default, int) and key.default >= size


@lru_cache
def _prime_powers(bound: int) -> tuple[int, ...]:
    """The prime powers up to the bound, ascending."""
    return tuple(sorted(power for prime in _primes(bound) for power in _powers(prime, bound)))


def _primes(bound: int) -> Iterator[int]:
    for number in range(2, bound + 1):
        if all(number % divisor for divisor in range(2, int(number**0.5) + 1)):
            yield number


def _powers(prime: int, bound: int) -> Iterator[int]:
    power = prime
    while power <= bound:
        yield power
        power *= prime
