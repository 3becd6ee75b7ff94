"""Compare Python and the exported schema, in both dialects, on the whole product and on junk.

`python -m tests.agreement.run [JUNK_DOCUMENTS]`; the tests run a part of the same.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import jsonschema_rs
from hypothesis import HealthCheck, Phase, given, settings
from pydantic import ValidationError

from pdtopology import RULES, PDTopology, json_schema
from tests.agreement.documents import full_product
from tests.agreement.junk import JUNK_DOCUMENT


def verdict(document: Any) -> bool | None:
    """Whether Python accepts a document; None where it refuses by rules alone that no schema can hold, or by a file."""
    try:
        PDTopology.model_validate(document)
    except ValidationError as error:
        return None if {line["type"] for line in error.errors(include_url=False)} <= BEYOND_SCHEMA else False
    return True


BEYOND_SCHEMA = {rule.code for rule in RULES if rule.beyond_schema} | {"unreadable-file"}


class Comparison:
    """Counts documents on which Python and the schemas are of one mind, and prints the others."""

    def __init__(self) -> None:
        self._validators = [jsonschema_rs.validator_for(json_schema(dialect)) for dialect in ("2020-12", "draft-07")]
        self.seen = self.accepted = self.different = 0

    def compare(self, document: Any) -> None:
        """Judge one document thrice."""
        expected = verdict(document)
        self.seen += 1
        self.accepted += expected is True
        if expected is not None and any(check.is_valid(document) is not expected for check in self._validators):
            self.different += 1
            print("Python", "accepts" if expected else "rejects", document)


def _product(comparison: Comparison) -> None:
    for document in full_product():
        comparison.compare(document)


def _junk(count: int) -> Callable[[Comparison], None]:
    def run(comparison: Comparison) -> None:
        @settings(
            max_examples=count,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(JUNK_DOCUMENT)
        def compare(document: Any) -> None:
            comparison.compare(document)

        compare()

    return run


def main(junk_documents: int = 100_000) -> int:
    """Print what was compared; 1 where there is a difference."""
    different = 0
    for name, run in (("product", _product), ("junk", _junk(junk_documents))):
        comparison = Comparison()
        started = time.perf_counter()
        run(comparison)
        different += comparison.different
        print(
            f"{name}: {comparison.different} differences in {comparison.seen:,} documents, "
            f"{comparison.accepted:,} valid, {time.perf_counter() - started:.0f} s"
        )
    return min(different, 1)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
