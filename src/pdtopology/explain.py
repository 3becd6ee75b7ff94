"""The rules in words, for `explain`."""

from __future__ import annotations

import json

from pdtopology.constraints import ALWAYS
from pdtopology.constraints.prose import compile_to_prose
from pdtopology.releases import NEWEST, release_name
from pdtopology.rule import Rule, Stage


def list_rules(rules: tuple[Rule, ...]) -> str:
    """A line for each rule: its code and its title."""
    width = max(len(rule.code) for rule in rules)
    return "\n".join(f"{rule.code:<{width}}  {rule.title}" for rule in rules)


def rule_table(rules: tuple[Rule, ...]) -> str:
    """The rules as a table in Markdown: schemas/rules.md."""
    rows = [
        "| code | what must hold | severity | releases | when the engine tells |",
        "|---|---|---|---|---|",
        *(
            f"| `{rule.code}` | {rule.title} | {rule.severity.value} | {_releases(rule)} | {rule.raised.value} |"
            for rule in rules
        ),
    ]
    return "# Rules\n\n`pdtopology explain CODE` tells the whole story of one.\n\n" + "\n".join(rows) + "\n"


def explain(rule: Rule) -> str:
    """The whole story of one rule."""
    when = rule.scope & rule.when
    parts = [
        f"{rule.code} ({rule.severity.value})\n{rule.title}",
        f"Requires: {compile_to_prose(rule.require)}",
        "" if when == ALWAYS else f"When: {compile_to_prose(when)}",
        f"Releases: {_releases(rule)}",
        f"Why: {rule.why}",
        rule.raised.value,
        f"Fix: {rule.fix}",
        f"Source: {'SGLang' if rule.engine == 'sglang' else 'vLLM'}, {rule.source}",
        f"Breaks it, reported at {rule.at.path.replace('role.', 'prefill. or decode.')}:\n"
        + "\n".join(f"  {key}: {json.dumps(value)}" for key, value in rule.bad.items()),
    ]
    return "\n\n".join(part for part in parts if part)


def _releases(rule: Rule) -> str:
    if rule.engine == "sglang":
        return "SGLang 0.5.23"
    if rule.raised is Stage.FILE:
        return "every release"
    seen = f"seen in {release_name(rule.since)}"
    if rule.until:
        return f"vLLM before {release_name(rule.until)}, {seen}"
    return f"vLLM, {seen} to {release_name(NEWEST)}"
