"""/v1/explorations and what belongs to one."""

import gzip
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from sse_starlette import EventSourceResponse

from api.dependencies import FarmDep, OnceDep, PrincipalDep, ReadSession, WriteSession
from api.paging import Cursor, Limit, decode, decode_number, page
from api.parameters import AcceptEncoding, Archived, ExplorationId, ExplorationKey, IfNoneMatch
from api.schemas.common import Deletion, Page
from api.schemas.designs import DesignSummary, DesignTable
from api.schemas.explorations import (
    Exploration,
    ExplorationChange,
    Groups,
    NewExploration,
    NewExplorations,
    Scatter,
    StartedExplorations,
)
from api.services import deletion, designs, explorations, tables
from api.services.scatters import Scatters
from api.services.tables import TableFormat
from api.sse import HEARTBEAT_SECONDS, WakeUpsDep, follow, require
from db.models import ExplorationState
from db.repositories import explorations as rows
from db.repositories import naming

router = APIRouter(prefix="/v1/explorations", tags=["explorations"])

_LEVEL = 1  # of compression: the tables are large, their readers near
_TABLE: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            "text/csv": {"schema": {"type": "string"}},
            "application/vnd.apache.arrow.stream": {"schema": {"type": "string", "format": "binary"}},
        },
        "description": "the table; in CSV and Arrow lists and objects are JSON",
    }
}


@router.get("")
def list_explorations(
    session: ReadSession,
    cursor: Cursor = None,
    limit: Limit = 50,
    state: Annotated[ExplorationState | None, Query(description="only those in this state")] = None,
    owner: Annotated[str | None, Query(max_length=100, description="only those that this key started")] = None,
    archived: Archived = False,
) -> Page[Exploration]:
    """Explorations, newest first."""
    found = rows.page(session, decode(cursor), limit + 1, state, owner, archived=archived)
    replies = explorations.shape_all(session, found)
    return page(found, limit, lambda e: e.id, lambda e: replies[e.id])


@router.post("", status_code=202)
def start_exploration(
    farm: FarmDep, session: WriteSession, once: OnceDep, who: PrincipalDep, body: NewExploration
) -> Exploration:
    """Start a search for designs."""
    return once(body, Exploration, lambda: explorations.start(farm, session, who, body))


@router.post("/batch", status_code=202)
def start_explorations(
    farm: FarmDep, session: WriteSession, once: OnceDep, who: PrincipalDep, body: NewExplorations
) -> StartedExplorations:
    """Start several searches: all of them, or, where one is refused, none."""
    return once(body, StartedExplorations, lambda: explorations.start_all(farm, session, who, body))


@router.get("/{exploration}")
def get_exploration(farm: FarmDep, session: ReadSession, who: PrincipalDep, exploration: ExplorationKey) -> Exploration:
    """One exploration, its designs counted."""
    return explorations.shape(farm.settings, session, naming.find_exploration(session, exploration, who.name))


@router.patch("/{exploration}")
def change_exploration(
    farm: FarmDep, session: WriteSession, who: PrincipalDep, exploration: ExplorationId, body: ExplorationChange
) -> Exploration:
    """Set name, tags or notes of an exploration, archive or pin it."""
    return explorations.change(farm.settings, session, who, exploration, body)


@router.get("/{exploration}/deletion")
def preview_exploration_deletion(session: ReadSession, exploration: ExplorationId) -> Deletion:
    """What would be deleted with an exploration, and what still needs it."""
    return deletion.of_exploration(session, rows.get(session, exploration))


@router.delete("/{exploration}", status_code=204)
def delete_exploration(session: WriteSession, who: PrincipalDep, exploration: ExplorationId) -> None:
    """Delete an exploration that nothing needs, with its designs, builds and events."""
    deletion.remove_exploration(session, who, exploration)


@router.post("/{exploration}/cancel", status_code=202)
def cancel_exploration(
    farm: FarmDep, session: WriteSession, who: PrincipalDep, exploration: ExplorationId
) -> Exploration:
    """Stop an exploration; its designs are kept."""
    return explorations.cancel(farm, session, who, exploration)


@router.post("/{exploration}/resume", status_code=202)
def resume_exploration(
    farm: FarmDep, session: WriteSession, who: PrincipalDep, exploration: ExplorationId
) -> Exploration:
    """Go on with an exploration that was stopped or failed."""
    return explorations.resume(farm, session, who, exploration)


@router.get("/{exploration}/designs")
def list_designs(
    session: ReadSession,
    exploration: ExplorationId,
    front: Annotated[bool, Query(description="only those on the Pareto front")] = False,
    cursor: Cursor = None,
    limit: Limit = 50,
    archived: Archived = False,
) -> Page[DesignSummary]:
    """Designs in the order in which they were evaluated."""
    rows.get(session, exploration)
    found = designs.page(session, exploration, decode_number(cursor), limit + 1, front, archived)
    return page(found, limit, lambda d: str(d.number), lambda d: d)


@router.get("/{exploration}/table", response_model=DesignTable, responses=_TABLE)
def get_table(
    session: ReadSession,
    exploration: ExplorationId,
    form: Annotated[TableFormat, Query(alias="format", description="how the table is written")] = "json",
    accept_encoding: AcceptEncoding = "",
) -> Response:
    """All designs with all metrics, resources and knobs, in one answer."""
    media_type, encode = tables.FORMATS[form]
    body, headers = encode(tables.design_table(session, exploration)), {"Vary": "Accept-Encoding"}
    if "gzip" in accept_encoding:
        body, headers = gzip.compress(body, _LEVEL), headers | {"Content-Encoding": "gzip"}
    return Response(body, media_type=media_type, headers=headers)


@router.get("/{exploration}/scatter", response_model=Scatter, responses={304: {"description": "Not Modified"}})
def get_scatter(
    request: Request,
    session: ReadSession,
    exploration: ExplorationId,
    if_none_match: IfNoneMatch = None,
    accept_encoding: AcceptEncoding = "",
) -> Response:
    """Objectives and states of all designs, by column."""
    kept: Scatters = request.app.state.scatters
    packed = kept.get(session, exploration)
    headers = {"ETag": packed.tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if if_none_match == packed.tag:
        return Response(status_code=304, headers=headers)
    if "gzip" not in accept_encoding:
        return Response(packed.plain, media_type="application/json", headers=headers)
    return Response(packed.body, media_type="application/json", headers=headers | {"Content-Encoding": "gzip"})


@router.get("/{exploration}/groups")
def get_groups(session: ReadSession, exploration: ExplorationId) -> Groups:
    """The Pareto front with designs that the estimate can not tell apart as one, and an error bar for each."""
    return explorations.groups(session, exploration)


@router.get("/{exploration}/events", response_class=EventSourceResponse)
async def follow_events(
    farm: FarmDep,
    wake_ups: WakeUpsDep,
    exploration: ExplorationId,
    last_event_id: Annotated[int, Header(ge=0, lt=1 << 63, description="go on after this event")] = 0,
) -> EventSourceResponse:
    """What happens to it, from its first event on: `state`, `designs`, `front`, `promoted`, `simulated`, `build`,
    `archived` and `deleted` (designs). Of one that has ended long ago, what retention has left of it.
    """
    await require(farm, rows.get, exploration)
    return EventSourceResponse(follow(farm, wake_ups, exploration, last_event_id), ping=HEARTBEAT_SECONDS)
