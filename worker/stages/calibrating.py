"""Stage calibrate: the area model of a platform refitted from the farm's own reports of it.

The result is only offered: an exploration uses it where it asks for the area model "latest". Otherwise yesterday's
estimates could not be compared with today's.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from compiler.calibration.calibrate import Calibration
from compiler.calibration.calibration_file import write_calibration
from compiler.calibration.errors import ErrorRow
from compiler.platforms.platform import load_platform
from db.repositories import calibrations, explorations
from worker.farm import Farm
from worker.ladder.versions import tools_of
from worker.stages.context import JobContext
from worker.stages.functions import Stages
from worker.stages.outcome import Outcome
from worker.store.artifacts import StoredFile
from worker.store.names import media_type, safe_path

FILE = "calibration.toml"


def calibrate(farm: Farm, stages: Stages, job: JobContext) -> Outcome:
    """Refit the area model from the reports that the build names. Raises MillraceError, StoreError."""
    assert job.build.exploration_id is not None
    with farm.database.read() as session:
        platform = load_platform(explorations.get(session, job.build.exploration_id).platform)
    folder = _unpack(farm, job.build.options["reports"], job.scratch / "designs")
    found = stages.calibrate(platform, folder)
    file = job.scratch / FILE
    write_calibration(found, _date(job), file)
    digest, size = farm.store.put_file(file)
    summary = _summary(found, digest)
    job.log(found.summary)

    def effect(_farm: Farm, session: Session) -> None:
        calibrations.add(session, platform.name, digest, summary, job.build.id)

    stored = StoredFile(FILE, digest, size, media_type(FILE))
    return Outcome({"passed": True, **summary}, tools_of("calibrate", {}), files=(stored,), effect=effect)


def _unpack(farm: Farm, listed: str, target: Path) -> Path:
    """A folder for each design, as the calibration expects them: its description with the reports below."""
    reports: dict[str, dict[str, str]] = json.loads(farm.store.read(listed))
    for key, files in reports.items():
        for path, digest in files.items():
            file = target / key[:16] / safe_path(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(farm.store.read(digest))
    return target


def _date(job: JobContext) -> str:
    """Of the build, so that the same reports give the same file."""
    return (job.build.started_at or datetime.now(UTC)).date().isoformat()


def _summary(found: Calibration, digest: str) -> dict[str, Any]:
    """What the refit rests on, its errors before and after, and how much it would change the model."""
    return {
        "digest": digest,
        "summary": found.summary,
        "designs": found.designs,
        "routed_kernels": found.pairs,
        "skipped": len(found.skipped),
        "errors": [_errors(row) for row in found.rows],
        "changes": {
            name: {"lut": [before.lut, after.lut], "ff": [before.ff, after.ff]}
            for name, after in found.coefficients.items()
            if (before := found.before[name]) != after
        },
        "largest_change": _largest_change(found),
    }


def _errors(row: ErrorRow) -> dict[str, Any]:
    after = row.other_designs
    return {
        "kind": row.kind,
        "resource": row.resource,
        "samples": row.n,
        "before": row.before.median,
        "after": None if after is None else after.median,
    }


def _largest_change(found: Calibration) -> float:
    """The largest relative change of a coefficient that the model had."""
    changes = (
        abs(getattr(after, name) - old) / old
        for key, after in found.coefficients.items()
        for name in ("lut", "ff")
        if (old := getattr(found.before[key], name)) > 0
    )
    return max(changes, default=0.0)
