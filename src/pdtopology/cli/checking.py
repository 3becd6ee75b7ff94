"""`pdtopology check`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pdtopology.check import findings_in
from pdtopology.cli.status import UNUSABLE, UnusableError, source_of, status_of
from pdtopology.load import ENVIRONMENT, SourceFault
from pdtopology.overrides import Override, overrides_at
from pdtopology.paths import Path as DocumentPath
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
            from pdtopology.findings import source_finding

            return _told({fault.name: [source_finding(fault)]}, options)
        overrides, wrong = environment.overrides | overrides, environment.findings
        has_file = bool(files or environment.file)
        files = files or [environment.file or ENVIRONMENT]
    elif not files:
        options.refuse("the following arguments are required: FILE")
    check_source = partial(
        _check_source, has_file=has_file, overrides=overrides, expect_fingerprint=options.expect_fingerprint
    )
    if len(files) == 1 and not options.fix and not os.path.isdir(files[0]):  # noqa: PTH112 - raises for no name
        found = {files[0]: check_source(files[0])}
    else:
        from pdtopology.cli.files import check_files

        try:
            found = check_files(files, options, check_source)
        except UnusableError as error:
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
