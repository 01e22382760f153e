"""What a whole reply takes with the design that `millrace generate` would run, by the definitions of one prompt.

    .venv/bin/python -m bench.whole_token gpt2-medium
    .venv/bin/python -m bench.whole_token gpt2-medium --knobs knobs.json    # of a design: `knobs` of its design.json
    .venv/bin/python -m bench.whole_token gpt2 --prompt 16 --steps 16 --layers 2

A prompt of 128 tokens, then a token at each of the positions 128 to 255, in one launch, by one design that has room for
all of them: planned, certified and simulated, nothing is emitted or run (`compiler/whole_token.py` has the definitions
and what is assumed).
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import get_args

from bench.board_limit.planned import plan
from bench.workload import knobs_in
from compiler.frontend.models.config import resolve_model
from compiler.options import Knobs, Precision
from compiler.platforms.platform import load_platform


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="built-in names or folders")
    parser.add_argument("--knobs", type=knobs_in, default=Knobs(), help="JSON of knobs (default: the usual ones)")
    parser.add_argument("--prompt", type=int, default=128, help="tokens (default 128)")
    parser.add_argument("--steps", type=int, default=128, help="tokens after the first (default 128)")
    parser.add_argument("--layers", type=int, help="only the first (default: all)")
    parser.add_argument("--precision", choices=get_args(Precision), default="w4a8")
    options = parser.parse_args()
    board = load_platform("u55c")
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            begun = time.process_time()
            design = plan(
                model,
                options.knobs,
                options.prompt + options.steps,
                board,
                Path(folder),
                options.precision,
                options.layers,
            )
            planned = time.process_time() - begun
            reply, over = design.reply(options.prompt, options.steps), design.exceeded
        layers = options.layers or resolve_model(model).config.layers
        print(f"{model}, {options.precision}, {layers} layers, prompt {options.prompt}, {options.steps} steps")
        print(f"  planned, certified and placed in {planned:.1f} s of the processor")
        print("  " + (f"FITS NO BOARD: {'; '.join(over)}" if over else "within all budgets of the board"))
        chunks = ", ".join(f"{us:,.1f}" for us in reply.prompt_us)
        print(f"  the prompt, in chunks or token by token: {chunks} us (simulate)")
        for place, us in (("first", reply.later_us[:1]), ("last", reply.later_us[-1:])):
            print(f"  a token: {sum(us):,.1f} us at the {place} position behind it (simulate)")
        for metric in reply.metrics:
            print(f"  {metric.name}: {metric.value:,.4g} {metric.unit} ({metric.fidelity})")
        print(f"  assumed: {reply.assumed}; {reply.least_bytes / 1e6:,.1f} MB at least a token", flush=True)


if __name__ == "__main__":
    main()
