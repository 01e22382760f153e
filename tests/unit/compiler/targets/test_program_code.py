"""The C++ of programs, built and run: which streams an iteration uses, for every value of the arguments."""

import subprocess
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import pytest
from random_programs import program_network

from compiler.errors import UnsupportedError
from compiler.graph.program import (
    SIDES,
    Access,
    Argument,
    BoundLoop,
    Gate,
    LoopNest,
    Program,
    Repeat,
    Side,
    Values,
    all_launches,
    arguments_of,
    nests,
    program_at,
    single_runs,
    streams,
    walked,
)
from compiler.graph.task_graph import TimingSpec
from compiler.simulator.csim.build import INCLUDE_DIR
from compiler.targets.program_code import ProgramCode
from compiler.targets.writer import CppWriter, Namer

SEEDS = range(40)
ROWS, PLACE = Argument("rows", 5), Argument("place", 20, 4)
POSITION = Argument("position", 19, 4, more=1)
FIRST, LAST, MIDDLE = (Gate(1, 0, 1),), (Gate(1, 4, 5),), (Gate(1, 1, 3),)


def nest(trips: tuple[int, ...], reads: str, *writes: Access, bounds: tuple[BoundLoop, ...] = ()) -> LoopNest:
    return LoopNest(trips, tuple(map(Access, reads.split())), writes, bounds=bounds)


FOLLOWING: dict[str, Program] = {
    "a row that sums up": (nest((3, 5), "a", Access("b", LAST), bounds=(BoundLoop(1, ROWS),)),),
    "beside constant ones": (
        nest((5,), "a", Access("b"), bounds=(BoundLoop(0, PLACE),)),
        Repeat(2, (nest((2, 5), "a c", Access("b", FIRST), Access("d", LAST), bounds=(BoundLoop(1, ROWS),)),)),
        nest((2, 4), "c", Access("d", MIDDLE)),
        nest((2, 5), "c", Access("d", LAST), bounds=(BoundLoop(1, ROWS),)),
    ),
    "two arguments": (
        nest((5, 5), "a", Access("b", LAST), bounds=(BoundLoop(0, ROWS), BoundLoop(1, PLACE))),
        nest((5, 5), "a", Access("b", LAST), bounds=(BoundLoop(0, PLACE), BoundLoop(1, ROWS))),
    ),
    "layers of rows, the newest first": (
        LoopNest(
            (2, 19, 3),
            (Access("a", (Gate(1, 0, 1),)), Access("b", (Gate(1, 1, 19),))),
            (Access("c", (Gate(1, 0, 18),)), Access("d", (Gate(1, 18, 19), Gate(2, 2, 3)))),
            restarts=1,
            bounds=(BoundLoop(1, POSITION, fixed=-1, each=4),),
        ),
    ),
    "several first, several last": (
        nest((1, 5), "a", Access("b", (Gate(1, 0, 2),)), Access("c", (Gate(1, 2, 5),)), bounds=(BoundLoop(1, ROWS),)),
    ),
}


def programs() -> Iterator[tuple[str, Program]]:
    yield from FOLLOWING.items()
    for seed in SEEDS:
        for process in program_network(seed).processes:
            if any(nests(single_runs(process.program))):
                yield f"seed {seed}, {process.name}", process.program


def function(name: str, program: Program) -> str:
    """It prints what each iteration uses, a letter a stream that is read, a capital one that is written."""
    out = CppWriter()
    arguments = {argument.name: argument.name for argument in arguments_of([program])}
    with out.block(f"static void {name}({', '.join(f'int {a}' for a in arguments.values())})"):
        code = ProgramCode.of(out, Namer([name, *arguments.values()]), program, arguments)
        used = [(s, code.condition(*s, s[1])) for s in letters(program)]
        with code.pipelined(TimingSpec((), 1, 3)):
            for stream, condition in used:
                out.line(f"if ({condition or 'true'}) putchar('{letters(program)[stream]}');")
            out.line("putchar('.');")
    return out.text()


def letters(program: Program) -> dict[tuple[Side, str], str]:
    return {
        (side, stream): chr(ord("a" if side == "reads" else "A") + number)
        for side in SIDES
        for number, stream in enumerate(streams(program, side))
    }


def uses(program: Program, values: Values) -> str:
    """What the function should print."""
    letter, found = letters(program), list[str]()
    for now in walked(program_at(program, values)):
        for indices in product(*map(range, now.trips)):
            for side in SIDES:
                for stream in streams(program, side):
                    access = now.access(side, stream)
                    if access is not None and all(g.low <= indices[g.loop] < g.high for g in access.gates):
                        found.append(letter[side, stream])
            found.append(".")
    return "".join(found)


def printed(calls: Iterable[tuple[str, Program, Values]], folder: Path) -> list[str]:
    source, functions, lines = folder / "programs.cpp", dict[Program, str](), list[str]()
    texts = ["#include <ap_int.h>", "#include <cstdio>"]
    for _, program, values in calls:
        if program not in functions:
            functions[program] = f"p{len(functions)}"
            texts.append(function(functions[program], program))
        given = (str(values.get(a.name, a.most)) for a in arguments_of([program]))
        lines.append(f"{functions[program]}({', '.join(given)}); putchar('\\n');")
    source.write_text("\n".join([*texts, "int main() {", *lines, "}"]))
    subprocess.run(["g++", "-w", "-O0", f"-I{INCLUDE_DIR}", source, "-o", folder / "programs"], check=True)
    done = subprocess.run([folder / "programs"], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_iterations_use_streams_as_the_program_says(tmp_path: Path):
    calls = [
        (name, program, values) for name, program in programs() for values in all_launches(arguments_of([program]))
    ]
    for (name, program, values), line in zip(calls, printed(calls, tmp_path), strict=True):
        assert line == uses(program, values), (name, values)


@pytest.mark.parametrize(
    ("flawed", "why"),
    [
        (LoopNest((5, 5), (), (), 1, (BoundLoop(0, ROWS),)), "how often a nest restarts"),
        (LoopNest((0, 5), (), (), 1), "runs no nest"),
    ],
)
def test_what_has_no_code_is_refused(flawed: LoopNest, why: str):
    with pytest.raises(UnsupportedError, match=why):
        function("f", (flawed,))


def test_what_a_turn_runs_is_read_from_a_table_and_not_multiplied() -> None:
    """Beside it only what follows an argument is a factor."""
    out, rows = CppWriter(), BoundLoop(2, ROWS)
    program = tuple(nest((outer, inner, 5), "a", Access("b"), bounds=(rows,)) for outer, inner in ((2, 3), (4, 7)))
    code = ProgramCode.of(out, Namer(), program, {"rows": "rows"}, counted=True)
    with code.pipelined(TimingSpec((), 1, 4)):
        pass
    text = out.text()
    assert "static const int points[2] = {6, 28};" in text
    assert "const int iterations = trip2 * points[turn];" in text
    assert "trip0 = trips0[turn]" in text  # counters wrap round there
