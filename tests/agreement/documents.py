"""Documents on which Python and the JSON Schema must agree: every combination of the values that rules relate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import prod
from random import Random
from typing import Any, NamedTuple, TypeAlias

from pdtopology.rule import ROLES

Choice: TypeAlias = Mapping[str, Any]
"""What a document says at some paths."""
Axis: TypeAlias = tuple[Choice, ...]

UNSTATED = object()
DEFAULTS = {
    "model.is_mla": (False,),
    "connector.kind": ("moriio",),
    "connector.mode": ("read", "pull"),
    "engine.name": ("vllm",),
    **{f"{role}.tensor_parallel_size": (1,) for role in ROLES},
}


class Product(NamedTuple):
    """Documents that say one thing of each axis."""

    name: str
    axes: tuple[Axis, ...]

    @property
    def size(self) -> int:
        """How many documents there are."""
        return prod(map(len, self.axes))

    def documents(self) -> Iterator[dict[str, Any]]:
        """Each document once; a coin decides whether a default is written out."""
        random = Random(self.name)
        return (_document(choices, random) for choices in product(*self.axes))

    def sample(self, count: int) -> Iterator[dict[str, Any]]:
        """That many of the documents, always the same ones; all where there are fewer."""
        random = Random(self.name)
        for index in sorted(random.sample(range(self.size), min(count, self.size))):
            yield _document(self._choices(index), random)

    def _choices(self, index: int) -> Iterator[Choice]:
        for axis in self.axes:
            index, place = divmod(index, len(axis))
            yield axis[place]


def _document(choices: Iterable[Choice], random: Random) -> dict[str, Any]:
    document: dict[str, Any] = {"model": {}, "prefill": {}, "decode": {}}
    for path, value in (stated for choice in choices for stated in choice.items()):
        if path in DEFAULTS and value in DEFAULTS[path] and random.random() < 0.5:
            continue
        *sections, key = path.split(".")
        place = document
        for section in sections:
            place = place.setdefault(section, {})
        place[key] = value
    return document


def axis(path: str, *values: Any) -> Axis:
    """The values of one key, of which one may be that it is not stated."""
    return tuple({} if value is UNSTATED else {path: value} for value in values)


def of_each_role(path: str, *values: Any) -> tuple[Axis, Axis]:
    """The values of a key of each role, whose path has a part `role`."""
    prefill, decode = (axis(_of(role, path), *values) for role in ROLES)
    return prefill, decode


def of_both_roles(path: str, *values: Any) -> Axis:
    """The values of a key, each for both roles at once."""
    return tuple({} if value is UNSTATED else {_of(role, path): value for role in ROLES} for value in values)


def _of(role: str, path: str) -> str:
    return ".".join(role if part == "role" else part for part in path.split("."))
