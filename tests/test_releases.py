"""Version strings and their place among the releases."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdtopology.releases import DEVELOPMENT_PATTERN, VERSION_PATTERN, before_pattern, release_name, release_of

VERSIONS = st.from_regex(VERSION_PATTERN, fullmatch=True)


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("0.33", (0, 33)),
        ("v0.33.0", (0, 33)),
        ("0.33.0rc1", (0, 33)),
        ("0.9.0.post1+cu129", (0, 9)),
        ("1.0", (1, 0)),
    ],
)
def test_a_version_is_of_its_series(version: str, release: tuple[int, int]) -> None:
    assert re.match(VERSION_PATTERN, version)
    assert release_of(version) == release


@pytest.mark.parametrize("version", ["", "latest", "0", "33", "0.33.", "0.33-1", "00.33", "0.033", " 0.33", "0.33 "])
def test_other_text_is_no_version(version: str) -> None:
    assert not re.match(VERSION_PATTERN, version)


@pytest.mark.parametrize("version", ["0.1.dev1+g51f799c1a", "0.32.1.dev350+gabcdef1", "0.32.1rc1.dev40"])
def test_a_development_build_is_newer_than_every_release(version: str) -> None:
    assert release_of(version) > release_of("99.99")


@given(VERSIONS, st.sampled_from([(0, 33), (0, 28), (0, 1), (1, 0), (2, 3)]))
def test_the_pattern_of_older_versions_fits_exactly_those(version: str, release: tuple[int, int]) -> None:
    version = version.strip()
    fits = bool(re.search(before_pattern(release), version)) and not re.search(DEVELOPMENT_PATTERN, version)
    assert fits is (release_of(version) < release)


def test_a_release_is_named_as_people_write_it() -> None:
    assert release_name((0, 33)) == "0.33"
