"""The general rules, and which others concern a topology."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from pdtopology.constraints import divides, one_divides_other
from pdtopology.keys import (
    ATTENTION_HEADS,
    DECODE_TP,
    ENGINE_VERSION,
    HF_CONFIG,
    IS_MLA,
    KV_HEADS,
    OTHER_KV_HEADS,
    PREFILL_TP,
    TP,
)
from pdtopology.releases import NEWEST, OLDEST, release_name
from pdtopology.rule import Clause, Rule, Severity, Stage, Upstream

GENERAL = (
    Rule(
        code="attention-heads-not-divisible",
        title="A role's TP size must divide the attention heads",
        engine=None,
        at=TP,
        see=(ATTENTION_HEADS,),
        require=divides(TP, ATTENTION_HEADS),
        message="{role} TP {tp} must divide the {attention_heads} attention heads",
        why="Every rank computes an equal share of the attention heads.",
        fix="Choose a TP size that divides model.num_attention_heads.",
        raised=Stage.PARSE,
        source=Upstream("vllm/config/model.py", "ModelConfig.verify_with_parallel_config"),
        bad={
            "model": {"num_attention_heads": 64, "is_mla": True},
            "prefill": {},
            "decode": {"tensor_parallel_size": 3},
        },
    ),
    Rule(
        code="kv-heads-not-divisible",
        title="A role's TP size must shard or replicate the KV heads evenly",
        engine=None,
        at=TP,
        see=(KV_HEADS,),
        when=~IS_MLA,
        require=one_divides_other(TP, KV_HEADS),
        after=("attention-heads-not-divisible",),
        message="{role} TP {tp} and {kv_heads} KV heads: one must be a multiple of the other",
        why="A rank holds a whole number of KV heads, or one replicated head. The model asserts this when it is "
        "built; a connector that met such a pair would copy the wrong heads.",
        fix="Choose a TP size that divides model.total_num_kv_heads or is a multiple of it.",
        raised=Stage.START,
        source=Upstream("vllm/model_executor/layers/linear.py", "QKVParallelLinear"),
        bad={
            "model": {"total_num_kv_heads": 4},
            "prefill": {"tensor_parallel_size": 6},
            "decode": {"tensor_parallel_size": 12},
        },
    ),
    Rule(
        code="other-kv-heads-not-divisible",
        title="A role's TP size must shard or replicate every layer's KV heads evenly",
        engine=None,
        at=TP,
        see=(OTHER_KV_HEADS,),
        when=~IS_MLA,
        require=one_divides_other(TP, OTHER_KV_HEADS),
        after=("attention-heads-not-divisible", "kv-heads-not-divisible"),
        message="{role} TP {tp} and {other_kv_heads} KV heads of the other layers: one must be a multiple of the other",
        why="Each layer's heads are split by themselves, and a rank holds a whole number of them or one replicated "
        "head.",
        fix="Choose a TP size that divides model.other_total_num_kv_heads or is a multiple of it.",
        raised=Stage.START,
        source=Upstream("vllm/model_executor/layers/linear.py", "QKVParallelLinear"),
        bad={
            "model": {"total_num_kv_heads": 6, "other_total_num_kv_heads": 2},
            "prefill": {"tensor_parallel_size": 3},
            "decode": {},
            "connector": {"kind": "nixl"},
        },
    ),
    Rule(
        code="kv-heads-unknown",
        title="A model that is not MLA must state its KV heads",
        engine=None,
        at=KV_HEADS,
        require=IS_MLA | KV_HEADS.is_set | HF_CONFIG.is_set,
        message="state the model's KV heads, or that it is an MLA model",
        why="Which TP sizes fit each other depends on how many KV heads there are. Only the latent of an MLA model is "
        "the same on every rank.",
        fix="Set model.total_num_kv_heads (num_key_value_heads in the model's config.json), model.hf_config (the path "
        "of that file), or model.is_mla: true.",
        raised=Stage.FILE,
        source=Upstream("vllm/config/model.py", "ModelConfig.get_total_num_kv_heads"),
        bad={"model": {}, "prefill": {}, "decode": {}},
    ),
    Rule(
        code="tp-not-divisible",
        title="One TP size must be a multiple of the other",
        connectors=("moriio", "nixl", "mooncake"),
        at=DECODE_TP,
        see=(PREFILL_TP,),
        require=one_divides_other(PREFILL_TP, DECODE_TP),
        message="prefill TP {prefill_tp} and decode TP {decode_tp}: one must be a multiple of the other",
        why="A connector maps each rank of one role to a whole number of ranks of the other. For other pairs it has no "
        "map, with MLA models too.",
        fix="Choose TP sizes of which one is a multiple of the other.",
        raised=Stage.FIRST_REQUEST,
        source=Upstream(
            "vllm/distributed/kv_transfer/kv_connector",
            "get_moriio_remote_tp_rank (v1/moriio), TransferTopology.tp_ratio (utils.py, for NIXL and Mooncake)",
        ),
        bad={
            "model": {"total_num_kv_heads": 12},
            "prefill": {"tensor_parallel_size": 4},
            "decode": {"tensor_parallel_size": 6},
        },
    ),
    Rule(
        code="engine-version-unknown",
        title="The release should be one whose rules are known",
        at=ENGINE_VERSION,
        severity=Severity.WARNING,
        require=~ENGINE_VERSION.before(OLDEST) & ENGINE_VERSION.before((NEWEST[0], NEWEST[1] + 1)),
        message="the rules of vLLM {version} are not known; those of the nearest release from "
        f"{release_name(OLDEST)} to {release_name(NEWEST)} are used",
        why="A later release may accept more, an earlier one less, than the rules say.",
        fix="Try the pair on one request before it serves.",
        raised=Stage.FILE,
        source=Upstream("vllm/version.py", "__version__"),
        bad={
            "engine": {"version": "0.99"},
            "model": {"is_mla": True},
            "prefill": {},
            "decode": {},
        },
    ),
)
"""What holds for every connector."""

# Where each engine's and connector's rules are: first those about the fields that most documents state, then the
# others, which are not even imported for a document that states no other field.
_OF_ENGINE = {
    "vllm": ((), ("pdtopology.parallelism", "pdtopology.features", "pdtopology.ports")),
    "sglang": (("pdtopology.sglang",), ("pdtopology.ports",)),
}
_MORIIO, _NIXL = "pdtopology.connectors.moriio", "pdtopology.connectors.nixl"
_OF_CONNECTOR = {
    "moriio": ((f"{_MORIIO}.transfer",), (f"{_MORIIO}.hybrid", f"{_MORIIO}.parallelism")),
    "nixl": (
        (f"{_NIXL}.handshake",),
        (f"{_NIXL}.block_sizes", f"{_NIXL}.caches", f"{_NIXL}.pipeline", f"{_NIXL}.context", f"{_NIXL}.mamba"),
    ),
    "mooncake": (("pdtopology.connectors.mooncake.transfer",), ()),
    "other": (("pdtopology.connectors.other",), ()),
}


def usual_clauses_for(engine: str, connector: str) -> list[Clause]:
    """The clauses that a topology with this engine and this kind of connector can break by its usual fields alone."""
    return _clauses(engine, connector, (*_OF_ENGINE[engine][0], *_OF_CONNECTOR[connector][0]))


def clauses_for(engine: str, connector: str) -> list[Clause]:
    """The clauses that concern a topology with this engine and this kind of connector."""
    (usual, others), (usual_of_connector, others_of_connector) = _OF_ENGINE[engine], _OF_CONNECTOR[connector]
    return _clauses(engine, connector, (*usual, *others, *usual_of_connector, *others_of_connector))


def _clauses(engine: str, connector: str, modules: Iterable[str]) -> list[Clause]:
    rules = (*GENERAL, *(rule for module in map(import_module, modules) for rule in module.RULES))
    return [clause for rule in rules if rule.is_about(engine, connector) for clause in rule.clauses]
