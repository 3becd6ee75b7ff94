"""Mooncake: whether each decode rank ends up with its KV heads, which the prefill ranks always send."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pdtopology.geometry.heads import kv_heads_on_rank
from pdtopology.geometry.transfer_topology import tp_ratio


class MooncakeVerdict(NamedTuple):
    """What becomes of a transfer, and why: `reject` fails each request, `wrong` serves heads that nobody wrote."""

    outcome: Literal["ok", "reject", "wrong"]
    reason: str


def mooncake_verdict(
    producer_tp_size: int, consumer_tp_size: int, total_num_kv_heads: int, is_mla: bool, head_aware: bool
) -> MooncakeVerdict:
    """Whether Mooncake can serve a pair of sizes; `head_aware` says whether its plan knows the KV heads.

    It does since vLLM 0.30. The older plan copies as if ranks beyond the KV heads split them further. It rejects a
    consumer that replicates the heads of a producer that does not, since the lengths of their blocks differ. Of a
    group of producer ranks with replicated heads it lets only the first send, so a consumer that holds several heads
    a rank gets one of them. vLLM `_compute_sender_transfer_plan` and `_validate_asymmetric_region_lengths` in
    mooncake_connector.py.

    Raises `GeometryError` as `tp_ratio` does and, unless `is_mla`, as `kv_heads_on_rank` does for either size.
    """
    tp_ratio(producer_tp_size, consumer_tp_size)
    if is_mla:
        return MooncakeVerdict("ok", "every rank holds the one latent")
    kv_heads_on_rank(0, producer_tp_size, total_num_kv_heads)
    needed = list(kv_heads_on_rank(0, consumer_tp_size, total_num_kv_heads))
    if head_aware:
        return MooncakeVerdict("ok", "the plan knows the KV heads of each rank")
    if producer_tp_size <= total_num_kv_heads < consumer_tp_size:
        return MooncakeVerdict("reject", "Mooncake source KV region length does not match the consumer TP ratio")
    if consumer_tp_size < total_num_kv_heads < producer_tp_size:
        got = [needed[0], *[None] * (len(needed) - 1)]
        return MooncakeVerdict("wrong", f"decode rank 0 needs KV heads {needed} and gets {got}")
    return MooncakeVerdict("ok", "both sizes shard the KV heads, or both replicate them")
