"""/v1/platforms, /v1/models, /v1/workloads."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.datastructures import UploadFile

from api import schemas
from api.dependencies import OnceDep, ReadSession, WriteSession
from api.errors import BadRequestError
from api.paging import Cursor, Limit, decode, page
from api.schemas import Page
from api.services import catalog, shapes
from db.repositories import catalog as rows

router = APIRouter(prefix="/v1", tags=["catalog"])

_CONFIG = {"type": "object", "description": "content of a Hugging Face config.json"}
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
                    "properties": {"name": {"type": "string"}, "file": {"type": "string", "format": "binary"}},
                }
            },
        },
    }
}


@router.get("/platforms")
def list_platforms() -> Page[schemas.Platform]:
    return Page(items=catalog.platforms())


@router.get("/models")
def list_models(session: ReadSession, cursor: Cursor = None, limit: Limit = 50) -> Page[schemas.Model]:
    found = rows.models_page(session, decode(cursor), limit + 1)
    return page(found, limit, lambda m: m.id, shapes.model)


@router.get("/models/{model}")
def get_model(session: ReadSession, model: str) -> schemas.Model:
    return shapes.model(catalog.find_model(session, model))


async def _new_model(request: Request) -> schemas.NewModel:
    """The body: JSON, or an uploaded config.json."""
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        async with request.form(max_files=1, max_fields=4) as form:
            body = await _uploaded(form.get("file"), form.get("name"))
    else:
        body = _parsed(await request.body(), "the body")
    try:
        return schemas.NewModel.model_validate(body)
    except ValidationError as error:
        errors = [{**e, "loc": ("body", *e["loc"])} for e in error.errors(include_url=False)]
        raise RequestValidationError(errors) from error


async def _uploaded(file: Any, name: Any) -> dict[str, Any]:
    if not isinstance(file, UploadFile):
        raise BadRequestError("the upload has no field `file` with a config.json")
    config = _parsed(await file.read(), file.filename or "the file")
    return {"name": name or (file.filename or "").removesuffix(".json"), "config": config}


def _parsed(content: bytes, what: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"{what} is not JSON: {error}") from error


@router.post("/models", status_code=202, openapi_extra=_NEW_MODEL)
def add_model(
    session: WriteSession, once: OnceDep, body: Annotated[schemas.NewModel, Depends(_new_model)]
) -> schemas.Model:
    return once(body, schemas.Model, lambda: shapes.model(catalog.add_model(session, body)))


@router.get("/workloads")
def list_workloads(session: ReadSession, cursor: Cursor = None, limit: Limit = 50) -> Page[schemas.Workload]:
    found = rows.workloads_page(session, decode(cursor), limit + 1)
    return page(found, limit, lambda w: w.id, shapes.workload)


@router.post("/workloads", status_code=202)
def add_workload(session: WriteSession, once: OnceDep, body: schemas.NewWorkload) -> schemas.Workload:
    return once(body, schemas.Workload, lambda: shapes.workload(catalog.put_workload(session, body.model, body)))
