"""/v1/designs."""

from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse, StreamingResponse

from api.dependencies import FarmDep, OnceDep, PrincipalDep, ReadSession, WriteSession
from api.parameters import DesignId, DesignKey, FilePath, IfNoneMatch
from api.schemas.builds import Build, NewBuild
from api.schemas.common import Deletion, Page
from api.schemas.designs import Artifact, Design, DesignChange
from api.services import deletion, designs
from api.services.shapes import designs as shapes
from db.repositories import designs as rows
from db.repositories import naming

router = APIRouter(prefix="/v1/designs", tags=["designs"])

# A file of a design is shown as text or saved; it is never a page of ours.
FILE_HEADERS = {"Content-Security-Policy": "default-src 'none'; sandbox", "Cache-Control": "no-cache"}
_BYTES = {"schema": {"type": "string", "format": "binary"}}
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"*/*": _BYTES}, "description": "the file"},
    304: {"description": "Not Modified"},
}
_ARCHIVE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/gzip": _BYTES}, "description": "the design directory as tar.gz"}
}


@router.get("/{design}")
def get_design(session: ReadSession, who: PrincipalDep, design: DesignKey) -> Design:
    """A design with all that is known about it."""
    return designs.describe(session, naming.find_design(session, design, who.name).id)


@router.patch("/{design}")
def change_design(
    farm: FarmDep, session: WriteSession, who: PrincipalDep, design: DesignId, body: DesignChange
) -> Design:
    """Set tags or notes of a design, archive or pin it."""
    return designs.change(farm, session, who, design, body)


@router.get("/{design}/deletion")
def preview_design_deletion(session: ReadSession, design: DesignId) -> Deletion:
    """What would be deleted with a design, and what still needs it."""
    return deletion.of_design(session, rows.get(session, design))


@router.delete("/{design}", status_code=204)
def delete_design(farm: FarmDep, session: WriteSession, who: PrincipalDep, design: DesignId) -> None:
    """Delete a design that nothing needs, with its builds and files."""
    deletion.remove_design(farm, session, who, design)


@router.post("/{design}/builds", status_code=202)
def start_build(
    farm: FarmDep, session: WriteSession, once: OnceDep, who: PrincipalDep, design: DesignId, body: NewBuild
) -> Build:
    """Queue a stage of a design, with those before it; one that is done is not run again."""
    return once(body, Build, lambda: designs.start_build(farm, session, who, design, body))


@router.get("/{design}/artifacts")
def list_artifacts(session: ReadSession, design: DesignId) -> Page[Artifact]:
    """Files of the design directory, as far as they are stored."""
    return Page(items=[shapes.artifact(a) for a in designs.files(session, design)])


@router.get("/{design}/artifacts/{path:path}", response_class=Response, responses=_FILE)
def get_artifact(
    farm: FarmDep,
    session: ReadSession,
    design: DesignId,
    path: FilePath,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """One file of the design directory."""
    file = designs.file(session, design, path)
    designs.note_use(farm, session, design)
    headers = {**FILE_HEADERS, "ETag": f'"{file.digest}"'}
    if if_none_match == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return FileResponse(farm.store.path(file.digest), media_type=file.media_type, headers=headers)


@router.get("/{design}/archive", response_class=StreamingResponse, responses=_ARCHIVE)
def get_archive(farm: FarmDep, session: ReadSession, design: DesignId) -> StreamingResponse:
    """The whole design directory, as tar.gz."""
    designs.note_use(farm, session, design)
    headers = {"Content-Disposition": f'attachment; filename="{design}.tar.gz"'}
    return StreamingResponse(designs.archive(session, farm.store, design), 200, headers, "application/gzip")
