"""The C++ of converters runs: what comes out is the tensor in the order of the target, whatever the buffer."""

import subprocess
from math import prod
from pathlib import Path

import numpy as np
import pytest
from converters import CASES, code_of, planned, task_of

from compiler.analysis.banks import banks_apart, divider_bits
from compiler.graph.itensor import ITensor
from compiler.simulator.csim.build import INCLUDE_DIR
from compiler.targets.images import tensor_to_tokens
from compiler.targets.tokens import token_alias

# What the functions use of hls_stream.h and hls_vector.h.
PRELUDE = """
#include <ap_int.h>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <queue>
namespace hls {
template <class T, int N> struct vector : std::array<T, N> {};
template <class T> struct stream {
  std::queue<T> tokens;
  T read() {
    if (tokens.empty()) { std::puts("read while empty"); std::exit(1); }
    T token = tokens.front();
    tokens.pop();
    return token;
  }
  void write(const T& token) { tokens.push(token); }
};
}  // namespace hls
"""


def feed(itensor: ITensor, content: str) -> str:
    """C++ that turns row `i` of `content` into a token."""
    alias = token_alias(itensor, 512)
    if alias is None:
        return f"{content}[i][0]"
    copy = f"for (int e = 0; e < {prod(itensor.element)}; ++e) token[e] = {content}[i][e];"
    return f"[&] {{ T token; {copy} return token; }}()"


def main_of(case: str) -> str:
    task, _ = task_of(case)
    converter = planned(case)
    source, target = converter.source, converter.target
    tensor = np.arange(prod(source.shape)).reshape(source.shape)
    name = task.name
    lines = [f"bool check_{name}() {{"]
    for side, itensor in (("in", source), ("out", target)):
        rows = ",".join("{" + ",".join(map(str, row)) + "}" for row in tensor_to_tokens(tensor, itensor))
        token = "int32_t" if token_alias(itensor, 512) is None else f"i32x{prod(itensor.element)}"
        lines.append(f"static const int {side}_tokens[{itensor.tokens}][{prod(itensor.element)}] = {{{rows}}};")
        lines.append(f"hls::stream<{token}> {side};")
    token = "int32_t" if token_alias(source, 512) is None else f"i32x{prod(source.element)}"
    lines.append(
        f"{{ using T = {token}; for (int i = 0; i < {source.tokens}; ++i) in.write({feed(source, 'in_tokens')}); }}"
    )
    lines.append(f"{name}(in, out);")
    lines.append(f"if (!in.tokens.empty() || out.tokens.size() != {target.tokens}) return false;")
    token = "int32_t" if token_alias(target, 512) is None else f"i32x{prod(target.element)}"
    lines.append(
        f"using T = {token}; for (int i = 0; i < {target.tokens}; ++i) {{ T wanted = {feed(target, 'out_tokens')};"
    )
    lines.append("if (out.read() != wanted) return false; } return true; }")
    return "\n".join(lines)


def test_the_cases_are_what_they_are_called() -> None:
    assert {case: planned(case).realisation.kind for case in CASES} == {
        case: kind for case, (*_, kind) in CASES.items()
    }
    assert all(banks_apart(planned(case)) == {0: 12} for case in CASES if case.startswith("banks apart"))
    assert banks_apart(planned("banks divided")) == {}
    assert divider_bits(planned("banks divided")) > 0
    assert divider_bits(planned("banks apart in a ring")) == divider_bits(planned("ring")) == 0


def test_registers_are_of_all_that_both_sides_move_at_once() -> None:
    """Blocks of two: 16 words of 64 bits in each half, not 32 of 32 bits."""
    assert "array_partition variable=buffer type=complete dim=0" in code_of("turned in registers")
    code = code_of("blocks turned in registers")
    assert [line for line in code.splitlines() if "array_" in line] == [
        f"#pragma HLS array_{how} variable=buffer type=complete dim={dim}"
        for dim, how in enumerate(("partition", "partition", "partition", "reshape"), start=1)
    ]


@pytest.mark.slow
def test_the_code_of_every_realisation_runs(tmp_path: Path) -> None:
    """Under the address sanitiser: an index beyond the buffer ends the program."""
    sides = [itensor for case in CASES for itensor in (planned(case).source, planned(case).target)]
    aliases = sorted({alias for itensor in sides if (alias := token_alias(itensor, 512)) is not None})
    checks = [f'if (!check_{task_of(case)[0].name}()) {{ std::puts("{case}"); return 1; }}' for case in CASES]
    program = [PRELUDE, *aliases, *map(code_of, CASES), *map(main_of, CASES), "int main() {", *checks, "}"]
    (tmp_path / "converters.cpp").write_text("\n".join(program))
    sanitise = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command = [
        "g++",
        "-std=c++17",
        "-O1",
        "-Wno-unknown-pragmas",
        f"-I{INCLUDE_DIR}",
        *sanitise,
        "converters.cpp",
        "-o",
        "converters",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    finished = subprocess.run([tmp_path / "converters"], capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stdout) == (0, "")
