"""The engines that run in node: each one process that answers a line of JSON with a line of JSON."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from .engine import Document, Engine, Finding
from .writers import as_json, as_yaml

HERE = Path(__file__).parent

CURSOR = "|"


class Completion(NamedTuple):
    """One of the things an editor offers at the cursor."""

    label: str
    documentation: str
    """What is told of it: beside the label, then below it."""
    insert_text: str


class NodeEngine(Engine):
    """A driver beside this file, running until the engine is closed."""

    driver: ClassVar[str]
    write: ClassVar[Callable[[Document], str]]

    def __init__(self, schema: Path) -> None:
        command = ["node", str(HERE / self.driver), str(schema)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def diagnose_all(self, documents: Sequence[Document]) -> list[list[Finding]]:
        texts = [type(self).write(document) for document in documents]
        return [[Finding(**finding) for finding in found] for found in self._ask("diagnose", texts=texts)]

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def _ask(self, operation: str, **request: Any) -> Any:
        """The driver's answer; the driver itself ends when it has none for a minute."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"op": operation, **request}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.driver} ended: its standard error says why")
        return json.loads(answer)


class Editor(NodeEngine):
    """A driver of a language service, which also helps where the cursor is: at the one `|` of a text."""

    def complete(self, text: str) -> list[Completion]:
        """What it offers at the cursor, in its own order."""
        return [Completion(**item) for item in self._ask_at_cursor("complete", text)]

    def hover(self, text: str) -> str:
        """What it shows, as Markdown, of the thing at the cursor; empty where it shows nothing."""
        shown: str = self._ask_at_cursor("hover", text)
        return shown

    def _ask_at_cursor(self, operation: str, text: str) -> Any:
        # Split here, so that the two languages need not agree on how characters are counted.
        before, after = text.split(CURSOR)
        return self._ask(operation, before=before, after=after)


class VSCodeJson(Editor):
    """The JSON service of VS Code and its kin."""

    driver = "vscode_json.mjs"
    write = as_json


class YamlLanguageServer(Editor):
    """The YAML server of VS Code, Neovim, Helix, Zed and others."""

    driver = "yaml_language_server.mjs"
    write = as_yaml


class Ajv(NodeEngine):
    """The validator of most JavaScript tools."""

    driver = "ajv.mjs"
    write = as_json
