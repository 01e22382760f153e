"""Every model family, phase and precision: import, compile, C simulation against PyTorch. Prints the matrix.

python -m bench.matrix
python -m bench.matrix llama-1.1b --phase decode --precision w4a8

Hidden sizes are the real ones; one layer and a short sequence. Ends with status 1 where a design differs.
"""

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.workload import bundle_cache
from compiler.errors import MillraceError
from compiler.frontend.bundle import import_model
from compiler.options import Knobs, Phase, Precision, Workload
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform
from compiler.proof.csim import csim
from compiler.proof.verdict import Verdict

MODELS = ("gpt2-medium", "qwen2.5-0.5b", "llama-1.1b", "gemma3-1b")
PHASES: tuple[Phase, ...] = ("prefill", "decode")
PRECISIONS: tuple[Precision, ...] = ("f32", "w8a8", "w4a8")


@dataclass(frozen=True)
class Row:
    """One cell of the matrix; errors relative to the largest magnitude of each result."""

    model: str
    phase: str
    length: int
    precision: str
    passed: bool
    largest_error: float
    tasks_proven: str
    import_s: float
    compile_s: float
    csim_s: float
    message: str


def run(workload: Workload, jobs: int) -> Row:
    """Build and check one design in a folder of its own."""
    start = time.perf_counter()
    times = {"import": 0.0, "compile": 0.0, "csim": 0.0}
    verdict: Verdict | None = None
    message = ""
    try:
        bundle = import_model(workload.model, workload, bundle_cache())
        times["import"] = time.perf_counter() - start
        with tempfile.TemporaryDirectory() as folder:
            design = Path(folder) / "design"
            compile_design(bundle, Knobs(), load_platform("u55c"), design)
            times["compile"] = time.perf_counter() - start - times["import"]
            verdict = csim(design, jobs=jobs)
        times["csim"], message = verdict.seconds, verdict.message
    except MillraceError as failure:
        message = f"{type(failure).__name__}: {failure}"
    return Row(
        workload.model,
        workload.phase,
        workload.length,
        workload.precision,
        verdict is not None and verdict.passed,
        max((o.max_rel_error for o in verdict.outputs), default=0.0) if verdict is not None else float("nan"),
        f"{verdict.tasks_checked} of {verdict.tasks}" if verdict is not None else "0",
        times["import"],
        times["compile"],
        times["csim"],
        message,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help=f"default: {' '.join(MODELS)}")
    parser.add_argument("--phase", choices=PHASES, action="append", dest="phases")
    parser.add_argument("--precision", choices=PRECISIONS, action="append", dest="precisions")
    parser.add_argument("--seq", type=int, default=8, help="rows of a prefill (default: %(default)s)")
    parser.add_argument("--context", type=int, default=16, help="context of a decode step (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="compilers of C++ side by side (default: %(default)s)")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    console = Console(stderr=arguments.json)
    rows: list[Row] = []
    for model in arguments.models or MODELS:
        for phase in arguments.phases or PHASES:
            for precision in arguments.precisions or PRECISIONS:
                length = arguments.seq if phase == "prefill" else arguments.context
                with console.status(f"{model} {phase} {length} {precision}"):
                    rows.append(run(Workload(model, phase, length, precision), arguments.jobs))
                console.print(_line(rows[-1]))
    console.print(_table(rows))
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows]))
    return 0 if all(row.passed for row in rows) else 1


def _line(row: Row) -> str:
    took = f"{row.import_s:.1f} + {row.compile_s:.1f} + {row.csim_s:.1f} s"
    verdict = f"[green]passed[/] {row.largest_error:.1e}" if row.passed else f"[red]failed[/] {row.message}"
    return f"{row.model:14} {row.phase:7} {row.length:4} {row.precision:5} {verdict} ({took})"


def _table(rows: list[Row]) -> Table:
    table = Table(title=f"{sum(r.passed for r in rows)} of {len(rows)} pass: emitted C++ against PyTorch")
    for name in (
        "model",
        "phase",
        "precision",
        "verdict",
        "largest error",
        "tasks proven",
        "compile s",
        "csim s",
    ):
        table.add_column(name, justify="left" if name in {"model", "phase", "precision", "verdict"} else "right")
    for r in rows:
        verdict = "[green]passed[/]" if r.passed else "[red]failed[/]"
        table.add_row(
            r.model, f"{r.phase} {r.length}", r.precision, verdict, f"{r.largest_error:.1e}", r.tasks_proven,
            f"{r.compile_s:.1f}", f"{r.csim_s:.1f}",
        )  # fmt: skip
    return table


if __name__ == "__main__":
    sys.exit(main())
