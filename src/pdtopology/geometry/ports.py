"""The ports that MoRIIO's ranks bind and dial, and how data-parallel ranks are counted on one host."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from pdtopology.geometry.heads import GeometryError, has_positive_geometry


def port_offset(dp_rank: int, tp_rank: int, tp_size: int = 1) -> int:
    """What a rank adds to a MoRIIO base port: `dp_rank * tp_size + tp_rank`. vLLM `get_port_offset`.

    vLLM binds with the default `tp_size` of 1 and dials with the real one, so with several data-parallel
    ranks and a TP size above 1 on one host, ranks collide or are dialled where nobody listens.

    Raises `GeometryError` for a `tp_size` that is not positive.
    """
    if not has_positive_geometry(tp_size):
        raise GeometryError(f"invalid geometry: tp={tp_size} rank={tp_rank} dp_rank={dp_rank}")
    return dp_rank * tp_size + tp_rank


class PortUse(NamedTuple):
    """How many ranks share one host, how many ports they bind, and how many are dialled at another port than theirs.

    With fewer ports than ranks, some ranks find theirs in use.
    """

    num_ranks: int
    num_ports: int
    num_misdialled: int


def port_use(dp_size_local: int, tp_size: int) -> PortUse:
    """How the ranks of one host use the ports above a MoRIIO base port; see `port_offset` for why they collide.

    Raises `GeometryError` for a size that is not positive.
    """
    if not has_positive_geometry(dp_size_local, tp_size):
        raise GeometryError(f"invalid geometry: tp={tp_size} dp={dp_size_local}")
    ranks = list(product(range(dp_size_local), range(tp_size)))
    bound = [port_offset(dp_rank, tp_rank) for dp_rank, tp_rank in ranks]
    dialled = [port_offset(dp_rank, tp_rank, tp_size) for dp_rank, tp_rank in ranks]
    misdialled = sum(bind != dial for bind, dial in zip(bound, dialled, strict=True))
    return PortUse(len(ranks), len(set(bound)), misdialled)


def fold_local_rank(dp_rank: int, dp_size_local: int) -> int:
    """A data-parallel rank counted from the first on its host; unchanged if 0 ranks a host says that all share one.

    vLLM `fold_local_rank` in moriio_common.py.
    """
    return dp_rank % dp_size_local if dp_size_local > 0 else dp_rank


def pod_index(dp_rank: int, dp_size_local: int) -> int:
    """Which host a data-parallel rank is on, counted from 0; the first if 0 ranks a host says that all share one.

    vLLM `pod_index` in moriio_common.py.
    """
    return dp_rank // dp_size_local if dp_size_local > 0 else 0
