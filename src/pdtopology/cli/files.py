"""Many files and folders, and files to mend; one file to check does not wait for any of this."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from pdtopology.batch import WorkerError, check_all
from pdtopology.cli.status import UnusableError
from pdtopology.diagnostic import Diagnostic
from pdtopology.find import NoTopologyError, with_folders_opened
from pdtopology.findings import source_finding
from pdtopology.progress import Progress


def check_files(
    sources: Sequence[str], options: argparse.Namespace, check_source: Callable[[str], list[Diagnostic]]
) -> dict[str, list[Diagnostic]]:
    """The findings of each source, and of the files in those that are folders; with `--fix`, of what that leaves.

    Raises `UnusableError` where a folder has no topology or a worker process ends early.
    """
    try:
        with Progress() as progress:
            files, faults = with_folders_opened(sources, progress.show)
            if options.fix:
                for file in files:
                    _fix(file, options.pick)
            found = check_all(check_source, files, options.jobs, progress.show)
    except (NoTopologyError, WorkerError) as error:
        raise UnusableError(str(error)) from None
    return found | {fault.name: [source_finding(fault)] for fault in faults}


def _fix(file: str, pick: int | None) -> None:
    """Mend a file as far as that can be done, and say so; what is left is found by the check that follows."""
    from pdtopology.mending import UnmendedError, mend

    try:
        for fix in mend(Path(file), pick):
            print(f"{file}: set {fix}", file=sys.stderr)
    except UnmendedError as error:
        print(f"{file}: not changed: {error}", file=sys.stderr)
    except OSError as error:
        print(f"{file}: not changed: {error.strerror}", file=sys.stderr)
