"""Why a design hangs, in words: the tasks that wait for one another, the FIFOs that would have to be deeper."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from compiler.simulator.timing.network import Network, Outcome
from compiler.simulator.timing.waits import Wait, causes_of, is_cycle, waits_of

Depths = Mapping[str, int | None]
Run = Callable[[Depths], Outcome]  # the network with other depths of some FIFOs, None: any number of tokens


@dataclass(frozen=True, slots=True)
class Deadlock:
    """`cycle`: each task waits for the next, the last for the first. `fifo` holds `depth` tokens and would have to hold
    `depth_needed`, and so with all of `needed`; where no depth helps, or none was tried, `needed` is empty and
    `depth_needed` None.
    """

    text: str
    cycle: tuple[Wait, ...]
    needed: Mapping[str, int]
    fifo: str | None
    depth: int | None
    depth_needed: int | None

    def to_json(self) -> dict[str, Any]:
        """As in `simulation.json`."""
        waits = [{"task": w.task, "fifo": w.fifo, "because": w.because} for w in self.cycle]
        named = {"fifo": self.fifo, "depth": self.depth, "depth_needed": self.depth_needed}
        return {"text": self.text, "cycle": waits, **named, "needed": dict(self.needed)}


def explain(network: Network, outcome: Outcome, run: Run | None) -> Deadlock:
    """What keeps the deadlocked run `outcome` of `network` from going on, and what would not; `run` repeats it with
    other depths. Some 10 runs for each FIFO that is too small; None: no other depths are tried.
    """
    waits = waits_of(network, outcome)
    causes = causes_of(waits)
    cycle = causes if is_cycle(causes) else ()
    depth = {f.name: f.depth for f in network.fifos}
    needed = {} if run is None else _needed(network, causes, run)
    fifo = next(iter(needed), next(iter(_full(causes)), None))
    advice = [] if run is None else [_advice(needed, depth, cycle)]
    text = " ".join((_story(waits, cycle, depth, outcome), *advice))
    return Deadlock(text, cycle, needed, fifo, depth[fifo] if fifo else None, needed.get(fifo) if fifo else None)


def _full(causes: tuple[Wait, ...]) -> list[str]:
    return [wait.fifo for wait in causes if wait.because == "full"]


def _needed(network: Network, causes: tuple[Wait, ...], run: Run) -> dict[str, int]:
    """FIFOs and depths with which the network runs to its end: a single FIFO where one is enough, the least depth."""
    depth = {f.name: f.depth or 0 for f in network.fifos}
    single = {fifo: _least({}, fifo, depth[fifo], run) for fifo in _full(causes) if _ends({fifo: None}, run)}
    if single:
        fifo = min(single, key=lambda name: single[name] - depth[name])
        return {fifo: single[fifo]}
    several = _several(network, causes, run)
    chosen: dict[str, int | None] = dict.fromkeys(several)
    for fifo in several:
        chosen[fifo] = _least(chosen, fifo, depth[fifo], run)
    return {fifo: chosen[fifo] or 0 for fifo in several}


def _several(network: Network, causes: tuple[Wait, ...], run: Run) -> list[str]:
    """FIFOs without which the deadlock stays; empty where it stays with all of them."""
    chosen = dict.fromkeys(_full(causes))
    while not _ends(chosen, run):
        more = [f for f in _full(causes_of(waits_of(network, run(chosen), chosen))) if f not in chosen]
        if not more:
            return []
        chosen |= dict.fromkeys(more)
    for fifo in list(chosen):
        others = {name: None for name in chosen if name != fifo}
        if _ends(others, run):
            chosen = others
    return list(chosen)


def _ends(depths: Depths, run: Run) -> bool:
    return not run(depths).deadlocked


def _least(others: Depths, fifo: str, low: int, run: Run) -> int:
    """The least depth of `fifo` with which the network ends; it does not with `low`."""
    peaks = {f.name: f.peak for f in run({**others, fifo: None}).fifos}
    high = max(low + 1, peaks[fifo])
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _ends({**others, fifo: middle}, run) else (middle, high)
    return high


def _story(waits: Mapping[str, tuple[Wait, ...]], cycle: tuple[Wait, ...], depth: Depths, outcome: Outcome) -> str:
    told = cycle or tuple(w for found in waits.values() for w in found)[:5]
    sentences = "; ".join(_sentence(wait, depth) for wait in told)
    if cycle:
        return f"Deadlock after {outcome.cycles:,} cycles, {len(cycle)} tasks wait for one another: {sentences}."
    return f"Deadlock after {outcome.cycles:,} cycles: {sentences}, which has ended."


def _sentence(wait: Wait, depth: Depths) -> str:
    if wait.because == "empty":
        return f"{wait.task} waits for a token of {wait.other} ({wait.fifo} is empty)"
    return f"{wait.task} waits until {wait.other} reads ({wait.fifo} is full with {depth[wait.fifo]})"


def _advice(needed: Mapping[str, int], depth: Depths, cycle: tuple[Wait, ...]) -> str:
    if cycle and not _full(cycle):
        return "No depth of any FIFO helps: one of these tasks must write before it reads, or a FIFO begin with tokens."
    if not needed:
        return "No depth of any FIFO helps: this is a defect of the design, a writer and a reader disagree."
    changes = " and ".join(f"{fifo} at least {tokens} deep instead of {depth[fifo]}" for fifo, tokens in needed.items())
    if len(needed) == 1:
        return f"It runs to its end with {changes}."
    return f"No single FIFO is enough: it runs to its end with {changes}."
