"""Keys of the document, and expressions over them: values to read, combine and compile, never to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from inspect import get_annotations
from typing import Any, ClassVar, TypeAlias, cast

from typing_extensions import dataclass_transform

from pdtopology.paths import FREE_MAPPINGS
from pdtopology.releases import Release

_LONGEST_ABBREVIATION = 3


@dataclass(frozen=True, eq=False)
class Key:
    """A place in the document, and what its absence means. There is one object for each.

    A path with a part `role` stands for the same key of either role, until `for_role` says which.
    """

    name: str
    """Its short name in messages and generated code: `prefill_tp`."""
    path: str
    """Where it is: `prefill.tensor_parallel_size`."""
    default: str | int | bool | None = None
    """The value that an absent key has; None where absence means unknown, which silences a rule."""
    maximum: int | None = None
    """The largest value the document allows, for a size; what JSON Schema needs to be exact."""
    common: tuple[int, ...] = ()
    """The sizes that people write, which editors name and offer."""
    nullable: bool = False
    """Whether null too means the default."""

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The path as a pydantic location."""
        return tuple(self.path.split("."))

    @cached_property
    def initials(self) -> str:
        """The name's initials, `dbs` for `decode_block_size`, with what is an abbreviation already: `ptp`."""
        return "".join(word if len(word) <= _LONGEST_ABBREVIATION else word[0] for word in self.name.split("_"))

    @cached_property
    def mapping_depth(self) -> int:
        """How many of its parts lead to fields; those after them are keys of a mapping that holds anything."""
        return next((depth for depth, part in enumerate(self.parts, 1) if part in FREE_MAPPINGS), len(self.parts))

    @property
    def is_set(self) -> IsSet:
        """Whether the document states it; null is as absent."""
        return IsSet(self)

    def is_(self, *values: str | int | bool) -> Is:
        """Whether it is one of these values."""
        return Is(self, values)

    def matches(self, pattern: str) -> Matches:
        """Whether it is text in which the regular expression finds something."""
        return Matches(self, pattern)

    def before(self, release: Release) -> Before:
        """Whether the version is of an older release; an absent version is the newest known."""
        return Before(self, release)

    def for_role(self, role: str) -> Key:
        """The key of one role, for a key of either role; any other key as it is."""
        return _key_of_role(self, role) if self.is_of_either_role else self

    @property
    def is_of_either_role(self) -> bool:
        """Whether it stands for a key of each role."""
        return "role" in self.parts

    def __ge__(self, other: Key) -> AtLeast:
        return AtLeast(self, other)

    def __le__(self, other: Key) -> AtLeast:
        return AtLeast(other, self)

    def __gt__(self, other: Key) -> Not:
        return Not(AtLeast(other, self))

    def __lt__(self, other: Key) -> Not:
        return Not(AtLeast(self, other))

    def __mul__(self, other: Key) -> Product:
        return Product(self, other)


@cache
def _key_of_role(key: Key, role: str) -> Key:
    path = ".".join(role if part == "role" else part for part in key.parts)
    return replace(key, name=f"{role}_{key.name}", path=path)


@dataclass_transform(frozen_default=True, eq_default=True)
class _Node:
    """Named parts, equal where they are; what a frozen dataclass is, without the time that making one takes."""

    __match_args__: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.__match_args__ = (*cls.__match_args__, *get_annotations(cls))  # type: ignore[misc]

    def __init__(self, *parts: Any) -> None:
        self.__dict__.update(zip(self.__match_args__, parts, strict=True))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))


class _Expression(_Node):
    """What every expression can do: `&`, `|` and `~`."""

    def __and__(self, other: Expression) -> AllOf:
        return AllOf((*conjuncts(cast("Expression", self)), *conjuncts(other)))

    def __or__(self, other: Expression) -> AnyOf:
        return AnyOf((cast("Expression", self), other))

    def __invert__(self) -> Not:
        return Not(cast("Expression", self))


class Is(_Expression):
    """The key has one of the values."""

    key: Key
    values: tuple[str | int | bool, ...]


class Matches(_Expression):
    """The key is text in which the regular expression finds something."""

    key: Key
    pattern: str


class IsSet(_Expression):
    """The document states the key."""

    key: Key


class Before(_Expression):
    """The version is of a release before this one; absent, it is of the newest."""

    key: Key
    release: Release


class Product(_Node):
    """One size times another, as an operand."""

    left: Key
    right: Key


class Divides(_Expression):
    """The left size divides the right one."""

    left: Key | Product
    right: Key


class Same(_Expression):
    """Two sizes are equal."""

    left: Key
    right: Key | Product


class AtLeast(_Expression):
    """The left size is not below the right one."""

    left: Key
    right: Key | Product


class Agree(_Expression):
    """Two names are of one group, or both of none; a name that is in no group is not known to differ from another."""

    left: Key
    right: Key
    groups: tuple[tuple[str, ...], ...]


class Computed(_Expression):
    """What only a function can tell: nothing is found in the topology. It finds nothing where no key is stated."""

    name: str
    """The demand as a clause of a sentence."""
    find: Callable[[Any], Iterable[Any]]
    keys: tuple[Key, ...]


class AllOf(_Expression):
    """Every part holds; without parts, always."""

    parts: tuple[Expression, ...]


class AnyOf(_Expression):
    """At least one part holds."""

    parts: tuple[Expression, ...]


class Not(_Expression):
    """The part does not hold."""

    part: Expression


Comparison: TypeAlias = Is | IsSet | Matches | Before | Divides | Same | AtLeast | Agree
Expression: TypeAlias = Comparison | Computed | AllOf | AnyOf | Not

ALWAYS = AllOf(())


def divides(divisor: Key | Product, dividend: Key) -> Divides:
    """The divisor divides the dividend."""
    return Divides(divisor, dividend)


def one_divides_other(left: Key, right: Key) -> AnyOf:
    """One size is a multiple of the other."""
    return AnyOf((Divides(left, right), Divides(right, left)))


def same(left: Key, right: Key | Product) -> Same:
    """Two sizes are equal."""
    return Same(left, right)


def at_least(left: Key, right: Key | Product) -> AtLeast:
    """The left size is not below the right one."""
    return AtLeast(left, right)


def agree(left: Key, right: Key, *groups: tuple[str, ...]) -> Agree:
    """Two names are of one group, or both of none."""
    return Agree(left, right, groups)


def conjuncts(expression: Expression) -> tuple[Expression, ...]:
    """The parts that must all hold for the expression to hold."""
    return expression.parts if isinstance(expression, AllOf) else (expression,)


def keys(expression: Expression) -> Iterator[Key]:
    """Every key that the expression reads, in order, repeated as it is read."""
    match expression:
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from keys(part)
        case Not(part):
            yield from keys(part)
        case Is(key) | IsSet(key) | Matches(key) | Before(key):
            yield key
        case Computed():
            yield from expression.keys
        case _:
            for operand in (expression.left, expression.right):
                yield from (operand.left, operand.right) if isinstance(operand, Product) else (operand,)


def needed_keys(expression: Expression) -> Iterator[Key]:
    """The keys without which nothing can be said: those whose value is compared and has no default."""
    match expression:
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from needed_keys(part)
        case Not(part):
            yield from needed_keys(part)
        case IsSet() | Before() | Computed():
            return
        case _:
            yield from (key for key in keys(expression) if key.default is None)


def for_role(expression: Expression, role: str) -> Expression:
    """The expression with every key of either role made this role's."""
    match expression:
        case AllOf(parts) | AnyOf(parts):
            return type(expression)(tuple(for_role(part, role) for part in parts))
        case Not(part):
            return Not(for_role(part, role))
        case Computed():
            return expression
        case _:
            node: Any = expression
            return cast("Expression", type(node)(*(_part_for_role(part, role) for part in vars(node).values())))


def _part_for_role(part: Any, role: str) -> Any:
    if isinstance(part, Product):
        return Product(part.left.for_role(role), part.right.for_role(role))
    return part.for_role(role) if isinstance(part, Key) else part
