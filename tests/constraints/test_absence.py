"""What constraints say where some keys are absent."""

from __future__ import annotations

import pytest

from pdtopology.constraints import ALWAYS, Constraint, Expression, Key, agree, divides, same
from pdtopology.constraints.absence import holds_without
from pdtopology.constraints.expressions import AnyOf, Computed

SIZE = Key("size", "left.size", default=1)
OTHER = Key("other", "right.size", default=4)
FLAG = Key("flag", "left.flag", default=False)
TEXT = Key("text", "left.text", default="plain")
VERSION = Key("version", "left.version")
STATED = Key("stated", "right.stated", default=1)
NEEDED = Key("needed", "left.needed")

ABSENT = {SIZE, OTHER, FLAG, TEXT, VERSION, NEEDED}

HOLDS: list[Expression] = [
    ALWAYS,
    FLAG.is_(False),
    ~FLAG.is_(True),
    ~SIZE.is_set,
    ~TEXT.matches("p"),
    ~same(SIZE, OTHER),
    agree(SIZE, SIZE),
    divides(SIZE, STATED),
    FLAG.is_(False) & divides(SIZE, OTHER),
    STATED.is_(2) | FLAG.is_(False),
    Computed("none is found", lambda _: (), (SIZE, OTHER)),
]
BREAKS: list[Expression] = [AnyOf(()), FLAG.is_(True), SIZE.is_set, same(SIZE, OTHER), FLAG.is_(True) | SIZE.is_set]
DEPENDS: list[Expression] = [
    STATED.is_(1),
    ~STATED.is_(1),
    STATED.is_(1) & FLAG.is_(False),
    STATED.is_(1) | FLAG.is_(True),
    Computed("none is found", lambda _: (), (SIZE, STATED)),
]
UNTOLD: list[Expression] = [VERSION.before((0, 30)), SIZE >= OTHER, divides(OTHER, SIZE)]


def is_absent(key: Key) -> bool:
    return key in ABSENT


@pytest.mark.parametrize("expression", HOLDS)
def test_a_demand_that_absent_keys_meet_cannot_be_broken(expression: Expression) -> None:
    assert holds_without(Constraint(ALWAYS, expression), is_absent)


@pytest.mark.parametrize("expression", [*BREAKS, *DEPENDS, *UNTOLD])
def test_any_other_demand_may_be_broken(expression: Expression) -> None:
    assert not holds_without(Constraint(ALWAYS, expression), is_absent)


@pytest.mark.parametrize("expression", BREAKS)
def test_nothing_is_demanded_under_a_condition_that_absent_keys_do_not_meet(expression: Expression) -> None:
    assert holds_without(Constraint(expression, STATED.is_(1)), is_absent)


@pytest.mark.parametrize("expression", [*HOLDS, *DEPENDS, *UNTOLD])
def test_something_is_demanded_under_any_other_condition(expression: Expression) -> None:
    assert not holds_without(Constraint(expression, STATED.is_(1)), is_absent)


def test_a_needed_key_that_is_absent_silences_a_demand() -> None:
    assert holds_without(Constraint(ALWAYS, NEEDED >= STATED), is_absent)
