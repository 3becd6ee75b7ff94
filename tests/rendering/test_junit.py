"""JUnit XML: a test for each file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdtopology import Diagnostic, check
from pdtopology.rendering.columns import harmless
from pdtopology.rendering.junit import render_junit
from pdtopology.rendering.text import render_text
from pdtopology.rule import Severity
from tests.rendering.findings import TEXTS, diagnostics

GOOD = "model: {is_mla: true}\nprefill: {}\ndecode: {}\n"
WARNED = GOOD + 'engine: {version: "0.99"}\n'
BAD = GOOD.replace("{}", "{port: 0}", 1)
WORSE = GOOD.replace("{}", "{port: 0}").replace("true", "1")


def suite_of(found: Mapping[str, Sequence[Diagnostic]]) -> ET.Element:
    """The only suite of a document."""
    root = ET.fromstring(render_junit(found))  # noqa: S314 - the test's own
    assert root.tag == "testsuites"
    [suite] = root
    return suite


def suite_of_texts(*texts: str) -> ET.Element:
    """The suite of files a.yaml, b.yaml and so on."""
    return suite_of({f"{name}.yaml": check(text) for name, text in zip("abcd", texts, strict=False)})


def test_each_file_is_a_test_in_the_order_they_were_given() -> None:
    suite = suite_of_texts(GOOD, BAD, WARNED)
    assert [case.get("name") for case in suite.findall("testcase")] == ["a.yaml", "b.yaml", "c.yaml"]


def test_the_suite_counts_its_tests_and_those_that_failed() -> None:
    assert suite_of_texts(GOOD, BAD, WARNED, WORSE).attrib == {
        "name": "pdtopology",
        "tests": "4",
        "failures": "2",
        "errors": "0",
        "skipped": "0",
    }


def test_a_good_file_passes() -> None:
    assert list(suite_of_texts(GOOD)[0]) == []


def test_an_error_is_a_failure_with_the_text_for_people() -> None:
    [failure] = suite_of_texts(BAD)[0]
    assert (failure.tag, failure.get("type")) == ("failure", "greater_than")
    assert failure.get("message") == "prefill.port is 0, but must be greater than 0"
    assert failure.text == render_text(check(BAD))


def test_several_errors_of_a_file_are_one_failure() -> None:
    [failure] = suite_of_texts(WORSE)[0]
    assert (failure.get("type"), failure.get("message")) == ("bool_type greater_than", "3 errors")
    assert failure.text == render_text(check(WORSE))


def test_a_warning_is_output_of_a_test_that_passes() -> None:
    [output] = suite_of_texts(WARNED)[0]
    assert (output.tag, output.text) == ("system-out", render_text(check(WARNED)))


def test_what_could_not_be_told_is_output_too() -> None:
    [output] = suite_of({"pd.yaml": [Diagnostic("x", Severity.UNDETERMINED, "", "y")]})[0]
    assert (output.tag, output.text) == ("system-out", "undetermined[x]: y")


def test_a_file_that_cannot_be_read_fails() -> None:
    [failure] = suite_of({"missing.yaml": check(Path("missing.yaml"))})[0]
    assert failure.get("type") == "unreadable-file"


def test_standard_input_is_named_as_elsewhere() -> None:
    assert suite_of({"-": []})[0].get("name") == "<stdin>"


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x0b", "\ufffe", "\ud800", "]]>", "<&\"'", "\r", "名"])
def test_a_character_that_xml_forbids_or_reads_otherwise_breaks_nothing(character: str) -> None:
    finding = Diagnostic("x", Severity.ERROR, "", character)
    [failure] = suite_of({character: [finding]})[0]
    assert failure.get("message") == harmless(character)


@given(st.dictionaries(TEXTS, st.lists(diagnostics(), max_size=3), max_size=3))
def test_every_document_can_be_read(found: dict[str, list[Diagnostic]]) -> None:
    assert len(suite_of(found)) == len(found)


@given(TEXTS)
def test_a_document_is_ascii_so_that_no_stream_can_break_it(text: str) -> None:
    assert render_junit({text: []}).isascii()
