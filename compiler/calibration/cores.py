"""Area of an operator core by the name that HLS gives its RTL: `fadd_32ns_32ns_32_7_full_dsp_1_U15` has 7 stages."""

import re
import tomllib
from functools import cache
from importlib.resources import files

from compiler.platforms.platform import Operator

RESULT_BITS = 32  # of float cores
_NAME = re.compile(
    r"(?P<op>[a-z]+)_(?P<a>\d+)n?s_(?:(?P<b>\d+)n?s_)*\d+_(?P<stages>\d+)(?:_(?P<impl>[a-z]\w*?))?_\d(?:_x)*(?:_U\d+)?"
)
_INSTANCE = re.compile(r".*_U\d+")
# Names that stand for another operation of the same area.
_SAME = {"fsub": "fadd", "faddfsub": "fadd", "dsub": "dadd", "daddfsub": "dadd"}

# Multipliers in LUTs by their wider factor, and what a DSP takes beside it (hls_op_table.csv: 2 to 10 bits).
MUL_LUTS = {5: 17, 6: 23, 7: 33, 8: 40, 9: 49, 10: 62}
MUL_DSP = Operator(latency=1, dsp=1, lut=5, ff=0)
DSP_FACTORS = (18, 27)  # bits of the factors of a DSP48E2


def is_core(name: str) -> bool:
    """Whether an operation is bound to an instance of its own; others are plain logic of the module."""
    return _INSTANCE.fullmatch(name) is not None


def core_area(name: str) -> Operator | None:
    """Area of a core by csynth, of the nearest number of stages that is known; None where none is."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    stages, operation = int(match["stages"]), _SAME.get(match["op"], match["op"])
    if operation == "mul":
        return _multiplier(stages, int(match["a"]), int(match["b"] or match["a"]))
    by_stages = _table().get(f"{operation}_{match['impl']}")
    if by_stages is None:
        return None
    return by_stages[min(by_stages, key=lambda known: abs(known - stages))]


@cache
def _table() -> dict[str, dict[int, Operator]]:
    data = tomllib.loads(files("compiler.calibration").joinpath("cores.toml").read_text())
    return {
        name: {int(n): Operator(int(n), area["dsp"], area["lut"], area["ff"], RESULT_BITS) for n, area in by.items()}
        for name, by in data.items()
    }


def _multiplier(stages: int, a: int, b: int) -> Operator | None:
    narrow, wide = sorted((a, b))
    if wide in MUL_LUTS or wide < min(MUL_LUTS):
        return Operator(stages, 0, MUL_LUTS.get(wide, MUL_LUTS[5]), 0)
    return MUL_DSP if narrow <= DSP_FACTORS[0] and wide <= DSP_FACTORS[1] else None
