"""The engines as fixtures: installed from the lock when needed, started once, stopped when the session ends."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

import pytest

from pdtopology import json_schema
from pdtopology.schema import DIALECTS, Dialect

from .engines import EDITORS, ENGINES, Editor, Engine

HERE = Path(__file__).parent

AnyEngine = TypeVar("AnyEngine", bound=Engine)


class Running:
    """The engines of this session, each started when it is first asked for."""

    def __init__(self, directory: Path, stack: ExitStack) -> None:
        self._directory = directory
        self._stack = stack
        self._started: dict[tuple[type[Engine], Dialect], Engine] = {}

    def get(self, kind: type[AnyEngine], dialect: Dialect) -> AnyEngine:
        """The one engine of this kind that has the schema of this dialect."""
        if (kind, dialect) not in self._started:
            self._started[kind, dialect] = self._stack.enter_context(kind(self._schema(dialect)))
        engine = self._started[kind, dialect]
        assert isinstance(engine, kind)
        return engine

    def _schema(self, dialect: Dialect) -> Path:
        file = self._directory / f"{dialect}.schema.json"
        if not file.exists():
            file.write_text(json.dumps(json_schema(dialect)), encoding="utf-8")
        return file


@pytest.fixture(scope="session")
def _node_packages() -> None:
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.fail("the editor tests run the engines of real editors: put node 20 or newer and npm on PATH")
    installed = HERE / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < (HERE / "package-lock.json").stat().st_mtime:
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        finished = subprocess.run(command, cwd=HERE, capture_output=True, encoding="utf-8", check=False)
        if finished.returncode:
            pytest.fail(f"npm ci in {HERE} failed:\n{finished.stdout}{finished.stderr}")


@pytest.fixture(scope="session")
def running(_node_packages: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with ExitStack() as stack:
        yield Running(tmp_path_factory.mktemp("schemas"), stack)


@pytest.fixture(scope="session", params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    chosen: Dialect = request.param
    return chosen


@pytest.fixture(scope="session", params=ENGINES, ids=lambda kind: kind.__name__)
def engine(request: pytest.FixtureRequest, running: Running, dialect: Dialect) -> Engine:
    kind: type[Engine] = request.param
    return running.get(kind, dialect)


@pytest.fixture(scope="session", params=EDITORS, ids=lambda kind: kind.__name__)
def editor(request: pytest.FixtureRequest, running: Running, dialect: Dialect) -> Editor:
    kind: type[Editor] = request.param
    return running.get(kind, dialect)
