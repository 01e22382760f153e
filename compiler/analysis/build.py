"""Design -> TaskGraph: what the estimator, the FIFO rules, the simulator and the emitter read."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from compiler.analysis.abreast import (
    behind_alone,
    copied_tasks,
    engine_in_turns,
    interleaved_tasks,
    rows_abreast,
    rows_in_turns,
    told_apart,
)
from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.boundary import carries_of
from compiler.analysis.engines import engine_parts, in_all_layers, in_layers
from compiler.analysis.feedback import with_feedback
from compiler.analysis.following import following
from compiler.analysis.joint_loads import joint_load, joint_load_of, joint_streams
from compiler.analysis.layers import of_all_layers, with_loop
from compiler.analysis.memories import with_memories
from compiler.analysis.names import c_name, input_stream, layer_streams, operand_stream
from compiler.analysis.order import order_streams, order_tasks
from compiler.analysis.prompt_rows import by_phase, held_streams, phases, prompt_rows
from compiler.analysis.relays import relay_dies, with_relays
from compiler.analysis.rows import earlier_rows, given_rows, kept_rows, made_rows, new_row
from compiler.analysis.shared_loads import shared_load_tasks
from compiler.analysis.tasks import (
    converter_task,
    fork_task,
    load_task,
    rom_task,
    store_task,
    structured_task,
)
from compiler.analysis.widening import with_widening
from compiler.errors import VerificationError
from compiler.graph.design import Design, Edge
from compiler.graph.linalg_graph import LinalgOp
from compiler.graph.task_graph import Control, Dma, EngineTask, StoreTask, Stream, Task, TaskGraph, one_of


def task_graph(design: Design) -> TaskGraph:
    """The accelerator of a design whose transfers are packed; streams without a depth have the least.

    Raises VerificationError where an operation has no kernel, a port several readers, a transfer no packing.
    O(operations + streams).
    """
    if outside := [op.name for op in design.graph.ops if op.name not in design.kernel_of]:
        raise VerificationError(f"{outside[0]} is in no kernel; run linalg-to-dataflow")
    launch = of_all_layers(design)
    unordered, streams = _parts(design, launch)
    if design.dies:
        unordered, streams = with_relays(unordered, streams, _die_numbers(unordered, design))
    tasks = tuple(map(one_of, order_tasks(unordered, streams)))
    carries = carries_of(launch.graph.outputs, launch.graph.values, tasks)
    layers, ordered = design.graph.layers, order_streams(tasks, streams)
    control = _control(design, launch, tasks, ordered)
    if control is not None and control.each > 1:
        engines = (t for t in tasks if isinstance(t, EngineTask) and t.name in control.interleaved)
        width = {stream.name: stream.width for stream in ordered}
        changed = {t.name: one_of(engine_in_turns(t, control.each, width)) for t in engines}
        tasks = tuple(changed.get(task.name, task) for task in tasks)
    inputs = layers.count if layers is not None and layers.told else 1
    return TaskGraph(design.graph.name, design.kernels, tasks, ordered, carries, control, inputs)


def _control(folded: Design, design: Design, tasks: Sequence[Task], streams: Sequence[Stream]) -> Control | None:
    """How a launch makes several tokens; None where a result is no argument of the next, or there are more kernels.
    `design` is `folded` of all layers.
    """
    rows, kept = made_rows(design.graph), kept_rows(design.graph)
    told = {value.row.argument for value in design.graph.values if value.row is not None}
    fed = [out for out in design.graph.outputs if out.value in rows and out.name in told]
    if len(fed) != 1 or design.kernels != 1:
        return None
    stores = {task.dma.value: task.name for task in tasks if isinstance(task, StoreTask)}
    (out,) = fed
    position, keeping = rows[out.value].argument, tuple(stores[row.state] for row in kept.values())
    prompt = given_rows(design.graph)
    given = next((name for name, load in design.loads.items() if load.value in prompt), None)
    alone = Control(out.name, position, stores[out.value], keeping, given)
    if (at_once := prompt_rows(folded)) == 1:
        return alone
    looped = () if folded.graph.layers is None else folded.graph.layers.carried
    backward = tuple(layer_streams(made, read)[1] for made, read in looped)
    loads = {load.value: name for name, load in design.loads.items()}
    reading = tuple(loads[row.state] for row in kept.values())
    chunks = alone._replace(rows=at_once, looped=backward, loads=reading, held=tuple(held_streams(folded)))
    if (abreast := rows_abreast(folded.engines)) == 1:
        return chunks
    copied, by_name = copied_tasks(folded.engines, tasks, streams), {task.name: task for task in tasks}
    tasks_of_rows = [by_name[name] for name in copied]
    if told_apart(tasks_of_rows):
        return chunks
    rows = -(-at_once // abreast) * abreast  # or copies rest in each chunk
    in_turns = interleaved_tasks(copied, tasks, streams)
    each = rows_in_turns(abreast, folded.engines, by_name) if in_turns else 1
    behind = tuple(dict.fromkeys(behind_alone(tasks_of_rows)))
    found = chunks._replace(rows=rows, abreast=abreast, copied=copied, behind=behind)
    return found if each == 1 else found._replace(each=each, interleaved=in_turns)


def task_dies(design: Design) -> dict[str, str]:
    """The die of each task of a design that says them, relays included. Raises VerificationError as `task_graph`."""
    tasks, streams = _parts(design, of_all_layers(design))
    number, slrs = _die_numbers(tasks, design), design.platform.dies.slrs
    return {task: slrs[die].name for task, die in {**number, **relay_dies(tasks, streams, number)}.items()}


def _parts(folded: Design, design: Design) -> tuple[list[Task], Sequence[Stream]]:
    """Tasks and streams as they are on one die, in no order; `design` is `folded` of all layers."""
    depths, reasons, joint, through = design.depths, design.reasons, joint_streams(design), joint_load_of(design)

    def stream(name: str, edge: Edge) -> Stream:
        ends = through.get(edge.source, edge.source), edge.target
        return Stream(name, *ends, edge.itensor, depths.get(name, MIN_DEPTH), None, reasons.get(name, ""))

    streams = [stream(name, edge) for name, edge in design.edges.items() if name not in joint]
    unordered = [*_tasks(design), *shared_load_tasks(folded, design)]
    if design.engines:
        unordered, streams = _with_engines(folded, design, unordered, streams)
    if folded is not design:
        unordered, streams = with_loop(folded, unordered, streams, each_load=prompt_rows(folded) > 1)
    inputs = {operand_stream(name, i) for name, engine in design.engines.items() for i in engine.joint}
    return with_widening(*with_memories(following(design, unordered, streams), streams, design.platform), inputs)


def _die_numbers(tasks: Iterable[Task], design: Design) -> dict[str, int]:
    """The die of each task, by number. Raises VerificationError where one has none, or one that the board lacks."""
    number = {slr.name: n for n, slr in enumerate(design.platform.dies.slrs)}
    if unknown := sorted(set(design.dies.values()) - number.keys()):
        raise VerificationError(f"{design.platform.name} has no die {unknown[0]}; it has {', '.join(number)}")
    names = [task.name for task in tasks]
    if missing := [name for name in names if name not in design.dies]:
        raise VerificationError(f"{missing[0]} lies on no die; give each task one, or none to all")
    if unknown := sorted(design.dies.keys() - set(names)):
        raise VerificationError(f"{unknown[0]} lies on {design.dies[unknown[0]]}, but is no task")
    return {name: number[design.dies[name]] for name in names}


def _with_engines(
    design: Design, launch: Design, tasks: list[Task], streams: Sequence[Stream]
) -> tuple[list[Task], Sequence[Stream]]:
    """Beside the other tasks those of the engines, which stand for the operations that they serve; in each layer, where
    layers are folded, and behind them: `launch` is `design` of all of them.
    """
    position = {c_name(op.name): n for n, op in enumerate(design.graph.ops)}
    source, target, inner = dict[str, str](), dict[str, str](), list[Stream]()
    phase = phases(design) if design.graph.layers is not None and prompt_rows(design) > 1 else None
    for name, engine in design.engines.items():
        parts = engine_parts(name, engine, design)
        source |= {c_name(op): parts.source for op in engine.turns}
        target |= parts.target
        number = in_layers(design.graph, engine)
        of_turns = None if phase is None else [phase[op] for op in engine.turns[:number]]
        for task in parts.tasks:
            inside = task.turns[:number]
            inside = inside if of_turns is None else by_phase(inside, of_turns)
            tasks.append(replace(task, turns=in_all_layers(design, engine, task.turns, inside)))
        tasks += (joint_load(design, launch, name, i, of_turns) for i in engine.joint)
        inner += parts.streams
        position |= dict.fromkeys((task.name for task in parts.tasks), position[c_name(engine.turns[0])])
    outer = [s._replace(source=source.get(s.source, s.source), target=target.get(s.name, s.target)) for s in streams]
    return tasks, with_feedback(outer, inner, position)


def _tasks(design: Design) -> Iterator[Task]:
    served = {op for engine in design.engines.values() for op in engine.turns}
    for op in design.graph.ops:
        if op.name not in served:
            yield _structured(design, op)
    yield from _transfers(design)
    for name, (value, kernel, converter) in design.converters.items():
        write = _write(design, name, value)
        param = design.graph.value[value].role == "param"
        yield converter_task(name, kernel, converter, input_stream(name), write, design.platform, param=param)
    for name, fork in design.forks.items():
        copies = tuple(design.leaving.get((name, fork.value), ()))
        yield fork_task(name, fork.kernel, fork.itensor, input_stream(name), copies)


def _transfers(design: Design) -> Iterator[Task]:
    kept = kept_rows(design.graph)
    of_state = {row.state: (made, row) for made, row in kept.items()}
    stored, joint = dict[str, Dma](), joint_load_of(design)
    for name, load in design.loads.items():
        if name in joint:
            continue
        if load.resident:
            yield rom_task(name, load, _write(design, name, load.value), design.platform)
            continue
        row = design.graph.value[load.value].row
        task = load_task(name, load, _write(design, name, load.value), design.platform, row)
        if load.value in of_state:
            made, joined = of_state[load.value]
            stored[made] = new_row(task.dma, joined)
            task = replace(task, dma=earlier_rows(task.dma, joined))
        yield task
    rows = made_rows(design.graph)
    for name, store in design.stores.items():
        row = rows.get(store.value)
        yield store_task(name, store, input_stream(name), design.platform, stored.get(store.value), row)


def _structured(design: Design, op: LinalgOp) -> Task:
    name, graph = c_name(op.name), design.graph
    inputs = range(len(op.inputs))
    return structured_task(
        op,
        design.nests[op.name],
        design.kernel_of[op.name],
        tuple([None if design.reads[op.name, i] is None else operand_stream(op.name, i) for i in inputs]),
        tuple([graph.value[operand.value] for operand in op.inputs]),
        tuple([_write(design, name, out.value) for out in op.outputs]),
        design.multipliers.get(op.name, "fabric"),
        design.platform,
    )


def _write(design: Design, node: str, value: str) -> str:
    streams = design.leaving.get((node, value), ())
    if len(streams) != 1:
        raise VerificationError(f"{node} has {len(streams)} readers of {value}; run insert-forks")
    return streams[0]
