"""Findings as text: the source lines, a caret under the value, and a mark under each value it disagrees with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pdtopology.diagnostic import Diagnostic, Location
from pdtopology.rendering.columns import harmless
from pdtopology.rendering.frame import BLUE, Mark, Paint, frame
from pdtopology.rule import Severity

_BOLD, _RED, _YELLOW, _RESET = "\033[1m", "\033[31m", "\033[33m", "\033[0m"

_NEAR = 2
"""Findings with lines no farther apart share one frame."""
_MAX_SHARED = 5
"""The headlines of more findings would stand too far from their carets."""


def render_text(findings: Sequence[Diagnostic], *, color: bool = False) -> str:
    """The findings in their order, with an empty line between those that share no frame; the last line has no end."""
    paint = _painter(color)
    return "\n\n".join("\n".join(_paragraph(group, paint)) for group in _groups(findings))


def _groups(findings: Sequence[Diagnostic]) -> list[list[Diagnostic]]:
    """The findings, each with those before it that it shares a frame with."""
    groups: list[list[Diagnostic]] = []
    for finding in findings:
        group = groups[-1] if groups else []
        if len(group) < _MAX_SHARED and any(_are_near(finding, other) for other in group):
            group.append(finding)
        else:
            groups.append([finding])
    return groups


def _are_near(one: Diagnostic, other: Diagnostic) -> bool:
    return one.file == other.file and any(
        abs(place.line - near.line) <= _NEAR for place in _places(one) for near in _places(other)
    )


def _places(finding: Diagnostic) -> list[Location]:
    places = [finding.location, *(other.location for other in finding.related)]
    return [place for place in places if place]


def _paragraph(group: Sequence[Diagnostic], paint: Paint) -> list[str]:
    """One finding around its frame, or several above the frame that they share."""
    source = frame((mark for finding in group for mark in _marks(finding)), paint)
    if len(group) == 1:
        return [*_headline(group[0], paint), *source, *_details(group[0]), *_hint(group[0], paint)]
    is_shared = len({finding.hint for finding in group}) == 1
    said = []
    for finding in group:
        said += [*_headline(finding, paint), *_details(finding)]
        said += [] if is_shared else _hint(finding, paint)
    return [*said, *source, *(_hint(group[0], paint) if is_shared else [])]


def _headline(finding: Diagnostic, paint: Paint) -> Iterator[str]:
    head = paint(f"{finding.severity.value}[{finding.code}]", _tone(finding) + _BOLD)
    yield f"{head}: {paint(harmless(finding.title or finding.message), _BOLD)}"
    if finding.location:
        origin = f" ({harmless(finding.origin)})" if finding.origin else ""
        yield f"  {harmless(str(finding.location))}{origin}"
    elif finding.file or finding.origin:
        yield "  " + harmless(f"{finding.file or ''} {finding.origin}".strip())


def _details(finding: Diagnostic) -> Iterator[str]:
    if finding.title and not finding.location:
        yield f"  {harmless(finding.message)}"
    for other in finding.related:
        if other.path and not other.location:
            yield f"  {harmless(other.label)}"
    if finding.note:
        yield f"  {finding.note}"


def _hint(finding: Diagnostic, paint: Paint) -> Iterator[str]:
    if finding.hint:
        yield f"  {paint('hint', _BOLD)}: {harmless(finding.hint)}"


def _marks(finding: Diagnostic) -> Iterator[Mark]:
    for other in finding.related:
        if other.location:
            yield Mark(other.location, "-", BLUE, other.label)
    if finding.location:
        yield Mark(finding.location, "^", _tone(finding), finding.message if finding.title else "")


def _tone(finding: Diagnostic) -> str:
    return _RED if finding.severity is Severity.ERROR else _YELLOW


def _painter(color: bool) -> Paint:
    return (lambda text, tone: f"{tone}{text}{_RESET}") if color else (lambda text, _: text)
