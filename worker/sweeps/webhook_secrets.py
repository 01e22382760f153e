"""The secrets that sign calls of webhooks: in the database only as what a key in a file of its own can read."""

import os
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from db.engine import Database
from db.repositories import sweeps
from worker.errors import ServiceError

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class SecretError(ServiceError):
    """A secret can not be read with the key of this machine."""


class WebhookSecrets:
    """Seals and opens secrets with the key in `file`, which is made with the first secret, for its owner alone."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def seal(self, secret: str) -> str:
        """The secret as the database keeps it."""
        return self._fernet(make=True).encrypt(secret.encode()).decode()

    def open(self, sealed: str) -> str:
        """The secret. Raises SecretError where the key is absent, or another one than it was sealed with."""
        from cryptography.fernet import InvalidToken  # noqa: PLC0415 - a twentieth of a second that few need

        try:
            return self._fernet(make=False).decrypt(sealed.encode()).decode()
        except (OSError, ValueError, InvalidToken) as error:
            why = "is absent" if isinstance(error, FileNotFoundError) else "is not the one that it was stored with"
            raise SecretError(
                f"the webhook's secret can not be read: its key {self._file} {why}. Put the key there, or set the "
                "secret again (PATCH /v1/sweeps/NAME with webhook_secret)"
            ) from error

    def problem(self, sealed: str | None) -> str | None:
        """Why a secret can not be read; None where it can, and where there is none."""
        if sealed is None:
            return None
        try:
            self.open(sealed)
        except SecretError as error:
            return str(error)
        return None

    def unread(self, database: Database) -> Iterator[tuple[str, str]]:
        """Names of sweeps whose secrets can not be read, and why."""
        with database.read() as session:
            for name, sealed in sweeps.sealed(session):
                if problem := self.problem(sealed):
                    yield name, problem

    def _fernet(self, *, make: bool) -> "Fernet":
        from cryptography.fernet import Fernet  # noqa: PLC0415

        if make and not self._file.exists():
            self._make(Fernet.generate_key())
        return Fernet(self._file.read_bytes().strip())

    def _make(self, key: bytes) -> None:
        """Put the key there, whole and at once; of two that do so one's stays."""
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = self._file.with_name(f"{self._file.name}.{token_hex(4)}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(key + b"\n")
                file.flush()
                os.fsync(file.fileno())
            os.link(temporary, self._file)
        except FileExistsError:
            pass
        finally:
            temporary.unlink()
