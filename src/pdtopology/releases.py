"""vLLM releases: which ones the rules were read from, and how a version string is placed among them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TypeAlias

Release: TypeAlias = tuple[int, int]
"""A release series, `(0, 33)` for every 0.33.x. Rules change with the series, never with a patch."""

KNOWN_RELEASES: tuple[Release, ...] = ((0, 26), (0, 28), (0, 30), (0, 32), (0, 33))
"""The releases whose source the rules were read from, oldest first."""

OLDEST, NEWEST = KNOWN_RELEASES[0], KNOWN_RELEASES[-1]

# PEP 440 as far as engines use it: 0.33, v0.33.0, 0.33.0rc1, 0.33.1.dev7+g1a2b3c4, 0.33.0.post1+cu129.
VERSION_PATTERN = (
    r"^v?(0|[1-9][0-9]{0,5})(\.(0|[1-9][0-9]{0,5}))+"
    r"((a|b|rc)[0-9]+)?(\.post[0-9]+)?(\.dev[0-9]+)?(\+[0-9A-Za-z.]+)?$"
)

# Between two releases: 0.32.1.dev350 comes after 0.32.0 and may be all but 0.33, and 0.1.dev1 saw no tag at all.
DEVELOPMENT_PATTERN = r"\.dev[0-9]"
DEVELOPMENT_RELEASE: Release = (1_000_000, 0)


@lru_cache(maxsize=64)
def release_of(version: str) -> Release:
    """The release series of a version that matches `VERSION_PATTERN`; a development build is newer than all."""
    if re.search(DEVELOPMENT_PATTERN, version):
        return DEVELOPMENT_RELEASE
    major, minor = re.findall(r"[0-9]+", version)[:2]
    return int(major), int(minor)


def nearest_known(release: Release) -> Release:
    """The newest known release that is not after this one; the oldest where there is none."""
    return max((known for known in KNOWN_RELEASES if known <= release), default=OLDEST)


def before_pattern(release: Release) -> str:
    """A regular expression that fits the versions below a release, development builds included.

    The numbers are spelled out and nothing looks ahead, so that every engine of JSON Schema agrees.
    """
    major, minor = release
    series = []
    if major:
        series.append(rf"({_numbers_below(major)})\.[0-9]+")
    if minor:
        series.append(rf"{major}\.({_numbers_below(minor)})")
    return rf"^v?({'|'.join(series)})([^0-9].*)?$"


def release_name(release: Release) -> str:
    """`(0, 33)` as people write it: `0.33`."""
    return f"{release[0]}.{release[1]}"


def _numbers_below(number: int) -> str:
    return "|".join(map(str, range(number)))
