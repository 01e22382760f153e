"""What every request passes first: texts, host and origin check, body limit, security headers. Plain ASGI."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.addresses import Names
from api.principal import Principal
from api.problems import problem
from api.text import WHAT, head_flaw

HEALTH = "/v1/health"
"""What this and its paths begin with is answered whatever else is going on."""
CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_FORM_BYTES = 64 << 10  # of an upload beside its file
CLOSE = {"Connection": "close"}
# Charts and graph layouts set inline styles and run workers from blobs; scripts come from our bundle only.
_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "worker-src 'self' blob:; connect-src 'self'; object-src 'none'; base-uri 'self'; frame-ancestors 'none'; "
    "form-action 'self'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": _POLICY,
}
"""Of every answer: they keep a browser from running or framing what is not ours."""


class SecurityHeaders:
    """Adds `HEADERS` to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class Text:
    """Answers 422 to a request whose path, query or headers no database takes. Bodies are checked by their schemas."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        where = head_flaw(scope) if scope["type"] == "http" else None
        if where is None:
            await self._app(scope, receive, send)
            return
        detail = f"the {where} holds {WHAT}"
        answer = problem(422, "invalid-input", "Not acceptable input", detail, headers=CLOSE)
        await answer(scope, receive, send)


class SameSite:
    """Refuses requests that another web site makes through the user's browser.

    A service without a login trusts whoever reaches it; a page elsewhere must not reach it by naming this machine (DNS
    rebinding: the `Host` is foreign) nor by posting a form (the `Origin` is foreign).
    """

    def __init__(self, app: ASGIApp, names: Names) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        detail = self._objection(scope) if scope["type"] == "http" else None
        if detail is None:
            await self._app(scope, receive, send)
            return
        await problem(403, "foreign-site", "Request from elsewhere", detail, headers=CLOSE)(scope, receive, send)

    def _objection(self, scope: Scope) -> str | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self._names:
            return f"this service does not answer to the name {host!r}; add it to MILLRACE_ALLOWED_HOSTS"
        origin = headers.get("origin")
        if scope["method"] in CHANGING and origin is not None and origin.partition("://")[2] != host:
            return f"a page of {origin!r} may not change anything here"
        return None


_AMBIGUOUS = problem(
    400, "bad-request", "Bad request", "it has both Content-Length and Transfer-Encoding; send one", headers=CLOSE
)


class _TooLargeError(HTTPException):
    """As an HTTPException it passes FastAPI's reading of the body unchanged."""


class BodyLimit:
    """Refuses bodies beyond `limit` bytes: by their declared size before they are read, else while they are.

    Uploads, which are multipart and POSTed to `upload_path`, may have `upload_limit` bytes, or as many as the quota of
    the key says: what is beyond it is not received before it is refused. A body that has a declared size and comes in
    chunks besides ends at two places, and a proxy may take the other one: it is refused, and its connection ended.
    """

    def __init__(self, app: ASGIApp, limit: int, upload_path: str, upload_limit: int) -> None:
        self._app = app
        self._limit = limit
        self._upload_path = upload_path
        self._upload_limit = upload_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _has_two_ends(scope):
            await _AMBIGUOUS(scope, receive, send)
            return
        limit = self._uploadable(scope) if self._is_upload(scope) else self._limit
        detail = f"the body is larger than the {limit >> 10} KiB that are accepted; send a smaller one"
        refusal = problem(413, "content-too-large", "Content Too Large", detail, headers=CLOSE)
        if _declared(scope) > limit:
            await refusal(scope, receive, send)
            return
        seen = 0

        async def count() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise _TooLargeError(413, detail, CLOSE)
            return message

        try:
            await self._app(scope, count, send)
        except _TooLargeError:  # the application has not begun
            await refusal(scope, receive, send)

    def _is_upload(self, scope: Scope) -> bool:
        kind = Headers(scope=scope).get("content-type", "")
        return scope["path"] == self._upload_path and kind.startswith("multipart/form-data")

    def _uploadable(self, scope: Scope) -> int:
        principal: Principal = scope["state"]["principal"]
        most = principal.quotas.get("upload_bytes")
        return self._upload_limit if most is None else min(self._upload_limit, most + _FORM_BYTES)


def _has_two_ends(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    return "content-length" in headers and "transfer-encoding" in headers


def _declared(scope: Scope) -> int:
    size = Headers(scope=scope).get("content-length", "0")
    return int(size) if size.isdigit() else 0
