"""Findings as text."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdtopology import Diagnostic, PrefillRole, check
from pdtopology.rendering.columns import harmless
from pdtopology.rendering.text import render_text
from tests.rendering.findings import diagnostics


def rendered(text: str, **overrides: object) -> str:
    """The findings about a text."""
    return render_text(check(text, overrides=overrides))


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
  hint: decode.tensor_parallel_size: 8, or prefill.tensor_parallel_size: 4, or connector.mode: write"""
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


def test_a_value_it_disagrees_with_is_told_by_its_source() -> None:
    text = "model: {is_mla: true}\nprefill: {}\ndecode: {tensor_parallel_size: 6}\n"
    assert (
        rendered(text, **{"prefill.tensor_parallel_size": 4})
        == """\
error[tp-not-divisible]: One TP size must be a multiple of the other
  <text>:3:32
  3 | decode: {tensor_parallel_size: 6}
    |                                ^ prefill TP 4 and decode TP 6: one must be a multiple of the other
  prefill.tensor_parallel_size is 4, from override prefill.tensor_parallel_size=4
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


def test_a_wide_character_takes_two_columns() -> None:
    assert rendered("model: {is_mla: true}\nprefill: {host: 名前, port: 0}\ndecode: {}\n").endswith(
        """
  2 | prefill: {host: 名前, port: 0}
    |                             ^"""
    )


def test_what_a_terminal_would_obey_is_escaped(tmp_path: Path) -> None:
    file = tmp_path / "pd\x1b[2J.json"
    file.write_text('{"model": {"is_mla": true}, "prefill": {"x\x7f\x9b": 0}, "decode": {}}')
    output = render_text(check(file))
    assert output.replace("\n", "").isprintable()
    assert output.endswith(
        """
  1 | {"model": {"is_mla": true}, "prefill": {"x\\x7f\\x9b": 0}, "decode": {}}
    |                                         ^^^^^^^^^^^
  hint: the keys here are """
        + ", ".join(PrefillRole.model_fields)
    )


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
    findings = check("model: {is_mla: true}\nprefill: {port: 0}\ndecode: {}\n")
    assert ("\033[" in render_text(findings, color=color)) is color


def test_findings_near_each_other_share_one_frame() -> None:
    text = 'model: {is_mla: true}\nprefill:\n  port: 0\n  host: x\n  tensor_parallel_size: "4"\ndecode: {hosst: x}\n'
    assert (
        rendered(text)
        == """\
error[greater_than]: prefill.port is 0, but must be greater than 0
  <text>:3:9
error[int_type]: prefill.tensor_parallel_size is "4", but must be a whole number
  <text>:5:25
  hint: write it without quotes: 4
error[extra_forbidden]: unknown key hosst in decode
  <text>:6:10
  hint: did you mean host?
  3 |   port: 0
    |         ^
  5 |   tensor_parallel_size: "4"
    |                         ^^^
  6 | decode: {hosst: x}
    |          ^^^^^"""
    )


def test_a_value_that_two_findings_disagree_with_is_marked_once() -> None:
    text = (
        "model:\n  total_num_kv_heads: 8\n\n\n\nprefill:\n  tensor_parallel_size: 6\n\n\n\n"
        "decode:\n  tensor_parallel_size: 12\n"
    )
    assert (
        rendered(text)
        == """\
error[kv-heads-not-divisible]: A role's TP size must shard or replicate the KV heads evenly
  <text>:7:25
  The engine says so while it builds the model, before it loads the weights.
error[kv-heads-not-divisible]: A role's TP size must shard or replicate the KV heads evenly
  <text>:12:25
  The engine says so while it builds the model, before it loads the weights.
   2 |   total_num_kv_heads: 8
     |                       - model.total_num_kv_heads is 8
   7 |   tensor_parallel_size: 6
     |                         ^ prefill TP 6 and 8 KV heads: one must be a multiple of the other
  12 |   tensor_parallel_size: 12
     |                         ^^ decode TP 12 and 8 KV heads: one must be a multiple of the other
  hint: prefill.tensor_parallel_size: 8 and decode.tensor_parallel_size: 16"""
    )


@pytest.mark.parametrize(("between", "shares"), [(0, True), (1, True), (2, False)])
def test_findings_share_a_frame_within_two_lines(between: int, *, shares: bool) -> None:
    text = "model: {is_mla: true}\nprefill: {port: 0}\n" + "\n" * between + "decode: {port: 0}\n"
    assert ("\n\n" not in rendered(text)) is shares


def test_findings_of_two_files_share_no_frame(tmp_path: Path) -> None:
    findings: list[Diagnostic] = []
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("model: {is_mla: true}\nprefill: {port: 0}\ndecode: {}\n")
        findings += check(tmp_path / name)
    assert render_text(findings) == "\n\n".join(render_text([finding]) for finding in findings)


@given(st.lists(diagnostics(), max_size=5))
def test_nothing_reaches_the_terminal_that_it_would_obey(findings: list[Diagnostic]) -> None:
    assert render_text(findings).replace("\n", "").isprintable()


@given(st.lists(diagnostics(), max_size=5))
def test_every_finding_has_its_headline(findings: list[Diagnostic]) -> None:
    lines = render_text(findings).splitlines()
    headlines = [line for line in lines if line and not line.startswith(" ")]
    assert headlines == [
        f"{finding.severity.value}[{finding.code}]: {harmless(finding.title or finding.message)}"
        for finding in findings
    ]


def unknown_keys(count: int, apart: int = 1) -> str:
    """A document with that many unknown keys, so many lines apart."""
    keys = "".join(f"  x{number}: 0{chr(10) * apart}" for number in range(count))
    return f"model: {{is_mla: true}}\ndecode: {{}}\nprefill:\n{keys}"


def test_a_frame_is_shared_by_no_more_findings_than_one_can_read() -> None:
    paragraphs = rendered(unknown_keys(12)).split("\n\n")
    assert [paragraph.count("error[") for paragraph in paragraphs] == [5, 5, 2]


@pytest.mark.parametrize("apart", [1, 2, 3])
def test_every_finding_keeps_its_headline_and_its_place_in_their_order(apart: int) -> None:
    lines = rendered(unknown_keys(9, apart)).splitlines()
    headlines = [line for line in lines if line.startswith("error[") or "<text>" in line]
    assert headlines == [
        line
        for number in range(9)
        for line in (
            f"error[extra_forbidden]: unknown key x{number} in prefill",
            f"  <text>:{4 + number * apart}:3",
        )
    ]


@pytest.mark.parametrize("apart", [1, 2, 3])
def test_every_finding_keeps_its_caret(apart: int) -> None:
    pairs = pairwise(rendered(unknown_keys(9, apart)).splitlines())
    underlined = [line.rpartition("| ")[2] for line, below in pairs if below.endswith("|   ^^")]
    assert underlined == [f"  x{number}: 0" for number in range(9)]
