"""Reading a config.json: bounded, and without a word of what it holds in any message."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pdtopology.huggingface.part import ConfigError

MAX_CONFIG_BYTES = 10 * 1024 * 1024


def find_config(path: str | os.PathLike[str]) -> Path:
    """The config.json that a path names: the file itself, or the one in a model's folder."""
    is_folder = os.path.isdir(path)  # noqa: PTH112 - raises for no path
    return Path(path, "config.json") if is_folder else Path(path)


def read_config(file: Path) -> dict[str, Any]:
    """What a config.json holds, as transformers reads JSON: a later key wins.

    Raises `ConfigError` for one that cannot be read, is too large, or is no JSON object. Each message begins with the
    file's name.
    """
    try:
        with file.open("rb") as stream:
            content = stream.read(MAX_CONFIG_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError("unreadable-file", f"{file} cannot be read: {reason}") from None
    if len(content) > MAX_CONFIG_BYTES:
        raise ConfigError("input-too-large", f"{file} is larger than {MAX_CONFIG_BYTES // 1024**2} MiB")
    return _json_object(file, content)


def _json_object(file: Path, content: bytes) -> dict[str, Any]:
    try:
        config = json.loads(content)
    except json.JSONDecodeError as error:
        message = error.msg[:1].lower() + error.msg[1:]
        raise ConfigError("syntax-error", f"{file}:{error.lineno}:{error.colno} is not JSON: {message}") from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError("syntax-error", f"{file}:{line} is not JSON: not UTF-8") from None
    except RecursionError:
        raise ConfigError("input-too-large", f"{file} is nested too deeply") from None
    except ValueError:  # Python's own limit on the digits of a number
        raise ConfigError("input-too-large", f"{file} holds a number that is too long") from None
    if not isinstance(config, dict):
        raise ConfigError("syntax-error", f"{file}:1 is not a JSON object")
    return config
