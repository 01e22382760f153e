"""/v1/builds: the work of the farm, one stage each."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import PlainTextResponse
from sse_starlette import EventSourceResponse

from api.dependencies import FarmDep, OnceDep, PrincipalDep, ReadSession, WriteSession
from api.log_stream import follow_log
from api.paging import Cursor, Limit, decode, page
from api.parameters import BuildId, BuildKey
from api.routes.designs import FILE_HEADERS
from api.schemas.builds import Build, Clone
from api.schemas.common import Page
from api.services import builds
from api.sse import HEARTBEAT_SECONDS, WakeUpsDep, require
from db.models import BuildState, Stage
from db.repositories import builds as rows
from db.repositories import naming
from db.repositories.builds import BuildFilter

router = APIRouter(prefix="/v1/builds", tags=["builds"])


def _only(what: str) -> Any:
    return Query(max_length=120, description=f"only builds {what}")


@router.get("")
def list_builds(
    session: ReadSession,
    state: Annotated[BuildState | None, Query(description="only builds in this state")] = None,
    stage: Annotated[Stage | None, Query(description="only builds of this stage")] = None,
    queue: Annotated[str | None, _only("that need this capability")] = None,
    exploration: Annotated[str | None, _only("of the exploration with this id")] = None,
    design: Annotated[str | None, _only("of the design with this id")] = None,
    node: Annotated[str | None, _only("that this machine runs or ran")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[Build]:
    """Builds, newest first."""
    wanted = BuildFilter(state=state, stage=stage, queue=queue, exploration_id=exploration, design_id=design, node=node)
    found = rows.page(session, wanted, decode(cursor), limit + 1)
    replies = builds.shape_all(session, found)
    return page(replies, limit, lambda b: b.id, lambda b: b)


@router.get("/{build}")
def get_build(session: ReadSession, build: BuildKey) -> Build:
    """One build."""
    return builds.shape(session, naming.find_build(session, build))


@router.post("/{build}/retry", status_code=202)
def retry_build(farm: FarmDep, session: WriteSession, who: PrincipalDep, build: BuildId) -> Build:
    """Queue a build again that failed or was cancelled."""
    return builds.retry(farm, session, who, build)


@router.post("/{build}/cancel", status_code=202)
def cancel_build(farm: FarmDep, session: WriteSession, who: PrincipalDep, build: BuildId) -> Build:
    """Stop a build."""
    return builds.cancel(farm, session, who, build)


@router.post("/{build}/clone", status_code=202)
def clone_build(
    farm: FarmDep, session: WriteSession, once: OnceDep, who: PrincipalDep, build: BuildId, body: Clone
) -> Build:
    """Queue the same stage of the same design with other options."""
    return once(body, Build, lambda: builds.clone(farm, session, who, build, body))


@router.get("/{build}/log", response_class=PlainTextResponse)
def get_log(
    farm: FarmDep,
    session: ReadSession,
    build: BuildId,
    attempt: Annotated[int | None, Query(ge=0, lt=1 << 31, description="an attempt that failed")] = None,
) -> Response:
    """What the tools of a build have printed, so far where it runs."""
    log = builds.log(farm, session, build, attempt)
    return Response(log, media_type="text/plain; charset=utf-8", headers=FILE_HEADERS)


@router.get("/{build}/log/stream", response_class=EventSourceResponse)
async def follow_build_log(
    farm: FarmDep,
    wake_ups: WakeUpsDep,
    build: BuildId,
    last_event_id: Annotated[int, Header(ge=0, lt=1 << 63, description="go on at this byte of the log")] = 0,
) -> EventSourceResponse:
    """The log as it grows: events `log` with text (JSON), then `end` with the build's state."""
    await require(farm, rows.get, build)
    return EventSourceResponse(follow_log(farm, wake_ups, build, last_event_id), ping=HEARTBEAT_SECONDS)
