"""The exported JSON Schema rejects exactly what Python rejects, and what is committed is what is exported."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from pydantic_core import PydanticUndefined

from pdtopology import json_schema
from pdtopology.catalogue import CLAUSES, FAMILIES
from pdtopology.deployment import Deployment
from pdtopology.explain import rule_table
from pdtopology.schema import DIALECTS, FILE_NAMES, dump
from pdtopology.section import Section, sections_of
from tests.agreement.documents import Product
from tests.agreement.junk import JUNK_DOCUMENT
from tests.agreement.products import PRODUCTS
from tests.agreement.run import Comparison, verdict

SCHEMAS = Path(__file__).parent.parent / "schemas"
EVERY_DIALECT = pytest.mark.parametrize("dialect", DIALECTS)
VALIDATORS = {dialect: jsonschema_rs.validator_for(json_schema(dialect)) for dialect in DIALECTS}


@EVERY_DIALECT
def test_the_committed_schema_is_fresh(dialect: Any) -> None:
    assert (SCHEMAS / FILE_NAMES[dialect]).read_text() == dump(json_schema(dialect))


@EVERY_DIALECT
def test_the_text_of_a_schema_is_the_schema(dialect: Any) -> None:
    assert json.loads(dump(json_schema(dialect))) == json_schema(dialect)


@EVERY_DIALECT
def test_it_is_a_valid_schema_of_its_dialect(dialect: Any) -> None:
    assert jsonschema_rs.meta.is_valid(json_schema(dialect))


@EVERY_DIALECT
def test_it_says_its_dialect_and_what_it_is(dialect: Any) -> None:
    schema = json_schema(dialect)
    assert (schema["$schema"], schema["title"]) == (DIALECTS[dialect], "Prefill/decode topology")


def test_an_unknown_dialect_is_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"'draft-04': one of 2020-12, draft-07"):
        json_schema("draft-04")  # type: ignore[arg-type]


@pytest.mark.parametrize("product", PRODUCTS, ids=[product.name for product in PRODUCTS])
def test_python_and_the_schemas_agree_on_a_part_of_every_product(product: Product) -> None:
    comparison = Comparison(VALIDATORS.values())
    comparison.compare_all(product.sample(6_000))
    assert comparison.different == []


def test_the_products_hold_millions_of_documents() -> None:
    assert sum(product.size for product in PRODUCTS) >= 9_000_000


@settings(max_examples=5_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(JUNK_DOCUMENT)
def test_python_and_the_schemas_agree_on_junk(document: Any) -> None:
    expected = verdict(document)
    assert expected is None or {validator.is_valid(document) for validator in VALIDATORS.values()} == {expected}


FLAGS = {"is_mla": False, "has_mamba_layers": False, "has_sliding_window_layers": False}
READING_FLAGS = {
    clause.rule.code: clause.rule.bad
    for clause in CLAUSES
    if clause.refused_by_schema and {f"model.{flag}" for flag in FLAGS} & {key.path for key in clause.constraint.keys}
}
# No config tells that of the first, and without its flag the second breaks another rule.
OTHERS = ("kv-heads-unknown", "nixl-pull-pipeline-hybrid")
BESIDE_CONFIG = pytest.mark.parametrize(
    "bad", [pytest.param(bad, id=code) for code, bad in READING_FLAGS.items() if code not in OTHERS]
)


@EVERY_DIALECT
def test_beside_a_config_no_number_is_needed(dialect: Any) -> None:
    model = {"hf_config": "config.json"}
    assert VALIDATORS[dialect].is_valid({"model": model, "prefill": {}, "decode": {}})
    assert not VALIDATORS[dialect].is_valid({"model": {"hf_config": None}, "prefill": {}, "decode": {}})


@BESIDE_CONFIG
def test_beside_a_config_a_flag_that_is_left_out_is_not_taken_for_its_default(bad: Any) -> None:
    model = {key: value for key, value in bad["model"].items() if key not in FLAGS}
    document = {**bad, "model": {**model, "hf_config": "config.json"}}
    assert all(validator.is_valid(document) for validator in VALIDATORS.values())


@BESIDE_CONFIG
def test_beside_a_config_what_is_stated_is_judged(bad: Any) -> None:
    document = {**bad, "model": {**FLAGS, **bad["model"], "hf_config": "config.json"}}
    assert not any(validator.is_valid(document) for validator in VALIDATORS.values())


def test_the_committed_rule_table_is_fresh() -> None:
    assert (SCHEMAS / "rules.md").read_text() == rule_table(FAMILIES)


def fields_below(path: str, schema: Any) -> dict[str, Any]:
    """Every section and field of the schema by its path."""
    below = [fields_below(f"{path}.{name}", field) for name, field in schema.get("properties", {}).items()]
    return {path: schema, **{name: field for fields in below for name, field in fields.items()}}


def fields() -> dict[str, Any]:
    """Every section and field of the document by its path."""
    return {path[1:]: field for path, field in fields_below("", json_schema()).items() if path}


@pytest.mark.parametrize("form", ["description", "markdownDescription"])
def test_every_field_says_what_it_means_in_both_forms(form: str) -> None:
    assert len(fields()) > 70
    assert [path for path, field in fields().items() if not field.get(form)] == []


def defaults_of(path: str, section: type[Section]) -> Iterator[tuple[str, Any]]:
    """The defaults of a section's fields, and of the sections below it, by their paths."""
    for name, field in section.model_fields.items():
        inner = sections_of(field.annotation)
        for below in inner:
            yield from defaults_of(f"{path}{name}.", below)
        if not inner and field.default not in (None, PydanticUndefined):
            yield f"{path}{name}", field.default


def test_the_hover_of_every_field_says_its_default() -> None:
    hovers = {path: field["markdownDescription"] for path, field in fields().items()}
    silent = [
        path for path, default in defaults_of("", Deployment) if f"efault: `{json.dumps(default)}`" not in hovers[path]
    ]
    assert silent == ["connector.kind"] * 3


def test_every_field_of_a_role_says_its_flag_unless_it_has_none() -> None:
    fields = json_schema()["properties"]["decode"]["properties"]
    without = {key for key, field in fields.items() if "vLLM: `--" not in field["markdownDescription"]}
    assert without == {"replicas", "env", "engine_args", "kv_cache_layout"}


@pytest.mark.parametrize(
    ("field", "part"),
    [
        ("tensor_parallel_size", "Default: `1`."),
        ("tensor_parallel_size", "vLLM: `--tensor-parallel-size`"),
        ("tensor_parallel_size", "One TP size must be a multiple of the other (`tp-not-divisible`)."),
        ("port", "vLLM: `--port`"),
    ],
)
def test_the_hover_says_default_flag_and_rules(field: str, part: str) -> None:
    hover = json_schema()["properties"]["decode"]["properties"][field]
    assert part in hover["markdownDescription"]
    assert part.replace("`", "") in hover["description"]


def test_no_optional_field_is_a_choice_of_types() -> None:
    assert "anyOf" not in json.dumps(json_schema()["properties"])


def test_the_default_of_a_size_is_not_offered_where_it_may_not_fit() -> None:
    assert "default" not in json_schema()["properties"]["decode"]["properties"]["tensor_parallel_size"]


def test_the_schema_stays_small() -> None:
    minified = json.dumps(json_schema(), separators=(",", ":")).encode()
    assert (len(minified) <= 400 * 1024, len(gzip.compress(minified)) <= 30 * 1024) == (True, True)
