"""Frames: the lines that are shown, and the marks under them."""

from __future__ import annotations

from pdtopology.diagnostic import Location
from pdtopology.rendering.frame import BLUE, Mark, frame


def framed(*places: Location) -> list[str]:
    """The frame of carets at places."""
    marks = [Mark(place, "^", BLUE, "") for place in places]
    return list(frame(marks, lambda text, _: text))


def test_no_mark_needs_no_frame() -> None:
    assert framed() == []


def test_marks_in_the_shown_part_of_a_long_line_share_it() -> None:
    line = "x" * 500
    first, second = (Location("pd.json", 1, column, 1, column + 2, line) for column in (301, 310))
    shown, *marked = framed(first, second)
    assert shown == f"  1 | …{'x' * 160}…"
    assert [mark.index("^") for mark in marked] == [87, 96]


def test_marks_far_apart_in_a_long_line_are_each_shown_with_what_is_around_them() -> None:
    line = "x" * 2000
    first, second = (Location("pd.json", 1, column, 1, column + 2, line) for column in (301, 1501))
    assert [line.startswith("  1 | …") for line in framed(first, second)] == [True, False, True, False]


def test_a_mark_longer_than_the_shown_part_repeats_no_line() -> None:
    line = "x" * 500
    places = Location("pd.json", 1, 1, 1, 2, line), Location("pd.json", 1, 10, 1, 400, line)
    assert framed(*places) == [f"  1 | {'x' * 160}…", "    | ^", f"    | {' ' * 9}{'^' * 151}"]


def test_a_span_of_several_lines_is_underlined_to_the_end_of_its_first() -> None:
    assert framed(Location("pd.yaml", 1, 4, 3, 2, "a: [")) == ["  1 | a: [", "    |    ^"]


def test_a_place_past_the_end_of_its_line_is_marked_there() -> None:
    assert framed(Location("pd.yaml", 1, 6, 1, 7, "a: [")) == ["  1 | a: [", "    |     ^"]


def test_the_numbers_of_lines_are_as_wide_as_the_last() -> None:
    first, second = Location("pd.yaml", 8, 1, 8, 2, "a"), Location("pd.yaml", 120, 1, 120, 2, "b")
    assert framed(second, first) == ["    8 | a", "      | ^", "  120 | b", "      | ^"]
