"""GitHub's workflow commands: as the runner reads them back."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdtopology import Diagnostic, check
from pdtopology.diagnostic import Location
from pdtopology.rendering.github import render_github
from pdtopology.rule import Severity
from tests.rendering.findings import TEXTS, diagnostics

SPLIT = "model: {total_num_kv_heads: 8}\nprefill: {tensor_parallel_size: 4}\ndecode: {tensor_parallel_size: 8}\n"


def unescaped(text: str) -> str:
    """A text of a command, as `ActionCommand` of actions/runner reads it."""
    for escape, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, character)
    return text


def read(command: str) -> tuple[str, dict[str, str], str]:
    """The name, the properties and the message of a command."""
    assert command.startswith("::")
    head, _, message = command[2:].partition("::")
    name, _, properties = head.partition(" ")
    pairs = [pair.partition("=") for pair in properties.split(",")]
    return name, {key: unescaped(value) for key, _, value in pairs}, unescaped(message)


def test_a_finding_is_a_command_at_its_place(tmp_path: Path) -> None:
    file = tmp_path / "pd.yaml"
    file.write_text(SPLIT)
    assert render_github(check(file)) == (
        f"::error file={file},line=3,endLine=3,col=32,endColumn=33,title=moriio-read-kv-heads-replicated::"
        "prefill TP 4 and decode TP 8 must be equal, or both at least the 8 KV heads%0A"
        "hint: decode.tensor_parallel_size: 4, or prefill.tensor_parallel_size: 8, or connector.mode: write"
    )


def test_no_findings_are_no_commands() -> None:
    assert render_github([]) == ""


@pytest.mark.parametrize(
    ("severity", "command"),
    [(Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.UNDETERMINED, "notice")],
)
def test_a_severity_has_its_command(severity: Severity, command: str) -> None:
    assert render_github([Diagnostic("x", severity, "", "y")]) == f"::{command} title=x::y"


def test_what_means_something_in_a_command_is_escaped() -> None:
    finding = Diagnostic("x", Severity.ERROR, "", "100%0A:\r\n,", file="/a,b:c%.yaml")
    assert render_github([finding]) == "::error file=/a%2Cb%3Ac%25.yaml,title=x::100%250A:%0D%0A,"


@given(st.lists(diagnostics(), max_size=3))
def test_each_finding_is_one_line(findings: list[Diagnostic]) -> None:
    lines = io.StringIO(render_github(findings), newline=None).readlines()
    assert [line[:2] for line in lines] == ["::"] * len(findings)


@given(TEXTS, TEXTS)
def test_the_runner_reads_what_was_told(message: str, name: str) -> None:
    finding = Diagnostic("x", Severity.ERROR, "", message, file=f"/{name.replace('/', '')}x")
    assert read(render_github([finding])) == ("error", {"file": finding.file, "title": "x"}, message)


@pytest.mark.parametrize("name", ["pd.yaml", "./pd.yaml", "inner/../pd.yaml"])
def test_a_file_is_named_whole(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _, properties, _ = read(render_github([Diagnostic("x", Severity.ERROR, "", "y", file=name)]))
    assert properties["file"] == str(tmp_path / "pd.yaml")


def test_a_place_over_several_lines_has_no_columns() -> None:
    finding = Diagnostic("x", Severity.ERROR, "", "y", file="/a", location=Location("/a", 1, 5, 3, 2, ""))
    assert render_github([finding]) == "::error file=/a,line=1,endLine=3,title=x::y"


def test_standard_input_is_told_in_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SPLIT.replace("4", "0").encode())))
    assert render_github(check("-")) == (
        "::error title=greater_than::<stdin>:2:33: prefill.tensor_parallel_size is 0, but must be greater than 0"
    )


def test_a_value_put_over_the_file_is_told_without_a_line(tmp_path: Path) -> None:
    file = tmp_path / "pd.yaml"
    file.write_text(SPLIT)
    assert render_github(check(file, overrides={"decode.port": 0}, origin="--set")) == (
        f"::error file={file},title=greater_than::decode.port is 0, but must be greater than 0 (--set decode.port=0)"
    )
