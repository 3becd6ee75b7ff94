"""Findings as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from pdtopology import check
from pdtopology.rendering import render_text


def rendered(text: str, **overrides: object) -> str:
    """The findings about a text."""
    return "\n\n".join(render_text(finding) for finding in check(text, overrides=overrides))


def test_both_values_are_marked_in_one_frame() -> None:
    text = "model: {total_num_kv_heads: 8}\n\nprefill:\n  tensor_parallel_size: 16\n\n\n\n\n\ndecode:\n  tensor_parallel_size: 4\n"
    assert (
        rendered(text)
        == """\
error[moriio-read-kv-heads-replicated]: MoRIIO READ between unequal TP sizes needs replicated KV heads
  <text>:11:25
   1 | model: {total_num_kv_heads: 8}
     |                             - model.total_num_kv_heads is 8
   4 |   tensor_parallel_size: 16
     |                         -- prefill.tensor_parallel_size is 16
  11 |   tensor_parallel_size: 4
     |                         ^ prefill TP 16 and decode TP 4 must be equal, or both at least the 8 KV heads
  The engine says so only at the first request.
  hint: decode.tensor_parallel_size: 8, or prefill.tensor_parallel_size: 4"""
    )


def test_values_in_one_line_share_it() -> None:
    text = "{model: {is_mla: true}, prefill: {tensor_parallel_size: 4}, decode: {tensor_parallel_size: 6}}\n"
    assert (
        rendered(text)
        == """\
error[tp-not-divisible]: One TP size must be a multiple of the other
  <text>:1:92
  1 | {model: {is_mla: true}, prefill: {tensor_parallel_size: 4}, decode: {tensor_parallel_size: 6}}
    |                                                         - prefill.tensor_parallel_size is 4
    |                                                                                            ^ prefill TP 4 and decode TP 6: one must be a multiple of the other
  The engine says so only at the first request.
  hint: decode.tensor_parallel_size: 8, or prefill.tensor_parallel_size: 3"""
    )


def test_a_value_that_is_left_out_is_said_to_be_the_default() -> None:
    text = "model: {total_num_kv_heads: 8}\nprefill: {}\ndecode: {tensor_parallel_size: 2}\n"
    assert "  prefill.tensor_parallel_size is 1, by default\n" in rendered(text)


def test_a_wrong_value_is_told_once() -> None:
    assert (
        rendered("model: {is_mla: true}\nprefill: {port: 0}\ndecode: {}\n")
        == """\
error[greater_than]: prefill.port is 0, but must be greater than 0
  <text>:2:17
  2 | prefill: {port: 0}
    |                 ^"""
    )


def test_a_value_without_a_line_is_told_by_its_source() -> None:
    text = "model: {is_mla: true}\nprefill: {tensor_parallel_size: 4}\ndecode: {}\n"
    assert (
        rendered(text, **{"decode.tensor_parallel_size": 6})
        == """\
error[tp-not-divisible]: One TP size must be a multiple of the other
  <text> override decode.tensor_parallel_size=6
  2 | prefill: {tensor_parallel_size: 4}
    |                                 - prefill.tensor_parallel_size is 4
  prefill TP 4 and decode TP 6: one must be a multiple of the other
  The engine says so only at the first request.
  hint: decode.tensor_parallel_size: 8, or prefill.tensor_parallel_size: 3"""
    )


def test_a_duplicate_key_shows_both_places() -> None:
    assert (
        rendered("model: {}\nmodel: {}\n")
        == """\
error[duplicate-key]: the key model stands twice
  <text>:2:1
  1 | model: {}
    | ----- first here
  2 | model: {}
    | ^^^^^
  hint: keep one of the two"""
    )


def test_a_tab_keeps_the_caret_under_the_value() -> None:
    lines = rendered("model: {is_mla: true}\nprefill:\t{port: 0}\ndecode: {}\n").splitlines()
    assert lines[2].index("0}") == lines[3].index("^")


def test_what_a_terminal_would_obey_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "pd.json"
    file.write_text('{"model": {"is_mla": true}, "prefill": {"x\x7f\x9b": 0}, "decode": {}}')
    output = "\n".join(render_text(finding) for finding in check(file))
    assert not {"\x7f", "\x9b"} & set(output)


@pytest.mark.parametrize("before", [0, 100, 5000])
def test_of_a_very_long_line_the_part_around_the_value_is_shown(before: int) -> None:
    text = (
        "{model: {is_mla: true, name: "
        + "x" * before
        + "}, decode: {}, prefill: {port: 0, host: "
        + "y" * 5000
        + "}}\n"
    )
    _, _, line, caret = rendered(text).splitlines()
    assert len(line) < 200
    assert line[caret.index("^")] == "0"


@pytest.mark.parametrize("color", [True, False])
def test_color_is_only_added_where_it_is_wanted(*, color: bool) -> None:
    [finding] = check("model: {is_mla: true}\nprefill: {port: 0}\ndecode: {}\n")
    assert ("\033[" in render_text(finding, color=color)) is color
