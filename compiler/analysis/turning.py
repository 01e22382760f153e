"""The affine schedule of a kernel whose tasks take turns: its paces and its periods.

All events of few rounds start as early as they can, first at the paces at which tokens come, then at those that each
activity has in the last round. How far the last rounds are apart is the period, or a little less where filling takes
many rounds: one that is too short lets no start keep all lags, and is made longer.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from compiler.analysis.activities import activities_of
from compiler.analysis.core import numbers, words
from compiler.analysis.rounds import alike, repeats_of, shortened, spare_rounds
from compiler.analysis.turning_schedule import Failure, Kernel, TurningSchedule
from compiler.errors import UnsupportedError
from compiler.graph.program import Program, Repeat, tokens
from compiler.graph.same import Same
from compiler.graph.task_graph import ComputeTask, LoadTask, RomTask, Stream, Task
from compiler.options import Equalisation

ROUNDS = 4  # that are looked at; as core/turning.h has it
_NO_LOAD = -1


def turning_schedule(tasks: Sequence[Task], streams: Sequence[Stream], equalisation: Equalisation) -> TurningSchedule:
    """The schedule of one kernel, at the largest arguments. O(nests x streams). Raises UnsupportedError where a task
    needs tokens that it makes itself, or none are written. Loads go ahead of their readers: all that is looked at is
    when they begin.
    """
    loads = {task.name: task for task in tasks if isinstance(task, LoadTask | RomTask)}
    working = [task for task in tasks if task.name not in loads]
    passed = [stream for stream in streams if stream.source not in loads]
    slack = {t.name for t in working if equalisation == "conservative" or not isinstance(t, ComputeTask)}
    programs = {task.name: task.single_runs for task in working}
    short, left, kinds = programs, list[tuple[int, int, dict[str, int]]](), dict[str, int]()
    for kind, times in enumerate(alike(programs.values())):
        repeats = _repeats(programs, times)
        kinds |= dict.fromkeys(repeats, kind)
        if by := spare_rounds(short, passed, ROUNDS, times, inside=True):
            left.append((kind, by, _left(repeats, passed)))
            short = {name: shortened(program, by, times, inside=True) for name, program in short.items()}
    found = _scheduled(working, short, streams, loads, slack, kinds, left)
    if found is None:  # rounds that are within others for one end of a stream only
        found = _scheduled(working, programs, streams, loads, slack, {}, (), folded=False)
    if found is None:
        raise UnsupportedError(f"no schedule of {working[0].name} and the tasks around it keeps all its lags")
    return found


def _repeats(programs: Mapping[str, Program], times: range) -> dict[str, Repeat]:
    """Repetitions of so many rounds, by name."""
    parts = ((f"{task}/{path}", part) for task, program in programs.items() for path, part in repeats_of(program))
    return {name: part for name, part in parts if part.times in times}


def _left(repeats: Mapping[str, Repeat], streams: Sequence[Stream]) -> dict[str, int]:
    """Tokens of each stream in one of the rounds that are left out."""
    held = dict[str, int]()
    leaving = defaultdict[str, list[str]](list)
    for stream in streams:
        leaving[stream.source].append(stream.name)
    for name, part in repeats.items():
        for stream in leaving[name.partition("/")[0]]:
            held[stream] = max(held.get(stream, 0), tokens(part.body, "writes", stream))
    return held


def _scheduled(
    tasks: Sequence[Task],
    programs: Mapping[str, Program],
    streams: Sequence[Stream],
    loads: Mapping[str, LoadTask | RomTask],
    slack: set[str],
    kinds: Mapping[str, int],
    left: Iterable[tuple[int, int, Mapping[str, int]]],
    *,
    folded: bool = True,
) -> TurningSchedule | None:
    """Of tasks that run these programs. None where no period keeps all lags, else as `turning_schedule`."""
    number = {stream.name: n for n, stream in enumerate(streams)}
    described, of_windows, names = words((len(streams),)), numbers(), list[str]()
    for stream in streams:
        load = loads.get(stream.source)
        depth = _NO_LOAD if load is None else load.timing.depth
        described.extend((stream.initial, stream.tokens, stream.width, load is None, depth))
    described.append(len(tasks))
    for task in tasks:
        unnamed = frozenset([a.stream for a in (*task.reads, *task.writes) if a.stream not in number])
        found = activities_of(task, Same(programs[task.name]), unnamed, folded=folded)
        described.extend((task.name in slack, len(found.streams), *[number[stream] for stream in found.streams]))
        described.extend((len(found.repeats), *[kinds[repeat] for repeat in found.repeats]))
        described += found.words
        of_windows += found.numbers
        names += found.names
    joint = [load for load in loads.values() if isinstance(load, LoadTask) and len(load.writes) > 1]
    described.append(len(joint))
    for load in joint:
        of = load.dma.joint
        inside = len(of.parts) if of is not None and of.packed else 0
        described.extend((of.rounds if of is not None and inside else 1, inside, len(load.writes)))
        described.extend([number[access.stream] for access in load.writes])
    described.append(len(left := list(left)))
    for kind, by, held in left:
        described.extend((kind, by, *[held.get(stream.name, 0) for stream in streams]))
    schedule = TurningSchedule(Kernel(tuple(streams), tuple(names), described, of_windows))
    if schedule.failure is Failure.NO_PERIOD:
        return None
    if schedule.failure is not Failure.NONE:
        task, stream = tasks[schedule.failed[0]].name, streams[schedule.failed[1]].name
        if schedule.failure is Failure.NO_WRITER:
            raise UnsupportedError(f"{task} waits for tokens of {stream} that nobody writes")
        raise UnsupportedError(
            f"{task} waits for tokens of {stream} that are written only while it "
            "runs: FIFOs by rule take loops whose rounds are nests of their own; certify the design instead"
        )
    return schedule
