"""The rules in words: for `explain`, schemas/rules.md and the README."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from pdtopology.constraints import ALWAYS
from pdtopology.constraints.prose import compile_to_prose
from pdtopology.releases import NEWEST, release_name
from pdtopology.rule import Rule, Severity, Stage

Families: TypeAlias = Mapping[str, tuple[Rule, ...]]

_BEYOND_SCHEMA = (
    "JSON Schema compares a number with constants only. Two sizes with bounds can be related exactly all the same; "
    "these rules ask for more, so an editor does not tell of them:"
)
_STAGES = (Stage.PARSE, Stage.START, Stage.FIRST_REQUEST, Stage.NEVER)


def list_rules(families: Families) -> str:
    """A line for each rule under its family: its code, severity, releases, and when the engine tells."""
    rules = [rule for family in families.values() for rule in family]
    width = max(len(rule.code) for rule in rules)
    releases = max(len(_span(rule)) for rule in rules)
    lines = []
    for name, family in families.items():
        lines += ["", name]
        lines += [
            f"  {rule.code:<{width}}  {rule.severity.value:<12}  {_span(rule):<{releases}}  {_stage(rule)}"
            for rule in family
        ]
    return "\n".join(lines[1:])


def rule_table(families: Families) -> str:
    """The rules as tables in Markdown: schemas/rules.md."""
    parts = ["# Rules", "`pdtopology explain CODE` tells the whole story of one."]
    for name, family in families.items():
        parts += [f"## {name}", "\n".join(_rows(family))]
    beyond = [rule for family in families.values() for rule in family if rule.beyond_schema]
    parts += [
        "## What the JSON Schema does not hold",
        _BEYOND_SCHEMA,
        "\n".join(f"- `{rule.code}`: {rule.beyond_schema}" for rule in beyond),
    ]
    return "\n\n".join(parts) + "\n"


def comparison_table(families: Families) -> str:
    """How many mistakes of each kind the engine tells of, and when: a table in Markdown for the README."""
    rows = [
        "| mistakes that are refused | "
        + " | ".join(f"engine: {_STAGE_NAMES[stage]}" for stage in _STAGES)
        + " | pdtopology |",
        "|---|" + "--:|" * len(_STAGES) + "---|",
    ]
    for name, family in families.items():
        told = [rule.raised for rule in family if rule.severity is Severity.ERROR]
        if told:
            counts = " | ".join(str(told.count(stage) or "") for stage in _STAGES)
            rows.append(f"| {name} | {counts} | when the file is parsed |")
    return "\n".join(rows)


def explain(rule: Rule) -> str:
    """The whole story of one rule."""
    parts = [
        f"{rule.code} ({rule.severity.value})\n{rule.title}",
        *(f"{name}: {fact}" for name, fact in facts(rule).items()),
        f"Breaks it, reported at {rule.at.path.replace('role', '(prefill or decode)')}:\n"
        + "\n".join(f"  {key}: {json.dumps(value)}" for key, value in rule.bad.items()),
    ]
    return "\n\n".join(parts)


def facts(rule: Rule) -> dict[str, str]:
    """What a rule requires, when, why, what to do and where upstream, by what to call each."""
    when = rule.scope & rule.when
    found = {
        "Requires": compile_to_prose(rule.require),
        "When": "" if when == ALWAYS else compile_to_prose(when),
        "Releases": _releases(rule),
        "Why": f"{rule.why}\n\n{rule.raised.value}",
        "Fix": rule.fix,
        "Source": f"{'SGLang' if rule.engine == 'sglang' else 'vLLM'}, {rule.source}",
        "JSON Schema": rule.beyond_schema and f"does not hold it. {rule.beyond_schema}",
    }
    return {name: fact for name, fact in found.items() if fact}


def _rows(family: Sequence[Rule]) -> Iterator[str]:
    yield "| code | what must hold | severity | releases | the engine tells |"
    yield "|---|---|---|---|---|"
    for rule in family:
        yield f"| `{rule.code}` | {rule.title} | {rule.severity.value} | {_span(rule)} | {_stage(rule)} |"


_STAGE_NAMES = {
    Stage.FILE: "-",
    Stage.PARSE: "parsing arguments",
    Stage.START: "starting",
    Stage.FIRST_REQUEST: "first request",
    Stage.NEVER: "never",
}


def _stage(rule: Rule) -> str:
    return _STAGE_NAMES[rule.raised]


def _span(rule: Rule) -> str:
    """The releases of a rule in a few characters: `0.30 to 0.33`."""
    if rule.engine == "sglang":
        return "SGLang 0.5.23"
    if rule.raised is Stage.FILE:
        return "all"
    first = release_name(rule.since)
    return f"{first}, before {release_name(rule.until)}" if rule.until else f"{first} to {release_name(NEWEST)}"


def _releases(rule: Rule) -> str:
    if rule.engine == "sglang" or rule.raised is Stage.FILE:
        return _span(rule)
    seen = f"seen in {release_name(rule.since)}"
    if rule.until:
        return f"vLLM before {release_name(rule.until)}, {seen}"
    return f"vLLM, {seen} to {release_name(NEWEST)}"
