"""Which rules a topology breaks: the compiled check, and what is told of each broken clause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pdtopology.constraints import Constraint, Key, compile_to_python
from pdtopology.releases import release_name
from pdtopology.rule import Clause
from pdtopology.rules import clauses_for

if TYPE_CHECKING:
    from pdtopology.topology import Deployment


@dataclass(frozen=True)
class Violation:
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
    """The clauses that refuse the topology."""
    check = _refusing(topology.connector.kind)
    broken = check.broken(topology)
    return check.violations(topology, broken) if broken else []


def warnings(topology: Deployment) -> list[Violation]:
    """The clauses that warn of it."""
    check = _warning(topology.connector.kind)
    return check.violations(topology, check.broken(topology) or [])


@dataclass(frozen=True)
class _Check:
    clauses: tuple[Clause, ...]
    broken: Callable[[Any], list[int] | None]

    def violations(self, topology: Deployment, broken: list[int]) -> list[Violation]:
        clauses = [self.clauses[index] for index in broken]
        return [
            Violation(clause, {key.name: _value(topology, key) for key in (*clause.constraint.keys, clause.at, *clause.see)})
            for clause in clauses
            if not any(clause.is_silenced_by(other) for other in clauses)
        ]


@lru_cache
def _refusing(connector: str) -> _Check:
    return _compiled(connector, lambda clause: clause.refused)


@lru_cache
def _warning(connector: str) -> _Check:
    return _compiled(connector, lambda clause: clause.warned)


def _compiled(connector: str, demand: Callable[[Clause], Constraint | None]) -> _Check:
    demands = [(clause, demand(clause)) for clause in clauses_for(connector)]
    stated = [(clause, constraint) for clause, constraint in demands if constraint]
    return _Check(
        tuple(clause for clause, _ in stated),
        compile_to_python([constraint for _, constraint in stated]),
    )


def _value(topology: Deployment, key: Key) -> Any:
    value: Any = topology
    for part in key.parts:
        value = getattr(value, part)
    return value
