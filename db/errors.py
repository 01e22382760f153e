"""Errors of the database layer: one root, each carries its data."""


class DatabaseError(Exception):
    """Root of what the repositories raise on purpose."""


class NotFoundError(DatabaseError):
    """No row of `kind` answers to `key`; `hint` says what there is."""

    def __init__(self, kind: str, key: str, hint: str = "") -> None:
        super().__init__(f"there is no {kind} {key!r}" + (f"; {hint}" if hint else ""))
        self.kind = kind
        self.key = key


class ConflictError(DatabaseError):
    """The request contradicts what is stored."""


class InvalidNameError(DatabaseError):
    """A name that could be taken for something else, or holds what no name may."""


class LeaseLostError(DatabaseError):
    """The writer's lease was taken over, cancelled or released: it must stop and write nothing more."""

    def __init__(self, kind: str, key: str, token: int) -> None:
        super().__init__(
            f"lease {token} on {kind} {key} is no longer held; its work was cancelled or given to another worker"
        )
        self.kind = kind
        self.key = key
        self.token = token
