"""Which ports each role binds, and where two services need the same one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pdtopology import check
from pdtopology.deployment import Deployment
from pdtopology.ports import Ports, ports_of
from tests.geometry.vectors import rows
from tests.verdicts import MLA, is_accepted, told

HOST = {"host": "10.0.0.1"}
ELSEWHERE = {"host": "10.0.0.2"}
ANYWHERE = "0.0.0.0"  # noqa: S104 - compared with, not bound
APART = {**HOST, "port": 8100}, {**HOST, "port": 8200}


def pair(prefill: Any = None, decode: Any = None, *, engine: str = "vllm", **connector: Any) -> dict[str, Any]:
    """A document of an MLA model with two roles."""
    return {
        "engine": {"name": engine},
        "model": MLA,
        "connector": {"kind": "nixl", **connector},
        "prefill": prefill or {},
        "decode": decode or {},
    }


def bound(document: Any, role: str) -> dict[str, tuple[int, int]]:
    """The first and the last port of each service of a role."""
    ports = ports_of(Deployment.of(document), role)
    return {port.name.removeprefix(f"{role}'s "): (port.first, port.last) for port in ports}


def both(first: Any, second: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two roles on one host whose API servers are apart, with more said of each."""
    return {**APART[0], **first}, {**APART[1], **second}


def test_moriios_ports_are_those_that_vllms_ranks_bind() -> None:
    for (dp, tp, dp_rank, tp_rank), (bind, _, _) in rows("moriio_ports"):
        role = {"tensor_parallel_size": tp, "data_parallel_size": dp}
        ports = bound(pair(role, kind="moriio"), "prefill")
        for first, last in (ports["handshake"], ports["notifications"]):
            assert first <= first + bind <= last, (dp_rank, tp_rank)


def test_moriio_refuses_exactly_where_ranks_collide_or_are_dialled_elsewhere() -> None:
    different = []
    for (dp, tp), (distinct, _, collides, misdialled) in rows("moriio_port_collisions"):
        role = {"tensor_parallel_size": tp, "data_parallel_size": dp}
        document = pair(role, {"tensor_parallel_size": tp}, kind="moriio")
        first, last = bound(document, "prefill")["handshake"]
        if is_accepted(document) is (collides or misdialled > 0) or last - first + 1 != distinct:
            different.append((dp, tp))
    assert different == []


def test_moriios_ranges_meet_on_one_host() -> None:
    ranks = {"tensor_parallel_size": 4}
    connector = {"kind": "moriio", "prefill": {"notify_port": 7000}}
    apart = {"handshake_port": 6400, "notify_port": 7004}
    document = pair(*both(ranks, ranks))
    document["connector"] = {**connector, "decode": apart}
    assert told(document) == []
    document["connector"] = {**connector, "decode": {**apart, "notify_port": 7003}}
    assert told(document) == ["ports-overlap"]


def test_a_roles_own_ranges_do_not_meet() -> None:
    document = pair({"tensor_parallel_size": 8})
    document["connector"] = {"kind": "moriio", "prefill": {"handshake_port": 7000, "notify_port": 7007}}
    document["decode"] = {"tensor_parallel_size": 8}
    assert told(document) == ["ports-of-one-role-overlap"]
    document["connector"]["prefill"]["notify_port"] = 7008
    assert told(document) == []


def test_a_nixl_side_channel_has_a_port_for_each_data_parallel_rank_of_the_host() -> None:
    ranks = {"data_parallel_size": 8, "tensor_parallel_size": 4}
    assert bound(pair(ranks), "prefill")["side channel"] == (5600, 5607)
    assert bound(pair({**ranks, "data_parallel_size_local": 2}), "prefill")["side channel"] == (5600, 5601)
    assert bound(pair({**ranks, "data_parallel_size_local": 0}), "prefill")["side channel"] == (5600, 5600)


@pytest.mark.parametrize("argument", ["data-parallel-rank", "data_parallel_rank", "nnodes", "data-parallel-backend"])
def test_ranks_that_an_argument_places_are_not_counted(argument: str) -> None:
    placed = {"data_parallel_size": 8, "engine_args": {argument: 2}}
    assert bound(pair(placed), "prefill") == {"API server": (8000, 8000)}
    assert bound(pair(placed, kind="moriio"), "prefill") == {"API server": (8000, 8000)}


def test_nixl_side_channels_on_one_host_lie_apart_by_their_ranks() -> None:
    ranks = {"data_parallel_size": 4}
    document = pair(*both(ranks, ranks))
    assert told(document) == ["ports-overlap"]
    document["connector"] = {"kind": "nixl", "decode": {"side_channel_port": 5603}}
    assert told(document) == ["ports-overlap"]
    document["connector"] = {"kind": "nixl", "decode": {"side_channel_port": 5604}}
    assert told(document) == []


def test_mooncake_has_one_bootstrap_server_which_is_prefills() -> None:
    ranks = {"data_parallel_size": 4, "tensor_parallel_size": 4}
    document = pair(*both(ranks, ranks), kind="mooncake")
    assert bound(document, "prefill")["bootstrap server"] == (8998, 8998)
    assert "bootstrap server" not in bound(document, "decode")
    assert told(document) == []


def test_a_bootstrap_server_of_its_own_is_not_prefills() -> None:
    document = pair(kind="mooncake", bootstrap_server_address="10.0.0.9:8998")
    assert "bootstrap server" not in bound(document, "prefill")


def test_a_bootstrap_port_that_is_the_api_port_of_either_role_is_told() -> None:
    assert told(pair({"port": 8998}, kind="mooncake")) == ["ports-of-one-role-overlap"]
    assert told(pair({**HOST, "port": 8100}, {**HOST, "port": 8998}, kind="mooncake")) == ["ports-overlap"]


@pytest.mark.parametrize(
    ("kind", "variable", "service"),
    [
        ("nixl", "VLLM_NIXL_SIDE_CHANNEL_PORT", "side channel"),
        ("mooncake", "VLLM_MOONCAKE_BOOTSTRAP_PORT", "bootstrap server"),
    ],
)
def test_a_variable_stands_in_for_the_field(kind: str, variable: str, service: str) -> None:
    assert bound(pair({"env": {variable: "7000"}}, kind=kind), "prefill")[service] == (7000, 7000)


def test_a_field_that_is_stated_is_stronger_than_the_variable() -> None:
    document = pair({"env": {"VLLM_NIXL_SIDE_CHANNEL_PORT": "7000"}})
    document["connector"] = {"kind": "nixl", "prefill": {"side_channel_port": 7100}}
    assert bound(document, "prefill")["side channel"] == (7100, 7100)


def test_a_variable_that_is_no_number_stands_for_nothing() -> None:
    document = pair({"env": {"VLLM_NIXL_SIDE_CHANNEL_PORT": "$PORT"}})
    assert bound(document, "prefill")["side channel"] == (5600, 5600)


def test_a_port_from_a_variable_is_told_at_the_variable() -> None:
    [finding] = check(pair({"port": 8100, "env": {"VLLM_NIXL_SIDE_CHANNEL_PORT": "8100"}}))
    assert finding.path == "prefill.env.VLLM_NIXL_SIDE_CHANNEL_PORT"


EVENTS = {"enable_kv_cache_events": True, "publisher": "zmq", "endpoint": "tcp://*:5557"}


@pytest.mark.parametrize(
    ("config", "ports"),
    [
        (EVENTS, (5557, 5558)),
        (json.dumps(EVENTS), (5557, 5558)),
        ({"enable_kv_cache_events": True}, (5557, 5558)),
        ({**EVENTS, "endpoint": "tcp://[::]:5600"}, (5600, 5601)),
        ({**EVENTS, "endpoint": "tcp://epp.svc:5557"}, None),
        ({**EVENTS, "endpoint": "tcp://*:0"}, None),
        ({**EVENTS, "endpoint": "ipc:///tmp/kv"}, None),
        ({**EVENTS, "publisher": "null"}, None),
        ({**EVENTS, "enable_kv_cache_events": False}, None),
        ("{", None),
        ("[]", None),
        (None, None),
    ],
)
@pytest.mark.parametrize("argument", ["kv-events-config", "kv_events_config"])
def test_kv_events_have_a_port_where_they_are_bound(argument: str, config: Any, ports: tuple[int, int] | None) -> None:
    document = pair({"data_parallel_size": 2, "engine_args": {argument: config}})
    assert bound(document, "prefill").get("KV events") == ports


def test_the_events_of_placed_ranks_are_not_counted() -> None:
    document = pair({"engine_args": {"kv-events-config": EVENTS, "nnodes": 2}})
    assert "KV events" not in bound(document, "prefill")


def test_a_side_channel_on_the_port_of_the_events_is_told() -> None:
    document = pair({"engine_args": {"kv-events-config": EVENTS}})
    document["connector"] = {"kind": "nixl", "prefill": {"side_channel_port": 5557}}
    assert told(document) == ["ports-of-one-role-overlap"]


def test_two_roles_that_dial_one_subscriber_share_no_port() -> None:
    dials = {"engine_args": {"kv-events-config": {**EVENTS, "endpoint": "tcp://10.0.0.9:5557"}}}
    assert told(pair(*both(dials, dials), kind="mooncake")) == []


def test_an_api_port_that_is_the_connectors_is_told() -> None:
    assert told(pair({"port": 5600})) == ["ports-of-one-role-overlap"]


@pytest.mark.parametrize(
    ("prefill", "decode"),
    [
        ({}, {}),
        ({"port": 8000}, {"port": 8000}),
        ({"host": ANYWHERE, "port": 8000}, {"host": ANYWHERE, "port": 8000}),
        ({"host": "::", "port": 8000}, {"host": "::", "port": 8000}),
        ({**HOST, "port": 8000}, {**ELSEWHERE, "port": 8000}),
        ({**HOST, "port": 8000}, {"port": 8000}),
    ],
    ids=["pods", "pods with ports", "wildcards", "IPv6 wildcards", "two hosts", "one host unset"],
)
def test_hosts_that_are_not_one_share_no_ports(prefill: Any, decode: Any) -> None:
    assert told(pair(prefill, decode)) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [("localhost", "127.0.0.1"), ("127.0.0.1", "::1"), ("Node-1", "node-1"), ("10.0.0.1", "10.0.0.1")],
)
def test_one_host_by_two_names_shares_its_ports(first: str, second: str) -> None:
    document = pair({"host": first, "port": 8000}, {"host": second, "port": 8000}, kind="mooncake")
    assert told(document) == ["ports-overlap"]


def test_two_api_ports_that_are_not_stated_are_given_elsewhere() -> None:
    assert told(pair(HOST, HOST, kind="mooncake")) == []
    assert told(pair({**HOST, "port": 8000}, HOST, kind="mooncake")) == ["ports-overlap"]


def test_the_last_ranks_port_exists() -> None:
    document = pair({"data_parallel_size": 36})
    document["connector"] = {"kind": "nixl", "prefill": {"side_channel_port": 65_500}}
    assert told(document) == []
    document["prefill"] = {"data_parallel_size": 37}
    assert told(document) == ["ports-out-of-range"]
    assert told(pair({"env": {"VLLM_NIXL_SIDE_CHANNEL_PORT": "70000"}})) == ["ports-out-of-range"]


def test_a_port_is_said_alone_and_several_from_the_first_to_the_last() -> None:
    assert str(Ports("", "", 5600, 1, is_stated=True)) == "5600"
    assert str(Ports("", "", 5600, 3, is_stated=True)) == "5600 to 5602"


LOOPBACK = {"side_channel_host": "localhost"}


@pytest.mark.parametrize(
    ("mode", "role", "roles", "is_told"),
    [
        ("pull", "prefill", (HOST, ELSEWHERE), True),
        ("pull", "decode", (HOST, ELSEWHERE), False),
        ("push", "prefill", (HOST, ELSEWHERE), True),
        ("push", "decode", (HOST, ELSEWHERE), True),
        ("pull", "prefill", APART, False),
        ("pull", "prefill", ({}, ELSEWHERE), False),
        ("pull", "prefill", (HOST, {}), False),
        ("pull", "prefill", ({"host": "localhost"}, ELSEWHERE), False),
        ("pull", "prefill", (HOST, {"host": "127.0.0.1"}), False),
    ],
)
def test_a_side_channel_that_is_dialled_from_another_host(
    mode: str, role: str, roles: tuple[Any, Any], is_told: bool
) -> None:
    document = pair(*roles, mode=mode)
    document["connector"][role] = {**LOOPBACK, "side_channel_port": 5700}
    assert told(document) == (["nixl-side-channel-loopback"] if is_told else [])


def test_a_loopback_from_a_variable_is_told_at_the_variable() -> None:
    [finding] = check(pair({**HOST, "env": {"VLLM_NIXL_SIDE_CHANNEL_HOST": "127.0.0.1"}}, ELSEWHERE))
    assert (finding.code, finding.path) == ("nixl-side-channel-loopback", "prefill.env.VLLM_NIXL_SIDE_CHANNEL_HOST")


def test_an_address_of_the_host_is_reached() -> None:
    document = pair(HOST, ELSEWHERE)
    document["connector"]["prefill"] = {"side_channel_host": "10.0.0.1"}
    assert told(document) == []


def test_a_wildcard_is_no_address_to_dial_which_is_only_a_warning() -> None:
    document = pair()
    document["connector"]["decode"] = {"side_channel_host": ANYWHERE}
    assert told(document) == ["nixl-side-channel-wildcard"]
    assert is_accepted(document)


def test_sglangs_bootstrap_server_is_prefills() -> None:
    document = pair(engine="sglang", kind="nixl")
    assert bound(document, "prefill") == {"API server": (30_000, 30_000), "bootstrap server": (8998, 8998)}
    assert bound(document, "decode") == {"API server": (30_000, 30_000)}
    assert told(pair({"port": 8998}, engine="sglang")) == ["ports-of-one-role-overlap"]


@pytest.mark.parametrize("argument", ["disaggregation-bootstrap-port", "disaggregation_bootstrap_port"])
@pytest.mark.parametrize("port", [8100, "8100"])
def test_sglangs_bootstrap_port_may_be_an_argument(argument: str, port: int | str) -> None:
    arguments = {"engine_args": {argument: port}}
    assert bound(pair(arguments, engine="sglang", kind="nixl"), "prefill")["bootstrap server"] == (8100, 8100)
    assert told(pair({"port": 8998, **arguments}, engine="sglang", kind="nixl")) == []


def test_the_field_of_a_bootstrap_port_goes_before_the_argument() -> None:
    connector = {"kind": "mooncake", "prefill": {"bootstrap_port": 8200}}
    document = pair({"engine_args": {"disaggregation-bootstrap-port": 8100}}, engine="sglang")
    assert bound({**document, "connector": connector}, "prefill")["bootstrap server"] == (8200, 8200)


def test_thousands_of_digits_are_no_port() -> None:
    variable = {"env": {"VLLM_NIXL_SIDE_CHANNEL_PORT": "9" * 5000}}
    assert bound(pair(variable), "prefill")["side channel"] == (5600, 5600)


@pytest.mark.parametrize("value", ["9" * 5000, pytest.param(10**5000, id="long"), -1, True, None, []])
def test_an_argument_that_is_no_port_says_none(value: Any) -> None:
    arguments = {"engine_args": {"disaggregation-bootstrap-port": value}}
    assert bound(pair(arguments, engine="sglang"), "prefill")["bootstrap server"] == (8998, 8998)


def test_a_configuration_of_events_nested_without_end_is_no_port() -> None:
    arguments = {"engine_args": {"kv-events-config": "[" * 90_000}}
    assert bound(pair(arguments), "prefill").keys() == {"API server", "side channel"}


def test_sglangs_server_in_rust_is_its_own_bootstrap_server() -> None:
    document = pair({"port": 8998, "env": {"SGLANG_RUST_SERVER": "1"}}, engine="sglang", kind="mooncake")
    assert told(document) == []


def test_a_connector_that_is_not_known_has_no_ports() -> None:
    assert bound(pair(kind="other"), "prefill") == {"API server": (8000, 8000)}
