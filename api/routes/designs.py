"""/v1/designs and /v1/builds."""

from typing import Annotated

from fastapi import APIRouter, Header, Response
from fastapi.responses import FileResponse, StreamingResponse

from api import schemas
from api.dependencies import FarmDep, OnceDep, ReadSession, WriteSession
from api.schemas import Page
from api.services import designs, shapes
from db.repositories import builds

router = APIRouter(prefix="/v1", tags=["designs"])

# A file of a design is shown as text or saved; it is never a page of ours.
_FILE_HEADERS = {"Content-Security-Policy": "default-src 'none'; sandbox", "Cache-Control": "no-cache"}


@router.get("/designs/{design}")
def get_design(session: ReadSession, design: str) -> schemas.Design:
    return designs.describe(session, design)


@router.post("/designs/{design}/builds", status_code=202)
def start_build(
    farm: FarmDep, session: WriteSession, once: OnceDep, design: str, body: schemas.NewBuild
) -> schemas.Build:
    return once(body, schemas.Build, lambda: designs.start_build(farm, session, design, body.stage))


@router.get("/builds/{build}")
def get_build(session: ReadSession, build: str) -> schemas.Build:
    return shapes.build(builds.get(session, build))


@router.get("/builds/{build}/log")
def get_log(farm: FarmDep, session: ReadSession, build: str) -> Response:
    log = designs.build_log(session, farm.store, build)
    return Response(log, media_type="text/plain; charset=utf-8", headers=_FILE_HEADERS)


@router.get("/designs/{design}/artifacts")
def list_artifacts(session: ReadSession, design: str) -> Page[schemas.Artifact]:
    return Page(items=[shapes.artifact(a) for a in designs.files(session, design)])


@router.get("/designs/{design}/artifacts/{path:path}")
def get_artifact(
    farm: FarmDep,
    session: ReadSession,
    design: str,
    path: str,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    file = designs.file(session, design, path)
    headers = {**_FILE_HEADERS, "ETag": f'"{file.digest}"'}
    if if_none_match == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return FileResponse(farm.store.path(file.digest), media_type=file.media_type, headers=headers)


@router.get("/designs/{design}/archive")
def get_archive(farm: FarmDep, session: ReadSession, design: str) -> StreamingResponse:
    headers = {"Content-Disposition": f'attachment; filename="{design}.tar.gz"'}
    return StreamingResponse(designs.archive(session, farm.store, design), 200, headers, "application/gzip")
