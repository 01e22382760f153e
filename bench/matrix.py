"""Every model family, phase and precision: import, compile, C simulation against PyTorch. Prints the matrix.

python -m bench.matrix
python -m bench.matrix llama-1.1b --phase decode --precision w4a8
python -m bench.matrix --odd --whole

Hidden sizes are the real ones; one layer and a short sequence. `--odd` takes small networks of shapes that do not
divide well instead. Below the matrix: how close each kind of task came to what is allowed, over all designs. Ends with
status 1 where a design differs.
"""

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

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
ROWS, CONTEXT = 8, 16  # of a prefill, of a decode step
_GPT2 = {"model_type": "gpt2", "n_layer": 1, "n_positions": 64}
_LLAMA = {"num_hidden_layers": 1, "max_position_embeddings": 64}
# Small networks of odd shapes, by name; and on what lengths, prefill and decode, each is tried.
ODD: dict[str, tuple[dict[str, Any], int, int]] = {
    "five heads, K of 250": ({**_GPT2, "n_embd": 250, "n_head": 5, "n_inner": 386}, 5, 7),
    "seven heads": ({**_GPT2, "n_embd": 252, "n_head": 7, "n_inner": 250}, 9, 11),
    "nine heads, K of 386": ({**_GPT2, "n_embd": 72, "n_head": 9, "n_inner": 386}, 3, 5),
    "sequence of 1, context of 2": ({**_GPT2, "n_embd": 64, "n_head": 4}, 1, 2),
    "sliding window of 5": (
        {**_LLAMA, "model_type": "gemma3_text", "hidden_size": 96, "intermediate_size": 250, "num_attention_heads": 6,
         "num_key_value_heads": 1, "head_dim": 16, "query_pre_attn_scalar": 16, "sliding_window": 5,
         "sliding_window_pattern": 2, "vocab_size": 96}, 12, 13,
    ),
}  # fmt: skip
PHASES: tuple[Phase, ...] = ("prefill", "decode", "step")
PRECISIONS: tuple[Precision, ...] = get_args(Precision)


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
    checks: tuple[dict[str, Any], ...] = ()


def run(workload: Workload, jobs: int, whole: bool = False) -> Row:
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
            verdict = csim(design, jobs=jobs, whole=whole)
        times["csim"], message = verdict.seconds, verdict.message
    except MillraceError as failure:
        message = f"{type(failure).__name__}: {failure}"
    return Row(
        Path(workload.model).stem,
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
        verdict.checks if verdict is not None else (),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help=f"default: {' '.join(MODELS)}")
    parser.add_argument("--phase", choices=PHASES, action="append", dest="phases")
    parser.add_argument("--precision", choices=PRECISIONS, action="append", dest="precisions")
    parser.add_argument("--seq", type=int, default=ROWS, help="rows of a prefill (default: %(default)s)")
    parser.add_argument(
        "--context", type=int, default=CONTEXT, help="context of a decode or step (default: %(default)s)"
    )
    parser.add_argument("--jobs", type=int, default=2, help="compilers of C++ side by side (default: %(default)s)")
    parser.add_argument("--odd", action="store_true", help="small networks of odd shapes instead")
    parser.add_argument("--whole", action="store_true", help="prove each on more inputs")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    console = Console(stderr=arguments.json)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for model, lengths in _networks(arguments, Path(folder)).items():
            for phase in arguments.phases or PHASES:
                for precision in arguments.precisions or PRECISIONS:
                    workload = Workload(model, phase, lengths[phase], precision)
                    with console.status(f"{Path(model).stem} {phase} {workload.length} {precision}"):
                        rows.append(run(workload, arguments.jobs, arguments.whole))
                    console.print(_line(rows[-1]))
    console.print(_table(rows))
    console.print(_closeness(rows))
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows]))
    return 0 if all(row.passed for row in rows) else 1


def _networks(arguments: argparse.Namespace, folder: Path) -> dict[str, dict[Phase, int]]:
    """The models, built-in or in files in `folder`, with the length of each phase."""
    if not arguments.odd:
        lengths: dict[Phase, int] = {"prefill": arguments.seq, **dict.fromkeys(("decode", "step"), arguments.context)}
        return dict.fromkeys(arguments.models or MODELS, lengths)
    found: dict[str, dict[Phase, int]] = {}
    for name, (fields, seq, context) in ODD.items():
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(json.dumps(fields))
        found[str(folder / name)] = {"prefill": seq, "decode": context, "step": context}
    return found


def _closeness(rows: list[Row]) -> Table:
    """The largest difference of each kind of task, as a share of what is allowed there."""
    table = Table(title="largest difference of what is allowed, by kind of task")
    for name in ("compared with", "kind", "tasks", "elements", "largest", "at a boundary"):
        table.add_column(name, justify="left" if name in {"compared with", "kind"} else "right")
    against = {"local": "its operation", "global": "the network"}
    for scope, kind in sorted({(c["scope"], c["kind"]) for row in rows for c in row.checks}):
        group = [c for row in rows for c in row.checks if (c["scope"], c["kind"]) == (scope, kind)]
        sums = (f"{sum(c[name] for c in group):,}" for name in ("tasks", "elements"))
        used = max(c["used"] for c in group)
        table.add_row(against[scope], kind, *sums, f"{100 * used:.2g} %", str(sum(c["flipped"] for c in group)))
    return table


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
