"""The pre-commit hook: pre-commit itself installs it from this repository and runs it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PACKAGE = (".pre-commit-hooks.yaml", "LICENSE", "README.md", "pyproject.toml", "schemas", "src")
"""All that the hook is installed from."""

GOOD = "model: {is_mla: true}\nprefill: {tensor_parallel_size: 4}\ndecode: {tensor_parallel_size: 4}\n"
BAD = GOOD.replace("4", "6", 1)


def git(folder: Path, *arguments: str) -> str:
    """What git prints, run as somebody who may commit."""
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit_all(folder: Path) -> str:
    """Make a repository of a folder; its only revision."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message", "Begin")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of what this one ships, beside an empty cache of pre-commit."""
    folder = tmp_path_factory.mktemp("hooks") / "pdtopology"
    folder.mkdir()
    for name in PACKAGE:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    commit_all(folder)
    return folder


def run_hook(hooks: Path, folder: Path, files: dict[str, str]) -> tuple[int, str]:
    """The exit status and the output of pre-commit over a repository with these files."""
    config = {"repos": [{"repo": str(hooks), "rev": git(hooks, "rev-parse", "HEAD"), "hooks": [{"id": "pdtopology"}]}]}
    for name, text in {".pre-commit-config.yaml": yaml.safe_dump(config), **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    commit_all(folder)
    # The hook must find the package that it installed.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color=never"],
        cwd=folder,
        env={**environment, "PRE_COMMIT_HOME": str(hooks.parent / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    return run.returncode, run.stdout + run.stderr


def test_a_good_file_passes(hooks: Path, tmp_path: Path) -> None:
    status, output = run_hook(hooks, tmp_path, {"pd.yaml": GOOD})
    assert (status, re.search(r"^pdtopology\.+Passed$", output, re.MULTILINE) is not None) == (0, True), output


def test_a_bad_file_fails_with_what_is_wrong(hooks: Path, tmp_path: Path) -> None:
    status, output = run_hook(hooks, tmp_path, {"deploy/pd.yaml": BAD})
    assert status == 1, output
    assert "error[tp-not-divisible]" in output
    assert "deploy/pd.yaml:3:32" in output


def test_a_repository_without_topologies_is_not_checked(hooks: Path, tmp_path: Path) -> None:
    status, output = run_hook(hooks, tmp_path, {"values.yaml": BAD, "README.md": ""})
    assert status == 0, output
    assert "(no files to check)Skipped" in output


NAMES = [
    *("pd.yaml", "pd.yml", "deploy/pd.yaml", "a.pdtopology.yaml", "a.pdtopology.yml", "deploy/b.pdtopology.json"),
    *("deploy/c.d.pdtopology.toml", "a b.pdtopology.yaml"),
]
OTHER_NAMES = [
    *("values.yaml", "xpd.yaml", "pd.yaml.orig", "pd.json", "pdtopology.yaml", "apdtopology.yaml", "a.pdtopology.py"),
    *("pdtopology.schema.json", "pd.yaml/x", "a.pdtopology.yaml/values.yaml"),
]


@pytest.mark.parametrize(("name", "is_checked"), [*((n, True) for n in NAMES), *((n, False) for n in OTHER_NAMES)])
def test_a_topology_is_known_by_its_name(name: str, *, is_checked: bool) -> None:
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert (re.search(hook["files"], name) is not None) is is_checked
