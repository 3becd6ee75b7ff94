"""What every part of the document has in common."""

from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field

MAX_SIZE = 65_536
"""Bounds the sizes that no rule relates, so that every JSON Schema engine reads them as the same number."""

Size = Annotated[int, Field(gt=0, le=MAX_SIZE)]
"""A count of ranks, tokens or instances: at least 1."""

NonEmpty = Annotated[str, Field(min_length=1)]


class Section(BaseModel):
    """A part of the document: closed (no unknown keys), strict (`"4"` and `true` are not sizes) and frozen.

    Instances of sections are validated again where they are put into a topology, so `model_copy(update=...)`,
    which does not validate, cannot carry a bad value in.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        # The input of an error may be a whole section, with the secrets in its `env`.
        hide_input_in_errors=True,
        revalidate_instances="always",
        # Only the validator that is used is built: most of what importing pydantic models costs.
        defer_build=True,
    )


def sections_of(annotation: Any) -> list[type[Section]]:
    """The sections that a field of this annotation may hold."""
    kinds = (annotation, *get_args(annotation))
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Section)]
