"""Finding the topology files of a folder."""

from __future__ import annotations

import builtins
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from pdtopology.find import NoTopologyError, topologies_in, with_folders_opened
from pdtopology.schema import FILE_NAMES, dump, json_schema
from pdtopology.starter import starter_for

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in an empty folder."""
    monkeypatch.chdir(tmp_path)


def write(*names: str, text: str = "") -> None:
    """Write files, with the folders they are in."""
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def found(folder: str = ".") -> list[str]:
    """The topology files in a folder that can be read."""
    files, faults = topologies_in(folder, lambda _: None)
    assert faults == []
    return files


# By name


@pytest.mark.parametrize(
    "name",
    [
        f"{stem}.{suffix}"
        for stem in ("pd", "a.pdtopology", "b c.d.pdtopology")
        for suffix in ("yaml", "yml", "json", "toml")
    ],
)
def test_a_file_is_found_by_its_name(name: str) -> None:
    write(name)
    assert found() == [name]


@pytest.mark.parametrize(
    "name",
    [
        *("values.yaml", "xpd.yaml", "pd.yaml.orig", "pd.txt", "pd", "pdtopology.yaml", "apdtopology.yaml"),
        *("a.pdtopology.py", "pdtopology.schema.json"),
    ],
)
def test_a_file_of_another_name_is_not_found(name: str) -> None:
    write(name)
    assert found() == []


def test_the_pre_commit_hook_checks_no_file_that_is_not_found() -> None:
    from tests.test_pre_commit import NAMES

    write(*NAMES)
    assert found() == sorted(NAMES, key=lambda name: name.split("/"))


# By the schema line


SCHEMA_LINES = [
    ("a.yaml", "# yaml-language-server: $schema=pdtopology.schema.json\n"),
    ("a.yml", "#yaml-language-server: $schema=./pdtopology.draft-07.schema.json\n"),
    ("a.yaml", "\ufeff# yaml-language-server: $schema=pdtopology.schema.json\n"),
    (
        "a.yaml",
        "# Copyright\n\n#  yaml-language-server:  $schema=https://example.org/pdtopology/v1/schema.json\r\nmodel:\n",
    ),
    ("a.yaml", "model: {}\n$schema: pdtopology.schema.json\n"),
    ("a.yaml", "\"$schema\": 'pdtopology.schema.json'\n"),
    ("a.yaml", '{model: {}, "$schema": "pdtopology.schema.json"}\n'),
    ("a.toml", "#:schema ./pdtopology.schema.json\n"),
    ("a.toml", "# Copyright\r\n#:schema https://example.org/pdtopology.schema.json\r\n"),
    ("a.toml", '"$schema" = "pdtopology.schema.json"\n'),
    ("a.json", '{"$schema": "./pdtopology.schema.json"}'),
    ("a.json", '\ufeff\n{"model": {},\n  "$schema" :\n"https://example.org/pdtopology.schema.json"}'),
]


@pytest.mark.parametrize(("name", "text"), SCHEMA_LINES)
def test_a_file_is_found_by_the_schema_that_it_names(name: str, text: str) -> None:
    Path(name).write_text(text, newline="")
    assert found() == [name]


@pytest.mark.parametrize("suffix", ["yaml", "json", "toml"])
def test_what_init_writes_is_found_whatever_its_name(suffix: str) -> None:
    starter_for(Path(f"service.{suffix}")).write()
    assert found() == [f"service.{suffix}"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "# yaml-language-server: $schema=values.schema.json\n# pdtopology\n"),
        ("a.yaml", "data:\n  pd.yaml: |\n    # yaml-language-server: $schema=pdtopology.schema.json\n"),
        ("a.yaml", 'data:\n  pd.json: |\n    {"$schema": "pdtopology.schema.json"}\n'),
        ("a.json", '{"$id": "urn:pdtopology:a", "$schema": "https://json-schema.org/draft/2020-12/schema"}'),
        ("a.json", '{"files": {"pdtopology.schema.json": 1}}'),
        ("a.toml", "#:schema ./pyproject.schema.json\n[project]\ndependencies = ['pdtopology']\n"),
        ("a.py", "#:schema ./pdtopology.schema.json\n"),
        ("a.yaml", " " * 4096 + "\n# yaml-language-server: $schema=pdtopology.schema.json\n"),
    ],
)
def test_a_file_that_names_another_schema_is_not_found(name: str, text: str) -> None:
    write(name, text=text)
    assert found() == []


@pytest.mark.parametrize("dialect", FILE_NAMES)
def test_the_schema_is_not_found(dialect: Any) -> None:
    write(FILE_NAMES[dialect], "other.json", text=dump(json_schema(dialect)))
    assert found() == []


def test_bytes_that_are_no_text_are_not_found() -> None:
    Path("a.yaml").write_bytes(bytes(range(256)) * 32)
    assert found() == []


# In folders


def test_folders_are_walked_and_their_files_sorted_by_folder_and_name() -> None:
    names = ["a/b/pd.yaml", "a/pd.yaml", "a.pdtopology.yaml", "a-b/pd.yaml", "b/c/d/e/pd.toml", "pd.json"]
    write(*names)
    assert found() == ["a/b/pd.yaml", "a/pd.yaml", "a-b/pd.yaml", "a.pdtopology.yaml", "b/c/d/e/pd.toml", "pd.json"]


@pytest.mark.parametrize("folder", [".git", ".venv", ".github", "node_modules", "__pycache__", "a/.b/c"])
def test_a_folder_of_tools_is_skipped(folder: str) -> None:
    write(f"{folder}/pd.yaml")
    assert found() == []


@pytest.mark.parametrize("folder", [".github", "node_modules"])
def test_a_folder_that_is_named_is_not_skipped(folder: str) -> None:
    write(f"{folder}/pd.yaml")
    assert found(folder) == [f"{folder}/pd.yaml"]


@pytest.mark.parametrize(
    ("folder", "name"), [("a", "a/pd.yaml"), ("a/", "a/pd.yaml"), ("./a", "a/pd.yaml"), ("a/../a", "a/../a/pd.yaml")]
)
def test_a_file_is_named_as_the_folder_is(folder: str, name: str) -> None:
    write("a/pd.yaml")
    assert found(folder) == [name]


def test_folders_deeper_than_python_recurses_are_walked(tmp_path: Path) -> None:
    name = "d/" * (sys.getrecursionlimit() + 100)
    for _ in name[::2]:
        Path("d").mkdir()
        os.chdir("d")
    os.chdir(tmp_path)
    Path(name, "pd.yaml").touch()
    files = found()
    Path(name, "pd.yaml").unlink()
    os.removedirs(name)  # pytest would recurse
    assert files == [f"{name}pd.yaml"]


def test_a_file_whose_name_is_no_text_is_found() -> None:
    Path(os.fsdecode(b"\xff.pdtopology.yaml")).write_text("")
    assert found() == ["\udcff.pdtopology.yaml"]


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
@pytest.mark.parametrize("name", ["pd.yaml", "other.yaml"])
def test_a_pipe_is_not_waited_for(name: str) -> None:
    os.mkfifo(name)
    assert found() == []


# Through links


def test_a_link_to_a_folder_is_not_followed(tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "pd.yaml").touch()
    Path("out").symlink_to(elsewhere)
    Path("a").mkdir()
    Path("a/loop").symlink_to("..")
    write("pd.yaml")
    assert found() == ["pd.yaml"]


def test_a_link_that_is_named_is_followed(tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "pd.yaml").touch()
    (elsewhere / "pd.toml").symlink_to("pd.yaml")
    Path("out").symlink_to(elsewhere)
    assert found("out") == ["out/pd.yaml"]


def test_a_link_to_a_file_outside_is_not_followed(tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "pd.yaml").touch()
    Path("pd.yaml").symlink_to(elsewhere / "pd.yaml")
    assert found() == []


def test_a_file_with_a_link_to_it_is_found_once_by_its_own_name() -> None:
    write("z/pd.yaml")
    Path("pd.yaml").symlink_to("z/pd.yaml")
    assert found() == ["z/pd.yaml"]


def test_the_links_of_a_mounted_config_map_are_followed() -> None:
    write("..2025_01_31/pd.yaml", "..2025_01_31/other.yaml")
    Path("..data").symlink_to("..2025_01_31")
    for name in ("pd.yaml", "other.yaml", "again.pdtopology.yaml"):
        Path(name).symlink_to("..data/other.yaml" if name == "other.yaml" else "..data/pd.yaml")
    assert found() == ["again.pdtopology.yaml"]


@pytest.mark.parametrize("target", ["pd.yaml", "missing.yaml", "b.yaml"])
def test_a_link_that_leads_nowhere_is_not_followed(target: str) -> None:
    Path("b.yaml").symlink_to("pd.yaml")
    Path("pd.yaml").symlink_to(target)
    assert found() == []


# What cannot be read


def refuse(monkeypatch: pytest.MonkeyPatch, name: str, owner: Any, function: str) -> None:
    """Let a function of the operating system be refused at one name."""
    original = getattr(owner, function)

    def refusing(path: Any, *arguments: Any) -> Any:
        if os.fspath(path) == name:
            raise PermissionError(13, "Permission denied", name)
        return original(path, *arguments)

    monkeypatch.setattr(owner, function, refusing)


def test_a_folder_that_cannot_be_read_is_told_and_the_others_are_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    write("a/pd.yaml", "b/pd.yaml", "c/pd.yaml")
    refuse(monkeypatch, "b", os, "scandir")
    files, [fault] = topologies_in(".", lambda _: None)
    assert files == ["a/pd.yaml", "c/pd.yaml"]
    assert (fault.name, fault.fault.code, fault.fault.message) == (
        "b",
        "unreadable-file",
        "cannot be read: Permission denied",
    )


def test_a_file_that_cannot_be_read_may_be_a_topology(monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.yaml", "b.yaml")
    refuse(monkeypatch, "b.yaml", builtins, "open")
    assert found() == ["b.yaml"]


# Among other sources


def opened(*sources: str) -> list[str]:
    files, faults = with_folders_opened(sources, lambda _: None)
    assert faults == []
    return files


def test_files_and_standard_input_stay_as_they_are() -> None:
    assert opened("missing.yaml", "-", "{}", "\0", "x" * 5000) == ["missing.yaml", "-", "{}", "\0", "x" * 5000]


def test_a_folder_is_replaced_by_its_files_where_it_stands() -> None:
    write("a/pd.yaml", "a/pd.toml", "b.yaml")
    assert opened("b.yaml", "a", "-") == ["b.yaml", "a/pd.toml", "a/pd.yaml", "-"]


def test_a_file_that_is_named_and_found_is_checked_once() -> None:
    write("a/pd.yaml", "a/b/pd.yaml")
    assert opened("a/pd.yaml", "a", "a/b") == ["a/pd.yaml", "a/b/pd.yaml"]


def test_a_folder_without_topologies_is_refused() -> None:
    write("a/values.yaml", "b/pd.yaml")
    with pytest.raises(NoTopologyError) as caught:
        opened("b", "a")
    assert str(caught.value) == (
        "no topology file in a: none is named pd.yaml or *.pdtopology.yaml (or .json, .toml), "
        "or names the schema in its first lines"
    )


def test_a_folder_that_cannot_be_read_is_not_said_to_be_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a").mkdir()
    refuse(monkeypatch, "a", os, "scandir")
    files, faults = with_folders_opened(["a"], lambda _: None)
    assert (files, [fault.name for fault in faults]) == ([], ["a"])
