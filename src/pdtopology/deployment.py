"""The document's sections as models, each valid by itself."""

import re
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import (
    AfterValidator,
    Field,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError
from typing_extensions import Self

from pdtopology.connectors.moriio import MoRIIOConnector
from pdtopology.keys import MAX_HEADS, TP
from pdtopology.paths import Path, with_value
from pdtopology.releases import VERSION_PATTERN
from pdtopology.section import MAX_SIZE, NonEmpty, Section, Size

# What a role's own fields say, by vLLM's long and short flags; `kv_transfer_config` is the connector's.
OWNED_ARGUMENT_PATTERN = (
    r"^-*((tensor|pipeline|data|prefill[-_]context|decode[-_]context)[-_]parallel[-_]size"
    r"|data[-_]parallel[-_]size[-_]local|tp|pp|dp|dpl|pcp|dcp"
    r"|block[-_]size|kv[-_]cache[-_]dtype|host|port|kv[-_]transfer[-_]config(\..*)?)$"
)


def _not_owned(argument: str) -> str:
    if re.fullmatch(OWNED_ARGUMENT_PATTERN, argument):
        raise PydanticCustomError("argument_has_a_field", "{argument} has a field of its own", {"argument": argument})
    return argument


EngineArgument = Annotated[
    str,
    Field(min_length=1),
    AfterValidator(_not_owned),
    WithJsonSchema({"type": "string", "minLength": 1, "not": {"pattern": OWNED_ARGUMENT_PATTERN}}),
]


class Engine(Section):
    """The engine both roles run."""

    name: Literal["vllm"] = Field(default="vllm", description="The inference engine.")
    version: Annotated[str, Field(pattern=VERSION_PATTERN, max_length=64)] | None = Field(
        default=None,
        description='The release both roles run, in quotes: `"0.33"` or `"0.33.1"`. Unset, the newest release whose '
        "rules are known decides, and what an older one would refuse is a warning.",
    )


class ModelGeometry(Section):
    """The attention geometry of the model that both roles serve."""

    name: NonEmpty | None = Field(
        default=None,
        description="A label such as `Qwen/Qwen3-32B`, passed on and never interpreted.",
    )
    num_attention_heads: Annotated[int, Field(gt=0, le=MAX_HEADS)] | None = Field(
        default=None,
        description="Query heads of the whole model: `num_attention_heads` in its config.json.",
    )
    total_num_kv_heads: Annotated[int, Field(gt=0, le=MAX_HEADS)] | None = Field(
        default=None,
        description="Key/value heads of the whole model: `num_key_value_heads` in its config.json. Needed unless "
        "`is_mla` is true.",
    )
    is_mla: bool = Field(
        default=False,
        description="Whether the model uses multi-head latent attention, as DeepSeek-V3 does (`kv_lora_rank` in its "
        "config.json). Its latent is the same on every rank, so no rule about KV heads applies; one TP size must still "
        "be a multiple of the other.",
    )


class Role(Section):
    """What one role runs. Every size counts for one instance of the engine."""

    tensor_parallel_size: Annotated[int, Field(gt=0, le=TP.maximum)] = Field(
        default=1,
        description="Ranks that split the heads of one data-parallel rank (TP). vLLM: `--tensor-parallel-size`.",
    )
    pipeline_parallel_size: Size = Field(
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
    prefill_context_parallel_size: Size = Field(
        default=1,
        description="Ranks that split the prompt of one prefill (PCP). vLLM: `--prefill-context-parallel-size`.",
    )
    decode_context_parallel_size: Size = Field(
        default=1,
        description="Ranks that split the KV cache of one sequence, out of the TP ranks (DCP). "
        "vLLM: `--decode-context-parallel-size`.",
    )
    block_size: Size | None = Field(
        default=None,
        description="Tokens in a KV-cache block; unset, 16 unless the platform wants more. vLLM: `--block-size`.",
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
        description="Host name or address the role's API server listens on; unset, all. vLLM: `--host`.",
    )
    port: Annotated[int, Field(gt=0, le=65_535)] | None = Field(
        default=None,
        description="Port of the role's API server; vLLM's default is 8000. vLLM: `--port`.",
    )
    env: dict[NonEmpty, str] = Field(
        default_factory=dict,
        description="Environment variables of the role's processes. Each value is text: a number stands in quotes.",
    )
    engine_args: dict[EngineArgument, Any] = Field(
        default_factory=dict,
        description="Further engine arguments by their long names, passed on unread: `max-model-len` as `8192`. An "
        "argument that has a field here is refused, so that it is said in one place.",
    )


class PrefillRole(Role):
    """The instances that read prompts and produce their KV cache (the producer)."""


class DecodeRole(Role):
    """The instances that receive the KV cache and generate (the consumer)."""


class Deployment(Section):
    """The sections of the document, each valid by itself; `PDTopology` is one whose parts also fit each other."""

    schema_uri: Annotated[str, AfterValidator(lambda _: None)] | None = Field(
        default=None,
        alias="$schema",
        exclude=True,
        repr=False,
        description="Where the JSON Schema of this file is, for editors; ignored otherwise.",
    )
    # The defaults are made without validators, which nothing else would build at import.
    engine: Engine = Field(default=Engine.model_construct(), description="The engine that both roles run.")
    model: ModelGeometry = Field(description="The attention geometry of the model.")
    connector: MoRIIOConnector = Field(
        default=MoRIIOConnector.model_construct(),
        description="How the KV cache moves from prefill to decode; unset is MoRIIO in READ mode.",
    )
    prefill: PrefillRole = Field(description="The role that reads prompts; `{}` is TP size 1.")
    decode: DecodeRole = Field(description="The role that generates; `{}` is TP size 1.")

    @classmethod
    def of(cls, document: Any) -> Self:
        """The sections of a document, each validated by itself. Raises `ValidationError`."""
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            return cls.model_validate(with_whole_numbers(document, error))


def takes_text(path: Path) -> bool:
    """Whether the field at a path is text, whatever the text looks like."""
    annotation: Any = Deployment
    for part in path:
        fields = getattr(annotation, "model_fields", {})
        if part in fields:
            annotation = fields[part].annotation
        elif get_origin(annotation) is dict:
            annotation = get_args(annotation)[1]
        else:
            return False
    if get_origin(annotation) is dict:
        return False
    return str in {getattr(kind, "__origin__", kind) for kind in (annotation, *get_args(annotation))}


def with_whole_numbers(document: Any, error: ValidationError) -> Any:
    """The document with `4.0` as `4` where a size was wanted, since JSON has one number type.

    Runs only once the strict validation has failed; raises that failure again where there is nothing to convert.
    """
    whole = {
        line["loc"]: int(line["input"])
        for line in error.errors(include_url=False)
        if line["type"] == "int_type" and isinstance(line["input"], float) and line["input"].is_integer()
    }
    if not whole:
        raise error
    for path, number in whole.items():
        document = with_value(document, path, number)
    return document
