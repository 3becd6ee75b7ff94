"""Values put into YAML, byte for byte."""

from __future__ import annotations

from typing import Any

import pytest

from pdtopology.edits import EditError, edited
from pdtopology.formats import yaml_text
from pdtopology.paths import Path

SIZE: Path = ("decode", "size")


def put(text: str, value: Any, path: Path = SIZE, number: int = 0) -> str:
    return edited(text, yaml_text, number, {path: value})


def refusal(text: str, value: Any = 8, path: Path = SIZE) -> str:
    with pytest.raises(EditError) as caught:
        put(text, value, path)
    return str(caught.value)


# Values in the place of others


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("decode: {size: 4}", 8, "decode: {size: 8}"),
        ("decode:\n  size:   4   # why", 8, "decode:\n  size:   8   # why"),
        ("decode:\n  'size' : 0x10\t# why\n", 8, "decode:\n  'size' : 8\t# why\n"),
        ("? decode\n: ? size\n  : 4\n", 8, "? decode\n: ? size\n  : 8\n"),
        ("decode:\n  size:\n    # why\n    4\n", 8, "decode:\n  size:\n    # why\n    8\n"),
        ("decode:\n  size: one\n    two # why\n", 8, "decode:\n  size: 8 # why\n"),
        ('{"decode":{"size":4}}', 8, '{"decode":{"size":8}}'),
        ("decode:\n  size:", 8, "decode:\n  size: 8"),
        ("decode:\n  size: # why\n", 8, "decode:\n  size: 8 # why\n"),
        ("decode: {size: , port: 1}", 8, "decode: {size: 8, port: 1}"),
        ("decode:\n  size: ~\n", 8, "decode:\n  size: 8\n"),
        ("decode:\n  size: &size !!int 4\n", 8, "decode:\n  size: &size !!int 8\n"),
        ("decode:\n  size: &size # why\n    4\n", 8, "decode:\n  size: &size # why\n    8\n"),
        ("decode:\n  size: |  # why\n    4\n\n# next\n", 8, "decode:\n  size: 8  # why\n\n# next\n"),
        ("decode:\n  size: >-\n    4", "x", "decode:\n  size: x"),
        ("decode:\n  size: 4\n", True, "decode:\n  size: true\n"),
        ("decode:\n  size: 4\n", 0.5, "decode:\n  size: 0.5\n"),
    ],
)
def test_a_value_takes_the_place_of_another(before: str, value: Any, after: str) -> None:
    assert put(before, value) == after


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("read", "write", "write"),
        ("'read'", "write", "'write'"),
        ('"read"', "write", '"write"'),
        ('"8"', 8, "8"),
        ("0.33", "0.33", '"0.33"'),
        ("read", "yes", '"yes"'),
        ("read", "1e3", '"1e3"'),
        ("read", "a: b", '"a: b"'),
        ("'read'", "it's", "'it''s'"),
        ("'read'", "a\nb", '"a\\nb"'),
        ("read", "\x85\ufeff", '"\\u0085\\ufeff"'),
        ("read", "\N{GRINNING FACE}", '"\N{GRINNING FACE}"'),
    ],
)
def test_text_is_in_the_quotes_that_were_there_or_in_those_it_needs(before: str, value: Any, after: str) -> None:
    assert put(f"decode:\n  size: {before} # why\n", value) == f"decode:\n  size: {after} # why\n"


# Keys that are added


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "decode:\n    port: 1 # why\n\n# next\nmodel:\n",
            "decode:\n    port: 1 # why\n    size: 8\n\n# next\nmodel:\n",
        ),
        ("decode:\n  port: 1\n  # end", "decode:\n  port: 1\n  size: 8\n  # end"),
        ("decode:\r\n  port: 1", "decode:\r\n  port: 1\r\n  size: 8"),
        ('decode:\n  "port": 1\n', 'decode:\n  "port": 1\n  "size": 8\n'),
        ("decode:\n  env:\n    A: '1'\nmodel:\n", "decode:\n  env:\n    A: '1'\n  size: 8\nmodel:\n"),
        ("decode:\n  list:\n  - 1\n", "decode:\n  list:\n  - 1\n  size: 8\n"),
        ("decode:\n  text: |\n    one\n\nmodel:\n", "decode:\n  text: |\n    one\n  size: 8\n\nmodel:\n"),
        ("decode: # why\nmodel:\n", "decode: # why\n  size: 8\nmodel:\n"),
        ("model:\n     a: 1\ndecode:\n", "model:\n     a: 1\ndecode:\n     size: 8\n"),
        ("decode: null # why\n", "decode: {size: 8} # why\n"),
        ("decode: {}\n", "decode: {size: 8}\n"),
        ("decode: { # why\n}\n", "decode: {size: 8 # why\n}\n"),
        ("decode: {port: 1}\n", "decode: {port: 1, size: 8}\n"),
        ("decode: {port: 1,}\n", "decode: {port: 1, size: 8,}\n"),
        ("decode: {\n  port: 1 # ,\n}\n", "decode: {\n  port: 1, # ,\n  size: 8\n}\n"),
        ("decode: {\n  port: 1, # why\n}\n", "decode: {\n  port: 1, # why\n  size: 8,\n}\n"),
        ('{"decode":{"port":1}}', '{"decode":{"port":1,"size": 8}}'),
        ("decode: !!map &d\n  port: 1\n", "decode: !!map &d\n  port: 1\n  size: 8\n"),
    ],
)
def test_a_key_is_added_at_the_end_of_its_section(before: str, after: str) -> None:
    assert put(before, 8) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# why\n", "# why\ndecode:\n  size: 8\n"),
        ("---\n# why", "---\n# why\ndecode:\n  size: 8"),
        ("model:\n    a: 1\n# end\n", "model:\n    a: 1\ndecode:\n    size: 8\n# end\n"),
        (" model: {}\n...\n", " model: {}\n decode:\n   size: 8\n...\n"),
        ('{\n\t"model": {"a": 1}\n}', '{\n\t"model": {"a": 1},\n\t"decode": {"size": 8}\n}'),
    ],
)
def test_a_section_is_added_at_the_end_of_the_document(before: str, after: str) -> None:
    assert put(before, 8) == after


def test_a_section_is_added_to_the_document_that_is_meant() -> None:
    text = "a: 1\n--- # two\nb: 2 # why\n\n---\nc: 3\n"
    assert put(text, 8, number=1) == "a: 1\n--- # two\nb: 2 # why\ndecode:\n  size: 8\n\n---\nc: 3\n"


def test_documents_that_are_empty_are_not_counted() -> None:
    assert put("---\n---\ndecode: {size: 4}\n---\n", 8) == "---\n---\ndecode: {size: 8}\n---\n"


# Aliases and merges


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: &a 4\ndecode:\n  size: *a # why\n", "a: &a 4\ndecode:\n  size: 8 # why\n"),
        ("a: &a 4\ndecode:\n  size: # why\n    *a\n", "a: &a 4\ndecode:\n  size: # why\n    8\n"),
        ("a: &a {size: 4}\ndecode:\n  <<: *a\n", "a: &a {size: 4}\ndecode:\n  <<: *a\n  size: 8\n"),
        ("a: &a {size: 4}\ndecode: {<<: *a}\n", "a: &a {size: 4}\ndecode: {<<: *a, size: 8}\n"),
        ("a: &a ~\ndecode: *a\n", "a: &a ~\ndecode: {size: 8}\n"),
    ],
)
def test_an_alias_gives_way_and_a_merged_key_is_overridden(before: str, after: str) -> None:
    assert put(before, 8) == after


def test_an_alias_and_its_anchor_change_together() -> None:
    text = "prefill:\n  size: &size 4\ndecode:\n  size: *size\n"
    changes: dict[Path, Any] = {("prefill", "size"): 8, ("decode", "size"): 8}
    assert edited(text, yaml_text, 0, changes) == text.replace("4", "8")


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ("decode:\n  size: &a 4\nprefill:\n  size: *a\n", "prefill.size (line 2)"),
        ("decode: &a\n  size: 4\nprefill:\n  <<: *a\n", "prefill.size (line 2)"),
        ("prefill: &a\n  size: 4\ndecode: *a\n", "prefill.size (line 2)"),
        ("prefill: &a\n  port: 4\ndecode: *a\n", "prefill.size (line 1)"),
    ],
)
def test_what_other_keys_share_is_refused_with_their_names(text: str, shared: str) -> None:
    assert f" cannot be changed alone: {shared} would change too; change the file by hand" in refusal(text)


# What is refused


def test_a_section_is_no_single_value() -> None:
    assert refusal("a: 1\ndecode:\n  port: 1\n", path=("decode",)) == (
        "decode (line 3) is no single value; change it by hand"
    )


def test_a_value_is_no_section() -> None:
    assert refusal("a: 1\ndecode: 4\n") == "decode (line 2) is no section, so that it cannot have a key size"


@pytest.mark.parametrize("text", ["|+\n    a\n\n", "|\n    # a\n", "|\n    a"])
def test_a_key_below_a_block_of_text_that_would_change_is_refused(text: str) -> None:
    assert "decode.size (line 2) cannot be changed" in refusal(f"decode:\n  text: {text}")


def test_what_cannot_be_done_in_place_is_told_with_the_value() -> None:
    assert refusal("? decode\n", path=("size",)) == "size (line 1) cannot be changed in place; write size: 8 by hand"
