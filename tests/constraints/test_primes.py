"""Large primes are told apart by their classes."""

from __future__ import annotations

from pdtopology.constraints.primes import (
    CLASSES,
    FIRST_LARGE_PRIME,
    MAX_RELATED_SIZE,
    large_primes_of_class,
    prime_powers,
)

CLASSES_OF = {
    prime: {number for number in range(CLASSES) if prime in large_primes_of_class(number)}
    for prime in prime_powers(MAX_RELATED_SIZE, MAX_RELATED_SIZE + 1)
    if all(prime % divisor for divisor in range(2, prime))
}


def test_the_prime_powers_are_those_of_the_smaller_primes_up_to_the_bound() -> None:
    assert prime_powers(30, 6) == (2, 3, 4, 5, 8, 9, 16, 25, 27)


def test_no_size_has_two_large_prime_factors() -> None:
    assert FIRST_LARGE_PRIME**2 > MAX_RELATED_SIZE


def test_the_classes_of_a_large_prime_are_no_part_of_those_of_another() -> None:
    large = {prime: classes for prime, classes in CLASSES_OF.items() if prime >= FIRST_LARGE_PRIME}
    assert len(large) == 161
    assert [(one, other) for one in large for other in large if one != other and large[one] <= large[other]] == []


def test_a_small_prime_is_in_no_class() -> None:
    assert {prime for prime, classes in CLASSES_OF.items() if not classes} == {
        prime for prime in CLASSES_OF if prime < FIRST_LARGE_PRIME
    }
