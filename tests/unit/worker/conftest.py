"""A farm on SQLite whose tickets are recorded instead of sent."""

from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from migrated import migrated

from db.models import Exploration
from db.repositories import catalog, explorations
from worker.farm import Farm, open_farm
from worker.settings import Settings


@dataclass
class Sent:
    """Tickets in the order they were sent, by queue; `error` is raised instead of sending."""

    tickets: list[str] = field(default_factory=list[str])
    error: Exception | None = None

    def __call__(self, queue: str) -> None:
        if self.error is not None:
            raise self.error
        self.tickets.append(queue)

    def take(self) -> list[str]:
        taken, self.tickets = self.tickets, []
        return taken


@pytest.fixture
def sent() -> Sent:
    return Sent()


@pytest.fixture
def farm(tmp_path: Path, sent: Sent) -> Generator[Farm]:
    settings = Settings(home=tmp_path / "home", stages="service_stages:STAGES")
    migrated(settings.database)
    made = open_farm(settings, sent)
    yield made
    made.close()


@pytest.fixture
def exploration(farm: Farm) -> Exploration:
    with farm.database.write() as session:
        model = catalog.put_model(session, "gpt2", "builtin", {}, "m" * 64)
        workload = catalog.put_workload(session, model, "decode", 64, 1, "w4a8", 1, "w" * 64)
        options = {"seed": 0, "sampler": "random", "verify": 3}
        return explorations.add(session, workload, "u55c", ["latency", "energy"], options, 24)
