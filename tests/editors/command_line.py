"""The engines that are commands: one call reads many files."""

from __future__ import annotations

import json
import re
import subprocess
import sysconfig
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, TypeAlias

from .engine import Document, Engine, Finding
from .writers import as_json, as_toml

Finished: TypeAlias = subprocess.CompletedProcess[str]

_TOMBI_STYLE = ("key-empty", "dotted-keys-out-of-order", "tables-out-of-order")
"""Codes of tombi's warnings about the writing of TOML, whatever the schema."""


class CommandLine(Engine):
    """A command of this environment, run in a directory of its own."""

    command: ClassVar[str]
    suffix: ClassVar[str]
    write: ClassVar[Callable[[Document], str]]

    def __init__(self, schema: Path) -> None:
        self._schema = schema.resolve()
        self._temporary = TemporaryDirectory(prefix=self.command)
        self._directory = Path(self._temporary.name).resolve()

    @abstractmethod
    def arguments(self) -> list[str]:
        """What is put between the command and the names of the files."""

    @abstractmethod
    def findings(self, finished: Finished) -> Iterator[tuple[str, Finding]]:
        """Each finding of a run, with the name of its file."""

    def diagnose_all(self, documents: Sequence[Document]) -> list[list[Finding]]:
        found: dict[str, list[Finding]] = {f"{index}{self.suffix}": [] for index in range(len(documents))}
        for name, document in zip(found, documents, strict=True):
            (self._directory / name).write_text(type(self).write(document), encoding="utf-8")
        executable = Path(sysconfig.get_path("scripts")) / self.command
        finished = subprocess.run(
            [executable, *self.arguments(), *found],
            cwd=self._directory,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        for name, finding in self.findings(finished):
            found[name].append(finding)
        if finished.returncode and not any(found.values()):
            raise RuntimeError(f"{self.command} failed: {finished.stdout}{finished.stderr}")
        return list(found.values())

    def __exit__(self, *_: object) -> None:
        self._temporary.cleanup()

    def _marked(self, name: str, start: tuple[int, int], end: tuple[int, int]) -> str:
        """The part of a file between two places, each a line and a column counted from 1."""
        text = (self._directory / name).read_text(encoding="utf-8")

        def offset(line: int, column: int) -> int:
            before = text.split("\n")[: line - 1]
            return len("\n".join([*before, ""])) + column - 1

        return text[offset(*start) : offset(*end)]


class CheckJsonschema(CommandLine):
    """The command of pre-commit hooks and pipelines."""

    command = "check-jsonschema"
    suffix = ".json"
    write = as_json

    def arguments(self) -> list[str]:
        return ["--schemafile", str(self._schema), "--output-format", "json"]

    def findings(self, finished: Finished) -> Iterator[tuple[str, Finding]]:
        for error in json.loads(finished.stdout)["errors"]:
            path = error["path"].removeprefix("$").removeprefix(".")
            yield error["filename"], Finding(path, error["message"])


class Tombi(CommandLine):
    """The TOML language server, by its command that lints."""

    command = "tombi"
    suffix = ".toml"
    write = as_toml

    def __init__(self, schema: Path) -> None:
        super().__init__(schema)
        settings = {"schemas": [{"path": str(self._schema), "include": ["*.toml"]}]}
        (self._directory / "tombi.toml").write_text(as_toml(settings), encoding="utf-8")

    def arguments(self) -> list[str]:
        return ["lint", "--offline", "--quiet", "--diagnostics-format=json", "--diagnostics-file=/dev/stdout"]

    def findings(self, finished: Finished) -> Iterator[tuple[str, Finding]]:
        for diagnostic in json.loads(finished.stdout):
            if diagnostic["code"] not in _TOMBI_STYLE:
                name, marked = diagnostic["path"], diagnostic["range"]
                start, end = ((place["line"], place["column"]) for place in (marked["start"], marked["end"]))
                yield name, Finding(self._marked(name, start, end), diagnostic["message"])


class Taplo(CommandLine):
    """The older TOML language server, by its command that lints."""

    command = "taplo"
    suffix = ".toml"
    write = as_toml

    def arguments(self) -> list[str]:
        return ["lint", "--no-auto-config", "--colors=never", f"--schema={self._schema.as_uri()}"]

    def findings(self, finished: Finished) -> Iterator[tuple[str, Finding]]:
        for report in _TAPLO_REPORT.finditer(finished.stderr):
            name, start = Path(report["path"]).name, (int(report["line"]), int(report["column"]))
            # A mark over several lines runs down a margin that is two characters wide.
            margin = len(report["gutter"]) + (4 if report["corner"] else 2)
            end = (int(report["end_line"]), len(report["mark"]) - margin + 1)
            yield name, Finding(self._marked(name, start, end), report["message"])


_TAPLO_REPORT = re.compile(
    r"""
    ^error:\ (?P<message>.+)\n
    \ +┌─\ (?P<path>.+):(?P<line>\d+):(?P<column>\d+)\n
    (?:[ \d]+[│·].*\n)*
    \ *(?P<end_line>\d+)\ │.*\n
    (?P<mark>(?P<gutter>\ +)│\ (?P<corner>╰)?[ ─]*\^+)
    """,
    re.MULTILINE | re.VERBOSE,
)
"""A report of taplo: the message, the place, the lines it is about, and carets under the last of them."""
