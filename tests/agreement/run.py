"""Compare Python and the exported schema, in both dialects, on all products and on junk.

`python -m tests.agreement.run [JUNK_DOCUMENTS]`; the tests run a part of the same.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import jsonschema_rs
from hypothesis import HealthCheck, Phase, given, settings
from pydantic import ValidationError

from pdtopology import RULES, PDTopology, json_schema
from pdtopology.connectors.kinds import CONNECTORS
from pdtopology.constraints import compile_to_python
from pdtopology.deployment import ENGINES, Deployment
from pdtopology.rules import clauses_for
from pdtopology.schema import DIALECTS
from tests.agreement.junk import JUNK_DOCUMENT
from tests.agreement.products import PRODUCTS

_BEYOND_SCHEMA = {rule.code for rule in RULES if rule.beyond_schema}
_IN_SCHEMA = {
    (engine, kind): compile_to_python(
        {clause: held for clause in clauses_for(engine, kind) if (held := clause.refused_by_schema)}
    )
    for engine in ENGINES
    for kind in CONNECTORS
}


def verdict(document: Any) -> bool | None:
    """Whether Python accepts a document, but for the rules that no schema can hold; None where it lacks a file."""
    try:
        PDTopology.model_validate(document)
    except ValidationError as error:
        told = {line["type"] for line in error.errors(include_url=False)}
        if not told <= _BEYOND_SCHEMA:
            return None if told == {"unreadable-file"} else False
        # They may silence others.
        sections = Deployment.of(document)
        return _IN_SCHEMA[sections.engine.name, sections.connector.kind](sections) is None
    return True


class Comparison:
    """Counts documents on which Python and the schemas are of one mind, and keeps the others."""

    def __init__(self, validators: Collection[jsonschema_rs.Validator]) -> None:
        self._validators = validators
        self.seen = self.accepted = 0
        self.different: list[tuple[bool, Any]] = []
        """Python's verdict on each of them, and the document."""

    def compare(self, document: Any) -> None:
        """Judge one document thrice."""
        expected = verdict(document)
        self.seen += 1
        self.accepted += expected is True
        if expected is not None and any(validator.is_valid(document) is not expected for validator in self._validators):
            self.different.append((expected, document))

    def compare_all(self, documents: Iterable[Any]) -> None:
        """Judge many."""
        for document in documents:
            self.compare(document)

    def told(self, name: str, seconds: float) -> str:
        """The counts, and the first differences."""
        counts = f"{len(self.different)} differences in {self.seen:,} documents, {self.accepted:,} valid"
        lines = [f"{name}: {counts}, {seconds:.0f} s"]
        lines += [f"  Python {'accepts' if expected else 'rejects'} {it}" for expected, it in self.different[:_TOLD]]
        return "\n".join(lines)


_TOLD = 10


def _validators() -> list[jsonschema_rs.Validator]:
    return [jsonschema_rs.validator_for(json_schema(dialect)) for dialect in DIALECTS]


def _product(index: int) -> tuple[int, str]:
    """The differences in one product, and what is told of it; by its number, since it is done in a process."""
    comparison, started = Comparison(_validators()), time.perf_counter()
    comparison.compare_all(PRODUCTS[index].documents())
    return len(comparison.different), comparison.told(PRODUCTS[index].name, time.perf_counter() - started)


def _junk(count: int) -> tuple[int, str]:
    comparison, started = Comparison(_validators()), time.perf_counter()
    judged = settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )(given(JUNK_DOCUMENT)(comparison.compare))
    judged()
    return len(comparison.different), comparison.told("junk", time.perf_counter() - started)


def main(junk_documents: int = 100_000) -> int:
    """Print what was compared; 1 where there is a difference."""
    different = 0
    with ProcessPoolExecutor() as processes:
        results = [
            processes.submit(_junk, junk_documents),
            *(processes.submit(_product, i) for i in range(len(PRODUCTS))),
        ]
        for result in results:
            count, told = result.result()
            different += count
            print(told, flush=True)
    return min(different, 1)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
