"""The flat connector offers and takes of each kind what its model has."""

from __future__ import annotations

from typing import Any

import pytest

from pdtopology import json_schema
from pdtopology.connectors.kinds import CONNECTORS
from pdtopology.section import Section, sections_of

CONNECTOR = json_schema()["properties"]["connector"]
CLAUSES = {clause["if"]["properties"]["kind"]["const"]: clause for clause in CONNECTOR["allOf"]}
EVERY_KIND = pytest.mark.parametrize("kind", CONNECTORS)


def offered(merged: Any, limits: Any) -> dict[str, Any]:
    """The keys that an editor offers, with those of an object below them."""
    keys: dict[str, Any] = {}
    for key, field in merged["properties"].items():
        own = limits.get(key, {})
        if "properties" in field:
            keys[key] = offered(field, own.get("properties", {}))
        elif own is not False and (own or "doNotSuggest" not in field):
            keys[key] = {}
    return keys


def keys_of(model: type[Section]) -> dict[str, Any]:
    """The keys of a model, with those of the sections below them."""
    keys: dict[str, Any] = {}
    for key, field in model.model_fields.items():
        inner = sections_of(field.annotation)
        keys[key] = keys_of(inner[0]) if inner else {}
    return keys


def refused(limits: Any) -> list[str]:
    """The keys that a clause refuses."""
    return [key for key, limit in limits.items() if limit is False]


@EVERY_KIND
def test_an_editor_is_offered_exactly_the_keys_of_the_kind(kind: str) -> None:
    assert offered(CONNECTOR, CLAUSES[kind]["then"]["properties"]) == keys_of(CONNECTORS[kind])


@EVERY_KIND
def test_exactly_the_keys_of_other_kinds_are_refused(kind: str) -> None:
    known = {key for model in CONNECTORS.values() for key in model.model_fields}
    assert {*refused(CLAUSES[kind]["then"]["properties"])} == known - {*CONNECTORS[kind].model_fields}


def test_only_the_default_kind_may_be_left_out() -> None:
    assert [kind for kind, clause in CLAUSES.items() if "required" not in clause["if"]] == ["moriio"]


def test_a_key_that_differs_says_what_it_means_with_each_kind() -> None:
    mode = CONNECTOR["properties"]["mode"]
    assert "enum" not in mode
    assert "With moriio: `read`" in mode["markdownDescription"]
    assert "With nixl: `pull`" in mode["markdownDescription"]
    assert CLAUSES["nixl"]["then"]["properties"]["mode"]["enum"] == ["pull", "push"]
