"""Hypothesis strategies for documents of the right shape with values of every wrong kind."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from pdtopology.connectors.kinds import CONNECTORS
from pdtopology.deployment import Engine, ModelGeometry
from pdtopology.kv_cache_dtypes import VLLM_DTYPES
from pdtopology.roles import Role
from pdtopology.section import Section, sections_of

SIZE = st.one_of(
    st.integers(-2, 70),
    st.sampled_from([128, 256, 384, 512, 513, 4096, 4097, 65536, 65537, 2**53 + 1, 10**30]),
    st.floats(),
    st.integers(1, 64).map(float),
    st.sampled_from(["4", "", "auto", None, True, False, [4], {}, {"a": 1}, 1e300, -0.0]),
)
TEXT = st.sampled_from(
    ["vllm", "sglang", "read", "push", "moriio", "nixl", "rdma", "xgmi", "HND", "auto", "", "\U0001f600"]
)
VERSION = st.sampled_from(
    ["0.26", "0.32.1", "0.33", "v0.33.0rc1", "0.1.dev1+g5", "1.0", "00.1", "new", "", 0.33, None, 0]
)
JUNK = st.one_of(SIZE, TEXT, st.lists(SIZE, max_size=2), st.dictionaries(TEXT, SIZE, max_size=2))
ARGUMENTS = st.dictionaries(
    st.sampled_from(
        [
            "tp",
            "--port",
            "max-model-len",
            "",
            "block_size",
            "port\n",
            "use-replayssm",
            "use_replayssm",
            "disable-hybrid-kv-cache-manager",
            "speculative-config",
            "speculative_config",
        ]
    ),
    st.one_of(st.just(True), st.fixed_dictionaries({"method": st.one_of(st.just("eagle"), JUNK)}), JUNK),
    max_size=2,
)
ENVIRONMENT = st.dictionaries(
    st.sampled_from(["VLLM_SSM_CONV_STATE_LAYOUT", "VLLM_KV_CACHE_LAYOUT", "", "A"]),
    st.one_of(st.sampled_from(["DS", "SD", ""]), SIZE),
    max_size=2,
)
_FEW_SIZES = st.sampled_from([1, 2, 4, 8, 16])
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "tensor_parallel_size": _FEW_SIZES,
    "block_size": st.sampled_from([16, 32, 37, 48, 74]),
    "kv_cache_dtype": st.sampled_from(VLLM_DTYPES),
    "env": ENVIRONMENT,
    "engine_args": ARGUMENTS,
    "total_num_kv_heads": _FEW_SIZES,
    "num_attention_heads": st.sampled_from([16, 48, 64]),
    "version": VERSION,
    "bootstrap_server_address": st.sampled_from(["host:1", "host", ":1", "host:0", "a:b:1", "h\n:1", "h:1\n"]),
}
"""What some fields may hold; a field of another name holds what its type allows."""
_VALUES_BY_TYPE: dict[str, st.SearchStrategy[Any]] = {
    "integer": st.integers(1, 3),
    "boolean": st.booleans(),
    "string": st.sampled_from(["a", "fake"]),
    "object": st.dictionaries(TEXT, JUNK, max_size=1),
}


def section(fields: dict[str, st.SearchStrategy[Any]], most: int = 4) -> st.SearchStrategy[Any]:
    """A mapping with some of the fields."""
    keys = st.lists(st.sampled_from(list(fields)), max_size=most, unique=True)
    return keys.flatmap(lambda names: st.fixed_dictionaries({name: fields[name] for name in names}))


def fields_of(model: type[Section], *, junk: bool) -> dict[str, st.SearchStrategy[Any]]:
    """What may stand at each field of a section."""
    fields = {}
    for name, field in model.model_json_schema()["properties"].items():
        inner = sections_of(model.model_fields[name].annotation)
        if inner:
            value = section(fields_of(inner[0], junk=junk))
        else:
            value = _VALUES[name] if name in _VALUES else _allowed(field)
        fields[name] = st.one_of(value, value, JUNK) if junk else value
    return fields


def _allowed(field: dict[str, Any]) -> st.SearchStrategy[Any]:
    field = field.get("anyOf", [field])[0]
    values = field.get("enum", [field["const"]] if "const" in field else None)
    return st.sampled_from(values) if values else _VALUES_BY_TYPE[field["type"]]


def connector(kind: str, *, junk: bool) -> st.SearchStrategy[Any]:
    """A section of a kind; with junk, also with keys of other kinds, and with another kind or none."""
    fields = fields_of(CONNECTORS[kind], junk=junk) | {"kind": st.just(kind)}
    if junk:
        foreign = {key: value for model in CONNECTORS.values() for key, value in fields_of(model, junk=True).items()}
        kinds = st.one_of(st.just(kind), st.sampled_from([*CONNECTORS, "", None, 1, True, [kind], {kind: 1}]))
        fields = {**foreign, **fields, "kind": kinds}
        return section(fields)
    return st.builds(lambda stated: {**stated, "kind": kind}, section(fields))


def _odd(model: type[Section]) -> st.SearchStrategy[Any]:
    """A section with wrong values, now and then with an unknown key, or something else in its place."""
    mappings = section({**fields_of(model, junk=True), "unknown": JUNK})
    return st.one_of(mappings, mappings, mappings, mappings, JUNK)


_ODD_CONNECTOR = st.one_of(*(connector(kind, junk=True) for kind in CONNECTORS), JUNK)
DOCUMENT = st.fixed_dictionaries(
    {"model": _odd(ModelGeometry), "prefill": _odd(Role), "decode": _odd(Role)},
    optional={"connector": _ODD_CONNECTOR, "engine": _odd(Engine), "$schema": JUNK, "unknown": JUNK},
)

_CONNECTOR = st.one_of(*(connector(kind, junk=False) for kind in CONNECTORS))
_ROLE = section(
    {name: value for name, value in fields_of(Role, junk=False).items() if not name.endswith("_parallel_size")}
    | {"tensor_parallel_size": _FEW_SIZES},
    most=3,
)
_VALID = st.fixed_dictionaries(
    {
        "model": st.fixed_dictionaries(
            {"total_num_kv_heads": _FEW_SIZES},
            optional={"is_mla": st.booleans(), "has_mamba_layers": st.booleans()},
        ),
        "prefill": _ROLE,
        "decode": _ROLE,
    },
    optional={"connector": _CONNECTOR, "engine": st.fixed_dictionaries({"name": st.sampled_from(["vllm", "sglang"])})},
)
_PLACES = st.sampled_from(
    [f"{part}.{name}" for part, model in (("model", ModelGeometry), ("prefill", Role)) for name in model.model_fields]
    + ["decode.block_size", "decode.env", "engine.name", "connector.kind", "connector.mode", "connector.prefill"]
)


def _with_junk(document: dict[str, Any], place: str, junk: Any) -> dict[str, Any]:
    part, key = place.split(".")
    return {**document, part: {**document.get(part, {}), key: junk}}


NEARLY_VALID = st.one_of(_VALID, st.builds(_with_junk, _VALID, _PLACES, JUNK))

JUNK_DOCUMENT = st.one_of(NEARLY_VALID, NEARLY_VALID, NEARLY_VALID, DOCUMENT, DOCUMENT, JUNK)
"""Valid documents, those with one wrong value, those with many, and now and then anything."""
