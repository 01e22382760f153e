"""/v1/builds: the work of the farm, one stage each."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import PlainTextResponse
from sse_starlette import EventSourceResponse

from api.dependencies import FarmDep, OnceDep, ReadSession, WriteSession
from api.log_stream import follow_log
from api.paging import Cursor, Limit, decode, page
from api.principal import PrincipalDep
from api.routes.designs import FILE_HEADERS
from api.schemas.builds import Build, Clone
from api.schemas.common import Page
from api.services import builds
from api.sse import HEARTBEAT_SECONDS, WakeUpsDep
from db.models import BuildState, Stage
from db.repositories import builds as rows
from db.repositories import naming
from db.repositories.builds import BuildFilter

router = APIRouter(prefix="/v1/builds", tags=["builds"])

Key = Annotated[str | None, Query(max_length=120)]


@router.get("")
def list_builds(
    session: ReadSession,
    state: BuildState | None = None,
    stage: Stage | None = None,
    queue: Key = None,
    exploration: Key = None,
    design: Key = None,
    node: Key = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[Build]:
    wanted = BuildFilter(state=state, stage=stage, queue=queue, exploration_id=exploration, design_id=design, node=node)
    found = rows.page(session, wanted, decode(cursor), limit + 1)
    replies = builds.shape_all(session, found)
    return page(replies, limit, lambda b: b.id, lambda b: b)


@router.get("/{build}")
def get_build(session: ReadSession, build: str) -> Build:
    return builds.shape(session, naming.find_build(session, build))


@router.post("/{build}/retry", status_code=202)
def retry_build(farm: FarmDep, session: WriteSession, who: PrincipalDep, build: str) -> Build:
    return builds.retry(farm, session, who, build)


@router.post("/{build}/cancel", status_code=202)
def cancel_build(farm: FarmDep, session: WriteSession, who: PrincipalDep, build: str) -> Build:
    return builds.cancel(farm, session, who, build)


@router.post("/{build}/clone", status_code=202)
def clone_build(
    farm: FarmDep, session: WriteSession, once: OnceDep, who: PrincipalDep, build: str, body: Clone
) -> Build:
    return once(body, Build, lambda: builds.clone(farm, session, who, build, body))


@router.get("/{build}/log", response_class=PlainTextResponse)
def get_log(
    farm: FarmDep,
    session: ReadSession,
    build: str,
    attempt: Annotated[int | None, Query(ge=0, lt=1 << 31, description="an attempt that failed")] = None,
) -> Response:
    log = builds.log(farm, session, build, attempt)
    return Response(log, media_type="text/plain; charset=utf-8", headers=FILE_HEADERS)


@router.get("/{build}/log/stream", response_class=EventSourceResponse)
def follow_build_log(
    farm: FarmDep,
    wake_ups: WakeUpsDep,
    session: ReadSession,
    build: str,
    last_event_id: Annotated[int, Header(ge=0, lt=1 << 63, description="go on at this byte of the log")] = 0,
) -> EventSourceResponse:
    rows.get(session, build)
    return EventSourceResponse(follow_log(farm, wake_ups, build, last_event_id), ping=HEARTBEAT_SECONDS)
