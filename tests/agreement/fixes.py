"""Try the nearest fixes of many invalid topologies: `python -m tests.agreement.fixes [TOPOLOGIES]`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from pdtopology import PDTopology
from pdtopology.deployment import Deployment
from pdtopology.fixes import Fix, nearest_fixes
from pdtopology.paths import Path, with_value

SIZES = (1, 2, 3, 4, 6, 8, 12, 16)
BLOCK_SIZES = (16, 32, 48, 64)
DTYPES = ("bfloat16", "fp8")

ROLE = st.fixed_dictionaries(
    {"tensor_parallel_size": st.sampled_from(SIZES)},
    optional={
        "block_size": st.sampled_from(BLOCK_SIZES),
        "kv_cache_dtype": st.sampled_from(DTYPES),
        "pipeline_parallel_size": st.sampled_from([1, 2]),
        "data_parallel_size": st.sampled_from([1, 2]),
        "decode_context_parallel_size": st.sampled_from([1, 2, 4]),
        "port": st.sampled_from([8100, 5600]),
    },
)
MODEL = st.one_of(
    st.fixed_dictionaries({"is_mla": st.just(value=True)}, optional={"num_attention_heads": st.just(48)}),
    st.fixed_dictionaries(
        {"total_num_kv_heads": st.sampled_from([1, 2, 4, 8])},
        optional={
            "num_attention_heads": st.sampled_from([16, 48]),
            "has_mamba_layers": st.booleans(),
            "has_sliding_window_layers": st.booleans(),
        },
    ),
)
CONNECTOR = st.sampled_from(
    [
        {"kind": "moriio", "mode": "read"},
        {"kind": "moriio", "mode": "write"},
        {"kind": "nixl", "mode": "pull"},
        {"kind": "nixl", "mode": "push"},
        {"kind": "mooncake"},
        {"kind": "other"},
    ]
)
DOCUMENT = st.fixed_dictionaries(
    {"model": MODEL, "prefill": ROLE, "decode": ROLE, "connector": CONNECTOR},
    optional={
        "engine": st.sampled_from([{"version": "0.28"}, {"version": "0.33"}, {"name": "sglang"}]),
    },
)


def is_valid(document: Any) -> bool:
    """Whether the validator accepts a document."""
    try:
        PDTopology.model_validate(document)
    except ValidationError:
        return False
    return True


def with_changes(document: Any, changes: Mapping[Path, Any]) -> Any:
    """The document with values put in."""
    for path, value in changes.items():
        document = with_value(document, path, value)
    return document


def fixes_of(document: Any) -> list[Fix]:
    """The nearest fixes of a document whose sections are valid."""
    return nearest_fixes(Deployment.of(document))


def alternatives(document: Any) -> dict[Path, list[Any]]:
    """On a small domain, the other values of each key that a fix may change."""
    kind = document["connector"]["kind"]
    modes = {"moriio": ["read", "write"], "nixl": ["pull", "push"]}.get(kind, [])
    domains: dict[Path, list[Any]] = {("connector", "mode"): modes}
    for role in ("prefill", "decode"):
        domains[role, "tensor_parallel_size"] = list(SIZES)
        domains[role, "block_size"] = list(BLOCK_SIZES)
        domains[role, "kv_cache_dtype"] = list(DTYPES)
        domains[role, "pipeline_parallel_size"] = [1, 2]
        domains[role, "decode_context_parallel_size"] = [1, 2, 4]
    if "version" in document.get("engine", {}):
        domains["engine", "version"] = ["0.33"]
    return domains


def smaller_changes(document: Any, count: int) -> Iterator[Mapping[Path, Any]]:
    """Every change of fewer keys than so many, on the small domain."""
    domains = alternatives(document)
    for number in range(1, count):
        for paths in combinations(domains, number):
            for values in product(*(domains[path] for path in paths)):
                yield dict(zip(paths, values, strict=True))


def has_smaller_fix(document: Any, fixes: list[Fix]) -> bool:
    """Whether a valid topology on the small domain changes fewer keys than the fixes, or than three."""
    count = min(len(fixes[0].changes) if fixes else 3, 3)
    return any(is_valid(with_changes(document, changes)) for changes in smaller_changes(document, count))


def main(topologies: int = 10_000) -> int:
    """Print what was tried; 1 where a fix is refused or is not the smallest."""
    seen = mended = wrong = 0

    @settings(
        max_examples=topologies * 5,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(DOCUMENT)
    def run(document: Any) -> None:
        nonlocal seen, mended, wrong
        if seen >= topologies or is_valid(document):
            return
        fixes = fixes_of(document)
        seen += 1
        mended += bool(fixes)
        if not all(is_valid(with_changes(document, fix.changes)) for fix in fixes):
            wrong += 1
            print("refused", document, fixes)

    run()
    print(f"{seen:,} invalid topologies, {mended:,} with fixes, {wrong} of them refused")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
