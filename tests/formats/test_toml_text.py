"""TOML text: what it reads to, how it is refused, and where its values stand."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdtopology.formats import flow, toml_text
from pdtopology.formats.place import MAX_DEPTH, MAX_DIGITS, Place, Span
from pdtopology.paths import Path
from tests.formats.nested import assert_places, assert_reads_or_faults, at, fault_of, mappings


def value_of(text: str) -> Any:
    (document,) = toml_text.read(f"key = {text}")
    return document["key"]


def told(text: str, path: Path) -> tuple[str | None, str]:
    """The key and the value of a path, as the text has them."""
    place = toml_text.locate(text)[0][path]
    return at(text, place.key) if place.key else None, at(text, place.value)


# Values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("0x1F", 31),
        ("0o10", 8),
        ("0b11", 3),
        ("1_000", 1000),
        ("+1.5e3", 1500.0),
        ("-inf", -math.inf),
        ("1e999999", math.inf),
        ("[1, [2],\n # c\n 3,\n]", [1, [2], 3]),
        ("{a = 1, b.c = 'd'}", {"a": 1, "b": {"c": "d"}}),
        ('"a\\tb \\u00e9 \\U0001F600"', "a\tb é \N{GRINNING FACE}"),
        (r"'a\tb'", r"a\tb"),
        ('"""\na\n\\\n  b ""c"""""', 'a\nb ""c""'),
        ("'''\na\\\n''b'''''", "a\\\n''b''"),
    ],
)
def test_each_kind_of_value_is_read(text: str, value: object) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1979-05-27", dt.date(1979, 5, 27)),
        ("07:32:00", dt.time(7, 32)),
        ("1979-05-27 07:32:00Z", dt.datetime(1979, 5, 27, 7, 32, tzinfo=dt.timezone.utc)),
    ],
)
def test_a_date_is_a_date(text: str, value: object) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize("text", ["", "# only a comment", "\r\n"])
def test_a_file_of_nothing_is_an_empty_mapping(text: str) -> None:
    assert toml_text.read(text) == [{}]


def test_the_reader_is_tomli_where_python_has_none() -> None:
    assert vars(toml_text)["tomllib"].__name__ == ("tomllib" if sys.version_info >= (3, 11) else "tomli")


# Faults


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("a = ", 4),
        ("a = 1\nb 2", 8),
        ("a = 1\r\nb = [1 2]", 14),
        ("# one\r\n# two\r\n\r\na = @", 20),
        ("a = 'b", 6),
        ("a = 1979-02-30", 4),
        ("a = 1 b = 2", 6),
        ("[a", 2),
        ("\N{GRINNING FACE} = 1", 0),
        ("a = 1\0", 5),
        ("a.b = 1\na.b.c.d = @", 18),
    ],
)
def test_a_syntax_fault_points_near_the_character(text: str, start: int) -> None:
    fault = fault_of(toml_text, text)
    assert fault.code == "syntax-error"
    assert fault.span
    assert abs(fault.span.start - start) <= 1  # tomli and the versions of Python differ


def test_a_syntax_fault_is_told_in_the_words_of_the_reader() -> None:
    assert fault_of(toml_text, "a = @").message == "not TOML: invalid value"


@pytest.mark.parametrize(
    ("text", "key", "earlier", "span"),
    [
        ("a = 1\na = 2", "a", Span(0, 1), Span(6, 7)),
        ("a = 1\r\n'a' = [2,\r\n3] # c\r\nb = 1", "a", Span(0, 1), Span(7, 10)),
        ("a.b = 1\na . b = 2", "b", Span(2, 3), Span(12, 13)),
        ("[t]\na = 1\nb = 2\na = 3", "a", Span(4, 5), Span(16, 17)),
        ("[t]\n[u]\n[t]\na = 1", "t", Span(1, 2), Span(9, 10)),
        ("[t.u]\n[t]\n[t.u]", "u", Span(3, 4), Span(13, 14)),
        ("[[t]]\n[t]", "t", Span(2, 3), Span(7, 8)),
        ("[[t]]\na = 1\n[[t]]\na = 2\na = 3", "a", Span(18, 19), Span(24, 25)),
        ("x = {a = 1, a = 2}", "a", Span(5, 6), Span(12, 13)),
        ("x = [{}, {a.b = 1, a.b = 2}]", "b", Span(12, 13), Span(21, 22)),
    ],
)
def test_a_key_twice_is_told_with_both_places(text: str, key: str, earlier: Span, span: Span) -> None:
    fault = fault_of(toml_text, text)
    assert (fault.code, fault.message) == ("duplicate-key", f"the key {key} stands twice")
    assert (fault.earlier, fault.span) == (earlier, span)


@pytest.mark.parametrize(
    "text",
    ["a = 1\n[a]", "a = 1\n[a.b]", "a = 1\na.b = 2", "a.b = 1\n[a]", "[b]\n[[b]]", "x = {a = 1, a.b = 2}"],
)
def test_a_value_that_is_also_a_table_is_a_duplicate_too(text: str) -> None:
    fault = fault_of(toml_text, text)
    assert (fault.code, fault.message[:16]) == ("duplicate-key", "not TOML: cannot")


def test_a_table_may_follow_the_tables_inside_it() -> None:
    assert toml_text.read("[a.b]\n[a]\nc = 1") == [{"a": {"b": {}, "c": 1}}]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("a = " + "[" * 10_000, 4 + MAX_DEPTH),
        ("a = " + "{a=" * 10_000, 4 + MAX_DEPTH * 3),
        ("a = " + "[" * 300 + "]" * 300, 4 + MAX_DEPTH),
        (f"[{'.'.join('a' * 60)}]\n{'.'.join('a' * 60)} = 1", 122 + 119 + 3),
        ("\n".join(f"[[{'.'.join('a' * count)}]]" for count in range(1, 60)), 2852),
    ],
)
def test_very_deep_nesting_is_refused_where_it_is_too_deep(text: str, start: int) -> None:
    fault = fault_of(toml_text, text)
    assert fault.message == "nested deeper than 100 levels"
    assert fault.span
    assert fault.span.start == start


@pytest.mark.parametrize("key", [".".join("a" * 20_000), " . ".join(["'a'", '"b"'] * 5_000)])
@pytest.mark.parametrize("line", ["{} = 1", "[{}]", "[[{}]]", "a = {{{} = 1}}"])
def test_a_key_of_thousands_of_parts_is_refused(key: str, line: str) -> None:
    text = line.format(key)
    assert at(text, fault_of(toml_text, text).span) == key


def test_many_dots_in_text_and_comments_are_no_key() -> None:
    dots = ".".join("a" * 1000)
    assert toml_text.read(f"# {dots}\nkey = '{dots}'") == [{"key": dots}]


def test_nesting_as_deep_as_allowed_is_read() -> None:
    assert toml_text.read(f"{'.'.join('a' * MAX_DEPTH)} = 1")


def test_too_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "MAX_VALUES", 5)
    fault = fault_of(toml_text, "[[a]]\nb = [1, 2]")
    assert (fault.code, fault.message) == ("input-too-large", "more than 50,000 values")


def test_a_full_stack_is_taken_for_nesting(monkeypatch: pytest.MonkeyPatch) -> None:
    def overflow(_: str) -> None:
        raise RecursionError

    monkeypatch.setattr(vars(toml_text)["tomllib"], "loads", overflow)
    assert fault_of(toml_text, "a = 1").message == "nested deeper than 100 levels"


@pytest.mark.parametrize(
    "digits",
    ["9" * (MAX_DIGITS + 1), "9" * 10_000, "0x" + "f" * 10_000, "-1_" + "0" * 10_000, "0." + "3" * 10_000],
)
def test_a_number_of_many_digits_is_refused(digits: str) -> None:
    text = f"# {digits}\na = ['{digits}', {digits}]"
    fault = fault_of(toml_text, text)
    start = 2 * len(digits) + 12
    assert (fault.code, fault.span) == ("input-too-large", Span(start, start + len(digits)))


def test_a_number_of_as_many_digits_as_allowed_is_read() -> None:
    assert value_of("9" * MAX_DIGITS) == 10**MAX_DIGITS - 1


TOKENS = [*"[]{}=.,#\"'\\\n\r\t -_012aeé", "a = ", "[a]\n", "[[a]]\n", "a.b = 1\n", '"""', "'''", "1979-05-27", "true"]


@given(st.lists(st.sampled_from(TOKENS) | st.text(max_size=3), max_size=30).map("".join))
def test_any_text_reads_or_faults(text: str) -> None:
    assert_reads_or_faults(toml_text, text)


# Places


def test_a_place_is_that_of_the_key_and_of_the_value() -> None:
    text = "[prefill]\r\nport = 81 # here\r\n"
    assert toml_text.locate(text)[0] == {
        (): Place(None, Span(0, len(text))),
        ("prefill",): Place(Span(1, 8), Span(1, 8)),
        ("prefill", "port"): Place(Span(11, 15), Span(18, 20)),
    }


@pytest.mark.parametrize(
    ("text", "path", "key", "value"),
    [
        ("'a.b' = 1", ("a.b",), "'a.b'", "1"),
        (r'"\u00e9" = 1', ("é",), r'"\u00e9"', "1"),
        ("a . b = 1", ("a", "b"), "b", "1"),
        ("a.b = 1", ("a",), "a", "a.b = 1"),
        ("[a.b]\nc = 1", ("a", "b"), "b", "b"),
        ("[ a . 'b' ]\nc = 1", ("a", "b"), "'b'", "'b'"),
        ("[a.b]\nc.d = 1", ("a", "b", "c", "d"), "d", "1"),
        ("a = {b = [1, {c = 2}]} # x", ("a",), "a", "{b = [1, {c = 2}]}"),
        ("a = {b = [1, {c = 2}]}", ("a", "b", 1, "c"), "c", "2"),
        ("a = [\n  1, # one\n  2, # two\n]", ("a", 1), None, "2"),
        ("[[a]]\nb = 1\n[[a]]\nb = 2", ("a", 1, "b"), "b", "2"),
        ("[[a]]\n[a.b]\nc = 1\n[[a]]\n[a.b]\nc = 2", ("a", 1, "b", "c"), "c", "2"),
        ("[[a]]\n[[a.b]]\n[[a.b]]\nc = 1", ("a", 0, "b", 1, "c"), "c", "1"),
        ("a = 1979-05-27 07:32:00 # x", ("a",), "a", "1979-05-27 07:32:00"),
        ("a = 'b # c' # x", ("a",), "a", "'b # c'"),
        ('a = """\n"b" # c\\"""""" # x', ("a",), "a", '"""\n"b" # c\\""""""'),
        ("a = '''b''''' # x", ("a",), "a", "'''b'''''"),
        ("a = ''''''\nb = 1", ("b",), "b", "1"),
        ('a = ["", "]"]', ("a", 1), None, '"]"'),
    ],
)
def test_a_value_has_a_place(text: str, path: Path, key: str | None, value: str) -> None:
    assert told(text, path) == (key, value)


def test_an_item_of_an_array_of_tables_stands_at_its_header() -> None:
    assert toml_text.locate("[[a]]\n[[a]]")[0][("a", 1)] == Place(None, Span(8, 9))


# All data


def escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1].replace("\x7f", r"\u007f")


def quoted(text: str, quotes: str) -> str:
    """The text in quotes of a kind, or in plain ones where the kind cannot hold it."""
    if "'" in quotes and text.isprintable() and "'" not in text:
        return f"{quotes}{text}{quotes}"
    return f'"""\n{escaped(text)}"""' if quotes == '"""' else f'"{escaped(text)}"'


def written_key(text: str, quotes: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else quoted(text, quotes[0])


def inline(value: Any, quotes: str) -> str:
    if isinstance(value, str):
        return quoted(value, quotes)
    if isinstance(value, list):
        items = [f"{inline(item, quotes)}, # ]\n" for item in value]
        return f"[{''.join(items)}]"
    if isinstance(value, dict):
        members = [f"{written_key(key, quotes)} = {inline(item, quotes)}" for key, item in value.items()]
        return f"{{{', '.join(members)}}}"
    return repr(value).lower()


def is_tables(value: Any) -> bool:
    items = value if isinstance(value, list) else [value]
    return bool(items) and all(isinstance(item, dict) for item in items)


def tables(data: dict[str, Any], quotes: str, header: str = "") -> Iterator[str]:
    for key, value in data.items():
        if not is_tables(value):
            yield f"{written_key(key, quotes)} = {inline(value, quotes)}"
    for key, value in data.items():
        if is_tables(value):
            name = f"{header}{written_key(key, quotes)}"
            for table in value if isinstance(value, list) else [value]:
                yield f"[[{name}]]" if isinstance(value, list) else f"[ {name} ] # ]"
                yield from tables(table, quotes, f"{name} . ")


def dotted(data: dict[str, Any], quotes: str, header: str = "") -> Iterator[str]:
    for key, value in data.items():
        name = f"{header}{written_key(key, quotes)}"
        if value and isinstance(value, dict):
            yield from dotted(value, quotes, f"{name}.")
        else:
            yield f"{name} = {inline(value, quotes)}"


@st.composite
def documents(draw: st.DrawFn) -> tuple[Any, str]:
    """Data and one of the ways to write it."""
    data = draw(mappings())
    statements = draw(st.sampled_from([tables, dotted]))(data, draw(st.sampled_from(['"', "'", '"""', "'''"])))
    text = "\n".join(statements)
    return data, text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@given(documents())
def test_data_that_is_written_reads_back(document: tuple[Any, str]) -> None:
    data, text = document
    assert toml_text.read(text) == [data]


@given(documents())
def test_every_value_and_key_has_its_place(document: tuple[Any, str]) -> None:
    data, text = document

    def key_of(part: str) -> str:
        (key,) = toml_text.read(f"{part} = 1")[0]
        return str(key)

    assert_places(data, text, toml_text.locate(text)[0], value_of, key_of)
