"""Pass options of tile-tasks carry every knob that it plans on."""

import pytest
from xdsl.utils.arg_spec import parse_spec

from compiler.errors import InvalidInputError
from compiler.options import Knobs, TaskOverride
from compiler.transforms.tile_tasks import TileTasksPass, override_text, parse_override

OVERRIDES = (
    TaskOverride("h0.fc"),
    TaskOverride("h0.fc", tile=32),
    TaskOverride("h0.fc", tile=32, unroll=8, order=(1, 0, 2)),
)


@pytest.mark.parametrize("override", OVERRIDES)
def test_override_text_round_trip(override: TaskOverride) -> None:
    assert parse_override(override_text(override)) == override


@pytest.mark.parametrize("text", ["fc tile", "fc width=3", "fc tile=4 order"])
def test_bad_override_says_what_is_expected(text: str) -> None:
    with pytest.raises(InvalidInputError, match="is not `OP "):
        parse_override(text)


def test_options_survive_their_text() -> None:
    knobs = Knobs(8, 512, "reduction-outer", OVERRIDES[1:], hbm_channels=4, stream_width=1024)
    pass_ = TileTasksPass.of(knobs)
    assert pass_.knobs == knobs
    assert TileTasksPass.from_spec(parse_spec(str(pass_.spec()))) == pass_


def test_unknown_order_is_rejected() -> None:
    with pytest.raises(InvalidInputError, match="order is 'sideways'"):
        _ = TileTasksPass(order="sideways").knobs
