"""The engines that the tests drive: what editors, pipelines and programs check a document with.

`VSCodeJson(schema_file).diagnose_all(documents)` gives the findings of each document. Every engine has the same
methods, and those of `EDITORS` complete and hover too.
"""

from __future__ import annotations

from .command_line import CheckJsonschema, Taplo, Tombi
from .engine import Document, Engine, Finding
from .libraries import Jsonschema, JsonschemaRs
from .node import Ajv, Completion, Editor, VSCodeJson, YamlLanguageServer

__all__ = [
    "EDITORS",
    "ENGINES",
    "TOML_ENGINES",
    "Ajv",
    "CheckJsonschema",
    "Completion",
    "Document",
    "Editor",
    "Engine",
    "Finding",
    "Jsonschema",
    "JsonschemaRs",
    "Taplo",
    "Tombi",
    "VSCodeJson",
    "YamlLanguageServer",
]

EDITORS: tuple[type[Editor], ...] = (VSCodeJson, YamlLanguageServer)

TOML_ENGINES: tuple[type[Engine], ...] = (Tombi, Taplo)
"""Those that no document with a null can be shown to."""

ENGINES: tuple[type[Engine], ...] = (*EDITORS, Ajv, *TOML_ENGINES, CheckJsonschema, Jsonschema, JsonschemaRs)
