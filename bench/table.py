"""How long the table of all designs takes, from the database of a service to a DataFrame. Aim: 2 s for 10,000 designs.

python -m bench.table
python -m bench.table --designs 50000 --database postgresql+psycopg://...

Fills an empty database (SQLite in a temporary folder, or `--database`) with one exploration, with as many metrics and
knobs a design as a search stores, starts an API on it, and asks for the table in each format as people do: `df()` of
the client (JSON), pandas' reader of CSV, and columns from Arrow. Seconds of the clock, and in brackets those of the
processor, of service and client together, which a busy machine does not change. The first JSON is of a service that
has just started.
"""

import argparse
import io
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nanoarrow
import pandas
import psutil

import millrace
from bench.stored_search import running_api, store_search
from db.engine import Database
from db.migrate import upgrade


def main() -> None:
    """Fill, start, ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", type=int, default=10_000)
    parser.add_argument("--database")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        url = arguments.database or f"sqlite:///{Path(home, 'bench.db')}"
        upgrade(url)
        database = Database(url)
        with database.write() as session:
            exploration, _ = store_search(session, arguments.designs)
        database.close()
        with running_api(home, url) as (address, api), millrace.Client(address) as client:
            ways = ways_to_a_frame(client, exploration)
            for name, way in (("json, first", ways["json"]), *ways.items()):
                clock, processor, frame = timed(way, api)
                shape = f"{len(frame)} designs, {len(frame.columns)} columns"
                print(f"{name:>11}  {clock:5.2f} s ({processor:.2f} s)  {shape}")
                assert len(frame) == arguments.designs


def ways_to_a_frame(client: millrace.Client, exploration: str) -> dict[str, Callable[[], pandas.DataFrame]]:
    """What gives a DataFrame of all designs, by format."""

    def file(form: str) -> io.BytesIO:
        return io.BytesIO(client.table_file(exploration, form))

    def from_arrow() -> pandas.DataFrame:
        stream: Any = nanoarrow.ArrayStream.from_readable(file("arrow"))
        names, columns = stream.read_all().to_columns_pysequence()
        return pandas.DataFrame(dict(zip(names, columns, strict=True)))

    return {
        "json": lambda: millrace.find(exploration, server=client).df(),
        "csv": lambda: pandas.read_csv(file("csv")),
        "arrow": from_arrow,
    }


def timed(way: Callable[[], pandas.DataFrame], api: psutil.Process) -> tuple[float, float, pandas.DataFrame]:
    """Seconds of the clock, and of the processor in this process and the API's; the frame."""
    clock, own, others = time.perf_counter(), time.process_time(), sum(api.cpu_times()[:2])
    frame = way()
    processor = time.process_time() - own + sum(api.cpu_times()[:2]) - others
    return time.perf_counter() - clock, processor, frame


if __name__ == "__main__":
    main()
