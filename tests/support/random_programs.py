"""Random networks of processes that run programs, one per seed: nests in turn, repeated, some of no iterations; FIFOs
that close cycles, some with tokens from the start.

A program is phases. In each of them some of the processes do what a random network without cycles does
(`random_timing`), in an order of its own, so that a FIFO of one phase leads back to where another one comes from. What
goes back within a phase has as many tokens to begin with as are missing, and now and then one less.
"""

from dataclasses import replace
from random import Random

from random_timing import Growth, with_nests

from compiler.graph.program import Access, Gate, LoopNest, Program, Repeat
from compiler.simulator.timing.network import Fifo, Network, Process

BUDGETS = (3, 6, 12, 30, 80)  # iterations of a nest, about


def program_network(seed: int) -> Network:
    """The network of `seed`, of some 5,000 cycles at most as a rule; most have less than 500."""
    return _Phases(Random(f"programs {seed}")).network()


def again(network: Network, times: int) -> Network:
    """The network with its programs repeated."""
    processes = (replace(p, program=(Repeat(times, p.program),)) for p in network.processes)
    return replace(network, processes=tuple(processes))


class _Phases:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.names = [f"p{n}" for n in range(rng.randint(1, 5))]
        self.timing: dict[str, Process] = {}
        self.fifos: dict[str, Fifo] = {}

    def network(self) -> Network:
        programs = self._sequence(self.rng.choice((1, 2, 2, 3)), depth=0)
        return Network(tuple(map(self._process, self.names, programs)), tuple(self.fifos.values()))

    def _process(self, name: str, program: Program) -> Process:
        rng, found = self.rng, self.timing.get(name)
        if found is None:
            return Process(name, program, 1, 2)
        gap = rng.choice((0, 0, 1, 2, 7))
        return replace(found, name=name, program=program, gap=gap, drains=found.style == "stp" or rng.random() < 0.6)

    def _sequence(self, parts: int, depth: int) -> list[Program]:
        """What each process does, of so many parts: phases, or repetitions of some."""
        programs: list[Program] = [() for _ in self.names]
        for _ in range(parts):
            if depth < 2 and self.rng.random() < 0.4:
                times = self.rng.choice((0, 1, 2, 2, 3, 5))
                inner = self._sequence(self.rng.randint(1, 2), depth + 1)
                more: list[Program] = [(Repeat(times, body),) if body else () for body in inner]
            else:
                more = self._phase()
            programs = [a + b for a, b in zip(programs, more, strict=True)]
        return programs

    def _phase(self) -> list[Program]:
        rng, count = self.rng, self.rng.randint(1, len(self.names))
        network = Growth(rng, rng.choice(BUDGETS)).grow(count)
        names = dict(zip((p.name for p in network.processes), rng.sample(self.names, count), strict=True))
        streams: dict[str, str] = {}
        for fifo in network.fifos:
            streams[fifo.name] = self._fifo(fifo, names, set(streams.values()))
        nests: dict[str, LoopNest] = {}
        for process in network.processes:
            self.timing.setdefault(names[process.name], process)
            (nest,) = with_nests(process, lambda nest: _renamed(nest, streams)).program
            assert isinstance(nest, LoopNest)
            nests[names[process.name]] = nest
        if rng.random() < 0.4:
            self._feed_back(nests)
        return [self._with_empty_nests((nests[name],) if name in nests else ()) for name in self.names]

    def _fifo(self, fifo: Fifo, names: dict[str, str], used: set[str]) -> str:
        """One from an earlier phase, or a new one."""
        source, target = names[fifo.source], names[fifo.target]
        old = [f.name for f in self.fifos.values() if (f.source, f.target) == (source, target) and f.name not in used]
        return old[0] if old and self.rng.random() < 0.7 else self._new(source, target, fifo.depth, 0)

    def _new(self, source: str, target: str, depth: int | None, missing: int) -> str:
        name = f"f{len(self.fifos)}"
        initial = missing if missing and self.rng.random() < 0.9 else max(0, missing - 1)
        if self.rng.random() < 0.1:
            initial += self.rng.randint(1, 3)
        self.fifos[name] = Fifo(name, source, target, None if depth is None else max(depth, initial), initial)
        return name

    def _feed_back(self, nests: dict[str, LoopNest]) -> None:
        """A FIFO between any two processes of the phase, or from one to itself."""
        rng = self.rng
        source, target = rng.choice(list(nests)), rng.choice(list(nests))
        write, read = self._gates(nests[source]), self._gates(nests[target])
        missing = max(0, _tokens(nests[target], read) - _tokens(nests[source], write))
        if source == target and rng.random() < 0.6:
            write, missing = read, 1
        name = self._new(source, target, rng.choice((1, 2, 3, 8, None)), missing)
        nests[source] = replace(nests[source], writes=(*nests[source].writes, Access(name, write)))
        nests[target] = replace(nests[target], reads=(*nests[target].reads, Access(name, read)))

    def _gates(self, nest: LoopNest) -> tuple[Gate, ...]:
        return tuple(
            Gate(loop, low, self.rng.randint(low + 1, trip))
            for loop, trip in enumerate(nest.trips)
            if self.rng.random() < 0.4
            for low in (self.rng.randrange(trip),)
        )

    def _with_empty_nests(self, program: Program) -> Program:
        while self.rng.random() < 0.2:
            restarts, outer = self.rng.choice(((0, 1), (1, 0), (1, 1), (1, 3)))
            empty = LoopNest((outer, 0), (), (), restarts)
            where = self.rng.randint(0, len(program))
            program = (*program[:where], empty, *program[where:])
        return program


def _renamed(nest: LoopNest, streams: dict[str, str]) -> LoopNest:
    def all_of(accesses: tuple[Access, ...]) -> tuple[Access, ...]:
        return tuple(Access(streams[a.stream], a.gates) for a in accesses)

    return replace(nest, reads=all_of(nest.reads), writes=all_of(nest.writes))


def _tokens(nest: LoopNest, gates: tuple[Gate, ...]) -> int:
    tokens = nest.iterations
    for gate in gates:
        tokens = tokens // nest.trips[gate.loop] * (gate.high - gate.low)
    return tokens
