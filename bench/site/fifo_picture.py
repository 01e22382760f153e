"""Tokens in one FIFO of a real design over time, with the certified depth and with one step of memory less."""

from bench.site.networks import block_graph, board
from bench.site.svg import Drawing
from compiler.analysis.memory_steps import next_smaller
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.simulator.timing.core import Plan, Run
from compiler.simulator.timing.network import Outcome
from compiler.simulator.timing.translate import networks_of
from compiler.sizing.certify import certify

FIFO = "h0_residual_1_in0"  # the residual, which waits for attention
SAMPLES = 300
LEFT, TOP, WIDTH, HEIGHT = 60, 64, 620, 220
Series = list[tuple[int, int]]


def tokens_over_time(plan: Plan, depths: dict[str, int | None], cycles: int) -> tuple[Series, Outcome]:
    """(cycle, tokens in the FIFO) at `SAMPLES` times of a run with `depths`, and how it ended."""
    run, series = Run(plan, depths, 0), []
    outcome = run.go(0)
    for sample in range(1, SAMPLES + 1):
        outcome = run.go(cycles * sample // SAMPLES)
        fifo = next(f for f in outcome.fifos if f.name == FIFO)
        series.append((min(outcome.cycles, cycles * sample // SAMPLES), fifo.pushed - fifo.popped))
    return series, outcome


def fifo() -> str:
    sized = certify(planned_tasks(block_graph(), Knobs(), board()), board()).tasks
    stream = sized.stream[FIFO]
    [plan] = [Plan(network) for network in networks_of(sized, board()) if FIFO in {f.name for f in network.fifos}]
    cycles = plan.run().cycles
    series, outcome = tokens_over_time(plan, {}, cycles)
    smaller = next_smaller(stream.width, stream.depth, board().memories)
    assert smaller is not None, "a FIFO that takes no memory shows nothing"
    failing, end = tokens_over_time(plan, {FIFO: smaller}, cycles)
    peak = next(f.peak for f in outcome.fifos if f.name == FIFO)
    drawing = Drawing(f"Tokens in the FIFO {FIFO} over the {cycles} cycles of a GPT-2 block")
    text = f"from {stream.source} to {stream.target}, {stream.width} bits a token"
    drawing.text(LEFT, 18, text, kind="code")
    drawing.text(LEFT, 36, f"certified depth {stream.depth}: {stream.reason}", kind="code")
    _plot(drawing, cycles, peak, stream.depth, [(series, "s0"), (failing, "s1")])
    ends = "deadlocks" if end.deadlocked else "takes longer"
    drawing.dot(LEFT + 6, TOP + HEIGHT + 44, 4, "f0")
    drawing.text(LEFT + 16, TOP + HEIGHT + 48, f"as certified: at most {peak} tokens, done after {cycles:,} cycles")
    drawing.dot(LEFT + 6, TOP + HEIGHT + 62, 4, "f1")
    drawing.text(LEFT + 16, TOP + HEIGHT + 66, f"with {smaller} tokens: {ends} after {end.cycles:,} cycles")
    return drawing.svg(LEFT + WIDTH + 40, TOP + HEIGHT + 78)


def _plot(drawing: Drawing, cycles: int, peak: int, depth: int, runs: list[tuple[Series, str]]) -> None:
    """Tokens up to a little above the peak; the certified depth where it is in sight."""
    top = peak * 1.25

    def at(cycle: float, tokens: float) -> tuple[float, float]:
        return LEFT + WIDTH * cycle / cycles, TOP + HEIGHT * (1 - tokens / top)

    drawing.rect(LEFT, TOP, WIDTH, HEIGHT, "axis")
    for tokens in (0, peak // 2, peak):
        drawing.line([at(0, tokens), at(cycles, tokens)], "grid")
        drawing.text(LEFT - 6, at(0, tokens)[1] + 4, str(tokens), "end", "small")
    if depth <= top:
        drawing.line([at(0, depth), at(cycles, depth)], "s3 dashed")
    for series, kind in runs:
        drawing.line([at(0, 0), *(at(*point) for point in series)], kind)
    drawing.text(LEFT, TOP - 8, "tokens in the FIFO", kind="small")
    for share in (0, 0.5, 1):
        drawing.text(LEFT + WIDTH * share, TOP + HEIGHT + 16, f"{round(cycles * share):,}", "middle", "small")
    drawing.text(LEFT + WIDTH / 2, TOP + HEIGHT + 30, "cycles", "middle", "small")
