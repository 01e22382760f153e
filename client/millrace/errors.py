"""Errors: one root, one class for each kind of problem that the service answers with (RFC 9457)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from millrace.wire import Build, FieldProblem

_PREFIX = "urn:millrace:problem:"


class Error(Exception):
    """Root of every error that this package raises on purpose. The text says what failed and what to do."""


class UsageError(Error, ValueError):
    """Something was asked for in a way that can not be: an address, a filter, a directory."""


class MissingExtraError(Error, ImportError):
    """A package is missing that only some people need; the text names the extra that brings it."""


class ServiceUnavailableError(Error):
    """No Millrace service answers; the text says how to start one."""


class OtherVersionError(Error):
    """An answer lacks what this version needs, or has it in another form: the service is of another one. It serves the
    client that matches it at /client/.
    """


class FailedError(Error):
    """An exploration or a build ended without what was asked for; the text has its reason."""


class BuildFailedError(FailedError):
    """A build ended without a result. `build` is what the service knows of it."""

    def __init__(self, text: str, build: Build) -> None:
        super().__init__(text)
        self.build = build


class ProblemError(Error):
    """The service refused a request. `status` is HTTP's, `kind` what kind of problem it is, `errors` the fields."""

    def __init__(self, status: int, kind: str, detail: str, errors: tuple[FieldProblem, ...] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.errors = errors


class BadRequestError(ProblemError):
    """The request can not be understood: a cursor, a body, a header."""


class BadPathError(ProblemError):
    """A path that no file of a design can have."""


class UnauthorizedError(ProblemError):
    """The service asks for a key, and got none that is valid: set MILLRACE_API_KEY."""


class ForbiddenError(ProblemError):
    """The key is valid, but its role, or whose work this is, does not allow it."""


class ForeignSiteError(ProblemError):
    """The service does not answer to the name by which it was called."""


class QuotaError(ProblemError):
    """A bound of the key is reached."""


class NotFoundError(ProblemError):
    """There is nothing of that id or name."""


class MethodNotAllowedError(ProblemError):
    """The service has the path, but not for this: it is of another version."""


class NotStoredError(ProblemError):
    """The artifact store does not have the file."""


class ConflictError(ProblemError):
    """The request contradicts what is stored."""


class NotReadyError(ProblemError):
    """What is asked for does not exist yet."""


class CanNotJoinError(ProblemError):
    """Machines can not join this farm."""


class ContentTooLargeError(ProblemError):
    """A body or an upload is larger than the service or the key's quota takes."""


class InvalidInputError(ProblemError):
    """Model, workload, platform or knobs are not acceptable."""


class UnsupportedError(ProblemError):
    """The network holds something that Millrace can not compile."""


class BadReportError(ProblemError):
    """A file is not the tool report that it should be."""


class RateLimitError(ProblemError):
    """Too many requests, and no turn within the time that this package waits for one."""


class BusyError(ProblemError):
    """Too many requests, or uploads, of everybody at once; come again."""


class InternalError(ProblemError):
    """A defect of the service; its log has the details."""


class TooSlowError(ProblemError):
    """The request came too slowly, and was not read to its end."""


class DatabaseDamagedError(ProblemError):
    """The file of the service's database is damaged; its operator restores a backup."""


class CorruptArtifactError(ProblemError):
    """The bytes of an artifact are not those that were stored."""


class DatabaseAwayError(ProblemError):
    """The service's database does not answer."""


class StoreAwayError(ProblemError):
    """The service's artifact store does not answer."""


class DiskFullError(ProblemError):
    """The service has no room left."""


PROBLEMS: dict[str, type[ProblemError]] = {
    "bad-request": BadRequestError,
    "bad-path": BadPathError,
    "unauthorized": UnauthorizedError,
    "forbidden": ForbiddenError,
    "foreign-site": ForeignSiteError,
    "quota": QuotaError,
    "not-found": NotFoundError,
    "method-not-allowed": MethodNotAllowedError,
    "not-stored": NotStoredError,
    "conflict": ConflictError,
    "not-ready": NotReadyError,
    "can-not-join": CanNotJoinError,
    "content-too-large": ContentTooLargeError,
    "invalid-input": InvalidInputError,
    "unsupported": UnsupportedError,
    "bad-report": BadReportError,
    "rate-limit": RateLimitError,
    "busy": BusyError,
    "internal": InternalError,
    "corrupt-artifact": CorruptArtifactError,
    "too-slow": TooSlowError,
    "database-damaged": DatabaseDamagedError,
    "database-away": DatabaseAwayError,
    "store-away": StoreAwayError,
    "disk-full": DiskFullError,
}
"""Classes by the kind of problem, which is the end of the problem document's `type`."""


def problem_error(status: int, type_: str, detail: str, errors: tuple[FieldProblem, ...] = ()) -> ProblemError:
    """The error for a problem document; of a kind that a later service has, a plain ProblemError."""
    kind = type_.removeprefix(_PREFIX)
    return PROBLEMS.get(kind, ProblemError)(status, kind, detail, errors)
