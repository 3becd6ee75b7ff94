"""`RULES`: the table of contents of everything that is refused."""

from __future__ import annotations

from pdtopology import features, parallelism, ports, sglang
from pdtopology.connectors import other
from pdtopology.connectors.mooncake import transfer as mooncake
from pdtopology.connectors.moriio import rules as moriio
from pdtopology.connectors.nixl import rules as nixl
from pdtopology.rule import Clause, Rule
from pdtopology.rules import GENERAL

FAMILIES: dict[str, tuple[Rule, ...]] = {
    "Every connector": GENERAL,
    "vLLM's parallelism": parallelism.RULES,
    "vLLM's roles and features": features.RULES,
    "Ports and hosts": ports.RULES,
    "MoRIIO": moriio.RULES,
    "NIXL": nixl.RULES,
    "Mooncake": mooncake.RULES,
    "Other connectors": other.RULES,
    "SGLang": sglang.RULES,
}
"""Every rule by what it is about."""

RULES: tuple[Rule, ...] = tuple(rule for family in FAMILIES.values() for rule in family)
"""Every rule, in the order in which findings are told."""

RULE_BY_CODE = {rule.code: rule for rule in RULES}

CLAUSES: tuple[Clause, ...] = tuple(clause for rule in RULES for clause in rule.clauses)
