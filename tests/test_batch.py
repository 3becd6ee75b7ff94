"""Many sources: the same results in the same order, however many processes there are."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pdtopology.batch import SOURCES_A_TASK, WorkerError, check_all

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals")

METHODS = multiprocessing.get_all_start_methods()

SCRIPT = """
import multiprocessing, os, sys, time
from pdtopology.batch import check_all

def check(source):
    time.sleep(0.01)
    return source * 2, os.getpid()

if __name__ != "__main__":
    time.sleep(1)  # an interrupt finds a new process in the middle of its imports
else:
    multiprocessing.set_start_method(sys.argv[1])
    sources = list(map(str, range(int(sys.argv[2]))))
    print("ready", flush=True)
    try:
        found = check_all(check, sources, 2, lambda _: None)
    except KeyboardInterrupt:
        sys.exit(130)
    assert {source: result for source, (result, _) in found.items()} == {source: source * 2 for source in sources}
    assert list(found) == sources
    assert os.getpid() not in {process for _, process in found.values()}
"""


def length(source: str) -> int:
    """Stands for a check."""
    return len(source)


def length_and_process(source: str) -> tuple[int, int]:
    return len(source), os.getpid()


def end_process(_: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("count", [0, 1, 2, SOURCES_A_TASK, 10 * SOURCES_A_TASK + 1])
@pytest.mark.parametrize("jobs", [1, 2, 3, 1000])
def test_every_source_is_checked_in_its_order(jobs: int, count: int) -> None:
    if jobs > 61:
        count = min(count, 2)  # processes are not for free
    sources = [f"{index:{index}}" for index in range(1, count + 1)]
    found = check_all(length, sources, jobs, lambda _: None)
    assert list(found.items()) == [(source, len(source)) for source in sources]


def test_one_job_is_done_in_this_process() -> None:
    assert check_all(length_and_process, ["a"], 1, lambda _: None) == {"a": (1, os.getpid())}


def test_standard_input_is_read_by_this_process() -> None:
    found = check_all(length_and_process, ["a", "-", "b"], 2, lambda _: None)
    assert [process == os.getpid() for _, process in found.values()] == [False, True, False]


@pytest.mark.parametrize("jobs", [1, 2])
def test_it_tells_how_far_it_is(jobs: int) -> None:
    told: list[str] = []
    check_all(length, ["a", "b", "c"], jobs, told.append)
    assert told == ["1 of 3 files checked", "2 of 3 files checked", "3 of 3 files checked"]


@POSIX
def test_a_process_that_is_ended_is_one_message() -> None:
    with pytest.raises(WorkerError, match=r"^--jobs 2: A process in the process pool was terminated abruptly"):
        check_all(end_process, ["a", "b"], 2, lambda _: None)


@POSIX
def test_processes_that_cannot_be_started_are_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    monkeypatch.setattr(multiprocessing, "get_context", multiprocessing.context.ForkContext)
    with pytest.raises(WorkerError, match=r"^--jobs 2: .*Resource temporarily unavailable"):
        check_all(length, ["a", "b"], 2, lambda _: None)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A program of its own, as processes that are not forked import it."""
    file = tmp_path / "slow.py"
    file.write_text(SCRIPT)
    return file


@pytest.mark.parametrize("method", METHODS)
def test_it_works_however_processes_are_started(script: Path, method: str) -> None:
    run = subprocess.run([sys.executable, str(script), method, "20"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


@POSIX
@pytest.mark.parametrize("method", METHODS)
def test_an_interrupt_ends_all_processes_without_a_traceback(script: Path, method: str) -> None:
    process = subprocess.Popen(
        [sys.executable, str(script), method, "10000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=60)  # until all of them have closed it
    assert (process.returncode, error) == (130, "")
