"""Every error's answer: RFC 9457 problem documents. The one place that knows errors and HTTP."""

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from api.errors import (
    BadRequestError,
    BusyError,
    ForbiddenError,
    NotReadyError,
    RateError,
    UnauthorizedError,
)
from compiler.errors import InvalidInputError, ReportError, UnsupportedError
from db.damage import DamagedDatabaseError
from db.errors import ConflictError, InvalidNameError, NotFoundError
from worker.errors import (
    CorruptArtifactError,
    DiskFullError,
    JoinError,
    QuotaError,
    StoreAwayError,
    StoreError,
    UnsafePathError,
)
from worker.node.disk import is_disk_full
from worker.program import as_typed
from worker.store.disk import disk_full_message

MEDIA_TYPE = "application/problem+json"
_log = logging.getLogger(__name__)

# Subclasses before their bases.
_KINDS: tuple[tuple[type[Exception], int, str, str], ...] = (
    (DamagedDatabaseError, 503, "database-damaged", "Damaged database"),
    (NotFoundError, 404, "not-found", "Not found"),
    (ConflictError, 409, "conflict", "Conflict with what is stored"),
    (InvalidInputError, 422, "invalid-input", "Not acceptable input"),
    (InvalidNameError, 422, "invalid-input", "Not acceptable input"),
    (UnsupportedError, 422, "unsupported", "Not supported"),
    (ReportError, 422, "bad-report", "Not a report that can be read"),
    (BadRequestError, 400, "bad-request", "Bad request"),
    (JoinError, 409, "can-not-join", "Nodes can not join"),
    (NotReadyError, 409, "not-ready", "Not there yet"),
    (UnauthorizedError, 401, "unauthorized", "No valid key"),
    (ForbiddenError, 403, "forbidden", "Not allowed"),
    (QuotaError, 403, "quota", "Quota reached"),
    (BusyError, 503, "busy", "Too many requests in progress"),
    (RateError, 429, "rate-limit", "Too many requests"),
    (UnsafePathError, 400, "bad-path", "Bad path"),
    (DiskFullError, 507, "disk-full", "Disk full"),
    (StoreAwayError, 503, "store-away", "The artifact store is away"),
    (CorruptArtifactError, 500, "corrupt-artifact", "Damaged artifact"),
    (StoreError, 404, "not-stored", "Not in the artifact store"),
)


def problem(
    status: int,
    kind: str,
    title: str,
    detail: str,
    errors: Sequence[dict[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """A problem document. `errors` point at single fields."""
    kind, detail = f"urn:millrace:problem:{kind}", as_typed(detail)
    body: dict[str, Any] = {"type": kind, "title": title, "status": status, "detail": detail}
    if errors:
        body["errors"] = list(errors)
    return JSONResponse(body, status, headers=headers, media_type=MEDIA_TYPE)


def problem_of(error: Exception) -> JSONResponse:
    """The answer for an error that is raised on purpose."""
    status, kind, title = next(
        (status, kind, title) for known, status, kind, title in _KINDS if isinstance(error, known)
    )
    return problem(status, kind, title, str(error), headers=_headers(error))


def _headers(error: Exception) -> dict[str, str] | None:
    if isinstance(error, UnauthorizedError):
        return {"WWW-Authenticate": 'Bearer realm="millrace"'}
    return {"Retry-After": str(error.retry_after)} if isinstance(error, RateError) else None


def install(app: FastAPI) -> None:
    """Have `app` answer errors with problem documents."""
    for error, *_ in _KINDS:
        app.add_exception_handler(error, _known)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(OperationalError, _database)
    app.add_exception_handler(ClientDisconnect, _left)
    app.add_exception_handler(Exception, _unexpected)


def _known(_request: Request, error: Exception) -> JSONResponse:
    return problem_of(error)


def _invalid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    fields = [_field(e) for e in error.errors()]
    detail = "; ".join(f"{f['pointer']}: {f['detail']}" for f in fields[:5])
    return problem(422, "invalid-input", "Not acceptable input", detail, fields)


def _field(error: Any) -> dict[str, str]:
    where = [str(part) for part in error["loc"]]
    pointer = "#/" + "/".join(where[1:]) if where[:1] == ["body"] else ".".join(where)
    return {"pointer": pointer, "detail": error["msg"]}


def _http(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    title = HTTPStatus(error.status_code).phrase
    answer = problem(error.status_code, title.lower().replace(" ", "-"), title, str(error.detail))
    answer.headers.update(error.headers or {})
    return answer


def _database(request: Request, error: Exception) -> JSONResponse:
    if is_disk_full(error):
        return problem(507, "disk-full", "Disk full", disk_full_message(request.app.state.farm.settings.home))
    # Not the error itself, which quotes the statement's values: a webhook's secret may be among them.
    _log.error("the database does not answer: %s", getattr(error, "orig", None))
    detail = "the database does not answer; try again in a moment, and look at the API's log if it lasts"
    return problem(503, "database-away", "Database away", detail)


def _left(_request: Request, _error: Exception) -> JSONResponse:
    """Nobody reads it, and nothing is wrong here: floods would fill the log."""
    return problem(400, "bad-request", "Bad request", "the body ended before its end")


def _unexpected(request: Request, error: Exception) -> JSONResponse:
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    detail = "an unexpected error; the API's log (run/logs/api.log in the state directory) has the details"
    return problem(500, "internal", "Internal error", detail)
