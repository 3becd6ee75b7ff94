"""YAML, JSON and TOML: each reads text into documents, and finds where each value of one stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pdtopology.formats import json_text, toml_text, yaml_text
from pdtopology.formats.place import Places


@dataclass(frozen=True)
class Format:
    """One file format."""

    name: str
    read: Callable[[str], list[Any]]
    """From text to its documents; raises `Fault`."""
    locate: Callable[[str, int], Places]
    """From text that reads, and the number of a document in it, to the places of its values."""


YAML = Format("YAML", yaml_text.read, yaml_text.locate)
JSON = Format("JSON", json_text.read, json_text.locate)
TOML = Format("TOML", toml_text.read, toml_text.locate)


def format_of(file_name: str) -> Format:
    """The format that a file's name says; YAML, which most JSON is too, where it says none."""
    suffix = file_name.rpartition(".")[2].lower()
    return {"json": JSON, "toml": TOML}.get(suffix, YAML)
