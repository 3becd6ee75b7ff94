"""What NIXL's handshake demands of TP sizes and layouts, in either mode.

Source: vllm/distributed/kv_transfer/kv_connector/v1/nixl/base_worker.py, _validate_remote_agent_handshake.
"""

from __future__ import annotations

from pdtopology.connectors.examples import GQA
from pdtopology.connectors.nixl.keys import PERMUTES
from pdtopology.connectors.nixl.side import SIDES, Side
from pdtopology.connectors.nixl.sources import HANDSHAKE
from pdtopology.constraints import agree, same
from pdtopology.keys import (
    DECODE_TP,
    HAS_MAMBA,
    HEADS_FIRST,
    IS_MLA,
    KV_HEADS,
    LAYOUT,
    LAYOUT_GROUPS,
    LAYOUTS_ARE_KNOWN,
    NEEDS_HYBRID_MANAGER,
    PREFILL_TP,
    TOKENS_FIRST,
    TP,
)
from pdtopology.rule import Rule, Stage


def _of_mode(side: Side) -> tuple[Rule, ...]:
    is_mode = side.is_meant
    local_tp, remote_tp = side.pair(TP)
    local_layout, remote_layout = side.pair(LAYOUT)
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
            | (PERMUTES & remote_layout.is_(*HEADS_FIRST) & local_layout.is_(*TOKENS_FIRST) & ~NEEDS_HYBRID_MANAGER),
            message=f"{side.local} layout {{{local_layout.name}}} must be {side.remote} layout "
            f"{{{remote_layout.name}}}",
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
            title="NIXL between unequal TP sizes needs the HND layout",
            connectors=("nixl",),
            at=local_layout,
            see=(PREFILL_TP, DECODE_TP),
            when=is_mode & ~IS_MLA & ~same(PREFILL_TP, DECODE_TP) & (KV_HEADS >= remote_tp) & LAYOUTS_ARE_KNOWN,
            require=~local_layout.is_(*TOKENS_FIRST) | PERMUTES,
            after=("tp-not-divisible", "kv-heads-not-divisible", f"nixl-{side.mode}-layout-mismatch"),
            message=f"{side.local} layout {{{local_layout.name}}} must be HND where prefill TP {{prefill_tp}} and "
            "decode TP {decode_tp} differ",
            why="A rank takes some heads of a block, which lie together in HND only.",
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


RULES = tuple(rule for side in SIDES for rule in _of_mode(side))
