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
from pdtopology.keys import DP, DP_LOCAL
from pdtopology.rule import ROLES, Found, Rule, Severity, Stage, Upstream

LAST_PORT = 65_535

WILDCARDS = ("0.0.0.0", "::", "*")  # noqa: S104 - compared with, not bound
LOOPBACKS = ("localhost", "127.0.0.1", "::1")

_API_PORTS = {"vllm": 8000, "sglang": 30_000}
"""Where an API server listens unless told otherwise."""
_BOOTSTRAP_PORT = 8998


class Service(NamedTuple):
    """Something that a role runs and others dial."""

    name: str
    path: str
    """The key that says where its ports begin, of either role."""


API = Service("API server", "role.port")
HANDSHAKE = Service("handshake", "connector.role.handshake_port")
NOTIFICATIONS = Service("notifications", "connector.role.notify_port")
SIDE_CHANNEL = Service("side channel", "connector.role.side_channel_port")
BOOTSTRAP = Service("bootstrap server", "connector.role.bootstrap_port")
EVENTS = Service("KV events", "role.engine_args.kv-events-config")


class Ports(NamedTuple):
    """Ports in a row that one service of a role binds on a host."""

    service: Service
    role: str
    first: int
    last: int

    @property
    def name(self) -> str:
        """What they are for: `decode's side channel`."""
        return f"{self.role}'s {self.service.name}"

    @property
    def path(self) -> str:
        """The key that says where they begin."""
        return self.service.path.replace("role", self.role, 1)

    def __str__(self) -> str:
        return f"{self.first}" if self.first == self.last else f"{self.first} to {self.last}"

    def meets(self, other: Ports) -> bool:
        """Whether some port belongs to both."""
        return self.first <= other.last and other.first <= self.last


def ports_of(topology: Any, role: str) -> list[Ports]:
    """What one role binds on its first host, in the order of the document.

    Sources: vLLM get_port_offset (kv_connector/v1/moriio/moriio_common.py), NixlBaseConnectorScheduler
    (nixl/base_scheduler.py, base + data-parallel index) and MooncakeConnectorScheduler (one bootstrap server an
    instance); SGLang fields/disagg.py.
    """
    section = getattr(topology, role)
    engine = topology.engine.name
    api = section.port or _API_PORTS[engine]
    found = [Ports(API, role, api, api)]
    part = getattr(topology.connector, role)
    if engine == "sglang":
        if role == "prefill":
            port = getattr(part, "bootstrap_port", _BOOTSTRAP_PORT)
            found.append(Ports(BOOTSTRAP, role, port, port))
    else:
        found += _vllm_ports(topology.connector, section, part, role)
    return found


def _vllm_ports(connector: Any, section: Any, part: Any, role: str) -> list[Ports]:
    stated_ranks = section.data_parallel_size_local
    last_rank = max((section.data_parallel_size if stated_ranks is None else stated_ranks) - 1, 0)
    found = []
    if connector.kind == "moriio":
        last = last_rank + section.tensor_parallel_size - 1
        found += [
            Ports(HANDSHAKE, role, part.handshake_port, part.handshake_port + last),
            Ports(NOTIFICATIONS, role, part.notify_port, part.notify_port + last),
        ]
    elif connector.kind == "nixl":
        first = _from_environment(section, "VLLM_NIXL_SIDE_CHANNEL_PORT", part, "side_channel_port")
        found.append(Ports(SIDE_CHANNEL, role, first, first + last_rank))
    elif connector.kind == "mooncake" and role == "prefill" and connector.bootstrap_server_address is None:
        first = _from_environment(section, "VLLM_MOONCAKE_BOOTSTRAP_PORT", part, "bootstrap_port")
        found.append(Ports(BOOTSTRAP, role, first, first))
    if section.engine_args and (events := _events_port(section.engine_args)) is not None:
        found.append(Ports(EVENTS, role, events, events + last_rank))
    return found


def _from_environment(section: Any, variable: str, part: Any, field: str) -> int:
    """The field where it is stated, else the variable of the role's `env`, else the default."""
    text = section.env.get(variable, "") if section.env else ""
    if text.isdecimal() and field not in part.model_fields_set:
        return int(text)
    port: int = getattr(part, field)
    return port


def _events_port(arguments: Mapping[str, Any]) -> int | None:
    """The port of the KV-event publisher, where it is turned on."""
    config = arguments.get("kv-events-config", arguments.get("kv_events_config"))
    if isinstance(config, str):
        try:
            config = json.loads(config)
        except ValueError:
            return None
    if not isinstance(config, Mapping) or not config.get("enable_kv_cache_events"):
        return None
    port = re.search(r":(\d{1,5})$", str(config.get("endpoint", "tcp://*:5557")))
    return int(port[1]) if port else None


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
    states_api_ports = topology.prefill.port or topology.decode.port
    for prefill in ports_of(topology, "prefill"):
        for decode in ports_of(topology, "decode"):
            are_defaults = prefill.service is decode.service is API and not states_api_ports
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
    """Where the other role, on another host, is given a loopback address to dial."""
    if topology.connector.kind != "nixl":
        return
    prefill_host, decode_host = (host_of(topology, role) for role in ROLES)
    if prefill_host is None or decode_host is None or prefill_host == decode_host:
        return
    role = "prefill" if topology.connector.mode == "pull" else "decode"
    part, section = getattr(topology.connector, role), getattr(topology, role)
    host = part.side_channel_host or section.env.get("VLLM_NIXL_SIDE_CHANNEL_HOST")
    if host in LOOPBACKS:
        at = Key("side_channel_host", f"connector.{role}.side_channel_host")
        see = tuple(Key(f"{name}_host", f"{name}.host") for name in ROLES)
        hosts = {"prefill_host": topology.prefill.host, "decode_host": topology.decode.host}
        yield Found(at, see, {"side_channel_host": host, "name": f"{role}'s side channel", **hosts})


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
        message="{name} ({span}) and {other_name} ({other_span}) meet on one host",
        why="The second to start dies, or one role dials the other's service. Default ports are the same for both "
        "roles.",
        fix="Give the two roles ports that lie apart by their numbers of ranks.",
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
        message="{name} ({span}) and {other_name} ({other_span}) meet",
        why="The second service to start dies, or a peer dials the wrong one.",
        fix="Give the services ports that lie apart by the role's number of ranks.",
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
        message="{name} at {side_channel_host} is not reached from another host",
        why="The handshake dials the address that the role tells, and waits until it times out.",
        fix="Set side_channel_host to the address of the role's host.",
        raised=Stage.FIRST_REQUEST,
        source=Upstream("vllm/envs.py", "VLLM_NIXL_SIDE_CHANNEL_HOST"),
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
        source=Upstream("vllm/envs.py", "VLLM_NIXL_SIDE_CHANNEL_HOST"),
        bad={
            "model": GQA,
            "connector": {"kind": "nixl", "prefill": {"side_channel_host": "0.0.0.0"}},  # noqa: S104
            "prefill": {},
            "decode": {},
        },
    ),
)
