"""How long the table of all designs takes: reading it, and writing it in each format. Aim: 2 s for 10,000 designs.

python -m bench.table
python -m bench.table --designs 50000 --database postgresql+psycopg://...

Fills an empty database (SQLite in a temporary folder, or `--database`) with one exploration, with as many metrics and
knobs a design as a search stores. Times are of the processor, so that a busy machine does not change them.
"""

import argparse
import tempfile
import time
from pathlib import Path
from random import Random

from sqlalchemy.orm import Session

from api.services import tables
from compiler.options import Knobs
from db.engine import Database
from db.migrate import upgrade
from db.repositories import catalog, designs, explorations
from db.repositories.designs import NewDesign, NewMetric

METRICS = {
    "latency": "us",
    "cycles": "cycles",
    "energy": "uJ",
    "energy_with_idle": "uJ",
    "power": "W",
    "lut": "LUT",
    "ff": "FF",
    "dsp": "DSP",
    "bram36": "BRAM36",
    "uram": "URAM",
    "hbm_ports": "ports",
    "hbm_traffic": "bytes",
    "hbm_bandwidth": "GB/s",
    "on_chip_memory": "bytes",
    "slowest_ii": "cycles",
    "kernels": "kernels",
    "tasks": "tasks",
    "padding_share": "%",
    "converters": "converters",
}
_BATCH = 1000


def main() -> None:
    """Fill, read, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", type=int, default=10_000)
    parser.add_argument("--database")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = arguments.database or f"sqlite:///{Path(folder, 'bench.db')}"
        upgrade(url)
        database = Database(url)
        with database.write() as session:
            exploration = _fill(session, arguments.designs)
        with database.read() as session:
            tables.design_table(session, exploration)  # statements are compiled
            begin = time.process_time()
            table = tables.design_table(session, exploration)
            reading = time.process_time() - begin
        database.close()
    print(f"{arguments.designs} designs, {len(table.columns)} columns: read in {reading:.2f} s of the processor")
    for name, (_, encode) in tables.FORMATS.items():
        begin = time.process_time()
        size = len(encode(table))
        whole = reading + time.process_time() - begin
        print(f"{name:>6} {size / 1e6:6.1f} MB  {whole:5.2f} s in all, {arguments.designs / whole:,.0f} designs/s")


def _fill(session: Session, count: int) -> str:
    model = catalog.put_builtin(session, "gpt2", {}, "m" * 64)
    workload = catalog.put_workload(session, model, "decode", 64, 1, "w4a8", 1, "w" * 64)
    made = explorations.add(session, workload, "u55c", [], {"seed": 0, "sampler": "nsga2", "verify": 3}, count)
    draw = Random(0)
    for start in range(0, count, _BATCH):
        designs.add(session, made.id, [_design(n, draw) for n in range(start, min(start + _BATCH, count))])
    return made.id


def _design(number: int, draw: Random) -> NewDesign:
    found = tuple(
        NewMetric(name, 1000 * draw.random(), unit, "estimate", "millrace", "0.1") for name, unit in METRICS.items()
    )
    latency, energy = 1000 * draw.random(), 1000 * draw.random()
    return NewDesign(number, f"k{number}", Knobs().to_json(), True, latency, energy, [], None, 0.01, found)


if __name__ == "__main__":
    main()
