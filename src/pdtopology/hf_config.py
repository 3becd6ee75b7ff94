"""`model.hf_config`: the config.json that a document names, and the model section completed from it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from pdtopology.deployment import Deployment, ModelGeometry
from pdtopology.huggingface import (
    ConfigError,
    Derived,
    HuggingFaceGeometry,
    UnknownGeometryError,
    find_config,
    geometry_of,
    read_config,
)
from pdtopology.keys import MAX_OTHER_KV_HEADS
from pdtopology.releases import NEWEST, Release, release_of
from pdtopology.violations import FIND_REFUSALS

CONFLICT = "model-geometry-conflict"
"""The type of the error at a number that the config contradicts; the others are those of `ConfigError`."""

_TOTAL, _OTHER = _KV_HEADS = ("total_num_kv_heads", "other_total_num_kv_heads")
_FLAGS = ("has_mamba_layers", "has_sliding_window_layers")
_DERIVED_KEYS = ("num_attention_heads", *_KV_HEADS, "is_mla", *_FLAGS)

_Model = TypeVar("_Model", bound=ModelGeometry)


class NamedConfig(NamedTuple):
    """The config.json that a document names, and what it tells."""

    file: str
    told: tuple[tuple[str, Derived], ...]
    """The keys of the model section and what the config tells of each; more than two numbers of KV heads share one."""
    filled: Mapping[str, Derived]
    """What the model section left out, by its keys."""

    def origin_of(self, key: str) -> str:
        """What a filled value came from: `config.json: num_key_value_heads`."""
        return f"{self.file}: {self.filled[key].key}"


def complete(deployment: Deployment, folder: str | os.PathLike[str] = "") -> NamedConfig:
    """Fill in what the model section of a deployment leaves out, from the config.json that it names.

    A relative path is one below `folder`, or below the current folder. The model is changed in place, so it must be
    one that validation has just made. What was stated stays the only thing in `model_fields_set`. A document holds two
    numbers of KV heads; of more, the second is one that a rule refuses, if there is such a one.

    Raises `ValidationError`: at `model.hf_config` for a config that cannot be read or told, with the code of the
    `ConfigError` as its type, and at each number that the config contradicts, with the type `CONFLICT`.
    """
    try:
        completion = _Completion(deployment.model, folder, _release_of(deployment))
    except ConfigError as error:
        raise _refusal(deployment, [("hf_config", str(error))], error.code) from None
    conflicts = list(completion.conflicts())
    if conflicts:
        raise _refusal(deployment, conflicts, CONFLICT)
    filled = completion.fill()
    for other in reversed(completion.others):
        filled = completion.fill(other)
        if FIND_REFUSALS[deployment.engine.name][deployment.connector.kind](deployment) is not None:
            break
    return NamedConfig(str(completion.file), completion.told, filled)


def complete_model(model: _Model) -> _Model:
    """The same for a model by itself; of more than two numbers of KV heads it gets the first two.

    Raises `ConfigError`.
    """
    completion = _Completion(model, "", NEWEST)
    completion.fill(*completion.others[:1])
    return model


def values_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The model section that states the geometry of a config.json; flags of layers only where they are true.

    Raises `UnknownGeometryError`.
    """
    geometry = _modest(geometry_of(config))
    if len(geometry.kv_heads) > len(_KV_HEADS):
        raise UnknownGeometryError(
            f"the layers have {_listed(geometry.kv_head_counts)} KV heads, of which a document states two; "
            "name the file as model.hf_config"
        )
    return {
        "num_attention_heads": geometry.num_attention_heads.value,
        **{key: derived.value for key, derived in zip(_KV_HEADS, geometry.kv_heads, strict=False)},
        "is_mla": geometry.is_mla.value,
        **{flag: True for flag in _FLAGS if getattr(geometry, flag).value},
    }


def values_in(path: str) -> dict[str, Any]:
    """The same for the config.json that a path names. Raises `ConfigError`."""
    file = find_config(path)
    config = read_config(file)
    with _naming(file):
        return values_of(config)


class _Completion:
    """A model section, what it states, and the config.json that it names. Raises `ConfigError`."""

    def __init__(self, model: ModelGeometry, folder: str | os.PathLike[str], release: Release) -> None:
        assert model.hf_config is not None
        self._model = model
        stated = {key: getattr(model, key) for key in _DERIVED_KEYS if key in model.model_fields_set}
        self._stated: dict[str, int] = {key: value for key, value in stated.items() if value is not None}
        self.file = find_config(Path(folder, model.hf_config))
        config = read_config(self.file)
        with _naming(self.file):
            self.geometry = _modest(geometry_of(config, self._stated, release))

    @property
    def told(self) -> tuple[tuple[str, Derived], ...]:
        """Each key that the config tells, and that the document does not know better."""
        geometry = self.geometry
        flags = ((flag, getattr(geometry, flag)) for flag in _FLAGS)
        return (
            ("num_attention_heads", geometry.num_attention_heads),
            *((_TOTAL, derived) for derived in self._kv_heads[:1]),
            *((_OTHER, derived) for derived in self.others),
            ("is_mla", geometry.is_mla),
            *((flag, found) for flag, found in flags if self._stated.get(flag, found.value) == found.value),
        )

    @property
    def others(self) -> tuple[Derived, ...]:
        """The numbers of KV heads beside the model's, a stated one first."""
        return self._kv_heads[1:]

    @property
    def _kv_heads(self) -> tuple[Derived, ...]:
        """The numbers of KV heads, the model's own first: the stated one, or vLLM's."""
        kv_heads, other = self.geometry.kv_heads, self._stated.get(_OTHER)
        total = self._stated.get(_TOTAL, kv_heads[0].value if kv_heads else None)
        return tuple(sorted(kv_heads, key=lambda derived: (derived.value != total, derived.value != other)))

    def conflicts(self) -> Iterator[tuple[str, str]]:
        """The keys whose stated value the config contradicts, and what to say.

        Not the kinds of layers: of those a config says little, and the document may know better.
        """
        for key in ("num_attention_heads", "is_mla"):
            derived: Derived = getattr(self.geometry, key)
            if self._stated.get(key, derived.value) != derived.value:
                yield key, self._conflict(key, derived.key, f"{str(derived.value).lower()} ({derived.rule})")
        counts = self.geometry.kv_head_counts
        for key in _KV_HEADS if counts else ():
            if self._stated.get(key, counts[0]) not in counts:
                keys = " and ".join(derived.key for derived in self.geometry.kv_heads)
                yield key, self._conflict(key, keys, _listed(counts))

    def _conflict(self, key: str, found_at: str, found: str) -> str:
        return f"model.{key} is {str(self._stated[key]).lower()}, but {self.file}: {found_at} says {found}"

    def fill(self, other: Derived | None = None) -> dict[str, Derived]:
        """Put in what is derived and not stated, with another number of KV heads if there is one."""
        geometry = self.geometry
        found = {
            "num_attention_heads": geometry.num_attention_heads,
            **dict(zip((_TOTAL,), self._kv_heads, strict=False)),
            "is_mla": geometry.is_mla,
            **{flag: getattr(geometry, flag) for flag in _FLAGS},
        }
        filled = {key: derived for key, derived in found.items() if key not in self._stated}
        if other and other.value != self._stated.get(_OTHER):
            filled[_OTHER] = other
        # What an earlier completion filled in goes.
        values = {key: type(self._model).model_fields[key].default for key in _DERIVED_KEYS}
        values |= self._stated | {key: derived.value for key, derived in filled.items()}
        self._model.__dict__.update(values)
        return filled


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    """Begin what cannot be told with the file's name."""
    try:
        yield
    except UnknownGeometryError as error:
        raise UnknownGeometryError(f"{file}: {error}") from None


def _modest(geometry: HuggingFaceGeometry) -> HuggingFaceGeometry:
    for other in geometry.kv_heads[1:]:
        if other.value > MAX_OTHER_KV_HEADS:
            raise UnknownGeometryError(
                f"{other.key} is a second number of KV heads above {MAX_OTHER_KV_HEADS}, which no document holds"
            )
    return geometry


def _release_of(deployment: Deployment) -> Release:
    engine = deployment.engine
    return release_of(engine.version) if engine.name == "vllm" and engine.version else NEWEST


def _refusal(deployment: Deployment, problems: Iterable[tuple[str, str]], code: str) -> ValidationError:
    line_errors = [
        InitErrorDetails(
            type=PydanticCustomError(code, "{message}", {"message": message}),
            loc=("model", key),
            input=getattr(deployment.model, key),
        )
        for key, message in problems
    ]
    return ValidationError.from_exception_data(type(deployment).__name__, line_errors)


def _listed(counts: tuple[int, ...]) -> str:
    *others, last = map(str, counts)
    return f"{', '.join(others)} and {last}" if others else last
