"""What the simulated HBM delivers, beside what was measured on boards: a stream, all channels, bursts at random.

python -m bench.hbm
python -m bench.hbm --clock 300 --json

Each row is a design of loads alone that read 4 MiB a port, simulated from its start to its last token. The measured
figures are those of the platform file (Shuhai, AMD HBM tutorial) and the 420 GB/s of all 32 channels together.
"""

import argparse
import json
from dataclasses import asdict, dataclass, replace

from compiler.graph.program import Access
from compiler.graph.task_graph import TimingSpec
from compiler.platforms.platform import Platform, load_platform
from compiler.simulator.timing.design import TimedDesign, TimedStream, TimedTask, Transfer
from compiler.simulator.timing.simulate import simulate_design

WORDS = 1 << 16  # of 64 bytes, that each port reads
SEQUENTIAL_GB_S, ALL_GB_S = 13.1, 420.0


@dataclass(frozen=True)
class Row:
    """One access pattern: GB/s (1e9 bytes/s) measured on a board and simulated."""

    pattern: str
    measured: float
    simulated: float

    @property
    def error(self) -> float:
        return self.simulated / self.measured - 1.0


def loads(count: int, run: int | None, spread: int = 1) -> TimedDesign:
    """`count` loads of one port each, their memory over `spread` channels, the address jumping after `run` words."""
    tasks: list[TimedTask] = []
    streams: list[TimedStream] = []
    for n in range(count):
        name, access = f"load_{n}", (Access(f"s{n}"),)
        channels = tuple(n * spread + c for c in range(spread))
        transfer = Transfer(1, 1, 1, run, channels)
        tasks.append(TimedTask(name, "load", 0, TimingSpec((WORDS,), 1, 66), (), access, transfer))
        tasks.append(TimedTask(f"sink_{n}", "compute", 0, TimingSpec((WORDS,), 1, 2), access, ()))
        streams.append(TimedStream(f"s{n}", name, f"sink_{n}", 2))
    return TimedDesign("loads", 1, tuple(tasks), tuple(streams))


def delivered(design: TimedDesign, platform: Platform) -> float:
    """GB/s over the whole run, the latency of the first word included."""
    found = simulate_design(design, platform, buckets=0)
    return sum(h.bytes for h in found.hbm) / found.latency_us * 1e-3


def rows(platform: Platform) -> list[Row]:
    """All patterns that there are measurements of."""
    hbm = platform.hbm
    found = [
        Row("sequential, 1 channel", SEQUENTIAL_GB_S, delivered(loads(1, None), platform)),
        Row(f"sequential, {hbm.channels} channels", ALL_GB_S, delivered(loads(hbm.channels, None), platform)),
    ]
    for spread, table in ((1, hbm.random_gb_s), (4, hbm.spread_gb_s)):
        for size, measured in table:
            where = "own channel" if spread == 1 else f"over {spread} channels"
            found.append(Row(f"random {size} B, {where}", measured, delivered(loads(1, size // 64, spread), platform)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", default="u55c")
    parser.add_argument("--clock", type=float, help="MHz of the kernels (default: the platform's)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    args = parser.parse_args()
    platform = load_platform(args.platform)
    platform = replace(platform, clock_mhz=args.clock) if args.clock else platform
    found = rows(platform)
    if args.json:
        print(json.dumps([{**asdict(row), "error": round(row.error, 4)} for row in found]))
        return
    print(f"{'pattern':32} {'measured':>9} {'simulated':>9}  error    GB/s at {platform.clock_mhz:g} MHz")
    for row in found:
        print(f"{row.pattern:32} {row.measured:9.2f} {row.simulated:9.2f}  {100 * row.error:+.1f} %")


if __name__ == "__main__":
    main()
