"""Which rules a topology breaks: the compiled check, and what is told of each broken clause."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

from pdtopology.constraints import Constraint, Key, compile_to_python
from pdtopology.constraints.expressions import Computed
from pdtopology.constraints.python import Broken, value_of
from pdtopology.deployment import ENGINES, USUAL_FIELDS, Deployment
from pdtopology.rule import Clause
from pdtopology.rules import clauses_for


class Violation(NamedTuple):
    """A clause that one topology breaks, with the values that break it."""

    clause: Clause
    at: Key
    """Where it is reported."""
    see: tuple[Key, ...]
    """The keys it disagrees with."""
    values: dict[str, Any]
    """The value of each key the clause reads, by the key's name."""

    @property
    def value(self) -> Any:
        """The value at the key where it is reported."""
        return self.values[self.at.name]

    @property
    def message(self) -> str:
        """The message with its numbers."""
        return self.clause.message.format_map(self.values)


def errors(topology: Deployment) -> list[Violation]:
    """What refuses the topology."""
    return [violation for clause in refusing_clauses(topology) for violation in _violations(topology, clause)]


def warnings(topology: Deployment) -> list[Violation]:
    """What warns of it, where no error silences that."""
    clauses = _WARNING[topology.engine.name][topology.connector.kind].broken_clauses(topology)
    if not clauses:
        return []
    refusing = refusing_clauses(topology)
    return [
        violation
        for clause in clauses
        if not any(map(clause.is_silenced_by, refusing))
        for violation in _violations(topology, clause)
    ]


def refusing_clauses(topology: Deployment | SimpleNamespace) -> list[Clause]:
    """The clauses that refuse the topology, without those that another one silences."""
    return _REFUSING[topology.engine.name][topology.connector.kind].broken_clauses(topology)


class _Check(NamedTuple):
    """One compiled function, and the clauses that its answers count."""

    clauses: list[Clause]
    find_broken: Broken

    def broken_clauses(self, topology: Any) -> list[Clause]:
        broken = [self.clauses[index] for index in self.find_broken(topology) or ()]
        return [clause for clause in broken if not any(map(clause.is_silenced_by, broken))]


class _Checks(dict[str, _Check]):
    """The check of each connector's topologies with one engine, compiled when first asked for."""

    def __init__(self, engine: str, demand: Callable[[Clause], Constraint | None]) -> None:
        super().__init__()
        self._engine = engine
        self._demand = demand

    def __missing__(self, connector: str) -> _Check:
        demands = [(clause, self._demand(clause)) for clause in clauses_for(self._engine, connector)]
        clauses = [clause for clause, constraint in demands if constraint]
        constraints = [constraint for _, constraint in demands if constraint]
        check = self[connector] = _Check(clauses, compile_to_python(constraints, USUAL_FIELDS))
        return check


_REFUSING = {engine: _Checks(engine, lambda clause: clause.refused) for engine in ENGINES}
_WARNING = {engine: _Checks(engine, lambda clause: clause.warned) for engine in ENGINES}


class _Finders(dict[str, Broken]):
    """The function of each connector's check, which is all that a good topology pays for the rules."""

    def __init__(self, checks: _Checks) -> None:
        super().__init__()
        self._checks = checks

    def __missing__(self, connector: str) -> Broken:
        finder = self[connector] = self._checks[connector].find_broken
        return finder


FIND_REFUSALS: Mapping[str, Mapping[str, Broken]] = {engine: _Finders(_REFUSING[engine]) for engine in ENGINES}
"""By engine and kind of connector, a function that gives None for a topology that no rule refuses."""


def _violations(topology: Deployment, clause: Clause) -> list[Violation]:
    require = clause.constraint.require
    if isinstance(require, Computed):
        return [Violation(clause, found.at, found.see, dict(found.values)) for found in require.find(topology)]
    keys = (*clause.constraint.keys, clause.at, *clause.see)
    values = {key.name: value_of(topology, key) for key in keys}
    return [Violation(clause, clause.at, clause.see, values)]
