"""The rules in words, for `explain`."""

from __future__ import annotations

import json

from pdtopology.constraints import ALWAYS
from pdtopology.constraints.prose import compile_to_prose
from pdtopology.keys import CONNECTOR_KIND
from pdtopology.releases import NEWEST, release_name
from pdtopology.rule import Rule


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
            f"| `{rule.code}` | {rule.title} | {rule.severity.value} | {_releases(rule)} | {_raised(rule)} |"
            for rule in rules
        ),
    ]
    return "# Rules\n\n`pdtopology explain CODE` tells the whole story of one.\n\n" + "\n".join(rows) + "\n"


def explain(rule: Rule) -> str:
    """The whole story of one rule."""
    parts = [
        f"{rule.code} ({rule.severity.value})\n{rule.title}",
        *(f"{name}: {fact}" for name, fact in facts(rule).items()),
        f"Breaks it, reported at {rule.at.path.replace('role.', 'prefill. or decode.')}:\n"
        + "\n".join(f"  {key}: {json.dumps(value)}" for key, value in rule.bad.items()),
    ]
    return "\n\n".join(parts)


def facts(rule: Rule) -> dict[str, str]:
    """What a rule requires, when, why, what to do and where upstream, by what to call each."""
    when = rule.when
    if rule.connector:
        when = CONNECTOR_KIND.is_(rule.connector) & when
    found = {
        "Requires": compile_to_prose(rule.require),
        "When": "" if when == ALWAYS else compile_to_prose(when),
        "Releases": _releases(rule),
        "Why": f"{rule.why}\n\n{_raised(rule)}",
        "Fix": rule.fix,
        "Source": f"vLLM's {rule.source}" if rule.source else "",
    }
    return {name: fact for name, fact in found.items() if fact}


def _raised(rule: Rule) -> str:
    return rule.raised.value if rule.raised else "It is about this file, not the engine."


def _releases(rule: Rule) -> str:
    if rule.source is None:
        return "every release"
    seen = f"seen in {release_name(rule.source.since)}"
    return (
        f"vLLM before {release_name(rule.until)}, {seen}" if rule.until else f"vLLM, {seen} to {release_name(NEWEST)}"
    )
