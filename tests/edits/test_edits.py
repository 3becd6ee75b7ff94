"""Edits: in any text of any format, nothing but what was asked for is another."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdtopology.edits import EditError, edited
from pdtopology.formats import Format, json_text, toml_text, yaml_text
from pdtopology.formats.place import Fault
from pdtopology.load import SourceText
from pdtopology.paths import Path, with_value
from tests.edits.texts import KEYS, SECTIONS, Text, json_texts, toml_texts, values, yaml_texts
from tests.formats.nested import values_of

TEXTS = yaml_texts() | json_texts() | toml_texts()
MANY = settings(max_examples=200, deadline=None)
EVERY_FORMAT = pytest.mark.parametrize("file_format", [yaml_text, json_text, toml_text])


def documents_of(text: str, file_format: Format) -> list[Any]:
    return SourceText("", text.removeprefix("\ufeff"), file_format).documents()


def is_within(text: Text, longer: str) -> bool:
    """Whether the longer one is the text with more in between; an empty JSON object may lose its white space."""
    kept = "".join(text.content.split()) if text.format is json_text else text.content
    characters = iter(longer)
    return all(character in characters for character in kept)


def number_and_path(data: st.DataObject, text: Text, keys: list[str] = KEYS) -> tuple[int, Path]:
    """A document and a path that it may have."""
    number = data.draw(st.integers(0, len(text.spans) - 1))
    path = data.draw(st.sampled_from(SECTIONS)), data.draw(st.sampled_from(keys))
    return number, path


# Values in the place of others


@MANY
@given(TEXTS)
def test_no_changes_leave_the_text_as_it_is(text: Text) -> None:
    assert edited(text.content, text.format, 0, {}) == text.content


@MANY
@given(TEXTS)
def test_values_that_are_there_leave_the_text_as_it_is(text: Text) -> None:
    for number, document in enumerate(documents_of(text.content, text.format)):
        changes = {path: value for path, value in values_of(document) if path in text.spans[number]}
        assert edited(text.content, text.format, number, changes) == text.content


@MANY
@given(TEXTS, values, st.data())
def test_a_value_changes_in_its_place_only(text: Text, value: Any, data: st.DataObject) -> None:
    places = [(number, path) for number, spans in enumerate(text.spans) for path in spans]
    if places:
        number, path = data.draw(st.sampled_from(places))
        span = text.spans[number][path]
        result = edited(text.content, text.format, number, {path: value})
        after = text.content[span.end :]
        assert result.startswith(text.content[: span.start])
        assert result.endswith(after)
        written = result[span.start : len(result) - len(after)]
        assert text.format.read(f"value = {written}" if text.format is toml_text else written) in (
            [value],
            [{"value": value}],
        )


@MANY
@given(TEXTS, values, st.data())
def test_the_text_holds_the_change_and_no_other(text: Text, value: Any, data: st.DataObject) -> None:
    number, path = number_and_path(data, text)
    expected = documents_of(text.content, text.format)
    expected[number] = with_value(expected[number], path, value)
    assert documents_of(edited(text.content, text.format, number, {path: value}), text.format) == expected


# Keys that are added


@MANY
@given(TEXTS, values, st.data())
def test_a_key_is_added_and_nothing_else_changed(text: Text, value: Any, data: st.DataObject) -> None:
    number, path = number_and_path(data, text, ["new", "a new one", "é"])
    assert is_within(text, edited(text.content, text.format, number, {path: value}))


@MANY
@given(TEXTS, values, st.data())
def test_an_added_key_is_the_last_of_its_section(text: Text, value: Any, data: st.DataObject) -> None:
    number, path = number_and_path(data, text, ["new"])
    document = documents_of(edited(text.content, text.format, number, {path: value}), text.format)[number]
    assert list(document[path[0]])[-1] == "new"


@MANY
@given(TEXTS, st.data())
def test_a_section_is_added_with_all_its_keys(text: Text, data: st.DataObject) -> None:
    number, _ = number_and_path(data, text)
    changes: dict[Path, Any] = {("new", "env", "A"): "1", ("new", "port"): 80, ("new", "env", "B"): "2"}
    result = edited(text.content, text.format, number, changes)
    assert is_within(text, result)
    assert documents_of(result, text.format)[number]["new"] == {"env": {"A": "1", "B": "2"}, "port": 80}


@MANY
@given(TEXTS, st.data())
def test_the_line_ends_are_those_of_the_text(text: Text, data: st.DataObject) -> None:
    number, path = number_and_path(data, text)
    result = edited(text.content, text.format, number, {path: 1, ("new", "port"): 80})
    if "\n" in text.content:
        assert (result.count("\r\n") == result.count("\n")) == ("\r\n" in text.content)
    assert result.endswith("\n") == text.content.endswith("\n")


@EVERY_FORMAT
@pytest.mark.parametrize("text", ["", "\n", " \r\n", "\ufeff"])
def test_a_blank_text_becomes_a_document(file_format: Format, text: str) -> None:
    result = edited(text, file_format, 0, {("decode", "port"): 80})
    assert result.startswith(text)
    assert documents_of(result, file_format) == [{"decode": {"port": 80}}]


# Any text


TOKENS: dict[Any, list[str]] = {
    yaml_text: [*"{}[],:?-|>#&*!'\" \n\ta1", "a: ", "b: ", "\n  ", "\n", "&a ", "*a", "<<: ", "---\n", "# c", "\r\n"],
    json_text: [*'{}[],: \n\ta1"', '"a": ', '"b":', '{"a":', "null", "1"],
    toml_text: [*"{}[],.=#'\" \n\ta1", "a = ", "\n", "[a]\n", "[b.a]\n", "[[b]]\n", "a.b = 1\n", "b = {", "# c", "'''"],
}


def edited_or_refusal(
    text: str, file_format: Format, document_number: int, changes: dict[Path, Any]
) -> str | EditError:
    try:
        return edited(text, file_format, document_number, changes)
    except EditError as error:
        return error


@EVERY_FORMAT
@MANY
@given(st.data())
def test_any_text_is_edited_rightly_or_refused(file_format: Format, data: st.DataObject) -> None:
    text = "".join(data.draw(st.lists(st.sampled_from(TOKENS[file_format]), max_size=25)))
    try:
        expected = documents_of(text, file_format)
    except Fault:
        return
    number = data.draw(st.integers(0, len(expected) - 1))
    paths = [path for path, _ in values_of(expected[number])]
    path = (*data.draw(st.sampled_from(paths)), *data.draw(st.lists(st.sampled_from("ab"), max_size=2)))
    value = data.draw(values)
    result = edited_or_refusal(text, file_format, number, {path: value})
    if isinstance(result, EditError):
        assert str(result).isprintable()
        return
    before = dict(values_of(expected[number])).get(path)
    expected[number] = with_value(expected[number], path, value)
    assert documents_of(result, file_format) == expected
    assert result.count("# c") + str(before).count("# c") >= text.count("# c")
