"""Random networks of the timing simulator, one per seed: both ends of each FIFO move the same number of tokens."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import gcd, prod
from random import Random

from compiler.graph import program
from compiler.graph.program import Access, Gate, LoopNest
from compiler.graph.task_graph import TimingSpec
from compiler.simulator.timing.network import Fifo, Network, Process

LONG_SHARE = 0.15  # of the networks run for thousands of cycles, most of them periodically


def random_network(seed: int) -> Network:
    """The network of `seed`, of some 20,000 cycles at most as a rule; most have less than 1,000."""
    rng = Random(seed)
    is_long = rng.random() < LONG_SHARE
    # Long ones are long because of their nests, or, more often, because of a loop around everything.
    budget = 1500 if is_long and rng.random() < 0.3 else rng.choice((12, 60, 200))
    network = Growth(rng, budget).grow()
    if not is_long:
        return network
    cycles = max(
        2 * p.ii * p.iterations // p.per + p.gap * prod(_only_nest(p).trips[: _only_nest(p).restarts])
        for p in network.processes
    )
    return repeated(network, max(2, rng.randint(1000, 5000) // (cycles + 20)))


def repeated(network: Network, times: int) -> Network:
    """The network with one more loop around each of its nests."""

    def around(accesses: tuple[Access, ...]) -> tuple[Access, ...]:
        return tuple(Access(a.stream, tuple(g._replace(loop=g.loop + 1) for g in a.gates)) for a in accesses)

    def more(nest: LoopNest) -> LoopNest:
        restarts = nest.restarts + 1 if nest.restarts else 0
        return LoopNest((times, *nest.trips), around(nest.reads), around(nest.writes), restarts)

    return Network(tuple(with_nests(process, more) for process in network.processes), network.fifos)


def with_nests(process: Process, change: Callable[[LoopNest], LoopNest]) -> Process:
    """The process with its nests changed."""
    return replace(process, program=program.with_nests(process.program, change))


def _only_nest(process: Process) -> LoopNest:
    (nest,) = process.program
    assert isinstance(nest, LoopNest)
    return nest


def long_network(seed: int) -> Network:
    """Longer than the reference can be: long periods, FIFOs that take long to fill, paces that recur late, restarts."""
    rng = Random(seed)
    kind = rng.randrange(4)
    if kind == 0:
        return repeated(Growth(Random(seed), rng.choice((500, 900, 3000))).grow(), rng.choice((3, 8, 30)))
    network = random_network(seed)
    change = (_other_pace, _slower, _restarted)[kind - 1]
    fifos = tuple(_maybe_deep(fifo, rng) for fifo in network.fifos) if kind == 2 else network.fifos
    return repeated(Network(tuple(change(p, rng) for p in network.processes), fifos), rng.choice((20, 100, 300)))


def _other_pace(process: Process, rng: Random) -> Process:
    per = rng.randint(2, 16)
    return process if process.style == "stp" else replace(process, per=per, ii=rng.randint(per, 3 * per + 7))


def _slower(process: Process, rng: Random) -> Process:
    ii, gap = process.ii * rng.choice((1, 1, 2, 3)), process.gap * rng.choice((1, 3, 40))
    return replace(process, ii=ii, gap=gap, latency=process.latency + rng.choice((0, 0, 30, 200)))


def _restarted(process: Process, rng: Random) -> Process:
    nest = _only_nest(process)
    restarts = rng.randint(0, len(nest.trips))
    gap = rng.choice((0, 3, 50)) if restarts else 0
    restarted = with_nests(process, lambda nest: replace(nest, restarts=restarts))
    return replace(restarted, gap=gap, drains=process.style == "stp" or rng.random() < 0.5)


def _maybe_deep(fifo: Fifo, rng: Random) -> Fifo:
    return replace(fifo, depth=rng.choice((fifo.depth, 1000, rng.randint(1, 400), None)))


@dataclass(frozen=True)
class _Loop:
    """A loop of a nest that grows: the range in which each FIFO is read, all of it for those not named."""

    trip: int
    ranges: tuple[tuple[str, int, int], ...] = ()

    def gate(self, loop: int, fifo: str) -> tuple[Gate, ...]:
        return tuple(Gate(loop, low, high) for name, low, high in self.ranges if name == fifo)


class Growth:
    """Chooses the edges, then the processes in order: the tokens that come in shape the nest, gates what goes out."""

    def __init__(self, rng: Random, budget: int) -> None:
        self.rng = rng
        self.budget = budget  # iterations of one process, about
        self.tokens: dict[str, int] = {}
        self.stall_share = rng.choice((0.0, 0.3, 1.0))
        self.depths: tuple[int | None, ...] = rng.choice(
            ((1, 2), (1, 2, 3, 4), (2, 4, 8, 16), (2, 5, 8, 40, None), (16, 64, None), (budget, 2 * budget), (None,))
        )

    def grow(self, count: int = 0) -> Network:
        """A network of `count` processes, 0: any number."""
        count = count or self.rng.choice((2, 2, 3, 3, 4, 5, 6, 8, 10, 12))
        edges = [edge for target in range(1, count) for edge in self._edges_into(target)]
        fifos = tuple(Fifo(f"f{i}", f"p{a}", f"p{b}", self.rng.choice(self.depths)) for i, (a, b) in enumerate(edges))
        return Network(tuple(self._process(f"p{i}", fifos) for i in range(count)), fifos)

    def _edges_into(self, target: int) -> list[tuple[int, int]]:
        """Mostly a chain with branches that join again; now and then another source, or two FIFOs side by side."""
        others = self.rng.choices((0, 1, 2), (6, 3, 1))[0]
        nearest = [(target - 1, target)] if self.rng.random() < 0.9 else []
        return nearest + [(self.rng.randrange(max(0, target - 5), target), target) for _ in range(others)]

    def _process(self, name: str, fifos: tuple[Fifo, ...]) -> Process:
        read = [fifo.name for fifo in fifos if fifo.target == name]
        loops = self._with_more_loops(self._nest_for(read), read)
        trips = tuple(loop.trip for loop in loops)
        reads = tuple(Access(f, tuple(g for i, loop in enumerate(loops) for g in loop.gate(i, f))) for f in read)
        writes = tuple(Access(fifo.name, self._write_gates(trips)) for fifo in fifos if fifo.source == name)
        spec = TimingSpec(trips, 1, 1)
        self.tokens |= {access.stream: spec.tokens(access) for access in writes}
        return self._timed(name, trips, reads, writes)

    def _nest_for(self, read: list[str]) -> list[_Loop]:
        """A nest in which each FIFO can be read as many times as it carries tokens: m times a range of one loop."""
        if not read:
            return self._split(self.rng.randint(1, self.budget))
        common = gcd(*(self.tokens[fifo] for fifo in read))
        m = self.rng.choice([n for n in range(1, common + 1) if common % n == 0][-3:])
        lengths = {fifo: self.tokens[fifo] // m for fifo in read}
        longest = max(lengths.values())
        trip = longest if self.rng.random() < 0.6 else self.rng.randint(longest, sum(lengths.values()))
        inner = _Loop(trip, tuple(self._range(fifo, length, trip) for fifo, length in lengths.items()))
        return [*self._split(m), inner] if trip > 1 else self._split(m)

    def _range(self, fifo: str, length: int, trip: int) -> tuple[str, int, int]:
        low = self.rng.choice((0, trip - length, self.rng.randint(0, trip - length)))
        return fifo, low, low + length

    def _split(self, count: int) -> list[_Loop]:
        """One loop or two of `count` iterations in all."""
        divisors = [n for n in range(1, count + 1) if count % n == 0]
        outer = self.rng.choice(divisors)
        return [_Loop(count)] if self.rng.random() < 0.4 else [_Loop(outer), _Loop(count // outer)]

    def _with_more_loops(self, loops: list[_Loop], read: list[str]) -> list[_Loop]:
        """Loops that read in one of their iterations only, the first as a rule: what was read is used again."""
        while len(loops) < 4 and self.rng.random() < 0.4:
            space = 2 * self.budget // prod(loop.trip for loop in loops)
            trip = self.rng.randint(1, max(1, min(space, self.rng.choice((3, 8, space)))))
            at = 0 if self.rng.random() < 0.75 else self.rng.randrange(trip)
            where = self.rng.randint(0, len(loops))
            loops = [*loops[:where], _Loop(trip, tuple((f, at, at + 1) for f in read)), *loops[where:]]
        return loops

    def _write_gates(self, trips: tuple[int, ...]) -> tuple[Gate, ...]:
        """Ungated, the last iteration of some loops (a reduction), or a range of some; few enough tokens to go on."""
        gates: list[Gate] = []
        for loop, trip in enumerate(trips):
            kind = self.rng.choices(("all", "last", "first", "range"), (6, 2, 1, 1))[0]
            low = self.rng.randrange(trip)
            ranges = {"last": (trip - 1, trip), "first": (0, 1), "range": (low, self.rng.randint(low + 1, trip))}
            if kind in ranges:
                gates.append(Gate(loop, *ranges[kind]))
        return tuple(gates)

    def _timed(
        self, name: str, trips: tuple[int, ...], reads: tuple[Access, ...], writes: tuple[Access, ...]
    ) -> Process:
        stalls = self.rng.random() < self.stall_share
        per = self.rng.randint(2, 9) if not stalls and self.rng.random() < (0.1 if reads else 0.4) else 1
        ii = self.rng.randint(per, 3 * per) if per > 1 else self.rng.choice((1, 1, 1, 2, 3, 4))
        restarts = self.rng.randint(1, len(trips)) if self.rng.random() < 0.25 else 0
        return Process.of_nest(
            name=name,
            trips=trips,
            ii=ii,
            latency=self.rng.randint(1 if stalls else 2, self.rng.choice((2, 5, 12))),
            reads=reads,
            writes=writes,
            style="stp" if stalls else self.rng.choice(("flp", "frp")),
            per=per,
            restarts=restarts,
            gap=self.rng.choice((0, 1, 7)) if restarts else 0,
            drains=stalls or self.rng.random() < 0.6,
        )
