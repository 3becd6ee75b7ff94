"""JSON text: what it reads to, how it is refused, and where its values stand."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdtopology.formats import flow, json_text
from pdtopology.formats.place import MAX_DEPTH, MAX_DIGITS, MAX_VALUES, Place, Span
from tests.formats.nested import assert_places, assert_reads_or_faults, fault_of, mappings

SMILE = "\N{GRINNING FACE}"


# Values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("true", True),
        (" -0.5e1 ", -5.0),
        ("12", 12),
        ('"a"', "a"),
        ("[]", []),
        ("{}", {}),
        ("1e999999", math.inf),
    ],
)
def test_each_kind_of_value_is_read(text: str, value: object) -> None:
    assert json_text.read(text) == [value]


def test_a_surrogate_pair_is_one_character() -> None:
    assert json_text.read(r'{"\ud83d\ude00": "\ud83d\ude00"}') == [{SMILE: SMILE}]


def test_a_key_with_a_surrogate_pair_has_a_place() -> None:
    assert json_text.locate(r'{"\ud83d\ude00": 1}')[0][(SMILE,)] == Place(Span(1, 15), Span(17, 18))


def test_a_lone_surrogate_is_read() -> None:
    assert json_text.read(r'{"\ud800": "\udfff"}') == [{"\ud800": "\udfff"}]


def test_a_key_with_a_lone_surrogate_has_a_place() -> None:
    assert ("\ud800",) in json_text.locate(r'{"\ud800": 1}')[0]


def test_two_lone_surrogates_are_two_keys() -> None:
    assert set(json_text.locate(r'{"\ud800": 1, "\udfff": 2}')[0]) == {(), ("\ud800",), ("\udfff",)}


# Faults


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_json_number_is_refused(name: str) -> None:
    text = f'{{"{name}": [1, {name}]}}'
    fault = fault_of(json_text, text)
    expected = ("syntax-error", f"not JSON: {name} is no JSON number", Span(len(text) - 2 - len(name), len(text) - 2))
    assert (fault.code, fault.message, fault.span) == expected


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("[1,]", 3),
        ('{"a": 1,}', 8),
        ("[1 2]", 3),
        ("{'a': 1}", 1),
        ("{a: 1}", 1),
        ("[1] 2", 4),
        ('["a\n"]', 3),
        (r'["\x"]', 2),
        ("// none", 0),
        ("[01]", 2),
        ("\ufeff[]", 0),
        ("[", 1),
    ],
)
def test_a_syntax_fault_points_near_the_character(text: str, start: int) -> None:
    fault = fault_of(json_text, text)
    assert fault.code == "syntax-error"
    assert fault.span
    assert abs(fault.span.start - start) <= 1  # a trailing comma itself in newer Python


def test_a_syntax_fault_is_told_in_the_words_of_python() -> None:
    assert fault_of(json_text, "[1 2]").message == "not JSON: expecting ',' delimiter"


@pytest.mark.parametrize(
    ("text", "earlier", "span"),
    [
        ('{"a": 1, "a": 2}', Span(1, 4), Span(9, 12)),
        ('{"b": {"a": 1, "a": 2}}', Span(7, 10), Span(15, 18)),
        ('[0, {"a": 1, "b": 1, "a": 2}]', Span(5, 8), Span(21, 24)),
        ('{"a": {"c": 1}, "a": {"c": 2}}', Span(1, 4), Span(16, 19)),
        ('{"a": [{"c": 1}], "a": [{"c": 2}]}', Span(1, 4), Span(18, 21)),
        ('{"a": {"c": 1, "c": 1}, "a": 2}', Span(7, 10), Span(15, 18)),
        (r'{"a": 1, "\u0061": 2}', Span(1, 4), Span(9, 17)),
    ],
)
def test_a_key_twice_is_told_with_both_places(text: str, earlier: Span, span: Span) -> None:
    fault = fault_of(json_text, text)
    assert (fault.code, fault.earlier, fault.span) == ("duplicate-key", earlier, span)


def test_a_key_twice_is_named() -> None:
    assert fault_of(json_text, '{"a b": 1, "a b": 2}').message == "the key a b stands twice"


def test_the_same_key_in_two_objects_is_no_fault() -> None:
    assert json_text.read('[{"a": 1}, {"a": {"a": 2}}]') == [[{"a": 1}, {"a": {"a": 2}}]]


@pytest.mark.parametrize("count", [MAX_DEPTH + 1, 500, 10_000, 100_000])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_very_deep_nesting_is_refused_where_it_is_too_deep(opening: str, count: int) -> None:
    text = opening * count + "1" + {"[": "]"}.get(opening, "}") * count
    fault = fault_of(json_text, text)
    start = (MAX_DEPTH + 1) * len(opening)
    assert (fault.message, fault.span) == ("nested deeper than 100 levels", Span(start, start + 1))


def test_nesting_as_deep_as_allowed_is_read() -> None:
    assert json_text.read("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))


def test_too_many_values_are_refused() -> None:
    fault = fault_of(json_text, f"[{'[],' * (MAX_VALUES - 1)}1]")
    assert (fault.code, fault.message) == ("input-too-large", "more than 50,000 values")


def test_as_many_values_as_allowed_are_read() -> None:
    assert json_text.read(f"[{'0,' * (MAX_VALUES - 2)}1]")


def test_a_full_stack_is_taken_for_nesting(monkeypatch: pytest.MonkeyPatch) -> None:
    def overflow(*_: Any, **__: Any) -> None:
        raise RecursionError

    monkeypatch.setattr(json, "loads", overflow)
    assert fault_of(json_text, "[]").message == "nested deeper than 100 levels"


@pytest.mark.parametrize(
    "digits", ["9" * (MAX_DIGITS + 1), "9" * 10_000, "-" + "9" * 10_000, "0." + "3" * 10_000, "1e" + "9" * 10_000]
)
def test_a_number_of_many_digits_is_refused(digits: str) -> None:
    text = f'["{digits}", {digits}]'
    fault = fault_of(json_text, text)
    start = len(digits) + 5
    assert (fault.code, fault.span) == ("input-too-large", Span(start, start + len(digits)))


def test_a_number_of_as_many_digits_as_allowed_is_read() -> None:
    assert json_text.read("9" * MAX_DIGITS) == [10**MAX_DIGITS - 1]


def test_many_digits_in_text_are_no_number() -> None:
    digits = "9" * 10_000
    assert json_text.read(f'{{"{digits}": "a \\" {digits}"}}') == [{digits: f'a " {digits}'}]


def test_a_megabyte_of_text_has_a_place() -> None:
    text = '["' + r"\"" * 500_000 + '"]'
    assert json_text.locate(text)[0][(0,)].value == Span(1, len(text) - 1)


TOKENS = [*'[]{}:,"-.0123eE\\utf \n\té', "null", "true", "NaN", '"a":', '"a"', r"\ud800", SMILE]


@given(st.lists(st.sampled_from(TOKENS) | st.text(max_size=3), max_size=30).map("".join))
def test_any_text_reads_or_faults(text: str) -> None:
    assert_reads_or_faults(json_text, text)


# Places


def test_a_place_is_that_of_the_key_and_of_the_value() -> None:
    text = '{\r\n  "prefill": {"port": 81}\r\n}'
    assert json_text.locate(text)[0] == {
        (): Place(None, Span(0, len(text))),
        ("prefill",): Place(Span(5, 14), Span(16, 28)),
        ("prefill", "port"): Place(Span(17, 23), Span(25, 27)),
    }


def test_an_item_of_a_list_has_no_key() -> None:
    assert json_text.locate('{"a": [null , -1.5e3]}')[0][("a", 1)] == Place(None, Span(14, 20))


def test_white_space_around_the_document_is_not_in_its_place() -> None:
    assert json_text.locate(" \n[1]\n ")[0][()] == Place(None, Span(2, 5))


def test_what_ends_too_early_is_not_scanned_forever() -> None:
    with pytest.raises(ValueError, match="no value at 3"):
        flow.FlowScanner("[1,", ":", json.loads).value(())


# All data


DATA = mappings(st.none())
STYLES = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "indent": st.sampled_from([None, 0, 2, "\t"]),
        "separators": st.sampled_from([None, (",", ":"), (" , ", " : ")]),
    }
)


@given(DATA, STYLES)
def test_data_that_is_written_reads_back(data: dict[str, Any], style: dict[str, Any]) -> None:
    assert json_text.read(json.dumps(data, **style)) == [data]


@given(DATA, STYLES)
def test_every_value_and_key_has_its_place(data: dict[str, Any], style: dict[str, Any]) -> None:
    text = json.dumps(data, **style)
    assert_places(data, text, json_text.locate(text)[0], json.loads, json.loads)
