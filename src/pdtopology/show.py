"""A validated topology as a document again, with every default filled in, and where its model's numbers come from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from pdtopology.hf_config import NamedConfig
from pdtopology.ports import PORT_VARIABLES
from pdtopology.rule import ROLES
from pdtopology.topology import PDTopology

_WORD = re.compile(r"[A-Za-z_][\w .,/:@+=-]*", re.ASCII)
_NO_LIMIT = 2**31 - 1


def filled(topology: PDTopology) -> dict[str, Any]:
    """The document that states all that a topology holds, defaults and derived values too.

    Null stands for what is unset. Validating it gives an equal topology.
    """
    document: dict[str, Any] = _plain(topology.model_dump())
    for role in ROLES:
        part = document["connector"][role]
        stated = getattr(topology.connector, role).model_fields_set
        for field, variable in PORT_VARIABLES.items():
            if field not in stated and variable in document[role]["env"]:
                part.pop(field, None)
    return document


def as_json(topology: PDTopology, config: NamedConfig | None = None) -> str:
    """The document as JSON; with a config, one member more: `derived`, the values that it tells.

    Raises `ValueError` for numbers that JSON has not.
    """
    document = filled(topology)
    if config:
        values = [
            {"path": f"model.{key}", "value": derived.value, "key": derived.key, "rule": derived.rule}
            for key, derived in config.told
        ]
        document["derived"] = {"file": config.file, "values": values}
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def as_yaml(topology: PDTopology, config: NamedConfig | None = None) -> str:
    """The document as YAML; with a config, comments say from which of its keys, and by which rule, a value is.

    Raises `ValueError` for text that YAML has not: halves of surrogate pairs.
    """
    text: str = yaml.dump(filled(topology), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_NO_LIMIT)
    return "\n".join(_commented(text.split("\n"), config)) if config else text


def _commented(lines: list[str], config: NamedConfig) -> Iterator[str]:
    comments: dict[str, str] = {}
    for key, derived in config.told:
        source = f"{derived.key}: {derived.rule}" if derived.key else derived.rule
        comments[key] = f"{comments[key]}; {derived.value} too, {source}" if key in comments else source
    section = ""
    for line in lines:
        key = line.partition(":")[0]
        section = section if key.startswith(" ") else key
        comment = comments.get(key.strip()) if section == "model" else None
        yield f"{line:<34} # {comment}" if comment else line


def _plain(value: Any) -> Any:
    """The value as every format has it: a date of TOML is text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | None) else str(value)


class _Dumper(yaml.CSafeDumper):
    """Text in quotes unless it is a word to every reader, of YAML 1.1 and 1.2; nothing said once for two places."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    is_word = _WORD.fullmatch(text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if is_word else '"')


_Dumper.add_representer(str, _text)
