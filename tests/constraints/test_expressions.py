"""The constraint language: what expressions are made of."""

from __future__ import annotations

from pdtopology.constraints import ALWAYS, Constraint, Key, divides, one_divides_other, same
from pdtopology.constraints.expressions import AllOf, AtLeast, Before, Not, for_role

TP = Key("tp", "role.size", default=1, maximum=12)
PREFILL, DECODE = TP.for_role("prefill"), TP.for_role("decode")
HEADS = Key("heads", "model.heads", maximum=12)
VERSION = Key("version", "engine.version")
IS_MLA = Key("is_mla", "model.is_mla", default=False).is_(True)


def test_a_key_of_either_role_becomes_one_roles_key() -> None:
    assert (PREFILL.name, PREFILL.path, PREFILL.default, PREFILL.maximum) == ("prefill_tp", "prefill.size", 1, 12)


def test_there_is_one_key_for_each_role() -> None:
    assert TP.for_role("prefill") is PREFILL


def test_a_key_outside_the_roles_stays_as_it_is() -> None:
    assert HEADS.for_role("decode") is HEADS


def test_and_is_flat() -> None:
    assert AllOf((IS_MLA, same(PREFILL, DECODE), HEADS.is_set)) == IS_MLA & same(PREFILL, DECODE) & HEADS.is_set


def test_the_four_orders_are_one_relation() -> None:
    at_least, at_most = AtLeast(PREFILL, HEADS), AtLeast(HEADS, PREFILL)
    orders = [PREFILL >= HEADS, PREFILL <= HEADS, PREFILL > HEADS, PREFILL < HEADS]
    assert orders == [at_least, at_most, Not(at_most), Not(at_least)]


def test_every_expression_can_be_made_one_roles() -> None:
    stated = (TP.is_(3) | ~TP.is_set) & divides(TP, HEADS) & same(TP, HEADS) & (TP >= HEADS) & TP.before((0, 1))
    expected = (
        (PREFILL.is_(3) | ~PREFILL.is_set)
        & divides(PREFILL, HEADS)
        & same(PREFILL, HEADS)
        & (PREFILL >= HEADS)
        & Before(PREFILL, (0, 1))
    )
    assert for_role(stated, "prefill") == expected


def test_a_constraint_reads_each_key_once_in_order() -> None:
    constraint = Constraint(~IS_MLA, one_divides_other(PREFILL, HEADS))
    assert [key.name for key in constraint.keys] == ["is_mla", "prefill_tp", "heads"]


def test_only_keys_that_are_compared_and_have_no_default_are_needed() -> None:
    constraint = Constraint(VERSION.before((0, 33)) & HEADS.is_set, PREFILL >= HEADS)
    assert constraint.needed_keys == (HEADS,)


def test_or_needs_the_keys_of_both_its_parts() -> None:
    assert Constraint(ALWAYS, IS_MLA | (PREFILL >= HEADS)).needed_keys == (HEADS,)


def test_divisibility_relates_a_pair_and_an_order_does_not() -> None:
    constraint = Constraint(ALWAYS, divides(PREFILL, HEADS) & one_divides_other(DECODE, HEADS) & (PREFILL >= DECODE))
    assert constraint.related_pairs() == {frozenset((PREFILL, HEADS)), frozenset((DECODE, HEADS))}


def test_a_choice_of_unlike_divisions_relates_no_pair() -> None:
    constraint = Constraint(ALWAYS, divides(PREFILL, HEADS) | divides(DECODE, HEADS))
    assert constraint.related_pairs() == frozenset()


def test_a_constraint_applies_wherever_one_with_more_conditions_does() -> None:
    wide = Constraint(~IS_MLA, one_divides_other(PREFILL, HEADS))
    narrow = wide.only_where(~same(PREFILL, DECODE))
    assert (wide.applies_wherever(narrow), narrow.applies_wherever(wide)) == (True, False)


def test_a_constraint_does_not_apply_where_a_key_that_it_needs_may_be_absent() -> None:
    needy = Constraint(ALWAYS, one_divides_other(PREFILL, HEADS))
    assert not needy.applies_wherever(Constraint(ALWAYS, same(PREFILL, DECODE)))
