"""A value put into TOML."""

from __future__ import annotations

from typing import Any

from pdtopology.edits.insertion import line_break, replaced, with_lines_after, with_lines_at_end, with_member
from pdtopology.edits.json_text import last_member
from pdtopology.edits.scalars import toml_key, toml_scalar
from pdtopology.formats.place import Span
from pdtopology.formats.toml_text import Scanner, Statement
from pdtopology.paths import Path


def put(text: str, _: int, path: Path, value: Any) -> str:
    """The text with the value at the path, which the caller reads again."""
    scanner = Scanner(text)
    scanner.document()
    places = scanner.places
    if path in places:
        span = places[path].value
        return replaced(text, span, toml_scalar(value, text[span.start : span.end]))
    parent = next(path[:count] for count in reversed(range(len(path))) if path[:count] in places)
    names = path[len(parent) :]
    if text.startswith("{", places[parent].value.start):
        last = last_member(places, parent)
        is_tight = last and last.key and text[last.key.end : last.value.start] == "="
        return with_member(text, places[parent].value, last, _inline(names, value, "=" if is_tight else " = "))
    if dotted := _last_dotted(scanner, parent):
        statement, key_start = dotted
        prefix = text[_line_start(text, statement) : key_start]
        line = f"{prefix}{_dotted_key(names)} = {toml_scalar(value)}"
        return with_lines_after(text, statement.span.end, [line])
    return _with_key(text, scanner, path, value) if len(names) == 1 else _with_table(text, path, value)


def _last_dotted(scanner: Scanner, table: Path) -> tuple[Statement, int] | None:
    """The last statement that says `table.key = ...`, and where that key begins."""
    for statement in reversed(scanner.statements):
        inner = table[len(statement.table) :]
        if inner and statement.table == table[: len(statement.table)] and not statement.is_header:
            scanner.position = statement.span.start
            keys = scanner.dotted_key()
            if len(keys) > len(inner) and inner == tuple(name for name, _ in keys[: len(inner)]):
                return statement, keys[len(inner)][1].start
    return None


def _with_key(text: str, scanner: Scanner, path: Path, value: Any) -> str:
    """The text with a key at the end of its table, which is opened again where other tables only imply it."""
    line = f"{_dotted_key(path[-1:])} = {toml_scalar(value)}"
    *_, last = [None, *(statement for statement in scanner.statements if statement.table == path[:-1])]
    if last:
        return with_lines_after(text, last.span.end, [text[_line_start(text, last) : last.span.start] + line])
    if path[:-1]:
        return _with_table(text, path, value)
    if not scanner.statements:
        return with_lines_at_end(text, [line])
    start = _line_start(text, scanner.statements[0])
    return replaced(text, Span(start, start), line + 2 * line_break(text))


def _with_table(text: str, path: Path, value: Any) -> str:
    """The text with a table of one key at its end, below a blank line."""
    lines = [f"[{_dotted_key(path[:-1])}]", f"{_dotted_key(path[-1:])} = {toml_scalar(value)}"]
    is_set_off = not text or not text.splitlines()[-1].strip()
    return with_lines_at_end(text, lines if is_set_off else ["", *lines])


def _line_start(text: str, statement: Statement) -> int:
    return text.rfind("\n", 0, statement.span.start) + 1


def _dotted_key(names: Path) -> str:
    return ".".join(toml_key(str(name)) for name in names)


def _inline(names: Path, value: Any, equals: str) -> str:
    name, *inner = names
    written = "{" + _inline(tuple(inner), value, equals) + "}" if inner else toml_scalar(value)
    return _dotted_key((name,)) + equals + written
