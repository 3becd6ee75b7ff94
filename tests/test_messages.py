"""What is said of each rule's bad example, word for word, so that a change of words is seen: tests/messages.txt.

`python -m tests.test_messages` writes the file anew.
"""

from __future__ import annotations

from pathlib import Path

from pdtopology import RULES, check
from pdtopology.rule import Rule

MESSAGES = Path(__file__).with_name("messages.txt")


def said(rule: Rule) -> str:
    """The finding about the rule's bad example, as a paragraph."""
    [finding] = check(rule.bad)
    return f"{finding.severity.value}[{finding.code}] at {finding.path}\n  {finding.message}\n  hint: {finding.hint}\n"


def all_said() -> str:
    """The paragraphs of all rules, in their order."""
    return "\n".join(map(said, RULES))


def test_every_rule_says_what_it_is_known_to_say() -> None:
    assert all_said() == MESSAGES.read_text()


if __name__ == "__main__":
    MESSAGES.write_text(all_said())
