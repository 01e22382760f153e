"""What a key has: explorations and builds under way, designs, stored bytes."""

from sqlalchemy import BigInteger, case, cast, func, select
from sqlalchemy.orm import Session

from db.models import ACTIVE_STATES, OPEN_STATES, ApiKey, Artifact, Build, Design, Exploration, Model


def lock_key(session: Session, owner: str) -> ApiKey | None:
    """The key of this name, kept from others who lock it until this transaction ends; None where there is none."""
    query = select(ApiKey).where(ApiKey.name == owner).with_for_update()
    return session.scalars(query.execution_options(populate_existing=True)).first()


def active_explorations(session: Session, owner: str) -> int:
    """How many of the owner's explorations are not at their end."""
    query = select(func.count()).where(Exploration.owner == owner, Exploration.state.in_(ACTIVE_STATES))
    return session.scalars(query).one()


def open_builds(session: Session, owner: str) -> int:
    """How many of the owner's builds are not at their end."""
    query = select(func.count()).where(Build.owner == owner, Build.state.in_(OPEN_STATES))
    return session.scalars(query).one()


def running_builds(session: Session, owner: str) -> int:
    """How many of the owner's builds run."""
    return session.scalars(select(func.count()).where(Build.owner == owner, Build.state == "running")).one()


def designs(session: Session, owner: str) -> int:
    """Designs of the owner's explorations; of one that is not at its end those that it may still find too."""
    found = select(func.count(Design.id)).where(Design.exploration_id == Exploration.id).scalar_subquery()
    most = case((Exploration.budget > found, Exploration.budget), else_=found)
    expected = case((Exploration.state.in_(ACTIVE_STATES), most), else_=found)
    return int(session.scalars(select(func.coalesce(func.sum(expected), 0)).where(Exploration.owner == owner)).one())


def stored_bytes(session: Session, owner: str) -> int:
    """Bytes of the models that the owner has uploaded and of the files that the owner's builds have left, each content
    once; logs do not count.
    """
    size = cast(Model.config["size"].as_string(), BigInteger)
    models = select(Model.digest, size.label("size")).where(Model.owner == owner, Model.config["size"].is_not(None))
    left = select(Artifact.digest, Artifact.size).join(Build, Artifact.build_id == Build.id)
    total = 0
    for query in (models, left.where(Build.owner == owner)):
        contents = query.distinct().subquery()
        total += int(session.scalars(select(func.coalesce(func.sum(contents.c.size), 0))).one())
    return total
