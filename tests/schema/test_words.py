"""What broken clauses say, where their numbers are known and where they are not."""

from __future__ import annotations

import re

import pytest

from pdtopology.catalogue import CLAUSES, RULE_BY_CODE
from pdtopology.constraints.schemas import Definitions
from pdtopology.rule import Clause
from pdtopology.schema.words import Words, is_met_often

IN_SCHEMA = [clause for clause in CLAUSES if clause.refused_by_schema]


def clause_of(code: str, role: str = "") -> Clause:
    """The clause of a rule."""
    return Clause(RULE_BY_CODE[code], role)


@pytest.mark.parametrize("clause", IN_SCHEMA, ids=lambda clause: clause.name)
def test_every_sentence_reads_without_its_numbers(clause: Clause) -> None:
    sentence = Words(clause, None).sentence()
    assert not re.search(r"[{}]|  | [,:]|[,:]$|,,|\b(and|be|is|not|of|to) (must|for|with|where|before)\b", sentence)
    assert sentence.split()[-1] not in {"and", "be", "is", "must", "not", "of", "to", "with", "beside", "where"}


@pytest.mark.parametrize(
    ("clause", "sentence"),
    [
        (clause_of("prefill-kv-role"), "connector.prefill.kv_role must be kv_producer or kv_both, not kv_consumer"),
        (
            clause_of("moriio-write-sliding-window"),
            "connector.mode must not be write for a model with sliding-window layers",
        ),
        (
            clause_of("nixl-pcp-kv-both"),
            "prefill PCP must be 1 with kv_role kv_both",
        ),
        (clause_of("sglang-page-size-mismatch"), "decode block_size must be prefill's"),
    ],
)
def test_a_value_that_every_broken_document_has_is_told(clause: Clause, sentence: str) -> None:
    assert Words(clause, None).sentence() == sentence


def test_numbers_that_are_known_are_told() -> None:
    words = Words(clause_of("tp-not-divisible"), None)
    assert words.sentence({"prefill_tp": 4}) == "prefill TP 4 and decode TP: one must be a multiple of the other"


def test_the_rules_that_plain_documents_of_the_newest_release_meet_are_few() -> None:
    assert {clause.rule.code for clause in IN_SCHEMA if is_met_often(clause)} == {
        "attention-heads-not-divisible",
        "kv-heads-not-divisible",
        "kv-heads-unknown",
        "tp-not-divisible",
        "moriio-read-kv-heads-replicated",
        "nixl-pull-replicated-kv-heads",
        "nixl-push-replicated-kv-heads",
    }


@pytest.mark.parametrize("clause", IN_SCHEMA, ids=lambda clause: clause.name)
def test_every_editor_reads_a_sentence_and_every_other_engine_too(clause: Clause) -> None:
    definitions = Definitions()
    told = str(Words(clause, definitions).failure) + str(definitions.schemas)
    sentence = Words(clause, None).sentence()
    assert repr({"const": sentence, "errorMessage": sentence})[1:-1] in told
