"""The constraint language over document keys, and its compilers to Python, JSON Schema and prose.

Only the language and the Python compiler load with the package; `json_schema` and `prose` are imported where used.
"""

from pdtopology.constraints.constraint import Constraint
from pdtopology.constraints.expressions import (
    ALWAYS,
    Expression,
    Key,
    agree,
    at_least,
    divides,
    one_divides_other,
    same,
)
from pdtopology.constraints.python import compile_to_python

__all__ = [
    "ALWAYS",
    "Constraint",
    "Expression",
    "Key",
    "agree",
    "at_least",
    "compile_to_python",
    "divides",
    "one_divides_other",
    "same",
]
