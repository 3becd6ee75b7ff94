"""The command `pdtopology`: the only place that prints or exits."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from pdtopology.cli.arguments import argument_parser
from pdtopology.cli.status import UNUSABLE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 for valid, 1 for errors found, 2 for usage or unreadable input."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        options = argument_parser().parse_args(arguments)
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
