"""What the rules and the command cost, as ratios measured in one run: `python -m tests.benchmarks.benchmark`."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path
from typing import Any

from pydantic import ConfigDict

from pdtopology import MoRIIOConnector, PDTopology
from pdtopology.deployment import Engine, ModelGeometry
from pdtopology.roles import DecodeRole, PrefillRole
from pdtopology.section import Section

BARE_SCRIPT = """
import sys, yaml
from typing import Literal
from pydantic import BaseModel, ConfigDict, Field
C = ConfigDict(extra="forbid", frozen=True, strict=True)
class Model(BaseModel):
    model_config = C
    name: str = ""
    num_attention_heads: int | None = Field(None, gt=0)
    total_num_kv_heads: int | None = Field(None, gt=0)
    is_mla: bool = False
class Role(BaseModel):
    model_config = C
    tensor_parallel_size: int = Field(1, gt=0, le=512)
    pipeline_parallel_size: int = Field(1, gt=0)
    data_parallel_size: int = Field(1, gt=0)
    block_size: int | None = Field(None, gt=0)
    kv_cache_dtype: str = "auto"
    replicas: int = Field(1, gt=0)
    host: str | None = None
    port: int | None = Field(None, gt=0)
class Connector(BaseModel):
    model_config = C
    kind: Literal["moriio"] = "moriio"
    mode: Literal["read", "write"] = "read"
class Topology(BaseModel):
    model_config = C
    model: Model
    prefill: Role
    decode: Role
    connector: Connector = Connector()
for name in sys.argv[1:]:
    with open(name, "rb") as file:
        Topology.model_validate(yaml.load(file, yaml.CSafeLoader))
"""

FILE = """\
model:
  num_attention_heads: 64
  total_num_kv_heads: 8
connector:
  kind: moriio
  mode: read
prefill:
  tensor_parallel_size: {size}
decode:
  tensor_parallel_size: {size}
"""

DOCUMENT = {
    "model": {"num_attention_heads": 64, "total_num_kv_heads": 8},
    "connector": {"kind": "moriio", "mode": "read"},
    "prefill": {"tensor_parallel_size": 8},
    "decode": {"tensor_parallel_size": 16},
}


class BareTopology(Section):
    """The same models without the rules and without any other validator in Python."""

    model_config = ConfigDict(defer_build=False)
    engine: Engine = Engine()
    model: ModelGeometry
    connector: MoRIIOConnector = MoRIIOConnector()
    prefill: PrefillRole
    decode: DecodeRole


def validation_ratio() -> float:
    """`PDTopology.model_validate` against the same models without rules; the median of interleaved rounds."""

    def seconds(model: Any) -> float:
        return timeit.timeit(lambda: model.model_validate(DOCUMENT), number=5_000)

    seconds(PDTopology)
    return statistics.median(seconds(PDTopology) / seconds(BareTopology) for _ in range(15))


def process_ratio(command: list[str], other: list[str], rounds: int) -> float:
    """The median ratio of whole processes, run in turn; both find bytecode, as installed packages have it."""
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}

        def seconds(arguments: list[str]) -> float:
            started = time.perf_counter()
            subprocess.run(arguments, check=True, capture_output=True, env=environment)
            return time.perf_counter() - started

        seconds(command)
        seconds(other)
        return statistics.median(seconds(command) / seconds(other) for _ in range(rounds))


def main() -> int:
    """Print each ratio beside its limit; 1 where one is missed."""
    bin_folder = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = folder / "bare.py"
        script.write_text(BARE_SCRIPT)
        files = [folder / f"t{index}.pdtopology.yaml" for index in range(1000)]
        for index, file in enumerate(files):
            file.write_text(FILE.format(size=(1, 2, 4, 8)[index % 4]))
        schema = folder / "pdtopology.schema.json"
        command = str(bin_folder / "pdtopology")
        schema.write_text(subprocess.run([command, "schema"], check=True, capture_output=True, text=True).stdout)

        bare = [sys.executable, str(script)]
        check = [command, "check"]
        generic = [str(bin_folder / "check-jsonschema"), "--schemafile", str(schema)]
        paths = [str(file) for file in files]
        results = [
            ("model_validate over the bare models", validation_ratio(), "at most", 1.35),
            (
                "check of one file over a bare script",
                process_ratio([*check, paths[0]], [*bare, paths[0]], 15),
                "at most",
                1.25,
            ),
            (
                "check of 1,000 files over the bare loop",
                process_ratio([*check, *paths], [*bare, *paths], 5),
                "at most",
                1.6,
            ),
            (
                "check-jsonschema over check, 1,000 files",
                process_ratio([*generic, *paths], [*check, *paths], 1),
                "at least",
                25,
            ),
        ]
        jobs_ratio = process_ratio([*check, name, "--jobs", "2"], [*check, name], 5)
    missed = False
    for what, ratio, bound, limit in results:
        missed |= ratio > limit if bound == "at most" else ratio < limit
        print(f"{what}: {ratio:.2f} ({bound} {limit})")
    print(f"two processes over one, a folder of 1,000 files: {jobs_ratio:.2f} (depends on the machine)")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
