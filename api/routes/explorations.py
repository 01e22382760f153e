"""/v1/explorations and what belongs to one."""

from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request, Response
from sse_starlette import EventSourceResponse

from api.dependencies import FarmDep, OnceDep, ReadSession, WriteSession
from api.paging import Cursor, Limit, decode, decode_number, page
from api.principal import PrincipalDep
from api.schemas.common import Page
from api.schemas.designs import DesignSummary
from api.schemas.explorations import Exploration, ExplorationChange, NewExploration, Scatter
from api.services import designs, explorations
from api.services.scatters import Scatters
from api.sse import HEARTBEAT_SECONDS, WakeUpsDep, follow
from db.models import ExplorationState
from db.repositories import explorations as rows
from db.repositories import naming

router = APIRouter(prefix="/v1/explorations", tags=["explorations"])


@router.get("")
def list_explorations(
    session: ReadSession,
    cursor: Cursor = None,
    limit: Limit = 50,
    state: ExplorationState | None = None,
    owner: Annotated[str | None, Query(max_length=100)] = None,
) -> Page[Exploration]:
    found = rows.page(session, decode(cursor), limit + 1, state, owner)
    replies = explorations.shape_all(session, found)
    return page(found, limit, lambda e: e.id, lambda e: replies[e.id])


@router.post("", status_code=202)
def start_exploration(
    farm: FarmDep, session: WriteSession, once: OnceDep, who: PrincipalDep, body: NewExploration
) -> Exploration:
    return once(body, Exploration, lambda: explorations.start(farm, session, who, body))


@router.get("/{exploration}")
def get_exploration(
    session: ReadSession,
    who: PrincipalDep,
    exploration: Annotated[str, Path(description="its id or the beginning of it, its name, or latest")],
) -> Exploration:
    return explorations.shape(session, naming.find_exploration(session, exploration, who.name))


@router.patch("/{exploration}")
def change_exploration(
    session: WriteSession, who: PrincipalDep, exploration: str, body: ExplorationChange
) -> Exploration:
    return explorations.change(session, who, exploration, body)


@router.delete("/{exploration}", status_code=204)
def delete_exploration(session: WriteSession, who: PrincipalDep, exploration: str) -> None:
    explorations.remove(session, who, exploration)


@router.post("/{exploration}/cancel", status_code=202)
def cancel_exploration(farm: FarmDep, session: WriteSession, who: PrincipalDep, exploration: str) -> Exploration:
    return explorations.cancel(farm, session, who, exploration)


@router.post("/{exploration}/resume", status_code=202)
def resume_exploration(farm: FarmDep, session: WriteSession, who: PrincipalDep, exploration: str) -> Exploration:
    return explorations.resume(farm, session, who, exploration)


@router.get("/{exploration}/designs")
def list_designs(
    session: ReadSession,
    exploration: str,
    front: Annotated[bool, Query(description="only those on the Pareto front")] = False,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[DesignSummary]:
    rows.get(session, exploration)
    found = designs.page(session, exploration, decode_number(cursor), limit + 1, front)
    return page(found, limit, lambda d: str(d.number), lambda d: d)


@router.get("/{exploration}/scatter", response_model=Scatter, responses={304: {"description": "Not Modified"}})
def get_scatter(
    request: Request,
    session: ReadSession,
    exploration: str,
    if_none_match: Annotated[str | None, Header()] = None,
    accept_encoding: Annotated[str, Header()] = "",
) -> Response:
    kept: Scatters = request.app.state.scatters
    packed = kept.get(session, exploration)
    headers = {"ETag": packed.tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if if_none_match == packed.tag:
        return Response(status_code=304, headers=headers)
    if "gzip" not in accept_encoding:
        return Response(packed.plain, media_type="application/json", headers=headers)
    return Response(packed.body, media_type="application/json", headers=headers | {"Content-Encoding": "gzip"})


@router.get("/{exploration}/events", response_class=EventSourceResponse)
def follow_events(
    farm: FarmDep,
    wake_ups: WakeUpsDep,
    session: ReadSession,
    exploration: str,
    last_event_id: Annotated[int, Header(ge=0, lt=1 << 63, description="go on after this event")] = 0,
) -> EventSourceResponse:
    rows.get(session, exploration)
    return EventSourceResponse(follow(farm, wake_ups, exploration, last_event_id), ping=HEARTBEAT_SECONDS)
