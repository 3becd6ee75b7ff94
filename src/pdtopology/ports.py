"""The ports of a deployment: what each role binds, and where two of them meet on one host.

Ports add up from bases and ranks and hosts are compared as text, which JSON Schema cannot do: these rules are
Python's alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from pdtopology.connectors.examples import GQA
from pdtopology.constraints import Key
from pdtopology.constraints.expressions import Computed
from pdtopology.keys import DP, DP_LOCAL, PLACING_ARGUMENTS
from pdtopology.rule import ROLES, Found, Rule, Severity, Stage, Upstream

LAST_PORT = 65_535

WILDCARDS = ("0.0.0.0", "::", "*")  # noqa: S104 - compared with, not bound
LOOPBACKS = ("localhost", "127.0.0.1", "::1")

_API_PORTS = {"vllm": 8000, "sglang": 30_000}
"""Where an API server listens unless told otherwise."""
_BOOTSTRAP_PORT = 8998
_BOOTSTRAP_ARGUMENT = "disaggregation-bootstrap-port"
PORT_VARIABLES = {
    "side_channel_port": "VLLM_NIXL_SIDE_CHANNEL_PORT",
    "bootstrap_port": "VLLM_MOONCAKE_BOOTSTRAP_PORT",
}
"""vLLM's variables that take the place of a port's default, but not of a port that is stated."""
_HOST_VARIABLE = "VLLM_NIXL_SIDE_CHANNEL_HOST"


class Ports(NamedTuple):
    """Ports in a row that one role binds on a host."""

    name: str
    """What they are for: `decode's side channel`."""
    path: str
    """The key that says where they begin."""
    first: int
    size: int
    is_stated: bool
    """Whether the document says where they begin."""

    @property
    def last(self) -> int:
        """The last of them."""
        return self.first + self.size - 1

    def __str__(self) -> str:
        return f"{self.first}" if self.size == 1 else f"{self.first} to {self.last}"

    def meets(self, other: Ports) -> bool:
        """Whether some port belongs to both."""
        return self.first <= other.last and other.first <= self.last


def ports_of(topology: Any, role: str) -> list[Ports]:
    """What one role binds on its first host, in the order of the document.

    Sources: vLLM get_port_offset (kv_connector/v1/moriio/moriio_common.py), NixlBaseConnectorScheduler
    (nixl/base_scheduler.py, base + data-parallel index), MooncakeConnectorScheduler (one bootstrap server an
    instance) and ZmqEventPublisher (vllm/distributed/kv_events.py); SGLang fields/disagg.py.
    """
    section, engine = getattr(topology, role), topology.engine.name
    api = section.port or _API_PORTS[engine]
    found = [Ports(f"{role}'s API server", f"{role}.port", api, 1, section.port is not None)]
    services = _sglang_ports if engine == "sglang" else _vllm_ports
    return [*found, *services(section, topology.connector, role)]


def _sglang_ports(section: Any, connector: Any, role: str) -> Iterator[Ports]:
    # SGLang's server in Rust answers for the bootstrap server on the API port.
    if role == "prefill" and "SGLANG_RUST_SERVER" not in section.env:
        name, path = "prefill's bootstrap server", "connector.prefill.bootstrap_port"
        is_stated = "bootstrap_port" in connector.prefill.model_fields_set
        first = getattr(connector.prefill, "bootstrap_port", _BOOTSTRAP_PORT)
        # Only Mooncake's section has a field for it.
        for spelling in (_BOOTSTRAP_ARGUMENT, _BOOTSTRAP_ARGUMENT.replace("-", "_")):
            port = _port(section.engine_args.get(spelling))
            if port is not None and not is_stated:
                path, first, is_stated = f"prefill.engine_args.{spelling}", port, True
        yield Ports(name, path, first, 1, is_stated)


def _vllm_ports(section: Any, connector: Any, role: str) -> Iterator[Ports]:
    ranks = _local_ranks(section)
    if connector.kind == "moriio" and ranks:
        count = ranks + section.tensor_parallel_size - 1
        yield _field_ports(section, connector, role, "handshake_port", "handshake", count)
        yield _field_ports(section, connector, role, "notify_port", "notifications", count)
    elif connector.kind == "nixl" and ranks:
        yield _field_ports(section, connector, role, "side_channel_port", "side channel", ranks)
    elif connector.kind == "mooncake" and role == "prefill" and connector.bootstrap_server_address is None:
        yield _field_ports(section, connector, role, "bootstrap_port", "bootstrap server", 1)
    events = _events_port(section)
    if events and ranks:
        yield Ports(f"{role}'s KV events", f"{role}.engine_args.kv-events-config", events, ranks, is_stated=True)


def _local_ranks(section: Any) -> int:
    """The data-parallel ranks of the first host, 0 where it cannot be told since other arguments place them."""
    arguments = section.engine_args
    if any(spelling in arguments for name in PLACING_ARGUMENTS for spelling in (name, name.replace("-", "_"))):
        return 0
    local: int | None = section.data_parallel_size_local
    return section.data_parallel_size if local is None else max(local, 1)


def _field_ports(section: Any, connector: Any, role: str, field: str, name: str, count: int) -> Ports:
    """The ports from the field where it is stated, else from the variable of the role's `env`, else the default."""
    part, variable = getattr(connector, role), PORT_VARIABLES.get(field, "")
    is_stated, port = field in part.model_fields_set, _port(section.env.get(variable))
    if port is not None and not is_stated:
        return Ports(f"{role}'s {name}", f"{role}.env.{variable}", port, count, is_stated=True)
    return Ports(f"{role}'s {name}", f"connector.{role}.{field}", getattr(part, field), count, is_stated)


def _port(value: Any) -> int | None:
    """A port that stands where any value may; Python itself refuses to read or write thousands of digits."""
    number = int(value) if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value) else value
    return number if type(number) is int and number in range(10**9) else None


def _events_port(section: Any) -> int | None:
    """The port that the KV-event publisher binds, where it is turned on and binds one."""
    arguments = section.engine_args
    config = arguments.get("kv-events-config", arguments.get("kv_events_config"))
    if isinstance(config, str):
        try:
            config = json.loads(config)
        except (ValueError, RecursionError):
            return None
    if not isinstance(config, Mapping) or not config.get("enable_kv_cache_events"):
        return None
    # The publisher binds wildcards and dials every other address; port 0 is the system's choice.
    port = re.search(r"^tcp://(?:\*|\[?::\]?):(\d{1,5})$", str(config.get("endpoint", "tcp://*:5557")))
    return int(port[1]) if port and config.get("publisher", "zmq") == "zmq" else None


def host_of(topology: Any, role: str) -> str | None:
    """The host that a role names, or None where it listens on whatever host it is put on."""
    host: str | None = getattr(topology, role).host
    if host is None or host in WILDCARDS:
        return None
    return LOOPBACKS[0] if host in LOOPBACKS else host.lower()


def overlaps_of_one_host(topology: Any) -> Iterator[Found]:
    """Where the two roles bind one port; only where both name the same host, since pods have ports of their own."""
    prefill_host, decode_host = (host_of(topology, role) for role in ROLES)
    if prefill_host is None or prefill_host != decode_host:
        return
    for prefill in ports_of(topology, "prefill"):
        for decode in ports_of(topology, "decode"):
            are_defaults = prefill.path == "prefill.port" and not prefill.is_stated and not decode.is_stated
            if prefill.meets(decode) and not are_defaults:
                yield _found(decode, prefill)


def overlaps_of_one_role(topology: Any) -> Iterator[Found]:
    """Where one role's own services bind one port."""
    for role in ROLES:
        for one, other in combinations(ports_of(topology, role), 2):
            if one.meets(other):
                yield _found(other, one)


def ports_out_of_range(topology: Any) -> Iterator[Found]:
    """Where the ports in a row pass the last that exists."""
    for role in ROLES:
        for ports in ports_of(topology, role):
            if ports.last > LAST_PORT:
                values = {"ports": ports.first, "name": ports.name, "span": str(ports)}
                yield Found(Key("ports", ports.path), (), values)


def _found(ports: Ports, other: Ports) -> Found:
    values = {
        "ports": ports.first,
        "name": ports.name,
        "span": str(ports),
        "other_ports": other.first,
        "other_name": other.name,
        "other_span": str(other),
    }
    return Found(Key("ports", ports.path), (Key("other_ports", other.path),), values)


def side_channels_out_of_reach(topology: Any) -> Iterator[Found]:
    """Where the other role, on another host, is given a loopback address to dial.

    Decode dials prefill, to read or to register; in push mode prefill dials decode too. A host that is itself told as
    loopback may be the other one by another name.
    """
    prefill_host, decode_host = (host_of(topology, role) for role in ROLES)
    if prefill_host == decode_host or {None, LOOPBACKS[0]} & {prefill_host, decode_host}:
        return
    hosts = {"prefill_host": topology.prefill.host, "decode_host": topology.decode.host}
    for role in ROLES if topology.connector.mode == "push" else ("prefill",):
        stated = getattr(topology.connector, role).side_channel_host
        host = stated or getattr(topology, role).env.get(_HOST_VARIABLE)
        if host in LOOPBACKS:
            path = f"connector.{role}.side_channel_host" if stated else f"{role}.env.{_HOST_VARIABLE}"
            see = tuple(Key(f"{name}_host", f"{name}.host") for name in ROLES)
            values = {"side_channel_host": host, "name": f"{role}'s side channel", **hosts}
            yield Found(Key("side_channel_host", path), see, values)


SIDE_CHANNEL_HOST = Key("side_channel_host", "connector.role.side_channel_host")
_HOSTS = (Key("host", "role.host"), Key("port", "role.port"))
_CONNECTOR_PARTS = (Key("connector_prefill", "connector.prefill"), Key("connector_decode", "connector.decode"))
_RANKS = (DP, DP_LOCAL, Key("env", "role.env"), Key("engine_args", "role.engine_args"))
_READ = tuple(key.for_role(role) for role in ROLES for key in (*_HOSTS, *_RANKS)) + _CONNECTOR_PARTS
_BEYOND_SCHEMA = "It adds ranks to ports and compares hosts."
_LOCAL = {"host": "127.0.0.1"}
_NIXL = Upstream("vllm/distributed/kv_transfer/kv_connector/v1/nixl/base_scheduler.py", "NixlBaseConnectorScheduler")

RULES = (
    Rule(
        code="ports-overlap",
        title="Two roles on one host bind different ports",
        engine=None,
        at=Key("ports", "decode.port"),
        require=Computed("no two ports of the two roles meet on one host", overlaps_of_one_host, _READ),
        message="{name} ({span}) and {other_name} ({other_span}) need the same port on one host",
        why="The second to start dies, or one role dials the other's service. Default ports are the same for both "
        "roles.",
        fix="Give the two roles different ports, as far apart as each has ranks.",
        raised=Stage.START,
        source=_NIXL,
        beyond_schema=_BEYOND_SCHEMA,
        bad={"model": GQA, "connector": {"kind": "nixl"}, "prefill": {**_LOCAL, "port": 8100}, "decode": _LOCAL},
    ),
    Rule(
        code="ports-of-one-role-overlap",
        title="The services of one role bind different ports",
        engine=None,
        at=Key("ports", "decode.port"),
        require=Computed("no two ports of one role meet", overlaps_of_one_role, _READ),
        after=("moriio-dp-with-tp",),
        message="{name} ({span}) and {other_name} ({other_span}) need the same port",
        why="The second service to start dies, or a peer dials the wrong one.",
        fix="Give the services different ports, as far apart as the role has ranks.",
        raised=Stage.START,
        source=_NIXL,
        beyond_schema=_BEYOND_SCHEMA,
        bad={"model": GQA, "connector": {"kind": "nixl"}, "prefill": {"port": 5600}, "decode": {}},
    ),
    Rule(
        code="ports-out-of-range",
        title="The ports of all ranks exist",
        engine=None,
        at=Key("ports", "decode.port"),
        require=Computed("the last rank's port is at most 65535", ports_out_of_range, _READ),
        message="{name} ({span}) ends past port 65535",
        why="Each rank takes the next port after the first.",
        fix="Choose a lower first port.",
        raised=Stage.START,
        source=_NIXL,
        beyond_schema=_BEYOND_SCHEMA,
        bad={
            "model": GQA,
            "connector": {"kind": "nixl", "prefill": {"side_channel_port": 65_535}},
            "prefill": {"data_parallel_size": 2},
            "decode": {},
        },
    ),
    Rule(
        code="nixl-side-channel-loopback",
        title="NIXL's side channel has an address that the other host reaches",
        connectors=("nixl",),
        at=Key("side_channel_host", "connector.prefill.side_channel_host"),
        require=Computed("no side channel is loopback between two hosts", side_channels_out_of_reach, _READ),
        message="{name} at {side_channel_host} cannot be reached from another host",
        why="The handshake dials the address that the role tells, and waits until it times out.",
        fix="Set side_channel_host to the address of the role's host.",
        raised=Stage.FIRST_REQUEST,
        source=Upstream("vllm/envs.py", _HOST_VARIABLE),
        beyond_schema=_BEYOND_SCHEMA,
        bad={
            "model": GQA,
            "connector": {"kind": "nixl", "prefill": {"side_channel_host": "localhost"}},
            "prefill": {"host": "10.0.0.1"},
            "decode": {"host": "10.0.0.2"},
        },
    ),
    Rule(
        code="nixl-side-channel-wildcard",
        title="NIXL's side channel is told as an address, not as a wildcard",
        connectors=("nixl",),
        severity=Severity.WARNING,
        at=SIDE_CHANNEL_HOST,
        require=~SIDE_CHANNEL_HOST.is_(*WILDCARDS),
        message="{role}'s side channel host {side_channel_host} is no address that a peer can dial",
        why="The role listens on the address and also tells it to its peer. Inside one host it happens to work.",
        fix="Set side_channel_host to the address of the role's host.",
        raised=Stage.FIRST_REQUEST,
        source=Upstream("vllm/envs.py", _HOST_VARIABLE),
        bad={
            "model": GQA,
            "connector": {"kind": "nixl", "prefill": {"side_channel_host": "0.0.0.0"}},  # noqa: S104
            "prefill": {},
            "decode": {},
        },
    ),
)
