"""What people use: an exploration, its front and its designs, against a service that is played."""

import inspect
import json
import pydoc
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import httpx
import pytest
from wire_replies import reply, sent

import millrace
from millrace import design as design_module
from millrace.client import Client
from millrace.errors import FailedError, InvalidInputError, UsageError
from millrace.exploration import Exploration, explorations, explore, explore_all, find
from millrace.progress import Progress
from millrace.wire import (
    Build,
    Design,
    DesignTable,
    Model,
    NewExploration,
    NewWorkloadShape,
    SimulationSummary,
)
from millrace.wire import Exploration as Reply

COLUMNS: dict[str, list[Any]] = {
    "id": ["a", "b", "c", "d"],
    "feasible": [True, True, True, False],
    "on_front": [True, True, False, False],
    "latency_us": [9.0, 7.0, 8.0, None],
    "energy_uj": [1.0, 3.0, 4.0, None],
    "refuted": [None, None, None, None],
    "lut": [0.1, 0.5, 0.3, None],
    "lut_used": [100.0, 500.0, 300.0, None],
    "knob_multiplier": ["dsp", "fabric", "dsp", "dsp"],
    "knob_overrides": [[], [{"op": "<b>"}], [], []],
}
UNITS = {"latency_us": "us", "energy_uj": "uJ", "lut_used": "LUT"}
TABLE = {
    "exploration_id": "exp_1",
    "rows": 4,
    "objectives": ["latency_us", "energy_uj"],
    "columns": [
        {
            "name": name,
            "kind": "share" if name == "lut" else "metric",
            "unit": UNITS.get(name, ""),
            "fidelity": "estimate",
            "values": values,
        }
        for name, values in COLUMNS.items()
    ],
}
DATAFLOW = {
    "name": "net",
    "tasks": [
        {"name": n, "kind": k, "kernel": 0, "op": None, "timing": {"trips": [4, 8], "ii": 2, "depth": 3}, "more": 1}
        for n, k in (("load", "load"), ("mul<&>", "compute"), ("store", "store"))
    ],
    "streams": [
        {"name": f"s{n}", "source": a, "target": b, "itensor": "itensor<>", "tokens": 32, "width": 8, "depth": 2,
         "kind": None}
        for n, (a, b) in enumerate([("load", "mul<&>"), ("mul<&>", "store")])
    ],
}  # fmt: skip


class Service:
    """Plays a service; `requests` are what it was asked, `builds` how a build stands each time it is asked for."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, Any]] = []
        self.builds: Iterator[str] = iter(["running", "done"])
        self.dataflow = True
        self.warnings: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/v1")
        is_json = request.headers.get("content-type") == "application/json"
        self.requests.append((request.method, path, json.loads(request.content) if is_json else None))
        exploration = reply(
            Reply, id="exp_1", name="mine", tags=["paper"], state="done", budget=4, evaluated=4, warnings=self.warnings
        )
        if path.endswith("/events"):
            events = [("designs", {"id": ["a", "b", "c", "d"]}), ("state", {"state": "done"})]
            text = "".join(f"event: {kind}\ndata: {json.dumps(data)}\n\n" for kind, data in events)
            return httpx.Response(200, text=text)
        if path.endswith("/builds"):
            return sent(reply(Build, id="bld_1", state="queued"), 202)
        if path.startswith("/builds"):
            return sent(reply(Build, id="bld_1", state=next(self.builds), error="too large"))
        simulation = reply(SimulationSummary, state="done", latency_us=7.5)
        answers = {
            "/explorations": exploration
            if request.method == "POST"
            else {"items": [exploration, reply(Reply, id="x")]},
            "/explorations/batch": {"explorations": [exploration, exploration]},
            "/explorations/exp_1": exploration,
            "/explorations/exp_1/table": TABLE,
            "/models": reply(Model, id="mdl_1"),
            "/designs/b": reply(Design, id="b", simulation=simulation, dataflow_available=self.dataflow),
            "/designs/b/artifacts/dataflow.json": DATAFLOW,
        }
        return sent(answers[path])


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setattr(design_module, "_POLL_S", 0)
    return Service()


@pytest.fixture
def client(service: Service) -> Client:
    return Client("http://millrace.test", transport=httpx.MockTransport(service))


@pytest.fixture
def exploration(client: Client) -> Exploration:
    return find("exp_1", server=client)


def test_a_file_is_stored_and_explored_with_what_was_chosen(client: Client, service: Service, tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(b"onnx")
    found = explore(tmp_path / "net.onnx", server=client, phase="prefill", length=32, budget=50, builds={"csynth": 2})
    body = {"model": "mdl_1", "workload": {"phase": "prefill", "length": 32}, "budget": 50, "builds": {"csynth": 2}}
    assert [(method, path) for method, path, _ in service.requests] == [("POST", "/models"), ("POST", "/explorations")]
    assert service.requests[1][2] == body
    assert found.wait(quiet=True).state == "done"


def test_a_name_is_sent_as_it_is(client: Client, service: Service) -> None:
    explore("gpt2", server=client)
    assert service.requests == [("POST", "/explorations", {"model": "gpt2"})]


def test_all_that_the_service_takes_can_be_said(client: Client, service: Service) -> None:
    parameters = set(inspect.signature(explore).parameters)
    taken = {field.name for field in (*fields(NewExploration), *fields(NewWorkloadShape))} - {"workload", "batch"}
    assert taken - parameters == set()
    label = {"name": "mine", "tags": ["paper"], "notes": "first", "require_nodes": True}
    explore("gpt2", server=client, tags=("paper",), name="mine", notes="first", require_nodes=True)
    assert service.requests == [("POST", "/explorations", {"model": "gpt2", **label})]
    service.requests.clear()
    both = explore_all([NewExploration(model="gpt2", **label), {"model": "llama"}], server=client)
    assert [one.id for one in both] == ["exp_1", "exp_1"]
    body = {"explorations": [{"model": "gpt2", **label}, {"model": "llama"}]}
    assert service.requests == [("POST", "/explorations/batch", body)]


def test_a_stage_that_waits_is_said_when_it_is_started(client: Client, service: Service) -> None:
    service.warnings = ["link will wait: no node offers link"]
    with pytest.warns(UserWarning, match="link will wait") as caught:
        explore("gpt2", server=client)
    with pytest.warns(UserWarning, match="link will wait") as of_all:
        explore_all([NewExploration(model="gpt2")], server=client)
    # Garbage that is collected meanwhile may warn too: a socket that another test left open, by ResourceWarning.
    said = [one for one in (*caught, *of_all) if one.category is UserWarning]
    assert [Path(one.filename).name for one in said] == [Path(__file__).name] * 2


def test_what_can_not_be_explored_is_said_before_anything_is_sent(client: Client, service: Service) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        explore("none.onnx", server=client)
    with pytest.raises(UsageError, match="there is no 'csynt'"):
        explore("gpt2", server=client, builds={"csynt": 1})
    with pytest.raises(UsageError, match=r"give a list: tags=\['paper'\]"):
        explore("gpt2", server=client, tags="paper")
    with pytest.raises(UsageError, match=r"form is 'torch'; a module is exported as onnx or pt2"):
        explore("gpt2", server=client, form="torch")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="there is no 'length'"):
        explore_all([{"model": "gpt2", "length": 64}], server=client)
    assert service.requests == []


def test_it_is_found_by_its_tag_and_called_otherwise(client: Client, service: Service) -> None:
    assert [one.id for one in explorations(server=client)] == ["exp_1", "x"]
    [found] = explorations(tag="paper", server=client)
    assert repr(found).startswith("<Exploration mine (exp_1) of ")
    service.requests.clear()
    assert found.edit(name="yours", tags=("a", "b")).name == "mine"  # as the service answers
    with pytest.raises(UsageError, match="tags is the text 'a'"):
        found.edit(tags="a")
    assert service.requests == [("PATCH", "/explorations/exp_1", {"name": "yours", "tags": ["a", "b"]})]


def test_a_data_frame_of_everything_takes_one_request(exploration: Exploration, service: Service) -> None:
    pytest.importorskip("pandas")
    service.requests.clear()
    frame = exploration.df()
    assert list(frame.columns) == list(COLUMNS)
    assert frame["lut"].tolist()[:3] == [0.1, 0.5, 0.3]
    assert frame.attrs["units"]["latency_us"] == "us"
    assert frame["knob_overrides"].tolist() == ["[]", '[{"op": "<b>"}]', "[]", "[]"]
    assert len(frame.drop_duplicates()) == 4
    assert exploration.front().df()["id"].tolist() == ["b", "a"]
    assert [path for _, path, _ in service.requests] == ["/explorations/exp_1/table"]


def test_the_best_under_conditions(exploration: Exploration) -> None:
    assert exploration.best().id == "b"
    assert exploration.best("latency_us", lut__lt=0.4).id == "c"
    assert exploration.best("energy_uj", knob_multiplier="fabric").id == "b"
    assert exploration.best(lut__le=0.1)["lut_used"] == 100.0
    assert [d.id for d in exploration.designs(id__in=("a", "d"), feasible__ne=True)] == ["d"]
    with pytest.raises(FailedError, match="none of the 4 designs"):
        exploration.best(lut__gt=0.9)
    with pytest.raises(UsageError, match="there is no column 'luts'; the columns are id, "):
        exploration.best(luts__lt=1)
    with pytest.raises(UsageError, match="no comparison 'under'"):
        exploration.best(lut__under=1)
    with pytest.raises(UsageError, match="can not be compared"):
        exploration.best(lut__lt="much")
    with pytest.raises(UsageError, match="lut__lt=40: lut is a share of the board's budget, 0 to 1"):
        exploration.best(lut__lt=40)
    assert exploration.best(lut__lt=2, lut_used__lt=400).id == "c"
    with pytest.raises(UsageError, match=r"give a list: knob_multiplier__in=\['dsp'\]"):
        exploration.designs(knob_multiplier__in="dsp")


def test_a_front_of_those_that_meet_conditions(exploration: Exploration) -> None:
    assert [design.id for design in exploration.front()] == ["b", "a"]
    assert [design.id for design in exploration.front(lut__lt=0.4)] == ["c", "a"]
    assert [design.id for design in exploration.front(lut__lt=0.6)] == ["b", "a"]  # c is slower and takes more
    assert [design.id for design in exploration.front(feasible=False)] == []


def test_what_a_simulation_refutes_is_neither_best_nor_on_a_front(
    exploration: Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = "with certified FIFOs: lut 9 of 8"
    monkeypatch.setitem(exploration.table()._columns, "refuted", [None, why, None, None])
    assert exploration.best().id == "c"
    assert [design.id for design in exploration.front(lut__lt=0.6)] == ["c", "a"]


def test_the_front_of_three_objectives_has_what_is_small_in_all(exploration: Exploration) -> None:
    table = exploration.table()
    table.objectives = ["latency_us", "energy_uj", "lut"]
    ids = [table["id"][place] for place in table.front(feasible=True)]
    assert ids == ["b", "c", "a"], "c is slower than b and takes more energy, in fewer LUTs"
    assert "lut" in exploration.front()._repr_html_()


def test_a_design_is_simulated(exploration: Exploration, service: Service) -> None:
    assert exploration.best().simulate().latency_us == 7.5
    assert ("POST", "/designs/b/builds", {"stage": "simulate"}) in service.requests


def test_a_graph_as_tables_and_as_a_picture(exploration: Exploration, service: Service) -> None:
    graph = exploration.best().graph()
    assert [(task.name, task.trips, task.ii) for task in graph.tasks][1] == ("mul<&>", 32, 2)
    assert graph.streams[0].tokens == 32
    picture = graph.svg()
    assert picture.count("<rect") == 3
    assert "mul&lt;&amp;&gt;" in picture
    service.dataflow = False
    assert not any(path.endswith("/builds") for _, path, _ in service.requests)
    exploration.best().graph()
    assert any(path.endswith("/builds") for _, path, _ in service.requests)


def test_notebooks_get_html_in_which_nothing_is_code(exploration: Exploration) -> None:
    for shown in (exploration, exploration.front(), exploration.best(), exploration.best().graph()):
        html = shown._repr_html_()
        assert "<table>" in html or "<svg" in html
        assert "<b>" not in html
        assert "http" not in html.replace('xmlns="http://www.w3.org/2000/svg"', "")


def test_progress_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    for quiet in (True, False):
        bar = Progress(4, quiet=quiet)
        for done in range(6):
            bar.show(done, "searching")
        bar.close()
        lines = capsys.readouterr().err.splitlines()
        assert lines == [] if quiet else "[########################] 4/4" in lines[-1]


def test_a_table_of_another_form_is_said_so(client: Client) -> None:
    wrong = Client("http://millrace.test", transport=httpx.MockTransport(lambda _: sent({**TABLE, "rows": "many"})))
    with pytest.raises(millrace.Error, match=r"DesignTable\.rows should be int"):
        wrong.table("exp_1")


def test_a_module_is_exported_by_its_inputs(client: Client, service: Service) -> None:
    class Module:  # as torch.nn has it
        __module__ = "torch.nn.modules.module"

    with pytest.raises(UsageError, match="name the module's inputs"):
        explore(Module(), server=client)
    with pytest.raises(UsageError, match="as a tuple"):
        explore(Module(), [1], server=client)  # pyright: ignore[reportArgumentType]
    assert InvalidInputError is not UsageError


@pytest.mark.slow
def test_a_torch_module_goes_as_onnx(client: Client, service: Service) -> None:
    torch = pytest.importorskip("torch")
    onnx = pytest.importorskip("onnx")
    kept: list[bytes] = []

    def handler(request: httpx.Request) -> httpx.Response:
        kept.append(request.read())
        return service(request)

    played = Client("http://millrace.test", transport=httpx.MockTransport(handler))
    explore(torch.nn.Linear(4, 3), (torch.zeros(2, 4),), server=played)
    body = kept[0]
    assert b'filename="Linear.onnx"' in body
    content = body[body.index(b"\r\n\r\n", body.index(b"Linear.onnx")) + 4 :].rpartition(b"\r\n--")[0]
    onnx.checker.check_model(onnx.load_from_string(content))


def test_what_is_exported_is_there() -> None:
    assert all(getattr(millrace, name) for name in millrace.__all__)
    assert set(millrace.__all__) <= set(dir(millrace))
    assert re.search(
        r"explore_all\(\s*requests", pydoc.plain(pydoc.render_doc(millrace))
    )  # newer Pythons break the line
    with pytest.raises(AttributeError):
        _ = millrace.nothing
    assert reply(DesignTable, **TABLE).rows == 4
