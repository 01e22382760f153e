"""/v1/platforms, /v1/models, /v1/workloads."""

import json
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.datastructures import UploadFile

from api.dependencies import FarmDep, OnceDep, PrincipalDep, ReadSession, WriteSession
from api.errors import BadRequestError
from api.paging import Cursor, Limit, decode, page
from api.parameters import Archived, ModelId
from api.schemas import catalog as schemas
from api.schemas.common import Deletion, Page
from api.services import catalog, deletion, quotas, uploads
from api.services.shapes import catalog as shapes
from compiler.frontend.inputs.source import model_name
from compiler.frontend.models.config import MAX_CONFIG_BYTES
from db.repositories import catalog as rows
from worker.farm import Farm

router = APIRouter(prefix="/v1", tags=["catalog"])

Body = TypeVar("Body", bound=BaseModel)

_CONFIG = {"type": "object", "description": "content of a Hugging Face config.json"}
_FILE = {
    "type": "string",
    "format": "binary",
    "description": "a config.json, or a network of fixed shapes: .onnx, .mlir, or .pt2 where the operator allows it",
}
_SAMPLES = {
    "type": "string",
    "format": "binary",
    "description": "an .npz with an array of each input of a network of fixed shapes, or many in a row: what w8a8 and "
    "w4a8 calibrate their scales with, instead of seeded samples",
}
_NEW_MODEL: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["name", "config"],
                    "properties": {"name": {"type": "string"}, "config": _CONFIG},
                }
            },
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"name": {"type": "string"}, "file": _FILE, "samples": _SAMPLES},
                }
            },
        },
    }
}


@router.get("/platforms")
def list_platforms() -> Page[schemas.Platform]:
    """The boards that designs can be made for."""
    return Page(items=catalog.platforms())


@router.get("/models")
def list_models(
    session: ReadSession, cursor: Cursor = None, limit: Limit = 50, archived: Archived = False
) -> Page[schemas.Model]:
    """Networks that can be explored."""
    found = rows.models_page(session, decode(cursor), limit + 1, archived=archived)
    return page(found, limit, lambda m: m.id, shapes.model)


@router.get("/models/{model}")
def get_model(session: ReadSession, model: ModelId) -> schemas.Model:
    """One network."""
    return shapes.model(catalog.find_model(session, model))


@router.patch("/models/{model}")
def change_model(session: WriteSession, who: PrincipalDep, model: ModelId, body: schemas.ModelChange) -> schemas.Model:
    """Archive a model, or list it again."""
    return shapes.model(catalog.change_model(session, who, model, body))


@router.get("/models/{model}/deletion")
def preview_model_deletion(session: ReadSession, model: ModelId) -> Deletion:
    """What would be deleted with a model, and what still needs it."""
    return deletion.of_model(session, catalog.find_model(session, model))


@router.delete("/models/{model}", status_code=204)
def delete_model(session: WriteSession, who: PrincipalDep, model: ModelId) -> None:
    """Delete a model that nothing needs, with its workloads and their imports."""
    deletion.remove_model(session, who, model)


async def _new_model(request: Request, farm: FarmDep, who: PrincipalDep) -> schemas.NewModel | schemas.NewModelFile:
    """The body: JSON, or an uploaded config.json, or another file with a network and, maybe, one with samples."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        return _validated(schemas.NewModel, _parsed(await request.body(), "the body"))
    async with request.form(max_files=2, max_fields=4) as form:
        file, name, samples = form.get("file"), form.get("name"), form.get("samples")
        if not isinstance(file, UploadFile):
            raise BadRequestError("the upload has no field `file` with a config.json or a network")
        if samples is not None and not isinstance(samples, UploadFile):
            raise BadRequestError("the field `samples` holds no file; send an .npz, or leave it out")
        size = sum(given.size or 0 for given in (file, samples) if given)
        quotas.check_upload(who, size)
        filename = file.filename or ""
        if not filename.endswith(".json"):
            await run_in_threadpool(_check_stored, farm, who, size)
            return await _new_file(request.app.state.uploads, farm, name, file, samples)
        if samples:
            raise BadRequestError("samples are for a network from a file; a config.json is calibrated with its inputs")
        config = _parsed(await file.read(MAX_CONFIG_BYTES + 1), filename)
        return _validated(schemas.NewModel, {"name": name or filename.removesuffix(".json"), "config": config})


async def _new_file(
    taking: uploads.Uploads, farm: Farm, name: str | UploadFile | None, file: UploadFile, samples: UploadFile | None
) -> schemas.NewModelFile:
    """A file with a network, and one with samples where there is one, looked at and stored."""
    filename = file.filename or ""
    form = uploads.upload_format(farm, filename, file.size or 0)
    if samples:
        uploads.check_samples(samples.filename or "", samples.size or 0)
    fields = {"name": name or model_name(Path(filename)), "format": form, "digest": "", "size": 0}
    checked = _validated(schemas.NewModelFile, fields)
    digest, size = await taking.take(farm, filename, form, file.file)
    if samples is None:
        return checked.model_copy(update={"digest": digest, "size": size})
    kept, more = await taking.take(farm, samples.filename or "", "npz", samples.file)
    return checked.model_copy(update={"digest": digest, "size": size + more, "samples": kept})


def _check_stored(farm: FarmDep, who: PrincipalDep, size: int) -> None:
    with farm.database.read() as session:
        quotas.check_stored(session, who, size)


def _validated(kind: type[Body], values: Any) -> Body:
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        errors = [{**e, "loc": ("body", *e["loc"])} for e in error.errors(include_url=False)]
        raise RequestValidationError(errors) from error


def _parsed(content: bytes, what: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"{what} is not JSON: {error}") from error


@router.post("/models", status_code=202, openapi_extra=_NEW_MODEL)
def add_model(
    # First, so that no transaction is open while an upload arrives.
    body: Annotated[schemas.NewModel | schemas.NewModelFile, Depends(_new_model)],
    session: WriteSession,
    once: OnceDep,
    who: PrincipalDep,
) -> schemas.Model:
    """Store a network: the content of a config.json, or a file of fixed shapes (.onnx, .mlir, .pt2), with samples to
    calibrate its integers with (.npz) or without.
    """
    return once(body, schemas.Model, lambda: shapes.model(catalog.add_model(session, who, body)))


@router.get("/workloads")
def list_workloads(session: ReadSession, cursor: Cursor = None, limit: Limit = 50) -> Page[schemas.Workload]:
    """Workloads that were explored or stored."""
    found = rows.workloads_page(session, decode(cursor), limit + 1)
    return page(found, limit, lambda w: w.id, shapes.workload)


@router.post("/workloads", status_code=202)
def add_workload(session: WriteSession, once: OnceDep, body: schemas.NewWorkload) -> schemas.Workload:
    """Store what of a model is run."""
    return once(body, schemas.Workload, lambda: shapes.workload(catalog.put_workload(session, body.model, body)))
