"""Compare Python and the exported schema, in both dialects, on the whole product: `python tests/agreement/run.py`."""

from __future__ import annotations

import sys
import time

import jsonschema_rs
from documents import PRODUCT_SIZE, full_product
from pydantic import ValidationError

from pdtopology import PDTopology, json_schema


def main() -> int:
    """Print what was compared, and every difference up to ten."""
    validators = [jsonschema_rs.validator_for(dict(json_schema(dialect))) for dialect in ("2020-12", "draft-07")]
    started = time.perf_counter()
    accepted = different = 0
    for document in full_product():
        try:
            PDTopology.model_validate(document)
            expected = True
        except ValidationError:
            expected = False
        accepted += expected
        if any(validator.is_valid(document) is not expected for validator in validators):
            different += 1
            if different <= 10:
                print("Python", "accepts" if expected else "rejects", document)
    seconds = time.perf_counter() - started
    print(f"{different} differences in {PRODUCT_SIZE:,} documents, {accepted:,} valid, {seconds:.0f} s")
    return min(different, 1)


if __name__ == "__main__":
    sys.exit(main())
