"""YAML by the 1.2 core schema, with PyYAML's C parser: `yes` is text, `010` is ten, `<<` merges as in editors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import yaml
from yaml.events import CollectionEndEvent, CollectionStartEvent, NodeEvent
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from pdtopology.formats.place import (
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_VALUES,
    Fault,
    Place,
    Places,
    Span,
    duplicate_key,
    one_line,
    too_deep,
    too_many_digits,
    too_many_values,
)
from pdtopology.paths import Path

_TAG = "tag:yaml.org,2002:"
_MAP, _SEQ, _STR, _MERGE = (_TAG + kind for kind in ("map", "seq", "str", "merge"))
_NOT_PRINTABLE = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_LONG = 10_000
"""A text of more characters, which no topology needs, is looked through before nodes are made of it."""

_MAX_TAG_DIRECTIVES = 100
"""libyaml compares each with all before it."""


class _CoreSchemaLoader(yaml.CSafeLoader):
    """libyaml's parser with the plain scalars of https://yaml.org/spec/1.2.2/#1032-tag-resolution, and `<<`."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - PyYAML declares it


_PATTERNS: dict[str, re.Pattern[str]] = {}
for _kind, _pattern, _first in (
    ("null", "~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", "true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", "[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    (
        "float",
        (
            r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
        ),
        list("-+.0123456789"),
    ),
    ("merge", "<<", ["<"]),
):
    _PATTERNS[_TAG + _kind] = re.compile(rf"(?:{_pattern})\Z")
    _CoreSchemaLoader.add_implicit_resolver(_TAG + _kind, _PATTERNS[_TAG + _kind], _first)


def read(text: str) -> list[Any]:
    """The documents of a stream; empty ones count only where there is no other. Raises `Fault`."""
    builder = _Builder()
    with _faults_of(text):
        if len(text) > _LONG:
            _require_modest(text)
        documents = [builder.build(node, 0) for node in nodes(text)]
    return documents or [None]


def locate(text: str) -> list[Places]:
    """Where each value of each document stands; a merged or aliased one where its anchor is."""
    located = []
    for node in nodes(text):
        places: Places = {}
        _place(node, (), None, places)
        located.append(places)
    return located


def nodes(text: str) -> Iterator[Node]:
    """The root of each document that is not empty."""
    loader = _CoreSchemaLoader(text)
    while loader.check_node():
        node = loader.get_node()
        if node is not None and not (isinstance(node, ScalarNode) and node.tag == _TAG + "null"):
            yield node


@contextmanager
def _faults_of(text: str) -> Iterator[None]:
    """Tell what the parser raises as a `Fault`."""
    try:
        yield
    except yaml.MarkedYAMLError as error:
        raise _syntax_fault(text, error) from None
    except (yaml.YAMLError, UnicodeEncodeError):
        raise _character_fault(text) from None


def _require_modest(text: str) -> None:
    """Refuse what would be nodes by the million, or so deep that older libyaml overflows its stack."""
    if text.count("%TAG") > _MAX_TAG_DIRECTIVES:
        start = text.index("%TAG")
        message = f"more than {_MAX_TAG_DIRECTIVES} %TAG directives"
        raise Fault("input-too-large", message, None, Span(start, start + 4))
    nodes = depth = 0
    for event in yaml.parse(text, _CoreSchemaLoader):
        nodes += isinstance(event, NodeEvent)
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        is_deep = depth > MAX_DEPTH + 1
        if is_deep or nodes > 2 * MAX_VALUES:  # a key is a node too
            assert event.start_mark
            span = Span(event.start_mark.index, event.start_mark.index + 1)
            raise too_deep(span) if is_deep else too_many_values(span)


def _syntax_fault(text: str, error: yaml.MarkedYAMLError) -> Fault:
    message = ", ".join(part for part in (error.context, error.problem) if part)
    mark = error.problem_mark or error.context_mark
    span = Span(mark.index, mark.index + 1) if mark else None
    if "maximum nesting depth" in message:
        return too_deep(span)
    is_tab = span and text[span.start : span.end] == "\t"
    hint = "indent with spaces; YAML allows no tabs there" if is_tab else None
    return Fault("syntax-error", f"not YAML: {message}", hint, span)


def _character_fault(text: str) -> Fault:
    found = re.search(_NOT_PRINTABLE, text)
    assert found  # these are what libyaml refuses
    code = f"U+{ord(found[0]):04X}"
    return Fault("syntax-error", f"not YAML: the character {code} is not allowed", None, Span(*found.span()))


class _Builder:
    """Plain values from nodes, with every limit that keeps a hostile file harmless."""

    def __init__(self) -> None:
        self._values = 0

    def build(self, node: Node, depth: int) -> Any:
        self._values += 1  # each alias where it is used
        if self._values > MAX_VALUES:
            raise too_many_values(_span(node))
        if depth > MAX_DEPTH:
            raise too_deep(_span(node))
        if isinstance(node, ScalarNode):
            return _scalar(node)
        if isinstance(node, MappingNode):
            return self._mapping(node, depth + 1)
        assert isinstance(node, SequenceNode)
        if node.tag != _SEQ:
            raise _unknown_tag(node)
        return [self.build(item, depth + 1) for item in node.value]

    def _mapping(self, node: MappingNode, depth: int) -> dict[str, Any]:
        if node.tag != _MAP:
            raise _unknown_tag(node)
        mapping: dict[str, Any] = {}
        merges = []
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                merges += _merge_sources(value_node)
                continue
            key = key_of(key_node)
            if key in mapping:
                raise duplicate_key(key, _span(key_node), _first_span(node, key))
            mapping[key] = self.build(value_node, depth)
        for source in merges:
            for key, value in self.build(source, depth).items():
                mapping.setdefault(key, value)
        return mapping


def _first_span(node: MappingNode, key: str) -> Span:
    return _span(next(name for name, _ in own_members(node) if key_of(name) == key))


def own_members(node: MappingNode) -> Iterator[tuple[Node, Node]]:
    """The keys and values that a mapping states itself."""
    return ((name, value) for name, value in node.value if name.tag != _MERGE)


def members(node: MappingNode) -> Iterator[tuple[Node, Node]]:
    """The keys and values of a mapping, then those that it merges: the stronger first."""
    yield from own_members(node)
    for name, value in node.value:
        for source in _merge_sources(value) if name.tag == _MERGE else ():
            yield from members(source)


def _merge_sources(value: Node) -> list[MappingNode]:
    """The mappings to merge, the first one stronger, as in https://yaml.org/type/merge.html."""
    sources = value.value if isinstance(value, SequenceNode) else [value]
    for source in sources:
        if not isinstance(source, MappingNode):
            raise Fault("syntax-error", "<< merges mappings only", None, _span(source))
    return list(sources)


def key_of(node: Node) -> str:
    """A key as the text that it is in JSON too. Raises `Fault` for what is none."""
    if not isinstance(node, ScalarNode):
        raise Fault("syntax-error", "a key must be plain text", None, _span(node))
    if node.tag != _STR and node.tag not in _CONVERSIONS:
        raise _unknown_tag(node)
    return str(node.value)


def _integer(text: str) -> int:
    return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))


def _float(text: str) -> float:
    return float(text.replace(".", "") if text[-1].isalpha() else text)  # .inf


_CONVERSIONS: dict[str, Callable[[str], Any]] = {
    _TAG + "null": lambda _: None,
    _TAG + "bool": lambda text: text[0] in "tT",
    _TAG + "int": _integer,
    _TAG + "float": _float,
    _MERGE: str,
}


def _scalar(node: ScalarNode) -> Any:
    tag, text = node.tag, node.value
    if tag == _STR:
        return text
    if tag not in _CONVERSIONS:
        raise _unknown_tag(node)
    if len(text) > MAX_DIGITS:
        raise too_many_digits(_span(node))
    if not _PATTERNS[tag].match(text):  # an explicit tag on text of another kind: !!int four
        kind = tag.removeprefix(_TAG)
        raise Fault("syntax-error", f"not YAML: {text!r} is not of the tag {kind}", None, _span(node))
    return _CONVERSIONS[tag](text)


def _unknown_tag(node: Node) -> Fault:
    tag = one_line(node.tag.replace(_TAG, "!!"))
    return Fault("syntax-error", f"the tag {tag} has no meaning here", "remove it", _span(node))


def _span(node: Node) -> Span:
    return Span(node.start_mark.index, _end(node))


def _end(node: Node) -> int:
    """The end of a node; libyaml ends a block collection where the next token begins, so the end of its last part."""
    while isinstance(node, CollectionNode) and node.flow_style is False:
        previous, last = node.value[-1] if isinstance(node, MappingNode) else (node, *node.value)[-2:]
        if last.start_mark.index <= max(node.start_mark.index, previous.start_mark.index):
            break  # an alias, which stands elsewhere
        node = last
    return int(node.end_mark.index)


def _place(node: Node, path: Path, key: Span | None, places: Places) -> None:
    if path in places:  # a merged key that is overridden
        return
    places[path] = Place(key, _span(node))
    if isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            _place(item, (*path, index), None, places)
    if isinstance(node, MappingNode):
        for name, value in members(node):
            _place(value, (*path, key_of(name)), _span(name), places)
