"""The nearest topologies that satisfy every rule."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from pdtopology.fixes import MAX_FIXES, Fix
from pdtopology.formats import yaml_text
from tests.agreement.fixes import DOCUMENT, fixes_of, has_smaller_fix, is_valid, with_changes


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(DOCUMENT)
def test_every_fix_makes_a_topology_that_the_validator_accepts(document: Any) -> None:
    assume(not is_valid(document))
    fixes = fixes_of(document)
    assert len(fixes) <= MAX_FIXES
    assert all(is_valid(with_changes(document, fix.changes)) for fix in fixes)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(DOCUMENT)
def test_no_valid_topology_changes_fewer_keys(document: Any) -> None:
    assume(not is_valid(document))
    assert not has_smaller_fix(document, fixes_of(document))


def document(prefill: int, decode: int, **sections: Any) -> dict[str, Any]:
    """A document of a model with 64 attention heads and 8 KV heads."""
    return {
        "model": {"num_attention_heads": 64, "total_num_kv_heads": 8},
        "prefill": {"tensor_parallel_size": prefill},
        "decode": {"tensor_parallel_size": decode},
        **sections,
    }


OLD_WRITE = {"connector": {"mode": "write"}, "engine": {"version": "0.32"}}


@pytest.mark.parametrize(
    ("data", "fixes"),
    [
        (document(8, 8), []),
        (document(4, 6), ["decode.tensor_parallel_size: 4"]),
        (
            document(4, 8),
            ["decode.tensor_parallel_size: 4", "prefill.tensor_parallel_size: 8", "connector.mode: write"],
        ),
        (document(3, 5), ["prefill.tensor_parallel_size: 4 and decode.tensor_parallel_size: 4"]),
        (
            document(8, 4, **OLD_WRITE),
            ["decode.tensor_parallel_size: 8", "prefill.tensor_parallel_size: 4", 'engine.version: "0.33"'],
        ),
        (document(1, 1, model={}), []),
        ({**document(8, 8, connector={"kind": "nixl"}), "decode": {"tensor_parallel_size": 8, "port": 5600}}, []),
    ],
)
def test_sizes_change_first_then_modes_then_releases(data: Any, fixes: list[str]) -> None:
    assert [str(fix) for fix in fixes_of(data)] == fixes


@pytest.mark.parametrize("value", [8, False, "write", "0.30"])
def test_a_fix_is_said_as_a_document_states_it(value: Any) -> None:
    fix = Fix({("connector",): value}, ())
    assert yaml_text.read(str(fix)) == [{"connector": value}]


def test_four_independent_mistakes_are_mended_together() -> None:
    data = document(3, 5, connector={"kind": "nixl"})
    data["prefill"] |= {"block_size": 64, "kv_cache_dtype": "fp8"}
    data["decode"] |= {"block_size": 16, "kv_cache_dtype": "bfloat16"}
    fixes = fixes_of(data)
    assert [len(fix.changes) for fix in fixes] == [4, 4, 4]


def test_a_check_that_protects_is_not_switched_off() -> None:
    data = document(8, 8, connector={"kind": "nixl"})
    data["prefill"] |= {"kv_cache_dtype": "bfloat16"}
    data["decode"] |= {"kv_cache_dtype": "fp8"}
    assert {path for fix in fixes_of(data) for path in fix.changes} == {
        ("prefill", "kv_cache_dtype"),
        ("decode", "kv_cache_dtype"),
    }
