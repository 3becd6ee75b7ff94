"""Constraints compiled to one Python function: plain comparisons on local names, nothing else on its path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from pdtopology.constraints.absence import holds_without
from pdtopology.constraints.expressions import (
    Agree,
    AllOf,
    AnyOf,
    Before,
    Comparison,
    Computed,
    Constraint,
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
from pdtopology.releases import NEWEST, release_of

FieldsOfSections = Mapping[str, frozenset[str]]


def compile_to_python(
    constraints: Sequence[Constraint], usual: FieldsOfSections = MappingProxyType({})
) -> Callable[[Any], list[int] | None]:
    """A function from a topology to the indexes of the constraints it breaks, or None where it breaks none.

    `usual` names the fields of some sections that most documents state. Where a topology states no others, the
    constraints that cannot be broken without another are passed over at once.
    """
    return _Compiler(constraints, usual).function()


class _Compiler:
    def __init__(self, constraints: Sequence[Constraint], usual: FieldsOfSections) -> None:
        self._usual = usual
        self._constraints = list(enumerate(constraints))
        self._namespace: dict[str, Any] = {"release_of": release_of, "inside": _inside, "search": _search}
        self._read: set[Key] = set()

    def function(self) -> Callable[[Any], list[int] | None]:
        rare = [item for item in self._constraints if holds_without(item[1], self._is_unusual)]
        common = [item for item in self._constraints if item not in rare]
        sections = sorted({key.parts[0] for _, constraint in self._constraints for key in constraint.keys})
        lines = ["def broken(topology):", *(f"    {section} = topology.{section}" for section in sections)]
        lines += ["    found = None", *self._checks(common, "    ")]
        if rare:
            guarded = {key.parts[0] for _, constraint in rare for key in constraint.keys if self._is_unusual(key)}
            stated = [f"{section}.__pydantic_fields_set__ <= usual_{section}" for section in sorted(guarded)]
            self._namespace |= {f"usual_{section}": self._usual[section] for section in guarded}
            lines += [f"    if not ({' and '.join(stated)}):", *self._checks(rare, "        ")]
        lines.append("    return found and sorted(found)")
        exec("\n".join(lines), self._namespace)  # noqa: S102 - the text comes from the rules alone
        function: Callable[[Any], list[int] | None] = self._namespace["broken"]
        return function

    def _is_unusual(self, key: Key) -> bool:
        section, field, *_ = key.parts
        return section in self._usual and field not in self._usual[section]

    def _checks(self, constraints: Sequence[tuple[int, Constraint]], margin: str) -> list[str]:
        """The tests of some constraints, after the values that they read."""
        compared = {key for _, constraint in constraints for key in constraint.compared_keys}
        lines = []
        for key in sorted(compared - self._read, key=lambda key: key.path):
            lines.append(f"{margin}{key.name} = {_value(key)}")
            if key.nullable and key.default is not None:
                lines.append(f"{margin}if {key.name} is None: {key.name} = {key.default!r}")
        self._read |= compared
        for index, constraint in constraints:
            lines.append(f"{margin}if {self._broken(constraint)}:")
            lines.append(f"{margin}    found = [*(found or ()), {index}]")
        return lines

    def _broken(self, constraint: Constraint) -> str:
        guards = [f"{key.name} is not None" for key in constraint.needed_keys]
        when = [] if constraint.when == AllOf(()) else [self._source(constraint.when)]
        return " and ".join((*guards, *when, f"not {self._source(constraint.require)}"))

    def _source(self, expression: Expression) -> str:
        match expression:
            case AllOf(parts):
                return f"({' and '.join(map(self._source, parts)) or 'True'})"
            case AnyOf(parts):
                return f"({' or '.join(map(self._source, parts)) or 'False'})"
            case Not(part):
                return f"(not {self._source(part)})"
            case Computed():
                name = f"computed_{len(self._namespace)}"
                self._namespace[name] = expression.find
                return f"(not any(True for _ in {name}(topology)))"
            case _:
                return _comparison(expression)


def _comparison(expression: Comparison) -> str:
    match expression:
        case Is(key, values):
            return f"({' or '.join(_equals(key, value) for value in values)})"
        case IsSet(key):
            return f"({key.name} is not None)"
        case Matches(key, pattern):
            return f"search({pattern!r}, {key.name})"
        case Before(key, release):
            is_before = f"release_of({key.name}) < {release!r}"
            if NEWEST < release:
                return f"({key.name} is None or {is_before})"
            return f"({key.name} is not None and {is_before})"
        case Divides(divisor, dividend):
            return f"({_operand(dividend)} % {_operand(divisor)} == 0)"
        case Same(left, right):
            return f"({_operand(left)} == {_operand(right)})"
        case Agree(left, right, groups):
            in_one = " and ".join(f"({left.name} in {group!r}) == ({right.name} in {group!r})" for group in groups)
            return f"({left.name} == {right.name} or {in_one})"
        case _:
            return f"({_operand(expression.left)} >= {_operand(expression.right)})"


def _equals(key: Key, value: str | int | bool) -> str:
    """A truth value is compared by identity: in a mapping of anything, 1 is not true."""
    if value is True:
        return key.name if key.mapping_depth == len(key.parts) else f"{key.name} is True"
    return f"{key.name} == {value!r}"


def _operand(operand: Key | Product) -> str:
    return f"({operand.left.name} * {operand.right.name})" if isinstance(operand, Product) else operand.name


def _value(key: Key) -> str:
    """The value's place in the topology, or in a mapping there."""
    field = ".".join(key.parts[: key.mapping_depth])
    below = key.parts[key.mapping_depth :]
    return f"inside({field}, {below!r})" if below else field


def value_of(topology: Any, key: Key) -> Any:
    """The value that the document has at a key, or what its absence means."""
    value = attrgetter(".".join(key.parts[: key.mapping_depth]))(topology)
    value = _inside(value, key.parts[key.mapping_depth :])
    return key.default if value is None else value


def _inside(mapping: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(mapping, Mapping):
            return None
        mapping = mapping.get(key)
    return mapping


def _search(pattern: str, text: Any) -> bool:
    import re

    return isinstance(text, str) and re.search(pattern, text) is not None
