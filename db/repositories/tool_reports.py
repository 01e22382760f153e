"""The reports that Vitis has left for designs of one platform, as the area model is refitted from them."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from db.models import Artifact, Build, Exploration

_DESCRIPTION = ("design.json", "dataflow.json")
_OF_CSYNTH = ("csynth.xml", "csynth.rpt")
_OF_LINK = ("kernel_util_routed.rpt", "kernel_util_routed.json")


def newest(session: Session, platform: str, limit: int) -> dict[str, dict[str, str]]:
    """Digests of reports by path, of the newest `limit` designs that passed csynth, by the key of that build.

    With each go the two files that describe the design, and the areas after routing where it was linked too.
    """
    synthesised = _synthesised(session, platform, limit)
    sources = {build.id: build.key for build in synthesised}
    described = {build.after_id: build.key for build in synthesised if build.after_id is not None}
    linked = _linked(session, list(sources.values()))
    found: dict[str, dict[str, str]] = {build.key: {} for build in synthesised}
    for builds, names in ((sources, _OF_CSYNTH), (described, _DESCRIPTION), (linked, _OF_LINK)):
        for build_id, path, digest in _files(session, list(builds), names):
            found[builds[build_id]][path] = digest
    return found


def _synthesised(session: Session, platform: str, limit: int) -> Sequence[Build]:
    """One build of each key: twins have the same reports."""
    query = select(Build).join(Exploration, Build.exploration_id == Exploration.id)
    query = query.where(Build.stage == "csynth", Build.state == "done", Exploration.platform == platform)
    query = query.where(Build.adopted_from.is_(None)).order_by(Build.id.desc()).limit(limit)
    return session.scalars(query).all()


def _linked(session: Session, keys: Sequence[str]) -> dict[str, str]:
    """Key of the csynth below, by the id of a link that is done above it, or above a twin that adopted its result."""
    below = aliased(Build)
    query = select(Build.id, below.key).join(below, Build.after_id == below.id)
    query = query.where(below.key.in_(keys), Build.stage == "link", Build.state == "done")
    return {row.id: row.key for row in session.execute(query.order_by(Build.id))}


def _files(session: Session, build_ids: Sequence[str], names: Sequence[str]) -> list[tuple[str, str, str]]:
    query = select(Artifact.build_id, Artifact.path, Artifact.digest).where(Artifact.build_id.in_(build_ids))
    rows = session.execute(query.order_by(Artifact.path))
    return [(build, path, digest) for build, path, digest in rows if path.rpartition("/")[2] in names]
