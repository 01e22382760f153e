"""Who asks, and what that one may do."""

from dataclasses import dataclass, field
from typing import Any, Literal

from api.errors import ForbiddenError
from db.models import Role

Least = Literal[Role, "any", "open"]
"""The least role that a route asks for: "any" key will do, "open" needs none."""

_ENOUGH: dict[Least, frozenset[Role]] = {
    "viewer": frozenset({"viewer", "user", "admin"}),
    "user": frozenset({"user", "admin"}),
    "node": frozenset({"node", "admin"}),
    "admin": frozenset({"admin"}),
    "any": frozenset({"viewer", "user", "node", "admin"}),
}


@dataclass(frozen=True, slots=True)
class Principal:
    """Whose request it is: the name and role of a key and its quotas, and the address that it came from.

    Where the service asks for no key everybody is the admin without a name.
    """

    name: str | None
    role: Role
    address: str
    quotas: dict[str, Any] = field(default_factory=dict[str, Any])

    def may(self, least: Least) -> bool:
        """Whether the role is enough."""
        return least == "open" or self.role in _ENOUGH[least]

    def owns(self, owner: str | None) -> bool:
        """Whether a thing of `owner` is this one's, or this is an admin, whose all things are."""
        return self.role == "admin" or (self.name is not None and owner == self.name)

    def require_owner(self, owner: str | None, what: str) -> None:
        """Raise ForbiddenError unless `what`, a thing of `owner`, is this one's."""
        if self.owns(owner):
            return
        whose = f"belongs to {owner}" if owner else "belongs to nobody who has a key"
        raise ForbiddenError(f"{what} {whose}; ask that person, or an admin")
