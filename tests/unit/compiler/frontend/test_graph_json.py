"""LinalgGraph survives JSON."""

import json
from typing import Any

import pytest

from compiler.errors import VerificationError
from compiler.frontend.graph_json import graph_from_json, graph_to_json


@pytest.mark.parametrize(("phase", "precision"), [("prefill", "f32"), ("decode", "w4a8")])
def test_round_trip(make_bundle: Any, phase: str, precision: str) -> None:
    graph = make_bundle(phase, precision).graph
    text = json.dumps(graph_to_json(graph), allow_nan=False)  # the softmax's maximum starts at -infinity
    assert graph_from_json(json.loads(text)) == graph


@pytest.mark.parametrize("change", [{"format": 2}, {"ops": None}, {"values": []}, {"outputs": [{}]}])
def test_damage_is_refused(make_bundle: Any, change: dict[str, Any]) -> None:
    data = {**graph_to_json(make_bundle("decode", "f32").graph), **change}
    with pytest.raises((VerificationError, KeyError)):
        graph_from_json(data)
