"""The graph of a design is read from what the compiler writes."""

import json
from xml.etree import ElementTree

import pytest
from small_graphs import ALL

from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from millrace.errors import OtherVersionError
from millrace.graph import read_graph

SMALL = Knobs(default_tile_size=4, overall_unroll=8)


@pytest.mark.parametrize("name", ALL)
def test_every_task_and_stream_of_a_design(name: str) -> None:
    tasks = planned_tasks(ALL[name](), SMALL, load_platform("u55c"))
    graph = read_graph(json.dumps(tasks.to_json()).encode())
    assert [task.name for task in graph.tasks] == [task.name for task in tasks.tasks]
    assert {stream.name for stream in graph.streams} == {stream["name"] for stream in tasks.to_json()["streams"]}
    picture = ElementTree.fromstring(graph.svg())
    assert len(picture.findall(".//{*}rect")) == len(graph.tasks)
    assert len(picture.findall(".//{*}path")) == len(graph.streams)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"tasks": [{}], "streams": []}'])
def test_a_file_that_is_none_is_of_another_version(text: str) -> None:
    with pytest.raises(OtherVersionError):
        read_graph(text.encode())
