"""Platforms, models and workloads: what can be explored, checked at the door."""

import logging

from sqlalchemy.orm import Session

from api.principal import Principal
from api.schemas import catalog as schemas
from api.services import networks
from compiler.frontend.inputs.source import is_format
from compiler.options import Workload
from compiler.platforms.platform import load_platform, platform_names
from db import models
from db.errors import ConflictError, NotFoundError
from db.repositories import catalog
from worker.ladder import quotas, workloads
from worker.ladder.versions import digest

_log = logging.getLogger(__name__)


def platforms() -> list[schemas.Platform]:
    return [_platform(name) for name in platform_names()]


def _platform(name: str) -> schemas.Platform:
    board = load_platform(name)
    hbm = board.hbm
    return schemas.Platform(
        name=board.name,
        title=board.title,
        part=board.part,
        budgets={n: getattr(board.budget, n) for n in ("lut", "ff", "dsp", "bram36", "uram")},
        hbm=schemas.Hbm(channels=hbm.channels, channel_bytes=hbm.channel_bytes, channel_gb_s=hbm.channel_gb_s),
        clock_mhz=board.clock_mhz,
    )


def put_builtins(session: Session) -> None:
    """Store the built-in models as this release has them; a release before it may have stored them with less."""
    for name, config in networks.builtins().items():
        if catalog.put_builtin(session, name, config, digest(config)).kind != catalog.BUILTIN:
            _log.warning("the built-in model %s is hidden by one that was added under this name", name)


def add_model(session: Session, who: Principal, body: schemas.NewModel | schemas.NewModelFile) -> models.Model:
    """Store a network. Raises InvalidInputError for its config, ConflictError for its name."""
    if body.name in networks.builtins():
        raise ConflictError(f"{body.name!r} is the name of a built-in model; choose another name")
    if isinstance(body, schemas.NewModelFile):
        file = body.model_dump(include={"digest", "size", "samples"}, exclude_none=True)
        with quotas.bounded(session, who.name, "stored_bytes"):
            return catalog.put_model(session, body.name, body.format, file, digest(body.format, file), who.name)
    config = networks.checked_config(body.config)
    return catalog.put_model(session, body.name, "config", config, digest(config), who.name)


def change_model(session: Session, who: Principal, key: str, body: schemas.ModelChange) -> models.Model:
    """Archive a model, or list it again. Raises NotFoundError, ForbiddenError."""
    row = find_model(session, key)
    who.require_owner(row.owner, f"model {row.name}")
    row.archived = body.archived
    session.flush()
    return row


def find_model(session: Session, key: str) -> models.Model:
    """The model with this id or name. Raises NotFoundError that lists the known ones."""
    try:
        return catalog.find_model(session, key)
    except NotFoundError as error:
        known = ", ".join(catalog.model_names(session)[:20])
        how = "add yours with `millrace model add FILE` or POST /v1/models"
        raise NotFoundError("model", key, f"known are {known}; {how}") from error


def has_own_shapes(session: Session, key: str) -> bool:
    """Whether phase and length do not apply to the model: it comes from a file. Raises NotFoundError."""
    return is_format(find_model(session, key).kind)


def put_workload(session: Session, key: str, shape: schemas.NewWorkloadShape) -> models.Workload:
    """The stored workload of the model with this id or name.

    Raises NotFoundError for the model, InvalidInputError for sizes out of range or beyond what the model has.
    """
    model = find_model(session, key)
    return workloads.put(session, model, _workload(model, shape))


def _workload(model: models.Model, shape: schemas.NewWorkloadShape) -> Workload:
    """The checked workload; a network from a file has one."""
    chosen = shape.model_dump(include=shape.model_fields_set)
    if is_format(model.kind):
        return networks.file_workload(model.name, model.kind, chosen)
    length = 1 if shape.phase == "head" and "length" not in chosen else shape.length
    workload = Workload(model.name, shape.phase, length, shape.precision, shape.batch, shape.layers, shape.ports)
    networks.check_workload(model.name, model.config, workload)
    return workload
