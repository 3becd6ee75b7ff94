"""Text put into text: lines, and the last member of a bracketed mapping, in the style of what stands around."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pdtopology.formats.place import Place, Span

BETWEEN = r"(?:\s|#[^\n\r]*(?![^\n\r]))*"
"""White space and whole comments, as a pattern."""

_BREAK = re.compile(r"\r\n|\n|\r")
_REST_OF_LINE = re.compile(r"[^\n\r]*")
_TO_COMMA = re.compile(f"{BETWEEN},")
_COMMENT = re.compile(r"[ \t]+#[^\n\r]*")


def replaced(text: str, span: Span, replacement: str) -> str:
    """The text with something else in a span's place."""
    return text[: span.start] + replacement + text[span.end :]


def line_break(text: str) -> str:
    """The line break that the text uses first."""
    found = _BREAK.search(text)
    return found[0] if found else "\n"


def with_lines_after(text: str, offset: int, lines: Sequence[str]) -> str:
    """The text with lines below the one that the offset is in."""
    found = _REST_OF_LINE.match(text, offset)
    assert found
    added = "".join(line_break(text) + line for line in lines)
    return replaced(text, Span(found.end(), found.end()), added)


def with_lines_at_end(text: str, lines: Sequence[str]) -> str:
    """The text with lines below its last, the last one ended as the text's last was."""
    end = line_break(text)
    if text and not text.endswith(("\n", "\r")):
        return text + end + end.join(lines)
    return text + "".join(line + end for line in lines)


def gap_before(text: str, offset: int) -> str:
    """The white space before an offset, without blank lines."""
    gap = text[len(text[:offset].rstrip()) : offset]
    line_breaks = list(_BREAK.finditer(gap))
    return gap[line_breaks[-1].start() :] if line_breaks else gap


def with_member(text: str, mapping: Span, last: Place | None, member: str) -> str:
    """The text with one more member in a bracketed mapping, set off as the one that was last, which is given."""
    if not last:
        return replaced(text, Span(mapping.start + 1, mapping.start + 1), member)
    assert last.key
    gap = gap_before(text, last.key.start)
    if not gap and text[last.key.end : last.value.start].endswith(" "):
        gap = " "
    end = last.value.end
    comma = _TO_COMMA.match(text, end)
    position = comma.end() if comma else end
    if "\n" in gap and (comment := _COMMENT.match(text, position)):
        position = comment.end()
    if comma:
        return replaced(text, Span(position, position), f"{gap}{member},")
    return replaced(text, Span(end, position), f",{text[end:position]}{gap}{member}")
