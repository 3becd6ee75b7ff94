"""Strict validation, with what JSON and people leave out put in, and errors at the places of the document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from pdtopology.connectors.kinds import CONNECTORS, DEFAULT_CONNECTOR
from pdtopology.paths import Path, with_value
from pdtopology.roles import HAS_A_FIELD, HAS_A_FIELD_MESSAGE

_Validated = TypeVar("_Validated")

_KIND = ("connector", "kind")


def restated(validate: Callable[[Any], _Validated], document: Any, failure: ValidationError) -> _Validated:
    """What a strict validation that failed makes of the same document stated as it wants.

    JSON has one number type, so `4.0` is 4 where a size is wanted; and a connector without a kind is MoRIIO. Raises
    `ValidationError`.
    """
    for restate in (_with_connector_kind, _with_whole_numbers):
        changed = restate(document, failure)
        if changed is document:
            continue
        document = changed
        try:
            return validate(document)
        except ValidationError as error:
            failure = error
    raise _at_document_paths(failure) from None


def _with_connector_kind(document: Any, error: ValidationError) -> Any:
    is_absent = any(line["type"] == "union_tag_not_found" for line in error.errors(include_url=False))
    return with_value(document, _KIND, DEFAULT_CONNECTOR) if is_absent else document


def _with_whole_numbers(document: Any, error: ValidationError) -> Any:
    whole = {
        _document_path(line["loc"]): int(line["input"])
        for line in error.errors(include_url=False)
        if line["type"] == "int_type" and isinstance(line["input"], float) and line["input"].is_integer()
    }
    for path, number in whole.items():
        document = with_value(document, path, number)
    return document


def _at_document_paths(error: ValidationError) -> ValidationError:
    """The error with the places of the document, where pydantic adds the kind of connector or blames its section."""
    lines = error.errors(include_url=False)
    if all(_document_path(line["loc"]) == line["loc"] and line["type"] != "union_tag_invalid" for line in lines):
        return error
    return ValidationError.from_exception_data(error.title, [_at_document_path(line) for line in lines])


def _at_document_path(line: ErrorDetails) -> InitErrorDetails:
    context = line.get("ctx", {})
    if line["type"] == "union_tag_invalid":
        *others, last = map(repr, CONNECTORS)
        kinds = f"{', '.join(others)} or {last}"
        return InitErrorDetails(type="literal_error", loc=_KIND, input=line["input"]["kind"], ctx={"expected": kinds})
    is_own = line["type"] == HAS_A_FIELD
    error = PydanticCustomError(HAS_A_FIELD, HAS_A_FIELD_MESSAGE, context) if is_own else line["type"]
    return InitErrorDetails(type=error, loc=_document_path(line["loc"]), input=line["input"], ctx=context)


def _document_path(location: Path) -> Path:
    """A pydantic location as a path into the document, without the kind that pydantic puts after `connector`."""
    is_tagged = location[:1] == ("connector",) and location[1:2] != () and location[1] in CONNECTORS
    return (*location[:1], *location[2:]) if is_tagged else location
