"""What the schema costs an editor, measured in one run beside its fields alone: `python -m tests.benchmarks.editor`.

Needs the node packages that the editor tests install (`npm ci` in tests/editors).
"""

from __future__ import annotations

import gzip
import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pdtopology import json_schema
from tests.editors.documents import CONNECTOR_DOCUMENTS, MOONCAKE, NIXL, SGLANG, pair
from tests.editors.engines import VSCodeJson

PAIRS = [(prefill, decode) for prefill in (1, 2, 4, 8, 16) for decode in (1, 2, 3, 4, 6, 8, 12, 16)]
EDITS: dict[str, list[Any]] = {
    "MoRIIO": [pair(prefill, decode) for prefill, decode in PAIRS],
    "NIXL": [pair(prefill, decode, connector=NIXL) for prefill, decode in PAIRS],
    "Mooncake": [pair(prefill, decode, connector=MOONCAKE) for prefill, decode in PAIRS],
    "SGLang": [pair(prefill, decode, connector=NIXL, engine=SGLANG) for prefill, decode in PAIRS],
    "documents of many keys": [*CONNECTOR_DOCUMENTS.values()],
}
MAX_BYTES, MAX_GZIPPED, MAX_EDIT, MAX_GENERATION = 400 * 1024, 30 * 1024, 15.0, 50.0


def median_milliseconds(action: Callable[[Any], object], arguments: list[Any]) -> float:
    """The median time of an action over its arguments, after one round to warm up."""
    times = []
    for argument in [*arguments, *arguments]:
        started = time.perf_counter()
        action(argument)
        times.append((time.perf_counter() - started) * 1e3)
    return statistics.median(times[len(arguments) :])


def milliseconds_per_edit(schema: dict[str, Any]) -> dict[str, float]:
    """What VS Code's JSON service takes to check a document of each kind again."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "schema.json"
        file.write_text(json.dumps(schema))
        with VSCodeJson(file) as engine:
            return {name: median_milliseconds(engine.diagnose, edits) for name, edits in EDITS.items()}


def clauses_of(clauses: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The clauses of the rules, out of the conditions that they stand behind."""
    for clause in clauses:
        if "$comment" in clause:
            yield clause
        else:
            yield from clauses_of(clause.get("then", {}).get("allOf", []))


def main() -> int:
    """Print each figure beside its limit, and each rule's bytes; 1 where a limit is missed."""
    schema = json_schema()
    minified = json.dumps(schema, separators=(",", ":"))
    zipped = len(gzip.compress(minified.encode()))
    bare = {key: value for key, value in schema.items() if key not in ("allOf", "$defs")}
    generation = median_milliseconds(lambda _: json_schema(), [None] * 10)
    bare_edits, edits = map(milliseconds_per_edit, (bare, schema))
    print(f"minified: {len(minified) / 1024:.0f} KB (at most {MAX_BYTES // 1024})")
    print(f"gzipped: {zipped / 1024:.0f} KB (at most {MAX_GZIPPED // 1024})")
    print(f"generation: {generation:.0f} ms (at most {MAX_GENERATION:.0f})")
    for name, edit in edits.items():
        print(f"VS Code, an edit, {name}: {edit:.1f} ms, and {bare_edits[name]:.1f} ms for the fields alone")
    sizes = Counter[str]()
    for clause in clauses_of(schema["allOf"]):
        sizes[clause["$comment"]] += len(json.dumps(clause, separators=(",", ":")))
    for code, size in sizes.most_common():
        print(f"  {code}: {size:,} bytes")
    # The limit is for a machine on which the bare schema takes about 1 ms.
    is_slow = any(edit > MAX_EDIT * max(1.0, bare_edits[name]) for name, edit in edits.items())
    return int(len(minified) > MAX_BYTES or zipped > MAX_GZIPPED or generation > MAX_GENERATION or is_slow)


if __name__ == "__main__":
    sys.exit(main())
