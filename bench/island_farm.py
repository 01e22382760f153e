"""One exploration as islands on one node of two slots, and on two: how much sooner it is done, and whether it is equal.

python -m bench.island_farm
python -m bench.island_farm --sleep 0 --model gpt2 --budget 400    # the real evaluator

Real Postgres and Redis of its own, real workers. With `--sleep` an evaluation is a stand-in that sleeps so many ms, so
that nodes which share this machine's cores count as if each had its own; without, a block of a model in decode is
imported, and its designs are priced. `killed`: two nodes, of which one is killed when a third of the designs are
stored. Seconds are those of the search, from its first build to its last.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from bench.farm import announce, servers, settings_on, workers
from db.models import ACTIVE_STATES, Exploration
from db.repositories import builds, catalog, designs, explorations
from dse.objectives import DEFAULT
from worker.farm import Farm, open_farm
from worker.ladder import exploring
from worker.settings import Settings

_SUPPORT = Path(__file__).parents[1] / "tests" / "support"
_SECONDS = 3600.0
Found = list[tuple[int, str, tuple[float, ...]]]


def main() -> None:
    """Print seconds and whether the designs are equal."""
    arguments = _arguments()
    with servers() as (postgres, redis_url), tempfile.TemporaryDirectory() as folder:
        rows: dict[str, tuple[float, Found]] = {}
        for name, count in (("one node", 1), ("two nodes", 2), ("killed", 2)):
            home = Path(folder) / name.replace(" ", "_")
            stages = "service_stages:STAGES" if arguments.sleep else "worker.stages.functions:STAGES"
            settings = settings_on(home, postgres, redis_url, concurrency=2, stages=stages, lease_seconds=20)
            rows[name] = _searched(arguments, settings, count, killed=name == "killed")
            print(f"{name:10} {rows[name][0]:7.1f} s  {len(rows[name][1])} designs", flush=True)
    (one, first), (two, second), (_, third) = rows.values()
    print(f"two nodes are {one / two:.2f} times as fast; equal designs: {first == second}; killed: {second == third}")
    sys.exit(0 if first == second == third else 1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--islands", type=int, default=4)
    parser.add_argument("--budget", type=int, default=4000)
    parser.add_argument("--sleep", type=float, default=20, help="ms of an evaluation; 0: the real one")
    parser.add_argument("--model", default="gpt2", help="of the real evaluator")
    return parser.parse_args()


def _searched(arguments: argparse.Namespace, settings: Settings, count: int, *, killed: bool) -> tuple[float, Found]:
    farm = open_farm(settings)
    announce(farm)
    with farm.database.write() as session:
        model = catalog.put_model(session, arguments.model, "builtin", {}, "m" * 64)
        workload = catalog.put_workload(session, model, "decode", 64, 1, "w4a8", 1, "w" * 64)
        options = {"seed": 0, "sampler": "front", "islands": arguments.islands, "simulate": 0, "calibration": 0}
        made = exploring.start(
            farm, session, workload, "u55c", {**options, "verify": 0}, arguments.budget, objectives=[*DEFAULT]
        )
    path = os.pathsep.join((str(_SUPPORT.parents[1]), str(_SUPPORT)))
    with workers(count, settings, PYTHONPATH=path, SLOW_SECONDS=str(arguments.sleep / 1e3)) as started:
        waits = killed
        while (now := _stored(farm, made))[0] in ACTIVE_STATES:
            if waits and now[1] >= arguments.budget // 3:
                os.killpg(started[1].pid, signal.SIGKILL)
                waits = False
            time.sleep(0.1)
    assert now[0] == "done", now
    with farm.database.read() as session:
        searches = builds.of_exploration(session, made.id, "search")
        begun, ended = (b.started_at for b in searches), (b.finished_at for b in searches)
        seconds = max(t for t in ended if t) - min(t for t in begun if t)
        found = [(d.number, d.key, tuple(d.objectives)) for d in designs.stored(session, made.id)]
    farm.close()
    return seconds.total_seconds(), found


def _stored(farm: Farm, made: Exploration) -> tuple[str, int]:
    with farm.database.read() as session:
        counts = explorations.counts(session, [made.id]).get(made.id, explorations.Counts())
        return explorations.get(session, made.id).state, counts.evaluated


if __name__ == "__main__":
    main()
