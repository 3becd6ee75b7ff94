"""What a constraint says where some keys are absent."""

from __future__ import annotations

from collections.abc import Callable

from pdtopology.constraints.constraint import Constraint
from pdtopology.constraints.expressions import (
    Agree,
    AllOf,
    AnyOf,
    Computed,
    Divides,
    Expression,
    Is,
    IsSet,
    Key,
    Matches,
    Not,
    Same,
    keys,
)


def holds_without(constraint: Constraint, is_absent: Callable[[Key], bool]) -> bool:
    """Whether no document without these keys can break the constraint."""
    silenced = any(is_absent(key) for key in constraint.needed_keys)
    return silenced or _told(constraint.when, is_absent) is False or _told(constraint.require, is_absent) is True


def _told(expression: Expression, is_absent: Callable[[Key], bool]) -> bool | None:
    """The expression's value where the keys are absent; None where it depends on others."""
    match expression:
        case AllOf(parts):
            told = [_told(part, is_absent) for part in parts]
            return False if False in told else None if None in told else True
        case AnyOf(parts):
            told = [_told(part, is_absent) for part in parts]
            return True if True in told else None if None in told else False
        case Not(part):
            inner = _told(part, is_absent)
            return None if inner is None else not inner
        case Computed():
            return True if all(map(is_absent, expression.keys)) else None
        case Divides(Key(default=1) as divisor) if is_absent(divisor):
            return True
        case _ if not all(map(is_absent, keys(expression))):
            return None
        case Is(key, values):
            return key.default in values
        case IsSet() | Matches():
            return False
        case Same(Key() as left, Key() as right) | Agree(left, right):
            return left.default == right.default
        case _:
            return None
