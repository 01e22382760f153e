"""Models and workloads: what can be explored."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from db.errors import ConflictError, NotFoundError
from db.ids import new_id
from db.models import Exploration, Model, Workload
from db.repositories._statements import insert_or_ignore
from db.types import utcnow

BUILTIN = "builtin"


def put_model(
    session: Session, name: str, kind: str, config: dict[str, Any], digest: str, owner: str | None = None
) -> Model:
    """The model called `name`, stored now if it is new. Raises ConflictError if the name belongs to another network."""
    values = {"id": new_id("mdl"), "name": name, "kind": kind, "config": config, "digest": digest, "owner": owner}
    insert_or_ignore(session, Model, {**values, "created_at": utcnow()})
    model = session.scalars(select(Model).where(Model.name == name)).one()
    if model.digest != digest:
        raise ConflictError(f"the name {name!r} belongs to a different network; choose another name")
    return model


def put_builtin(session: Session, name: str, config: dict[str, Any], digest: str) -> Model:
    """The built-in model called `name`, stored now or brought up to date; what refers to its row keeps doing so.

    A model that a person added under the name, before it was a built-in one, stays as it is: look at its `kind`.
    """
    values = {"id": new_id("mdl"), "name": name, "kind": BUILTIN, "config": config, "digest": digest}
    insert_or_ignore(session, Model, {**values, "created_at": utcnow()})
    model = session.scalars(select(Model).where(Model.name == name)).one()
    if model.kind == BUILTIN and model.digest != digest:
        model.config, model.digest = config, digest
        session.flush()
    return model


def find_model(session: Session, key: str) -> Model:
    """The model with this id or name. Raises NotFoundError."""
    model = session.scalars(select(Model).where(or_(Model.id == key, Model.name == key))).first()
    if model is None:
        raise NotFoundError("model", key)
    return model


def model_names(session: Session) -> list[str]:
    return list(session.scalars(select(Model.name).order_by(Model.name)))


def lock_model(session: Session, key: str) -> Model:
    """The model with this id or name, with its workloads kept from new explorations until this transaction ends.
    Raises NotFoundError.
    """
    model = find_model(session, key)
    session.refresh(model, with_for_update=True)
    session.scalars(select(Workload.id).where(Workload.model_id == model.id).with_for_update(of=Workload)).all()
    return model


def used_by(session: Session, model_id: str) -> list[str]:
    """Names of the explorations of the model, oldest first."""
    query = select(Exploration.name).join(Workload, Exploration.workload_id == Workload.id)
    return list(session.scalars(query.where(Workload.model_id == model_id).order_by(Exploration.id)))


def workload_ids(session: Session, model_id: str) -> set[str]:
    """Ids of the workloads of the model."""
    return set(session.scalars(select(Workload.id).where(Workload.model_id == model_id)))


def models_page(session: Session, before: str | None, limit: int, *, archived: bool = False) -> Sequence[Model]:
    """Newest first, those older than id `before`; with `archived` those too that lists leave out."""
    query = select(Model).order_by(Model.id.desc()).limit(limit)
    if not archived:
        query = query.where(~Model.archived)
    return session.scalars(query if before is None else query.where(Model.id < before)).all()


def put_workload(
    session: Session,
    model: Model,
    phase: str,
    length: int,
    batch: int,
    precision: str,
    layers: int,
    digest: str,
    ports: str = "f32",
) -> Workload:
    """The workload with this digest, stored now if it is new."""
    values = {"id": new_id("wkl"), "model_id": model.id, "phase": phase, "length": length, "batch": batch}
    values |= {"precision": precision, "layers": layers, "ports": ports, "digest": digest, "created_at": utcnow()}
    insert_or_ignore(session, Workload, values)
    return session.scalars(select(Workload).where(Workload.digest == digest)).one()


def get_workload(session: Session, workload_id: str) -> Workload:
    workload = session.get(Workload, workload_id)
    if workload is None:
        raise NotFoundError("workload", workload_id)
    return workload


def phases_of(session: Session, workload_ids: Sequence[str]) -> set[str]:
    """Of these workloads."""
    return set(session.scalars(select(Workload.phase).where(Workload.id.in_(workload_ids))))


def batches_of(session: Session, workload_ids: Sequence[str]) -> set[int]:
    """Inputs of a launch, of these workloads."""
    return set(session.scalars(select(Workload.batch).where(Workload.id.in_(workload_ids))))


def workloads_page(session: Session, before: str | None, limit: int) -> Sequence[Workload]:
    """Newest first, those older than id `before`."""
    query = select(Workload).order_by(Workload.id.desc()).limit(limit)
    return session.scalars(query if before is None else query.where(Workload.id < before)).all()


def set_bundle(session: Session, workload_id: str, bundle_key: str) -> None:
    """Remember where the workload's bundle lies in the bundle directory."""
    session.execute(update(Workload).where(Workload.id == workload_id).values(bundle_key=bundle_key))


def bundle_keys(session: Session) -> set[str]:
    """The bundles of all workloads."""
    return {key for key in session.scalars(select(Workload.bundle_key)) if key is not None}
