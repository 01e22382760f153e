"""What the buffer of a converter is made of: registers where few words lie in each of many banks."""

from dataclasses import replace
from math import prod

import pytest
from converters import CASES, planned, task_of

from compiler.analysis.banks import FF_PRICE, choice_luts, converter_banks, converter_buffer
from compiler.analysis.memory import buffer_memory
from compiler.analysis.resources import task_resources
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")


@pytest.mark.parametrize("case", CASES)
def test_the_cheaper_of_registers_and_memory(case: str):
    converter, memories = planned(case), U55C.memories
    buffer = converter_buffer(converter, memories)
    assert buffer.banks * buffer.depth >= prod(converter.memory)
    held = replace(buffer, kind="registers")
    kept = replace(buffer, kind="lutram")
    odd = any(banks & (banks - 1) for banks in converter_banks(converter))  # whose indices are no wiring
    by_registers = choice_luts(converter, held) + FF_PRICE * held.bits
    by_memory = buffer_memory(kept, memories).lut + choice_luts(converter, kept)
    if buffer.kind == "registers":
        assert buffer.depth == 1 or by_registers < by_memory
    else:
        assert buffer.kind != "lutram" or by_registers >= by_memory or odd


def test_what_leaves_registers_is_chosen_among_all_of_them():
    """Rows of four and columns of four: 16 banks, two of each, of which a token takes four."""
    converter = planned("turned in registers")
    buffer = converter_buffer(converter, U55C.memories)
    assert (buffer.kind, buffer.banks, buffer.depth) == ("registers", 16, 2)
    assert choice_luts(converter, buffer) == 4 * 32 * 2  # of eight: two LUTs a bit
    assert choice_luts(converter, replace(buffer, kind="lutram")) == 4 * 32  # of four banks


def test_registers_and_choices_count():
    task, tasks = task_of("turned in registers")
    (buffer,) = task.buffers
    area = task_resources(task, tasks, U55C)
    memory = task_resources(replace(task, buffers=(replace(buffer, kind="lutram"),)), tasks, U55C)
    assert area.ff - memory.ff == buffer.bits
    assert 0 < memory.lut - area.lut < buffer_memory(replace(buffer, kind="lutram"), U55C.memories).lut
