"""Sources: files, standard input, text and mappings, and how they are refused."""

from __future__ import annotations

import builtins
import io
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pdtopology.formats import yaml_text
from pdtopology.formats.place import Place, Span
from pdtopology.load import MAX_BYTES, Case, Document, Source, SourceFault, SourceText, read_case, read_cases
from pdtopology.overrides import Override, overrides_at


def data_of(source: Source) -> list[Any]:
    return [case.data for case in read_cases(source, {})]


def overridden(source: Source | Mapping[str, Any], values: Mapping[str, Any]) -> list[Case]:
    return read_cases(source, overrides_at(values, "--set"))


def fault_of(source: Source) -> SourceFault:
    with pytest.raises(SourceFault) as caught:
        read_cases(source, {})
    return caught.value


def file(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def document_of(source: Source) -> Document:
    (case,) = read_cases(source, {})
    assert case.document
    return case.document


# Formats


@pytest.mark.parametrize("name", ["a.yaml", "a.yml", "a.YAML", "a.txt", "a", ".json.d"])
def test_a_file_is_yaml_where_its_name_says_nothing_else(tmp_path: Path, name: str) -> None:
    assert data_of(file(tmp_path, name, "a: 010\n")) == [{"a": 10}]


@pytest.mark.parametrize("name", ["a.json", "a.JSON", "a.yaml.Json"])
def test_a_file_named_json_is_json(tmp_path: Path, name: str) -> None:
    assert fault_of(file(tmp_path, name, "a: 1")).fault.message == "not JSON: expecting value"


@pytest.mark.parametrize("name", ["a.toml", "a.TOML"])
def test_a_file_named_toml_is_toml(tmp_path: Path, name: str) -> None:
    assert data_of(file(tmp_path, name, "[a]\nb = 1")) == [{"a": {"b": 1}}]


@pytest.mark.parametrize("name", ["a.yaml", "a.json", "a.toml"])
@pytest.mark.parametrize("content", ["", "\n", " \r\n\t"])
def test_a_blank_file_is_one_empty_document_in_any_format(tmp_path: Path, name: str, content: str) -> None:
    assert data_of(file(tmp_path, name, content)) == [None]


@pytest.mark.parametrize("name", ["a.yaml", "a.json", "a.toml"])
def test_nothing_has_a_place_in_a_blank_file(tmp_path: Path, name: str) -> None:
    assert document_of(file(tmp_path, name, "\t\n")).place(("a",)) is None


# Files that cannot be read


def test_a_missing_file_is_unreadable(tmp_path: Path) -> None:
    fault = fault_of(tmp_path / "none.yaml").fault
    assert (fault.code, fault.message) == ("unreadable-file", "cannot be read: No such file or directory")


def test_a_directory_is_unreadable(tmp_path: Path) -> None:
    fault = fault_of(tmp_path).fault
    assert (fault.code, fault.message) == ("unreadable-file", "cannot be read: Is a directory")


def test_a_file_of_someone_else_is_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(builtins, "open", refuse)
    fault = fault_of("secret.yaml").fault
    assert (fault.code, fault.message) == ("unreadable-file", "cannot be read: Permission denied")


@pytest.mark.parametrize("name", ["a\0b.yaml", "a\ud800.yaml", "a" * 5000])
def test_a_name_that_no_file_can_have_is_unreadable(name: str) -> None:
    assert fault_of(name).fault.code == "unreadable-file"


def test_a_fault_is_told_with_the_name_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    assert str(fault_of(path)) == f"{path}: cannot be read: No such file or directory"


def test_a_file_larger_than_ten_mebibytes_is_refused(tmp_path: Path) -> None:
    fault = fault_of(file(tmp_path, "a.yaml", b"#" * (MAX_BYTES + 1))).fault
    assert (fault.code, fault.message) == ("input-too-large", "larger than 10 MiB, which no topology is")


def test_a_file_of_ten_mebibytes_is_read(tmp_path: Path) -> None:
    assert data_of(file(tmp_path, "a.yaml", b"#" * MAX_BYTES)) == [None]


# Encodings


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    document = document_of(file(tmp_path, "a.json", b'\xef\xbb\xbf{"a": 1}'))
    assert document.place(("a",)) == Place(Span(1, 4), Span(6, 7))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_refused(tmp_path: Path, encoding: str) -> None:
    assert fault_of(file(tmp_path, "a.yaml", "a: é\n".encode(encoding))).fault.code in (
        "unreadable-file",
        "syntax-error",
    )


def test_utf_16_is_named_where_it_says_so(tmp_path: Path) -> None:
    fault = fault_of(file(tmp_path, "a.yaml", b"\xff\xfea\0:\0")).fault
    assert (fault.message, fault.hint) == ("is UTF-16: byte 0xff in line 1", "save it as UTF-8")


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_what_is_not_utf_8_is_told_with_its_line(tmp_path: Path, mark: bytes) -> None:
    fault = fault_of(file(tmp_path, "a.yaml", mark + b"a: 1\r\nb: \xe9\r\n")).fault
    assert (fault.code, fault.message) == ("unreadable-file", "is not UTF-8: byte 0xe9 in line 2")


def test_an_unfinished_character_at_the_end_is_not_utf_8(tmp_path: Path) -> None:
    fault = fault_of(file(tmp_path, "a.yaml", b"a: 1\nb: \xf0\x9f")).fault
    assert fault.message == "is not UTF-8: byte 0xf0 in line 2"


# Standard input


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"\xef\xbb\xbfa: 1")))
    assert data_of("-") == [{"a": 1}]


def test_a_fault_of_standard_input_is_told_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"a: [")))
    assert fault_of("-").name == "<stdin>"


def test_standard_input_larger_than_ten_mebibytes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"#" * (MAX_BYTES + 1))))
    assert fault_of("-").fault.code == "input-too-large"


def test_closed_standard_input_is_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    fault = fault_of("-").fault
    assert (fault.code, fault.message) == ("unreadable-file", "cannot be read: standard input is closed")


# Text and mappings


def test_a_string_with_a_line_break_is_the_text_itself() -> None:
    assert data_of("a: 1\n") == [{"a": 1}]


def test_a_string_without_a_line_break_is_a_path() -> None:
    assert fault_of("a: 1").fault.code == "unreadable-file"


def test_a_fault_of_a_text_is_told_with_a_name_for_it() -> None:
    fault = fault_of("a: [\n")
    assert (fault.name, fault.text and fault.text.content) == ("<text>", "a: [\n")


def test_a_text_with_a_lone_surrogate_is_a_fault() -> None:
    assert fault_of("a: \ud800\n").fault.span == Span(3, 4)


def test_a_mapping_is_a_document_without_a_text() -> None:
    (case,) = read_cases({"a": 1}, {})
    assert (case.data, case.document) == ({"a": 1}, None)


# Several documents


def test_every_document_of_a_stream_is_a_case() -> None:
    assert data_of("a: 1\n---\n---\nb: 2\n") == [{"a": 1}, {"b": 2}]


def test_each_document_knows_its_own_places() -> None:
    _, second = read_cases("a: 1\n---\nb: 2\n", {})
    assert second.document
    assert second.document.place(("b",)) == Place(Span(9, 10), Span(12, 13))


def test_one_document_is_read_where_one_is_wanted() -> None:
    assert read_case("a: 1\n", {}).data == {"a": 1}


def test_several_documents_are_refused_where_one_is_wanted() -> None:
    with pytest.raises(SourceFault, match=r"^<text>: holds 2 documents, where one topology is wanted$") as caught:
        read_case("a: 1\n---\nb: 2\n", {})
    assert caught.value.fault.code == "syntax-error"


# Places


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        (("a",), Place(Span(0, 1), Span(3, 9))),
        (("a", "missing"), Place(Span(0, 1), Span(3, 9))),
        (("a", "b", 3, "c"), Place(Span(4, 5), Span(7, 8))),
    ],
)
def test_a_value_that_is_not_stated_stands_where_the_nearest_thing_around_it_does(
    path: tuple[str | int, ...], nearest: Place
) -> None:
    assert document_of("a: {b: 1}\n").place(path) == nearest


def test_a_section_that_is_not_stated_stands_where_the_document_does() -> None:
    assert document_of("a: 1\n").place(("b", "c")) == Place(None, Span(0, 4))


def test_places_are_not_worked_out_before_they_are_asked_for() -> None:
    asked = []

    class Format:
        def read(self, text: str) -> list[Any]:
            return [text]

        def locate(self, text: str) -> list[Any]:
            asked.append(text)
            return []

    text = SourceText("a", "b", Format())
    assert (text.documents(), asked) == (["b"], [])


def test_places_are_worked_out_once() -> None:
    document = document_of("a: 1\n")
    assert document.places is document.places


@pytest.mark.parametrize(
    ("content", "starts"),
    [("", [0]), ("a", [0]), ("a\n", [0, 2]), ("a\r\n\r\nb", [0, 3, 5]), ("\u2028\ré\n", [0, 4])],
)
def test_a_line_starts_after_each_line_feed(content: str, starts: list[int]) -> None:
    assert SourceText("a", content, yaml_text).line_starts == starts


# Overrides


def test_an_override_replaces_a_value_at_its_path() -> None:
    (case,) = overridden("a: {b: 1, c: 2}\n", {"a.b": 3})
    assert case.data == {"a": {"b": 3, "c": 2}}


def test_an_override_makes_the_sections_that_are_missing() -> None:
    (case,) = overridden("x: 1\n", {"a.b.c": 3})
    assert case.data == {"x": 1, "a": {"b": {"c": 3}}}


@pytest.mark.parametrize("content", ["\n", "null\n", "a:\n"])
def test_an_override_makes_sections_where_there_is_nothing(content: str) -> None:
    (case,) = overridden(content, {"a.b": 3})
    assert case.data == {"a": {"b": 3}}


def test_a_later_override_goes_into_an_earlier_one() -> None:
    (case,) = overridden("\n", {"a": {"b": 1, "c": 2}, "a.b": 3})
    assert case.data == {"a": {"b": 3, "c": 2}}


def test_an_override_goes_over_every_document() -> None:
    cases = overridden("a: 1\n---\na: 2\n", {"a": 3})
    assert [case.data for case in cases] == [{"a": 3}, {"a": 3}]


def test_overrides_change_neither_the_mapping_nor_what_is_in_it() -> None:
    source = {"a": {"b": 1}}
    overridden(source, {"a.b": 2, "c.d": 3})
    assert source == {"a": {"b": 1}}


def test_overrides_do_not_change_each_other() -> None:
    override = {"b": 1}
    overridden({}, {"a": override, "a.b": 2})
    assert override == {"b": 1}


def test_a_case_keeps_its_overrides_by_path() -> None:
    (case,) = overridden({}, {"a.b": 2})
    assert case.overrides == {("a", "b"): Override(2, "--set a.b=2")}


@pytest.mark.parametrize(("content", "data"), [("- 1\n", [1]), ("text\n", "text")])
def test_nothing_goes_over_a_document_that_is_no_mapping(content: str, data: Any) -> None:
    (case,) = overridden(content, {"a.b": 2})
    assert case.data == data


def test_an_empty_mapping_leaves_what_is_there() -> None:
    (case,) = overridden("a: {b: 1}\n", {"a": {}, "c": {}})
    assert case.data == {"a": {"b": 1}, "c": {}}
