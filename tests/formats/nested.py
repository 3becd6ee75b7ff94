"""What the tests of the three formats share: data to write, and what is claimed of every text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import strategies as st

from pdtopology.formats import Format
from pdtopology.formats.place import Fault, Places, Span
from pdtopology.paths import Path

DIFFICULT_TEXTS = [
    "",
    " ",
    "tensor parallel size",
    "a.b",
    "it's",
    'say "no"',
    "\N{GRINNING FACE}",
    "e\N{COMBINING ACUTE ACCENT}",
    "\\",
    "# none",
    "two\nlines",
    "end\r\n",
    "\t",
    "\x7f",
    "<<",
    "null",
    "yes",
    "010",
    "0o10",
    "1e3",
    "1_000",
    ".inf",
    "2024-01-31",
    "a: b",
    "- a",
    "[a, {b: c}]",
    "'''",
    '"""',
    "*a",
    "&a",
    "!a",
    "---",
    "a long text that the writer breaks into lines, " * 4,
]


def mappings(*more: st.SearchStrategy[Any], without: str = "") -> st.SearchStrategy[dict[str, Any]]:
    """Nested mappings and lists of text, numbers, truth values and `more`; no text has a character of `without`."""
    characters = st.characters(codec="utf-8", exclude_characters=without)
    texts = st.text(characters, max_size=8) | st.sampled_from(DIFFICULT_TEXTS)
    floats = st.floats(allow_nan=False, allow_infinity=False)
    inner = st.recursive(
        st.one_of(texts, st.integers(-(10**30), 10**30), st.booleans(), floats, *more),
        lambda values: st.lists(values, max_size=3) | st.dictionaries(texts, values, max_size=3),
        max_leaves=8,
    )
    return st.dictionaries(texts, inner, max_size=4)


def values_of(data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value of a document, with its path."""
    yield path, data
    if isinstance(data, dict):
        for key, value in data.items():
            yield from values_of(value, (*path, key))
    if isinstance(data, list):
        for index, value in enumerate(data):
            yield from values_of(value, (*path, index))


def assert_places(
    data: Any, text: str, places: Places, value_of: Callable[[str], Any], key_of: Callable[[str], Any]
) -> None:
    """Every value has a place, and no other path has; each scalar and each key reads back from its own."""
    assert set(places) == {path for path, _ in values_of(data)}
    for path, value in values_of(data):
        if not isinstance(value, (dict, list)):
            assert value_of(at(text, places[path].value)) == value
        if key := places[path].key:
            assert key_of(at(text, key)) == path[-1]


def fault_of(file_format: Format, text: str) -> Fault:
    """The fault of a text that does not read."""
    with pytest.raises(Fault) as caught:
        file_format.read(text)
    return caught.value


def at(text: str, span: Span | None) -> str:
    """The part of a text that a fault points at."""
    assert span
    return text[span.start : span.end]


def assert_reads_or_faults(file_format: Format, text: str) -> None:
    """Any text is documents, each value with a place, or one fault that can be told."""
    documents = documents_or_fault(file_format, text)
    if isinstance(documents, Fault):
        assert documents.code in ("syntax-error", "duplicate-key", "input-too-large")
        assert documents.message.isprintable()
        assert documents.span
        assert 0 <= documents.span.start <= documents.span.end <= len(text) + 1
        return
    located = file_format.locate(text)
    assert located or documents == [None]
    for document, places in zip(documents, located, strict=bool(located)):
        assert set(places) == {path for path, _ in values_of(document)}
        assert all(0 <= place.value.start <= place.value.end <= len(text) for place in places.values())


def documents_or_fault(file_format: Format, text: str) -> list[Any] | Fault:
    try:
        return file_format.read(text)
    except Fault as fault:
        return fault
