"""The document's sections as models, each valid by itself."""

import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, ValidationError
from pydantic_core import CoreSchema
from typing_extensions import Self

from pdtopology.connectors.mooncake.connector import MooncakeConnector
from pdtopology.connectors.moriio.connector import MoRIIOConnector
from pdtopology.connectors.nixl.connector import NixlConnector
from pdtopology.connectors.other import OtherConnector
from pdtopology.keys import MAX_HEADS, MAX_OTHER_KV_HEADS
from pdtopology.paths import Path
from pdtopology.releases import VERSION_PATTERN
from pdtopology.roles import DecodeRole, PrefillRole
from pdtopology.section import NonEmpty, Section, sections_of
from pdtopology.validation import restated

ENGINES = ("vllm", "sglang")
USUAL_FIELDS = {
    "model": frozenset(("name", "num_attention_heads", "total_num_kv_heads", "is_mla")),
    "connector": frozenset(("kind", "mode", "backend")),
    "prefill": frozenset(("tensor_parallel_size", "replicas")),
    "decode": frozenset(("tensor_parallel_size", "replicas")),
}
"""What most documents state; rules about the rest cost those nothing."""


def is_unusual(path: tuple[str, ...]) -> bool:
    """Whether a path leads to a field that few documents state."""
    return path[0] in USUAL_FIELDS and path[1] not in USUAL_FIELDS[path[0]]


class Engine(Section):
    """The engine both roles run."""

    name: Literal["vllm", "sglang"] = Field(
        default="vllm",
        description="The inference engine. With `sglang`, the connector is its transfer backend and `block_size` its "
        "page size.",
    )
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
    hf_config: NonEmpty | None = Field(
        default=None,
        description="The model's Hugging Face config.json, or the folder that holds it, as a path relative to this "
        "file. What is left out here is taken from it; a number that is stated beside it must agree.",
    )
    num_attention_heads: Annotated[int, Field(gt=0, le=MAX_HEADS)] | None = Field(
        default=None,
        description="Query heads of the whole model: `num_attention_heads` in its config.json.",
    )
    total_num_kv_heads: Annotated[int, Field(gt=0, le=MAX_HEADS)] | None = Field(
        default=None,
        description="Key/value heads of the whole model: `num_key_value_heads` in its config.json. Needed unless "
        "`is_mla` is true or `hf_config` is stated. Where layers differ, the number that most have.",
    )
    other_total_num_kv_heads: Annotated[int, Field(gt=0, le=MAX_OTHER_KV_HEADS)] | None = Field(
        default=None,
        description="Key/value heads of the layers that have another number, such as `num_global_key_value_heads` in "
        "gemma-4's config.json. Each TP size must fit these too.",
    )
    is_mla: bool = Field(
        default=False,
        description="Whether the model uses multi-head latent attention, as DeepSeek-V3 does (`kv_lora_rank` in its "
        "config.json). Its latent is the same on every rank, so no rule about KV heads applies; one TP size must still "
        "be a multiple of the other.",
    )
    has_mamba_layers: bool = Field(
        default=False,
        description="Whether some layers are mamba or another linear attention, whose state is transferred beside the "
        "KV cache.",
    )
    has_sliding_window_layers: bool = Field(
        default=False,
        description="Whether some layers attend to a sliding window, as gpt-oss and gemma do; vLLM keeps their cache "
        "in groups of its own.",
    )

    @classmethod
    def from_hf_config(cls, config: Mapping[str, Any] | str | os.PathLike[str]) -> Self:
        """The geometry that a Hugging Face config.json tells: what it holds, or the path of it or of its folder.

        A path is kept as `hf_config`, and read again where a topology is made of the model. Raises `ConfigError`, a
        `ValueError`, for a config that cannot be read or does not tell; its text says which key to state by hand.
        """
        from pdtopology.hf_config import complete_model, values_of

        if isinstance(config, Mapping):
            return cls(**values_of(config))
        return complete_model(cls(hf_config=os.fspath(config)))


class FlatConnector:
    """Gives the connector's union the schema of one object, which editors complete and judge better than a union."""

    def __get_pydantic_json_schema__(self, _: CoreSchema, __: GetJsonSchemaHandler) -> dict[str, Any]:
        from pdtopology.schema.connector import connector_schema

        return connector_schema()


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
    connector: Annotated[
        MoRIIOConnector | NixlConnector | MooncakeConnector | OtherConnector,
        Field(discriminator="kind"),
        FlatConnector(),
    ] = Field(
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
            return restated(cls.model_validate, document, error)


def takes_text(path: Path) -> bool:
    """Whether the field at a path is text, whatever the text looks like."""
    annotations: list[Any] = [Deployment]
    for part in path:
        annotations = [inner for annotation in annotations for inner in _below(annotation, part)]
    kinds = {
        getattr(kind, "__origin__", kind) for annotation in annotations for kind in (annotation, *get_args(annotation))
    }
    return str in kinds and not any(get_origin(annotation) is dict for annotation in annotations)


def _below(annotation: Any, part: str | int) -> list[Any]:
    if get_origin(annotation) is dict:
        return [get_args(annotation)[1]]
    found = (section.model_fields.get(str(part)) for section in sections_of(annotation))
    return [field.annotation for field in found if field]
