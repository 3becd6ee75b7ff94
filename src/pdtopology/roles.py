"""What each role runs."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError
from typing_extensions import LiteralString

from pdtopology.connectors.fields import Port
from pdtopology.keys import (
    MAX_BLOCK_SIZE,
    MAX_CONTEXT_PARALLEL_SIZE,
    MAX_PIPELINE_PARALLEL_SIZE,
    MAX_TENSOR_PARALLEL_SIZE,
)
from pdtopology.section import MAX_SIZE, NonEmpty, Section, Size

# What a role's own fields say, by the long and short flags of vLLM and SGLang; `kv_transfer_config` and the transfer
# backend are the connector's.
OWNED_ARGUMENT_PATTERN = (
    r"^-*((tensor|pipeline|data|prefill[-_]context|decode[-_]context|attention[-_]context)[-_]parallel[-_]size"
    r"|data[-_]parallel[-_]size[-_]local|tp|pp|dp|dpl|pcp|dcp|(tp|pp|dp|dcp|attn[-_]cp)[-_]size"
    r"|(block|page)[-_]size|kv[-_]cache[-_]dtype|host|port|disaggregation[-_]transfer[-_]backend"
    r"|kv[-_]transfer[-_]config(\..*)?)$"
)

HAS_A_FIELD: LiteralString = "argument_has_a_field"
HAS_A_FIELD_MESSAGE: LiteralString = "{argument} has a field of its own"


def _not_owned(argument: str) -> str:
    if re.fullmatch(OWNED_ARGUMENT_PATTERN, argument):
        raise PydanticCustomError(HAS_A_FIELD, HAS_A_FIELD_MESSAGE, {"argument": argument})
    return argument


class _NotOwned:
    """The schema of an argument's name; pydantic's own annotation for that imports all that generates schemas."""

    def __get_pydantic_json_schema__(self, _: CoreSchema, __: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "string", "minLength": 1, "not": {"pattern": OWNED_ARGUMENT_PATTERN}}


EngineArgument = Annotated[
    str,
    Field(min_length=1),
    AfterValidator(_not_owned),
    _NotOwned(),
]


class Role(Section):
    """What one role runs. Every size counts for one instance of the engine."""

    tensor_parallel_size: Annotated[int, Field(gt=0, le=MAX_TENSOR_PARALLEL_SIZE)] = Field(
        default=1,
        description="Ranks that split the heads of one data-parallel rank (TP). vLLM: `--tensor-parallel-size`. "
        "SGLang: `--tp-size`, with `--enable-dp-attention` divided by `--dp-size`, and by `--attn-cp-size`.",
    )
    pipeline_parallel_size: Annotated[int, Field(gt=0, le=MAX_PIPELINE_PARALLEL_SIZE)] = Field(
        default=1, description="Pipeline stages (PP). vLLM: `--pipeline-parallel-size`."
    )
    data_parallel_size: Size = Field(
        default=1,
        description="Data-parallel ranks (DP) over all nodes. vLLM: `--data-parallel-size`.",
    )
    data_parallel_size_local: Annotated[int, Field(ge=0, le=MAX_SIZE)] | None = Field(
        default=None,
        description="Data-parallel ranks on this node; 0 for a node that only serves the API; unset, vLLM's own. "
        "vLLM: `--data-parallel-size-local`.",
    )
    prefill_context_parallel_size: Annotated[int, Field(gt=0, le=MAX_CONTEXT_PARALLEL_SIZE)] = Field(
        default=1,
        description="Ranks that split the prompt of one prefill (PCP). vLLM: `--prefill-context-parallel-size`. "
        "SGLang: `--attn-cp-size`.",
    )
    decode_context_parallel_size: Annotated[int, Field(gt=0, le=MAX_CONTEXT_PARALLEL_SIZE)] = Field(
        default=1,
        description="Ranks that split the KV cache of one sequence, out of the TP ranks (DCP). "
        "vLLM: `--decode-context-parallel-size`.",
    )
    block_size: Annotated[int, Field(gt=0, le=MAX_BLOCK_SIZE)] | None = Field(
        default=None,
        description="Tokens in a KV-cache block; unset, 16 unless the platform wants more. vLLM: `--block-size`. "
        "SGLang: `--page-size`.",
    )
    kv_cache_dtype: NonEmpty | None = Field(
        default=None,
        description="Data type of the KV cache, such as `auto` or `fp8`; unset is `auto`. vLLM: `--kv-cache-dtype`.",
    )
    kv_cache_layout: Literal["NHD", "HND", "LBNHC", "LBHNC", "LHBNC", "BLHNC", "BLNHC", "BHLNC"] | None = Field(
        default=None,
        description="Order of heads and tokens in a block; unset, the engine chooses. `HND` is `LBHNC` and `NHD` is "
        "`LBNHC`, the names since vLLM 0.30. vLLM: the environment variable `VLLM_KV_CACHE_LAYOUT`.",
    )
    replicas: Size = Field(default=1, description="Identical instances of this role.")
    host: NonEmpty | None = Field(
        default=None,
        description="Host name or address of the role's host, where its API server listens; unset, wherever it is "
        "put. Two roles that name one host must not share a port. vLLM: `--host`.",
    )
    port: Port | None = Field(
        default=None,
        description="Port of the role's API server; vLLM's default is 8000. vLLM: `--port`.",
    )
    env: dict[NonEmpty, str] = Field(
        default_factory=dict,
        description="Environment variables of the role's processes. Each value is text: a number stands in quotes.",
    )
    engine_args: dict[EngineArgument, Any] = Field(
        default_factory=dict,
        description="Further engine arguments by their long names, passed on as they are: `max-model-len: 8192`. An "
        "argument that has a field here is refused, so that it is said in one place.",
    )


class PrefillRole(Role):
    """The instances that read prompts and produce their KV cache (the producer)."""


class DecodeRole(Role):
    """The instances that receive the KV cache and generate (the consumer)."""
