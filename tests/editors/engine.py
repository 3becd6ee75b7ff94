"""What an engine is to the tests: it reads a schema once, and says what is wrong with documents."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

Document: TypeAlias = Mapping[str, Any]


class Finding(NamedTuple):
    """One thing an engine says against a document."""

    path_or_text: str
    """The text underlined, by an engine that underlines; else the dotted path, empty for the whole document."""
    message: str


class Engine(AbstractContextManager["Engine"]):
    """A program or library with the schema of one dialect; a context that stops it at its end."""

    @abstractmethod
    def __init__(self, schema: Path) -> None:
        """Start with the schema in this file."""

    @abstractmethod
    def diagnose_all(self, documents: Sequence[Document]) -> list[list[Finding]]:
        """What it says against each document. One call for many is much faster than many calls."""

    def diagnose(self, document: Document) -> list[Finding]:
        """What it says against the document."""
        return self.diagnose_all([document])[0]

    def accepts(self, document: Document) -> bool:
        """Whether it says nothing against the document."""
        return not self.diagnose(document)

    def __exit__(self, *_: object) -> None:
        """Stop what was started; most engines start nothing that stays."""
