"""A document as YAML, JSON or TOML."""

from __future__ import annotations

import json
from typing import Any

import tomli_w
import yaml

from .engine import Document


def as_json(document: Document) -> str:
    """The document as a person would lay it out."""
    return json.dumps(document, indent=2)


def as_yaml(document: Document) -> str:
    """The document in block style."""
    return yaml.dump(document, Dumper=_YamlDumper, sort_keys=False, allow_unicode=True)


def as_toml(document: Document) -> str:
    """The document as tables. Raises `TypeError` for a null, which TOML cannot state."""
    return tomli_w.dumps(document)


class _YamlDumper(yaml.SafeDumper):
    """Quotes every string that is no plain word.

    PyYAML writes YAML 1.1, where `1e3` and `0o7` are strings; editors read YAML 1.2, where they are numbers.
    """

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _string(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None if text.isidentifier() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_YamlDumper.add_representer(str, _string)
