"""`.env` files."""

from __future__ import annotations

import io
import os

from pdtopology.environment import PREFIX, Variable
from pdtopology.formats.place import Fault
from pdtopology.load import SourceFault, read_content


def read_env_file(path: str | os.PathLike[str]) -> list[Variable]:
    """The variables of a `.env` file that concern a topology, as python-dotenv reads it: `${NAME}` stands for another.

    Others are left alone, whatever they look like. Raises `SourceFault` for a file that cannot be read, and for a line
    with the prefix that sets nothing.
    """
    from dotenv import dotenv_values
    from dotenv.parser import parse_stream

    name = os.fspath(path)
    content = read_content(path)
    lines: dict[str, int] = {}
    for binding in parse_stream(io.StringIO(content)):
        text = binding.original.string
        # A statement begins with the empty lines before it.
        line = binding.original.line + text[: len(text) - len(text.lstrip())].count("\n")
        if binding.error and PREFIX in text.upper():
            raise SourceFault(Fault("syntax-error", f"line {line} is not NAME=value"), name)
        if binding.key and binding.key.upper().startswith(PREFIX):
            lines[binding.key] = line
    values = dotenv_values(stream=io.StringIO(content))
    return [Variable(key, values[key] or "", f"{name}:{line}") for key, line in lines.items() if values[key]]
