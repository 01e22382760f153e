"""Names of explorations, and whom a person means: an id, the beginning of one, a name, `latest`, a design's number.

One grammar for the REST interface and the command line:

    EXPLORATION   its id, a beginning of it that no other has, its name, or `latest`
    DESIGN        its id, a beginning of it that no other has, or EXPLORATION#NUMBER; NUMBER alone is of the latest
"""

import re
from itertools import count

from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute, Session

from db.errors import ConflictError, InvalidNameError, NotFoundError
from db.models import Build, Design, Exploration, Workload

LATEST = "latest"
_CONFIGURED = ("builtin", "config")  # kinds of models whose phase and length are chosen
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_ID = re.compile(r"[a-z]{3}_[0-9a-z_]*")
_NUMBER = re.compile(r"[0-9]{1,9}")
_LAST = "z" * 32
_SHOWN = 3
_HINTS = {
    "exploration": "say its id or its beginning, its name, or latest: millrace pareto lists them",
    "design": "say its id or its beginning, its number in the latest exploration, or EXPLORATION#NUMBER",
}


def check_name(name: str) -> None:
    """Raise InvalidNameError for a name that a command line could take for something else."""
    if not _NAME.fullmatch(name) or name == LATEST or name.isdigit() or _is_id_like(name):
        raise InvalidNameError(
            f"{name!r} can not be a name: use letters, digits and . _ + -, and not what means something else: "
            f"{LATEST!r}, a number alone, or the beginning of an id"
        )


def _is_id_like(name: str) -> bool:
    return name.startswith(("exp_", "dsg_", "bld_"))


def taken(name: str) -> ConflictError:
    """What to raise for a name that another exploration has."""
    return ConflictError(f"an exploration named {name!r} exists; choose another name")


def made_name(session: Session, workload: Workload) -> str:
    """A name that no exploration has, from the model and what of it is run; several that are alike are numbered."""
    shape = (workload.phase, str(workload.length)) if workload.model.kind in _CONFIGURED else ()
    several = (f"{workload.layers}-layers",) if workload.layers > 1 else ()
    ports = (f"{workload.ports}-ports",) if workload.ports == "i8" else ()
    base = "-".join((workload.model.name.replace(" ", "-"), *shape, workload.precision, *several, *ports))
    alike = select(Exploration.name).where(Exploration.name.startswith(base, autoescape=True))
    known = set(session.scalars(alike))
    return next(name for name in (base if i == 1 else f"{base}-{i}" for i in count(1)) if name not in known)


def find_exploration(session: Session, key: str, owner: str | None = None) -> Exploration:
    """Whom `key` names, see the head of this file. `latest` is the newest that `owner` has started, or the newest of
    all where they have started none. Raises NotFoundError, and ConflictError where several ids begin so.
    """
    if key == LATEST:
        return _latest(session, owner)
    found = None
    if key.isprintable():  # a database may refuse the rest
        called = select(Exploration).where(Exploration.name == key)
        found = session.get(Exploration, key) or session.scalars(called).first()
    return found or session.get_one(Exploration, _id_that_begins(session, "exploration", Exploration.id, key))


def _latest(session: Session, owner: str | None) -> Exploration:
    query = select(Exploration).order_by(Exploration.id.desc()).limit(1)
    own = None if owner is None else session.scalars(query.where(Exploration.owner == owner)).first()
    newest = own or session.scalars(query).first()
    if newest is None:
        raise NotFoundError("exploration", LATEST, "none was started yet: millrace explore gpt2")
    return newest


def find_design(session: Session, key: str, owner: str | None = None) -> Design:
    """Whom `key` names, see the head of this file. Raises NotFoundError, and ConflictError where several do."""
    exploration, separator, number = key.rpartition("#")
    if not separator and not number.isdigit():
        return session.get_one(Design, _id_that_begins(session, "design", Design.id, key))
    of = find_exploration(session, exploration or LATEST, owner)
    if not _NUMBER.fullmatch(number):
        raise NotFoundError("design", key, "behind the # stands its number in the exploration, like latest#915")
    query = select(Design).where(Design.exploration_id == of.id, Design.number == int(number))
    found = session.scalars(query).first()
    if found is None:
        raise NotFoundError("design", key, f"{of.name} has none of number {int(number)}")
    return found


def find_build(session: Session, key: str) -> Build:
    """The build with this id, or whose id alone begins so. Raises NotFoundError, ConflictError where several do."""
    return session.get_one(Build, _id_that_begins(session, "build", Build.id, key))


def _id_that_begins(session: Session, kind: str, column: InstrumentedAttribute[str], key: str) -> str:
    """The id, or the only one that begins so."""
    if not _ID.fullmatch(key):
        raise NotFoundError(kind, key, _HINTS.get(kind, ""))
    # Between bounds, which an index can find; nothing in an id comes behind z.
    query = select(column).where(column.between(key, key + _LAST), column.startswith(key, autoescape=True))
    found = session.scalars(query.order_by(column).limit(_SHOWN + 1)).all()
    if not found:
        raise NotFoundError(kind, key, _HINTS.get(kind, ""))
    if len(found) > 1 and key not in found:
        shown = ", ".join(found[:_SHOWN]) + (", ..." if len(found) > _SHOWN else "")
        raise ConflictError(f"more than one {kind} has an id that begins with {key!r}: {shown}; give more of it")
    return key if key in found else found[0]
