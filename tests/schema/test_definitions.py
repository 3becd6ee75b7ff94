"""What a schema says once it says where it is used; what it says more often it defines."""

from __future__ import annotations

import json
import re
from collections import Counter

from pdtopology import json_schema
from pdtopology.schema.definitions import with_shared_definitions


def test_a_definition_that_is_used_once_stands_in_its_place() -> None:
    schema = {"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"minimum": 2}}}
    assert with_shared_definitions(schema) == {"allOf": [{"minimum": 2}], "$defs": {}}


def test_a_definition_within_one_that_is_used_once_stands_there() -> None:
    definitions = {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"$ref": "#/$defs/c"}, "c": {"minimum": 2}}
    schema = {"allOf": [{"$ref": "#/$defs/a"}], "$defs": definitions}
    assert with_shared_definitions(schema) == {"allOf": [{"not": {"minimum": 2}}], "$defs": {}}


def test_a_definition_that_is_used_twice_is_kept() -> None:
    twice = {"$ref": "#/$defs/a"}
    schema = {"allOf": [twice, {"not": twice}], "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"minimum": 2}}}
    assert with_shared_definitions(schema) == {"allOf": [twice, {"not": twice}], "$defs": {"a": {"minimum": 2}}}


def test_a_definition_that_is_not_used_is_left_out() -> None:
    assert with_shared_definitions({"allOf": [], "$defs": {"a": {}}}) == {"allOf": [], "$defs": {}}


def test_the_exported_schema_uses_each_of_its_definitions_more_than_once() -> None:
    schema = json_schema()
    uses = Counter(re.findall(r"#/\$defs/([^\"]+)", json.dumps(schema)))
    assert {name for name, count in uses.items() if count > 1} == {*schema["$defs"]} == {*uses}
