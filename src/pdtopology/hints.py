"""The nearest TP size that mends a finding."""

from __future__ import annotations

from pdtopology.constraints import Key
from pdtopology.keys import DECODE_TP, MAX_TENSOR_PARALLEL_SIZE, PREFILL_TP
from pdtopology.topology import Deployment
from pdtopology.violations import Violation, errors


def hint_for(deployment: Deployment, violation: Violation) -> str:
    """One change of a TP size that removes the violation and brings no other, for each size that has one;
    else what the rule says to do.
    """
    rule = violation.clause.rule
    found = [
        f"{key.path}: {size}"
        for key in (violation.clause.at, *violation.clause.see)
        if key in (PREFILL_TP, DECODE_TP)
        and (size := _nearest_size(deployment, key, violation)) is not None
    ]
    return ", or ".join(found) if found else rule.fix


def _nearest_size(deployment: Deployment, key: Key, violation: Violation) -> int | None:
    broken = {(other.clause.rule.code, other.clause.role) for other in errors(deployment)}
    mended = {(violation.clause.rule.code, violation.clause.role)}
    role, field = key.parts
    size = getattr(getattr(deployment, role), field)
    sizes = sorted(range(1, MAX_TENSOR_PARALLEL_SIZE + 1), key=lambda other: _distance(size, other))
    for other in sizes:
        changed = getattr(deployment, role).model_copy(update={field: other})
        left = errors(deployment.model_copy(update={role: changed}))
        if {(v.clause.rule.code, v.clause.role) for v in left} <= broken - mended:
            return other
    return None


def _distance(size: int, other: int) -> float:
    """How far apart two sizes are, as a factor; doubling is as far as halving."""
    return max(size, other) / min(size, other)
