"""The command `pdtopology`: the only place that prints or exits."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pdtopology.batch import WorkerError, check_all
from pdtopology.check import check, load_topology
from pdtopology.deployment import takes_text
from pdtopology.find import NoTopologyError, with_folders_opened
from pdtopology.formats.place import Fault
from pdtopology.progress import Progress
from pdtopology.rule import Severity

if TYPE_CHECKING:
    from pdtopology.diagnostic import Diagnostic

VALID, INVALID, UNUSABLE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 for valid, 1 for errors found, 2 for usage or unreadable input."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        options = _parser().parse_args(arguments)
        status: int = options.run(options)
        if sys.stdout is not None:  # as after `>&-`
            sys.stdout.flush()
    except BrokenPipeError:  # `| head` has read enough
        _discard_output()
        return UNUSABLE
    except OSError as error:
        _discard_output()
        print(f"pdtopology: cannot write: {error.strerror}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        return 130
    return status


def _discard_output() -> None:
    """Let the interpreter's last flush go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pdtopology",
        description="Refuse a prefill/decode deployment whose geometry the engine would refuse too late, or never.",
    )
    parser.add_argument("--version", action=_PrintVersion, nargs=0, help="print the version")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    checking = commands.add_parser("check", help="check topology files")
    checking.set_defaults(run=_check)
    checking.add_argument("files", nargs="+", metavar="FILE", help="YAML, JSON or TOML; a folder; - for standard input")
    checking.add_argument("--format", choices=("text", "json", "sarif", "github", "junit"), default="text")
    checking.add_argument(
        "--set",
        dest="overrides",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        type=_override,
        help="put a value over the file: decode.tensor_parallel_size=8 (repeatable)",
    )
    checking.add_argument("--fix", action="store_true", help="put the nearest fix into the files")
    checking.add_argument("--pick", type=_number, metavar="N", help="with --fix: the fix of this number in the hint")
    checking.add_argument("--strict", action="store_true", help="exit 1 for warnings too")
    checking.add_argument(
        "--expect-fingerprint",
        metavar="HEX",
        type=_fingerprint,
        help="refuse a topology that `show --fingerprint` prints something else for; its first 12 digits will do",
    )
    checking.add_argument("--jobs", default=1, metavar="N", type=_jobs, help="check files with N processes at once")

    showing = commands.add_parser("show", help="print what a topology amounts to")
    showing.set_defaults(run=_show)
    showing.add_argument("file", metavar="FILE", help="YAML, JSON or TOML; - for standard input")
    showing.add_argument(
        "--fingerprint",
        action="store_true",
        required=True,
        help="64 digits that are the same for files that say the same, hosts and replicas aside",
    )

    explaining = commands.add_parser("explain", help="tell about a rule, or list all")
    explaining.set_defaults(run=_explain)
    explaining.add_argument("code", nargs="?", metavar="CODE")

    beginning = commands.add_parser("init", help="write a starter file and its schema")
    beginning.set_defaults(run=_init)
    beginning.add_argument("path", nargs="?", default="pd.yaml", metavar="PATH", help=".yaml, .json or .toml; pd.yaml")
    beginning.add_argument("--hf-config", metavar="FILE", help="take the model from its config.json, or its folder")
    beginning.add_argument("--force", action="store_true", help="overwrite what exists")

    schema = commands.add_parser("schema", help="print the JSON Schema")
    schema.set_defaults(run=_schema)
    schema.add_argument("--dialect", choices=("2020-12", "draft-07"), default="2020-12")
    return parser


class _PrintVersion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import version

        print(f"pdtopology {version('pdtopology')}")
        parser.exit()


def _number(argument: str) -> int:
    if not argument.isdecimal() or int(argument) == 0:
        raise argparse.ArgumentTypeError(f"{argument!r} is not a number from 1")
    return int(argument)


def _override(argument: str) -> tuple[str, Any]:
    """`PATH=VALUE`, the value read as YAML where the field is no text, so that 8 is a number and 0.30 a version."""
    path, equals, value = argument.partition("=")
    if not equals or not all(path.split(".")):
        raise argparse.ArgumentTypeError(f"{argument!r} is not PATH=VALUE")
    try:
        from pdtopology.formats import yaml_text

        [read] = yaml_text.read(value)
        return path, read if isinstance(read, str) or not takes_text(tuple(path.split("."))) else value
    except Fault as fault:
        raise argparse.ArgumentTypeError(f"{argument!r}: {fault.message}") from None
    except ValueError:
        raise argparse.ArgumentTypeError(f"{argument!r}: several documents are no value") from None


def _fingerprint(argument: str) -> str:
    """What `--expect-fingerprint` takes."""
    from pdtopology.fingerprint import expected_digits

    try:
        return expected_digits(argument)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _jobs(argument: str) -> int:
    """A number of processes."""
    if not argument.isdecimal() or int(argument) < 1:
        raise argparse.ArgumentTypeError(f"{argument!r} is no number of processes")
    return int(argument)


def _check(options: argparse.Namespace) -> int:
    overrides = dict(options.overrides)
    if options.fix and (overrides or "-" in options.files):
        print("pdtopology: --fix changes files: it goes with neither --set nor standard input", file=sys.stderr)
        return UNUSABLE
    if options.pick and not options.fix:
        print("pdtopology: --pick goes with --fix", file=sys.stderr)
        return UNUSABLE
    check_source = partial(_check_source, overrides=overrides, expect_fingerprint=options.expect_fingerprint)
    try:
        found = _found_in(options, check_source)
    except (NoTopologyError, WorkerError) as error:
        print(f"pdtopology: {error}", file=sys.stderr)
        return UNUSABLE
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
    return _status(findings, strict=options.strict)


def _status(findings: Sequence[Diagnostic], *, strict: bool = False) -> int:
    """The exit status that findings amount to."""
    if any(finding.code == "unreadable-file" for finding in findings):
        return UNUSABLE
    severities = {finding.severity for finding in findings}
    if Severity.ERROR in severities or (strict and Severity.WARNING in severities):
        return INVALID
    return VALID


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
    options: argparse.Namespace, check_source: Callable[[str], list[Diagnostic]]
) -> dict[str, list[Diagnostic]]:
    """The findings of each source, and of the files in those that are folders; with `--fix`, of what that leaves."""
    with Progress() as progress:
        files, faults = with_folders_opened(options.files, progress.show)
        if options.fix:
            for file in files:
                _fix(file, options.pick)
        found = check_all(check_source, files, options.jobs, progress.show)
    if faults:
        from pdtopology.findings import source_finding

        found |= {fault.name: [source_finding(fault)] for fault in faults}
    return found


def _check_source(file: str, *, overrides: Mapping[str, Any], expect_fingerprint: str | None) -> list[Diagnostic]:
    return check(_source(file), overrides=overrides, origin="--set", expect_fingerprint=expect_fingerprint)


def _source(file: str) -> str | Path:
    """A file by its name, which is never taken for a text."""
    return file if file == "-" else Path(file)


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


def _show(options: argparse.Namespace) -> int:
    from pdtopology.diagnostic import TopologyError

    try:
        topology = load_topology(_source(options.file))
    except TopologyError as error:
        from pdtopology.rendering.text import render_text

        print(render_text(error.diagnostics), file=sys.stderr)
        return _status(error.diagnostics)
    print(topology.fingerprint())
    return VALID


def _explain(options: argparse.Namespace) -> int:
    from pdtopology.catalogue import FAMILIES, RULE_BY_CODE
    from pdtopology.explain import explain, list_rules

    if options.code is None:
        print(list_rules(FAMILIES))
        return VALID
    rule = RULE_BY_CODE.get(options.code)
    if rule is None:
        from difflib import get_close_matches

        near = get_close_matches(options.code, RULE_BY_CODE, 1)
        meant = f"did you mean {near[0]}?" if near else "`pdtopology explain` lists all"
        print(f"pdtopology: no rule {options.code}; {meant}", file=sys.stderr)
        return UNUSABLE
    print(explain(rule))
    return VALID


def _init(options: argparse.Namespace) -> int:
    from pdtopology.starter import EXAMPLE_MODEL, model_from_config, starter_for

    try:
        model = model_from_config(options.hf_config) if options.hf_config else EXAMPLE_MODEL
        started = starter_for(Path(options.path), model)
        started.write(force=options.force)
    except (OSError, ValueError) as error:
        print(f"pdtopology: {error}", file=sys.stderr)
        return UNUSABLE
    print(f"wrote {started.path} and {started.schema_path}")
    return VALID


def _schema(options: argparse.Namespace) -> int:
    from pdtopology.schema import dump, json_schema

    print(dump(json_schema(options.dialect)), end="")
    return VALID
