"""A value put into YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from yaml.nodes import MappingNode, Node

from pdtopology.edits.insertion import BETWEEN, replaced, with_lines_after, with_lines_at_end, with_member
from pdtopology.edits.scalars import yaml_scalar
from pdtopology.formats.place import Place, Span
from pdtopology.formats.yaml_text import key_of, members, nodes, own_members
from pdtopology.paths import Path

_STEP = 2
_ALIAS = re.compile(rf"{BETWEEN}:{BETWEEN}(\*[\w-]+)")
_PROPERTIES = re.compile(r"(?:[&!]\S*|\s+|#[^\n\r]*)*")
_EMPTY_LINE = re.compile(r"\s*(?:#.*\s*)?\Z")
_BLOCK_HEADER = re.compile(r"[|>][-+\d]*")


def put(text: str, document_number: int, path: Path, value: Any) -> str:
    """The text with the value at the path, which the caller reads again.

    An alias gives way to the value itself, and a merged key is overridden; what other aliases and merges lead to is
    changed where it stands.
    """
    roots = list(nodes(text)) if text.strip() else []
    if not roots:
        return with_lines_at_end(text, _lines(path, value, 0, _STEP))
    parent = roots[document_number]
    assert isinstance(parent, MappingNode)  # the caller has refused what is no section
    step = _step(parent)
    for depth, name in enumerate(path[:-1]):
        member = _member(members(parent), name)
        if not member:
            return _with_key(text, parent, path[depth:], value, step)
        key, node = member
        if not isinstance(node, MappingNode):
            return _with_section(text, parent, key, node, path[depth + 1 :], value, step)
        parent = node
    member = _member(own_members(parent), path[-1])
    return _with_value(text, *member, value) if member else _with_key(text, parent, path[-1:], value, step)


def _member(pairs: Iterator[tuple[Node, Node]], name: str | int) -> tuple[Node, Node] | None:
    return next((pair for pair in pairs if key_of(pair[0]) == name), None)


def _with_value(text: str, key: Node, node: Node, value: Any) -> str:
    span = _value(text, key, node)
    before = text[span.start : span.end]
    if block := _BLOCK_HEADER.match(before):
        before = before.rstrip()
        comment = before.splitlines()[0][block.end() :]
        return replaced(text, Span(span.start, span.start + len(before)), yaml_scalar(value) + comment)
    return _with_content(text, span, yaml_scalar(value, before))


def _with_section(text: str, parent: MappingNode, key: Node, node: Node, names: Path, value: Any, step: int) -> str:
    """The text with a member for a key that has no value, or null."""
    span = _value(text, key, node)
    before = _written(text, key)
    if parent.flow_style or span.start < span.end:
        return _with_content(text, span, "{" + _flow_member(names, value, before) + "}")
    return with_lines_after(text, span.start, _lines(names, value, key.start_mark.column + step, step, before))


def _with_key(text: str, parent: MappingNode, names: Path, value: Any, step: int) -> str:
    """The text with a key below the last of a section, above comments that follow it."""
    if parent.flow_style:
        mapping = _content(text, parent)
        if not parent.value:
            return with_member(text, mapping, None, _flow_member(names, value))
        key, node = parent.value[-1]
        last = Place(Span(key.start_mark.index, key.end_mark.index), _value(text, key, node))
        return with_member(text, mapping, last, _flow_member(names, value, _written(text, key)))
    first, _ = parent.value[0]
    lines = text[: parent.end_mark.index].splitlines(keepends=True)
    while lines and _EMPTY_LINE.match(lines[-1]):
        lines.pop()
    end = len("".join(lines).rstrip("\r\n"))
    return with_lines_after(text, end, _lines(names, value, first.start_mark.column, step, _written(text, first)))


def _value(text: str, key: Node, node: Node) -> Span:
    """Where a member's value is written, or the alias of it."""
    is_alias = node.start_mark.index < key.end_mark.index
    if is_alias and (alias := _ALIAS.match(text, key.end_mark.index)):
        return Span(*alias.span(1))
    return _content(text, node)


def _content(text: str, node: Node) -> Span:
    """Where a single value or a flow mapping is written, after its anchor and its tag."""
    properties = _PROPERTIES.match(text, node.start_mark.index, node.end_mark.index)
    assert properties
    return Span(properties.end(), node.end_mark.index)


def _written(text: str, key: Node) -> str:
    return text[key.start_mark.index : key.end_mark.index]


def _with_content(text: str, span: Span, content: str) -> str:
    is_joined = span.start == span.end and not text[span.start - 1].isspace()
    return replaced(text, span, f" {content}" if is_joined else content)


def _lines(names: Path, value: Any, column: int, step: int, before: str = "") -> list[str]:
    indents = [" " * (column + depth * step) for depth in range(len(names))]
    lines = [f"{indent}{yaml_scalar(str(name), before)}:" for indent, name in zip(indents, names, strict=True)]
    return [*lines[:-1], f"{lines[-1]} {yaml_scalar(value, before)}"]


def _flow_member(names: Path, value: Any, before: str = "") -> str:
    name, *inner = names
    written = "{" + _flow_member(tuple(inner), value, before) + "}" if inner else yaml_scalar(value, before)
    return f"{yaml_scalar(str(name), before)}: {written}"


def _step(root: MappingNode) -> int:
    """The columns that the document's sections are indented by."""
    for key, node in root.value:
        if isinstance(node, MappingNode) and not node.flow_style and node.start_mark.index > key.start_mark.index:
            return int(node.value[0][0].start_mark.column - key.start_mark.column)
    return _STEP
