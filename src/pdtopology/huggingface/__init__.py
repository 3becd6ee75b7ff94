"""The attention geometry of a model from its Hugging Face config.json, as vLLM derives it, without transformers."""

from pdtopology.huggingface.config_file import find_config, read_config
from pdtopology.huggingface.geometry import HuggingFaceGeometry, geometry_of
from pdtopology.huggingface.part import ConfigError, Derived, UnknownGeometryError

__all__ = [
    "ConfigError",
    "Derived",
    "HuggingFaceGeometry",
    "UnknownGeometryError",
    "find_config",
    "geometry_of",
    "read_config",
]
