"""Findings as text for people and as JSON for programs."""

from pdtopology.rendering.json import render_json
from pdtopology.rendering.text import render_text

__all__ = ["render_json", "render_text"]
