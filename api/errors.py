"""Errors of the API itself; `api.problems` maps every error to its answer."""


class ApiError(Exception):
    """Root of what the API raises on purpose."""


class BadRequestError(ApiError):
    """The request can not be understood: a cursor, a body, a header."""


class NotReadyError(ApiError):
    """What is asked for does not exist yet; the text says how to make it."""
