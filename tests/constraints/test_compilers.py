"""Python and JSON Schema give one verdict on every expression and every small document."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from types import SimpleNamespace
from typing import Any

import jsonschema_rs
import pytest

from pdtopology.constraints import (
    ALWAYS,
    Constraint,
    Expression,
    Key,
    agree,
    at_least,
    compile_to_python,
    divides,
    one_divides_other,
    same,
)
from pdtopology.constraints.expressions import Computed
from pdtopology.constraints.json_schema import InexactError, compile_to_json_schema
from pdtopology.constraints.schemas import Definitions
from pdtopology.releases import NEWEST

BOUND = 12
A = Key("a", "left.size", default=1, maximum=BOUND)
B = Key("b", "right.size", default=4, maximum=BOUND)
H = Key("h", "whole.heads", maximum=2 * BOUND)
KIND = Key("kind", "whole.kind", default="x")
LABEL = Key("label", "whole.label")
NICK = Key("nick", "whole.nick", default="n", nullable=True)
FLAG = Key("flag", "left.engine_args.some-flag")
BELOW = Key("below", "left.engine_args.config.method", default="none", nullable=True)
STATED = Key("stated", "left.engine_args.config.method")
VERSION = Key("version", "engine.version")
NEXT = (NEWEST[0], NEWEST[1] + 1)

# One is a multiple of the other, wherever the verdict counts.
RELATED = frozenset({frozenset((A, B)), frozenset((A, H))})
UNSTATED = object()


def _is_related(left: Any, right: Any) -> bool:
    return left is None or right is None or max(left, right) % min(left, right) == 0


def documents() -> list[dict[str, Any]]:
    """Every pair of sizes, stated, absent or (where optional) null, among a few of the other keys."""
    sizes = [UNSTATED, *range(1, BOUND + 1)]
    heads = [UNSTATED, None, 1, 2, 3, 4, 6, 8, 12, 13, 24]
    texts: list[tuple[Any, ...]] = [
        (UNSTATED, UNSTATED, UNSTATED, UNSTATED, UNSTATED, UNSTATED),
        ("x", "p", "0.32", "n", True, {"method": "deep"}),
        ("y", None, "0.33.1", None, 1, {"method": "none"}),
        ("z", "q", None, "y", "", "deep"),
        ("x", "p\n", "0.99", "x", None, {}),
    ]
    found = []
    for a, b, h, (kind, label, version, nick, flag, config) in product(sizes, sizes, heads, texts):
        document: dict[str, Any] = {}
        values = ((A, a), (B, b), (H, h), (KIND, kind), (LABEL, label), (VERSION, version), (NICK, nick))
        for key, value in values:
            if value is not UNSTATED:
                section, name = key.parts
                document.setdefault(section, {})[name] = value
        if flag is not UNSTATED:
            document.setdefault("left", {})["engine_args"] = {"some-flag": flag, "config": config}
        found.append(document)
    return found


DOCUMENTS = documents()


def value(document: dict[str, Any], key: Key) -> Any:
    """The key's value in the document, or what its absence means."""
    section, name = key.parts
    return document.get(section, {}).get(name, key.default)


def breaks(constraint: Constraint, document: dict[str, Any]) -> bool:
    """Python's verdict on a document."""
    topology: dict[str, Any] = {}
    for key in (A, B, H, KIND, LABEL, VERSION, NICK):
        section, name = key.parts
        topology.setdefault(section, SimpleNamespace())
        setattr(topology[section], name, value(document, key))
    topology["left"].engine_args = document.get("left", {}).get("engine_args", {})
    return compiled(constraint)(SimpleNamespace(**topology)) is not None


_compiled: dict[Constraint, Any] = {}


def compiled(constraint: Constraint) -> Any:
    """The function of a constraint, made once."""
    if constraint not in _compiled:
        _compiled[constraint] = compile_to_python({0: constraint})
    return _compiled[constraint]


EXPRESSIONS: dict[str, Expression] = {
    "divides": divides(A, B),
    "divides a larger bound": divides(A, H),
    "divides a smaller bound": divides(H, A),
    "one divides the other": one_divides_other(A, H),
    "not one divides the other": ~one_divides_other(A, B),
    "same": same(A, B),
    "differs": ~same(A, B),
    "at least": A >= B,
    "below": A < B,
    "above": A > H,
    "at most": A <= H,
    "both at least": (A >= B) & (A >= H),
    "either": (A >= B) | KIND.is_("y"),
    "is": KIND.is_("x"),
    "is one of": KIND.is_("x", "z"),
    "is not": ~KIND.is_("y"),
    "optional text is": LABEL.is_("p"),
    "a size is": A.is_(3, 6),
    "is set": H.is_set,
    "is not set": ~H.is_set,
    "matches": LABEL.matches("^[pq]$"),
    "matches not": ~KIND.matches("x|y"),
    "agree": agree(KIND, NICK, ("x", "n"), ("y",)),
    "disagree": ~agree(KIND, NICK, ("x",), ("y", "z")),
    "nullable is its default": NICK.is_("n"),
    "nullable is not another": ~NICK.is_("x"),
    "below a mapping": BELOW.is_("deep"),
    "its default below a mapping": BELOW.is_("none"),
    "set below a mapping": STATED.is_set,
    "matches below a mapping": STATED.matches("^de"),
    "true below a mapping": FLAG.is_(True),
    "before a release": VERSION.before((0, 33)),
    "before the next release": VERSION.before(NEXT),
    "before version one": VERSION.before((1, 0)),
    "from a release": ~VERSION.before((0, 33)),
    "always": ALWAYS,
    "never": ~ALWAYS,
}


@pytest.mark.parametrize("condition", [ALWAYS, ~KIND.is_("y"), ~same(A, B)], ids=["always", "is not", "differs"])
@pytest.mark.parametrize("require", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_the_schema_matches_exactly_the_documents_that_python_finds_broken(
    condition: Expression, require: Expression
) -> None:
    constraint = Constraint(condition, require)
    validator = jsonschema_rs.validator_for(compile_to_json_schema(constraint, RELATED))
    orders = {"AtLeast", "Same"} & {type(part).__name__ for part in _parts(condition) | _parts(require)}
    for document in DOCUMENTS:
        a, b, h = (value(document, key) for key in (A, B, H))
        if orders and not (_is_related(a, b) and _is_related(a, h)):
            continue
        assert validator.is_valid(document) is breaks(constraint, document), document


def _parts(expression: Any) -> set[Any]:
    inner = [*getattr(expression, "parts", ()), *filter(None, [getattr(expression, "part", None)])]
    return {expression}.union(*map(_parts, inner))


@pytest.mark.parametrize(
    "known", [{A: 1}, {A: 6}, {B: 4}, {A: 3, B: 12}, {H: 8}], ids=lambda sizes: str(list(sizes.values()))
)
@pytest.mark.parametrize("require", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_a_known_size_takes_the_place_of_what_the_document_says(require: Expression, known: dict[Key, int]) -> None:
    constraint = Constraint(~KIND.is_("y"), require)
    validator = jsonschema_rs.validator_for(compile_to_json_schema(constraint, RELATED, known))
    for document in DOCUMENTS[::7]:
        stated = {**document}
        for key, size in known.items():
            section, name = key.parts
            stated[section] = {**stated.get(section, {}), name: size}
        a, b, h = (value(stated, key) for key in (A, B, H))
        if not (_is_related(a, b) and _is_related(a, h)):
            continue
        assert validator.is_valid(document) is breaks(constraint, stated), document


def test_of_two_known_sizes_that_must_reach_a_third_the_smaller_is_compared() -> None:
    constraint = Constraint(ALWAYS, (A >= H) & (B >= H))
    sizes = {A: 3, B: 12}
    assert compile_to_json_schema(constraint, known=sizes) == compile_to_json_schema(
        Constraint(ALWAYS, A >= H), known=sizes
    )


def test_definitions_change_no_verdict() -> None:
    constraint = Constraint(~same(A, B), one_divides_other(A, H))
    definitions = Definitions()
    schema = compile_to_json_schema(constraint, RELATED, definitions=definitions)
    whole = {"$defs": definitions.schemas, **schema}
    inline = jsonschema_rs.validator_for(compile_to_json_schema(constraint, RELATED))
    validator = jsonschema_rs.validator_for(whole)
    assert all(validator.is_valid(document) is inline.is_valid(document) for document in DOCUMENTS)


def test_equal_schemas_share_one_definition() -> None:
    definitions = Definitions()
    assert definitions.share({"minimum": 2}) == definitions.share({"minimum": 2}) != definitions.share({"minimum": 3})


def test_a_name_of_two_schemas_is_refused() -> None:
    definitions = Definitions()
    definitions.define("small", {"maximum": 8})
    definitions.define("small", {"maximum": 8})
    with pytest.raises(ValueError, match="two schemas have the name small"):
        definitions.define("small", {"maximum": 16})


def test_an_order_without_a_rule_that_relates_the_pair_is_refused() -> None:
    with pytest.raises(InexactError, match=r"left\.size and right\.size"):
        compile_to_json_schema(Constraint(ALWAYS, A >= B))


@pytest.mark.parametrize("require", [divides(A * B, H), same(A, B * H), at_least(A, B * H)])
def test_a_product_of_sizes_is_refused(require: Expression) -> None:
    with pytest.raises(InexactError, match="times"):
        compile_to_json_schema(Constraint(ALWAYS, require), RELATED)


def test_what_a_function_tells_is_refused() -> None:
    with pytest.raises(InexactError, match="ports are apart"):
        compile_to_json_schema(Constraint(ALWAYS, Computed("ports are apart", lambda _: (), (A,))))


def test_an_equality_is_exact_without_a_rule_that_relates_the_pair() -> None:
    constraint = Constraint(ALWAYS, same(A, B))
    validator = jsonschema_rs.validator_for(compile_to_json_schema(constraint))
    assert all(validator.is_valid(document) is breaks(constraint, document) for document in DOCUMENTS)


def test_a_size_without_a_maximum_is_refused() -> None:
    with pytest.raises(InexactError, match=r"model\.free has no maximum"):
        compile_to_json_schema(Constraint(ALWAYS, divides(Key("free", "model.free"), A)))


def test_python_tells_every_broken_constraint_by_its_name() -> None:
    constraints: dict[str, Expression] = {"divides": divides(A, B), "order": A >= B, "same": same(A, B)}
    broken = compile_to_python({name: Constraint(ALWAYS, require) for name, require in constraints.items()})
    topology = SimpleNamespace(left=SimpleNamespace(size=3), right=SimpleNamespace(size=4))
    assert broken(topology) == ["divides", "order", "same"]


def test_what_states_an_unusual_field_is_left_to_the_other_function() -> None:
    usual = {"left": frozenset(["size"])}
    broken = compile_to_python({0: Constraint(ALWAYS, ~A.is_(3))}, usual, lambda _: [7])
    plain = SimpleNamespace(size=3, __pydantic_fields_set__={"size"})
    other = SimpleNamespace(size=3, __pydantic_fields_set__={"size", "host"})
    assert (broken(SimpleNamespace(left=plain)), broken(SimpleNamespace(left=other))) == ([0], [7])


def test_a_type_error_elsewhere_is_not_a_broken_constraint_in_the_schema() -> None:
    validator = jsonschema_rs.validator_for(compile_to_json_schema(Constraint(ALWAYS, divides(A, B))))
    assert not validator.is_valid({"left": {"size": "3"}, "right": {"size": 4}})


def test_an_untagged_build_is_before_no_release() -> None:
    constraint = Constraint(VERSION.before((0, 33)), ~ALWAYS)
    validator = jsonschema_rs.validator_for(compile_to_json_schema(constraint))
    document = {"engine": {"version": "0.1.dev1+g51f799c1a"}}
    assert (validator.is_valid(document), breaks(constraint, document)) == (False, False)


@pytest.mark.parametrize(
    ("require", "holds"),
    [
        (divides(A * B, H), lambda a, b, h: h % (a * b) == 0),
        (same(A, B * H), lambda a, b, h: a == b * h),
        (at_least(H, A * B), lambda a, b, h: h >= a * b),
    ],
    ids=["divides", "same", "at least"],
)
def test_python_reckons_with_products(require: Expression, holds: Callable[[int, int, int], bool]) -> None:
    constraint = Constraint(ALWAYS, require)
    for document in DOCUMENTS:
        a, b, h = (value(document, key) for key in (A, B, H))
        assert breaks(constraint, document) is (h is not None and not holds(a, b, h))


LEFT = Key("left", "left.size", default=1, maximum=300)
RIGHT = Key("right", "right.size", maximum=1024)


@pytest.mark.parametrize("require", [divides(LEFT, RIGHT), divides(RIGHT, LEFT), same(LEFT, RIGHT)])
def test_large_primes_are_told_apart_by_their_classes(require: Expression) -> None:
    definitions = Definitions()
    schema = compile_to_json_schema(Constraint(ALWAYS, require), definitions=definitions)
    validator = jsonschema_rs.validator_for({**schema, "$defs": definitions.schemas})
    broken = compile_to_python({0: Constraint(ALWAYS, require)})
    for left, right in product(range(1, 301), (*range(1, 301), *range(481, 1025, 7), 1021, 1024)):
        document = {"left": {"size": left}, "right": {"size": right}}
        topology = SimpleNamespace(left=SimpleNamespace(size=left), right=SimpleNamespace(size=right))
        assert validator.is_valid(document) is (broken(topology) is not None), document
