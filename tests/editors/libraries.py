"""The engines that are Python libraries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import jsonschema
import jsonschema_rs

from .engine import Document, Engine, Finding


class Jsonschema(Engine):
    """The reference validator of Python."""

    def __init__(self, schema: Path) -> None:
        content = json.loads(schema.read_text(encoding="utf-8"))
        self._validator = jsonschema.validators.validator_for(content)(content)

    def diagnose_all(self, documents: Sequence[Document]) -> list[list[Finding]]:
        return [
            [Finding(_dotted(error.absolute_path), error.message) for error in self._validator.iter_errors(document)]
            for document in documents
        ]


class JsonschemaRs(Engine):
    """The validator in Rust."""

    def __init__(self, schema: Path) -> None:
        self._validator = jsonschema_rs.validator_for(json.loads(schema.read_text(encoding="utf-8")))

    def diagnose_all(self, documents: Sequence[Document]) -> list[list[Finding]]:
        return [
            [Finding(_dotted(error.instance_path), error.message) for error in self._validator.iter_errors(document)]
            for document in documents
        ]


def _dotted(path: Iterable[str | int]) -> str:
    return ".".join(map(str, path))
