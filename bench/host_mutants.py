"""Wrong edits of the host program and of packed parameters, on the simulated board: how many does the proof catch?

python -m bench.host_mutants
python -m bench.host_mutants --count 20 --seed 7 --work /tmp/mutants

The host program: in a line of host/runtime that a generation runs, the order of arguments, buffers or kernels, a
position, a layer, a channel or a size is changed, or a call left out (equal chance for each kind, then for each
function, then for each place). Two layers of a tiny network generate tokens, on a board
that keeps what every launch of a kernel read. Parameters: words swapped, groups shifted, signs, padding, another
layer's. Seeds and survivors are printed. Ends with status 1 where less than 98 % are caught.
"""

import argparse
import ast
import copy
import importlib.util
import json
import random
import shutil
import sys
import tempfile
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from compiler.design_dir import silent
from compiler.errors import VerificationError
from compiler.generation import GenerateOptions, Prepared, copy_for_board, hidden_error, kept_shape, prepare
from compiler.graph.task_graph import LoadTask
from compiler.host.design import Image, load_design
from compiler.host.network import Network
from compiler.host.packing import NATIVE, pack
from compiler.options import Knobs
from compiler.platforms.platform import load_platform
from compiler.proof.csim import read_design_to_prove
from compiler.proof.launches import GenerationChecks, Witness, wrong_launch_of_files
from compiler.proof.memory import Memory
from compiler.simulator.board.build import build_board
from compiler.targets.interface import plan_interface

# Two layers of different kinds, positions that are looked up and that are turned by, the head longer than the host's
# chunks, several channels and kernels: what a wrong host program gets wrong is to matter.
NETWORKS: dict[str, dict[str, Any]] = {
    "gemma3": {
        "model_type": "gemma3_text", "vocab_size": 16000, "hidden_size": 64, "intermediate_size": 96,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
        "query_pre_attn_scalar": 16, "max_position_embeddings": 64, "sliding_window": 5, "sliding_window_pattern": 2,
        "initializer_range": 0.3, "tie_word_embeddings": False,
    },
    "gpt2": {
        "model_type": "gpt2", "vocab_size": 16000, "n_embd": 64, "n_head": 4, "n_layer": 2, "n_positions": 64,
        "initializer_range": 0.3, "tie_word_embeddings": False,
    },
}  # fmt: skip
KNOBS = Knobs(hbm_channels=2, stream_width=1024, overall_unroll=512, fusion_budget=20_000)
PROMPT = (5, 90, 17, 2, 61)
TOKENS = 12  # with the prompt, they fill 16 positions
COUNTS = (TOKENS, 1, 2)
MODULES = ("accelerator", "design", "network", "packing", "run_design", "session")
WANTED = 0.98  # caught, of those that change a result
MOST_ARGUED = 0.03  # that change none
SURVIVED, ARGUED_FOR = "survived", "no result"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One edit: where, and the line before and after it."""

    kind: str
    place: str
    before: str
    after: str


class Edit(ast.NodeTransformer):
    """Changes the place of that number, of those that a kind of edit has in a function, and counts them."""

    def __init__(self, kind: str, wanted: int | None, rng: random.Random) -> None:
        self.kind, self.wanted, self.rng = kind, wanted, rng
        self.found = 0
        self.line = 0

    def _take(self, node: ast.AST) -> bool:
        self.found += 1
        if self.wanted != self.found - 1:
            return False
        self.line = getattr(node, "lineno", 0)
        return True

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """What something is named of is no number."""
        if not isinstance(node.value, ast.Name):
            self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Two neighbouring arguments exchanged, a row of things backwards, or a size too short."""
        self.generic_visit(node)
        name = ast.unparse(node.func)
        if self.kind == "order" and name == "enumerate" and self._take(node):
            node.args[0] = ast.Subscript(ast.Call(ast.Name("list"), node.args[:1], []), _BACKWARDS)
        elif self.kind == "order" and name not in _ALIKE and len(node.args) > 1 and self._take(node):
            first = self.rng.randrange(len(node.args) - 1)
            node.args[first], node.args[first + 1] = node.args[first + 1], node.args[first]
        elif self.kind == "size" and name.endswith(".sync") and self._take(node):
            node.args[1] = ast.BinOp(node.args[1], ast.FloorDiv(), ast.Constant(2))
        return node

    def visit_Slice(self, node: ast.Slice) -> ast.AST:
        """A slice that ends one too early, or begins one too late."""
        self.generic_visit(node)
        end = node.upper or node.lower
        if self.kind == "size" and end is not None and self._take(node):
            moved = ast.BinOp(end, ast.Sub() if node.upper else ast.Add(), ast.Constant(1))
            return ast.copy_location(ast.Slice(node.lower, moved) if node.upper else ast.Slice(moved), node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A position, a layer or a channel one off; the first layer for each."""
        counted = node.id in _COUNTERS.get(self.kind, ())
        if counted and isinstance(node.ctx, ast.Load) and self._take(node):
            moved = ast.BinOp(node, self.rng.choice([ast.Add(), ast.Sub()]), ast.Constant(1))
            return ast.copy_location(
                ast.Constant(0) if self.kind == "layer" and self.rng.random() < 0.5 else moved, node
            )
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """A call left out."""
        self.generic_visit(node)
        if self.kind == "call left out" and isinstance(node.value, ast.Call) and self._take(node):
            return ast.copy_location(ast.Pass(), node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """The contents of two things exchanged where a tuple is unpacked."""
        self.generic_visit(node)
        [target] = node.targets[:1]
        if self.kind == "order" and isinstance(target, ast.Tuple) and len(target.elts) > 1 and self._take(node):
            target.elts[0], target.elts[1] = target.elts[1], target.elts[0]
        return node


_BACKWARDS = ast.Slice(step=ast.Constant(-1))
_ALIKE = (
    "isinstance",
    "range",
    "max",
    "min",
    "zip",
    "np.bitwise_or",
)  # whose arguments may be exchanged, or are no order
_COUNTERS = {"position": {"position", "first", "count"}, "layer": {"number"}, "channel": {"channel"}}
# Edits that change no result, by place and what the edited line has, and why.
ARGUED = {
    ("packing.tensor_to_tokens", "reshape("): "what follows lays the tokens one after the other, whatever the rows",
    ("design.load_design", "Scalar("): "a scalar and its source have the same name in these networks",
}
_TOLD = ("on_launch", "self.running")  # progress, and who hangs: no result depends on them
KINDS = ("order", "position", "layer", "channel", "size", "call left out")


def host_program(folder: Path, name: str) -> dict[str, types.ModuleType]:
    """The modules of a design's host/runtime, as a package of their own."""
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[name] = package
    spec.loader.exec_module(package)
    return {module: importlib.import_module(f"{name}.{module}") for module in MODULES}


def generation(networks: Sequence[Prepared], program: dict[str, types.ModuleType]) -> str | None:
    """Why the proof objects to what the host program had the board do; None where it does not."""
    objections = (_generation(prepared, program, count) for prepared, count in product(networks, COUNTS))
    on_files = (_run_on_files(prepared.design, program) for prepared in networks)
    return next(filter(None, chain(objections, on_files)), None)


def _run_on_files(directory: Path, program: dict[str, types.ModuleType]) -> str | None:
    """One run of a design on the files of its directory, as host/run.py makes it."""
    board = Witness()
    device, design = board.device(0), program["design"].load_design(directory)
    shutil.rmtree(directory / "out", ignore_errors=True)
    try:
        loaded = program["accelerator"].program(board, device, directory)
        accelerator = program["accelerator"].Accelerator(board, device, design, loaded)
        accelerator.load_files()
        accelerator.start()
        program["run_design"].save_outputs(accelerator)
    finally:
        device.close()
    return wrong_launch_of_files(board.launches, load_design(directory))


def _generation(prepared: Prepared, program: dict[str, types.ModuleType], count: int) -> str | None:
    board, network = Witness(), Network(prepared.network)
    device, session = board.device(0), program["session"]
    made, design = program["network"].Network(prepared.network), program["design"].load_design(prepared.design)
    with closing(device):
        steps = list(session.generate(board, device, made, design, prepared.design, count))
    tokens = [step.token for step in steps]
    reference = {name: array[:count] for name, array in network.reference().items()}
    checks = GenerationChecks(network, load_design(prepared.design), kept_shape(prepared), board.launches, count)
    wrong = checks.run(tokens)
    if wrong is None and tokens != reference["tokens"].tolist():
        wrong = "the tokens are not the reference's"
    if wrong is None and hidden_error(tokens, np.stack([step.hidden for step in steps]), reference) > 0.02:
        wrong = "the hidden states are not the reference's"
    return wrong


def lines_run(networks: Sequence[Prepared], folder: Path) -> set[tuple[str, int]]:
    """File and line of all that a generation runs of the host program."""
    ran: set[tuple[str, int]] = set()

    def trace(frame: types.FrameType, _event: str, _argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(str(folder)):
            return None
        ran.add((Path(frame.f_code.co_filename).stem, frame.f_lineno))
        return trace

    sys.settrace(trace)
    try:
        program = host_program(folder, "pristine")
        objection = generation(networks, program)
    finally:
        sys.settrace(None)
    if objection is not None:
        raise SystemExit(f"the host program as it is does not pass: {objection}")
    return ran


def draw(folder: Path, ran: set[tuple[str, int]], rng: random.Random) -> tuple[Mutant, str, str]:
    """An edit, its module, and the module's new text."""
    while True:
        kind, module = rng.choice(KINDS), rng.choice(MODULES)
        text = (folder / f"{module}.py").read_text()
        tree = ast.parse(text)
        functions = [
            f for f in ast.walk(tree)
            if isinstance(f, ast.FunctionDef) and any((module, s.lineno) in ran for s in f.body)
        ]  # fmt: skip
        if not functions:
            continue
        function = rng.choice(functions)
        counting = Edit(kind, None, rng)
        counting.generic_visit(copy.deepcopy(function))
        if not counting.found:
            continue
        before = ast.unparse(function).splitlines()
        edit = Edit(kind, rng.randrange(counting.found), rng)
        edit.generic_visit(function)
        told = any(word in text.splitlines()[edit.line - 1] for word in _TOLD)
        if (module, edit.line) not in ran or told or ast.unparse(tree) == ast.unparse(ast.parse(text)):
            continue
        after = ast.unparse(ast.fix_missing_locations(function)).splitlines()
        changed = [(b, a) for b, a in zip(before, after, strict=False) if b != a] or [("", "")]
        place = f"{module}.{function.name}"
        return Mutant(kind, place, changed[0][0].strip(), changed[0][1].strip()), module, ast.unparse(tree)


def host_mutants(networks: Sequence[Prepared], count: int, seed: int) -> Iterator[tuple[Mutant, str]]:
    """Each mutant, and what became of it."""
    folder = networks[0].design / "host" / "runtime"
    ran, rng = lines_run(networks, folder), random.Random(seed)
    seen: set[str] = set()
    while len(seen) < count:
        mutant, module, text = draw(folder, ran, rng)
        if text in seen:
            continue
        seen.add(text)
        edited = folder.parent / "edited"
        shutil.rmtree(edited, ignore_errors=True)
        shutil.copytree(folder, edited)
        (edited / f"{module}.py").write_text(text)
        yield mutant, _outcome(partial(_generate, networks, edited, f"edited{len(seen)}"))


def _generate(networks: Sequence[Prepared], edited: Path, name: str) -> str | None:
    return generation(networks, host_program(edited, name))


def parameter_mutants(networks: Sequence[Prepared], count: int, seed: int) -> Iterator[tuple[Mutant, str]]:
    """Packed parameters of the designs, changed as a wrong packing would leave them."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        prepared = networks[int(rng.integers(len(networks)))]
        directory = prepared.design
        images = [i for i in load_design(directory).images.values() if i.role == "param"]
        image, kind = images[rng.integers(len(images))], str(rng.choice(list(_REPACKED)))
        file = directory / image.files[0]
        right = file.read_bytes()
        wrong = _REPACKED[kind](rng, right, image, Network(prepared.network))
        if wrong is None or wrong == right:
            continue
        made += 1
        file.write_bytes(wrong)
        try:
            yield Mutant(kind, f"{directory.name} {file.name}", "", ""), _outcome(partial(memory_objection, directory))
        finally:
            file.write_bytes(right)


def _swap_words(rng: np.random.Generator, right: bytes, image: Image, _network: Network) -> bytes | None:
    words = _words(right, image)
    if len(words) < 2:
        return None
    first = rng.integers(len(words) - 1)
    words[[first, first + 1]] = words[[first + 1, first]]
    return words.tobytes()


def _shift_tokens(rng: np.random.Generator, right: bytes, image: Image, _network: Network) -> bytes | None:
    """The tokens of one word, one further: also how scales of groups come to stand one off."""
    words, tokens = _words(right, image), image.layout.tokens_per_word
    row = words[rng.integers(len(words))]
    if tokens < 2 or len(row) % tokens:
        return None
    row[:] = np.roll(row, len(row) // tokens)
    return words.tobytes()


def _negate(rng: np.random.Generator, right: bytes, image: Image, _network: Network) -> bytes | None:
    """One element."""
    if image.layout.dtype == "i4":
        nibbles = bytearray(right)
        at, shift = rng.integers(len(right)), 4 * int(rng.integers(2))
        value = nibbles[at] >> shift & 15
        nibbles[at] = nibbles[at] & ~(15 << shift) | (-value & 15) << shift
        return bytes(nibbles)
    elements = np.frombuffer(right, NATIVE[image.layout.dtype]).copy()
    at = rng.integers(len(elements))
    elements[at] = -elements[at]
    return elements.tobytes()


def _fill_padding(rng: np.random.Generator, right: bytes, image: Image, _network: Network) -> bytes | None:
    """A byte that holds no element, if there is one."""
    ones = np.full(image.shape, -1).astype(NATIVE[image.layout.dtype])
    [used, *others] = pack(ones, image.layout)
    free = np.flatnonzero(np.frombuffer(used, np.uint8) == 0)
    if others or not len(free) or (image.layout.dtype == "f32" and not image.layout.valid):
        return None
    made = bytearray(right)
    made[int(rng.choice(free))] = 1
    return bytes(made)


def _other_layer(_rng: np.random.Generator, _right: bytes, image: Image, network: Network) -> bytes | None:
    """Layers exchanged."""
    return pack(image.content(network.tensors())[::-1], image.layout)[0] if image.stacked else None


_REPACKED: dict[str, Callable[[np.random.Generator, bytes, Image, Network], bytes | None]] = {
    "word order": _swap_words,
    "group or token order": _shift_tokens,
    "sign": _negate,
    "padding": _fill_padding,
    "layer": _other_layer,
}


def _words(content: bytes, image: Image) -> Any:
    return np.frombuffer(content, np.uint8).reshape(-1, image.layout.port_bits // 8).copy()


def memory_objection(directory: Path) -> str | None:
    """Why the proof objects to what the design's memory images hold."""
    design = read_design_to_prove(directory)
    memory = Memory(directory, directory / "out", plan_interface(design.tasks, design.graph))
    try:
        for task in design.tasks.tasks:
            if isinstance(task, LoadTask) and design.graph.value[task.dma.value].role == "param":
                memory.loaded(task)
        for name in memory.scalars:
            memory.passed(name)
    except VerificationError as error:
        return str(error)
    return None


def _outcome(check: Callable[[], str | None]) -> str:
    try:
        return SURVIVED if check() is None else "check"
    except Exception:  # noqa: BLE001 # whatever a wrong program does
        return "crash"


def _argument(mutant: Mutant) -> str | None:
    """Why the edit changes no result, if that is known."""
    changed = mutant.before + mutant.after
    return next((why for (place, part), why in ARGUED.items() if place == mutant.place and part in changed), None)


def _argued(mutant: Mutant) -> str:
    return SURVIVED if _argument(mutant) is None else ARGUED_FOR


def table_of(title: str, results: list[tuple[Mutant, str]]) -> Table:
    table = Table(title=title)
    for name in ("kind", "drawn", "by check", "by crash", ARGUED_FOR, SURVIVED, "caught"):
        table.add_column(name, justify="left" if name == "kind" else "right")
    for kind in (*dict.fromkeys(mutant.kind for mutant, _ in results), "all"):
        how = Counter(outcome for mutant, outcome in results if kind in ("all", mutant.kind))
        total = how.total()
        caught = f"{100 * (total - how[SURVIVED]) / total:.0f} %"
        table.add_row(kind, str(total), *(str(how[name]) for name in ("check", "crash", ARGUED_FOR, SURVIVED)), caught)
    return table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100, help="wrong edits (100)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, help="where the tiny network and its designs are kept (a new folder)")
    options = parser.parse_args()
    console = Console()
    work = options.work or Path(tempfile.mkdtemp(prefix="millrace-mutants-"))
    networks = [tiny_network(name, work) for name in NETWORKS]
    console.print(f"seed {options.seed}")
    host = host_mutants(networks, options.count, options.seed)
    parameters = parameter_mutants(networks, options.count, options.seed)
    passed = True
    for title, mutants in (("host program", host), ("packed parameters", parameters)):
        results = list(track(mutants, title, options.count, console=Console(stderr=True)))
        results = [(mutant, _argued(mutant) if outcome == SURVIVED else outcome) for mutant, outcome in results]
        _show(console, title, results)
        how = Counter(outcome for _, outcome in results)
        passed &= how[SURVIVED] <= (1 - WANTED) * len(results) and how[ARGUED_FOR] <= MOST_ARGUED * len(results)
    return 0 if passed else 1


def _show(console: Console, title: str, results: list[tuple[Mutant, str]]) -> None:
    console.print(table_of(title, results))
    for mutant, outcome in results:
        if outcome in (SURVIVED, ARGUED_FOR):
            changed = f"{mutant.before}  ->  {mutant.after}" if mutant.before else ""
            why = _argument(mutant) or ""
            console.print(f"{outcome}: {mutant.place} ({mutant.kind}) {changed} {why}", markup=False)


def tiny_network(name: str, work: Path) -> Prepared:
    """A network with weights, and a copy of its designs that the host program runs from."""
    config, copied = work / name / "config.json", work / "boards" / name
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(json.dumps(NETWORKS[name]))
    options = GenerateOptions(PROMPT, TOKENS, length=len(PROMPT) + TOKENS - 1)
    made = prepare(config.parent, options, KNOBS, load_platform("u55c"), work / "cache", silent)
    shutil.rmtree(copied, ignore_errors=True)
    copy_for_board(made, copied)
    build_board(copied / "design")
    return Prepared(made.source, made.request, copied / "network", copied / "design")


if __name__ == "__main__":
    sys.exit(main())
