"""The constraint language over document keys, and its compilers to Python, JSON Schema and prose."""

from pdtopology.constraints.expressions import (
    ALWAYS,
    AllOf,
    AnyOf,
    AtLeast,
    Before,
    Constraint,
    Divides,
    Expression,
    Is,
    IsSet,
    Key,
    Not,
    Same,
    divides,
    one_divides_other,
    same,
)
from pdtopology.constraints.json_schema import InexactError, compile_to_json_schema
from pdtopology.constraints.prose import compile_to_prose
from pdtopology.constraints.python import compile_to_python

__all__ = [
    "ALWAYS",
    "AllOf",
    "AnyOf",
    "AtLeast",
    "Before",
    "Constraint",
    "Divides",
    "Expression",
    "InexactError",
    "Is",
    "IsSet",
    "Key",
    "Not",
    "Same",
    "compile_to_json_schema",
    "compile_to_prose",
    "compile_to_python",
    "divides",
    "one_divides_other",
    "same",
]
