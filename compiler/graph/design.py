"""Design: the accelerator of a network as far as the passes have planned it (design section 3, "One path").

Frozen values, one field for each decision; `compiler.passes` fills them in the order in which they stand here. The
search reads a TaskGraph from the end of it (`compiler.analysis.tasks`), `compile` also writes it as IR after each pass
(`compiler.ir`). What no pass has decided yet is empty.

Nodes are the operations of the network, loads, stores, converters and forks; an edge brings the tokens of one value
from one node to one other. Several edges may leave the same port, (node, value), until `insert-forks`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from compiler.graph.computed_once import computed_once
from compiler.graph.converter import Converter
from compiler.graph.itensor import ITensor
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.nest import Nest
from compiler.options import Multiplier
from compiler.platforms.platform import Platform


class Packing(NamedTuple):
    """Tokens in words of `channels` ports: `tokens_per_word` in one, or one in `words_per_token`; one of them is 1."""

    channels: int
    tokens_per_word: int
    words_per_token: int


class Transfer(NamedTuple):
    """A value that enters a kernel from HBM, or leaves it, as `itensor`; no `packing` before `materialize-dmas`. What
    is `resident` stays on the chip between launches: without a packing it is a part of the configuration, else a launch
    loads it (`compiler.analysis.memories`). Loads that come `through` one task, of this name, have its ports in turn
    (`compiler.analysis.shared_loads`).
    """

    value: str
    kernel: int
    itensor: ITensor
    packing: Packing | None = None
    resident: bool = False
    through: str = ""


class Conversion(NamedTuple):
    """A converter of a value in a kernel."""

    value: str
    kernel: int
    converter: Converter


class Fork(NamedTuple):
    """Copies of a value that streams as `itensor` in a kernel: one for each edge that leaves it."""

    value: str
    kernel: int
    itensor: ITensor


class Edge(NamedTuple):
    """Tokens of `value` from node `source`, in its order `itensor`, to node `target`."""

    value: str
    source: str
    target: str
    itensor: ITensor

    @property
    def port(self) -> tuple[str, str]:
        """The output that the tokens leave."""
        return self.source, self.value


class Engine(NamedTuple):
    """Operations of a kernel that take turns at the same lanes, in this order; as many tasks have those lanes. The
    loads of each input that is `joint` are one task, which reads what they read, turn by turn, from one image. Turns of
    operations behind layers are the last, once. So many `rows` of a prompt it computes side by side.
    """

    kernel: int
    turns: tuple[str, ...]
    slices: int = 1
    joint: tuple[int, ...] = ()
    rows: int = 1

    def shares(self, index: int) -> bool:
        """Whether tokens of an input are those of all rows side by side."""
        return self.rows > 1 and index in self.joint


@dataclass(frozen=True)
class Design:
    """The accelerator of `graph` on `platform`.

    `nests` by operation. `reads[op, i]` is what input i of an operation must stream as, None for a scalar that is
    passed by value; `writes[value]` what its operation makes. `kernel_of` operations, numbered as they run. `loads`,
    `stores`, `converters`, `forks` by the name of the node, `edges` by that of the stream: a name follows from the
    reader alone (`compiler.analysis.names`). `multipliers` of operations with integer products. `engines` by name:
    which operations take turns, all others have lanes of their own. `depths` of streams, in tokens, and `reasons` for
    them, as far as there are any. `dies` of its tasks, by the board's names, where streams cross between them.
    """

    graph: LinalgGraph
    platform: Platform = field(compare=False)
    nests: Mapping[str, Nest] = field(default_factory=dict[str, Nest])
    reads: Mapping[tuple[str, int], ITensor | None] = field(default_factory=dict[tuple[str, int], ITensor | None])
    writes: Mapping[str, ITensor] = field(default_factory=dict[str, ITensor])
    kernel_of: Mapping[str, int] = field(default_factory=dict[str, int])
    loads: Mapping[str, Transfer] = field(default_factory=dict[str, Transfer])
    stores: Mapping[str, Transfer] = field(default_factory=dict[str, Transfer])
    converters: Mapping[str, Conversion] = field(default_factory=dict[str, Conversion])
    forks: Mapping[str, Fork] = field(default_factory=dict[str, Fork])
    edges: Mapping[str, Edge] = field(default_factory=dict[str, Edge])
    multipliers: Mapping[str, Multiplier] = field(default_factory=dict[str, Multiplier])
    engines: Mapping[str, Engine] = field(default_factory=dict[str, Engine])
    depths: Mapping[str, int] = field(default_factory=dict[str, int])
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    dies: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def kernels(self) -> int:
        return 1 + max(self.kernel_of.values(), default=-1)

    @computed_once
    def leaving(self) -> dict[tuple[str, str], list[str]]:
        """Streams by the port that they leave, in the order of their readers."""
        found: dict[tuple[str, str], list[str]] = {}
        for name, edge in self.edges.items():
            found.setdefault(edge.port, []).append(name)
        return found
