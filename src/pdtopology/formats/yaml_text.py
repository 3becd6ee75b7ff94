"""YAML by the 1.2 core schema, with PyYAML's C parser: `yes` is text, `010` is ten, `<<` merges as in editors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from pdtopology.formats.place import (
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_VALUES,
    Fault,
    Path,
    Place,
    Places,
    Span,
    duplicate_key,
    too_deep,
    too_many_digits,
)

_TAG = "tag:yaml.org,2002:"
_NOT_PRINTABLE = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


class _CoreSchemaLoader(yaml.CSafeLoader):
    """libyaml's parser with the plain scalars of https://yaml.org/spec/1.2.2/#1032-tag-resolution."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - PyYAML declares it


for _name, _pattern, _first in (
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", list("-+0123456789")),
    (
        "float",
        (
            r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
        ),
        list("-+.0123456789"),
    ),
):
    _CoreSchemaLoader.add_implicit_resolver(_TAG + _name, re.compile(_pattern), _first)


def read(text: str) -> list[Any]:
    """The documents of a stream; empty ones count only where there is no other. Raises `Fault`."""
    documents = [_Builder().build(node, 0) for node in _nodes(text)]
    return documents or [None]


def locate(text: str) -> list[Places]:
    """Where each value of each document stands; a merged or aliased one where its anchor is."""
    located = []
    for node in _nodes(text):
        places: Places = {}
        _place(node, (), None, places)
        located.append(places)
    return located


def _nodes(text: str) -> Iterator[Node]:
    loader = _CoreSchemaLoader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            if node is not None and not (isinstance(node, ScalarNode) and node.tag == _TAG + "null"):
                yield node
    except yaml.MarkedYAMLError as error:
        raise _syntax_fault(error) from None
    except yaml.YAMLError:
        raise _control_character_fault(text) from None
    finally:
        loader.dispose()


def _syntax_fault(error: yaml.MarkedYAMLError) -> Fault:
    message = ", ".join(part for part in (error.context, error.problem) if part)
    mark = error.problem_mark or error.context_mark
    hint = None
    if "'\\t'" in message:
        hint = "indent with spaces; YAML allows no tabs there"
    span = Span(mark.index, mark.index + 1) if mark else None
    if "maximum nesting depth" in message:
        return too_deep(span)
    return Fault("syntax-error", f"not YAML: {message}", hint, span)


def _control_character_fault(text: str) -> Fault:
    found = re.search(_NOT_PRINTABLE, text)
    if found is None:
        return Fault("syntax-error", "not YAML: a character that YAML does not allow")
    code = f"U+{ord(found[0]):04X}"
    return Fault("syntax-error", f"not YAML: the character {code} is not allowed", None, Span(*found.span()))


class _Builder:
    """Plain values from nodes, with every limit that keeps a hostile file harmless."""

    def __init__(self) -> None:
        self._values = 0

    def build(self, node: Node, depth: int) -> Any:
        self._values += 1
        if self._values > MAX_VALUES:
            message = f"more than {MAX_VALUES:,} values, each alias counted where it is used"
            raise Fault("input-too-large", message, None, _span(node))
        if depth > MAX_DEPTH:
            raise too_deep(_span(node))
        if isinstance(node, ScalarNode):
            return _scalar(node)
        if isinstance(node, MappingNode):
            return self._mapping(node, depth + 1)
        assert isinstance(node, SequenceNode)
        _require_tag(node, "seq")
        return [self.build(item, depth + 1) for item in node.value]

    def _mapping(self, node: MappingNode, depth: int) -> dict[str, Any]:
        _require_tag(node, "map")
        mapping: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if _is_merge(key_node):
                for source in _merge_sources(value_node):
                    merged = {**self.build(source, depth), **merged}
                continue
            key = _key(key_node)
            if key in mapping:
                first = next(other for other, _ in node.value if _key(other) == key)
                raise duplicate_key(key, _span(key_node), _span(first))
            mapping[key] = self.build(value_node, depth)
        return {**merged, **mapping} if merged else mapping


def _is_merge(key: Node) -> bool:
    return isinstance(key, ScalarNode) and key.value == "<<" and key.style is None


def _merge_sources(value: Node) -> list[Node]:
    """The mappings to merge, the first one stronger, as in https://yaml.org/type/merge.html."""
    sources = value.value if isinstance(value, SequenceNode) else [value]
    for source in sources:
        if not isinstance(source, MappingNode):
            raise Fault("syntax-error", "<< merges mappings only", None, _span(source))
    return list(sources)


def _key(node: Node) -> str:
    if not isinstance(node, ScalarNode):
        raise Fault("syntax-error", "a key must be plain text", None, _span(node))
    return str(node.value)


def _integer(text: str) -> int:
    prefix = text[:2]
    return int(text, {"0o": 8, "0x": 16}.get(prefix, 10) if prefix in ("0o", "0x") else 10)


_FLOAT_NAMES = {"inf": "inf", "+inf": "inf", "-inf": "-inf", "nan": "nan"}


def _float(text: str) -> float:
    return float(_FLOAT_NAMES.get(text.lower().replace(".", ""), text))


_SCALARS: dict[str, Callable[[str], Any]] = {
    _TAG + "str": str,
    _TAG + "null": lambda _: None,
    _TAG + "bool": lambda text: text[0] in "tT",
    _TAG + "int": _integer,
    _TAG + "float": _float,
}


def _scalar(node: ScalarNode) -> Any:
    tag, text = node.tag, node.value
    convert = _SCALARS.get(tag)
    if convert is None:
        raise _unknown_tag(node)
    if convert is not str and len(text) > MAX_DIGITS:
        raise too_many_digits(len(text), _span(node))
    try:
        return convert(text)
    except (ValueError, IndexError):  # an explicit tag on text of another kind: !!int four
        kind = tag.removeprefix(_TAG)
        raise Fault("syntax-error", f"not YAML: {text!r} is not of the tag {kind}", None, _span(node)) from None


def _require_tag(node: Node, kind: str) -> None:
    if node.tag != _TAG + kind:
        raise _unknown_tag(node)


def _unknown_tag(node: Node) -> Fault:
    tag = node.tag.replace(_TAG, "!!")
    return Fault("syntax-error", f"the tag {tag} has no meaning here", "remove it", _span(node))


def _span(node: Node) -> Span:
    end = node.end_mark.index
    if isinstance(node, (MappingNode, SequenceNode)) and node.flow_style is False:
        # libyaml ends a block collection where the next token begins.
        end = _span(node.value[-1][1] if isinstance(node, MappingNode) else node.value[-1]).end
    return Span(node.start_mark.index, end)


def _place(node: Node, path: Path, key: Span | None, places: Places) -> None:
    if path in places or len(path) > MAX_DEPTH:
        return
    places[path] = Place(key, _span(node))
    if isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            _place(item, (*path, index), None, places)
    if isinstance(node, MappingNode):
        merges = [value for name, value in node.value if _is_merge(name)]
        for name, value in node.value:
            if not _is_merge(name):
                _place(value, (*path, _key(name)), _span(name), places)
        for value in merges:
            for source in _merge_sources(value):
                for name, item in source.value:
                    _place(item, (*path, _key(name)), _span(name), places)
