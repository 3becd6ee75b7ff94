"""The nearest TP size that mends a finding."""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace

from pdtopology.constraints import Key
from pdtopology.deployment import Deployment
from pdtopology.keys import DECODE_TP, MAX_TENSOR_PARALLEL_SIZE, PREFILL_TP
from pdtopology.rule import Clause
from pdtopology.violations import Violation, refusing_clauses

MAX_FACTOR = 8
"""Sizes further away than this factor are another deployment, not a mended one."""


def hint_for(deployment: Deployment, violation: Violation) -> str:
    """What to do about a violation.

    For each TP size involved, its nearest value that leaves nothing broken; where there is none, the nearest that
    mends this and breaks nothing else; else what the rule says.
    """
    clause = violation.clause
    found = [
        (key, *_nearest_sizes(deployment, key, clause))
        for key in (violation.at, *violation.see)
        if key in (PREFILL_TP, DECODE_TP)
    ]
    whole = [f"{key.path}: {size}" for key, size, _ in found if size]
    partial = [f"{key.path}: {size}" for key, _, size in found if size]
    return ", or ".join(whole or partial) or clause.rule.fix


def _nearest_sizes(deployment: Deployment, key: Key, mended: Clause) -> tuple[int | None, int | None]:
    """The nearest size that leaves nothing broken, and the nearest that mends one clause and breaks no other."""
    role, field = key.parts
    section = getattr(deployment, role)
    broken = refusing_clauses(deployment)
    # Copies of the models would take most of the time.
    draft = SimpleNamespace(**dict(deployment))
    draft_section = SimpleNamespace(**dict(section), __pydantic_fields_set__=section.model_fields_set)
    setattr(draft, role, draft_section)
    partial = None
    for size in _sizes_near(getattr(section, field)):
        setattr(draft_section, field, size)
        left = refusing_clauses(draft)
        if not left:
            return size, partial
        if partial is None and mended not in left and all(clause in broken and clause.at != key for clause in left):
            partial = size
    return None, partial


@lru_cache(maxsize=MAX_TENSOR_PARALLEL_SIZE)
def _sizes_near(size: int) -> list[int]:
    """The other sizes within the factor, the nearest first: doubling is as far as halving."""
    last = min(size * MAX_FACTOR, MAX_TENSOR_PARALLEL_SIZE)
    others = [other for other in range(-(-size // MAX_FACTOR), last + 1) if other != size]
    return sorted(others, key=lambda other: max(size, other) / min(size, other))
