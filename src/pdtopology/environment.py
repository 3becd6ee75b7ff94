"""A document's values from environment variables.

`PDTOPOLOGY_DECODE__TENSOR_PARALLEL_SIZE=8` sets `decode.tensor_parallel_size`; the names are read in any case.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from pdtopology.deployment import Deployment
from pdtopology.formats.place import Fault, one_line
from pdtopology.overrides import Override, leaves
from pdtopology.paths import Path, dotted, is_private
from pdtopology.rule import Severity

if TYPE_CHECKING:
    from pdtopology.diagnostic import Diagnostic

PREFIX = "PDTOPOLOGY_"
DELIMITER = "__"
FILE_VARIABLE = f"{PREFIX}FILE"


class Variable(NamedTuple):
    """An environment variable of the prefix that is not empty."""

    name: str
    text: str
    place: str = ""
    """Where a file sets it: `.env:3`."""

    @property
    def parts(self) -> list[str]:
        """Its name's parts after the prefix."""
        return self.name[len(PREFIX) :].split(DELIMITER)

    @property
    def origin(self) -> str:
        """What findings call it: `.env:3: PDTOPOLOGY_DECODE__PORT`."""
        return f"{self.place}: {self.name}" if self.place else self.name


class Environment(NamedTuple):
    """What variables say."""

    overrides: dict[Path, Override]
    file: str | None
    """The file that they name."""
    findings: list[Diagnostic]
    """The variables that say nothing: of unknown names, and without the JSON object that their key needs."""


def variables_of(variables: Mapping[str, str]) -> list[Variable]:
    """Those that concern a topology: with the prefix, and not empty, which counts as unset."""
    return [Variable(name, text) for name, text in variables.items() if text and name.upper().startswith(PREFIX)]


def read_environment(*sources: Iterable[Variable], model: type[BaseModel] = Deployment) -> Environment:
    """What the variables of several sources say, a later source's over an earlier one's.

    Text is converted where the key is a number or a truth value, and read as JSON where it is a mapping. A mapping and
    variables for some of its keys are merged. A text is told only where the one key that it sets is wrong, and not at
    all below `env`, `engine_args` and `extra_config`.
    """
    environment = Environment({}, None, [])
    for source in sources:
        # A whole section first, so that a single key goes over it.
        for variable in sorted(source, key=lambda variable: (len(variable.parts), variable.name)):
            if variable.name.upper() == FILE_VARIABLE:
                environment = environment._replace(file=variable.text)
            elif (target := _target(model, variable.parts)) is None:
                environment.findings.append(_unknown(variable, model))
            elif _is_mapping(target):
                _read_mapping(environment, variable, target)
            else:
                value = _converted(variable.text, target.annotations)
                shown = "" if is_private(target.path) else f"={one_line(variable.text)}"
                environment.overrides[target.path] = Override(value, variable.origin + shown)
    return environment


def variable_for(path: Path) -> str:
    """The name of the variable that sets a key."""
    *outer, key = map(str, path)
    is_kept = "env" in outer
    return PREFIX + DELIMITER.join([*map(str.upper, outer), key if is_kept else key.upper().replace("-", "_")])


class _Target(NamedTuple):
    """The key that a variable's name leads to."""

    path: Path
    annotations: Sequence[Any]
    """What it may hold; several where the kinds of connector differ."""

    @property
    def kinds(self) -> list[Any]:
        """The same without unions."""
        return [kind for annotation in self.annotations for kind in (annotation, *get_args(annotation))]


def _target(model: type[BaseModel], parts: Sequence[str]) -> _Target | None:
    """The key that a name leads to; None where it leads to none."""
    target = _Target((), [model])
    for count, part in enumerate(parts):
        if any(get_origin(kind) is dict for kind in target.kinds):
            key = DELIMITER.join(parts[count:])
            return _Target((*target.path, _spelled(target.path[-1], key)), [Any]) if key else None
        fields = [section.model_fields.get(part.lower()) for section in _sections(target)]
        target = _Target(
            (*target.path, part.lower()), [field.annotation for field in fields if field and not field.alias]
        )
        if not target.annotations:
            return None
    return target


def _spelled(mapping: str | int, key: str) -> str:
    """A key below a mapping, as the engine spells what it holds."""
    if mapping == "env":
        return key
    return key.lower().replace("_", "-") if mapping == "engine_args" else key.lower()


def _sections(target: _Target) -> list[type[BaseModel]]:
    return [kind for kind in target.kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]


def _is_mapping(target: _Target) -> bool:
    return bool(_sections(target)) or any(get_origin(kind) is dict for kind in target.kinds)


def _read_mapping(environment: Environment, variable: Variable, target: _Target) -> None:
    """Add what a JSON object says, each key with the variable's name only: others beside it may be secrets."""
    from pdtopology.formats import json_text

    try:
        [value] = json_text.read(variable.text)
    except Fault as fault:
        environment.findings.append(_no_object(variable, target.path, fault))
        return
    if isinstance(value, dict):
        environment.overrides.update(
            (path, Override(inner, variable.origin)) for path, inner in leaves(target.path, value)
        )
    else:
        environment.findings.append(_no_object(variable, target.path, None))


def _converted(text: str, annotations: Sequence[Any]) -> Any:
    """The text as the number, truth value or other scalar that a key may hold; as it is where it is none of them."""
    members = [getattr(kind, "__origin__", kind) for annotation in annotations for kind in get_args(annotation)]
    # A number out of a key's bounds is a number nevertheless.
    kinds = [*annotations, *(kind for kind in members if kind in (int, bool))]
    found = (_parsed(text, kind) for kind in kinds)
    return next((value for value in found if value is not None), text)


def _parsed(text: str, kind: Any) -> Any:
    try:
        return TypeAdapter(kind).validate_strings(text)
    except ValidationError:
        return None


def _unknown(variable: Variable, model: type[BaseModel]) -> Diagnostic:
    from pdtopology.diagnostic import Diagnostic

    return Diagnostic(
        code="unknown-variable",
        severity=Severity.ERROR,
        path=variable.name,
        message=f"unknown variable {variable.name}",
        hint=_meant(variable, model),
        origin=variable.place,
        loc=(variable.name,),
    )


def _meant(variable: Variable, model: type[BaseModel]) -> str:
    """The names that an unknown one may have been meant to be, or else how names are made."""
    from difflib import get_close_matches

    from pdtopology.suggestions import suggested_paths

    words = variable.name[len(PREFIX) :].strip("_")
    names = [variable_for(path) for path in suggested_paths(words)]
    known = [name for name in names if _target(model, Variable(name, "").parts)]
    if not known and get_close_matches(words.upper(), ["FILE"]):
        known = [FILE_VARIABLE]
    if known:
        return f"did you mean {' or '.join(known)}?"
    example = variable_for(("decode", "tensor_parallel_size"))
    return f"a name is {PREFIX}, a section and its key, with two underscores between them: {example}"


_EXAMPLES: Mapping[str, tuple[str, Any]] = {
    "engine": ("version", "0.33"),
    "model": ("total_num_kv_heads", 8),
    "connector": ("kind", "nixl"),
    "prefill": ("tensor_parallel_size", 8),
    "decode": ("tensor_parallel_size", 8),
    "connector.prefill": ("kv_role", "kv_producer"),
    "connector.decode": ("kv_role", "kv_consumer"),
    "env": ("NCCL_DEBUG", "INFO"),
    "engine_args": ("max-model-len", 8192),
    "extra_config": ("mooncake_protocol", "rdma"),
}


def _no_object(variable: Variable, path: Path, fault: Fault | None) -> Diagnostic:
    """What is wrong with a text that must be a JSON object, without any of it."""
    from pdtopology.diagnostic import Diagnostic

    name = dotted(path)
    key, value = _EXAMPLES.get(name) or _EXAMPLES.get(str(path[-1]), ("key", "value"))
    found = fault.message if fault else "JSON of another kind"
    code, hint = "dict_type", f"a key by itself is set as {variable_for((*path, key))}"
    message = f"{name} must be a JSON object such as '{json.dumps({key: value})}', but is {found}"
    if fault and fault.code != "syntax-error":
        code, message, hint = fault.code, f"{name}: {fault.message}", fault.hint or ""
    return Diagnostic(code, Severity.ERROR, name, message, hint or None, origin=variable.origin, loc=path)
