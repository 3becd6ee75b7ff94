"""Hypothesis strategies for documents of the right shape with values of every wrong kind."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

SIZE = st.one_of(
    st.integers(-2, 70),
    st.sampled_from([128, 256, 384, 512, 513, 4096, 4097, 65536, 65537, 2**53 + 1, 10**30]),
    st.floats(),
    st.integers(1, 64).map(float),
    st.sampled_from(["4", "", "auto", None, True, False, [4], {}, {"a": 1}, 1e300, -0.0]),
)
TEXT = st.sampled_from(
    ["vllm", "sglang", "read", "write", "moriio", "nixl", "rdma", "xgmi", "HND", "auto", "", "\U0001f600"]
)
VERSION = st.sampled_from(
    ["0.26", "0.32.1", "0.33", "v0.33.0rc1", "0.1.dev1+g5", "1.0", "00.1", "new", "", 0.33, None, 0]
)
JUNK = st.one_of(SIZE, TEXT, st.lists(SIZE, max_size=2), st.dictionaries(TEXT, SIZE, max_size=2))
ARGUMENTS = st.dictionaries(
    st.sampled_from(["tp", "--port", "max-model-len", "", "block_size", "port\n", "x"]), JUNK, max_size=2
)


def section(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """A mapping with some of the fields, now and then with another key, or something else in its place."""
    fields = {**fields, "unknown": JUNK}
    keys = st.lists(st.sampled_from([*fields, *list(fields)[:-1] * 3]), max_size=4, unique=True)
    mappings = keys.flatmap(lambda names: st.fixed_dictionaries({name: fields[name] for name in names}))
    return st.one_of(mappings, mappings, mappings, mappings, mappings, JUNK)


ROLE = section(
    {
        "tensor_parallel_size": st.one_of(st.sampled_from([1, 2, 4, 8, 16]), SIZE),
        "pipeline_parallel_size": SIZE,
        "data_parallel_size_local": SIZE,
        "block_size": SIZE,
        "kv_cache_dtype": JUNK,
        "kv_cache_layout": st.one_of(TEXT, JUNK),
        "port": SIZE,
        "host": JUNK,
        "env": st.one_of(st.dictionaries(TEXT, st.one_of(TEXT, SIZE), max_size=2), JUNK),
        "engine_args": st.one_of(ARGUMENTS, JUNK),
    }
)
MODEL = section(
    {
        "name": JUNK,
        "hf_config": JUNK,
        "total_num_kv_heads": st.one_of(st.sampled_from([1, 2, 4, 8]), SIZE),
        "num_attention_heads": st.one_of(st.sampled_from([16, 48, 64]), SIZE),
        "is_mla": st.one_of(st.booleans(), JUNK),
    }
)
DOCUMENT = st.fixed_dictionaries(
    {"model": MODEL, "prefill": ROLE, "decode": ROLE},
    optional={
        "connector": section({"kind": TEXT, "mode": TEXT, "backend": st.one_of(TEXT, JUNK)}),
        "engine": section({"name": TEXT, "version": VERSION}),
        "$schema": JUNK,
        "unknown": JUNK,
    },
)

_TP = st.sampled_from([1, 2, 4, 8, 16])
_VALID = st.fixed_dictionaries(
    {
        "model": st.fixed_dictionaries(
            {"total_num_kv_heads": st.sampled_from([1, 2, 4, 8])}, optional={"is_mla": st.booleans()}
        ),
        "prefill": st.fixed_dictionaries({"tensor_parallel_size": _TP}, optional={"port": st.integers(1, 65535)}),
        "decode": st.fixed_dictionaries({"tensor_parallel_size": _TP}, optional={"engine_args": ARGUMENTS}),
    },
    optional={"connector": st.fixed_dictionaries({"mode": st.sampled_from(["read", "write"])})},
)
_PLACES = st.sampled_from(
    ["model.total_num_kv_heads", "model.is_mla", "prefill.tensor_parallel_size", "decode.block_size", "decode.env"]
)


def _with_junk(document: dict[str, Any], place: str, junk: Any) -> dict[str, Any]:
    section, key = place.split(".")
    return {**document, section: {**document[section], key: junk}}


NEARLY_VALID = st.one_of(_VALID, st.builds(_with_junk, _VALID, _PLACES, JUNK))

JUNK_DOCUMENT = st.one_of(NEARLY_VALID, NEARLY_VALID, NEARLY_VALID, DOCUMENT, DOCUMENT, JUNK)
"""Valid documents, those with one wrong value, those with many, and now and then anything."""
