"""/v1/explorations and what belongs to one."""

from typing import Annotated

from fastapi import APIRouter, Header, Query
from sse_starlette import EventSourceResponse

from api import schemas
from api.dependencies import FarmDep, OnceDep, ReadSession, WriteSession
from api.paging import Cursor, Limit, decode, decode_number, page
from api.schemas import Page
from api.services import designs, explorations
from api.sse import WakeUpsDep, follow
from db.models import ExplorationState
from db.repositories import explorations as rows
from worker import flow

router = APIRouter(prefix="/v1/explorations", tags=["explorations"])
_HEARTBEAT_SECONDS = 15


@router.get("")
def list_explorations(
    session: ReadSession, cursor: Cursor = None, limit: Limit = 50, state: ExplorationState | None = None
) -> Page[schemas.Exploration]:
    found = rows.page(session, decode(cursor), limit + 1, state)
    replies = explorations.shape_all(session, found)
    return page(found, limit, lambda e: e.id, lambda e: replies[e.id])


@router.post("", status_code=202)
def start_exploration(
    farm: FarmDep, session: WriteSession, once: OnceDep, body: schemas.NewExploration
) -> schemas.Exploration:
    return once(body, schemas.Exploration, lambda: explorations.start(farm, session, body))


@router.get("/{exploration}")
def get_exploration(session: ReadSession, exploration: str) -> schemas.Exploration:
    return explorations.shape(session, rows.get(session, exploration))


@router.post("/{exploration}/cancel", status_code=202)
def cancel_exploration(farm: FarmDep, session: WriteSession, exploration: str) -> schemas.Exploration:
    return explorations.shape(session, flow.cancel(farm, session, exploration))


@router.post("/{exploration}/resume", status_code=202)
def resume_exploration(farm: FarmDep, session: WriteSession, exploration: str) -> schemas.Exploration:
    return explorations.shape(session, flow.resume(farm, session, exploration))


@router.get("/{exploration}/designs")
def list_designs(
    session: ReadSession,
    exploration: str,
    front: Annotated[bool, Query(description="only those on the Pareto front")] = False,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[schemas.DesignSummary]:
    rows.get(session, exploration)
    found = designs.page(session, exploration, decode_number(cursor), limit + 1, front)
    return page(found, limit, lambda d: str(d.number), lambda d: d)


@router.get("/{exploration}/scatter")
def get_scatter(session: ReadSession, exploration: str) -> schemas.Scatter:
    return explorations.scatter(session, exploration)


@router.get("/{exploration}/events", response_class=EventSourceResponse)
def follow_events(
    farm: FarmDep,
    wake_ups: WakeUpsDep,
    session: ReadSession,
    exploration: str,
    last_event_id: Annotated[int, Header(ge=0, description="go on after this event")] = 0,
) -> EventSourceResponse:
    rows.get(session, exploration)
    return EventSourceResponse(follow(farm, wake_ups, exploration, last_event_id), ping=_HEARTBEAT_SECONDS)
