"""What is said of a pair of roles, and whether the model takes it."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from pdtopology import PDTopology, check
from pdtopology.geometry.heads import is_whole_share

GQA = {"num_attention_heads": 64, "total_num_kv_heads": 8}
MLA = {"is_mla": True}


def told(document: Any) -> list[str]:
    """The codes of the findings about a document."""
    return [finding.code for finding in check(document)]


def is_accepted(document: Any) -> bool:
    """Whether the model takes a document."""
    try:
        PDTopology.model_validate(document)
    except ValidationError:
        return False
    return True


def holds_its_heads(total_num_kv_heads: int, is_mla: bool, *tp_sizes: int) -> bool:
    """Whether a model can be built whose ranks hold whole KV heads, or copies of one."""
    return is_mla or all(is_whole_share(size, total_num_kv_heads) for size in tp_sizes)
