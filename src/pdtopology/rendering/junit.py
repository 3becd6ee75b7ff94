"""Findings as JUnit XML, which CI servers show as tests: each file is one, and fails where it has errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as ET

from pdtopology.diagnostic import Diagnostic
from pdtopology.load import STANDARD_INPUT
from pdtopology.rendering.columns import harmless
from pdtopology.rendering.text import render_text
from pdtopology.rule import Severity


def render_junit(found: Mapping[str, Sequence[Diagnostic]]) -> str:
    """The document that `check --format junit` prints, from the findings of each file that was checked.

    Its texts are those of the text format: their escapes leave no character that XML cannot hold.
    """
    suite = ET.Element("testsuite", name="pdtopology", tests=str(len(found)))
    for file, findings in found.items():
        suite.append(_case(file, findings))
    suite.attrib |= {"failures": str(len(suite.findall("testcase/failure"))), "errors": "0", "skipped": "0"}
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root).decode()


def _case(file: str, findings: Sequence[Diagnostic]) -> ET.Element:
    """A file as a test."""
    case = ET.Element("testcase", classname="pdtopology", name=harmless(STANDARD_INPUT if file == "-" else file))
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    others = [finding for finding in findings if finding.severity is not Severity.ERROR]
    if errors:
        # One failure for all errors: most servers read no second one.
        failure = ET.SubElement(case, "failure")
        failure.set("type", " ".join(dict.fromkeys(error.code for error in errors)))
        failure.set("message", harmless(errors[0].message) if len(errors) == 1 else f"{len(errors)} errors")
        failure.text = render_text(errors)
    if others:
        ET.SubElement(case, "system-out").text = render_text(others)
    return case
