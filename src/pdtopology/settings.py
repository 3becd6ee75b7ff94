"""The topology from environment variables, over a file, over defaults."""

from __future__ import annotations

import json
import os
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from pdtopology.check import findings_of
from pdtopology.diagnostic import TopologyError
from pdtopology.findings import source_finding
from pdtopology.load import SourceFault, read_case
from pdtopology.topology import PDTopology

PREFIX = "PDTOPOLOGY_"
DELIMITER = "__"
FILE_VARIABLE = f"{PREFIX}FILE"


class PDTopologySettings(BaseSettings, PDTopology):
    """A `PDTopology` whose values come, the strongest first, from keyword arguments, environment variables and a file.

    `PDTOPOLOGY_DECODE__TENSOR_PARALLEL_SIZE=8` sets `decode.tensor_parallel_size`; `PDTOPOLOGY_DECODE='{"port": 8200}'`
    sets several keys of a section. The file is `file`, or what `PDTOPOLOGY_FILE` names. Empty variables count as unset,
    and text is converted where the field is a number. The merged result passes every rule.

    Raises pydantic's `ValidationError` as `PDTopology` does, and `TopologyError` for a file that cannot be read.
    """

    model_config = SettingsConfigDict(hide_input_in_errors=True)

    def __init__(self, file: str | os.PathLike[str] | None = None, **values: Any) -> None:
        super().__init__(**values, file=file)

    def replace(self, **changes: Any) -> PDTopology:
        """As `PDTopology.replace`; the copy is a plain topology, which does not read the environment again."""
        return PDTopology.model_validate(self).replace(**changes)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic-settings calls by name
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Keyword arguments over variables over the file."""
        return (
            _Keywords(settings_cls, init_settings),
            _Environment(settings_cls),
            _File(settings_cls, init_settings),
        )


class _Source(PydanticBaseSettingsSource):
    """A source that gives all its values at once."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002
        return self().get(field_name), field_name, False


class _Keywords(_Source):
    def __init__(self, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource) -> None:
        super().__init__(settings_cls)
        self._values = {key: value for key, value in init_settings().items() if key != "file"}

    def __call__(self) -> dict[str, Any]:
        return self._values


class _File(_Source):
    def __init__(self, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource) -> None:
        super().__init__(settings_cls)
        self._file = init_settings().get("file") or os.environ.get(FILE_VARIABLE)

    def __call__(self) -> dict[str, Any]:
        if not self._file:
            return {}
        try:
            case = read_case(self._file, {})
        except SourceFault as fault:
            raise TopologyError([source_finding(fault)]) from None
        if case.data is not None and not isinstance(case.data, dict):
            raise TopologyError(findings_of(case))
        return case.anchored or {}


class _Environment(_Source):
    def __call__(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        named = {
            tuple(name[len(PREFIX) :].split(DELIMITER)): text
            for name, text in os.environ.items()
            if name.upper().startswith(PREFIX) and name.upper() != FILE_VARIABLE and text
        }
        # A whole section first, so that a single key is put over it.
        for parts in sorted(named, key=len):
            field = self.settings_cls.model_fields.get(parts[0].lower())
            if field and not field.alias:
                _put(values, self.settings_cls, parts, named[parts])
        return values


def _put(values: dict[str, Any], model: type[BaseModel], parts: tuple[str, ...], text: str) -> None:
    """Put one variable's value where its name says, under a key that may be unknown."""
    name = parts[0].lower()
    field = model.model_fields.get(name)
    if field is None:
        values[name] = text
        return
    inner = field.annotation
    if len(parts) == 1:
        values[name] = _converted(text, field.annotation)
    elif isinstance(inner, type) and issubclass(inner, BaseModel):
        _put(_mapping(values, name), inner, parts[1:], text)
    else:
        # A variable of the engine keeps its case; an argument is written as the engine spells it.
        key = DELIMITER.join(parts[1:])
        _mapping(values, name)[key.lower().replace("_", "-") if name == "engine_args" else key] = text


def _mapping(values: dict[str, Any], name: str) -> dict[str, Any]:
    """The mapping at a name, made where there is none."""
    if not isinstance(values.get(name), dict):
        values[name] = {}
    inner: dict[str, Any] = values[name]
    return inner


def _converted(text: str, annotation: Any) -> Any:
    """The text as the field's number or truth value, or as a JSON object; as it is where it is none of them."""
    try:
        return TypeAdapter(annotation).validate_strings(text)
    except ValidationError:
        if not text.lstrip().startswith("{"):
            return text
    try:
        return json.loads(text)
    except ValueError:
        return text
