"""Many sources, checked one after the other or by several processes at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from signal import SIG_IGN, SIGINT, signal
from typing import TypeVar

_Found = TypeVar("_Found")

SOURCES_A_TASK = 16
"""So few that an interrupted run ends soon, and so many that handing them over costs little."""
MAX_PROCESSES = 61
"""Windows cannot wait for more."""


class WorkerError(Exception):
    """Processes that cannot be started, or one that was ended before its work was done."""


def check_all(
    check_source: Callable[[str], _Found], sources: Sequence[str], jobs: int, notice: Callable[[str], None]
) -> dict[str, _Found]:
    """What is found in each source, in their order, whatever the number of processes.

    With several, `check_source` must be a function that pickle can name. `notice` is told how far it is. Raises
    `WorkerError`.
    """
    found = {}
    work = nullcontext(map(check_source, sources)) if jobs == 1 else _in_processes(check_source, sources, jobs)
    with work as results:
        for source, findings in zip(sources, results, strict=True):
            found[source] = findings
            notice(f"{len(found):,} of {len(sources):,} files checked")
    return found


@contextmanager
def _in_processes(
    check_source: Callable[[str], _Found], sources: Sequence[str], jobs: int
) -> Iterator[Iterator[_Found]]:
    """The results of the sources, while processes work on them; standard input is left to this one, which has it."""
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor

    files = [source for source in sources if source != "-"]
    processes = min(jobs, len(files), MAX_PROCESSES) or 1
    files_a_task = min(SOURCES_A_TASK, -(-len(files) // processes)) or 1
    try:
        with ExitStack() as stack:
            executor = ProcessPoolExecutor(processes, initializer=signal, initargs=(SIGINT, SIG_IGN))
            stack.callback(executor.shutdown, cancel_futures=True)
            with _interrupts_ignored():
                shared = executor.map(check_source, files, chunksize=files_a_task)
            yield (check_source(source) if source == "-" else next(shared) for source in sources)
    except (BrokenExecutor, NotImplementedError, OSError) as error:
        raise WorkerError(f"--jobs {jobs}: {error}") from None


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Start processes that leave Ctrl-C to this one, which ends them.

    They inherit that, so that not even their imports are interrupted; where they do not, the initializer does it.
    """
    handler = signal(SIGINT, SIG_IGN)
    try:
        yield
    finally:
        signal(SIGINT, handler)
