"""A rule: one thing a topology must satisfy, and everything anyone asks about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

from pdtopology.constraints import ALWAYS, Constraint, Expression, Key
from pdtopology.constraints.expressions import for_role
from pdtopology.keys import CONNECTOR_KIND, ENGINE_NAME, ENGINE_VERSION
from pdtopology.releases import OLDEST, Release

ROLES = ("prefill", "decode")


class Stage(Enum):
    """When the engine itself says that a rule is broken."""

    FILE = "It is about this file: the engine reads the same from elsewhere."
    PARSE = "The engine says so when it parses its arguments."
    START = "The engine says so while it builds the model, before it loads the weights."
    FIRST_REQUEST = "The engine says so only at the first request."
    NEVER = "The engine never says so: it hangs or serves wrong text."


class Severity(str, Enum):
    """How sure the verdict is: an error is refused, a warning is said, undetermined could not be told."""

    ERROR = "error"
    WARNING = "warning"
    UNDETERMINED = "undetermined"


class Upstream(NamedTuple):
    """Where the engine enforces the rule or breaks without it."""

    file: str
    """Path inside its source tree."""
    function: str

    def __str__(self) -> str:
        return f"{self.file}, {self.function}"


class Found(NamedTuple):
    """What a function found that breaks a rule: where, what it disagrees with, and the values by name."""

    at: Key
    see: tuple[Key, ...]
    values: Mapping[str, Any]


class Rule(NamedTuple):
    """One thing a topology must satisfy.

    A rule over keys of either role (`role.tensor_parallel_size`) is checked for both roles.
    In its texts `{tp}`, `{kv_heads}` and so on stand for the keys of those names and `{role}` for the role.
    """

    code: str
    """Stable and in kebab-case; the `type` of the pydantic error."""
    title: str
    """The finding's headline."""
    at: Key
    """Where it is reported."""
    require: Expression
    """What must hold."""
    message: str
    why: str
    """What goes wrong at run time."""
    fix: str
    """What to do, in one sentence."""
    bad: Mapping[str, Any]
    """The smallest document that breaks this rule and no other."""
    raised: Stage
    """When the engine tells."""
    source: Upstream
    """Where upstream."""
    see: tuple[Key, ...] = ()
    """The keys it disagrees with."""
    engine: str | None = "vllm"
    """The engine it belongs to; None for every one."""
    connectors: tuple[str, ...] = ()
    """The connector kinds it belongs to; without any, every one."""
    when: Expression = ALWAYS
    """The documents it applies to."""
    after: tuple[str, ...] = ()
    """Codes of rules whose violation silences this one, so that one mistake gives one message."""
    since: Release = OLDEST
    """The first vLLM release in which it was seen."""
    until: Release | None = None
    """The first vLLM release that no longer needs the rule."""
    severity: Severity = Severity.ERROR
    beyond_schema: str = ""
    """Why the JSON Schema cannot hold an error's rule, where it cannot: what relates three sizes, adds or computes."""

    @property
    def scope(self) -> Expression:
        """The documents whose engine and connector it is about."""
        scope = ALWAYS
        if self.engine:
            scope &= ENGINE_NAME.is_(self.engine)
        if self.connectors:
            scope &= CONNECTOR_KIND.is_(*self.connectors)
        return scope

    def is_about(self, engine: str, connector: str) -> bool:
        """Whether it concerns topologies with this engine and this kind of connector."""
        return self.engine in (None, engine) and (not self.connectors or connector in self.connectors)

    def is_wider_than(self, other: Rule) -> bool:
        """Whether every engine and connector of the other rule is this one's too."""
        of_every_connector = not self.connectors
        return self.engine in (None, other.engine) and (
            of_every_connector or (other.connectors != () and {*other.connectors} <= {*self.connectors})
        )

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The rule made concrete: once, or once for each role."""
        read = Constraint(self.when, self.require).keys
        if any(key.is_of_either_role for key in (self.at, *self.see, *read)):
            return tuple(Clause(self, role) for role in ROLES)
        return (Clause(self),)


class _Kept(dict[str, str]):
    """Leaves the other names of a message for the values of a violation."""

    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


class Clause:
    """A rule at one place of the document: of one role, or of the pair."""

    def __init__(self, rule: Rule, role: str = "") -> None:
        self.rule = rule
        self.role = role
        self.name = f"{rule.code}-{role}" if role else rule.code

    @cached_property
    def at(self) -> Key:
        """Where it is reported."""
        return self.rule.at.for_role(self.role)

    @cached_property
    def see(self) -> tuple[Key, ...]:
        """The keys it disagrees with."""
        return tuple(key.for_role(self.role) for key in self.rule.see)

    @cached_property
    def message(self) -> str:
        """The message with `{name}` for the value of each key of this place."""
        read = (*self._stated.keys, self.rule.at, *self.rule.see)
        names = {key.name: f"{{{key.for_role(self.role).name}}}" for key in read}
        return self.rule.message.format_map(_Kept(names, role=self.role))

    @cached_property
    def constraint(self) -> Constraint:
        """What must hold in whichever release still needs the rule."""
        return Constraint(for_role(self._stated.when, self.role), for_role(self._stated.require, self.role))

    @cached_property
    def refused(self) -> Constraint | None:
        """The constraint whose violation is an error, if any is."""
        if self.rule.severity is not Severity.ERROR:
            return None
        return self.constraint.only_where(self._from_first_release & self._until_last_release)

    @cached_property
    def refused_by_schema(self) -> Constraint | None:
        """The same, unless the JSON Schema cannot hold it."""
        return None if self.rule.beyond_schema else self.refused

    @cached_property
    def warned(self) -> Constraint | None:
        """The constraint whose violation is no error.

        That is so too where only releases before the newest refuse, and the document states no release.
        """
        if self.rule.severity is not Severity.ERROR:
            releases = self._until_last_release
            if self.rule.until:
                releases = releases | ~ENGINE_VERSION.is_set
            return self.constraint.only_where(self._from_first_release & releases)
        if self.rule.until is None:
            return None
        return self.constraint.only_where(~ENGINE_VERSION.is_set)

    @property
    def _from_first_release(self) -> Expression:
        return ALWAYS if self.rule.since == OLDEST else ~ENGINE_VERSION.before(self.rule.since)

    @property
    def _until_last_release(self) -> Expression:
        return ENGINE_VERSION.before(self.rule.until) if self.rule.until else ALWAYS

    def is_silenced_by(self, other: Clause) -> bool:
        """Whether the other's violation makes this one's a second message about one mistake."""
        same_place = not self.role or not other.role or self.role == other.role
        return other.rule.code in self.rule.after and same_place and other is not self

    def related_pairs(self, clauses: Iterable[Clause]) -> frozenset[frozenset[Key]]:
        """The pairs of which one size is a multiple of the other, unless one of the clauses refuses the document."""
        pairs: frozenset[frozenset[Key]] = frozenset()
        for clause in clauses:
            stronger = clause.refused
            if (
                self.is_silenced_by(clause)
                and stronger
                and clause.rule.is_wider_than(self.rule)
                and stronger.applies_wherever(self.constraint)
            ):
                pairs |= stronger.related_pairs()
        return pairs

    @property
    def _stated(self) -> Constraint:
        return Constraint(self.rule.when, self.rule.require)
