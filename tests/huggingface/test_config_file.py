"""Reading a config.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pdtopology.huggingface import ConfigError, find_config, read_config
from pdtopology.huggingface.config_file import MAX_CONFIG_BYTES
from tests.huggingface.configs import QWEN3_32B


def test_a_config_is_found_by_its_file_or_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(QWEN3_32B), encoding="utf-8")
    assert find_config(file) == find_config(str(tmp_path)) == file
    assert read_config(file) == QWEN3_32B


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        pytest.param(b"{\n  [", "syntax-error", ":2:3 is not JSON: expecting property name", id="cut off"),
        pytest.param(b"", "syntax-error", ":1:1 is not JSON: expecting value", id="empty"),
        pytest.param(b'{\n"a": "\xff"}', "syntax-error", ":2 is not JSON: not UTF-8", id="not text"),
        pytest.param(b"[]", "syntax-error", ":1 is not a JSON object", id="list"),
        pytest.param(b'{"a": ' + b"1" * 5000 + b"}", "input-too-large", " holds a number that is too long", id="long"),
        pytest.param(b"[" * 100_000, "input-too-large", " is nested too deeply", id="deep"),
        pytest.param(b"{}".ljust(MAX_CONFIG_BYTES + 1), "input-too-large", " is larger than 10 MiB", id="large"),
    ],
)
def test_a_file_that_is_no_config_is_refused_with_its_name(
    tmp_path: Path, content: bytes, code: str, message: str
) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_config(file)
    assert caught.value.code == code
    assert str(caught.value).startswith(f"{file}{message}")


def test_a_config_of_the_largest_size_is_read(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(b"{}".ljust(MAX_CONFIG_BYTES))
    assert read_config(file) == {}


@pytest.mark.parametrize("name", ["missing.json", ".", "a\0b"])
def test_a_missing_config_is_unreadable(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be read: ") as caught:
        read_config(find_config(tmp_path / name))
    assert caught.value.code == "unreadable-file"


def test_what_python_writes_beyond_json_is_read_and_a_later_key_wins(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text('{"time_step_limit": [0.0, Infinity], "a": 1, "a": 2}')
    assert read_config(file) == {"time_step_limit": [0.0, float("inf")], "a": 2}
