"""HBM pseudo-channel of each port: what a kernel moves at the same time goes to different channels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from compiler.graph.task_graph import DmaTask, StoreTask
from compiler.platforms.platform import Platform


@dataclass
class _Demand:
    """One channel of a memory image: its bytes, the words of a port that each kernel moves."""

    size: int
    words: dict[int, int] = field(default_factory=dict[int, int])

    @property
    def heaviest(self) -> int:
        return max(self.words.values())


def _image_key(task: DmaTask, stored: set[str]) -> str:
    """A value that a kernel stores is one image for all that load it; any other load has an image of its own."""
    return f"={task.dma.value}" if task.dma.value in stored else task.name


def _stored(tasks: Sequence[DmaTask]) -> set[str]:
    return {task.dma.value for task in tasks if isinstance(task, StoreTask)}


def _demands(tasks: Sequence[DmaTask], stored: set[str]) -> dict[tuple[str, int], _Demand]:
    demands: dict[tuple[str, int], _Demand] = {}
    for task in tasks:
        words = -(-task.iterations // task.dma.tokens_per_word)
        for channel in range(task.dma.channels):
            demand = demands.setdefault((_image_key(task, stored), channel), _Demand(task.dma.channel_bytes))
            demand.words[task.kernel] = demand.words.get(task.kernel, 0) + words
    return demands


def assign_channels(tasks: Sequence[DmaTask], platform: Platform) -> dict[str, tuple[int, ...]]:
    """HBM pseudo-channels of each load and store, in the order of its ports; heaviest first, each where the kernels
    that move it move least so far (kernels run one after the other), then where there is most space.

    An image that fits no channel any more gets the least loaded one. Only the images of one layer are placed: whether
    those of all layers fit is for the runtime to say.
    """
    hbm = platform.hbm
    load: dict[int, list[int]] = {t.kernel: [0] * hbm.channels for t in tasks}  # words on each channel, by kernel
    space = [hbm.channel_bytes] * hbm.channels
    placed: dict[tuple[str, int], int] = {}
    stored = _stored(tasks)
    demands = _demands(tasks, stored)
    for key in sorted(demands, key=lambda k: (-demands[k].heaviest, -demands[k].size, k)):
        demand = demands[key]
        channel = _channel(demand, load, space)
        placed[key] = channel
        space[channel] -= demand.size
        for kernel, words in demand.words.items():
            load[kernel][channel] += words
    return {task.name: tuple(placed[_image_key(task, stored), c] for c in range(task.dma.channels)) for task in tasks}


def _channel(demand: _Demand, load: Mapping[int, list[int]], space: Sequence[int]) -> int:
    """The channel with room for `demand` on which the kernel that then moves most, of those that it adds to, moves
    least; of equal ones the emptiest, then the first.
    """
    rows = [[moved + words for moved in load[kernel]] for kernel, words in demand.words.items()]
    after = rows[0] if len(rows) == 1 else list(map(max, *rows))
    fitting = after
    if min(space) < demand.size <= max(space):
        fitting = [moved if room >= demand.size else inf for moved, room in zip(after, space, strict=True)]
    least = min(fitting)
    return max([c for c, moved in enumerate(fitting) if moved == least], key=space.__getitem__)
