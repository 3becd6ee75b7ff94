"""The models: what is a topology, what is not, and what each refusal says."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from pydantic import BaseModel, ValidationError

from pdtopology import (
    DecodeRole,
    ModelGeometry,
    MooncakeConnector,
    MoRIIOConnector,
    NixlConnector,
    PDTopology,
    PrefillRole,
)
from pdtopology.deployment import Deployment


def document(prefill: Any = 8, decode: Any = 8, **changes: Any) -> dict[str, Any]:
    """A topology of a model with 64 attention heads and 8 KV heads."""
    return {
        "model": {"num_attention_heads": 64, "total_num_kv_heads": 8},
        "prefill": {"tensor_parallel_size": prefill},
        "decode": {"tensor_parallel_size": decode},
        **changes,
    }


def errors(data: Any) -> list[tuple[str, str]]:
    """The type and path of each error."""
    with pytest.raises(ValidationError) as caught:
        PDTopology.model_validate(data)
    return [(error["type"], ".".join(map(str, error["loc"]))) for error in caught.value.errors()]


MLA = {"is_mla": True, "num_attention_heads": 128}
WRITE = {"mode": "write"}


@pytest.mark.parametrize(
    "data",
    [
        document(8, 8),
        document(1, 1),
        document(8, 16),
        document(32, 8),
        {
            "model": {"total_num_kv_heads": 4},
            "prefill": {"tensor_parallel_size": 4},
            "decode": {"tensor_parallel_size": 8},
        },
        document(4, 8, connector=WRITE),
        document(8, 4, connector=WRITE, engine={"version": "0.33.0"}),
        document(4, 8, model=MLA),
        document(8, 4, model=MLA),
        {"model": {"is_mla": True}, "prefill": {}, "decode": {}},
        document(2, 2, connector={"backend": "xgmi"}),
        document(4, 4, **{"$schema": "pdtopology.schema.json"}),
        document(4.0, 4),
        {**document(), "prefill": {"tensor_parallel_size": 8, "block_size": None, "kv_cache_dtype": None}},
    ],
)
def test_a_topology_that_works_is_accepted(data: dict[str, Any]) -> None:
    assert PDTopology.model_validate(data)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            document(4, 6),
            [
                ("attention-heads-not-divisible", "decode.tensor_parallel_size"),
                ("tp-not-divisible", "decode.tensor_parallel_size"),
            ],
        ),
        (document(4, 8), [("moriio-read-kv-heads-replicated", "decode.tensor_parallel_size")]),
        (document(16, 4), [("moriio-read-kv-heads-replicated", "decode.tensor_parallel_size")]),
        (
            document(3, 3),
            [
                ("attention-heads-not-divisible", "prefill.tensor_parallel_size"),
                ("attention-heads-not-divisible", "decode.tensor_parallel_size"),
            ],
        ),
        (document(6, 4, model={"is_mla": True}), [("tp-not-divisible", "decode.tensor_parallel_size")]),
        (document(model={}), [("kv-heads-unknown", "model.total_num_kv_heads")]),
        (document(model={"total_num_kv_heads": None}), [("kv-heads-unknown", "model.total_num_kv_heads")]),
        (
            document(8, 4, connector=WRITE, engine={"version": "0.32"}),
            [("moriio-write-unequal-tp", "decode.tensor_parallel_size")],
        ),
        (
            document(8, 4, model=MLA, connector=WRITE, engine={"version": "0.26.1"}),
            [("moriio-write-unequal-tp", "decode.tensor_parallel_size")],
        ),
        (document(4, 4, connector={"backend": "tcp"}), [("literal_error", "connector.backend")]),
        (document(4, 4, connector={"kind": "nccl"}), [("literal_error", "connector.kind")]),
        (document(4, 4, connector={"kind": 5}), [("literal_error", "connector.kind")]),
        (document(4, 4, connector={"kind": "nixl", "mode": "read"}), [("literal_error", "connector.mode")]),
        (document(4, 4, connector={"kind": "nixl", "backend": "rdma"}), [("extra_forbidden", "connector.backend")]),
        (document(513, 1), [("less_than_equal", "prefill.tensor_parallel_size")]),
        (document(1, 1, engine={"version": "newest"}), [("string_pattern_mismatch", "engine.version")]),
        ({}, [("missing", "model"), ("missing", "prefill"), ("missing", "decode")]),
        ([], [("model_type", "")]),
        (None, [("model_type", "")]),
        (document(4, 4, connector=None), [("model_attributes_type", "connector")]),
        (document(4, 4, tensor_parallel_size=4), [("extra_forbidden", "tensor_parallel_size")]),
    ],
)
def test_a_topology_that_cannot_work_is_refused_at_the_key(data: Any, expected: list[tuple[str, str]]) -> None:
    assert errors(data) == expected


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (0, "greater_than"),
        (-1, "greater_than"),
        (True, "int_type"),
        ("4", "int_type"),
        (None, "int_type"),
        (4.5, "int_type"),
        (float("nan"), "int_type"),
        (float("inf"), "int_type"),
        ([4], "int_type"),
        (-0.0, "greater_than"),
        (1e300, "less_than_equal"),
        pytest.param(10**5000, "less_than_equal", id="5001 digits"),
    ],
)
@pytest.mark.parametrize("role", ["prefill", "decode"])
def test_what_is_no_size_is_an_error_of_its_field(role: str, value: object, kind: str) -> None:
    assert errors(document(**{role: value})) == [(kind, f"{role}.tensor_parallel_size")]


def test_a_whole_float_is_its_integer() -> None:
    topology = PDTopology.model_validate(document(8.0, 16.0))
    assert (topology.prefill.tensor_parallel_size, type(topology.decode.tensor_parallel_size)) == (8, int)


def test_sections_by_themselves_take_a_whole_float_too() -> None:
    assert Deployment.of(document(8.0, 6)).prefill.tensor_parallel_size == 8


def test_a_whole_float_does_not_hide_another_mistake() -> None:
    assert errors(document(8.0, "8")) == [("int_type", "decode.tensor_parallel_size")]


def test_a_whole_float_in_json_text_is_its_integer() -> None:
    text = json.dumps(document(8.0, 8))
    assert PDTopology.model_validate_json(text).prefill.tensor_parallel_size == 8


def test_a_float_among_the_engine_arguments_stays_a_float() -> None:
    arguments = {"gpu-memory-utilization": 1.0}
    data = {**document(8.0, 8), "decode": {"tensor_parallel_size": 8.0, "engine_args": arguments}}
    assert repr(PDTopology.model_validate(data).decode.engine_args) == repr(arguments)


def test_the_numbers_are_in_the_error_and_its_context() -> None:
    with pytest.raises(ValidationError) as caught:
        PDTopology.model_validate(document(4, 8))
    [error] = caught.value.errors()
    assert "prefill TP 4 and decode TP 8 must be equal, or both at least the 8 KV heads" in error["msg"]
    assert error["ctx"] == {"mode": "read", "is_mla": False, "prefill_tp": 4, "decode_tp": 8, "kv_heads": 8}
    assert error["input"] == 8


@pytest.mark.parametrize(
    "argument",
    [
        "tensor-parallel-size",
        "tensor_parallel_size",
        "--tensor-parallel-size",
        "-tp",
        "data-parallel-size-local",
        "block_size",
        "kv-cache-dtype",
        "port",
        "kv-transfer-config",
        "kv-transfer-config.kv_role",
    ],
)
def test_an_engine_argument_that_has_a_field_is_refused(argument: str) -> None:
    data = document(decode=8)
    data["decode"]["engine_args"] = {argument: 1}
    assert errors(data) == [("argument_has_a_field", f"decode.engine_args.{argument}.[key]")]


@pytest.mark.parametrize("argument", ["max-model-len", "data-parallel-rpc-port", "ported", "tp-something"])
def test_another_engine_argument_is_passed_on(argument: str) -> None:
    role = DecodeRole(engine_args={argument: [1, {"a": None}]})
    assert role.engine_args == {argument: [1, {"a": None}]}


def test_a_topology_can_be_made_of_models() -> None:
    topology = PDTopology(
        model=ModelGeometry(total_num_kv_heads=8),
        connector=MoRIIOConnector(mode="write"),
        prefill=PrefillRole(tensor_parallel_size=4),
        decode=DecodeRole(tensor_parallel_size=8),
    )
    assert topology.connector == MoRIIOConnector(mode="write")


def test_a_field_cannot_be_assigned() -> None:
    topology = PDTopology.model_validate(document())
    with pytest.raises(ValidationError, match="frozen"):
        topology.decode.tensor_parallel_size = 4


def test_an_unvalidated_copy_of_a_section_is_validated_where_it_is_used() -> None:
    role = DecodeRole().model_copy(update={"tensor_parallel_size": 0})
    with pytest.raises(ValidationError, match="greater than 0"):
        PDTopology(model=ModelGeometry(is_mla=True), prefill=PrefillRole(), decode=role)


def test_a_topology_is_valid_where_a_topology_is_wanted() -> None:
    topology = PDTopology.model_validate(document(8, 16, **{"$schema": "a"}))
    assert PDTopology.model_validate(topology) == topology


def test_an_unvalidated_copy_of_a_topology_is_validated_where_it_is_used() -> None:
    class Service(BaseModel):
        topology: PDTopology

    topology = PDTopology.model_validate(document(8, 8))
    copied = topology.model_copy(update={"decode": DecodeRole(tensor_parallel_size=6)})
    assert Service(topology=topology).topology == topology
    with pytest.raises(ValidationError, match="tp-not-divisible"):
        Service(topology=copied)


def test_an_error_does_not_print_what_is_in_the_environment_of_a_role() -> None:
    with pytest.raises(ValidationError) as caught:
        PDTopology.model_validate({"model": {}, "prefill": {"env": {"HF_TOKEN": "hf_secret"}, "port": 0}})
    assert "hf_secret" not in str(caught.value)


def test_replace_changes_one_value_and_keeps_the_others() -> None:
    topology = PDTopology.model_validate(document(8, 8)).replace(decode={"tensor_parallel_size": 16})
    assert topology == PDTopology.model_validate(document(8, 16))


def test_replace_validates() -> None:
    topology = PDTopology.model_validate(document(8, 8))
    with pytest.raises(ValidationError, match="tp-not-divisible"):
        topology.replace(decode={"tensor_parallel_size": 6})


def test_replace_takes_a_whole_section() -> None:
    topology = PDTopology.model_validate(document(8, 8))
    changed = topology.replace(decode=DecodeRole(tensor_parallel_size=16), connector={"mode": "write"})
    assert (changed.decode.tensor_parallel_size, changed.connector) == (16, MoRIIOConnector(mode="write"))


def test_replace_takes_a_connector_of_another_kind_whole() -> None:
    topology = PDTopology.model_validate(document(8, 8, connector={"mode": "write", "backend": "xgmi"}))
    assert topology.replace(connector={"kind": "nixl"}).connector == NixlConnector()


def test_a_connector_without_a_kind_is_moriio() -> None:
    topology = PDTopology.model_validate(document(8, 8, connector={"mode": "write"}))
    assert topology.connector.kind == "moriio"


def test_the_schema_of_the_file_is_no_part_of_the_topology() -> None:
    assert PDTopology.model_validate(document(**{"$schema": "a"})) == PDTopology.model_validate(document())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))], ids=["deepcopy", "pickle"])
def test_a_topology_can_be_copied(copied: Any) -> None:
    topology = PDTopology.model_validate(document())
    assert copied(topology) == topology


@pytest.mark.parametrize("mode", ["python", "json"])
def test_a_dumped_topology_is_a_document_again(mode: Any) -> None:
    topology = PDTopology.model_validate(document(8, 16))
    assert PDTopology.model_validate(topology.model_dump(mode=mode)) == topology


def test_a_topology_inside_another_model_keeps_its_rules() -> None:
    class Service(BaseModel):
        topology: PDTopology

    with pytest.raises(ValidationError) as caught:
        Service.model_validate({"topology": document(4, 8)})
    assert caught.value.errors()[0]["loc"] == ("topology", "decode", "tensor_parallel_size")


def test_write_with_unequal_sizes_warns_where_no_release_is_stated() -> None:
    [warning] = PDTopology.model_validate(document(8, 4, connector=WRITE)).warnings()
    assert warning.message == "decode TP 4 must equal prefill TP 8 in WRITE mode before vLLM 0.33"


@pytest.mark.parametrize("version", [None, "0.26", "0.31.2", "0.33.0rc1"])
def test_a_known_release_is_no_warning(version: str | None) -> None:
    assert PDTopology.model_validate(document(engine={"version": version})).warnings() == []


@pytest.mark.parametrize("version", ["0.21.0", "0.34", "1.0", "0.1.dev1+g51f799c1a", "0.32.1.dev350+gabcdef1"])
def test_an_unknown_release_is_a_warning(version: str) -> None:
    [warning] = PDTopology.model_validate(document(engine={"version": version})).warnings()
    assert (warning.clause.rule.code, warning.value) == ("engine-version-unknown", version)


def test_a_release_before_all_known_ones_is_as_the_oldest() -> None:
    assert errors(document(8, 4, connector=WRITE, engine={"version": "0.20"})) == [
        ("moriio-write-unequal-tp", "decode.tensor_parallel_size")
    ]


@pytest.mark.parametrize("wrap", [lambda d: {"topology": d}, lambda d: {"several": [d]}], ids=["nested", "list"])
@pytest.mark.parametrize(("decode", "expected"), [(4, True), (8, False)])
def test_a_model_that_holds_topologies_has_the_rules_in_its_schema(wrap: Any, decode: int, expected: bool) -> None:
    class Service(BaseModel):
        topology: PDTopology | None = None
        several: list[PDTopology] = []

    document = {
        "model": {"total_num_kv_heads": 8},
        "prefill": {"tensor_parallel_size": 4},
        "decode": {"tensor_parallel_size": decode},
    }
    assert jsonschema_rs.is_valid(Service.model_json_schema(), wrap(document)) is expected


def test_the_config_that_the_model_names_completes_it(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"num_attention_heads": 64, "num_key_value_heads": 8}))
    topology = PDTopology.model_validate(document(8, 16, model={"hf_config": str(file)}))
    assert (topology.model.num_attention_heads, topology.model.total_num_kv_heads) == (64, 8)
    assert errors(document(4, 8, model={"hf_config": str(tmp_path)})) == [
        ("moriio-read-kv-heads-replicated", "decode.tensor_parallel_size")
    ]


@pytest.mark.parametrize("connector", [NixlConnector(mode="push"), MoRIIOConnector(), MooncakeConnector()])
@pytest.mark.parametrize("left_out", ["exclude_unset", "exclude_defaults", "exclude_none"])
def test_a_dumped_topology_is_read_again_with_the_same_connector(connector: Any, left_out: str) -> None:
    topology = PDTopology(
        model=ModelGeometry(is_mla=True), connector=connector, prefill=PrefillRole(), decode=DecodeRole()
    )
    options: dict[str, Any] = {left_out: True}
    assert PDTopology.model_validate(topology.model_dump(**options)).connector == connector


def test_replace_changes_one_key_of_a_connector_that_was_made_as_a_model() -> None:
    topology = PDTopology(
        model=ModelGeometry(is_mla=True), connector=NixlConnector(), prefill=PrefillRole(), decode=DecodeRole()
    )
    assert topology.replace(connector={"mode": "push"}).connector == NixlConnector(mode="push")
