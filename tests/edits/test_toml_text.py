"""Values put into TOML, byte for byte."""

from __future__ import annotations

from typing import Any

import pytest

from pdtopology.edits import EditError, edited
from pdtopology.formats import toml_text
from pdtopology.paths import Path

SIZE: Path = ("decode", "size")


def put(text: str, value: Any, path: Path = SIZE) -> str:
    return edited(text, toml_text, 0, {path: value})


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("0x04", 8, "8"),
        ("'8'", 8, "8"),
        ("'read'", "write", "'write'"),
        ('"read"', "write", '"write"'),
        ("'''\nread'''", "write", "'write'"),
        ("'read'", "it's", '"it\'s"'),
        ("4", "a\n\x7f", '"a\\n\\u007f"'),
        ("1979-05-27", False, "false"),
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "[decode]\n\tsize\t=  VALUE  # why\n",
        "decode.'size'=VALUE#why\r\n",
        "decode = { a = ['}', 1], size = VALUE } # why",
    ],
)
def test_a_value_takes_the_place_of_another(text: str, before: str, value: Any, after: str) -> None:
    assert put(text.replace("VALUE", before), value) == text.replace("VALUE", after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[decode]\nport = 1 # why\n\n# next\n[model]\n", "[decode]\nport = 1 # why\nsize = 8\n\n# next\n[model]\n"),
        ("  [decode] # why\n[model]", "  [decode] # why\n  size = 8\n[model]"),
        ("[decode]\r\n\tport = '''\r\n\t'''", "[decode]\r\n\tport = '''\r\n\t'''\r\n\tsize = 8"),
        ("[decode]\n[decode.env]\nA = '1'\n", "[decode]\nsize = 8\n[decode.env]\nA = '1'\n"),
        ("[decode.env]\nA = '1'\n", "[decode.env]\nA = '1'\n\n[decode]\nsize = 8\n"),
        ("decode . port = 1\na = 1\n", "decode . port = 1\ndecode . size = 8\na = 1\n"),
        ("decode.env.A = '1'\n", "decode.env.A = '1'\ndecode.size = 8\n"),
        ("decode = {}\n", "decode = {size = 8}\n"),
        ("decode = { port = 1 } # , why\n", "decode = { port = 1, size = 8 } # , why\n"),
        ("decode={port=1}", "decode={port=1,size=8}"),
    ],
)
def test_a_key_is_added_at_the_end_of_its_section(before: str, after: str) -> None:
    assert put(before, 8) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[decode]\nsize = 8\n"),
        ("# why", "# why\n\n[decode]\nsize = 8"),
        ("a = 1\n\n", "a = 1\n\n[decode]\nsize = 8\n"),
        ("[a.b]\r\n", "[a.b]\r\n\r\n[decode]\r\nsize = 8\r\n"),
    ],
)
def test_a_section_is_added_at_the_end_of_the_document(before: str, after: str) -> None:
    assert put(before, 8) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[decode]\nport = 1\n[model]\n", "[decode]\nport = 1\n[model]\n\n[decode.env]\n'A B' = '1'\n"),
        ("[decode.env]\n", "[decode.env]\n'A B' = '1'\n"),
        ("decode.port = 1\n", "decode.port = 1\ndecode.env.'A B' = '1'\n"),
        ("[decode]\nenv.C = ''\nport = 1\n", "[decode]\nenv.C = ''\nenv.'A B' = '1'\nport = 1\n"),
        ("decode = {port=1}\n", "decode = {port=1,env={'A B'='1'}}\n"),
    ],
)
def test_a_section_in_a_section_is_added_as_that_is_written(before: str, after: str) -> None:
    added = after.replace("'A B'", '"A B"').replace("'1'", '"1"')
    assert put(before, "1", ("decode", "env", "A B")) == added


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "a = 8\n"),
        ("# why\n", "# why\na = 8\n"),
        ("b = 1 # why\n[c]\n", "b = 1 # why\na = 8\n[c]\n"),
        ("# why\n\n[c]\n", "# why\n\na = 8\n\n[c]\n"),
    ],
)
def test_a_key_of_the_document_stands_before_its_tables(before: str, after: str) -> None:
    assert put(before, 8, ("a",)) == after


def test_a_table_is_no_single_value() -> None:
    with pytest.raises(EditError, match=r"decode \(line 2\) is no single value; change it by hand"):
        put("\n[decode]\n", 8, ("decode",))


def test_a_dotted_key_in_braces_is_refused() -> None:
    with pytest.raises(EditError, match=r"x.decode.size \(line 1\) cannot be changed in place; write x.decode.size: 8"):
        put("x = {decode.port = 1}\n", 8, ("x", "decode", "size"))
