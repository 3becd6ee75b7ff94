"""Constraints in English."""

from __future__ import annotations

import pytest

from pdtopology.constraints import ALWAYS, Expression, Key, agree, divides, one_divides_other, same
from pdtopology.constraints.expressions import Computed
from pdtopology.constraints.prose import compile_to_prose

A, B = Key("a", "prefill.size"), Key("b", "decode.size")
TP = Key("tp", "role.size")
MLA = Key("mla", "model.is_mla", default=False).is_(True)
KIND = Key("kind", "connector.kind")


@pytest.mark.parametrize(
    ("expression", "holds", "does_not"),
    [
        (divides(TP, A), "a role's size divides prefill.size", "a role's size does not divide prefill.size"),
        (same(A, B), "prefill.size equals decode.size", "prefill.size differs from decode.size"),
        (A >= B, "prefill.size is at least decode.size", "prefill.size is below decode.size"),
        (A < B, "prefill.size is below decode.size", "prefill.size is at least decode.size"),
        (MLA, "model.is_mla is true", "model.is_mla is not true"),
        (KIND.is_("x", "y"), 'connector.kind is "x" or "y"', 'connector.kind is not "x" or "y"'),
        (KIND.matches("^ni"), "connector.kind has ^ni", "connector.kind has no ^ni"),
        (agree(A, B), "prefill.size and decode.size agree", "prefill.size and decode.size do not agree"),
        (
            same(A, B * TP),
            "prefill.size equals decode.size times a role's size",
            "prefill.size differs from decode.size times a role's size",
        ),
        (Computed("no two ports are one", lambda _: (), (A,)), "no two ports are one", "not (no two ports are one)"),
        (~A.is_set, "prefill.size is not stated", "prefill.size is stated"),
        (A.is_set, "prefill.size is stated", "prefill.size is not stated"),
        (A.before((0, 33)), "prefill.size is before 0.33", "prefill.size is 0.33 or later"),
        (ALWAYS, "always", "never"),
        (
            MLA & A.is_set,
            "model.is_mla is true and prefill.size is stated",
            "model.is_mla is not true or prefill.size is not stated",
        ),
        (
            MLA | A.is_set,
            "model.is_mla is true or prefill.size is stated",
            "model.is_mla is not true and prefill.size is not stated",
        ),
        (
            (MLA | A.is_set) & (A >= B),
            "(model.is_mla is true or prefill.size is stated) and prefill.size is at least decode.size",
            "(model.is_mla is not true and prefill.size is not stated) or prefill.size is below decode.size",
        ),
    ],
)
def test_an_expression_and_its_opposite_read_as_english(expression: Expression, holds: str, does_not: str) -> None:
    assert (compile_to_prose(expression), compile_to_prose(~expression)) == (holds, does_not)


def test_a_multiple_either_way_is_said_once() -> None:
    expected = "one of prefill.size and decode.size is a multiple of the other"
    assert compile_to_prose(one_divides_other(A, B)) == expected
