"""Columns of a terminal: where a caret must stand."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pdtopology.rendering.columns import MAX_COLUMNS, Excerpt, columns, harmless

LINES = st.text(st.characters(exclude_characters="\n\t", exclude_categories=["Mn", "Me"]), max_size=400)


def cells(text: str) -> list[str]:
    """What stands in each column: a wide character in two, a combining mark in that of the character before it."""
    found: list[str] = [""]
    for character in text:
        width = columns(character)
        if width == 0:
            found[-1] += character
        found += [character, ""][:width]
    return found[1:]


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("port", 4),
        ("é", 1),
        ("e\N{COMBINING ACUTE ACCENT}", 1),
        ("名前", 4),
        ("ﾃ", 1),
        ("Ａ", 2),  # noqa: RUF001 - it is about this letter
        ("\N{GRINNING FACE}", 2),
        ("\N{REGIONAL INDICATOR SYMBOL LETTER F}\N{REGIONAL INDICATOR SYMBOL LETTER R}", 2),
        ("1\N{COMBINING ENCLOSING KEYCAP}", 1),
        ("한", 2),
        ("…", 1),
    ],
)
def test_a_text_takes_the_columns_of_its_characters(text: str, width: int) -> None:
    assert columns(text) == width


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a\x1b[31m", "a\\x1b[31m"),
        ("\x00\x7f\x9b", "\\x00\\x7f\\x9b"),
        ("\r\n", "\\r\\n"),
        ("\N{RIGHT-TO-LEFT OVERRIDE}x", "\\u202ex"),
        ("\N{ZERO WIDTH JOINER}\N{NO-BREAK SPACE}", "\\u200d\\xa0"),
        ("\ud800", "\\ud800"),
        ("\N{GRINNING FACE} 名 é", "\N{GRINNING FACE} 名 é"),
    ],
)
def test_what_a_terminal_would_obey_or_not_show_is_escaped(text: str, escaped: str) -> None:
    assert harmless(text) == escaped


@given(st.text())
def test_a_harmless_text_is_printable(text: str) -> None:
    assert harmless(text).isprintable()


@pytest.mark.parametrize("before", range(9))
def test_a_tab_reaches_to_the_next_multiple_of_four(before: int) -> None:
    excerpt = Excerpt.around("x" * before + "\t0", before + 1, before + 2)
    assert excerpt.underline(before + 1, before + 2) == ((before // 4 + 1) * 4, 1)


@given(LINES, st.data())
def test_what_is_underlined_is_the_span(line: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(begin, len(line)))
    excerpt = Excerpt.around(line, begin, end)
    assume(begin < end and excerpt.holds(begin, end))
    before, length = excerpt.underline(begin, end)
    assert "".join(cells(excerpt.text)[before : before + length]) == harmless(line[begin:end])


def test_a_combining_mark_takes_no_column_of_its_own() -> None:
    line = "e\N{COMBINING ACUTE ACCENT}e\N{COMBINING ACUTE ACCENT}: 0"
    assert Excerpt.around(line, 6, 7).underline(6, 7) == (4, 1)


@given(LINES, st.data())
def test_no_more_of_a_line_is_shown_than_fits(line: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(begin, len(line)))
    excerpt = Excerpt.around(line, begin, end)
    before, length = excerpt.underline(begin, end)
    assert columns(excerpt.text) <= MAX_COLUMNS + 2
    assert before + length <= MAX_COLUMNS + 2


@pytest.mark.parametrize("character", ["x", "名", "\x1b", "\t", "\N{COMBINING ACUTE ACCENT}"])
def test_a_value_far_in_a_line_is_shown_with_what_is_around_it(character: str) -> None:
    line = character * 500 + "0" + "y" * 500
    excerpt = Excerpt.around(line, 500, 501)
    before, length = excerpt.underline(500, 501)
    assert "".join(cells(excerpt.text)[before : before + length]) == "0"
    assert (excerpt.text[0], excerpt.text[-1]) == ("…", "…")


def test_a_line_that_fits_is_shown_whole() -> None:
    line = "x" * MAX_COLUMNS
    assert Excerpt.around(line, MAX_COLUMNS, MAX_COLUMNS).text == line


def test_a_long_line_is_shown_from_its_begin_where_that_holds_the_span() -> None:
    assert Excerpt.around("x" * 500, 10, 20).text == "x" * MAX_COLUMNS + "…"
