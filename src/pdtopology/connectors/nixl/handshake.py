"""What NIXL's handshake demands of TP sizes and layouts, in either mode.

Source: vllm/distributed/kv_transfer/kv_connector/v1/nixl/base_worker.py, _validate_remote_agent_handshake.
"""

from __future__ import annotations

from pdtopology.connectors.examples import GQA
from pdtopology.connectors.nixl.keys import BUFFER_DEVICE, PERMUTES
from pdtopology.connectors.nixl.side import SIDES, Side
from pdtopology.connectors.nixl.sources import HANDSHAKE, PUSH_REGISTRATION
from pdtopology.constraints import agree, same
from pdtopology.keys import (
    CONTIGUOUS_HEADS,
    DECODE_TP,
    HAS_MAMBA,
    HAS_WINDOW_GROUPS,
    HEADS_FIRST,
    IS_MLA,
    KV_HEADS,
    LAYOUT,
    LAYOUT_GROUPS,
    LAYOUTS_ARE_KNOWN,
    NIXL_MODE,
    PREFILL_PP,
    PREFILL_TP,
    TOKENS_FIRST,
    TP,
)
from pdtopology.rule import Rule, Stage

_TURNABLE = (*HEADS_FIRST, *TOKENS_FIRST)


def _of_mode(side: Side) -> tuple[Rule, ...]:
    is_mode = side.is_meant
    local_tp, remote_tp = side.pair(TP)
    local_layout, remote_layout = side.pair(LAYOUT)
    # Staged in host memory, blocks that are to be turned round are HND on both sides.
    has_one_layout = PERMUTES & BUFFER_DEVICE.is_("cpu")
    turns_round = PERMUTES & remote_layout.is_(*HEADS_FIRST) & local_layout.is_(*TOKENS_FIRST)
    return (
        Rule(
            code=f"nixl-{side.mode}-replicated-kv-heads",
            title=f"NIXL {side.mode} cannot thin out KV heads that {side.remote} replicates",
            connectors=("nixl",),
            at=remote_tp,
            see=(local_tp, KV_HEADS),
            when=is_mode & ~IS_MLA & ~HAS_MAMBA,
            require=(local_tp >= remote_tp) | (remote_tp <= KV_HEADS),
            after=("tp-not-divisible", "kv-heads-not-divisible"),
            message=f"{side.remote} TP {{{remote_tp.name}}} must be at most {side.local} TP {{{local_tp.name}}}, "
            "or at most the {kv_heads} KV heads",
            why=f"In {side.mode} mode {side.local} transfers and has fewer ranks, each of which would need heads of "
            f"several {side.remote} ranks, while those hold copies of one head. vLLM asserts that this does not "
            f"happen.",
            fix=f"Lower {side.remote}.tensor_parallel_size to the KV heads, or raise "
            f"{side.local}.tensor_parallel_size to it.",
            raised=Stage.FIRST_REQUEST,
            source=HANDSHAKE,
            bad={
                "model": {"total_num_kv_heads": 4},
                "connector": side.connector,
                **side.roles({"tensor_parallel_size": 4}, {"tensor_parallel_size": 8}),
            },
        ),
        Rule(
            code=f"nixl-{side.mode}-layout-mismatch",
            title="NIXL needs one KV-cache layout on both roles",
            connectors=("nixl",),
            at=local_layout,
            see=(remote_layout,),
            when=is_mode & ~IS_MLA & LAYOUTS_ARE_KNOWN,
            require=agree(local_layout, remote_layout, *LAYOUT_GROUPS)
            | (turns_round & ~HAS_MAMBA & ~HAS_WINDOW_GROUPS)
            | (has_one_layout & local_layout.is_(*_TURNABLE) & remote_layout.is_(*_TURNABLE)),
            message=f"{side.local} layout {{{local_layout.name}}} and {side.remote} layout {{{remote_layout.name}}} "
            "must be the same",
            why="Blocks are copied as they are, with equal TP sizes too. Only HND blocks can be turned into NHD where "
            "they arrive, with enable_permute_local_kv.",
            fix="Remove kv_cache_layout from both roles: NIXL chooses HND.",
            raised=Stage.FIRST_REQUEST,
            source=HANDSHAKE,
            bad={
                "model": GQA,
                "connector": side.connector,
                **side.roles({"kv_cache_layout": "HND"}, {"kv_cache_layout": "NHD"}),
            },
        ),
        Rule(
            code=f"nixl-{side.mode}-unequal-tp-layout",
            title="NIXL between unequal TP sizes needs a layout in which heads lie together",
            connectors=("nixl",),
            at=local_layout,
            see=(PREFILL_TP, DECODE_TP),
            when=is_mode & ~IS_MLA & ~same(PREFILL_TP, DECODE_TP) & (KV_HEADS >= remote_tp) & LAYOUTS_ARE_KNOWN,
            require=local_layout.is_(*CONTIGUOUS_HEADS) | turns_round | (has_one_layout & local_layout.is_(*_TURNABLE)),
            after=("tp-not-divisible", "kv-heads-not-divisible", f"nixl-{side.mode}-layout-mismatch"),
            message=f"{side.local} layout {{{local_layout.name}}} must be HND or BLHNC where prefill TP {{prefill_tp}} "
            "and decode TP {decode_tp} differ",
            why="A rank takes some heads of a block, which lie together in HND (LBHNC) and BLHNC only.",
            fix="Remove kv_cache_layout from both roles, or make the two TP sizes equal.",
            raised=Stage.FIRST_REQUEST,
            source=HANDSHAKE,
            bad={
                "model": {"total_num_kv_heads": 8},
                "connector": side.connector,
                **side.roles(
                    {"tensor_parallel_size": 2, "kv_cache_layout": "NHD"},
                    {"tensor_parallel_size": 4, "kv_cache_layout": "NHD"},
                ),
            },
        ),
    )


RULES = (
    *(rule for side in SIDES for rule in _of_mode(side)),
    Rule(
        code="nixl-push-replicated-prefill",
        title="NIXL push before vLLM 0.28 cannot thin out KV heads that prefill replicates either",
        connectors=("nixl",),
        at=PREFILL_TP,
        see=(DECODE_TP, KV_HEADS),
        when=NIXL_MODE.is_("push") & PREFILL_PP.is_(1) & ~IS_MLA & ~HAS_MAMBA,
        require=(DECODE_TP >= PREFILL_TP) | (PREFILL_TP <= KV_HEADS),
        after=("tp-not-divisible", "kv-heads-not-divisible"),
        until=(0, 28),
        message="prefill TP {prefill_tp} must be at most decode TP {decode_tp}, or at most the {kv_heads} KV heads, "
        "in push mode before vLLM 0.28",
        why="Decode dials prefill to register a request, and before vLLM 0.28 it checks prefill's sizes as if it would "
        "read from there.",
        fix="Lower prefill.tensor_parallel_size to the KV heads, or run vLLM 0.28 or later on both roles.",
        raised=Stage.FIRST_REQUEST,
        source=PUSH_REGISTRATION,
        bad={
            "engine": {"version": "0.26"},
            "model": {"total_num_kv_heads": 4},
            "connector": {"kind": "nixl", "mode": "push"},
            "prefill": {"tensor_parallel_size": 8},
            "decode": {"tensor_parallel_size": 4},
        },
    ),
)
