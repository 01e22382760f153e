"""materialize-dmas: what enters and leaves a kernel becomes load and store processes that move words of HBM (paper
"Materialization", "pack" and "widen").

The order in memory needs no decision: it is that of the itensor, without what is read again. Weights are packed when
the design is compiled, other inputs by the host; an output that the next run reads is stored as that run loads it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from typing_extensions import override

from compiler.analysis.joint_loads import joint_load_of, tokens_between
from compiler.analysis.loads import Width, dealt_ports, load_channels
from compiler.analysis.resident import resident_loads
from compiler.analysis.rows import given_rows, kept_rows, made_rows, row_tokens, tokens_of_rows
from compiler.analysis.shared_loads import shared_name, shared_packing, sharings
from compiler.analysis.tasks import plan_packing
from compiler.graph.design import Design, Packing, Transfer
from compiler.graph.layers import is_long
from compiler.passes.base import Pass


class MaterializeDmas(Pass):
    """Give every load and store its packing: weights and the KV cache come through up to `hbm_channels` ports,
    everything else through one, or as many as hold it. A kernel that would have too many ports deals those that it may
    have (`dealt_ports`); where `loads` are `joint` small parameters share ports, so that there are more for the slowest
    load. What stays in memory is packed row by row, and stored as it is loaded. Where `weights` are `resident`, or
    those of an operation in `overrides`, parameters stay on the chip as far as it has room: they come through no port,
    or all of a kernel through one, in the first launch.

    Assumes that what enters a kernel streams as it is loaded (`plan-loads`).
    """

    name = "materialize-dmas"
    options = ("hbm_channels", "weights", "loads")
    overrides = ("weights",)

    @override
    def run(self, design: Design) -> Design:
        self.expect_kernels(design)
        graph, bits, most = design.graph, design.platform.hbm.port_bits, self.knobs.hbm_channels
        kept, rows = kept_rows(graph), made_rows(graph)
        by_input = graph.layers is not None and bool(graph.layers.told)  # a word never straddles two of them
        axes = {row.state: row.axis for row in kept.values()}
        by_layer = bool(given_rows(graph))  # prompts are taken layer by layer
        between = {design.loads[name].value: tokens for name, tokens in tokens_between(design).items()}
        joint = {design.loads[name].value for name in joint_load_of(design)}
        constants, memories = resident_loads(design, self.knobs)
        resident = constants | memories

        def row_of(load: Transfer) -> int:
            if load.value in axes:
                return row_tokens(load.itensor, axes[load.value])
            if load.value in between:
                return between[load.value]
            if stopping := tokens_of_rows(graph, load.value, load.itensor):
                return stopping
            layered = by_layer and _layers_of(design, load) > 1
            apart = by_input or layered or graph.value[load.value].row is not None
            return load.itensor.without_rereads().tokens if apart else 0

        streamed = {name: load for name, load in design.loads.items() if name not in resident}
        row_tokens_of = {name: row_of(load) for name, load in streamed.items()}
        image = {name: self._image_tokens(design, load) for name, load in streamed.items()}

        def packing_of_load(name: str, most: int) -> Packing:
            load = streamed[name]
            channels = most if load.value in joint else load_channels(graph, load.value, most)
            for least in range(1, design.platform.hbm.channels + 1):
                found = plan_packing(load.itensor, channels, bits, row_tokens_of[name], least)
                words = -(-image[name] // found.tokens_per_word) * found.words_per_token
                if words * bits // 8 <= design.platform.hbm.channel_bytes:
                    return found
            # what no number of channels holds is infeasible, and said to be
            return plan_packing(load.itensor, channels, bits, row_tokens_of[name])

        widest = {name: packing_of_load(name, most) for name in streamed}
        through, dealt = self._dealt(design, widest, packing_of_load, memories)
        filling = {name: plan_packing(design.loads[name].itensor.without_rereads(), 1, bits) for name in memories}
        packed = widest | dealt | filling
        loads = {
            name: load._replace(packing=packed.get(name), resident=name in resident, through=through.get(name, ""))
            for name, load in design.loads.items()
        }
        packings = {load.value: load.packing for load in loads.values()}

        def packing_of(store: Transfer) -> Packing | None:
            row = kept.get(store.value)
            tokens = store.itensor.tokens if store.value in rows or by_input else 0
            return plan_packing(store.itensor, 1, bits, tokens) if row is None else packings[row.state]

        stores = {name: store._replace(packing=packing_of(store)) for name, store in design.stores.items()}
        return replace(design, loads=loads, stores=stores)

    def _dealt(
        self,
        design: Design,
        widest: Mapping[str, Packing],
        packing: Callable[[str, int], Packing],
        memories: Collection[str],
    ) -> tuple[dict[str, str], dict[str, Packing]]:
        """Of kernels that would have too many ports: the tasks through which loads come that share one, as few as it
        takes for the slowest to be as fast as can be, then the next; and the packings of all, with the ports that are
        dealt to them. What has no `widest` packing has none. What a joint load brings is one load.
        """
        through, found = dict[str, str](), dict[str, Packing]()
        loads, share = _tasks(design, widest), self.knobs.loads == "joint"

        def width(names: Iterable[str], ports: int) -> Width:
            packed = [(design.loads[name], packing(name, ports)) for name in names]
            return Width(max(p.channels for _, p in packed), sum(_cycles(design, load, p) for load, p in packed))

        for kernel in range(design.kernels):
            here = {task: names for (number, task), names in loads.items() if number == kernel}
            allowed = _allowed(design, kernel, memories)
            if sum(max(widest[name].channels for name in names) for names in here.values()) <= allowed:
                continue
            # More ports than the widest takes change nothing.
            most = {task: max(widest[name].channels for name in names) for task, names in here.items()}
            widths = {
                task: _faster(width(names, ports) for ports in range(1, most[task] + 1)) for task, names in here.items()
            }
            alone = {task: widths[task][0].cycles for task, names in here.items() if share and names == [task]}
            groups = min(sharings(design, alone), key=lambda groups: _slowest(_together(widths, groups), allowed))
            for names in groups:
                through |= dict.fromkeys(names, shared_name(names[0]))
                found |= dict.fromkeys(names, shared_packing(design, names))
            for task, dealt in dealt_ports(_together(widths, groups), allowed).items():
                found |= {name: packing(name, dealt.ports) for name in here.get(task, ())}
        return through, found

    @staticmethod
    def _image_tokens(design: Design, load: Transfer) -> int:
        """Tokens of its image: of all layers, and of all rows of which a launch reads one."""
        value, count = design.graph.value[load.value], _layers_of(design, load)
        rows = value.row.count if value.row is not None and value.role != "state" else 1
        return count * rows * load.itensor.without_rereads().tokens


def _tasks(design: Design, names: Iterable[str]) -> dict[tuple[int, str], list[str]]:
    """Of loads, those that each task brings, by kernel and name of it."""
    found, whole = dict[tuple[int, str], list[str]](), joint_load_of(design)
    for name in names:
        found.setdefault((design.loads[name].kernel, whole.get(name, name)), []).append(name)
    return found


def _allowed(design: Design, kernel: int, memories: Collection[str]) -> int:
    """Ports for the loads of a kernel beside what fills its memories. The token is stored as K and V are, whose ports
    are taken; that of the prompt is not.
    """
    apart = 1 if made_rows(design.graph) and not given_rows(design.graph) else 0
    filling = 1 if any(design.loads[name].kernel == kernel for name in memories) else 0
    return design.platform.hbm.kernel_ports - apart - filling


def _together(widths: Mapping[str, Sequence[Width]], groups: Iterable[Sequence[str]]) -> dict[str, Sequence[Width]]:
    """With one for each of the groups of loads that share a port, in which one follows the other."""
    found = dict(widths)
    for names in groups:
        found[shared_name(names[0])] = [Width(1, sum(found.pop(name)[0].cycles for name in names))]
    return found


def _slowest(widths: Mapping[str, Sequence[Width]], allowed: int) -> list[int]:
    """Ports that are missing, and the cycles of the loads with those that are dealt to them, of the slowest first."""
    missing = max(0, sum(found[0].ports for found in widths.values()) - allowed)
    return [missing, *sorted((dealt.cycles for dealt in dealt_ports(widths, allowed).values()), reverse=True)]


def _cycles(design: Design, load: Transfer, packing: Packing) -> int:
    """In which a launch reads it from as many channels: for each token one, or as many as it has words."""
    return _layers_of(design, load) * load.itensor.tokens * packing.words_per_token


def _layers_of(design: Design, load: Transfer) -> int:
    """How many layers have such a value of their own."""
    layers = design.graph.layers
    return layers.count if layers is not None and is_long(design.graph, design.graph.value[load.value]) else 1


def _faster(widths: Iterable[Width]) -> list[Width]:
    """Those that take fewer cycles than all before them."""
    found = list[Width]()
    for width in widths:
        if not found or width.cycles < found[-1].cycles:
            found.append(width)
    return found
