"""What editors offer: the sizes that leave nothing broken, the values of a key, and a whole file to begin with.

Annotations only (`defaultSnippets`, as VS Code's and the YAML language server read them): no verdict depends on them.
"""

from __future__ import annotations

from typing import Any

from pdtopology.catalogue import CLAUSES
from pdtopology.connectors.kinds import DEFAULT_CONNECTOR
from pdtopology.constraints import Key
from pdtopology.constraints.json_schema import Sizes, compile_condition, compile_to_json_schema
from pdtopology.constraints.schemas import ALL, NONE, Definitions, JsonSchema, at
from pdtopology.deployment import ENGINES
from pdtopology.keys import DECODE_TP, OFFERED_SIZES, PREFILL_TP
from pdtopology.releases import KNOWN_RELEASES, release_name
from pdtopology.rule import Clause
from pdtopology.schema.words import is_of_plain_documents

# vLLM CacheDType, vllm/config/cache.py in 0.33, without the formats of single platforms.
OFFERED_DTYPES = (
    "auto",
    "bfloat16",
    "float16",
    "fp8",
    "fp8_e4m3",
    "fp8_e5m2",
    "fp8_ds_mla",
    "nvfp4",
    "int8_per_token_head",
)

STARTER: dict[str, Any] = {
    "model": {"name": "$1", "num_attention_heads": "^${2:64}", "total_num_kv_heads": "^${3:8}"},
    "connector": {"kind": "moriio", "mode": "read"},
    "prefill": {"tensor_parallel_size": "^${4:8}"},
    "decode": {"tensor_parallel_size": "^${5:8}"},
}
"""A body with tab stops; `^` marks what is no text."""


def size_completions(definitions: Definitions) -> list[JsonSchema]:
    """For each role, the sizes that satisfy every rule beside each common size of the other role."""
    conditions = _Conditions(definitions)
    return [
        {
            "if": at(other, {"minimum": size, "maximum": size}, absent=other.default == size),
            "then": {"allOf": offers},
        }
        for key, other in ((PREFILL_TP, DECODE_TP), (DECODE_TP, PREFILL_TP))
        for size in other.common
        if (offers := _offers(key, other, size, conditions))
    ]


def value_completions() -> dict[str, dict[str, list[JsonSchema]]]:
    """The snippets of single keys, by section and key."""
    versions = [release_name(release) for release in reversed(KNOWN_RELEASES)]
    dtypes = [_snippet(name) for name in OFFERED_DTYPES]
    return {
        "engine": {"version": [_snippet(version) for version in versions]},
        "prefill": {"kv_cache_dtype": dtypes},
        "decode": {"kv_cache_dtype": dtypes},
    }


def file_completion() -> JsonSchema:
    """The snippet of an empty document."""
    return {
        "label": "P/D topology",
        "description": "A model, a connector, and the prefill and decode roles",
        "body": STARTER,
    }


def _offers(key: Key, other: Key, size: int, conditions: _Conditions) -> list[JsonSchema]:
    """A snippet for each size that may fit, under the condition that nothing is broken with it."""
    offers = []
    for offered in OFFERED_SIZES:
        broken = conditions.of({key: offered, other: size})
        if broken is None:
            continue
        snippet = _snippet(offered, _ratio(offered, size, other.parts[0]))
        offer = at(key, {"defaultSnippets": [snippet]}, absent=True)
        offers.append({"if": {"not": {"anyOf": broken}}, "then": offer} if broken else offer)
    return offers


class _Conditions:
    """What a document must not match for some sizes to fit it; a plain one, since every rule would be too many."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        # Those that read least first: most pairs of sizes fit no document, whatever else it says.
        self._clauses = sorted(
            (clause for clause in CLAUSES if clause.refused_by_schema and _is_considered(clause)),
            key=lambda clause: len(clause.constraint.keys),
        )
        self._compiled: dict[tuple[str, tuple[tuple[Key, int], ...]], JsonSchema] = {}

    def of(self, sizes: Sizes) -> list[JsonSchema] | None:
        """The clauses' conditions; None where the sizes fit no document."""
        conditions = []
        for clause in self._clauses:
            broken = self._broken(clause, sizes)
            if broken == ALL:
                return None
            if broken != NONE:
                conditions.append(broken)
        return conditions

    def _broken(self, clause: Clause, sizes: Sizes) -> JsonSchema:
        constraint = clause.refused_by_schema
        assert constraint
        # In the order of the clause's keys, so that a pair of sizes is one, whichever role is completed.
        read = tuple((key, sizes[key]) for key in constraint.keys if key in sizes)
        if not read:
            return NONE
        found = self._compiled.get((clause.name, read))
        if found is None:
            found = compile_to_json_schema(constraint, known=dict(read), definitions=self._definitions)
            if found not in (ALL, NONE):
                scope = self._definitions.share(compile_condition(clause.rule.scope, self._definitions))
                found = self._definitions.share({"allOf": [scope, found]})
            self._compiled[clause.name, read] = found
        return found


def _is_considered(clause: Clause) -> bool:
    """The rules that a plain document meets; those of other connectors' older releases are not."""
    is_default = clause.rule.is_about(ENGINES[0], DEFAULT_CONNECTOR)
    return is_of_plain_documents(clause) and (is_default or not clause.rule.until)


def _ratio(offered: int, size: int, role: str) -> str:
    """How the offered size relates to the other role's, in a few words."""
    if offered == size:
        return f"as {role}"
    return f"{offered // size}x {role}" if offered > size else f"1/{size // offered} of {role}"


def _snippet(value: Any, description: str | None = None) -> JsonSchema:
    said = {"description": description} if description else {}
    return {"label": str(value), **said, "body": value}
