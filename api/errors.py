"""Errors of the API itself; `api.problems` maps every error to its answer."""


class ApiError(Exception):
    """Root of what the API raises on purpose."""


class BadRequestError(ApiError):
    """The request can not be understood: a cursor, a body, a header."""


class NotReadyError(ApiError):
    """What is asked for does not exist yet; the text says how to make it."""


class UnauthorizedError(ApiError):
    """The service asks for a key, and got none that is valid."""


class ForbiddenError(ApiError):
    """The key is valid, but its role, or whose work this is, does not allow it."""


class RateError(ApiError):
    """Too many requests; `retry_after` is when to come again, in seconds."""

    def __init__(self, detail: str, retry_after: int) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class BusyError(RateError):
    """Too many requests of everybody at once."""
