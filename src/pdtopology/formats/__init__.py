"""YAML, JSON and TOML: each reads text into documents, and finds where each value of one stands."""

from __future__ import annotations

from typing import Any, Protocol

from pdtopology.formats.place import Places


class Format(Protocol):
    """What the module of a file format offers."""

    def read(self, text: str) -> list[Any]:
        """From text to its documents; raises `Fault`."""

    def locate(self, text: str) -> list[Places]:
        """From text that reads to the places of the values of each document."""


def format_of(file_name: str) -> Format:
    """The format that a file's name says; YAML, which most JSON is too, where it says none."""
    match file_name.rpartition(".")[2].lower():
        case "json":
            from pdtopology.formats import json_text

            return json_text
        case "toml":
            from pdtopology.formats import toml_text

            return toml_text
        case _:
            from pdtopology.formats import yaml_text

            return yaml_text
