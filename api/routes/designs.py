"""/v1/designs."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Response
from fastapi.responses import FileResponse, StreamingResponse

from api.dependencies import FarmDep, OnceDep, ReadSession, WriteSession
from api.principal import PrincipalDep
from api.schemas.builds import Build, NewBuild
from api.schemas.common import Page
from api.schemas.designs import Artifact, Design, DesignChange
from api.services import designs
from api.services.shapes import designs as shapes
from db.repositories import naming

router = APIRouter(prefix="/v1/designs", tags=["designs"])

# A file of a design is shown as text or saved; it is never a page of ours.
FILE_HEADERS = {"Content-Security-Policy": "default-src 'none'; sandbox", "Cache-Control": "no-cache"}
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"*/*": {}}, "description": "the file"},
    304: {"description": "Not Modified"},
}
_ARCHIVE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/gzip": {}}, "description": "the design directory as tar.gz"}
}


@router.get("/{design}")
def get_design(
    session: ReadSession,
    who: PrincipalDep,
    design: Annotated[
        str,
        Path(
            description="its id or the beginning of it, EXPLORATION#NUMBER, or its number in the latest exploration; "
            "# is written %23"
        ),
    ],
) -> Design:
    return designs.describe(session, naming.find_design(session, design, who.name).id)


@router.patch("/{design}")
def change_design(session: WriteSession, who: PrincipalDep, design: str, body: DesignChange) -> Design:
    return designs.change(session, who, design, body)


@router.post("/{design}/builds", status_code=202)
def start_build(
    farm: FarmDep, session: WriteSession, once: OnceDep, who: PrincipalDep, design: str, body: NewBuild
) -> Build:
    return once(body, Build, lambda: designs.start_build(farm, session, who, design, body))


@router.get("/{design}/artifacts")
def list_artifacts(session: ReadSession, design: str) -> Page[Artifact]:
    return Page(items=[shapes.artifact(a) for a in designs.files(session, design)])


@router.get("/{design}/artifacts/{path:path}", response_class=Response, responses=_FILE)
def get_artifact(
    farm: FarmDep,
    session: ReadSession,
    design: str,
    path: str,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    file = designs.file(session, design, path)
    headers = {**FILE_HEADERS, "ETag": f'"{file.digest}"'}
    if if_none_match == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return FileResponse(farm.store.path(file.digest), media_type=file.media_type, headers=headers)


@router.get("/{design}/archive", response_class=StreamingResponse, responses=_ARCHIVE)
def get_archive(farm: FarmDep, session: ReadSession, design: str) -> StreamingResponse:
    headers = {"Content-Disposition": f'attachment; filename="{design}.tar.gz"'}
    return StreamingResponse(designs.archive(session, farm.store, design), 200, headers, "application/gzip")
