"""The README's examples do what it says, and its commands are the ones that CI runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that the README shows."""
    for language, block in BLOCKS:
        if language == "yaml":
            name = block.splitlines()[0].removeprefix("# ")
            (tmp_path / name).write_text(block)
    return tmp_path


def shell(script: str, folder: Path) -> str:
    """What a script prints, with the command of this environment first on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        ["sh", "-c", script], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    return run.stdout + run.stderr


def sessions() -> list[tuple[list[str], str]]:
    """The commands of each console block, and all that it shows of their output."""
    found = []
    for language, block in BLOCKS:
        if language == "console":
            lines = block.splitlines(keepends=True)
            commands = [line[2:].rstrip() for line in lines if line.startswith("$ ")]
            found.append((commands, "".join(line for line in lines if not line.startswith("$ "))))
    return found


@pytest.mark.parametrize(("commands", "output"), sessions(), ids=lambda value: str(value)[:40])
def test_a_console_example_prints_what_the_readme_shows(commands: list[str], output: str, folder: Path) -> None:
    assert shell("\n".join(commands), folder) == output


def test_the_python_example_runs(folder: Path) -> None:
    [code] = [block for language, block in BLOCKS if language == "python"]
    (folder / "launcher.py").write_text(code)
    assert shell("python launcher.py", folder) == "vllm serve --tensor-parallel-size 8\n"


def test_ci_runs_the_test_command_as_the_readme_gives_it() -> None:
    commands = [block.strip() for language, block in BLOCKS if language == "sh"]
    assert commands[1] in (ROOT / ".ci" / "run").read_text().splitlines()


def test_the_example_that_ships_is_valid(tmp_path: Path) -> None:
    [command] = [block.strip() for language, block in BLOCKS if language == "sh" and " check " in block]
    check = command.rpartition("&& .venv/bin/")[2]
    assert shell(f"cd {ROOT} && {check}", tmp_path).endswith("qwen3-32b.yaml: valid\n")
