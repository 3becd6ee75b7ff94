"""Texts in the three formats, written in odd but legal ways, that know where each of their values was put."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from pdtopology.edits.scalars import json_scalar
from pdtopology.formats import Format, json_text, toml_text, yaml_text
from pdtopology.formats.place import Span
from pdtopology.paths import Path

KEYS = ["tensor_parallel_size", "port", "host", "data_parallel_size", "a-b", "x y", "'", "true", "10", "#", ""]
SECTIONS = ["prefill", "decode", "model", "connector", "it's", "a.b"]
COMMENTS = [
    "# why",
    "#",
    "# decode: {port: 1, 'a",
    '# [decode] x = "1',
    "#é\t\N{GRINNING FACE}, }",
    "## - |",
]
VALUES: list[Any] = [
    4,
    0,
    -3,
    1.5,
    True,
    False,
    "read",
    "yes",
    "",
    "a: b # c",
    "it's",
    'say "no"',
    "0.33",
    "é\\",
    "a\nb",
]

values = st.sampled_from(VALUES) | st.integers(-(10**9), 10**9) | st.text(st.characters(codec="utf-8"), max_size=5)


class Text:
    """A text that is being written; `spans` tells where the values of each document stand."""

    def __init__(self, file_format: Format, line_break: str) -> None:
        self.format = file_format
        self.content = ""
        self.spans: list[dict[Path, Span]] = [{}]
        self._line_break = line_break

    def write(self, part: str) -> None:
        """Go on with this."""
        self.content += part.replace("\n", self._line_break)

    def write_value(self, path: Path, written: str) -> None:
        """Go on with a value of the last document."""
        start = len(self.content)
        self.content += written
        self.spans[-1][path] = Span(start, len(self.content))

    def finish(self, draw: st.DrawFn) -> Text:
        """Maybe with a byte order mark, maybe without a last line break."""
        if draw(st.booleans()):
            self.content = self.content.rstrip("\r\n")
        if draw(st.booleans()):
            self.content = "\ufeff" + self.content
            self.spans = [
                {path: Span(span.start + 1, span.end + 1) for path, span in spans.items()} for spans in self.spans
            ]
        return self


def _some(names: list[str], least: int = 0) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(names), min_size=least, max_size=3, unique=True)


_comments = st.sampled_from(["", *COMMENTS])
_line_breaks = st.sampled_from(["\n", "\r\n"])


# YAML


@st.composite
def yaml_texts(draw: st.DrawFn) -> Text:
    """One or more documents of sections, in blocks or in braces."""
    text = Text(yaml_text, draw(_line_breaks))
    for number in range(draw(st.integers(1, 3))):
        if number:
            text.spans.append({})
        if number or draw(st.booleans()):
            text.write(draw(st.sampled_from(["---\n", "--- # next\n", "...\n---\n" if number else "---\n"])))
        indent = draw(st.integers(1, 5))
        for section in draw(_some(SECTIONS, 1)):
            _yaml_blank(draw, text)
            anchor = draw(st.sampled_from(["", f"&a{len(text.content)} ", "!!map "]))
            text.write(f"{_yaml_key(draw, section)}: {anchor}")
            (_yaml_flow if draw(st.booleans()) else _yaml_block)(draw, text, section, indent)
        _yaml_blank(draw, text)
    return text.finish(draw)


def _yaml_block(draw: st.DrawFn, text: Text, section: str, indent: int) -> None:
    text.write(f"{draw(_comments)}\n")
    for key in draw(_some(KEYS, 1)):
        _yaml_blank(draw, text)
        text.write(f"{' ' * indent}{_yaml_key(draw, key)}{draw(st.sampled_from([': ', ' :   ']))}")
        _yaml_value(draw, text, (section, key))
        comment = draw(_comments)
        text.write(f"{draw(st.sampled_from([' ', '   ']))}{comment}\n" if comment else "\n")


def _yaml_flow(draw: st.DrawFn, text: Text, section: str, indent: int) -> None:
    """A mapping in braces, each member maybe on a line of its own with a comment."""
    gap = draw(st.sampled_from(["", " ", "\n" + " " * indent]))
    text.write("{" + gap)
    for index, key in enumerate(draw(_some(KEYS))):
        text.write((",", gap or " ")[0] + (gap or " ") if index else "")
        text.write(f"{_yaml_key(draw, key)}: ")
        _yaml_value(draw, text, (section, key))
        if "\n" in gap and (comment := draw(_comments)):
            text.write(f" {comment}\n ")
    text.write(gap + "}" + draw(st.sampled_from(["", "  # end"])) + "\n")


def _yaml_blank(draw: st.DrawFn, text: Text) -> None:
    for line in draw(st.lists(_comments, max_size=2)):
        text.write(" " * draw(st.integers(0, 6)) + line + "\n")


def _yaml_key(draw: st.DrawFn, key: str) -> str:
    if key.isidentifier() and draw(st.booleans()):
        return key
    return json_scalar(key) if draw(st.booleans()) else "'" + key.replace("'", "''") + "'"


def _yaml_value(draw: st.DrawFn, text: Text, path: Path) -> None:
    value = draw(values)
    written = json_scalar(value)
    if isinstance(value, str) and value.isprintable() and draw(st.booleans()):
        written = "'" + value.replace("'", "''") + "'"
    if value == "read":
        written = draw(st.sampled_from(["read", "'read'", '"read"']))
    if draw(st.integers(0, 9)) == 0:
        text.write(f"&v{len(text.content)} ")
    text.write_value(path, written)


# JSON


@st.composite
def json_texts(draw: st.DrawFn) -> Text:
    """One document of objects with any white space between any tokens, or with the same everywhere."""
    text = Text(json_text, draw(_line_breaks))
    space = st.sampled_from(["", " ", "\t", "\n", "\n\t", "\n\n  "])
    if draw(st.booleans()):
        space = st.just(draw(space))

    def write_members(keys: list[str], path: Path) -> None:
        for index, key in enumerate(keys):
            text.write(("," if index else "") + draw(space) + json_scalar(key) + draw(space) + ":" + draw(space))
            if path:
                text.write_value((*path, key), json_scalar(draw(values)))
            else:
                write_object(draw(_some(KEYS)), (key,))
            text.write(draw(space))

    def write_object(keys: list[str], path: Path) -> None:
        text.write("{" + draw(space))
        write_members(keys, path)
        text.write(draw(space) + "}")

    write_object(draw(_some(SECTIONS)), ())
    text.write(draw(space))
    return text.finish(draw)


# TOML


@st.composite
def toml_texts(draw: st.DrawFn) -> Text:
    """One document with its sections inline, by dotted keys and below headers."""
    text = Text(toml_text, draw(_line_breaks))
    sections = draw(_some(SECTIONS, 1))
    headers = draw(st.integers(0, len(sections)))
    for section in sections[headers:]:
        _toml_blank(draw, text)
        (_toml_inline if draw(st.booleans()) else _toml_dotted)(draw, text, section)
    for section in sections[:headers]:
        _toml_blank(draw, text)
        text.write(f"{draw(st.sampled_from(['', '  ']))}[{_toml_key(draw, section)}]{_toml_end(draw)}")
        indent = draw(st.sampled_from(["", "\t", "   "]))
        for key in draw(_some(KEYS)):
            _toml_blank(draw, text)
            text.write(f"{indent}{_toml_key(draw, key)}{_toml_equals(draw)}")
            _toml_value(draw, text, (section, key))
            text.write(_toml_end(draw))
    _toml_blank(draw, text)
    return text.finish(draw)


def _toml_dotted(draw: st.DrawFn, text: Text, section: str) -> None:
    for key in draw(_some(KEYS, 1)):
        text.write(f"{_toml_key(draw, section)}{draw(st.sampled_from(['.', ' . ']))}{_toml_key(draw, key)} = ")
        _toml_value(draw, text, (section, key))
        text.write(_toml_end(draw))


def _toml_inline(draw: st.DrawFn, text: Text, section: str) -> None:
    gap = draw(st.sampled_from(["", " ", "\t"]))
    text.write(f"{_toml_key(draw, section)}{_toml_equals(draw)}{{{gap}")
    for index, key in enumerate(draw(_some(KEYS))):
        text.write(f"{',' + gap if index else ''}{_toml_key(draw, key)}{_toml_equals(draw)}")
        _toml_value(draw, text, (section, key))
    text.write(f"{gap}}}{_toml_end(draw)}")


def _toml_blank(draw: st.DrawFn, text: Text) -> None:
    for line in draw(st.lists(_comments, max_size=2)):
        text.write(draw(st.sampled_from(["", "\t", "   "])) + line + "\n")


def _toml_end(draw: st.DrawFn) -> str:
    return draw(st.sampled_from(["", " ", "\t"])) + draw(_comments) + "\n"


def _toml_equals(draw: st.DrawFn) -> str:
    return draw(st.sampled_from([" = ", "=", "\t=  "]))


def _toml_key(draw: st.DrawFn, key: str) -> str:
    if key.replace("_", "").replace("-", "").isalnum() and draw(st.booleans()):
        return key
    return json_scalar(key) if "'" in key or draw(st.booleans()) else f"'{key}'"


def _toml_value(draw: st.DrawFn, text: Text, path: Path) -> None:
    value = draw(values)
    written = json_scalar(value)
    if isinstance(value, str) and value.isprintable() and "'" not in value:
        written = draw(st.sampled_from([written, f"'{value}'", f"'''{value}'''"]))
    text.write_value(path, written)
