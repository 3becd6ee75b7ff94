"""Values put into the text of a document, with every other character left as it is.

Libraries that keep comments write a text anew, with other indentation, line ends and flow mappings. The offsets of
all values are known here, so a text is cut at those and nothing else of it is touched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NoReturn, TypeAlias

from pdtopology.formats import Format, format_of
from pdtopology.formats.place import Fault, one_line
from pdtopology.load import Document, SourceText
from pdtopology.paths import Path, dotted, with_value

_BYTE_ORDER_MARK = "\ufeff"
_ABSENT = object()

_Put: TypeAlias = Callable[[str, int, Path, Any], str]


class EditError(Exception):
    """A change that cannot be made without guessing; the message names the key and its line, and tells what to do."""


def edited(text: str, file_format: Format, document_number: int, changes: Mapping[Path, Any]) -> str:
    """The text with values put at paths into one of its documents, the first being 0.

    Each value is text, a number or a truth value. A key that is absent is added at the end of its section, an absent
    section at the end of the document or of the section it is in. What is returned has been read again: it holds the
    same data with these changes only. Raises `EditError` where that cannot be, `Fault` for a text that does not read.
    """
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    source = SourceText("<text>", text.removeprefix(mark), file_format)
    document = Document(source, document_number)
    expected = source.documents()
    for path, value in changes.items():
        _require_single(document, expected[document_number], path)
        expected[document_number] = with_value(expected[document_number], path, value)
    try:
        source = _with_changes(source, document_number, changes)
        differing = list(_differing(expected, source.documents()))
    except Fault:
        _refuse(document, changes, [])
    if differing:
        _refuse(document, changes, [path[1:] for path in differing])
    return mark + source.content


def _require_single(document: Document, data: Any, path: Path) -> None:
    """Refuse to put a value in the place of a section or a list, or inside of what is none."""
    for count, key in enumerate(path):
        if not isinstance(data, Mapping | None):
            raise EditError(
                f"{_told(document, path[:count])} is no section, so that it cannot have a key {one_line(str(key))}"
            )
        data = (data or {}).get(key)
    if not path or isinstance(data, Mapping | list):
        raise EditError(f"{_told(document, path)} is no single value; change it by hand")


def _with_changes(source: SourceText, document_number: int, changes: Mapping[Path, Any]) -> SourceText:
    put = _putting(source.format)
    for path, value in changes.items():
        # What an alias or a merge has changed with an earlier one is left as it is.
        if repr(_value_at(source.documents()[document_number], path)) != repr(value):
            source = SourceText(source.name, put(source.content, document_number, path, value), source.format)
    return source


def _putting(file_format: Format) -> _Put:
    if file_format is format_of(".json"):
        from pdtopology.edits import json_text

        return json_text.put
    if file_format is format_of(".toml"):
        from pdtopology.edits import toml_text

        return toml_text.put
    from pdtopology.edits import yaml_text

    return yaml_text.put


def _value_at(data: Any, path: Path) -> Any:
    for key in path:
        data = data.get(key, _ABSENT) if isinstance(data, Mapping) else _ABSENT
    return data


def _differing(wanted: Any, found: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of what differs; 4, 4.0 and true do, the order of keys does not."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in {**wanted, **found}:
            yield from _differing(wanted.get(key, _ABSENT), found.get(key, _ABSENT), (*path, key))
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for index, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from _differing(one, other, (*path, index))
    elif repr(wanted) != repr(found):
        yield path


def _refuse(document: Document, changes: Mapping[Path, Any], differing: Collection[Path]) -> NoReturn:
    told = ", ".join(_told(document, path) for path in changes)
    if differing and not any(path in changes for path in differing):
        with_them = ", ".join(_told(document, path) for path in differing)
        raise EditError(f"{told} cannot be changed alone: {with_them} would change too; change the file by hand")
    values = ", ".join(one_line(f"{dotted(path)}: {value}") for path, value in changes.items())
    raise EditError(f"{told} cannot be changed in place; write {values} by hand")


def _told(document: Document, path: Path) -> str:
    """The path and its line."""
    place = document.place(path)
    line = document.text.content.count("\n", 0, place.value.start) + 1 if place else 1
    return f"{one_line(dotted(path)) if path else 'the document'} (line {line})"
