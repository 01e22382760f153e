"""What a text that people may have edited must be, beyond valid IR, to be a design: reading it loses nothing, and its
parts agree.

All raise VerificationError.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation

from compiler.analysis.joint_loads import hindrance
from compiler.analysis.names import operand_stream
from compiler.analysis.shared_loads import hindrance_to_share, shared_loads, shared_packing
from compiler.analysis.transfers import run_of
from compiler.dialects.dataflow_die import DieOp
from compiler.dialects.dataflow_dma import LoadOp, StoreOp
from compiler.dialects.dataflow_engine import EngineOp
from compiler.dialects.dataflow_kernel import KernelOp, YieldOp
from compiler.dialects.dataflow_layers import LayersOp
from compiler.dialects.dataflow_rom import RomOp
from compiler.dialects.dataflow_task import TaskOp
from compiler.dialects.itensor_adapters import CastOp
from compiler.dialects.itensor_routing import ConverterOp, ForkOp
from compiler.dialects.itensor_stream import StreamOp
from compiler.errors import VerificationError
from compiler.graph.design import Design, Transfer
from compiler.graph.engine import Turn, served
from compiler.platforms.platform import Platform

OF_KERNELS: tuple[type[Operation], ...] = (KernelOp, LayersOp, DieOp, ReturnOp)
ON_TENSORS: tuple[type[Operation], ...] = (TaskOp, LayersOp, ReturnOp)
IN_KERNELS: tuple[type[Operation], ...] = (
    TaskOp,
    EngineOp,
    LoadOp,
    RomOp,
    StoreOp,
    ConverterOp,
    ForkOp,
    CastOp,
    StreamOp,
    YieldOp,
)


def verify_operations(function: FuncOp) -> None:
    """A design is kernels with tasks, or tasks on tensors, and nothing beside them."""
    block = function.body.block
    kernels = [op for op in block.ops if isinstance(op, KernelOp)]
    _verify_block(f"@{function.sym_name.data}", block, OF_KERNELS if kernels else ON_TENSORS)
    for kernel in kernels:
        name = f"kernel @{kernel.sym_name.data}"
        _verify_block(name, kernel.block, IN_KERNELS)
        if not any(isinstance(op, TaskOp) for op in kernel.block.ops):
            raise VerificationError(f"{name} has no task")


def _verify_block(name: str, block: Block, known: tuple[type[Operation], ...]) -> None:
    for op in block.ops:
        if not isinstance(op, known):
            raise VerificationError(f"{name} holds {op.name}; expected {', '.join(kind.name for kind in known)}")


def verify_moved(process: str, said: str, found: str | None) -> None:
    """`process` says that it moves the value `said`, and gets `found`."""
    if said != found:
        raise VerificationError(f"{process} says that it moves {said}, but gets {found or 'what is not made before'}")


def verify_distinct(kind: str, names: Iterable[str]) -> None:
    """No two of them have one name."""
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise VerificationError(f"two {kind} are called {twice[0]}")


def verify_strings(text: str) -> None:
    """Strings end on their line; the parser would look for ever for the end of one that does not."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.replace('\\"', "").count('"') % 2:
            raise VerificationError(f"line {number}: a string does not end")


def verify_design(design: Design) -> None:
    """Every input streams or is a scalar, every stream is a FIFO or none is, tokens fit words of HBM, and what is not
    loaded is known when the chip is configured.
    """
    design.graph.verify()
    for (op, i), itensor in design.reads.items():
        if (itensor is not None) != (operand_stream(op, i) in design.edges):
            raise VerificationError(f"@{op} must take input {i} {'by value' if itensor is None else 'as a stream'}")
    if design.depths and (unsized := [name for name in design.edges if name not in design.depths]):
        raise VerificationError(f"stream @{unsized[0]} is no FIFO, where others are")
    verify_engines(design)
    verify_joint(design)
    verify_shared(design)
    for name, load in design.loads.items():
        if load.resident and load.through:
            raise VerificationError(f"@{name} comes with all that stays on the chip, not through @{load.through}")
        if load.resident and design.graph.value[load.value].role != "param":
            raise VerificationError(f"@{name} holds {load.value}, which is no parameter: a launch may change it")
    for name, transfer in (*design.loads.items(), *design.stores.items()):
        _verify_packing(name, transfer, design.platform.hbm.port_bits)


def verify_engines(design: Design) -> None:
    """Tasks of an engine stand in its kernel, do the same to tokens of one layout, have no other engine, and come after
    those whose results they need; those behind layers after some of these.
    """
    graph, position = design.graph, {op.name: n for n, op in enumerate(design.graph.ops)}
    at: dict[str, str] = {}
    for name, (kernel, turns, *_) in design.engines.items():
        for op in turns:
            if design.kernel_of.get(op) != kernel:
                raise VerificationError(f"@{name} serves @{op}, which is no task of its kernel")
            if op in at:
                raise VerificationError(f"@{op} is served by @{at[op]} and by @{name}")
            at[op] = name
        first, *others = (Turn(graph.op[op], design.nests[op]) for op in turns)
        wanted = served(first)
        for turn in others:
            alike = wanted is not None and served(turn) == wanted
            if not alike or design.multipliers.get(first.op.name) != design.multipliers.get(turn.op.name):
                raise VerificationError(
                    f"@{name} can not serve @{first.op.name} and @{turn.op.name}: an engine does the same to every "
                    "point, and tokens have one layout"
                )
        if any(position[one] > position[other] for one, other in pairwise(turns)):
            raise VerificationError(f"@{name} must serve its tasks in the order in which they stand")
        outside = [op in graph.outside for op in turns]
        if outside[0] or outside != sorted(outside) or not graph.in_front.isdisjoint(turns):
            raise VerificationError(f"@{name} must serve tasks of layers, then only what is behind these")


def verify_joint(design: Design) -> None:
    """Loads that are one can be, pack their words alike, and the streams that they write are one FIFO."""
    for name, engine in design.engines.items():
        for index in engine.joint:
            if (why := hindrance(design, engine, index)) is not None:
                raise VerificationError(f"@{name} can not have one load of its input {index}: {why}")
            streams = [operand_stream(op, index) for op in engine.turns]
            loads = [design.loads[design.edges[stream].source] for stream in streams]
            if len({_words_of(load, design.platform) for load in loads}) > 1:
                raise VerificationError(f"loads of input {index} of @{name} are one, and pack their words alike")
            if len({design.depths.get(stream) for stream in (*streams, operand_stream(name, index))}) > 1:
                raise VerificationError(f"input {index} of @{name} comes through one FIFO, of one depth")


def _words_of(load: Transfer, platform: Platform) -> tuple[int, ...] | None:
    """How a load packs its words: as others with tokens as wide, or where these fill words without a gap."""
    if load.packing is None:
        return None
    channels, tokens, words = load.packing
    full = tokens == 1 and load.itensor.width == channels * words * platform.hbm.port_bits
    return (channels, 1) if full else (channels, tokens, words)


def verify_shared(design: Design) -> None:
    """Loads that come through one task can, for an operation each, and their words can be cut alike."""
    for task, names in shared_loads(design).items():
        for name in names:
            if (why := hindrance_to_share(design, name)) is not None:
                raise VerificationError(f"@{name} can not come through @{task}: {why}")
        alike = {(load.kernel, load.packing) for load in map(design.loads.__getitem__, names)}
        if len(alike) > 1:
            raise VerificationError(f"loads through @{task} are one: in one kernel, packed alike")
        packing, most = design.loads[names[0]].packing, shared_packing(design, names)
        if packing is not None and (packing.channels > 1 or most.tokens_per_word % packing.tokens_per_word):
            raise VerificationError(f"loads through @{task} each begin with a word of one port")
        if len({design.graph.consumers[design.loads[name].value][0][0].name for name in names}) < len(names):
            raise VerificationError(f"loads through @{task} are for an operation each")


def _verify_packing(name: str, transfer: Transfer, port_bits: int) -> None:
    """Tokens fit their words, and no word holds tokens of two runs that are read again."""
    packing, streamed = transfer.packing, transfer.itensor
    if transfer.resident:  # it is read again on the chip
        streamed = streamed.without_rereads()
    if packing is None:
        return
    word, per_word = packing.channels * port_bits, packing.tokens_per_word
    if per_word * streamed.width > packing.words_per_token * word:
        raise VerificationError(
            f"@{name}: {per_word} x {streamed.width} bits do not fit {packing.words_per_token} x {word} bits"
        )
    run = run_of([(loop.trip, loop.dim is None) for loop in streamed.loops], 1)
    if run is not None and run % per_word:
        raise VerificationError(f"@{name} reads {run} tokens again, which are no whole words of {per_word}")
