"""Which rules a topology breaks: the compiled check, and what is told of each broken clause."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from pdtopology.constraints import Constraint, Key, compile_to_python
from pdtopology.constraints.absence import holds_without
from pdtopology.constraints.expressions import Computed
from pdtopology.constraints.python import Broken, value_of
from pdtopology.deployment import ENGINES, USUAL_FIELDS, Deployment, ModelGeometry, is_unusual
from pdtopology.rule import Clause
from pdtopology.rules import clauses_for, usual_clauses_for


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
    return [violation for clause in _refusing_clauses(topology) for violation in _violations(topology, clause)]


def warnings(topology: Deployment) -> list[Violation]:
    """What warns of it, where no error silences that."""
    clauses = _without_silenced(_FIND_WARNINGS[topology.engine.name][topology.connector.kind](topology))
    if not clauses:
        return []
    refusing = _refusing_clauses(topology)
    return [
        violation
        for clause in clauses
        if not any(map(clause.is_silenced_by, refusing))
        for violation in _violations(topology, clause)
    ]


def _refusing_clauses(topology: Deployment) -> list[Clause]:
    """The clauses that refuse the topology, without those that another one silences."""
    return _without_silenced(FIND_REFUSALS[topology.engine.name][topology.connector.kind](topology))


_MAX_COMPILED = 256
_DERIVED = frozenset(("model", name) for name in ModelGeometry.model_fields if is_unusual(("model", name)))
"""What a model's own configuration may say in the document's place."""


class _Finders(dict[str, Broken[Clause]]):
    """By kind of connector, a function that finds the clauses that a topology breaks with one engine.

    Compiled when first asked for. Most topologies state the usual fields only, and pay for the rules about those; for
    others a second function is compiled from all the rules that the fields they state can break.
    """

    def __init__(self, engine: str, demand: Callable[[Clause], Constraint | None]) -> None:
        super().__init__()
        self._engine = engine
        self._demand = demand
        self._unusual = lru_cache(_MAX_COMPILED)(self._compiled)

    def __missing__(self, connector: str) -> Broken[Clause]:
        usual = self._demands(usual_clauses_for(self._engine, connector), frozenset())
        finder = self[connector] = compile_to_python(usual, USUAL_FIELDS, self._find_unusual)
        return finder

    def _find_unusual(self, topology: Any) -> list[Clause] | None:
        stated = frozenset(
            (section, name)
            for section, usual in USUAL_FIELDS.items()
            for name in getattr(topology, section).__pydantic_fields_set__ - usual
        )
        if ("model", "hf_config") in stated:
            return self._unusual(topology.connector.kind, stated | _DERIVED)(topology) or []
        return self._unusual(topology.connector.kind, stated)(topology)

    def _compiled(self, connector: str, stated: frozenset[tuple[str, ...]]) -> Broken[Clause]:
        return compile_to_python(self._demands(clauses_for(self._engine, connector), stated))

    def _demands(self, clauses: Iterable[Clause], stated: frozenset[tuple[str, ...]]) -> dict[Clause, Constraint]:
        """The constraints that a topology can break which states these unusual fields and no other."""

        def is_absent(key: Key) -> bool:
            return is_unusual(key.parts) and key.parts[:2] not in stated

        demands = ((clause, self._demand(clause)) for clause in clauses)
        return {clause: demand for clause, demand in demands if demand and not holds_without(demand, is_absent)}


FIND_REFUSALS: Mapping[str, Mapping[str, Broken[Clause]]] = {
    engine: _Finders(engine, lambda clause: clause.refused) for engine in ENGINES
}
"""By engine and kind of connector, a function that gives None for a topology that no rule refuses.

It gives no None where the model's own configuration is named, which tells more once it has been read.
"""
_FIND_WARNINGS = {engine: _Finders(engine, lambda clause: clause.warned) for engine in ENGINES}


def _without_silenced(broken: list[Clause] | None) -> list[Clause]:
    broken = broken or []
    return [clause for clause in broken if not any(map(clause.is_silenced_by, broken))]


def _violations(topology: Deployment, clause: Clause) -> list[Violation]:
    require = clause.constraint.require
    if isinstance(require, Computed):
        return [Violation(clause, found.at, found.see, dict(found.values)) for found in require.find(topology)]
    keys = (*clause.constraint.keys, clause.at, *clause.see)
    values = {key.name: value_of(topology, key) for key in keys}
    return [Violation(clause, clause.at, clause.see, values)]
