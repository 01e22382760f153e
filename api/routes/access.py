"""/v1/me, /v1/session, /v1/keys, /v1/audit: who asks, keys, and what was done with them."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from api.caller import COOKIE
from api.dependencies import FarmDep, PrincipalDep, ReadSession, WriteSession
from api.paging import Cursor, Limit, decode, decode_number, page
from api.parameters import KeyId
from api.schemas.access import ApiKey, AuditEntry, KeyChange, MadeApiKey, Me, NewApiKey, NewSession
from api.schemas.common import Page
from api.services import keys
from api.services.shapes import access as shapes
from db.repositories import api_keys, audit

router = APIRouter(prefix="/v1", tags=["access"])

_SESSION_SECONDS = 7 * 24 * 3600


@router.get("/me")
def get_me(farm: FarmDep, who: PrincipalDep) -> Me:
    """Who asks, and what their key allows."""
    return shapes.me(farm.settings, who)


@router.post("/session")
def log_in(farm: FarmDep, session: ReadSession, request: Request, response: Response, body: NewSession) -> Me:
    """Log a browser in: the key becomes a cookie."""
    who = keys.log_in(session, body.key, request.state.principal.address)
    response.set_cookie(
        COOKIE,
        body.key,
        max_age=_SESSION_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return shapes.me(farm.settings, who)


@router.delete("/session", status_code=204)
def log_out(response: Response) -> None:
    """Log a browser out."""
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")


@router.get("/keys")
def list_keys(session: ReadSession, cursor: Cursor = None, limit: Limit = 50) -> Page[ApiKey]:
    """Keys, newest first."""
    return page(api_keys.page(session, decode(cursor), limit + 1), limit, lambda k: k.id, shapes.api_key)


@router.post("/keys", status_code=201)
def add_key(request: Request, session: WriteSession, body: NewApiKey) -> MadeApiKey:
    """Make a key; its text is in the answer, and only there."""
    made = keys.add(session, body)
    request.state.made = made.name
    return made


@router.patch("/keys/{key}")
def change_key(session: WriteSession, key: KeyId, body: KeyChange) -> ApiKey:
    """Set the bounds of a key."""
    return keys.change(session, key, body)


@router.delete("/keys/{key}", status_code=204)
def revoke_key(session: WriteSession, key: KeyId) -> None:
    """Revoke a key: it is not taken any more."""
    keys.revoke(session, key)


@router.get("/audit")
def list_audit(
    session: ReadSession,
    who: Annotated[str | None, Query(max_length=100, description="only what this key did")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[AuditEntry]:
    """Who changed what, newest first."""
    found = audit.page(session, who, decode_number(cursor), limit + 1)
    return page(found, limit, lambda e: str(e.id), shapes.audit_entry)
