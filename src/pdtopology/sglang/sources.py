"""Where SGLang 0.5.23 enforces its rules."""

from __future__ import annotations

from pdtopology.rule import Upstream

CONNECTION = "sglang/srt/disaggregation/common/conn.py"
PARALLEL_INFO = Upstream(CONNECTION, "CommonKVManager.try_ensure_parallel_info")
RESOLVE = Upstream(CONNECTION, "CommonKVManager._resolve_rank_mapping")

SGLANG = {"name": "sglang"}
"""The engine section of the rules' bad examples."""
