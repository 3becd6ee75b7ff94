"""YAML text: what it reads to, how it is refused, and where its values stand."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pdtopology.formats import yaml_text
from pdtopology.formats.place import MAX_DEPTH, Place, Span
from tests.formats.nested import assert_places, assert_reads_or_faults, at, fault_of, mappings


def value_of(text: str) -> Any:
    (document,) = yaml_text.read(f"key: {text}")
    return document["key"]


# Plain scalars by the core schema


@pytest.mark.parametrize("text", ["yes", "no", "on", "off", "y", "n", "Yes", "NO", "tRUE"])
def test_only_true_and_false_are_truth_values(text: str) -> None:
    assert value_of(text) == text


@pytest.mark.parametrize("text", ["true", "True", "TRUE"])
def test_true_has_three_spellings(text: str) -> None:
    assert value_of(text) is True


@pytest.mark.parametrize("text", ["false", "False", "FALSE"])
def test_false_has_three_spellings(text: str) -> None:
    assert value_of(text) is False


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_null_has_four_spellings_and_none(text: str) -> None:
    assert value_of(text) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("0xff", 255),
        ("+7", 7),
        ("-7", -7),
    ],
)
def test_a_whole_number_is_an_int(text: str, number: int) -> None:
    value = value_of(text)
    assert (type(value), value) == (int, number)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1e3", 1000.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("-1.5E-3", -0.0015),
        ("0.30", 0.3),
        (".inf", math.inf),
        ("+.Inf", math.inf),
        ("-.INF", -math.inf),
    ],
)
def test_a_fraction_or_an_exponent_makes_a_float(text: str, number: float) -> None:
    value = value_of(text)
    assert (type(value), value) == (float, number)


@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"])
def test_not_a_number_has_three_spellings(text: str) -> None:
    assert math.isnan(value_of(text))


def test_an_exponent_beyond_floats_is_infinity() -> None:
    assert value_of("1e999999") == math.inf


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-31",
        "2024-01-31T12:00:00Z",
        "12:30:45",
        "1_000",
        "0b11",
        "0x",
        "0o8",
        "-0x1F",
        "1e",
        ".",
        "inf",
        "nan",
        "-.nan",
        "1.2.3",
        "=",
        "<<",
    ],
)
def test_what_the_core_schema_does_not_name_is_text(text: str) -> None:
    assert value_of(text) == text


@pytest.mark.parametrize("text", ["'1'", '"1"', "'true'", '"null"', "''"])
def test_quotes_make_text(text: str) -> None:
    assert value_of(text) == text[1:-1]


def test_a_literal_block_keeps_its_lines() -> None:
    assert value_of("|\n  one\n  two\n") == "one\ntwo\n"


def test_a_folded_block_joins_its_lines() -> None:
    assert value_of(">-\n  one\n  two\n") == "one two"


# Tags


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!!str 12", "12"),
        ("!!int '12'", 12),
        ("!!float 1", 1.0),
        ("!!float '.inf'", math.inf),
        ("!!bool 'true'", True),
        ("!!null ''", None),
        ("!!map {a: 1}", {"a": 1}),
        ("!!seq [1]", [1]),
        ("! 'a'", "a"),
    ],
)
def test_a_tag_of_the_core_schema_converts(text: str, value: object) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "!!int four",
        "!!int ''",
        "!!int 1_000",
        "!!int ' 1'",
        "!!int 1.5",
        "!!float infinity",
        "!!bool yes",
        "!!bool ''",
        "!!null none",
        "!!merge a",
    ],
)
def test_a_tag_on_text_of_another_kind_is_refused(text: str) -> None:
    fault = fault_of(yaml_text, f"key: {text}")
    assert (fault.code, at(f"key: {text}", fault.span)) == ("syntax-error", text)


@pytest.mark.parametrize(
    "text",
    [
        "!size 1",
        "!!timestamp 2024-01-31",
        "!!binary aGk=",
        "!!set {a}",
        "!!python/object/apply:os.system [id]",
        "!!map [1]",
        "!!seq {a: 1}",
        "!!seq 1",
    ],
)
def test_any_other_tag_is_refused(text: str) -> None:
    fault = fault_of(yaml_text, f"key: {text}")
    assert (fault.code, at(f"key: {text}", fault.span)) == ("syntax-error", text)


def test_a_key_with_an_unknown_tag_is_refused() -> None:
    assert fault_of(yaml_text, "!size a: 1").message == "the tag !size has no meaning here"


def test_a_tag_with_a_line_break_is_told_in_one_line() -> None:
    assert fault_of(yaml_text, "!<%0Ax> a").message == r"the tag '\nx' has no meaning here"


# Keys


@pytest.mark.parametrize("key", ["1", "0x1", "true", "null", "~", "1.50", "2024-01-31", "on", "="])
def test_a_key_is_text_as_it_is_written(key: str) -> None:
    assert yaml_text.read(f"{key}: a") == [{key: "a"}]


@pytest.mark.parametrize("key", ["[a]", "{a: b}"])
def test_a_collection_is_no_key(key: str) -> None:
    fault = fault_of(yaml_text, f"? {key}\n: 1")
    assert (fault.message, fault.span) == ("a key must be plain text", Span(2, 2 + len(key)))


def test_an_alias_may_be_a_key() -> None:
    assert yaml_text.read("a: &name b\n*name : 1") == [{"a": "b", "b": 1}]


@pytest.mark.parametrize("text", ["a: 1\na: 2", 'a: 1\n"a": 2', "{a: 1, b: 2, 'a': 3}", "x: [{a: 1, a: 1}]"])
def test_a_key_twice_in_one_mapping_is_refused(text: str) -> None:
    fault = fault_of(yaml_text, text)
    assert (fault.code, fault.message) == ("duplicate-key", "the key a stands twice")


def test_a_key_twice_is_told_with_both_places() -> None:
    text = 'a: 1\nb: 2\n"a": 3'
    fault = fault_of(yaml_text, text)
    assert (fault.span, fault.earlier) == (Span(10, 13), Span(0, 1))


def test_a_quoted_merge_key_twice_is_told_with_its_own_places() -> None:
    text = "<<: {a: 1}\n'<<': 1\n\"<<\": 2"
    fault = fault_of(yaml_text, text)
    assert (at(text, fault.earlier), at(text, fault.span)) == ("'<<'", '"<<"')


def test_the_same_key_in_two_mappings_is_no_fault() -> None:
    assert yaml_text.read("a: {c: 1}\nb: {c: 2}") == [{"a": {"c": 1}, "b": {"c": 2}}]


@pytest.mark.parametrize(
    ("key", "told"),
    [('"a\\nb"', r"'a\nb'"), ("''", "''"), ("k" * 1000, "k" * 60 + "…")],
)
def test_a_key_twice_is_told_in_one_short_line(key: str, told: str) -> None:
    assert fault_of(yaml_text, f"? {key}\n: 1\n? {key}\n: 2").message == f"the key {told} stands twice"


# Aliases and merge keys


def test_an_alias_stands_for_its_anchor() -> None:
    assert yaml_text.read("a: &x {b: 1}\nc: *x") == [{"a": {"b": 1}, "c": {"b": 1}}]


def test_an_aliased_collection_is_read_anew_each_time() -> None:
    (document,) = yaml_text.read("a: &x [1]\nb: *x")
    assert document["a"] is not document["b"]


def test_an_alias_without_an_anchor_is_refused() -> None:
    fault = fault_of(yaml_text, "a: *x")
    assert (fault.code, fault.span) == ("syntax-error", Span(3, 4))


def test_an_anchor_ends_with_its_document() -> None:
    assert fault_of(yaml_text, "a: &x 1\n---\nb: *x").code == "syntax-error"


def test_a_merge_adds_the_keys_of_a_mapping() -> None:
    assert yaml_text.read("a: &x {b: 1}\nc: {<<: *x, d: 2}")[0]["c"] == {"b": 1, "d": 2}


@pytest.mark.parametrize("text", ["a: 1\n<<: {a: 2}", "<<: {a: 2}\na: 1"])
def test_an_explicit_key_is_stronger_than_a_merged_one(text: str) -> None:
    assert yaml_text.read(text) == [{"a": 1}]


@pytest.mark.parametrize("text", ["<<: [{a: 1}, {a: 2, b: 3}]", "<<: {a: 1}\n<<: {a: 2, b: 3}"])
def test_an_earlier_merge_is_stronger_than_a_later_one(text: str) -> None:
    assert yaml_text.read(text) == [{"a": 1, "b": 3}]


def test_a_merged_mapping_may_merge_another() -> None:
    text = "a: &a {x: 1, y: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b}"
    assert yaml_text.read(text)[0]["c"] == {"x": 1, "y": 2}


def test_a_quoted_merge_key_is_a_key() -> None:
    assert yaml_text.read('"<<": {a: 1}') == [{"<<": {"a": 1}}]


@pytest.mark.parametrize(("text", "told"), [("<<: 1", "1"), ("<<: [{a: 1}, b]", "b"), ("<<: [[{a: 1}]]", "[{a: 1}]")])
def test_a_merge_of_anything_but_mappings_is_refused(text: str, told: str) -> None:
    fault = fault_of(yaml_text, text)
    assert (fault.message, at(text, fault.span)) == ("<< merges mappings only", told)


# Hostile text


@pytest.mark.parametrize(
    "text",
    [
        "&a [*a]",
        "&a {b: *a}",
        "&a\n- *a\n",
        "&a\nb: *a\n",
        "- &b 1\n- &a\n  - *b\n  - *a\n",
        "&a {<<: *a}",
        "&a\n<<: *a\n",
        "&a {<<: [*a, *a]}",
    ],
)
def test_an_alias_inside_its_own_anchor_is_refused(text: str) -> None:
    assert fault_of(yaml_text, text).message == "nested deeper than 100 levels"


def test_an_alias_bomb_is_refused() -> None:
    lists = [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 30)]
    fault = fault_of(yaml_text, "\n".join(["a0: &a0 [x]", *lists]))
    assert (fault.code, fault.message) == ("input-too-large", "more than 50,000 values")


def test_a_merge_bomb_is_refused() -> None:
    merges = [f"m{level}: &m{level} {{<<: [*m{level - 1}, *m{level - 1}]}}" for level in range(1, 60)]
    fault = fault_of(yaml_text, "\n".join(["m0: &m0 {a: 1}", *merges]))
    assert fault.code == "input-too-large"


def test_alias_bombs_in_many_documents_are_counted_together() -> None:
    bomb = "- &a [x,x,x,x,x,x,x,x,x]\n- &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n- [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n---\n"
    assert fault_of(yaml_text, bomb * 300).message == "more than 50,000 values"


def test_thousands_of_merged_mappings_are_read() -> None:
    sources = ", ".join(f"{{k{number}: 1}}" for number in range(9000))
    assert len(yaml_text.read(f"<<: [{sources}]")[0]) == 9000


def test_too_many_values_are_refused_where_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "MAX_VALUES", 5)
    text = "a: [1, 2]\nb: {c: 3}"
    assert at(text, fault_of(yaml_text, text).span) == "3"


def test_as_many_values_as_allowed_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "MAX_VALUES", 6)
    assert yaml_text.read("a: [1, 2]\nb: {c: 3}") == [{"a": [1, 2], "b": {"c": 3}}]


@pytest.mark.parametrize("text", ["[" + "a," * 9000 + "]", "- a\n" * 9000, "--- a\n" * 9000])
def test_far_too_many_values_are_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "MAX_VALUES", 1000)
    fault = fault_of(yaml_text, text)
    assert (fault.message, len(at(text, fault.span))) == ("more than 50,000 values", 1)


def test_thousands_of_tag_directives_are_refused() -> None:
    text = "".join(f"%TAG !{number}! x\n" for number in range(50_000))
    assert fault_of(yaml_text, f"{text}--- a").message == "more than 100 %TAG directives"


@pytest.mark.parametrize("count", [10_000, 1_000_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("- ", ""), ("{a: ", "}"), ("? ", "")])
def test_very_deep_nesting_is_refused(opening: str, closing: str, count: int) -> None:
    text = opening * count + closing * count
    assert fault_of(yaml_text, text).message == "nested deeper than 100 levels"


def test_nesting_in_lines_is_refused_where_it_is_too_deep() -> None:
    text = "\n".join(f"{' ' * level}a:" for level in range(MAX_DEPTH + 2))
    assert fault_of(yaml_text, text).span == Span(len(text) - 2, len(text))


def test_nesting_as_deep_as_allowed_is_read() -> None:
    (document,) = yaml_text.read("[" * MAX_DEPTH + "1" + "]" * MAX_DEPTH)
    for _ in range(MAX_DEPTH):
        (document,) = document
    assert document == 1


def test_nesting_one_level_deeper_is_refused() -> None:
    text = "[" * (MAX_DEPTH + 1) + "1" + "]" * (MAX_DEPTH + 1)
    assert at(text, fault_of(yaml_text, text).span) == "1"


@pytest.mark.parametrize("digits", ["9" * 10_000, "0x" + "f" * 10_000, "0o" + "7" * 10_000, "1." + "0" * 10_000])
def test_a_number_of_thousands_of_digits_is_refused(digits: str) -> None:
    fault = fault_of(yaml_text, f"a: {digits}")
    assert (fault.code, fault.span) == ("input-too-large", Span(3, 3 + len(digits)))


def test_the_length_of_a_refused_number_is_told() -> None:
    assert fault_of(yaml_text, "9" * 10_000).message == "a number of 10,000 characters"


def test_quoted_digits_may_be_many() -> None:
    assert value_of(f"'{'9' * 10_000}'") == "9" * 10_000


@pytest.mark.parametrize(
    ("character", "code"),
    [("\0", "U+0000"), ("\x07", "U+0007"), ("\x7f", "U+007F"), ("\ufffe", "U+FFFE"), ("\ud800", "U+D800")],
)
def test_a_character_that_yaml_does_not_allow_is_named(character: str, code: str) -> None:
    fault = fault_of(yaml_text, f"a: b{character}")
    assert (fault.message, fault.span) == (f"not YAML: the character {code} is not allowed", Span(4, 5))


@pytest.mark.parametrize("text", ["a:\n\t- b", "a: b\n\tc: d", "\ta: 1"])
def test_a_tab_as_indentation_is_told(text: str) -> None:
    fault = fault_of(yaml_text, text)
    assert (fault.hint, at(text, fault.span)) == ("indent with spaces; YAML allows no tabs there", "\t")


def test_a_tab_between_words_is_blank() -> None:
    assert yaml_text.read("a:\tb\t# c") == [{"a": "b"}]


@pytest.mark.parametrize(
    ("text", "start"),
    [("a: [1, 2", 8), ("a: b: c", 4), ("a: 'b", 5), ("a: 1\n b: 2", 7), ("a: @b", 3), ("\N{GRINNING FACE}: [}", 4)],
)
def test_a_syntax_fault_points_at_the_character(text: str, start: int) -> None:
    fault = fault_of(yaml_text, text)
    assert (fault.code, fault.span) == ("syntax-error", Span(start, start + 1))


def test_a_syntax_fault_is_told_in_one_line() -> None:
    expected = "not YAML: while parsing a flow sequence, did not find expected ',' or ']'"
    assert fault_of(yaml_text, "a: [1, 2").message == expected


def test_a_later_version_of_yaml_is_refused() -> None:
    assert fault_of(yaml_text, "%YAML 3.0\n---\na: 1").message == "not YAML: found incompatible YAML document"


TOKENS = [*"[]{}:,-?#&*!|>'\"%@`\\\n\r\t \0aé", "a: ", "- ", "<<: ", "&x ", "*x", "---\n", "...\n", "\N{GRINNING FACE}"]


@given(st.lists(st.sampled_from(TOKENS) | st.text(max_size=3), max_size=30).map("".join))
def test_any_text_reads_or_faults(text: str) -> None:
    assert_reads_or_faults(yaml_text, text)


# Documents and lines


def test_a_stream_holds_several_documents() -> None:
    assert yaml_text.read("a: 1\n---\nb: 2\n...\n---\nc") == [{"a": 1}, {"b": 2}, "c"]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "---\n---\n...\n", "null", "~"])
def test_a_stream_of_nothing_is_one_empty_document(text: str) -> None:
    assert yaml_text.read(text) == [None]


def test_a_stream_of_nothing_has_no_places() -> None:
    assert yaml_text.locate("---\n---\n") == []


def test_an_empty_document_beside_another_does_not_count() -> None:
    assert yaml_text.read("---\n---\na: 1\n---\n") == [{"a": 1}]


def test_places_are_those_of_the_documents_that_count() -> None:
    located = yaml_text.locate("---\n---\na: 1\n---\n--- b")
    assert [list(places) for places in located] == [[(), ("a",)], [()]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_separates(end: str) -> None:
    assert yaml_text.read(f"a: 1{end}b:{end}  - 2{end}") == [{"a": 1, "b": [2]}]


# Places


def test_a_place_is_that_of_the_key_and_of_the_value() -> None:
    text = "prefill:\r\n  port: 81  # here\r\n"
    assert yaml_text.locate(text)[0][("prefill", "port")] == Place(Span(12, 16), Span(18, 20))


def test_an_item_of_a_list_has_no_key() -> None:
    assert yaml_text.locate("a: [x, y]")[0][("a", 1)] == Place(None, Span(7, 8))


def test_characters_count_not_bytes() -> None:
    assert yaml_text.locate("\N{GRINNING FACE}: é")[0][("\N{GRINNING FACE}",)] == Place(Span(0, 1), Span(3, 4))


def test_a_missing_value_is_after_its_colon() -> None:
    assert yaml_text.locate("a:\n\nb: 1")[0][("a",)] == Place(Span(0, 1), Span(2, 2))


@pytest.mark.parametrize("text", ["a: 1\nb:\n  - 2\n  - c: 3", "- - 1\n  - 2", "a:\n- 1\n- [2,\n 3]"])
def test_a_block_ends_with_its_last_value(text: str) -> None:
    places = yaml_text.locate(f"{text}\n\n# a comment\n")[0]
    assert places[()].value == Span(0, len(text))


@pytest.mark.parametrize("block", ["  c: *x", "  - *x", "  - 1\n  - *x", "  c:\n    - *x"])
def test_a_block_that_ends_with_an_alias_ends_where_the_next_thing_begins(block: str) -> None:
    text = f"a: &x 1\nb:\n{block}\n"
    places = yaml_text.locate(f"{text}d: 2")[0]
    assert places[("b",)].value == Span(13, len(text))


def test_a_literal_block_is_its_sign_and_its_lines() -> None:
    text = "a: |\n  one\n  two\nb: 1"
    assert at(text, yaml_text.locate(text)[0][("a",)].value) == "|\n  one\n  two\n"


def test_an_aliased_value_stands_at_its_anchor() -> None:
    text = "a: &x {b: 1}\nc: *x"
    places = yaml_text.locate(text)[0]
    assert (at(text, places[("c",)].key), at(text, places[("c", "b")].value)) == ("c", "1")


def test_a_merged_value_stands_in_the_mapping_that_is_merged() -> None:
    text = "a: &x {b: 1}\nc: {<<: *x, d: 2}"
    assert yaml_text.locate(text)[0][("c", "b")] == Place(Span(7, 8), Span(10, 11))


def test_a_value_merged_twice_removed_has_a_place() -> None:
    text = "a: &a {x: 1}\nb: &b {<<: *a}\nc: {<<: [{y: 2}, *b]}"
    assert at(text, yaml_text.locate(text)[0][("c", "x")].value) == "1"


def test_a_merged_value_that_is_overridden_leaves_no_place() -> None:
    text = "a: &x {b: {old: 1}}\nc: {<<: *x, b: {new: 2}}"
    assert [path[2:] for path in yaml_text.locate(text)[0] if path[:2] == ("c", "b")] == [(), ("new",)]


# All data


class CoreSchemaDumper(yaml.SafeDumper):
    """PyYAML's writer, which also quotes what only the core schema takes for a number."""


CoreSchemaDumper.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"[-+]?[0-9]+$|0o[0-7]+$|0x[0-9a-fA-F]+$"), list("-+0123456789")
)
CoreSchemaDumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"),
    list("-+.0123456789"),
)

STYLES = st.fixed_dictionaries(
    {
        "default_flow_style": st.sampled_from([False, True, None]),
        "default_style": st.sampled_from([None, "'", '"']),
        "allow_unicode": st.booleans(),
        "indent": st.sampled_from([2, 4]),
        "width": st.sampled_from([20, 80]),
        "line_break": st.sampled_from(["\n", "\r\n"]),
    }
)
DATA = mappings(st.none(), without="\x85\u2028\u2029")  # which PyYAML writes as line breaks


def written(data: Any, style: dict[str, Any]) -> str:
    return str(yaml.dump(data, Dumper=CoreSchemaDumper, **style))


@given(DATA, STYLES)
def test_data_that_is_written_reads_back(data: dict[str, Any], style: dict[str, Any]) -> None:
    assert yaml_text.read(written(data, style)) == [data]


@given(DATA, STYLES)
def test_every_value_and_key_has_its_place(data: dict[str, Any], style: dict[str, Any]) -> None:
    text = written(data, style)

    def scalar(part: str) -> Any:
        return yaml_text.read(part)[0]

    assert_places(data, text, yaml_text.locate(text)[0], scalar, scalar)
