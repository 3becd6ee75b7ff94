"""Which role is local and which remote, by NIXL's mode."""

from __future__ import annotations

from typing import Any, NamedTuple

from pdtopology.constraints import Expression, Key
from pdtopology.keys import NIXL_MODE
from pdtopology.rule import ROLES


class Side(NamedTuple):
    """The role that transfers, which vLLM's code calls local, and the other, in one mode."""

    mode: str
    local: str
    remote: str

    @property
    def is_meant(self) -> Expression:
        """Whether a document is of this mode."""
        return NIXL_MODE.is_(self.mode)

    @property
    def connector(self) -> dict[str, Any]:
        """The connector section of this mode."""
        return {"kind": "nixl", "mode": self.mode}

    def roles(self, local: dict[str, Any], remote: dict[str, Any]) -> dict[str, Any]:
        """The sections of the two roles."""
        return {name: local if name == self.local else remote for name in ROLES}

    def pair(self, key: Key) -> tuple[Key, Key]:
        """The local role's key and the remote one's."""
        return key.for_role(self.local), key.for_role(self.remote)


SIDES = (Side("pull", local="decode", remote="prefill"), Side("push", local="prefill", remote="decode"))
