"""Values put into JSON, byte for byte."""

from __future__ import annotations

from typing import Any

import pytest

from pdtopology.edits import EditError, edited
from pdtopology.formats import json_text
from pdtopology.paths import Path

SIZE: Path = ("decode", "size")


def put(text: str, value: Any) -> str:
    return edited(text, json_text, 0, {SIZE: value})


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("4", 8, "8"),
        ('"8"', 8, "8"),
        ("4.0", 4, "4"),
        ("null", True, "true"),
        ('"r\\u0065ad"', "write", '"write"'),
        ("4", 'é"\x7f', '"é\\"\\u007f"'),
    ],
)
def test_a_value_takes_the_place_of_another(before: str, value: Any, after: str) -> None:
    text = '{"a": "}", "decode" :\t{"size"  :\r\n  VALUE }}\n\n'
    assert put(text.replace("VALUE", before), value) == text.replace("VALUE", after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"decode": {}}', '{"decode": {"size": 8}}'),
        ('{"decode":null}', '{"decode":{"size":8}}'),
        ('{"decode":{"port":1}}', '{"decode":{"port":1,"size":8}}'),
        ('{"decode": { "port" : 1 }}', '{"decode": { "port" : 1, "size" : 8 }}'),
        ('{"decode": {"port": 1}}', '{"decode": {"port": 1, "size": 8}}'),
        (
            '{\r\n\t"decode": {\r\n\r\n\t\t"port": 1\r\n\t}\r\n}',
            '{\r\n\t"decode": {\r\n\r\n\t\t"port": 1,\r\n\t\t"size": 8\r\n\t}\r\n}',
        ),
        ('{\n   "decode": { }\n}', '{\n   "decode": {\n      "size": 8\n   }\n}'),
    ],
)
def test_a_key_is_added_at_the_end_of_its_section(before: str, after: str) -> None:
    assert put(before, 8) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "decode": {\n    "size": 8\n  }\n}\n'),
        ("{}\n", '{\n  "decode": {\n    "size": 8\n  }\n}\n'),
        ('{"a":{}}', '{"a":{},"decode":{"size":8}}'),
        ('{\n "a": {}\n}\n', '{\n "a": {},\n "decode": {\n  "size": 8\n }\n}\n'),
        ('{\n"a": 1,\n"b": 2\n}', '{\n"a": 1,\n"b": 2,\n"decode": {\n"size": 8\n}\n}'),
    ],
)
def test_a_section_is_added_at_the_end_of_the_document(before: str, after: str) -> None:
    assert put(before, 8) == after


def test_what_json_has_no_words_for_is_refused() -> None:
    with pytest.raises(EditError, match=r"decode.size \(line 1\) cannot be changed in place"):
        put('{"decode": {"size": 4}}', float("inf"))


def test_an_item_of_a_list_is_refused() -> None:
    with pytest.raises(EditError, match=r"a \(line 1\) is no section, so that it cannot have a key 0"):
        edited('{"a": [1]}', json_text, 0, {("a", 0): 2})
