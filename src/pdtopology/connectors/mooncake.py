"""Mooncake, vLLM's connector over the Mooncake transfer engine: its part of the document and its rules.

The producer always sends.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pdtopology.connectors.examples import GQA, MLA
from pdtopology.connectors.fields import ConnectorRole, ExtraConfig, Port
from pdtopology.constraints import Key, agree, same
from pdtopology.keys import (
    DCP,
    DECODE_BLOCK_SIZE,
    DECODE_DTYPE,
    DECODE_PP,
    DECODE_TP,
    ENV_LAYOUT,
    EQUAL_BLOCK_SIZES,
    EQUAL_TP,
    HAS_MAMBA,
    IS_MLA,
    KV_HEADS,
    LAYOUT,
    PREFILL_BLOCK_SIZE,
    PREFILL_DTYPE,
    PREFILL_PP,
    PREFILL_TP,
    TOKENS_FIRST,
    flag,
)
from pdtopology.kv_cache_dtypes import FOUR_BIT_DTYPES, ONE_BYTE_DTYPES, TWO_BYTE_DTYPES, VLLM_DTYPES
from pdtopology.rule import Rule, Severity, Stage, Upstream
from pdtopology.section import NonEmpty, Section

_FILE = "vllm/distributed/kv_transfer/kv_connector/v1/mooncake/mooncake_connector.py"


class MooncakeRole(ConnectorRole):
    """Mooncake's part of one role."""


class MooncakePrefillRole(MooncakeRole):
    """Mooncake's part of prefill."""

    bootstrap_port: Port = Field(
        default=8998,
        description="Port of the bootstrap server, of which each prefill instance runs one. "
        "vLLM: the environment variable `VLLM_MOONCAKE_BOOTSTRAP_PORT`.",
    )


class MooncakeConnector(Section):
    """vLLM's `MooncakeConnector`."""

    kind: Literal["mooncake"] = Field(
        default="mooncake",
        description="The KV connector that moves the cache from prefill to decode; `mooncake` is vLLM's "
        "`MooncakeConnector`, or SGLang's transfer backend of that name.",
    )
    protocol: NonEmpty = Field(
        default="rdma",
        description="The transfer engine's transport. vLLM: `mooncake_protocol` of `kv_connector_extra_config`.",
    )
    bootstrap_server_address: Annotated[str, Field(pattern=r"^[^:]+:[1-9][0-9]{0,4}$")] | None = Field(
        default=None,
        description="A bootstrap server of its own, as `host:port`; unset, prefill runs one. "
        "vLLM: `bootstrap_server_address` of `kv_connector_extra_config`, since 0.32.",
    )
    extra_config: ExtraConfig = Field(default_factory=dict)
    prefill: MooncakePrefillRole = Field(
        default=MooncakePrefillRole.model_construct(), description="The connector's part of prefill."
    )
    decode: MooncakeRole = Field(default=MooncakeRole.model_construct(), description="The connector's part of decode.")


_PROTOCOL = Key("protocol", "connector.protocol", default="rdma")

RULES = (
    Rule(
        code="mooncake-split-to-replicated",
        title="Mooncake before vLLM 0.30 cannot send split KV heads to a decode role that replicates them",
        connectors=("mooncake",),
        at=DECODE_TP,
        see=(PREFILL_TP, KV_HEADS),
        when=~IS_MLA & (PREFILL_TP <= KV_HEADS),
        require=DECODE_TP <= KV_HEADS,
        after=("tp-not-divisible", "kv-heads-not-divisible"),
        until=(0, 30),
        message="decode TP {decode_tp} must be at most the {kv_heads} KV heads where prefill TP {prefill_tp} is, "
        "before vLLM 0.30",
        why="The lengths of the two roles' regions are compared by the ratio of the TP sizes, which is not that of the "
        "heads where decode holds copies.",
        fix="Lower decode.tensor_parallel_size to the KV heads, or run vLLM 0.30 or later on both roles.",
        raised=Stage.FIRST_REQUEST,
        source=Upstream(_FILE, "_validate_asymmetric_region_lengths"),
        bad={
            "engine": {"version": "0.28"},
            "model": {"total_num_kv_heads": 2},
            "connector": {"kind": "mooncake"},
            "prefill": {"tensor_parallel_size": 2},
            "decode": {"tensor_parallel_size": 4},
        },
    ),
    Rule(
        code="mooncake-replicated-to-split",
        title="Mooncake before vLLM 0.30 loses heads from a prefill role that replicates them",
        connectors=("mooncake",),
        at=PREFILL_TP,
        see=(DECODE_TP, KV_HEADS),
        when=~IS_MLA & ~(DECODE_TP >= KV_HEADS),
        require=PREFILL_TP <= KV_HEADS,
        after=("tp-not-divisible", "kv-heads-not-divisible"),
        until=(0, 30),
        message="prefill TP {prefill_tp} must be at most the {kv_heads} KV heads where decode TP {decode_tp} is below "
        "them, before vLLM 0.30",
        why="One prefill rank sends its one head to the beginning of a decode rank's blocks; the other heads there are "
        "never written.",
        fix="Lower prefill.tensor_parallel_size to the KV heads, or run vLLM 0.30 or later on both roles.",
        raised=Stage.NEVER,
        source=Upstream(_FILE, "_compute_sender_transfer_plan"),
        bad={
            "engine": {"version": "0.28"},
            "model": {"total_num_kv_heads": 2},
            "connector": {"kind": "mooncake"},
            "prefill": {"tensor_parallel_size": 4},
            "decode": {},
        },
    ),
    Rule(
        code="mooncake-block-size-mismatch",
        title="Mooncake needs equal block sizes",
        connectors=("mooncake",),
        at=DECODE_BLOCK_SIZE,
        see=(PREFILL_BLOCK_SIZE,),
        when=~IS_MLA & ~HAS_MAMBA,
        require=EQUAL_BLOCK_SIZES,
        message="decode block size {decode_block_size} must be prefill's, {prefill_block_size}",
        why="The lengths of the two roles' blocks are compared in bytes.",
        fix="Give both roles one block size.",
        raised=Stage.FIRST_REQUEST,
        source=Upstream(_FILE, "_validate_asymmetric_region_lengths"),
        bad={
            "model": GQA,
            "connector": {"kind": "mooncake"},
            "prefill": {"block_size": 16},
            "decode": {"block_size": 32},
        },
    ),
    Rule(
        code="mooncake-block-size-mla",
        title="Mooncake compares the block sizes of an MLA model in one direction only",
        connectors=("mooncake",),
        severity=Severity.WARNING,
        at=DECODE_BLOCK_SIZE,
        see=(PREFILL_BLOCK_SIZE,),
        when=IS_MLA,
        require=EQUAL_BLOCK_SIZES,
        message="decode block size {decode_block_size} should be prefill's, {prefill_block_size}",
        why="A larger prefill block fails an assertion at the first request; a smaller one fills a part of decode's "
        "block and nothing is said.",
        fix="Give both roles one block size.",
        raised=Stage.NEVER,
        source=Upstream(_FILE, "_validate_asymmetric_region_lengths"),
        bad={
            "model": MLA,
            "connector": {"kind": "mooncake"},
            "prefill": {"block_size": 16},
            "decode": {"block_size": 32},
        },
    ),
    Rule(
        code="mooncake-kv-cache-dtype-length",
        title="Mooncake refuses KV caches whose types differ in length",
        connectors=("mooncake",),
        at=DECODE_DTYPE,
        see=(PREFILL_DTYPE,),
        when=~IS_MLA
        & PREFILL_DTYPE.is_(*TWO_BYTE_DTYPES, *ONE_BYTE_DTYPES)
        & DECODE_DTYPE.is_(*TWO_BYTE_DTYPES, *ONE_BYTE_DTYPES)
        & EQUAL_BLOCK_SIZES,
        require=agree(PREFILL_DTYPE, DECODE_DTYPE, TWO_BYTE_DTYPES, ONE_BYTE_DTYPES),
        message="decode kv_cache_dtype {decode_kv_cache_dtype} must be prefill's, {prefill_kv_cache_dtype}",
        why="The lengths of the two roles' blocks are compared in bytes.",
        fix="Write the same kv_cache_dtype for both roles.",
        raised=Stage.FIRST_REQUEST,
        source=Upstream(_FILE, "_validate_asymmetric_region_lengths"),
        bad={
            "model": GQA,
            "connector": {"kind": "mooncake"},
            "prefill": {"kv_cache_dtype": "bfloat16", "block_size": 16},
            "decode": {"kv_cache_dtype": "fp8", "block_size": 16},
        },
    ),
    Rule(
        code="mooncake-kv-cache-dtype-unchecked",
        title="Mooncake copies KV caches of different types as they are",
        connectors=("mooncake",),
        severity=Severity.WARNING,
        at=DECODE_DTYPE,
        see=(PREFILL_DTYPE,),
        require=agree(PREFILL_DTYPE, DECODE_DTYPE, *((name,) for name in VLLM_DTYPES)),
        after=("mooncake-kv-cache-dtype-length",),
        message="decode kv_cache_dtype {decode_kv_cache_dtype} should be prefill's, {prefill_kv_cache_dtype}",
        why="No data type is exchanged. Types of different lengths may be found by their bytes; those of one length, "
        "and the cache of an MLA model, are read as what they are not.",
        fix="Write the same kv_cache_dtype for both roles.",
        raised=Stage.NEVER,
        source=Upstream(_FILE, "MooncakeAgentMetadata (tells no dtype)"),
        bad={
            "model": MLA,
            "connector": {"kind": "mooncake"},
            "prefill": {},
            "decode": {"kv_cache_dtype": "fp8"},
        },
    ),
    Rule(
        code="mooncake-nvfp4-unequal-heads",
        title="Mooncake cannot reshard an NVFP4 KV cache",
        connectors=("mooncake",),
        at=DECODE_TP,
        see=(PREFILL_TP, KV_HEADS),
        when=~IS_MLA & ~HAS_MAMBA & PREFILL_DTYPE.is_(*FOUR_BIT_DTYPES) & ~EQUAL_TP,
        require=(PREFILL_TP >= KV_HEADS) & (DECODE_TP >= KV_HEADS),
        after=("tp-not-divisible", "kv-heads-not-divisible", "mooncake-split-to-replicated"),
        since=(0, 30),
        message="prefill TP {prefill_tp} and decode TP {decode_tp} must be equal, or both at least the {kv_heads} KV "
        "heads, with an NVFP4 cache",
        why="The scales of a four-bit block belong to all its heads, so a block cannot be cut.",
        fix="Make the two TP sizes equal, or choose another kv_cache_dtype.",
        raised=Stage.FIRST_REQUEST,
        source=Upstream(_FILE, "_validate_head_resharding_layout"),
        bad={
            "model": {"total_num_kv_heads": 8},
            "connector": {"kind": "mooncake"},
            "prefill": {"tensor_parallel_size": 2, "kv_cache_dtype": "nvfp4"},
            "decode": {"tensor_parallel_size": 4, "kv_cache_dtype": "nvfp4"},
        },
    ),
    Rule(
        code="mooncake-layout",
        title="Mooncake wants the HND layout",
        connectors=("mooncake",),
        severity=Severity.WARNING,
        at=LAYOUT,
        when=~IS_MLA & ~ENV_LAYOUT.is_set,
        require=~LAYOUT.is_(*TOKENS_FIRST),
        message="{role} kv_cache_layout {kv_cache_layout} should be HND",
        why="The connector asks the engine for HND, so that the heads of a block lie together, and this overrides it.",
        fix="Remove kv_cache_layout from both roles.",
        raised=Stage.NEVER,
        source=Upstream(_FILE, "MooncakeConnector.get_required_kvcache_layout"),
        bad={
            "model": GQA,
            "connector": {"kind": "mooncake"},
            "prefill": {},
            "decode": {"kv_cache_layout": "NHD"},
        },
    ),
    Rule(
        code="mooncake-dcp",
        title="Mooncake knows nothing of decode context parallelism",
        connectors=("mooncake",),
        severity=Severity.WARNING,
        at=DCP,
        require=DCP.is_(1),
        after=(
            "dcp-not-divisible",
            "dcp-needs-replicated-kv-heads",
            "dcp-exceeds-replicas",
            "dcp-query-heads",
            "pcp-dcp-size",
        ),
        message="{role} DCP {dcp} should be 1",
        why="A rank holds other tokens than the sender expects, and nothing compares the sizes.",
        fix="Set decode_context_parallel_size to 1.",
        raised=Stage.NEVER,
        source=Upstream(_FILE, "MooncakeConnectorWorker (no DCP rank)"),
        bad={
            "model": MLA,
            "connector": {"kind": "mooncake"},
            "prefill": {"tensor_parallel_size": 2},
            "decode": {"tensor_parallel_size": 2, "decode_context_parallel_size": 2},
        },
    ),
    Rule(
        code="mooncake-decode-pipeline",
        title="Mooncake before vLLM 0.30 needs one decode stage, or as many as prefill has",
        connectors=("mooncake",),
        at=DECODE_PP,
        see=(PREFILL_PP,),
        when=~DECODE_PP.is_(1),
        require=same(PREFILL_PP, DECODE_PP),
        until=(0, 30),
        message="decode PP {decode_pp} must be 1, or prefill's, {prefill_pp}, before vLLM 0.30",
        why="A prefill stage refuses a decode stage that lacks one of its layers.",
        fix="Set decode.pipeline_parallel_size to 1, or run vLLM 0.30 or later on both roles.",
        raised=Stage.FIRST_REQUEST,
        source=Upstream(_FILE, "_align_transfer_regions"),
        bad={
            "engine": {"version": "0.28"},
            "model": GQA,
            "connector": {"kind": "mooncake"},
            "prefill": {},
            "decode": {"pipeline_parallel_size": 2},
        },
    ),
    Rule(
        code="mooncake-sleep-mode",
        title="Mooncake supports sleep mode over rdma only",
        connectors=("mooncake",),
        at=_PROTOCOL,
        when=flag("enable-sleep-mode"),
        require=_PROTOCOL.is_("rdma"),
        since=(0, 33),
        message="connector.protocol {protocol} must be rdma where {role} sets enable-sleep-mode",
        why="Only memory that is registered with RDMA is registered again after a sleep.",
        fix="Remove enable-sleep-mode from the engine_args, or set connector.protocol to rdma.",
        raised=Stage.PARSE,
        source=Upstream("vllm/config/vllm.py", "VllmConfig.__post_init__"),
        bad={
            "model": GQA,
            "connector": {"kind": "mooncake", "protocol": "tcp"},
            "prefill": {},
            "decode": {"engine_args": {"enable-sleep-mode": True}},
        },
    ),
)
