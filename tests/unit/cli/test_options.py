import json
from pathlib import Path

import pytest

from cli.commands.compile import read_knobs
from cli.options import Network, PhaseName, PrecisionName
from compiler.errors import InvalidInputError
from compiler.options import Knobs, TaskOverride


def test_default_lengths_follow_the_phase():
    assert Network(phase=PhaseName.PREFILL).workload("gpt2").length == 32
    assert Network().workload("gpt2").length == 64
    assert Network(phase=PhaseName.HEAD).workload("gpt2").length == 1
    assert Network(phase=PhaseName.HEAD).request() == {"phase": "head"}
    assert Network(phase=PhaseName.TOKEN).workload("gpt2").length == 64
    assert Network(phase=PhaseName.TOKEN, context=15, layers=2).workload("gpt2").slots == 15


@pytest.mark.parametrize(
    ("phase", "seq", "context", "message"),
    [
        (PhaseName.PREFILL, None, 64, "--context belongs to --phase decode, step and token"),
        (PhaseName.DECODE, 32, None, "--seq belongs to --phase prefill"),
        (PhaseName.HEAD, None, 64, "--context belongs to --phase decode, step and token; a head has one row"),
        (PhaseName.STEP, 8, None, "--seq belongs to --phase prefill; a step has its length from --context"),
        (PhaseName.HEAD, 8, None, "--seq belongs to --phase prefill; a head has one row"),
        (PhaseName.PREFILL, 0, None, "length is 0"),
        (PhaseName.DECODE, None, -1, "length is -1"),
        (PhaseName.DECODE, None, 2**40, "length is 1099511627776"),
    ],
)
def test_bad_lengths_are_named(phase: PhaseName, seq: int | None, context: int | None, message: str):
    with pytest.raises(InvalidInputError, match=message):
        Network(phase, seq, context, PrecisionName.F32).workload("gpt2")


def test_settings_replace_knobs_of_the_file(tmp_path: Path):
    file = tmp_path / "knobs.json"
    file.write_text(json.dumps({"overall_unroll": 64, "overrides": [{"op": "fc", "tile": 8}]}))
    knobs = read_knobs(file, ["overall_unroll=512", "multiplier=dsp"])
    assert knobs == Knobs(overall_unroll=512, multiplier="dsp", overrides=(TaskOverride("fc", tile=8),))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("overall_unroll", "write KNOB=VALUE"),
        ("colour=red", "unknown knobs"),
        ("overall_unroll=many", "overall_unroll is many"),
        ("overall_unroll=0", "overall_unroll is 0"),
        ("overrides=7", "overrides is 7; it must be a list"),
    ],
)
def test_bad_settings_are_named(setting: str, message: str):
    with pytest.raises(InvalidInputError, match=message):
        read_knobs(None, [setting])


def test_knobs_file_that_is_not_json(tmp_path: Path):
    file = tmp_path / "knobs.json"
    file.write_text("{")
    with pytest.raises(InvalidInputError, match="is not JSON"):
        read_knobs(file, [])


@pytest.mark.parametrize("text", ["[]", "7", '"overall_unroll"', "null"])
def test_knobs_that_are_no_object(tmp_path: Path, text: str):
    file = tmp_path / "knobs.json"
    file.write_text(text)
    with pytest.raises(InvalidInputError, match=r"knobs\.json holds a \w+; knobs are an object"):
        read_knobs(file, [])
