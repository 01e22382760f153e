"""Seconds that `compile` takes for one design, import excluded (aim: 5 s at most), and seconds of the processor.

python bench/compile.py gpt2 --phase decode --length 64 --precision w4a8 --repeat 3
"""

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import get_args

from bench.workload import bundle_cache
from compiler.frontend.bundle import import_model
from compiler.options import Knobs, Precision, Workload
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="gpt2")
    parser.add_argument("--phase", default="decode", choices=("prefill", "decode", "step", "head"))
    parser.add_argument("--length", type=int, help="of a prefill or a decode step (default: 64)")
    parser.add_argument("--precision", default="w4a8", choices=get_args(Precision))
    parser.add_argument("--fifo-effort", default="quick", choices=("quick", "full"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    length = arguments.length or (1 if arguments.phase == "head" else 64)
    workload = Workload(arguments.model, arguments.phase, length, arguments.precision)
    bundle = import_model(arguments.model, workload, bundle_cache())
    seconds: list[float] = []
    processor_seconds: list[float] = []
    stages: dict[str, float] = {}
    for _ in range(arguments.repeat):
        with tempfile.TemporaryDirectory() as folder:
            marks: list[tuple[str, float]] = []
            start, processor = time.perf_counter(), time.process_time()
            compile_design(
                bundle,
                Knobs(),
                load_platform("u55c"),
                Path(folder) / "design",
                lambda name, marks=marks: marks.append((name, time.perf_counter())),
                arguments.fifo_effort,
            )
            end = time.perf_counter()
        seconds.append(end - start)
        processor_seconds.append(time.process_time() - processor)
        ends = [at for _, at in marks[1:]] + [end]
        stages = {name: after - at for (name, at), after in zip(marks, ends, strict=True)}
    result = {
        "median_s": statistics.median(seconds),
        "min_s": min(seconds),
        "max_s": max(seconds),
        "processor_median_s": statistics.median(processor_seconds),
        "stages_s": stages,
    }
    if arguments.json:
        print(json.dumps(result))
        return
    print(f"{arguments.model} {arguments.phase} {length} {arguments.precision}, {arguments.repeat} runs")
    print(f"compile: median {result['median_s']:.2f} s, {min(seconds):.2f} to {max(seconds):.2f} s")
    print(f"processor: median {result['processor_median_s']:.2f} s")
    for name, took in stages.items():
        print(f"  {name:32} {took:6.2f} s")


if __name__ == "__main__":
    main()
