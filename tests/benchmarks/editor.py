"""What the schema costs an editor, as ratios measured in one run: `python -m tests.benchmarks.editor`.

Needs the node packages that the editor tests install (`npm ci` in tests/editors).
"""

from __future__ import annotations

import gzip
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pdtopology import json_schema
from tests.editors.documents import pair
from tests.editors.engines import VSCodeJson

EDITS = [pair(prefill, decode) for prefill in (1, 2, 4, 8, 16) for decode in (1, 2, 3, 4, 6, 8, 12, 16)]
MAX_BYTES, MAX_GZIPPED, MAX_EDIT, MAX_GENERATION = 400 * 1024, 30 * 1024, 15.0, 50.0


def median_milliseconds(action: Callable[[Any], object], arguments: list[Any]) -> float:
    """The median time of an action over its arguments, after one round to warm up."""
    times = []
    for argument in [*arguments, *arguments]:
        started = time.perf_counter()
        action(argument)
        times.append((time.perf_counter() - started) * 1e3)
    return statistics.median(times[len(arguments) :])


def milliseconds_per_edit(schema: dict[str, Any], folder: Path) -> float:
    """What VS Code's JSON service takes to check a document again."""
    file = folder / "schema.json"
    file.write_text(json.dumps(schema))
    with VSCodeJson(file) as engine:
        return median_milliseconds(engine.diagnose, EDITS)


def main() -> int:
    """Print each figure beside its limit, and each clause's bytes; 1 where a limit is missed."""
    schema = json_schema()
    minified = json.dumps(schema, separators=(",", ":"))
    zipped = len(gzip.compress(minified.encode()))
    bare = {key: value for key, value in schema.items() if key not in ("allOf", "$defs")}
    generation = median_milliseconds(lambda _: json_schema(), [None] * 10)
    with tempfile.TemporaryDirectory() as name:
        bare_edit, edit = (milliseconds_per_edit(each, Path(name)) for each in (bare, schema))
    # The limit is for a machine on which the bare schema takes about 1 ms.
    allowed = MAX_EDIT * max(1.0, bare_edit)
    print(f"minified: {len(minified) / 1024:.0f} KB (at most {MAX_BYTES // 1024})")
    print(f"gzipped: {zipped / 1024:.0f} KB (at most {MAX_GZIPPED // 1024})")
    print(f"generation: {generation:.0f} ms (at most {MAX_GENERATION:.0f})")
    print(f"VS Code, an edit: {edit:.1f} ms, {edit / bare_edit:.1f} times the {bare_edit:.1f} ms of the fields alone")
    for clause in schema["allOf"]:
        if "$comment" in clause:
            print(f"  {clause['$comment']}: {len(json.dumps(clause, separators=(',', ':'))):,} bytes")
    return int(len(minified) > MAX_BYTES or zipped > MAX_GZIPPED or generation > MAX_GENERATION or edit > allowed)


if __name__ == "__main__":
    sys.exit(main())
