"""Deleting models, explorations and designs: what goes with each, what still needs it, and the end of it."""

from sqlalchemy.orm import Session

from api.principal import Principal
from api.schemas.common import Deletion
from db import models
from db.errors import ConflictError
from db.repositories import belongings, builds, catalog, designs, explorations, sweeps
from db.repositories.belongings import Belongings
from worker.comparison.comparing import needed_because
from worker.farm import Farm
from worker.ladder import promoting

_NAMED = 3
_ALL = 100_000


def of_model(session: Session, row: models.Model) -> Deletion:
    """What would go with a model."""
    return _reply(row.id, row.name, _needs_model(session, row), belongings.of_model(session, row))


def of_exploration(session: Session, row: models.Exploration) -> Deletion:
    """What would go with an exploration."""
    return _reply(row.id, row.name, _needs_exploration(session, row), belongings.of_exploration(session, row.id))


def of_design(session: Session, row: models.Design) -> Deletion:
    """What would go with a design."""
    exploration = explorations.get(session, row.exploration_id)
    name = f"{exploration.name}#{row.number}"
    return _reply(row.id, name, _needs_design(session, row, exploration), belongings.of_design(session, row.id))


def remove_model(session: Session, who: Principal, key: str) -> None:
    """Delete a model with its workloads. Raises NotFoundError, ForbiddenError; ConflictError where it is needed."""
    row = catalog.lock_model(session, key)
    who.require_owner(row.owner, f"model {row.name}")
    _refuse(row.name, row.id, _needs_model(session, row))
    belongings.delete_model(session, row.id)


def remove_exploration(session: Session, who: Principal, exploration_id: str) -> None:
    """Delete an exploration with its designs, builds and events. Raises NotFoundError, ForbiddenError; ConflictError
    where it is needed.
    """
    row = explorations.lock(session, exploration_id)
    who.require_owner(row.owner, f"exploration {exploration_id}")
    _refuse(row.name, row.id, _needs_exploration(session, row))
    belongings.delete_exploration(session, row.id)


def remove_design(farm: Farm, session: Session, who: Principal, design_id: str) -> None:
    """Delete a design with its builds; the front of its exploration is found anew. Raises NotFoundError,
    ForbiddenError; ConflictError where it is needed.
    """
    exploration = explorations.lock(session, designs.get(session, design_id).exploration_id)
    who.require_owner(exploration.owner, f"exploration {exploration.id}")
    row = designs.get(session, design_id)
    _refuse(f"{exploration.name}#{row.number}", row.id, _needs_design(session, row, exploration))
    belongings.delete_design(session, row)
    farm.emit(session, exploration.id, "deleted", {"ids": [design_id]})
    promoting.renew_front(farm, session, exploration.id)


def _reply(identifier: str, name: str, needed: list[str], found: Belongings) -> Deletion:
    return Deletion.of(found, id=identifier, name=name, needed=needed)


def _refuse(name: str, identifier: str, needed: list[str]) -> None:
    if needed:
        raise ConflictError(f"{name} ({identifier}) can not be deleted: {'; '.join(needed)}")


def _needs_model(session: Session, row: models.Model) -> list[str]:
    if row.kind == catalog.BUILTIN:
        return ["it is built in; archive it instead"]
    needed: list[str] = []
    if used := catalog.used_by(session, row.id):
        needed.append(f"{_some(used, 'exploration')} of it; delete those first")
    workloads = catalog.workload_ids(session, row.id)
    if swept := [s.name for s in sweeps.page(session, None, _ALL) if workloads.intersection(s.matrix["workload"])]:
        needed.append(f"{_some(swept, 'sweep')} of it; change or remove those first")
    if any(builds.lock_import(session, workload) for workload in workloads):
        needed.append("it is being imported; wait for that, or cancel the import")
    return needed


def _needs_exploration(session: Session, row: models.Exploration) -> list[str]:
    if row.state in models.ACTIVE_STATES:
        return [f"it is {row.state}; cancel it first"]
    needed: list[str] = []
    if row.pinned:
        needed.append("it is pinned; take the pin off first")
    if pinned := designs.pinned(session, row.id):
        needed.append(f"{_some([f'#{number}' for number in pinned], 'design')} of it with a pin; take that off first")
    if builds.has_open(session, row.id):
        needed.append("builds of it have not ended; wait for them, or cancel them first")
    if row.sweep_run_id is not None and (why := needed_because(session, row.sweep_run_id)):
        needed.append(why)
    return needed


def _needs_design(session: Session, row: models.Design, exploration: models.Exploration) -> list[str]:
    needed: list[str] = []
    if exploration.state in models.ACTIVE_STATES:
        needed.append(f"its exploration is {exploration.state}; wait for its end, or cancel it first")
    if row.pinned or exploration.pinned:
        needed.append(f"{'it' if row.pinned else 'its exploration'} is pinned; take the pin off first")
    if any(build.state in models.OPEN_STATES for build in builds.of_design(session, row.id)):
        needed.append("builds of it have not ended; wait for them, or cancel them first")
    if exploration.sweep_run_id is not None and (why := needed_because(session, exploration.sweep_run_id)):
        needed.append(why)
    return needed


def _some(names: list[str], what: str) -> str:
    """How many there are, and the first of them."""
    shown = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
    several = len(names) > 1
    return f"there {'are' if several else 'is'} {len(names)} {what}{'s' if several else ''} ({shown})"
