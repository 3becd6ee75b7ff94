"""Constraints compiled to one Python function: plain comparisons on local names, nothing else on its path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pdtopology.constraints.expressions import (
    AllOf,
    AnyOf,
    Before,
    Constraint,
    Divides,
    Expression,
    Is,
    IsSet,
    Not,
    Same,
)
from pdtopology.releases import NEWEST, release_of


def compile_to_python(constraints: Sequence[Constraint]) -> Callable[[Any], list[int] | None]:
    """A function from a topology to the indexes of the constraints it breaks, or None where it breaks none."""
    keys = sorted({key for constraint in constraints for key in constraint.keys}, key=lambda k: k.path)
    lines = ["def broken(topology):"]
    lines += [f"    {section} = topology.{section}" for section in sorted({key.parts[0] for key in keys})]
    lines += [f"    {key.name} = {key.path}" for key in keys]
    lines.append("    found = None")
    for index, constraint in enumerate(constraints):
        lines.append(f"    if {_broken(constraint)}:")
        lines.append(f"        found = [*(found or ()), {index}]")
    lines.append("    return found")
    namespace: dict[str, Any] = {"release_of": release_of}
    exec("\n".join(lines), namespace)  # noqa: S102 - the text comes from the rules alone
    function: Callable[[Any], list[int] | None] = namespace["broken"]
    return function


def _broken(constraint: Constraint) -> str:
    guards = [f"{key.name} is not None" for key in constraint.needed_keys]
    when = [] if constraint.when == AllOf(()) else [_source(constraint.when)]
    return " and ".join((*guards, *when, f"not {_source(constraint.require)}"))


def _source(expression: Expression) -> str:
    match expression:
        case AllOf(parts):
            return f"({' and '.join(map(_source, parts)) or 'True'})"
        case AnyOf(parts):
            return f"({' or '.join(map(_source, parts)) or 'False'})"
        case Not(part):
            return f"(not {_source(part)})"
        case Is(key, (True,)):
            return key.name
        case Is(key, (value,)):
            return f"({key.name} == {value!r})"
        case Is(key, values):
            return f"({key.name} in {values!r})"
        case IsSet(key):
            return f"({key.name} is not None)"
        case Before(key, release):
            is_before = f"release_of({key.name}) < {release!r}"
            if NEWEST < release:
                return f"({key.name} is None or {is_before})"
            return f"({key.name} is not None and {is_before})"
        case Divides(divisor, dividend):
            return f"({dividend.name} % {divisor.name} == 0)"
        case Same(left, right):
            return f"({left.name} == {right.name})"
        case _:
            return f"({expression.left.name} >= {expression.right.name})"
