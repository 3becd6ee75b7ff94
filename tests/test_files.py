"""Writing a file: whole or not at all, whenever the process ends."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pdtopology.files import write_whole

OLD, NEW = "old: 1\n", "new: 2\r\n" * 100_000

KILLED = """
import os, pathlib, signal, sys
from pdtopology.files import write_whole

def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def kill_after(function):
    return lambda *arguments, **options: (function(*arguments, **options), kill())

owner, name = {"os": os, "Path": pathlib.Path}[sys.argv[1]], sys.argv[2]
setattr(owner, name, kill if sys.argv[3] == "before" else kill_after(getattr(owner, name)))
write_whole(pathlib.Path(sys.argv[4]), sys.argv[5] * 100_000)
"""

TOO_LARGE = """
import pathlib, resource, signal, sys
from pdtopology.files import write_whole

signal.signal(signal.SIGXFSZ, getattr(signal, sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
write_whole(pathlib.Path(sys.argv[2]), sys.argv[3] * 100_000)
"""

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits")


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with something in it."""
    path = tmp_path / "pd.yaml"
    path.write_text(OLD)
    return path


@pytest.mark.parametrize("name", ["pd.yaml", "new.yaml"])
def test_the_content_is_written_byte_for_byte(file: Path, name: str) -> None:
    path = file.with_name(name)
    write_whole(path, "\ufeffé\r\n\n")
    assert path.read_bytes() == b"\xef\xbb\xbf\xc3\xa9\r\n\n"


def test_nothing_else_is_left_in_the_folder(file: Path) -> None:
    write_whole(file, NEW)
    assert names_in(file.parent) == ["pd.yaml"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_keeps_its_permissions(file: Path, mode: int) -> None:
    file.chmod(mode)
    write_whole(file, NEW)
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "any").touch()
    write_whole(tmp_path / "new", "")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "any").stat().st_mode


def test_a_file_is_never_open_to_more_people(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.chmod(0o600)
    modes = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode)))
    write_whole(file, NEW)
    assert modes == [0o600]


def test_a_file_keeps_its_owner(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owners = []
    monkeypatch.setattr(os, "chown", lambda _, user, group: owners.append((user, group)))
    write_whole(file, NEW)
    assert owners == [(file.stat().st_uid, file.stat().st_gid)]


def test_a_file_of_someone_else_becomes_the_writers(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chown", refuse)
    write_whole(file, NEW)
    assert file.read_bytes() == NEW.encode()


def test_a_symbolic_link_stays_and_its_target_is_written(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "links"
    folder.mkdir()
    link = folder / "link.yaml"
    link.symlink_to(Path("..") / file.name)
    write_whole(link, NEW)
    assert link.is_symlink()
    assert file.read_bytes() == NEW.encode()
    assert names_in(folder) == ["link.yaml"]


def test_a_link_to_itself_is_an_error(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("link")
    with pytest.raises(OSError, match="symbolic links"):
        write_whole(link, NEW)
    assert link.is_symlink()
    assert names_in(tmp_path) == ["link"]


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(tmp_path / "folder", NEW)
    assert names_in(tmp_path) == ["folder"]


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
@pytest.mark.parametrize(("owner", "name"), [(os, "fsync"), (Path, "replace"), (Path, "stat")])
def test_a_failure_leaves_the_old_file_and_nothing_beside_it(
    file: Path, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, error: BaseException
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, fail)
        with pytest.raises(type(error)):
            write_whole(file, NEW)
    assert file.read_text() == OLD
    assert names_in(file.parent) == ["pd.yaml"]


def test_text_that_cannot_be_encoded_leaves_the_old_file(file: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        write_whole(file, "\ud800")
    assert file.read_text() == OLD


@POSIX
@pytest.mark.parametrize(
    ("owner", "name", "when", "expected"),
    [
        ("os", "chown", "before", OLD),
        ("os", "chown", "after", OLD),
        ("os", "fsync", "before", OLD),
        ("os", "fsync", "after", OLD),
        ("Path", "replace", "before", OLD),
        ("Path", "replace", "after", NEW),
        ("Path", "unlink", "before", NEW),
    ],
)
def test_a_killed_process_leaves_the_old_file_or_the_new_one(
    file: Path, owner: str, name: str, when: str, expected: str
) -> None:
    command = [sys.executable, "-c", KILLED, owner, name, when, str(file), NEW[:8]]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert file.read_bytes() == expected.encode()


@POSIX
def test_a_process_killed_in_the_middle_of_the_content_leaves_the_old_file(file: Path) -> None:
    command = [sys.executable, "-c", TOO_LARGE, "SIG_DFL", str(file), NEW[:8]]
    assert subprocess.run(command, check=False).returncode == -signal.SIGXFSZ
    assert file.read_text() == OLD
    assert max(path.stat().st_size for path in file.parent.iterdir()) == 5000


@POSIX
def test_a_disk_that_is_full_leaves_the_old_file_and_nothing_beside_it(file: Path) -> None:
    command = [sys.executable, "-c", TOO_LARGE, "SIG_IGN", str(file), NEW[:8]]
    assert b"File too large" in subprocess.run(command, check=False, capture_output=True).stderr
    assert file.read_text() == OLD
    assert names_in(file.parent) == ["pd.yaml"]
