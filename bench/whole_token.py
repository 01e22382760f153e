"""What a whole reply takes with the designs that `millrace generate` would run, by the definitions of one prompt.

    .venv/bin/python -m bench.whole_token gpt2-medium
    .venv/bin/python -m bench.whole_token gpt2-medium --knobs knobs.json    # of a design: `knobs` of its design.json
    .venv/bin/python -m bench.whole_token gpt2 --prompt 16 --steps 16 --layers 2

A prompt of 128 tokens, then a token at each of the positions 128 to 255, by one prefill design, one decode design that
has room for all of them, and the head: compiled, certified and simulated, nothing is built or run. All layers are
one launch, the head another (`compiler/whole_token.py` has the definitions and what is assumed).
"""

import argparse
import json
import tempfile
from pathlib import Path

from compiler.design_dir import silent
from compiler.frontend.bundle import import_model
from compiler.frontend.models.config import resolve_model
from compiler.generation import whole_reply
from compiler.options import Knobs, Phase, Precision, Workload
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="built-in names or folders")
    parser.add_argument("--knobs", type=Path, help="JSON of knobs (default: the usual ones)")
    parser.add_argument("--prompt", type=int, default=128, help="tokens (default 128)")
    parser.add_argument("--steps", type=int, default=128, help="tokens after the first (default 128)")
    parser.add_argument("--layers", type=int, help="only the first (default: all)")
    parser.add_argument("--precision", choices=("f32", "w8a8", "w4a8"), default="w4a8")
    options = parser.parse_args()
    knobs = Knobs.from_json(json.loads(options.knobs.read_text())) if options.knobs else Knobs()
    lengths: dict[Phase, int] = {"prefill": options.prompt, "step": options.prompt + options.steps, "head": 1}
    for model in options.models:
        layers = options.layers or resolve_model(model).config.layers
        with tempfile.TemporaryDirectory() as folder:
            prefill, decode, head = (
                _design(_workload(model, phase, length, options.precision, layers), knobs, Path(folder))
                for phase, length in lengths.items()
            )
            positions = range(options.prompt, options.prompt + options.steps)
            reply = whole_reply((prefill, decode, head), positions)
        print(f"{model}, {options.precision}, {layers} layers, prompt {options.prompt}, {options.steps} steps")
        for name, part in (("prefill", reply.prefill), ("decode", reply.decode), ("head", reply.head)):
            print(f"  {name}: {part.time_us:,.1f} us a run (simulate), {part.kernels} kernel(s)")
        for metric in reply.metrics:
            print(f"  {metric.name}: {metric.value:,.4g} {metric.unit} ({metric.fidelity})")
        print(f"  assumed: {reply.assumed}; {reply.least_bytes / 1e6:,.1f} MB at least a token", flush=True)


def _workload(model: str, phase: Phase, length: int, precision: Precision, layers: int) -> Workload:
    return Workload(model, phase, length, precision, layers=1 if phase == "head" else layers)


def _design(workload: Workload, knobs: Knobs, folder: Path) -> Path:
    out = folder / workload.phase
    bundle = import_model(workload.model, workload, folder / "bundles")
    compile_design(bundle, knobs, load_platform("u55c"), out, silent)
    return out


if __name__ == "__main__":
    main()
