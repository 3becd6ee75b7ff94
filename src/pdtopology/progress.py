"""How far a long run is, for whoever waits at a terminal."""

from __future__ import annotations

import sys
import time

from typing_extensions import Self

DELAY_SECONDS = 0.5
"""A run that is shorter says nothing."""
INTERVAL_SECONDS = 0.1


class Progress:
    """A line on standard error that is written over and gone at the end; nothing where that is no terminal."""

    def __init__(self) -> None:
        self._stream = sys.stderr if sys.stderr is not None and sys.stderr.isatty() else None
        self._next = time.monotonic() + DELAY_SECONDS
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream and self._width:
            self._stream.write(f"\r{' ' * self._width}\r")
            self._stream.flush()

    def show(self, text: str) -> None:
        """Show a text, if it is time for one."""
        if self._stream is None or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + INTERVAL_SECONDS
        self._stream.write(f"\r{text:<{self._width}}")
        self._stream.flush()
        self._width = max(self._width, len(text))
