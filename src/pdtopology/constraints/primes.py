"""The prime numbers by which JSON Schema tells sizes apart."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations

MAX_RELATED_SIZE = 1024
"""No size that is related to another exceeds it."""
FIRST_LARGE_PRIME = 37
"""A size has at most one prime factor of at least this."""
CLASSES = 10
_CLASSES_OF_A_PRIME = 4


@lru_cache
def prime_powers(bound: int, primes_below: int) -> tuple[int, ...]:
    """The powers, up to the bound, of the primes below another, ascending."""
    primes = _primes(2, min(bound + 1, primes_below))
    return tuple(sorted(power for prime in primes for power in _powers(prime, bound)))


@lru_cache
def large_primes_of_class(number: int) -> list[int]:
    """The large primes of one class; each prime is in as many classes, no two in the same ones."""
    choices = combinations(range(CLASSES), _CLASSES_OF_A_PRIME)
    primes = _primes(FIRST_LARGE_PRIME, MAX_RELATED_SIZE + 1)
    return [prime for prime, classes in zip(primes, choices, strict=False) if number in classes]


def _primes(first: int, stop: int) -> Iterator[int]:
    for number in range(first, stop):
        if all(number % divisor for divisor in range(2, int(number**0.5) + 1)):
            yield number


def _powers(prime: int, bound: int) -> Iterator[int]:
    power = prime
    while power <= bound:
        yield power
        power *= prime
