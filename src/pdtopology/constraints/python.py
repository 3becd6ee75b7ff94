"""Constraints compiled to one Python function: plain comparisons on local names, nothing else on its path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from pdtopology.constraints.constraint import Constraint
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
    conjuncts,
    keys,
)
from pdtopology.releases import NEWEST, release_of

FieldsOfSections: TypeAlias = Mapping[str, frozenset[str]]
Name = TypeVar("Name")
Broken: TypeAlias = Callable[[Any], list[Name] | None]
"""Takes a topology to the names of the constraints it breaks, or None where it breaks none."""


def compile_to_python(
    constraints: Mapping[Name, Constraint],
    usual: FieldsOfSections = MappingProxyType({}),
    otherwise: Broken[Name] | None = None,
) -> Broken[Name]:
    """A function that finds the broken ones of some constraints, in their order.

    `usual` names fields of some sections; what states others is left to `otherwise`.
    """
    compiler = _Compiler()
    # An attribute of a model is found in its dictionary, after its class and what that inherits have been asked.
    lines = ["def broken(topology):", "fields = topology.__dict__"]
    lines += [f"{section} = fields[{section!r}]" for section in usual]
    if usual:
        is_usual = " and ".join(f"{section}.__pydantic_fields_set__ <= usual_{section}" for section in usual)
        lines.append(f"if not ({is_usual}): return otherwise(topology)")
    lines.append("found = None")
    read: set[Key] = set()
    local = set(usual)
    for index, constraint in enumerate(constraints.values()):
        lines += compiler.check(index, constraint, read, local)
    lines.append("return found")
    namespace = compiler.namespace | {f"usual_{section}": fields for section, fields in usual.items()}
    namespace |= {"names": list(constraints), "otherwise": otherwise}
    exec("\n    ".join(lines), namespace)  # noqa: S102 - the text comes from the rules alone
    function: Broken[Name] = namespace["broken"]
    return function


class _Compiler:
    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {"release_of": release_of, "inside": _inside, "search": _search}

    def check(self, index: int, constraint: Constraint, read: set[Key], local: set[str]) -> list[str]:
        """Statements that read what the constraint compares and was not read before, and test it.

        Where its first condition is about what was read already, the rest is read behind that.
        """
        first = conjuncts(constraint.when)[:1]
        unread = [key for key in constraint.compared_keys if key not in read]
        sections = dict.fromkeys(key.parts[0] for key in unread if key.parts[0] not in local)
        reading = [f"{section} = fields[{section!r}]" for section in sections]
        reading += [line for key in unread for line in _reading(key)]
        test = f"if {self._broken(constraint)}: found = [*(found or ()), names[{index}]]"
        if unread and first and read.issuperset(keys(first[0])):
            return [f"if {self._source(first[0])}:", *(f"    {line}" for line in (*reading, test))]
        read.update(unread)
        local.update(sections)
        return [*reading, test]

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
                name = f"computed_{len(self.namespace)}"
                self.namespace[name] = expression.find
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


def _reading(key: Key) -> list[str]:
    """Statements that give the key's name its value in the topology, or in a mapping there."""
    field = ".".join(key.parts[: key.mapping_depth])
    below = key.parts[key.mapping_depth :]
    if below:
        return [f"{key.name} = inside({field}, {below!r}, {key.default!r}) if {field} else {key.default!r}"]
    lines = [f"{key.name} = {field}"]
    if key.nullable:
        lines.append(f"if {key.name} is None: {key.name} = {key.default!r}")
    return lines


def value_of(topology: Any, key: Key) -> Any:
    """The value that the document has at a key, or what its absence means."""
    value = attrgetter(".".join(key.parts[: key.mapping_depth]))(topology)
    return _inside(value, key.parts[key.mapping_depth :], key.default)


def _inside(value: Any, path: tuple[str, ...], default: Any) -> Any:
    """What stands in nested mappings, or the default where nothing or null does."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return default if value is None else value


def _search(pattern: str, text: Any) -> bool:
    import re

    # JSON Schema's `$` is the end of the text; Python's is also the place before a last newline.
    return isinstance(text, str) and re.search(pattern.replace("$", r"\Z"), text) is not None
