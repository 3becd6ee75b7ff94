"""Constraints as English, for `explain` and the rule table."""

from __future__ import annotations

import json

from pdtopology.constraints.expressions import (
    Agree,
    AllOf,
    AnyOf,
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
    one_divides_other,
)
from pdtopology.releases import release_name


def compile_to_prose(expression: Expression) -> str:
    """The expression as a clause of a sentence, keys by their paths."""
    match expression:
        case AllOf(parts):
            return " and ".join(map(_grouped, parts)) or "always"
        case AnyOf((Divides(Key() as left, right), _)) if expression == one_divides_other(left, right):
            return f"one of {_key(left)} and {_key(right)} is a multiple of the other"
        case AnyOf(parts):
            return " or ".join(map(_grouped, parts))
        case Not(part):
            return _negated(part)
        case Computed(name):
            return name
        case _:
            return _comparison(expression)


def _comparison(expression: Comparison) -> str:
    match expression:
        case Is(key, values):
            return f"{_key(key)} is {' or '.join(json.dumps(value) for value in values)}"
        case IsSet(key):
            return f"{_key(key)} is stated"
        case Matches(key, pattern):
            return f"{_key(key)} has {pattern}"
        case Agree(left, right):
            return f"{_key(left)} and {_key(right)} agree"
        case Before(key, release):
            return f"{_key(key)} is before {release_name(release)}"
        case Divides(divisor, dividend):
            return f"{_key(divisor)} divides {_key(dividend)}"
        case Same(left, right):
            return f"{_key(left)} equals {_key(right)}"
        case _:
            return f"{_key(expression.left)} is at least {_key(expression.right)}"


def _negated(expression: Expression) -> str:
    match expression:
        case Not(part):
            return compile_to_prose(part)
        case AllOf(parts):
            return " or ".join(_grouped(Not(part)) for part in parts) or "never"
        case AnyOf(parts):
            return " and ".join(_grouped(Not(part)) for part in parts)
        case Is(key, values):
            return f"{_key(key)} is not {' or '.join(json.dumps(value) for value in values)}"
        case IsSet(key):
            return f"{_key(key)} is not stated"
        case Matches(key, pattern):
            return f"{_key(key)} has no {pattern}"
        case Agree(left, right):
            return f"{_key(left)} and {_key(right)} do not agree"
        case Computed(name):
            return f"not ({name})"
        case Before(key, release):
            return f"{_key(key)} is {release_name(release)} or later"
        case Divides(divisor, dividend):
            return f"{_key(divisor)} does not divide {_key(dividend)}"
        case Same(left, right):
            return f"{_key(left)} differs from {_key(right)}"
        case _:
            return f"{_key(expression.left)} is below {_key(expression.right)}"


def _grouped(expression: Expression) -> str:
    text = compile_to_prose(expression)
    return f"({text})" if " and " in text or " or " in text else text


def _key(operand: Key | Product) -> str:
    if isinstance(operand, Product):
        return f"{_key(operand.left)} times {_key(operand.right)}"
    if operand.is_of_either_role:
        return f"a role's {'.'.join(part for part in operand.parts if part != 'role')}"
    return operand.path
