"""The fingerprint: the same for documents that say the same of the pair, another for all others."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from pdtopology import PDTopology, PDTopologySettings, check, load_topology
from pdtopology.connectors.kinds import CONNECTORS
from pdtopology.deployment import Deployment
from pdtopology.fingerprint import fingerprint_of
from pdtopology.section import sections_of
from tests.editors.writers import as_json, as_toml, as_yaml

DOCUMENT: dict[str, Any] = {
    "model": {"name": "Qwen/Qwen3-32B", "num_attention_heads": 64, "total_num_kv_heads": 8},
    "prefill": {"tensor_parallel_size": 8},
    "decode": {"tensor_parallel_size": 16},
}

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=6)
PORT = st.integers(1, 65_535)
SIZE = st.integers(1, 64)
PASSED_ON = st.dictionaries(
    TEXT.map(lambda name: f"x-{name}"),
    st.recursive(
        st.integers(-(2**53), 2**53) | st.floats(-1e300, 1e300) | st.booleans() | TEXT,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
        max_leaves=4,
    ),
    max_size=3,
)


def section(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """A mapping with any of the fields."""
    return st.fixed_dictionaries({}, optional=fields)


MODEL = section(
    {
        "name": TEXT,
        "num_attention_heads": SIZE,
        "total_num_kv_heads": SIZE,
        "other_total_num_kv_heads": SIZE,
        "is_mla": st.booleans(),
        "has_mamba_layers": st.booleans(),
        "has_sliding_window_layers": st.booleans(),
    }
)
ROLE = section(
    {
        "tensor_parallel_size": SIZE,
        "pipeline_parallel_size": SIZE,
        "data_parallel_size": SIZE,
        "data_parallel_size_local": SIZE,
        "prefill_context_parallel_size": SIZE,
        "decode_context_parallel_size": SIZE,
        "block_size": SIZE,
        "kv_cache_dtype": TEXT,
        "kv_cache_layout": st.sampled_from(["NHD", "HND"]),
        "replicas": SIZE,
        "host": TEXT,
        "port": PORT,
        "env": st.dictionaries(TEXT, TEXT, max_size=2),
        "engine_args": PASSED_ON,
    }
)
KV_ROLE = {"kv_role": st.sampled_from(["kv_producer", "kv_both"])}
MORIIO_ROLE = section({**KV_ROLE, "handshake_port": PORT, "notify_port": PORT, "http_port": PORT})
NIXL_ROLE = section({**KV_ROLE, "side_channel_host": TEXT, "side_channel_port": PORT})
CONNECTOR = st.one_of(
    section(
        {
            "kind": st.just("moriio"),
            "mode": st.sampled_from(["read", "write"]),
            "backend": st.sampled_from(["rdma", "xgmi"]),
            "proxy_ip": TEXT,
            "proxy_ping_port": PORT,
            "extra_config": PASSED_ON,
            "prefill": MORIIO_ROLE,
            "decode": MORIIO_ROLE,
        }
    ),
    section(
        {
            "mode": st.sampled_from(["pull", "push"]),
            "kv_buffer_device": st.sampled_from(["cuda", "cpu"]),
            "enable_permute_local_kv": st.booleans(),
            "enforce_handshake_compat": st.booleans(),
            "bidirectional_kv_xfer": st.booleans(),
            "extra_config": PASSED_ON,
            "prefill": NIXL_ROLE,
            "decode": NIXL_ROLE,
        }
    ).map(lambda fields: {"kind": "nixl", **fields}),
    section(
        {
            "protocol": TEXT,
            "bootstrap_server_address": st.just("prefill-0:8998"),
            "extra_config": PASSED_ON,
            "prefill": section({**KV_ROLE, "bootstrap_port": PORT}),
            "decode": section(KV_ROLE),
        }
    ).map(lambda fields: {"kind": "mooncake", **fields}),
    section(
        {
            "name": TEXT,
            "module_path": TEXT,
            "extra_config": PASSED_ON,
            "prefill": section(KV_ROLE),
            "decode": section(KV_ROLE),
        }
    ).map(lambda fields: {"kind": "other", **fields}),
)
ENGINE = section({"name": st.sampled_from(["vllm", "sglang"]), "version": st.sampled_from(["0.30", "0.33"])})

DOCUMENTS = st.fixed_dictionaries(
    {"model": MODEL, "prefill": ROLE, "decode": ROLE},
    optional={"connector": CONNECTOR, "engine": ENGINE, "$schema": TEXT},
)
"""Documents of any shape, whether or not their parts fit each other."""


def fingerprint(document: Any) -> str:
    """That of a document, whether or not its parts fit each other."""
    return fingerprint_of(Deployment.of(document))


def fields_of(kind: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The path of each field of a document with this kind of connector, and its default."""

    def below(model: type[BaseModel], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
        for name, field in model.model_fields.items():
            inner = [CONNECTORS[kind]] if (*path, name) == ("connector",) else sections_of(field.annotation)
            if inner:
                yield from below(inner[0], (*path, name))
            else:
                yield (*path, field.alias or name), field.get_default(call_default_factory=True)

    yield from below(Deployment, ())


def value_at(document: Any, path: tuple[str, ...]) -> Any:
    """What a document states at a path."""
    for part in path:
        document = document.get(part) if isinstance(document, dict) else None
    return document


def put(document: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    """State a value at a path."""
    for part in path[:-1]:
        document = document.setdefault(part, {})
    document[path[-1]] = value


def kind_of(document: dict[str, Any]) -> str:
    """The kind of connector that a document has."""
    return str(document.get("connector", {}).get("kind", "moriio"))


# The same


@given(DOCUMENTS)
def test_it_is_the_same_in_yaml_json_and_toml(document: dict[str, Any]) -> None:
    from pdtopology.formats import json_text, toml_text, yaml_text

    texts = ((yaml_text, as_yaml(document)), (json_text, as_json(document)), (toml_text, as_toml(document)))
    read = [data for file_format, text in texts for data in file_format.read(text)]
    assert {fingerprint(data) for data in read} == {fingerprint(document)}


def shuffled(value: Any, random: Random) -> Any:
    """The same with the keys of each mapping in another order."""
    if isinstance(value, dict):
        keys = random.sample(list(value), len(value))
        return {key: shuffled(value[key], random) for key in keys}
    return [shuffled(item, random) for item in value] if isinstance(value, list) else value


@given(DOCUMENTS, st.randoms())
def test_the_order_of_the_keys_does_not_matter(document: dict[str, Any], random: Random) -> None:
    assert fingerprint(shuffled(document, random)) == fingerprint(document)


@given(DOCUMENTS, st.randoms())
def test_a_default_that_is_written_out_does_not_matter(document: dict[str, Any], random: Random) -> None:
    stated = json.loads(json.dumps(document))
    for path, default in fields_of(kind_of(document)):
        if path[0] != "$schema" and value_at(document, path) is None and random.random() < 0.5:
            put(stated, path, default)
    assert fingerprint(stated) == fingerprint(document)


def with_floats(value: Any) -> Any:
    """The same with each number as a float, zero without a sign."""
    if isinstance(value, dict):
        return {key: with_floats(member) for key, member in value.items()}
    if isinstance(value, list):
        return [with_floats(item) for item in value]
    return float(value) + 0.0 if type(value) in (int, float) else value


@given(DOCUMENTS)
def test_a_whole_number_may_have_a_fraction_of_zero(document: dict[str, Any]) -> None:
    assert fingerprint(with_floats(document)) == fingerprint(document)


@pytest.mark.parametrize("kind", CONNECTORS)
def test_no_host_counts(kind: str) -> None:
    hosts = [path for path, _ in fields_of(kind) if re.search(r"(^|_)(host|ip|address)$", path[-1])]
    document = {**DOCUMENT, "connector": {"kind": kind}}
    elsewhere = json.loads(json.dumps(document))
    for path in hosts:
        put(elsewhere, path, "elsewhere:1")
    assert len(hosts) >= 2
    assert fingerprint(elsewhere) == fingerprint(document)


@pytest.mark.parametrize("role", ["prefill", "decode"])
def test_replicas_do_not_count(role: str) -> None:
    assert fingerprint({**DOCUMENT, role: {**DOCUMENT[role], "replicas": 3}}) == fingerprint(DOCUMENT)


def test_the_schema_of_the_file_does_not_count() -> None:
    assert fingerprint({**DOCUMENT, "$schema": "./pdtopology.schema.json"}) == fingerprint(DOCUMENT)


def test_settings_have_the_fingerprint_of_the_topology_that_they_are() -> None:
    topology = PDTopology.model_validate(DOCUMENT)
    assert PDTopologySettings(**DOCUMENT).fingerprint() == topology.fingerprint()


# Another


COUNTED = [
    (kind, path)
    for kind in CONNECTORS
    for path, _ in fields_of(kind)
    if path[-1]
    not in ("$schema", "hf_config", "host", "replicas", "proxy_ip", "bootstrap_server_address", "side_channel_host")
    and path != ("connector", "kind")
]
OTHER_VALUES = [
    *(2, "x", True, {"x": "1"}, "sglang", "0.33", "HND", "kv_both", "cpu", "write", "push", "xgmi", False)
]  # one of them is another value of any field


@pytest.mark.parametrize(("kind", "path"), COUNTED, ids=lambda value: value if type(value) is str else ".".join(value))
def test_every_other_field_counts(kind: str, path: tuple[str, ...]) -> None:
    document = {**DOCUMENT, "connector": {"kind": kind}}
    found = set()
    for value in OTHER_VALUES:
        changed = json.loads(json.dumps(document))
        put(changed, path, value)
        if not any(finding.code.endswith(("_type", "_error", "_mismatch")) for finding in check(changed)):
            found.add(fingerprint(changed))
    assert found - {fingerprint(document)}


def test_the_kind_of_connector_counts() -> None:
    assert len({fingerprint({**DOCUMENT, "connector": {"kind": kind}}) for kind in CONNECTORS}) == len(CONNECTORS)


def counted(document: dict[str, Any]) -> str:
    """What counts of a document, worked out in another way: each counted path that does not have its default."""
    kind = kind_of(document)
    stated = {path: (value_at(document, path), default) for path, default in fields_of(kind)}
    kept = {
        ".".join(path): with_floats(value)
        for path, (value, default) in stated.items()
        if (kind, path) in COUNTED and value is not None and value != default
    }
    return kind + json.dumps(kept, sort_keys=True)


@given(DOCUMENTS, DOCUMENTS)
def test_two_documents_that_differ_have_two_fingerprints(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert (fingerprint(one) == fingerprint(other)) is (counted(one) == counted(other))


@given(DOCUMENTS, st.data())
def test_two_documents_with_one_difference_have_two_fingerprints(document: dict[str, Any], data: st.DataObject) -> None:
    section = data.draw(st.sampled_from(["model", "prefill", "decode"]))
    changed = {**document, section: data.draw(MODEL if section == "model" else ROLE)}
    assert (fingerprint(document) == fingerprint(changed)) is (counted(document) == counted(changed))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, "1"),
        (1, True),
        (0, False),
        ("null", None),
        (1.5, "1.5"),
        ([1], 1),
        ({}, []),
        ("é", "e\u0301"),
        ([1, 2], [2, 1]),
    ],
)
def test_arguments_that_engines_tell_apart_have_two_fingerprints(one: Any, other: Any) -> None:
    found = {fingerprint({**DOCUMENT, "decode": {"engine_args": {"x": value}}}) for value in (one, other)}
    assert len(found) == 2


def test_a_null_that_is_passed_on_is_not_the_same_as_nothing() -> None:
    assert fingerprint({**DOCUMENT, "decode": {"engine_args": {"x": None}}}) != fingerprint({**DOCUMENT, "decode": {}})


# As it is written


def test_it_is_the_sha256_of_what_the_docstring_says() -> None:
    role = {
        "data_parallel_size": 1,
        "decode_context_parallel_size": 1,
        "engine_args": {},
        "env": {},
        "pipeline_parallel_size": 1,
        "prefill_context_parallel_size": 1,
    }
    connector_role = {"handshake_port": 6301, "notify_port": 61005}
    document = {
        "connector": {
            "backend": "rdma",
            "decode": connector_role,
            "extra_config": {},
            "kind": "moriio",
            "mode": "read",
            "prefill": connector_role,
        },
        "decode": {**role, "tensor_parallel_size": 16},
        "engine": {"name": "vllm"},
        "model": {
            "has_mamba_layers": False,
            "has_sliding_window_layers": False,
            "is_mla": False,
            "name": "Qwen/Qwen3-32B",
            "num_attention_heads": 64,
            "total_num_kv_heads": 8,
        },
        "prefill": {**role, "tensor_parallel_size": 8},
    }
    text = "pdtopology-fingerprint/1\n" + json.dumps(document, separators=(",", ":"))
    assert fingerprint(DOCUMENT) == hashlib.sha256(text.encode()).hexdigest()


def test_it_does_not_change_from_release_to_release() -> None:
    """Where it must, the number in `FORMAT` changes too: two hosts may run two releases."""
    assert fingerprint(DOCUMENT) == "6fe1d23e5d0afb186164f6ada7a7f1937d405092f57795524de090dace380140"


def test_a_date_of_toml_is_its_text() -> None:
    dated = {**DOCUMENT, "decode": {"engine_args": {"day": dt.date(2025, 1, 31), "at": dt.time(7)}}}
    text = {**DOCUMENT, "decode": {"engine_args": {"day": "2025-01-31", "at": "07:00:00"}}}
    assert fingerprint(dated) == fingerprint(text)


def test_half_a_surrogate_pair_has_a_fingerprint() -> None:
    assert len(fingerprint({**DOCUMENT, "decode": {"engine_args": {"x": "\ud800"}}})) == 64


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 10**99])
def test_a_number_of_any_size_has_a_fingerprint(value: float) -> None:
    assert len(fingerprint({**DOCUMENT, "decode": {"engine_args": {"x": value}}})) == 64


def test_an_argument_that_no_file_can_hold_has_none() -> None:
    with pytest.raises(TypeError, match="an engine argument is a set, which no file can hold"):
        fingerprint({**DOCUMENT, "decode": {"engine_args": {"x": {1}}}})


# Where it is expected


def test_check_finds_nothing_where_the_fingerprint_is_the_expected_one() -> None:
    expected = PDTopology.model_validate(DOCUMENT).fingerprint()
    for digits in (expected, expected[:12], expected.upper(), f" {expected[:40]}\n"):
        assert check(DOCUMENT, expect_fingerprint=digits) == []


def test_check_names_both_fingerprints_where_they_differ(tmp_path: Path) -> None:
    file = tmp_path / "pd.json"
    file.write_text(as_json(DOCUMENT))
    [finding] = check(file, expect_fingerprint="0123456789ab")
    assert (finding.code, finding.severity.value, finding.file) == ("fingerprint-mismatch", "error", str(file))
    found = load_topology(file).fingerprint()
    assert finding.message == f"the fingerprint is {found}, but 0123456789ab is expected"
    assert finding.hint == (
        "start both roles from the same file; `pdtopology show FILE --fingerprint` prints what a file has"
    )


def test_each_document_of_a_stream_must_have_it() -> None:
    stream = f"{as_yaml(DOCUMENT)}---\n{as_yaml({**DOCUMENT, 'decode': {'tensor_parallel_size': 32}})}"
    expected = PDTopology.model_validate(DOCUMENT).fingerprint()
    assert [finding.code for finding in check(stream, expect_fingerprint=expected)] == ["fingerprint-mismatch"]


def test_values_put_over_a_document_count() -> None:
    expected = PDTopology.model_validate({**DOCUMENT, "decode": {"tensor_parallel_size": 32}}).fingerprint()
    overrides = {"decode.tensor_parallel_size": 32}
    assert check(DOCUMENT, overrides=overrides, expect_fingerprint=expected) == []


def test_a_document_that_is_refused_has_no_fingerprint() -> None:
    findings = check({**DOCUMENT, "decode": {"tensor_parallel_size": 4}}, expect_fingerprint="0" * 64)
    assert [finding.code for finding in findings] == ["moriio-read-kv-heads-replicated"]


def test_warnings_are_told_beside_it() -> None:
    document = {**DOCUMENT, "connector": {"mode": "write"}}
    findings = check(document, expect_fingerprint="0" * 64)
    assert [finding.code for finding in findings] == ["fingerprint-mismatch", "moriio-write-unequal-tp"]


@pytest.mark.parametrize("text", ["", "0123456789a", "0" * 65, "0123456789ag", "0x0123456789ab", "0123 456789ab"])
def test_what_is_no_fingerprint_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no fingerprint, which has 64 hexadecimal digits; the first 12 will do"):
        check(DOCUMENT, expect_fingerprint=text)
