"""The nearest topologies that satisfy every rule, found by changing as few keys of a refused one as possible."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import log2
from types import SimpleNamespace
from typing import Any, NamedTuple

from pydantic import ValidationError

from pdtopology.connectors.nixl.keys import BIDIRECTIONAL
from pdtopology.constraints import Key
from pdtopology.constraints.expressions import Computed
from pdtopology.constraints.python import value_of
from pdtopology.deployment import Deployment
from pdtopology.edits.scalars import yaml_scalar
from pdtopology.keys import (
    BLOCK_SIZE,
    DCP,
    DP,
    DP_LOCAL,
    ENGINE_VERSION,
    KV_CACHE_DTYPE,
    KV_ROLE,
    LAYOUT,
    MORIIO_MODE,
    NIXL_MODE,
    PCP,
    PP,
    TP,
)
from pdtopology.paths import Path, dotted, with_value
from pdtopology.releases import KNOWN_RELEASES, release_name, release_of
from pdtopology.rule import ROLES, Clause
from pdtopology.section import Section
from pdtopology.violations import FIND_REFUSALS

MAX_CHANGES = 4
"""What is further away is another deployment, not a mended one."""
MAX_TRIED = 10_000
"""Drafts to try before giving up, which takes a fraction of a second."""
MAX_FIXES = 3

_LARGEST_SIZE = 64
"""Of the sizes that have no bound of their own."""

_SIZES = {key.for_role(role) for role in ROLES for key in (TP, BLOCK_SIZE, PP, DP, DP_LOCAL, PCP, DCP)}
_DTYPES = tuple(KV_CACHE_DTYPE.for_role(role) for role in ROLES)
_NAMES: Mapping[Key, tuple[str | bool, ...]] = {
    MORIIO_MODE: ("read", "write"),
    NIXL_MODE: ("pull", "push"),
    BIDIRECTIONAL: (False,),
    **{LAYOUT.for_role(role): ("HND", "NHD") for role in ROLES},
    **{KV_ROLE.for_role(role): ("kv_producer", "kv_consumer", "kv_both") for role in ROLES},
}
_CHANGEABLE = {*_SIZES, *_DTYPES, *_NAMES, ENGINE_VERSION}


class Fix(NamedTuple):
    """Values to put into a document, which then satisfies every rule."""

    changes: Mapping[Path, Any]
    cost: tuple[float, ...]
    """How far it is: by the kinds of the keys (sizes first, then names, modes, releases), then by the values."""

    def __str__(self) -> str:
        return " and ".join(f"{dotted(path)}: {yaml_scalar(value)}" for path, value in self.changes.items())


def nearest_fixes(deployment: Deployment) -> list[Fix]:
    """The nearest fix of each set of keys that mends all, of the smallest such sets; the nearest first, at most three.

    None where no topology within a few changes satisfies every rule, or where none of the broken rules' keys is one to
    change: what the model is, and what ports are free, is not for a hint to say.
    """
    if not _Draft(deployment).broken():
        return []
    for count in range(1, MAX_CHANGES + 1):
        search = _Search(deployment)
        search.run(count)
        fixes = [fix for fix in search.nearest() if _is_valid(deployment, fix)]
        if fixes or search.tried >= MAX_TRIED:
            return fixes
    return []


class _Search:
    """Looks for changes that leave nothing broken, and keeps the nearest of each set of keys."""

    def __init__(self, deployment: Deployment) -> None:
        self.tried = 0
        self._draft = _Draft(deployment)
        self._found: dict[frozenset[Key], Fix] = {}

    def nearest(self) -> list[Fix]:
        """The nearest fixes found, of different keys."""
        return sorted(self._found.values(), key=lambda fix: fix.cost)[:MAX_FIXES]

    def run(self, left: int) -> bool:
        """Try so many more changes; whether some leave nothing broken.

        Of each clause that is broken some key must change, so it is enough to branch over the keys of one, and hopeless
        where more clauses than there are changes left have no key in common.
        """
        draft = self._draft
        self.tried += 1
        broken = draft.broken()
        if not broken:
            self._keep(draft.fix())
            return True
        open_keys = sorted(map(draft.open_keys, broken), key=len)
        if self.tried >= MAX_TRIED or _count_disjoint(open_keys) > left:
            return False
        found = False
        for key in open_keys[0]:
            for value in draft.values(key):
                draft.change(key, value)
                if self._is_too_far(draft.fix()):
                    draft.restore(key)
                    break
                mends = self.run(left - 1)
                draft.restore(key)
                found |= mends
                if mends and left == 1:
                    break
        return found

    def _keep(self, fix: Fix) -> None:
        keys = frozenset(self._draft.changes)
        if keys not in self._found or fix.cost < self._found[keys].cost:
            self._found[keys] = fix

    def _is_too_far(self, fix: Fix) -> bool:
        """Whether it costs more than the fixes that will be told; more changes only add to that."""
        return len(self._found) >= MAX_FIXES and fix.cost > self.nearest()[-1].cost


class _Draft:
    """A copy of a deployment to change value by value; copies of the models would take most of the time."""

    def __init__(self, deployment: Deployment) -> None:
        self.changes: dict[Key, Any] = {}
        self._deployment = deployment
        self._sections = SimpleNamespace(**{name: _copy(section) for name, section in dict(deployment).items()})

    def broken(self) -> list[Clause]:
        """What refuses it, silenced or not."""
        find = FIND_REFUSALS[self._sections.engine.name][self._sections.connector.kind]
        return find(self._sections) or []

    def open_keys(self, clause: Clause) -> list[Key]:
        """The keys of a clause that may still be changed."""
        if isinstance(clause.constraint.require, Computed) or clause.refused is None:
            return []
        keys = dict.fromkeys((clause.at, *clause.refused.keys))
        return [key for key in keys if key in _CHANGEABLE and key not in self.changes and self.values(key)]

    def values(self, key: Key) -> list[Any]:
        """The other values that a key may take, the nearest first."""
        return _values(key, value_of(self._deployment, key), *self._other_names(key))

    def _other_names(self, key: Key) -> tuple[str, ...]:
        return tuple(value_of(self._deployment, dtype) for dtype in _DTYPES) if key in _DTYPES else ()

    def fix(self) -> Fix:
        """The changes so far."""
        kinds = [_kind(key) for key in self.changes]
        distances = (_distance(value_of(self._deployment, key), value) for key, value in self.changes.items())
        cost = (max(kinds), sum(kinds), sum(distances))
        return Fix({key.parts: value for key, value in self.changes.items()}, cost)

    def change(self, key: Key, value: Any) -> None:
        """Put a value at a key."""
        self.changes[key] = value
        self._put(key, value, is_stated=True)

    def restore(self, key: Key) -> None:
        """Take the change of a key back."""
        del self.changes[key]
        section = getattr(self._deployment, key.parts[0])
        self._put(key, value_of(self._deployment, key), is_stated=key.parts[1] in section.model_fields_set)

    def _put(self, key: Key, value: Any, *, is_stated: bool) -> None:
        section = getattr(self._sections, key.parts[0])
        fields = section.__pydantic_fields_set__
        section.__pydantic_fields_set__ = fields | {key.parts[1]} if is_stated else fields - {key.parts[1]}
        for part in key.parts[1:-1]:
            if not isinstance(getattr(section, part), SimpleNamespace):
                setattr(section, part, _copy(getattr(section, part)))
            section = getattr(section, part)
        setattr(section, key.parts[-1], value)


def _copy(section: Any) -> Any:
    if not isinstance(section, Section):
        return section
    stated = section.model_fields_set
    return SimpleNamespace(**dict(section), __pydantic_fields_set__=stated, model_fields_set=stated)


def _count_disjoint(groups: list[list[Key]]) -> int:
    """How many of the groups, the smallest first, have no key in common."""
    taken: set[Key] = set()
    count = 0
    for group in groups:
        if taken.isdisjoint(group):
            taken.update(group)
            count += 1
    return count


@lru_cache(maxsize=256)
def _values(key: Key, value: Any, *others: str) -> list[Any]:
    if key in _SIZES:
        sizes = range(1, (key.maximum or _LARGEST_SIZE) + 1)
        return sorted((size for size in sizes if size != value), key=lambda size: _distance(value, size))
    if key in _DTYPES:
        return [name for name in dict.fromkeys(others) if name != value]
    if key is ENGINE_VERSION:
        newer = (release for release in KNOWN_RELEASES if value and release > release_of(value))
        return [release_name(release) for release in newer]
    return [name for name in _NAMES.get(key, ()) if name != value]


def _kind(key: Key) -> int:
    """Sizes are the first to change, releases the last."""
    if key in _SIZES:
        return 0
    if key is ENGINE_VERSION:
        return 3
    return 2 if key in (MORIIO_MODE, NIXL_MODE) else 1


def _distance(value: Any, other: Any) -> float:
    """Doubling a size is as far as halving it; names are all equally far."""
    if isinstance(value, int) and isinstance(other, int) and value and other:
        return abs(log2(other / value))
    return 1.0


def _is_valid(deployment: Deployment, fix: Fix) -> bool:
    """Whether the validator accepts the document with the changes."""
    from pdtopology.topology import PDTopology

    document = deployment.model_dump(exclude_unset=True)
    for path, value in fix.changes.items():
        document = with_value(document, path, value)
    try:
        PDTopology.model_validate(document)
    except ValidationError:
        return False
    return True
