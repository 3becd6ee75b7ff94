"""Values that go over a document's, taken apart, and what they are called."""

from __future__ import annotations

from typing import Any

import pytest

from pdtopology import DecodeRole, MoRIIOConnector, NixlConnector, check
from pdtopology.overrides import Override, overrides_at
from pdtopology.paths import dotted

DOCUMENT = {"model": {"is_mla": True}, "prefill": {}, "decode": {"tensor_parallel_size": 2}}


def values_of(values: dict[str, Any]) -> dict[str, Any]:
    """The values by dotted paths, taken apart."""
    return {dotted(path): override.value for path, override in overrides_at(values, "--set").items()}


def test_a_mapping_is_taken_apart_by_its_keys() -> None:
    assert values_of({"decode": {"port": 1, "env": {"A": "b"}}}) == {"decode.port": 1, "decode.env.A": "b"}


def test_a_section_says_what_it_states() -> None:
    assert values_of({"decode": DecodeRole(port=1)}) == {"decode.port": 1}


@pytest.mark.parametrize("empty", [{}, DecodeRole()])
def test_what_states_nothing_is_an_empty_mapping(empty: Any) -> None:
    assert values_of({"decode": empty}) == {"decode": {}}


@pytest.mark.parametrize(("connector", "kind"), [(NixlConnector(), "nixl"), (MoRIIOConnector(), "moriio")])
def test_a_connector_says_its_kind(connector: Any, kind: str) -> None:
    assert values_of({"connector": connector}) == {"connector.kind": kind}


def test_an_engine_argument_is_one_value() -> None:
    assert values_of({"decode.engine_args": {"speculative-config": {"method": "mtp"}}}) == {
        "decode.engine_args.speculative-config": {"method": "mtp"}
    }


def test_a_mapping_that_holds_itself_is_no_traceback() -> None:
    endless: dict[str, Any] = {}
    endless["endless"] = endless
    assert [finding.code for finding in check(DOCUMENT, overrides={"decode": endless})] == ["extra_forbidden"]


@pytest.mark.parametrize(
    ("values", "override"),
    [
        ({"decode.port": 0}, Override(0, "--set decode.port=0")),
        ({"decode": {"host": "a"}}, Override("a", '--set decode.host="a"')),
        ({"decode.env.HF_TOKEN": "secret"}, Override("secret", "--set decode.env.HF_TOKEN")),
        ({"decode.env": "secret"}, Override("secret", "--set decode.env")),
        ({"decode.engine_args": {"api-key": "secret"}}, Override("secret", "--set decode.engine_args.api-key")),
    ],
)
def test_a_value_is_called_by_its_path(values: dict[str, Any], override: Override) -> None:
    assert list(overrides_at(values, "--set").values()) == [override]


def test_a_mapping_goes_over_the_document_key_by_key() -> None:
    [finding] = check(DOCUMENT, overrides={"decode": {"port": 0}})
    assert (finding.path, finding.origin) == ("decode.port", "override decode.port=0")


def test_a_mapping_of_which_the_document_states_nothing_is_called_by_all_its_values() -> None:
    given = {"decode.engine_args": {"enable-return-routed-experts": True, "x": 1}}
    [finding] = check(DOCUMENT, overrides=given)
    assert (finding.code, finding.path, finding.origin) == (
        "routed-experts",
        "decode.engine_args",
        "override decode.engine_args.enable-return-routed-experts, override decode.engine_args.x",
    )


def test_an_empty_mapping_is_not_where_the_values_below_it_came_from() -> None:
    [finding] = check("model: {is_mla: true}\nprefill: {}\ndecode: {port: 0}\n", overrides={"decode": {}})
    assert (finding.origin, finding.location and finding.location.line) == ("", 3)


def test_a_value_that_may_be_a_secret_is_not_told() -> None:
    [finding] = check(DOCUMENT, overrides={"decode.env.PIN": 1234})
    assert (finding.message, finding.hint) == ("decode.env.PIN must be text", None)
