"""A rule: one thing a topology must satisfy, and everything anyone asks about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

from pdtopology.constraints import ALWAYS, Constraint, Expression, Key
from pdtopology.constraints.expressions import for_role
from pdtopology.keys import CONNECTOR_KIND, ENGINE_VERSION
from pdtopology.releases import OLDEST, Release

ROLES = ("prefill", "decode")


class Stage(Enum):
    """When the engine itself says that a rule is broken."""

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
    """Where vLLM enforces the rule or breaks without it."""

    file: str
    """Path inside its source tree."""
    function: str
    since: Release = OLDEST
    """The first release in which it was seen."""

    def __str__(self) -> str:
        return f"{self.file}, {self.function}"


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
    raised: Stage | None = None
    """When the engine tells; None for a rule about the document itself."""
    source: Upstream | None = None
    """Where upstream; None for a rule about the document itself."""
    see: tuple[Key, ...] = ()
    """The keys it disagrees with."""
    connector: str | None = None
    """The connector `kind` it belongs to; None for every one."""
    when: Expression = ALWAYS
    """The documents it applies to."""
    after: tuple[str, ...] = ()
    """Codes of rules whose violation silences this one, so that one mistake gives one message."""
    until: Release | None = None
    """The first release that no longer needs the rule."""
    severity: Severity = Severity.ERROR

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The rule made concrete: once, or once for each role."""
        read = Constraint(self.when, self.require).keys
        if any(key.parts[0] == "role" for key in (self.at, *self.see, *read)):
            return tuple(Clause(self, role) for role in ROLES)
        return (Clause(self),)


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
        names = {key.name: f"{{{key.for_role(self.role).name}}}" for key in self._stated.keys}
        return self.rule.message.format(role=self.role, **names)

    @cached_property
    def constraint(self) -> Constraint:
        """What must hold in whichever release still needs the rule."""
        return Constraint(for_role(self._stated.when, self.role), for_role(self._stated.require, self.role))

    @cached_property
    def refused(self) -> Constraint | None:
        """The constraint whose violation is an error, if any is."""
        if self.rule.severity is not Severity.ERROR:
            return None
        if self.rule.until is None:
            return self.constraint
        return self.constraint.only_where(ENGINE_VERSION.before(self.rule.until))

    @cached_property
    def refused_by_schema(self) -> Constraint | None:
        """The same among documents of every connector, which a schema cannot tell apart beforehand."""
        if self.refused and self.rule.connector:
            return self.refused.only_where(CONNECTOR_KIND.is_(self.rule.connector))
        return self.refused

    @cached_property
    def warned(self) -> Constraint | None:
        """The constraint whose violation is a warning.

        It is one too where only releases before the newest refuse, and the document states no release.
        """
        if self.rule.severity is not Severity.ERROR:
            return self.constraint
        if self.rule.until is None:
            return None
        return self.constraint.only_where(~ENGINE_VERSION.is_set)

    def is_silenced_by(self, other: Clause) -> bool:
        """Whether the other's violation makes this one's a second message about one mistake."""
        same_place = not self.role or not other.role or self.role == other.role
        return other.rule.code in self.rule.after and same_place

    def related_pairs(self, clauses: Iterable[Clause]) -> frozenset[frozenset[Key]]:
        """The pairs of which one size is a multiple of the other, unless one of the clauses refuses the document."""
        pairs: frozenset[frozenset[Key]] = frozenset()
        for clause in clauses:
            stronger = clause.refused
            if self.is_silenced_by(clause) and stronger and stronger.applies_wherever(self.constraint):
                pairs |= stronger.related_pairs()
        return pairs

    @property
    def _stated(self) -> Constraint:
        return Constraint(self.rule.when, self.rule.require)
