"""What NIXL demands of the two block sizes."""

from __future__ import annotations

from pdtopology.connectors.examples import DS_LAYOUT, GQA, MAMBA, MLA
from pdtopology.connectors.nixl.keys import BUFFER_DEVICE
from pdtopology.connectors.nixl.side import SIDES, Side
from pdtopology.connectors.nixl.sources import BLOCK_SIZE_RATIO, HANDSHAKE, PUSH_REGISTRATION
from pdtopology.constraints import divides
from pdtopology.keys import (
    BLOCK_SIZE,
    DECODE_BLOCK_SIZE,
    EQUAL_BLOCK_SIZES,
    HAS_MAMBA,
    HAS_WINDOW_GROUPS,
    IS_MLA,
    NIXL_MODE,
    PREFILL_BLOCK_SIZE,
    PREFILL_PP,
    TP,
)
from pdtopology.rule import Rule, Severity, Stage


def _of_mode(side: Side) -> tuple[Rule, ...]:
    is_mode = side.is_meant
    local_tp, remote_tp = side.pair(TP)
    local_block, remote_block = side.pair(BLOCK_SIZE)
    return (
        Rule(
            code=f"nixl-{side.mode}-block-size-not-divisible",
            title=f"In NIXL {side.mode} mode {side.local}'s block size must be a multiple of {side.remote}'s",
            connectors=("nixl",),
            at=local_block,
            see=(remote_block,),
            when=is_mode & ~HAS_MAMBA,
            require=divides(remote_block, local_block),
            message=f"{side.local} block size {{{local_block.name}}} must be a multiple of {side.remote} block size "
            f"{{{remote_block.name}}}",
            why=f"In {side.mode} mode {side.local} transfers and fills each of its blocks with a whole number of "
            f"{side.remote}'s.",
            fix="Give both roles one block size.",
            raised=Stage.FIRST_REQUEST,
            source=BLOCK_SIZE_RATIO,
            bad={
                "model": MLA,
                "connector": side.connector,
                **side.roles({"block_size": 16}, {"block_size": 64}),
            },
        ),
        Rule(
            code=f"nixl-{side.mode}-block-size-unequal-tp",
            title=f"NIXL {side.mode} with different block sizes needs {side.remote} TP not above {side.local} TP",
            connectors=("nixl",),
            at=local_block,
            see=(remote_block, remote_tp, local_tp),
            when=is_mode & ~IS_MLA & ~HAS_MAMBA & ~EQUAL_BLOCK_SIZES,
            require=local_tp >= remote_tp,
            after=(
                "tp-not-divisible",
                "kv-heads-not-divisible",
                f"nixl-{side.mode}-replicated-kv-heads",
                f"nixl-{side.mode}-block-size-not-divisible",
            ),
            message=f"block sizes {{{local_block.name}}} and {{{remote_block.name}}} must be equal where "
            f"{side.remote} TP {{{remote_tp.name}}} is above {side.local} TP {{{local_tp.name}}}",
            why="A block would have to be put together of parts of blocks from several ranks.",
            fix="Give both roles one block size.",
            raised=Stage.FIRST_REQUEST,
            source=HANDSHAKE,
            bad={
                "model": {"total_num_kv_heads": 8},
                "connector": side.connector,
                **side.roles(
                    {"tensor_parallel_size": 2, "block_size": 64}, {"tensor_parallel_size": 4, "block_size": 16}
                ),
            },
        ),
    )


RULES = (
    *(rule for side in SIDES for rule in _of_mode(side)),
    Rule(
        code="nixl-block-size-host-buffer",
        title="NIXL through host memory needs equal block sizes",
        connectors=("nixl",),
        at=DECODE_BLOCK_SIZE,
        see=(PREFILL_BLOCK_SIZE,),
        when=BUFFER_DEVICE.is_("cpu") & ~HAS_MAMBA,
        require=EQUAL_BLOCK_SIZES,
        after=("nixl-pull-block-size-not-divisible", "nixl-push-block-size-not-divisible"),
        since=(0, 28),
        message="block sizes {prefill_block_size} and {decode_block_size} must be equal with kv_buffer_device cpu",
        why="Blocks are not cut while they are staged in host memory.",
        fix="Give both roles one block size.",
        raised=Stage.FIRST_REQUEST,
        source=HANDSHAKE,
        bad={
            "model": MLA,
            "connector": {"kind": "nixl", "kv_buffer_device": "cpu"},
            "prefill": {"block_size": 16},
            "decode": {"block_size": 32},
        },
    ),
    Rule(
        code="nixl-block-size-hybrid",
        title="NIXL before vLLM 0.28 needs equal block sizes for models with sliding-window layers",
        connectors=("nixl",),
        at=DECODE_BLOCK_SIZE,
        see=(PREFILL_BLOCK_SIZE,),
        when=HAS_WINDOW_GROUPS & ~HAS_MAMBA,
        require=EQUAL_BLOCK_SIZES,
        after=("nixl-pull-block-size-not-divisible", "nixl-push-block-size-not-divisible"),
        until=(0, 28),
        message="block sizes {prefill_block_size} and {decode_block_size} must be equal for sliding windows before "
        "vLLM 0.28",
        why="Sliding-window layers have groups of blocks of their own, for which an older handshake asserts one size.",
        fix="Give both roles one block size.",
        raised=Stage.FIRST_REQUEST,
        source=HANDSHAKE,
        bad={
            "engine": {"version": "0.26"},
            "model": {"is_mla": True, "has_sliding_window_layers": True},
            "connector": {"kind": "nixl"},
            "prefill": {"block_size": 16},
            "decode": {"block_size": 32},
        },
    ),
    Rule(
        code="nixl-push-block-size",
        title="NIXL push before vLLM 0.28 needs equal block sizes",
        connectors=("nixl",),
        at=DECODE_BLOCK_SIZE,
        see=(PREFILL_BLOCK_SIZE,),
        when=NIXL_MODE.is_("push") & PREFILL_PP.is_(1) & ~HAS_MAMBA,
        require=EQUAL_BLOCK_SIZES,
        after=("nixl-push-block-size-not-divisible", "nixl-push-block-size-unequal-tp", "nixl-block-size-hybrid"),
        until=(0, 28),
        message="block sizes {prefill_block_size} and {decode_block_size} must be equal in push mode before vLLM 0.28",
        why="Decode dials prefill to register a request, and before vLLM 0.28 it checks prefill's blocks as if it "
        "would read them.",
        fix="Give both roles one block size.",
        raised=Stage.FIRST_REQUEST,
        source=PUSH_REGISTRATION,
        bad={
            "engine": {"version": "0.26"},
            "model": MLA,
            "connector": {"kind": "nixl", "mode": "push"},
            "prefill": {"block_size": 64},
            "decode": {"block_size": 16},
        },
    ),
    Rule(
        code="nixl-mamba-block-size",
        title="vLLM raises the block sizes of a model with mamba layers itself",
        connectors=("nixl",),
        severity=Severity.UNDETERMINED,
        at=DECODE_BLOCK_SIZE,
        see=(PREFILL_BLOCK_SIZE,),
        when=HAS_MAMBA,
        require=EQUAL_BLOCK_SIZES,
        message="block sizes {prefill_block_size} and {decode_block_size} differ, and it cannot be told what becomes "
        "of them with mamba layers",
        why="An attention block is made as large as a mamba state, so that different block sizes as stated may become "
        "equal ones. The handshake compares those.",
        fix="Give both roles one block size.",
        raised=Stage.FIRST_REQUEST,
        source=BLOCK_SIZE_RATIO,
        bad={
            "model": MAMBA,
            "connector": {"kind": "nixl"},
            "prefill": {**DS_LAYOUT, "block_size": 64},
            "decode": {**DS_LAYOUT, "block_size": 16},
        },
    ),
    Rule(
        code="nixl-block-size-one-sided",
        title="NIXL compares two block sizes, and one is not stated",
        connectors=("nixl",),
        severity=Severity.UNDETERMINED,
        at=DECODE_BLOCK_SIZE,
        see=(PREFILL_BLOCK_SIZE,),
        require=(PREFILL_BLOCK_SIZE.is_set & DECODE_BLOCK_SIZE.is_set)
        | (~PREFILL_BLOCK_SIZE.is_set & ~DECODE_BLOCK_SIZE.is_set),
        message="only one role states its block size, so it cannot be told whether they fit",
        why="The block size that vLLM chooses, 16 on most platforms, is raised by some of them and by hybrid models.",
        fix="State block_size on both roles, or on neither.",
        raised=Stage.FIRST_REQUEST,
        source=BLOCK_SIZE_RATIO,
        bad={"model": GQA, "connector": {"kind": "nixl"}, "prefill": {}, "decode": {"block_size": 64}},
    ),
)
