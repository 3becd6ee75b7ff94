"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, content: str) -> None:
    """Write the content as UTF-8, with the line ends that it has, beside the file and put it in place in one step.

    Whoever reads the path, also after a crash, finds the old file or the new one. A file that exists keeps its
    permissions, and its owner where the system allows that; a symbolic link stays, and what it points to is written.
    Raises `OSError` where that cannot be done; the old file is then as it was, with nothing beside it.
    """
    encoded = content.encode()
    target = Path(os.path.realpath(path))
    written = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with open(written, "xb") as file:
            with suppress(FileNotFoundError):
                _take_access(written, target)
            file.write(encoded)
            file.flush()
            os.fsync(file.fileno())
        written.replace(target)
    finally:
        written.unlink(missing_ok=True)


def _take_access(path: Path, model: Path) -> None:
    if hasattr(os, "chown"):
        status = model.stat()
        with suppress(OSError):  # only root can give a file away, and not on every file system
            os.chown(path, status.st_uid, status.st_gid)
    shutil.copymode(model, path)
