"""Which rules a topology breaks: the compiled check, and what is told of each broken clause."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pdtopology.constraints import Constraint, Key, compile_to_python
from pdtopology.rule import Clause
from pdtopology.rules import clauses_for

if TYPE_CHECKING:
    from pdtopology.topology import Deployment


class Violation(NamedTuple):
    """A clause that one topology breaks, with the values that break it."""

    clause: Clause
    values: dict[str, Any]
    """The value of each key the clause reads, by the key's name."""

    @property
    def value(self) -> Any:
        """The value at the key where it is reported."""
        return self.values[self.clause.at.name]

    @property
    def message(self) -> str:
        """The message with its numbers."""
        return self.clause.message.format_map(self.values)


def errors(topology: Deployment) -> list[Violation]:
    """What refuses the topology."""
    return [_violation(topology, clause) for clause in refusing_clauses(topology)]


def warnings(topology: Deployment) -> list[Violation]:
    """What warns of it."""
    return [_violation(topology, clause) for clause in _warning(topology.connector.kind)(topology)]


def refusing_clauses(topology: Deployment | SimpleNamespace) -> list[Clause]:
    """The clauses that refuse the topology, without those that another one silences."""
    return _refusing(topology.connector.kind)(topology)


_Check: TypeAlias = Callable[[Any], list[Clause]]


@lru_cache
def _refusing(connector: str) -> _Check:
    return _compiled(connector, lambda clause: clause.refused)


@lru_cache
def _warning(connector: str) -> _Check:
    return _compiled(connector, lambda clause: clause.warned)


def _compiled(connector: str, demand: Callable[[Clause], Constraint | None]) -> _Check:
    """One function for all that is demanded of a topology with this connector."""
    demands = [(clause, demand(clause)) for clause in clauses_for(connector)]
    clauses = [clause for clause, constraint in demands if constraint]
    find_broken = compile_to_python([constraint for _, constraint in demands if constraint])

    def broken(topology: Any) -> list[Clause]:
        found = find_broken(topology)
        if found is None:
            return []
        broken_clauses = [clauses[index] for index in found]
        return [
            clause for clause in broken_clauses if not any(clause.is_silenced_by(other) for other in broken_clauses)
        ]

    return broken


def _violation(topology: Deployment, clause: Clause) -> Violation:
    keys = (*clause.constraint.keys, clause.at, *clause.see)
    return Violation(clause, {key.name: _value(topology, key) for key in keys})


def _value(topology: Deployment, key: Key) -> Any:
    value: Any = topology
    for part in key.parts:
        value = getattr(value, part)
    return value
