"""What the two editor engines show: the rule's own message on the rule's own key, the sizes that fit, and help."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from pdtopology import RULES, PDTopology
from pdtopology.connectors.kinds import CONNECTORS
from pdtopology.keys import OFFERED_SIZES
from pdtopology.rule import Severity
from pdtopology.schema.words import Words

from .documents import DOCUMENTS, GQA, MLA, MOONCAKE, NIXL, PUSH, SGLANG, WRITE, pair
from .engines import Editor, VSCodeJson

MESSAGES = {
    "attention-heads-not-divisible": ("3", "decode TP 3 must divide the 64 attention heads"),
    "kv-heads-not-divisible": ("6", "prefill TP 6 and 4 KV heads: one must be a multiple of the other"),
    "tp-not-divisible": ("6", "prefill TP 4 and decode TP 6: one must be a multiple of the other"),
    "moriio-read-kv-heads-replicated": (
        "8",
        "prefill TP 4 and decode TP 8 must be equal, or both at least the KV heads",
    ),
    "nixl-pull-replicated-kv-heads": ("8", "prefill TP must be at most decode TP 4, or at most the KV heads"),
    "nixl-push-replicated-kv-heads": ("8", "decode TP must be at most prefill TP 4, or at most the KV heads"),
}
"""Of the rules that plain documents meet, the mark and the message with its numbers."""
SENTENCES = {
    rule.code: {Words(clause, None).sentence() for clause in rule.clauses}
    for rule in RULES
    if rule.severity is Severity.ERROR and not rule.beyond_schema and rule.code not in MESSAGES
}
"""Of the others, the message without the numbers, for each role."""


@pytest.mark.parametrize("code", MESSAGES)
def test_an_editor_shows_the_rules_own_message_on_its_own_key(editor: Editor, code: str) -> None:
    findings = editor.diagnose(DOCUMENTS[f"the bad example of {code}"])
    assert [(finding.path_or_text, finding.message) for finding in findings] == [MESSAGES[code]]


@pytest.mark.parametrize("code", sorted(SENTENCES.keys() - {"kv-heads-unknown"}))
def test_of_a_rule_that_is_met_less_often_an_editor_shows_the_sentence(editor: Editor, code: str) -> None:
    [finding] = editor.diagnose(DOCUMENTS[f"the bad example of {code}"])
    assert finding.message in SENTENCES[code]


@pytest.mark.parametrize(
    ("code", "mark", "sentence"),
    [
        ("moriio-write-unequal-tp", "4", "decode TP must equal prefill TP in WRITE mode before vLLM 0.33"),
        ("nixl-kv-cache-dtype-mismatch", "fp8", "decode kv_cache_dtype must be prefill's"),
        (
            "moriio-write-sliding-window",
            "write",
            "connector.mode must not be write for a model with sliding-window layers",
        ),
        ("sglang-page-size-mismatch", "64", "decode block_size must be prefill's"),
    ],
)
def test_a_sentence_reads_without_its_numbers(editor: Editor, code: str, mark: str, sentence: str) -> None:
    [finding] = editor.diagnose(DOCUMENTS[f"the bad example of {code}"])
    assert (finding.path_or_text.strip('"'), finding.message) == (mark, sentence)


def test_an_absent_key_that_is_needed_is_missed_in_its_section(editor: Editor) -> None:
    messages = [finding.message for finding in editor.diagnose(DOCUMENTS["no KV heads"])]
    assert messages == ['Missing property "total_num_kv_heads".']


def test_a_rule_about_a_default_marks_the_size_that_is_stated(editor: Editor) -> None:
    [finding] = editor.diagnose(DOCUMENTS["a default that breaks a rule"])
    assert finding.path_or_text == "4"
    assert finding.message.startswith("prefill TP 4 and decode TP 1 must be equal")


def test_beside_an_uncommon_size_the_message_is_a_sentence(editor: Editor) -> None:
    [finding] = editor.diagnose(DOCUMENTS["an uncommon pair"])
    assert finding.message == "prefill TP and decode TP: one must be a multiple of the other"


def test_one_mistake_is_one_message_as_in_python(editor: Editor) -> None:
    messages = {finding.message for finding in editor.diagnose(DOCUMENTS["six for four"])}
    assert messages == {
        "decode TP 6 must divide the 64 attention heads",
        "prefill TP 4 and decode TP 6: one must be a multiple of the other",
    }


def text_with_cursor(editor: Editor, document: Any, section: str, key: str) -> str:
    """The document with a cursor where the value of a key is to be typed."""
    document = {**document, section: {**document.get(section, {}), key: "@"}}
    text = json.dumps(document) if isinstance(editor, VSCodeJson) else yaml.safe_dump(document, sort_keys=False)
    return text.replace('"@"', "|").replace("'@'", "|")


def offered(editor: Editor, document: Any, section: str, key: str) -> list[str]:
    """What is offered for a key's value, without quotes."""
    text = text_with_cursor(editor, document, section, key)
    return [item.label.strip('"') for item in editor.complete(text)]


def fitting(document: Any, section: str) -> list[str]:
    """The sizes that Python accepts in a role."""
    found = []
    for size in OFFERED_SIZES:
        try:
            PDTopology.model_validate({**document, section: {"tensor_parallel_size": size}})
        except ValidationError:
            continue
        found.append(str(size))
    return found


KEY_IN_YAML = """\
connector:
  kind: {}
  |
"""

SITUATIONS = {
    "READ": pair(4, 4),
    "READ, replicated": pair(8, 8),
    "READ, one rank": pair(1, 1),
    "WRITE": pair(4, 4, connector=WRITE),
    "WRITE of an old release": pair(4, 4, connector=WRITE, engine={"version": "0.30"}),
    "MLA": pair(8, 8, MLA),
    "MLA without heads": pair(6, 6, {"is_mla": True}),
    "24 attention heads": pair(4, 4, {"num_attention_heads": 24, "total_num_kv_heads": 4}),
    "12 KV heads in WRITE": pair(4, 4, {"total_num_kv_heads": 12}, connector=WRITE),
    "one KV head": pair(2, 2, {"num_attention_heads": 32, "total_num_kv_heads": 1}),
    "two numbers of KV heads": pair(4, 4, {"total_num_kv_heads": 8, "other_total_num_kv_heads": 2}, connector=WRITE),
    "NIXL": pair(4, 4, connector=NIXL),
    "NIXL, replicated": pair(16, 16, connector=NIXL),
    "NIXL, one rank": pair(1, 1, connector=NIXL),
    "NIXL of an old release": pair(8, 8, connector=NIXL, engine={"version": "0.26"}),
    "NIXL in push mode": pair(8, 8, connector=PUSH),
    "NIXL in push mode, replicated": pair(32, 32, connector=PUSH),
    "NIXL, MLA": pair(8, 8, MLA, connector=NIXL),
    "NIXL, MLA without heads": pair(6, 6, {"is_mla": True}, connector=PUSH),
    "NIXL, 12 KV heads": pair(4, 4, {"total_num_kv_heads": 12}, connector=NIXL),
    "Mooncake": pair(4, 4, connector=MOONCAKE),
    "Mooncake, replicated": pair(16, 16, connector=MOONCAKE),
    "another connector": pair(8, 8, connector={"kind": "other"}),
    "SGLang": pair(8, 8, connector=NIXL, engine=SGLANG),
}


@pytest.mark.parametrize("section", ["prefill", "decode"])
@pytest.mark.parametrize("name", SITUATIONS)
def test_exactly_the_sizes_that_python_accepts_are_offered(editor: Editor, name: str, section: str) -> None:
    document = SITUATIONS[name]
    assert offered(editor, document, section, "tensor_parallel_size") == fitting(document, section)


def test_beside_a_role_without_a_size_the_sizes_that_fit_one_rank_are_offered(editor: Editor) -> None:
    document = {"model": GQA, "connector": WRITE, "prefill": {}, "decode": {}}
    assert offered(editor, document, "decode", "tensor_parallel_size") == ["1", "2", "4", "8", "16", "32", "64"]


def test_a_size_is_offered_with_a_word_of_explanation(editor: Editor) -> None:
    text = text_with_cursor(editor, pair(4, 4, connector=WRITE), "decode", "tensor_parallel_size")
    assert [(item.label, item.documentation) for item in editor.complete(text)] == [
        ("1", "1/4 of prefill"),
        ("2", "1/2 of prefill"),
        ("4", "as prefill"),
        ("8", "2x prefill"),
        ("16", "4x prefill"),
        ("32", "8x prefill"),
        ("64", "16x prefill"),
    ]


@pytest.mark.parametrize(
    ("section", "key", "values"),
    [
        ("connector", "kind", ["moriio", "nixl", "mooncake", "other"]),
        ("connector", "mode", ["read", "write"]),
        ("connector", "backend", ["rdma", "xgmi"]),
        ("engine", "version", ["0.33", "0.32", "0.30", "0.28", "0.26", "null"]),
        (
            "prefill",
            "kv_cache_dtype",
            [
                "auto",
                "bfloat16",
                "float16",
                "fp8",
                "fp8_e4m3",
                "fp8_e5m2",
                "fp8_ds_mla",
                "nvfp4",
                "int8_per_token_head",
                "null",
            ],
        ),
    ],
)
def test_the_values_of_a_key_are_offered(editor: Editor, section: str, key: str, values: list[str]) -> None:
    # Editors sort what they show.
    assert sorted(offered(editor, {}, section, key)) == sorted(values)


@pytest.mark.parametrize(("kind", "modes"), [("moriio", ["read", "write"]), ("nixl", ["pull", "push"])])
def test_the_modes_of_a_kind_are_offered(editor: Editor, kind: str, modes: list[str]) -> None:
    assert sorted(offered(editor, {"connector": {"kind": kind}}, "connector", "mode")) == modes


@pytest.mark.parametrize("kind", CONNECTORS)
def test_the_keys_of_a_kind_are_offered(editor: Editor, kind: str) -> None:
    text = f'{{"connector":{{"kind":"{kind}","|"}}}}' if isinstance(editor, VSCodeJson) else KEY_IN_YAML.format(kind)
    assert {item.label for item in editor.complete(text)} == {*CONNECTORS[kind].model_fields} - {"kind"}


def test_an_empty_document_is_offered_a_whole_file_that_is_valid(editor: Editor) -> None:
    [snippet] = [item for item in editor.complete("|") if item.label == "P/D topology"]
    text = re.sub(r"\$\{\d:(\d+)\}", r"\1", snippet.insert_text).replace("$1", "name").replace("\t", "  ")
    assert PDTopology.model_validate(yaml.safe_load(text))


@pytest.mark.parametrize(
    "part", ["Ranks that split the heads", "Default", "--tensor-parallel-size", "tp-not-divisible"]
)
def test_a_key_under_the_cursor_is_explained(editor: Editor, part: str) -> None:
    text = (
        '{"prefill": {"tensor_par|allel_size": 1}}'
        if isinstance(editor, VSCodeJson)
        else "prefill:\n  tensor_par|allel_size: 1"
    )
    assert part in editor.hover(text)


def test_an_unknown_key_is_not_explained(editor: Editor) -> None:
    assert editor.hover('{"typ|o": 1}' if isinstance(editor, VSCodeJson) else "typ|o: 1") == ""
