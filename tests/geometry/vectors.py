"""The verdicts of vLLM's own functions (tests/vectors), and where ours differ."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pdtopology.geometry import GeometryError

VECTORS = Path(__file__).parent.parent / "vectors"


def rows(name: str) -> Iterator[tuple[list[Any], Any]]:
    """Each row's inputs and result; the exception's name stands for a raised one."""
    with gzip.open(VECTORS / f"{name}.jsonl.gz", "rt") as lines:
        next(lines)
        for line in lines:
            row = json.loads(line)
            yield row["i"], {"raises": row["e"]} if "e" in row else row["r"]


def answer(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function returns, in JSON's types, or that it raised."""
    try:
        return json.loads(json.dumps(function(*arguments)))
    except GeometryError:
        return {"raises": "GeometryError"}


def differences(name: str, function: Callable[..., Any]) -> list[Any]:
    """The rows on which the function and vLLM differ; an exception equals any exception."""
    different = []
    for arguments, expected in rows(name):
        got = answer(function, *arguments)
        raised = isinstance(got, dict), isinstance(expected, dict)
        if raised[0] != raised[1] or (not raised[0] and got != expected):
            different.append((arguments, expected, got))
    return different
