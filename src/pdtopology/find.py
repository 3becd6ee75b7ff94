"""The topology files of a folder."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from pdtopology.formats.place import Fault
from pdtopology.load import SourceFault

SUFFIXES = (".yaml", ".yml", ".json", ".toml")
NAMES = tuple(f"pd{suffix}" for suffix in SUFFIXES)
NAME_ENDS = tuple(f".pdtopology{suffix}" for suffix in SUFFIXES)

SKIPPED_FOLDERS = ("node_modules", "__pycache__")
"""Beside those whose names begin with a dot, such as `.git` and `.venv`."""

SCHEMA_LINE_BYTES = 4096
"""A line that names the schema stands in the first of these, if in any."""

# At the beginning of a line, so that a document inside another file, such as a ConfigMap, is none of its own.
_SCHEMA_LINE = rb"""(?msx)
    ^\#\s*yaml-language-server:\s*\$schema=\S*pdtopology
    | ^\#:schema\s+\S*pdtopology
    | ^["']?\$schema["']?\s*[:=]\s*["']?\S*pdtopology
    | \A\s*\{.*?"\$schema"\s*:\s*"[^"\n]*pdtopology
"""


class NoTopologyError(Exception):
    """A folder without any topology file."""

    def __init__(self, folder: str) -> None:
        names = f"pd{SUFFIXES[0]} or *{NAME_ENDS[0]}"
        super().__init__(
            f"no topology file in {folder}: none is named {names} (or .json, .toml), or names the schema in its first "
            "lines"
        )


def with_folders_opened(sources: Sequence[str], notice: Callable[[str], None]) -> tuple[list[str], list[SourceFault]]:
    """The sources, each once, with its topology files in place of a folder; and the folders that cannot be read.

    `notice` is told now and then how far it is. Raises `NoTopologyError`.
    """
    files: list[str] = []
    unreadable: list[SourceFault] = []
    for source in sources:
        if not os.path.isdir(source):  # noqa: PTH112 - raises for no name
            files.append(source)
            continue
        found, faults = topologies_in(source, notice)
        if not found and not faults:
            raise NoTopologyError(source)
        files += found
        unreadable += faults
    return list(dict.fromkeys(files)), unreadable


def topologies_in(folder: str, notice: Callable[[str], None]) -> tuple[list[str], list[SourceFault]]:
    """The topology files in a folder and those below it, sorted; and the folders that cannot be read.

    A file is one by its name, or by a line that names the schema, as editors read it. A link to a folder is not
    followed, and a link to a file only where that is inside the folder too, as in a mounted ConfigMap; a file with
    several names is found once.
    """
    files: list[Path] = []
    links: list[Path] = []
    faults: list[SourceFault] = []
    waiting = [Path(folder)]
    while waiting:
        below = waiting.pop()
        try:
            with os.scandir(below) as entries:
                for entry in entries:
                    path = below / entry.name
                    if entry.is_symlink():
                        links.append(path)
                    elif entry.is_dir():
                        if not entry.name.startswith(".") and entry.name not in SKIPPED_FOLDERS:
                            waiting.append(path)
                    elif entry.is_file() and _is_topology(path):  # opening a pipe would wait for its writer
                        files.append(path)
        except OSError as error:
            faults.append(SourceFault(Fault("unreadable-file", f"cannot be read: {error.strerror}"), str(below)))
        notice(f"{len(files):,} topology files found")
    files += _linked(folder, sorted(links), files)
    return list(map(str, sorted(files))), sorted(faults, key=lambda fault: fault.name)


def _is_topology(path: Path) -> bool:
    if path.name in NAMES or path.name.endswith(NAME_ENDS):
        return True
    if not path.name.endswith(SUFFIXES):
        return False
    try:
        with open(path, "rb") as file:
            start = file.read(SCHEMA_LINE_BYTES)
    except OSError:
        return True  # it may be one, and whoever checks it tells why it cannot be read
    return re.search(_SCHEMA_LINE, start.removeprefix(BOM_UTF8)) is not None


def _linked(folder: str, links: Iterable[Path], files: Iterable[Path]) -> list[Path]:
    """The links to topology files inside the folder that have no other name there."""
    root = os.path.realpath(folder)
    known = set(map(os.path.realpath, files))
    found = []
    for link in links:
        target = os.path.realpath(link)
        is_inside = os.path.isfile(target) and Path(target).is_relative_to(root)  # noqa: PTH113 - raises for no target
        if is_inside and target not in known and _is_topology(link):
            known.add(target)
            found.append(link)
    return found
