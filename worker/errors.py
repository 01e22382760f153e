"""Errors of the service side: one root; each text says what to do."""


class ServiceError(Exception):
    """Root of what worker and supervisor raise on purpose."""


class SettingsError(ServiceError):
    """A `MILLRACE_*` variable has a value that can not be used."""


class StartError(ServiceError):
    """The services could not start, or are running already where one wanted to start them."""


class StoreError(ServiceError):
    """The artifact store can not do what was asked."""


class StoreAwayError(StoreError):
    """The store does not answer, or refuses us; what it holds is unharmed."""


class DiskFullError(StoreError):
    """There is no room for a file; what was stored before is unharmed."""


class CorruptArtifactError(StoreError):
    """The bytes of an artifact are not those that were stored."""


class UnsafePathError(StoreError):
    """An artifact's path would leave the design directory."""


class QuotaError(ServiceError):
    """A bound of a key is reached; the text says which, and how to get more."""


class BackupError(ServiceError):
    """A backup can not be made, read or restored."""


class JoinError(ServiceError):
    """This machine can not join the farm; each line says one reason."""
