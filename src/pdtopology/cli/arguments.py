"""The arguments of the command."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from pdtopology.cli.checking import check
from pdtopology.cli.telling import explain, init, schema, show
from pdtopology.deployment import takes_text
from pdtopology.formats.place import Fault
from pdtopology.keys import HF_CONFIG


def argument_parser() -> argparse.ArgumentParser:
    """The parser; what it parses holds the command to run as `run`."""
    parser = argparse.ArgumentParser(
        prog="pdtopology",
        description="Refuse a prefill/decode deployment whose geometry the engine would refuse too late, or never.",
    )
    parser.add_argument("--version", action=_PrintVersion, nargs=0, help="print the version")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    checking = commands.add_parser("check", help="check topology files")
    checking.set_defaults(run=check, refuse=checking.error)
    checking.add_argument("files", nargs="*", metavar="FILE", help="YAML, JSON or TOML; a folder; - for standard input")
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
    checking.add_argument(
        "--hf-config",
        dest="overrides",
        action="append",
        metavar="PATH",
        type=lambda path: (HF_CONFIG.path, path),
        help="take the model's geometry from its config.json, or its folder: --set model.hf_config=PATH",
    )
    checking.add_argument(
        "--env",
        action="store_true",
        help="put the variables PDTOPOLOGY_… over the file, which PDTOPOLOGY_FILE names where none is given",
    )
    checking.add_argument("--env-file", metavar="PATH", help="the same from a .env file")
    checking.add_argument("--strict", action="store_true", help="exit 1 for warnings too")
    checking.add_argument(
        "--expect-fingerprint",
        metavar="HEX",
        type=_fingerprint,
        help="refuse a topology that `show --fingerprint` prints something else for; its first 12 digits will do",
    )
    checking.add_argument("--jobs", default=1, metavar="N", type=_number, help="check files with N processes at once")

    explaining = commands.add_parser("explain", help="tell about a rule, or list all")
    explaining.set_defaults(run=explain)
    explaining.add_argument("code", nargs="?", metavar="CODE")

    beginning = commands.add_parser("init", help="write a starter file and its schema")
    beginning.set_defaults(run=init)
    beginning.add_argument("path", nargs="?", default="pd.yaml", metavar="PATH", help=".yaml, .json or .toml; pd.yaml")
    beginning.add_argument("--hf-config", metavar="FILE", help="take the model from its config.json, or its folder")
    beginning.add_argument("--force", action="store_true", help="overwrite what exists")

    showing = commands.add_parser("show", help="print a valid topology file with every default filled in")
    showing.set_defaults(run=show)
    showing.add_argument("file", metavar="FILE", help="YAML, JSON or TOML; - for standard input")
    showing.add_argument("--format", choices=("yaml", "json"), default="yaml")
    showing.add_argument("--model", action="store_true", help="tell what came from the model's config.json, and how")
    showing.add_argument(
        "--fingerprint",
        action="store_true",
        help="print 64 digits that are the same for files that say the same, hosts and replicas aside",
    )

    printing = commands.add_parser("schema", help="print the JSON Schema")
    printing.set_defaults(run=schema)
    printing.add_argument("--dialect", choices=("2020-12", "draft-07"), default="2020-12")
    return parser


class _PrintVersion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import version

        print(f"pdtopology {version('pdtopology')}")
        parser.exit()


def _number(argument: str) -> int:
    """What `--pick` and `--jobs` take."""
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
