"""A value put into JSON."""

from __future__ import annotations

from typing import Any

from pdtopology.edits.insertion import gap_before, line_break, replaced, with_lines_at_end, with_member
from pdtopology.edits.scalars import json_scalar
from pdtopology.formats.json_text import locate
from pdtopology.formats.place import Place, Places
from pdtopology.paths import Path

_STEP = "  "


def put(text: str, _: int, path: Path, value: Any) -> str:
    """The text with the value at the path, which the caller reads again."""
    if not text.strip():
        return with_lines_at_end(text, [_object(path, value, line_break(text), _STEP, ": ")])
    places = locate(text)[0]
    if path in places:
        return replaced(text, places[path].value, json_scalar(value))
    parent = next(path[:count] for count in reversed(range(len(path))) if path[:count] in places)
    names, place = path[len(parent) :], places[parent]
    step = _step(text, places)
    if last := last_member(places, parent):
        assert last.key
        colon = text[last.key.end : last.value.start]
        member = _member(names, value, gap_before(text, last.key.start), step, colon)
        return with_member(text, place.value, last, member)
    gap = gap_before(text, place.key.start) if place.key else line_break(text)
    colon = text[place.key.end : place.value.start] if place.key else ": "
    return replaced(text, place.value, _object(names, value, gap, step, colon))


def last_member(places: Places, parent: Path) -> Place | None:
    """The last of a mapping's members."""
    members = [place for path, place in places.items() if path and path[:-1] == parent]
    return max(members, key=lambda place: place.value, default=None)


def _step(text: str, places: Places) -> str:
    """What a level is indented by: what the first member of all is."""
    first = next((place.key for path, place in places.items() if len(path) == 1 and place.key), None)
    gap = gap_before(text, first.start) if first else ""
    return gap.lstrip("\r\n") if "\n" in gap else _STEP


def _object(names: Path, value: Any, gap: str, step: str, colon: str) -> str:
    """An object with one member, on lines of its own where the gap before the object's key is a line break."""
    if "\n" not in gap:
        return "{" + _member(names, value, "", step, colon) + "}"
    return "{" + gap + step + _member(names, value, gap + step, step, colon) + gap + "}"


def _member(names: Path, value: Any, gap: str, step: str, colon: str) -> str:
    name, *inner = names
    written = _object(tuple(inner), value, gap, step, colon) if inner else json_scalar(value)
    return json_scalar(name) + colon + written
