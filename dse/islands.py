"""Several searches of one exploration: islands, which begin with the same history and exchange what they found at
fixed counts of their own designs (`dse.turns`). This runs them one after the other; a farm does so side by side, and
finds the same.
"""

from collections.abc import Iterable, Sequence

from compiler.graph.linalg_graph import LinalgGraph
from compiler.platforms.platform import Platform
from dse.evaluate import Evaluator, evaluate
from dse.explore import EvaluatedDesign, SearchOptions, SearchResult, Sink, search
from dse.turns import next_turns


def exchanged(history: Sequence[EvaluatedDesign], found: Iterable[EvaluatedDesign]) -> list[EvaluatedDesign]:
    """The history and what a turn's islands found: of those with equal knobs or accelerators the first by number."""
    known, merged = set[str](), list[EvaluatedDesign]()
    for design in (*history, *sorted(found, key=lambda d: d.number)):
        names = {design.key, design.evaluation.accelerator or design.key}
        if known.isdisjoint(names):
            merged.append(design)
        known |= names
    return merged


def search_islands(
    graph: LinalgGraph, platform: Platform, options: SearchOptions, sink: Sink, evaluator: Evaluator = evaluate
) -> tuple[list[EvaluatedDesign], list[SearchResult]]:
    """All turns one after the other in this process: the designs, by number, and what each search said of itself. The
    sink is told of each search's designs, which may be another's too.
    """
    history, results, first = list[EvaluatedDesign](), list[SearchResult](), 0
    while turns := next_turns(options.budget, options.islands, len(history), first):
        found = [search(graph, platform, options, sink, history, evaluator, turn=turn) for turn in turns]
        results += found
        history = exchanged(history, (d for one in found for d in one.designs[len(history) :]))
        first = turns[-1].end
        if all(one.exhausted or one.stopped for one in found):
            break
    return history, results
