"""The line that tells how far a long run is."""

from __future__ import annotations

import io
import sys
import time

import pytest

from pdtopology.progress import DELAY_SECONDS, INTERVAL_SECONDS, Progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Clock:
    """A clock that stands still until it is moved on."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time."""
    stopped = Clock()
    monkeypatch.setattr(time, "monotonic", stopped)
    return stopped


def test_a_short_run_says_nothing(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress() as progress:
        clock.seconds += DELAY_SECONDS - 0.01
        progress.show("1 of 2")
    assert terminal.getvalue() == ""


def test_a_long_run_shows_a_line_and_clears_it(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress() as progress:
        clock.seconds += DELAY_SECONDS
        progress.show("1 of 2")
    assert terminal.getvalue() == "\r1 of 2\r      \r"


def test_a_line_covers_the_one_before(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress() as progress:
        for text in ("10 files found", "1 of 10"):
            clock.seconds += DELAY_SECONDS
            progress.show(text)
    assert terminal.getvalue() == "\r10 files found\r1 of 10       \r              \r"


def test_it_is_not_written_over_more_often_than_one_can_read(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress() as progress:
        clock.seconds += DELAY_SECONDS
        for number in range(100):
            progress.show(str(number))
            clock.seconds += INTERVAL_SECONDS / 10
    assert terminal.getvalue().count("\r") == 10 + 2


def test_it_is_cleared_after_an_error(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    def interrupted() -> None:
        with Progress() as progress:
            clock.seconds += DELAY_SECONDS
            progress.show("1 of 2")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert terminal.getvalue().endswith("\r      \r")


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_nothing_is_written_where_there_is_no_terminal(
    stream: io.StringIO | None, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress() as progress:
        clock.seconds += DELAY_SECONDS
        progress.show("1 of 2")
    assert stream is None or stream.getvalue() == ""
