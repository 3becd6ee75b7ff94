"""`pdtopology check`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pdtopology.batch import WorkerError, check_all
from pdtopology.check import findings_in
from pdtopology.cli.status import UNUSABLE, source_of, status_of
from pdtopology.find import NoTopologyError, with_folders_opened
from pdtopology.load import ENVIRONMENT, SourceFault
from pdtopology.overrides import Override, overrides_at
from pdtopology.paths import Path as DocumentPath
from pdtopology.progress import Progress
from pdtopology.rule import Severity

if TYPE_CHECKING:
    from pdtopology.diagnostic import Diagnostic
    from pdtopology.environment import Environment


def check(options: argparse.Namespace) -> int:
    """Check files, folders, standard input or the environment alone."""
    values = dict(options.overrides)
    if options.fix and (values or options.env or options.env_file or "-" in options.files):
        options.refuse("--fix changes files: it goes with no values from elsewhere and not with standard input")
    if options.pick and not options.fix:
        options.refuse("--pick goes with --fix")
    overrides = overrides_at(values, "--set")
    files, wrong, has_file = list(options.files), [], True
    if options.env or options.env_file is not None:
        try:
            environment = _environment(options)
        except SourceFault as fault:
            return _told({fault.name: [_fault_finding(fault)]}, options)
        overrides, wrong = environment.overrides | overrides, environment.findings
        has_file = bool(files or environment.file)
        files = files or [environment.file or ENVIRONMENT]
    elif not files:
        options.refuse("the following arguments are required: FILE")
    check_source = partial(
        _check_source, has_file=has_file, overrides=overrides, expect_fingerprint=options.expect_fingerprint
    )
    try:
        found = _found_in(files, options, check_source)
    except (NoTopologyError, WorkerError) as error:
        print(f"pdtopology: {error}", file=sys.stderr)
        return UNUSABLE
    first = next(iter(found))
    return _told(found | {first: wrong + found[first]}, options)


def _told(found: Mapping[str, Sequence[Diagnostic]], options: argparse.Namespace) -> int:
    """Print the findings, and return the exit status that they amount to."""
    findings = [finding for findings in found.values() for finding in findings]
    match options.format:
        case "json":
            from pdtopology.rendering.json import render_json

            print(render_json(list(found), findings))
        case "sarif":
            from pdtopology.rendering.sarif import render_sarif

            print(render_sarif(findings))
        case "github":
            from pdtopology.rendering.github import render_github

            print(render_github(findings), end="\n" if findings else "")
        case "junit":
            from pdtopology.rendering.junit import render_junit

            print(render_junit(found))
        case _:
            _print_text(list(found), findings)
    return status_of(findings, strict=options.strict)


def _environment(options: argparse.Namespace) -> Environment:
    """What the variables and the .env file say. Raises `SourceFault`."""
    from pdtopology.env_file import read_env_file
    from pdtopology.environment import read_environment, variables_of

    in_file = read_env_file(Path(options.env_file)) if options.env_file is not None else []
    return read_environment(in_file, variables_of(os.environ) if options.env else [])


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


def _found_in(
    sources: Sequence[str], options: argparse.Namespace, check_source: Callable[[str], list[Diagnostic]]
) -> dict[str, list[Diagnostic]]:
    """The findings of each source, and of the files in those that are folders; with `--fix`, of what that leaves."""
    with Progress() as progress:
        files, faults = with_folders_opened(sources, progress.show)
        if options.fix:
            for file in files:
                _fix(file, options.pick)
        found = check_all(check_source, files, options.jobs, progress.show)
    return found | {fault.name: [_fault_finding(fault)] for fault in faults}


def _fault_finding(fault: SourceFault) -> Diagnostic:
    from pdtopology.findings import source_finding

    return source_finding(fault)


def _check_source(
    file: str, *, has_file: bool, overrides: Mapping[DocumentPath, Override], expect_fingerprint: str | None
) -> list[Diagnostic]:
    return findings_in(source_of(file) if has_file else {}, overrides, expect_fingerprint)


def _print_text(files: Sequence[str], findings: Sequence[Diagnostic]) -> None:
    if findings:
        from pdtopology.rendering.text import render_text

        color = sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        print(render_text(findings, color=color), end="\n\n")
    severities = [finding.severity for finding in findings]
    nouns = {Severity.ERROR: "error", Severity.WARNING: "warning"}
    counts = [
        f"{count} {noun}{'s' if count != 1 else ''}"
        for severity, noun in nouns.items()
        if (count := severities.count(severity))
    ]
    if undetermined := severities.count(Severity.UNDETERMINED):
        counts.append(f"{undetermined} undetermined")
    files_word = f"{len(files)} files" if len(files) != 1 else files[0]
    print(f"{files_word}: {', '.join(counts) or 'valid'}")
