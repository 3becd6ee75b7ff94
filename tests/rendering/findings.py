"""Any findings at all, for what must hold of every output."""

from __future__ import annotations

from hypothesis import strategies as st

from pdtopology.diagnostic import Diagnostic, Location, Related
from pdtopology.rule import Severity

TEXTS = st.text(st.characters(exclude_categories=[]), max_size=20)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1, max_size=20).filter(
    lambda name: name not in (".", "..")
)


@st.composite
def locations(draw: st.DrawFn, file: str) -> Location:
    """A place in a file."""
    line, column = draw(st.integers(1, 10)), draw(st.integers(1, 30))
    end_line, length = draw(st.integers(line, 12)), draw(st.integers(0, 10))
    return Location(file, line, column, end_line, column + length, draw(TEXTS))


@st.composite
def diagnostics(draw: st.DrawFn) -> Diagnostic:
    """A finding in which every text is one that a document or a command line could bring in."""
    file = draw(st.none() | st.just("<stdin>") | NAMES)
    place = locations(file) if file else st.none()
    return Diagnostic(
        code=draw(st.sampled_from(["greater_than", "syntax-error", "tp-not-divisible"])),
        severity=draw(st.sampled_from(Severity)),
        path=draw(TEXTS),
        message=draw(TEXTS.filter(bool)),
        hint=draw(st.none() | TEXTS),
        file=file,
        origin=draw(TEXTS),
        location=draw(st.none() | place),
        related=[Related(draw(TEXTS), draw(st.none() | TEXTS), draw(st.none() | place), draw(TEXTS))],
        title=draw(TEXTS),
    )
