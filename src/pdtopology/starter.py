"""The file that `pdtopology init` writes: a small valid topology with comments, and its schema beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pdtopology.check import check
from pdtopology.files import write_whole
from pdtopology.keys import OFFERED_SIZES
from pdtopology.releases import NEWEST, release_name
from pdtopology.rule import Severity
from pdtopology.schema import FILE_NAMES, dump, json_schema

SCHEMA_NAME = FILE_NAMES["2020-12"]

LARGEST_SIZE = 8
"""The ranks of one node."""

EXAMPLE_MODEL: Mapping[str, Any] = {
    "name": "Qwen/Qwen3-32B",
    "num_attention_heads": 64,
    "total_num_kv_heads": 8,
    "is_mla": False,
}

_COMMENTS = {
    "engine.version": "the release both roles run, in quotes",
    "model.name": "a label",
    "model.num_attention_heads": "each TP size must divide it",
    "model.total_num_kv_heads": "each TP size must divide it or be a multiple of it",
    "model.other_total_num_kv_heads": "of the layers that have another number",
    "model.is_mla": "multi-head latent attention, as in DeepSeek-V3",
    "connector.mode": "read or write",
    "prefill.tensor_parallel_size": "of one instance",
    "decode.tensor_parallel_size": "a multiple or a divisor of prefill's",
}


class Starter(NamedTuple):
    """A file to write and the schema that its first line names."""

    path: Path
    text: str

    @property
    def schema_path(self) -> Path:
        """The schema's place, in the same folder."""
        return self.path.parent / SCHEMA_NAME

    def write(self, *, force: bool = False) -> None:
        """Write both files, each at once or not at all.

        Raises `FileExistsError` before anything is written where either exists and is another, unless forced, and
        `OSError` where it cannot be written.
        """
        contents = {self.path: self.text, self.schema_path: dump(json_schema())}
        for path, text in contents.items():
            if not force and path.exists() and path.read_bytes() != text.encode():
                raise FileExistsError(f"{path} exists; --force overwrites it")
        for path, text in contents.items():
            write_whole(path, text)


def starter_for(path: Path, model: Mapping[str, Any] = EXAMPLE_MODEL) -> Starter:
    """A topology of a model, in the format that the path's suffix says: YAML, JSON or TOML.

    Raises `ValueError` for a model that no topology can have, and for the schema's own name.
    """
    if path.name == SCHEMA_NAME:
        raise ValueError(f"{SCHEMA_NAME} is the name of the schema")
    size = _fitting_size(model)
    sections = {
        "engine": {"name": "vllm", "version": release_name(NEWEST)},
        "model": model,
        "connector": {"kind": "moriio", "mode": "read"},
        "prefill": {"tensor_parallel_size": size},
        "decode": {"tensor_parallel_size": size},
    }
    write = {".json": _json, ".toml": _toml}.get(path.suffix.lower(), _yaml)
    return Starter(path, write(path.name, sections))


def model_from_config(path: str) -> dict[str, Any]:
    """The model section that a Hugging Face config.json, or a folder that holds one, tells. Raises `ValueError`."""
    from pdtopology.hf_config import values_in

    return values_in(path)


def _fitting_size(model: Mapping[str, Any]) -> int:
    """The largest common TP size, within one node, that the model can run with."""
    for size in sorted(OFFERED_SIZES, reverse=True):
        role = {"tensor_parallel_size": size}
        findings = check({"model": model, "prefill": role, "decode": role})
        if size <= LARGEST_SIZE and all(finding.severity is not Severity.ERROR for finding in findings):
            return size
    raise ValueError(f"no topology has the model {dict(model)}")


def _yaml(name: str, sections: Mapping[str, Mapping[str, Any]]) -> str:
    lines = [f"# yaml-language-server: $schema={SCHEMA_NAME}", _purpose(name)]
    for section, values in sections.items():
        lines += [f"{section}:", *_members(section, values, "  {}: {}", _yaml_value)]
    return "\n".join(lines) + "\n"


def _toml(name: str, sections: Mapping[str, Mapping[str, Any]]) -> str:
    lines = [f"#:schema ./{SCHEMA_NAME}", _purpose(name)]
    for section, values in sections.items():
        lines += ["", f"[{section}]", *_members(section, values, "{} = {}", json.dumps)]
    return "\n".join(lines) + "\n"


def _json(_: str, sections: Mapping[str, Mapping[str, Any]]) -> str:
    return json.dumps({"$schema": f"./{SCHEMA_NAME}", **sections}, indent=2) + "\n"


def _purpose(name: str) -> str:
    return f"# `pdtopology check {name}` tells whether the two roles can work together."


def _members(section: str, values: Mapping[str, Any], form: str, value_text: Any) -> Iterable[str]:
    for key, value in values.items():
        line = form.format(key, value_text(value))
        comment = _COMMENTS.get(f"{section}.{key}")
        yield f"{line:<34}# {comment}" if comment else line


def _yaml_value(value: Any) -> str:
    is_plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z][\w./-]*", value)
    return str(value) if is_plain else json.dumps(value)
