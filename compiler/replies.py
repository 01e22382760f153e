"""What whole replies take that a compiled design makes, by simulating their launches."""

from pathlib import Path

from compiler.design_dir import LEAST_BYTES, read_design
from compiler.errors import VerificationError
from compiler.graph.program import Values
from compiler.graph.task_graph import CONTROL
from compiler.host.session import CHOOSE, POSITION
from compiler.simulator.timing.prompt_rows import ROWS
from compiler.simulator.timing.simulate import StoredDesign, read_directory, simulate_design
from compiler.whole_token import Lengths, Reply

SECONDS = 600.0  # of the processor, for each launch: one of the usual design of llama-1.1b, 29 million cycles, takes 60


def stored_reply(directory: Path) -> Reply | None:
    """One of the lengths by which designs are measured; None where the design chooses no tokens. Raises as below."""
    description = read_design(directory)
    if LEAST_BYTES not in description:
        return None
    lengths = Lengths.within(description["workload"]["length"])
    return whole_reply(directory, lengths, description[LEAST_BYTES])


def whole_reply(directory: Path, lengths: Lengths, least: float, as_if: StoredDesign | None = None) -> Reply:
    """A reply of these lengths by this design, whose tokens need `least` bytes at least. It needs no more than
    `time_design` leaves. `as_if`: what is simulated instead of what is stored.

    Raises VerificationError where a launch deadlocks.
    """
    stored, (prompt, steps) = as_if or read_directory(directory), lengths
    known: dict[tuple[int, ...], float] = {}

    def launch(position: int, rows: int = 1) -> float:
        """Simulated microseconds of what is done at once from `position` on, once for all that does the same."""
        last = position + rows - 1
        told = {POSITION: position, CHOOSE: int(last >= prompt - 1)}
        values = {name: told[name] for name in stored.design.arguments}
        arguments = stored.design.arguments.items()
        at = ({**values, POSITION: place} for place in range(position, last + 1))
        done = (rows, *(argument.trip(row[name]) for row in at for name, argument in arguments))
        if done not in known:
            known[done] = _simulated(stored, values | ({ROWS: rows} if rows > 1 else {}))
        return known[done]

    most = 1 if stored.design.control is None else stored.design.control.rows
    chunks = [launch(begin, min(most, prompt - begin)) for begin in range(0, prompt, most)]
    later = [launch(position) for position in range(prompt, prompt + steps)]
    found = _estimated(directory)
    idle_w = (found["energy_with_idle"] - found["energy"]) / found["latency"]
    kernels, one_launch = stored.design.kernels, CONTROL in stored.design.task
    return Reply(kernels, tuple(chunks), tuple(later), found["energy"], least, idle_w, one_launch)


def _simulated(stored: StoredDesign, values: Values) -> float:
    """Simulated microseconds."""
    found = simulate_design(
        stored.design, stored.platform, clock_mhz=stored.clock_mhz, launches=(values,), buckets=0, seconds=SECONDS
    )
    if found.deadlock is not None:
        raise VerificationError(f"{stored.design.name}: {found.deadlock.text}")
    return found.latency_us


def _estimated(design: Path) -> dict[str, float]:
    return {metric["name"]: metric["value"] for metric in read_design(design)["metrics"]}
