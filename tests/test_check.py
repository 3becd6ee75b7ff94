"""check and load_topology: what is told, and where."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from pdtopology import Diagnostic, PDTopology, TopologyError, check, load_topology
from pdtopology.rule import Severity

GOOD = "model: {num_attention_heads: 64, total_num_kv_heads: 8}\nprefill: {tensor_parallel_size: 4}\n"
SPLIT = GOOD + "decode:\n  tensor_parallel_size: 8\n"
EQUAL = GOOD + "decode:\n  tensor_parallel_size: 4\n"


def places(findings: list[Diagnostic]) -> list[tuple[str, str, int | None, int | None]]:
    """Code, path, line and column of each finding."""
    return [
        (f.code, f.path, f.location.line if f.location else None, f.location.column if f.location else None)
        for f in findings
    ]


def test_a_good_text_has_no_findings() -> None:
    assert check(EQUAL) == []


def test_a_broken_rule_is_told_at_its_value() -> None:
    assert places(check(SPLIT)) == [("moriio-read-kv-heads-replicated", "decode.tensor_parallel_size", 4, 25)]


def test_a_finding_ends_where_its_value_ends() -> None:
    [finding] = check(GOOD + "decode: {tensor_parallel_size: 32}\n")
    assert finding.location is not None
    assert (finding.location.line, finding.location.column, finding.location.end_line, finding.location.end_column) == (
        3,
        32,
        3,
        34,
    )


def test_the_values_it_disagrees_with_are_related_with_their_places() -> None:
    [finding] = check(SPLIT)
    related = [(r.path, r.value, r.location and (r.location.line, r.location.column)) for r in finding.related]
    assert related == [
        ("prefill.tensor_parallel_size", 4, (2, 33)),
        ("model.total_num_kv_heads", 8, (1, 54)),
    ]


def test_a_related_value_that_the_document_leaves_out_has_no_place() -> None:
    [finding] = check("model: {total_num_kv_heads: 8}\nprefill: {}\ndecode: {tensor_parallel_size: 2}\n")
    related = [(r.path, r.value, r.location) for r in finding.related if r.path.startswith("prefill")]
    assert related == [("prefill.tensor_parallel_size", 1, None)]


def test_a_rule_about_an_absent_key_is_told_at_its_section() -> None:
    text = "model:\n  name: x\nprefill: {}\ndecode: {}\n"
    assert places(check(text)) == [("kv-heads-unknown", "model.total_num_kv_heads", 1, 1)]


def test_findings_are_in_the_order_of_the_file() -> None:
    text = "decode: {port: 0}\nprefill: {port: 0}\nmodel: {is_mla: 1}\n"
    assert [finding.path for finding in check(text)] == ["decode.port", "prefill.port", "model.is_mla"]


def test_each_document_of_a_stream_is_checked() -> None:
    assert places(check(f"{SPLIT}---\n{EQUAL}---\n{SPLIT}")) == [
        ("moriio-read-kv-heads-replicated", "decode.tensor_parallel_size", 4, 25),
        ("moriio-read-kv-heads-replicated", "decode.tensor_parallel_size", 14, 25),
    ]


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("model: {\n", "syntax-error", 2, 1),
        ("model: {}\nmodel: {}\n", "duplicate-key", 2, 1),
        ("model:\n\ttotal: 1\n", "syntax-error", 2, 1),
        ("\n", "model_type", None, None),
        ("- 1\n", "model_type", 1, 1),
        ("a: &a [*a]\n", "input-too-large", 1, 4),
    ],
)
def test_a_text_that_is_no_document_is_one_finding(text: str, code: str, line: int | None, column: int | None) -> None:
    assert places(check(text)) == [(code, "", line, column)]


def test_an_empty_document_is_said_to_be_empty() -> None:
    [finding] = check("# nothing yet\n")
    assert finding.message == "the document is empty, but must be a mapping with model, prefill and decode"


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("tp_size", "did you mean tensor_parallel_size?"),
        ("tensor-parallel-size", "did you mean tensor_parallel_size?"),
        ("tensor_paralel_size", "did you mean tensor_parallel_size?"),
        ("TP", "did you mean tensor_parallel_size?"),
        ("num_key_value_heads", "it belongs at model.total_num_kv_heads"),
        ("backend", "it belongs at connector.backend"),
    ],
)
def test_an_unknown_key_of_a_role_is_told_what_was_meant(key: str, meant: str) -> None:
    [finding] = check({"model": {"is_mla": True}, "prefill": {key: 4}, "decode": {}})
    assert (finding.code, finding.path, finding.hint) == ("extra_forbidden", f"prefill.{key}", meant)


def test_a_key_like_no_other_is_told_the_keys_there_are() -> None:
    [finding] = check({"model": {"is_mla": True}, "prefill": {}, "decode": {}, "engine": {"zzz": 1}})
    assert finding.hint == "the keys here are name, version"


def test_a_misspelt_section_is_one_mistake() -> None:
    findings = check("model: {is_mla: true}\nprefil: {}\ndecode: {}\n")
    assert [(f.code, f.path, f.hint) for f in findings] == [("extra_forbidden", "prefil", "did you mean prefill?")]


KEYS_OF_A_ROLE = (
    "the keys here are tensor_parallel_size, pipeline_parallel_size, data_parallel_size, data_parallel_size_local, "
    "prefill_context_parallel_size, decode_context_parallel_size, block_size, kv_cache_dtype, kv_cache_layout, "
    "replicas, host, port, env, engine_args"
)


@pytest.mark.parametrize(
    ("section", "message", "hint"),
    [
        ({"port": 0}, "prefill.port is 0, but must be greater than 0", None),
        ({"port": 65536}, "prefill.port is 65536, but must be at most 65535", None),
        ({"data_parallel_size_local": -1}, "prefill.data_parallel_size_local is -1, but must be at least 0", None),
        (
            {"tensor_parallel_size": "4"},
            'prefill.tensor_parallel_size is "4", but must be a whole number',
            "write it without quotes: 4",
        ),
        (
            {"tensor_parallel_size": None},
            "prefill.tensor_parallel_size is null, but must be a whole number",
            "state a number, or remove the key for its default",
        ),
        ({"tensor_parallel_size": True}, "prefill.tensor_parallel_size is true, but must be a whole number", None),
        ({"tensor_parallel_size": [4]}, "prefill.tensor_parallel_size is a list, but must be a whole number", None),
        ({"tensor_parallel_size": {}}, "prefill.tensor_parallel_size is a mapping, but must be a whole number", None),
        (
            {"tensor_parallel_size": 2**400},
            "prefill.tensor_parallel_size is a number of 401 bits, but must be at most 512",
            None,
        ),
        ({"host": ""}, 'prefill.host is "", but must be some text', None),
        (
            {"env": {"A": 1}},
            "prefill.env.A is 1, but must be text",
            'put it in quotes: "1"',
        ),
        (
            {"env": {"A": 0.3}},
            "prefill.env.A is 0.3, but must be text",
            "put it in quotes as it is written: 0.30 without them is 0.3",
        ),
        ({"env": {"A": True}}, "prefill.env.A is true, but must be text", 'put it in quotes: "true"'),
        ({"env": {"A": None}}, "prefill.env.A is null, but must be text", None),
        ({"env": {"[key]": 1}}, "prefill.env.[key] is 1, but must be text", 'put it in quotes: "1"'),
        ({"[key]": 1}, "unknown key [key] in prefill", KEYS_OF_A_ROLE),
        ({"host": "\ud800"}, 'prefill.host is "\\ud800", but must be text without halves of surrogate pairs', None),
        (
            {"engine_args": {"tp": 1}},
            "prefill.engine_args.tp has a field of its own",
            "set prefill.tensor_parallel_size instead",
        ),
        (
            {"engine_args": {"--tp-size": 1}},
            "prefill.engine_args.--tp-size has a field of its own",
            "set prefill.tensor_parallel_size instead",
        ),
        (
            {"engine_args": {"page_size": 64}},
            "prefill.engine_args.page_size has a field of its own",
            "set prefill.block_size instead",
        ),
        (
            {"engine_args": {"attn-cp-size": 2}},
            "prefill.engine_args.attn-cp-size has a field of its own",
            "set prefill.prefill_context_parallel_size instead",
        ),
        (
            {"engine_args": {"dcp-size": 2}},
            "prefill.engine_args.dcp-size has a field of its own",
            "set prefill.decode_context_parallel_size instead",
        ),
        (
            {"engine_args": {"disaggregation-transfer-backend": "nixl"}},
            "prefill.engine_args.disaggregation-transfer-backend has a field of its own",
            "it is written from the connector section",
        ),
        (
            {"engine_args": {"kv-transfer-config": {}}},
            "prefill.engine_args.kv-transfer-config has a field of its own",
            "it is written from the connector section",
        ),
        ({"env": []}, "prefill.env is a list, but must be a mapping", None),
        (
            {"kv_cache_layout": "x"},
            (
                'prefill.kv_cache_layout is "x", but must be '
                '"NHD", "HND", "LBNHC", "LBHNC", "LHBNC", "BLHNC", "BLNHC" or "BHLNC"'
            ),
            None,
        ),
    ],
)
def test_a_wrong_value_is_told_with_its_key_and_what_it_must_be(section: Any, message: str, hint: str | None) -> None:
    [finding] = check({"model": {"is_mla": True}, "prefill": section, "decode": {}})
    assert (finding.message, finding.hint) == (message, hint)


@pytest.mark.parametrize(("value", "hint"), [("yes", "write true"), ("off", "write false"), ("maybe", None)])
def test_a_yes_is_told_to_be_true(value: str, hint: str | None) -> None:
    [finding] = check({"model": {"is_mla": value}, "prefill": {}, "decode": {}})
    assert finding.hint == hint


def test_a_version_that_is_too_long_is_told_so() -> None:
    [finding] = check({"engine": {"version": "0." * 40 + "1"}, "model": {"is_mla": True}, "prefill": {}, "decode": {}})
    assert finding.message.endswith("but must be at most 64 characters")


def test_a_mapping_that_holds_itself_is_no_traceback() -> None:
    endless: dict[str, Any] = {}
    endless["endless"] = endless
    role = {"tensor_parallel_size": 4.0, "engine_args": endless}
    assert [f.code for f in check({"model": {"is_mla": True}, "prefill": role, "decode": {}, "more": endless})]


def test_any_mapping_can_be_checked() -> None:
    document = MappingProxyType({"model": {"is_mla": True}, "prefill": {}, "decode": {}})
    assert check(document) == []


def test_a_long_text_is_shown_shortened() -> None:
    [finding] = check({"model": {"is_mla": "x" * 500}, "prefill": {}, "decode": {}})
    assert "… (502 characters), but must be true or false" in finding.message


def test_more_wrong_values_than_anyone_reads_are_counted() -> None:
    findings = check("".join(f"k{number}: 1\n" for number in range(500)))
    assert (len(findings), findings[-1].message) == (101, "403 more wrong values are not told")


@pytest.mark.parametrize(
    ("prefill", "decode", "heads", "hint"),
    [
        (4, 8, 64, "decode.tensor_parallel_size: 4, or prefill.tensor_parallel_size: 8, or connector.mode: write"),
        (4, 6, 64, "decode.tensor_parallel_size: 4"),
        (1, 8, 64, "decode.tensor_parallel_size: 1, or prefill.tensor_parallel_size: 8, or connector.mode: write"),
    ],
)
def test_the_hint_is_the_nearest_topologies_that_leave_nothing_broken(
    prefill: int, decode: int, heads: int, hint: str
) -> None:
    document = {
        "model": {"num_attention_heads": heads, "total_num_kv_heads": 8},
        "prefill": {"tensor_parallel_size": prefill},
        "decode": {"tensor_parallel_size": decode},
    }
    assert check(document)[-1].hint == hint


def test_where_no_one_size_mends_all_the_hint_changes_two() -> None:
    document = {
        "model": {"num_attention_heads": 64, "is_mla": True},
        "prefill": {"tensor_parallel_size": 3},
        "decode": {"tensor_parallel_size": 6},
    }
    hints = {finding.hint for finding in check(document)}
    assert hints == {"prefill.tensor_parallel_size: 4 and decode.tensor_parallel_size: 8"}


def test_a_rule_that_no_size_mends_says_what_to_do() -> None:
    [finding] = check({"model": {}, "prefill": {}, "decode": {}})
    assert finding.hint == (
        "Set model.total_num_kv_heads (num_key_value_heads in the model's config.json), model.hf_config (the path of "
        "that file), or model.is_mla: true."
    )


def test_a_warning_is_a_finding_of_its_own_severity() -> None:
    [finding] = check(SPLIT + "connector: {mode: write}\n")
    assert (finding.code, finding.severity) == ("moriio-write-unequal-tp", Severity.WARNING)


def test_a_finding_reads_as_one_line() -> None:
    [finding] = check(SPLIT)
    assert str(finding) == (
        "<text>:4:25: error[moriio-read-kv-heads-replicated]: prefill TP 4 and decode TP 8 must be equal, "
        "or both at least the 8 KV heads (decode.tensor_parallel_size: 4, or prefill.tensor_parallel_size: 8, "
        "or connector.mode: write)"
    )


def test_a_value_put_over_the_file_is_told_by_where_it_came_from() -> None:
    [_, finding] = check(EQUAL, overrides={"decode.tensor_parallel_size": 6})
    assert (finding.code, finding.file, finding.origin, finding.location) == (
        "tp-not-divisible",
        "<text>",
        "override decode.tensor_parallel_size=6",
        None,
    )


def test_a_finding_in_one_line_names_both_sources() -> None:
    [_, finding] = check(EQUAL, overrides={"decode.tensor_parallel_size": 6})
    assert str(finding) == (
        "<text> override decode.tensor_parallel_size=6: error[tp-not-divisible]: "
        "prefill TP 4 and decode TP 6: one must be a multiple of the other "
        "(prefill.tensor_parallel_size at <text>:2:33) (decode.tensor_parallel_size: 4)"
    )


def test_the_source_of_a_value_it_disagrees_with_is_named_beside_its_own_place() -> None:
    [finding, _] = check(EQUAL, overrides={"prefill.tensor_parallel_size": 6})
    assert finding.message_with_origin == (
        "prefill TP 6 and decode TP 4: one must be a multiple of the other "
        "(<text>:4:25, override prefill.tensor_parallel_size=6)"
    )


def test_an_override_changes_neither_the_document_nor_its_other_values() -> None:
    document = {"model": {"is_mla": True}, "prefill": {}, "decode": {"tensor_parallel_size": 2}}
    [finding] = check(document, overrides={"decode.port": 0})
    assert (finding.path, document["decode"]) == ("decode.port", {"tensor_parallel_size": 2})


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"model": {}, "prefill": 4, "decode": {}}, "prefill.tensor_parallel_size"),
        ({"model": {}, "prefill": {"tensor_parallel_size": 4}, "decode": {}}, "prefill.tensor_parallel_size.x"),
    ],
)
def test_an_override_that_does_not_fit_is_told_and_hides_nothing(document: Any, path: str) -> None:
    [finding] = check(document, overrides={path: 1})
    assert finding.message == f"override {path}=1 does not fit: what stands above it is no mapping"


def test_an_override_of_a_list_is_told() -> None:
    [finding] = check("- 1\n", overrides={"prefill": {}})
    assert finding.code == "model_type"


def test_one_line_of_json_is_a_text() -> None:
    assert check('{"model": {"is_mla": true, "name": "\\ud83d\\ude80"}, "prefill": {}, "decode": {}}') == []


def test_one_line_of_yaml_in_braces_is_a_text() -> None:
    assert check("{model: {is_mla: true}, prefill: {}, decode: {}}") == []


def test_an_error_silences_a_warning_about_the_same_mistake() -> None:
    document = {
        "model": {"total_num_kv_heads": 12},
        "connector": {"mode": "write"},
        "prefill": {"tensor_parallel_size": 4},
        "decode": {"tensor_parallel_size": 6},
    }
    assert [finding.code for finding in check(document)] == ["tp-not-divisible"]


def test_a_section_left_empty_is_told_what_to_write() -> None:
    [finding] = check("model: {is_mla: true}\nprefill:\ndecode: {}\n")
    assert (finding.message, finding.hint) == (
        "prefill is null, but must be a mapping",
        "write {} for its defaults",
    )


def test_a_file_is_loaded_into_a_topology(tmp_path: Path) -> None:
    file = tmp_path / "pd.toml"
    file.write_text("model.is_mla = true\n[prefill]\n[decode]\ntensor_parallel_size = 2\n")
    topology = load_topology(file)
    assert isinstance(topology, PDTopology)
    assert topology.decode.tensor_parallel_size == 2


def test_a_file_that_is_refused_raises_its_findings_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "pd.yaml"
    file.write_text(SPLIT)
    with pytest.raises(TopologyError) as caught:
        load_topology(str(file))
    assert str(caught.value).startswith(f"{file}:4:25: error[moriio-read-kv-heads-replicated]: prefill TP 4")
    assert [finding.code for finding in caught.value.diagnostics] == ["moriio-read-kv-heads-replicated"]


def test_a_missing_file_raises_a_topology_error() -> None:
    with pytest.raises(TopologyError, match=r"missing\.yaml: error\[unreadable-file\]: cannot be read: No such file"):
        load_topology("missing.yaml")


def test_a_stream_of_several_documents_is_not_one_topology() -> None:
    with pytest.raises(TopologyError, match="holds 2 documents, where one topology is wanted"):
        load_topology(f"{EQUAL}---\n{EQUAL}")


def test_loading_takes_overrides() -> None:
    assert load_topology(EQUAL, overrides={"decode.tensor_parallel_size": 4.0}).decode.tensor_parallel_size == 4


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        ("NixlConnector", "write nixl"),
        ("NixlPushConnector", "write nixl, with mode: push"),
        ("MoRIIOConnector", "write moriio"),
        ("LMCacheConnectorV1", "write other, with name: LMCacheConnectorV1"),
        ("not a name", None),
    ],
)
def test_a_connector_called_by_its_class_is_told_its_kind(kind: str, hint: str | None) -> None:
    [finding] = check({"model": {"is_mla": True}, "connector": {"kind": kind}, "prefill": {}, "decode": {}})
    assert (finding.code, finding.path, finding.hint) == ("literal_error", "connector.kind", hint)
    assert finding.message.endswith('but must be "moriio", "nixl", "mooncake" or "other"')


@pytest.mark.parametrize(
    ("section", "hint"),
    [
        ({"connector": "NixlConnector"}, "name it in connector.kind"),
        ({"model": "Qwen/Qwen3-32B"}, "name it in model.name"),
        ({"engine": "vllm"}, "name it in engine.name"),
        ({"prefill": "vllm"}, None),
    ],
)
def test_a_name_in_place_of_its_section_is_told_its_key(section: dict[str, str], hint: str | None) -> None:
    [finding] = check({"model": {"is_mla": True}, "prefill": {}, "decode": {}, **section})
    assert finding.hint == hint


@pytest.mark.parametrize(
    ("connector", "hint"),
    [
        ({"kind": "nixl", "mode": "read"}, "it is a mode of connector.kind moriio"),
        ({"mode": "push"}, "it is a mode of connector.kind nixl"),
        ({"kind": "nixl", "mode": "fast"}, None),
        ({"kind": "nixl", "mode": ["pull"]}, None),
    ],
)
def test_a_mode_of_another_connector_is_told_its_kind(connector: dict[str, Any], hint: str | None) -> None:
    [finding] = check({"model": {"is_mla": True}, "connector": connector, "prefill": {}, "decode": {}})
    assert (finding.path, finding.hint) == ("connector.mode", hint)


@pytest.mark.parametrize(
    ("connector", "hint"),
    [
        ({"kind": "nixl", "backend": "rdma"}, "it is a key of connector.kind moriio"),
        ({"kind": "moriio", "prefill": {"bootstrap_port": 1}}, "it is a key of connector.kind mooncake"),
        ({"kind": "nixl", "side_chanel_port": 1}, "the keys here are"),
        ({"kind": "nixl", "decode": {"side_chanel_port": 1}}, "did you mean side_channel_port?"),
    ],
)
def test_a_key_of_another_kind_of_connector_is_told_whose_it_is(connector: Any, hint: str) -> None:
    [finding] = check({"model": {"is_mla": True}, "connector": connector, "prefill": {}, "decode": {}})
    assert finding.code == "extra_forbidden"
    assert str(finding.hint).startswith(hint)
