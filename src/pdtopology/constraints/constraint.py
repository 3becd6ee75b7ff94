"""A demand and the documents it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pdtopology.constraints.expressions import AnyOf, Computed, Divides, Expression, Key, conjuncts, keys, needed_keys


@dataclass(frozen=True, eq=False)
class Constraint:
    """What a document must satisfy, and when; where a needed key is absent, nothing is demanded."""

    when: Expression
    require: Expression

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """Every key it reads, once, in order."""
        return tuple(dict.fromkeys((*keys(self.when), *keys(self.require))))

    @cached_property
    def compared_keys(self) -> tuple[Key, ...]:
        """Those of them whose values it compares itself, and leaves to no function."""
        parts = (self.when,) if isinstance(self.require, Computed) else (self.when, self.require)
        return tuple(dict.fromkeys(key for part in parts for key in keys(part)))

    @cached_property
    def needed_keys(self) -> tuple[Key, ...]:
        """The optional keys whose absence silences it."""
        return tuple(dict.fromkeys((*needed_keys(self.when), *needed_keys(self.require))))

    def only_where(self, condition: Expression) -> Constraint:
        """The same demand, made of fewer documents."""
        return Constraint(self.when & condition, self.require)

    def related_pairs(self) -> frozenset[frozenset[Key]]:
        """The pairs of sizes of which it makes one a multiple of the other, wherever it applies."""
        pairs = set()
        for part in conjuncts(self.require):
            match part:
                case Divides(Key() as left, right):
                    pairs.add(frozenset((left, right)))
                case AnyOf((Divides(Key() as left, right), Divides(other_left, other_right))) if (
                    left == other_right and right == other_left
                ):
                    pairs.add(frozenset((left, right)))
        return frozenset(pairs)

    def applies_wherever(self, other: Constraint) -> bool:
        """Whether each condition of this one is also a condition of the other, or a key that it needs."""
        return set(conjuncts(self.when)) <= set(conjuncts(other.when)) and set(self.needed_keys) <= set(
            other.needed_keys
        )
