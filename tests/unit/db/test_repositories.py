import pytest
from queued_builds import new_design
from sqlalchemy.exc import IntegrityError

from db.engine import Database
from db.errors import ConflictError, NotFoundError
from db.models import Exploration
from db.repositories import catalog, designs, events, explorations, idempotency
from db.repositories.designs import NewDesign
from db.repositories.explorations import Counts


def add_designs(database: Database, exploration: Exploration, *new: NewDesign) -> list[str]:
    with database.write() as session:
        return designs.add(session, exploration.id, new)


def test_model_names_are_taken_once(database: Database) -> None:
    with database.write() as session:
        first = catalog.put_model(session, "mine", "config", {"a": 1}, "1" * 64)
        assert catalog.put_model(session, "mine", "config", {"a": 1}, "1" * 64).id == first.id
        with pytest.raises(ConflictError, match="choose another name"):
            catalog.put_model(session, "mine", "config", {"a": 2}, "2" * 64)
        assert catalog.find_model(session, first.id).name == "mine"
        with pytest.raises(NotFoundError):
            catalog.find_model(session, "yours")


def test_a_built_in_model_is_brought_up_to_date_in_place(database: Database, exploration: Exploration) -> None:
    with database.write() as session:
        old = catalog.find_model(session, "gpt2").id
        updated = catalog.put_builtin(session, "gpt2", {"n_embd": 768}, "2" * 64)
        assert (updated.id, updated.config, updated.digest) == (old, {"n_embd": 768}, "2" * 64)
    with database.read() as session:
        stored = explorations.get(session, exploration.id)
        assert stored.workload.model.config == {"n_embd": 768}


def test_a_built_in_name_that_a_person_took_first_stays_theirs(database: Database) -> None:
    with database.write() as session:
        theirs = catalog.put_model(session, "tiny", "config", {"a": 1}, "1" * 64)
        found = catalog.put_builtin(session, "tiny", {"a": 2}, "2" * 64)
        assert (found.id, found.kind, found.config) == (theirs.id, "config", {"a": 1})


def test_designs_are_stored_once(database: Database, exploration: Exploration) -> None:
    add_designs(database, exploration, new_design(0), new_design(1))
    for twin in (new_design(1, key="other"), new_design(2, key="k1")):
        with pytest.raises(IntegrityError):
            add_designs(database, exploration, new_design(5), twin)
    with database.read() as session:
        assert [d.number for d in designs.stored(session, exploration.id)] == [0, 1]


def test_design_pages_and_front(database: Database, exploration: Exploration) -> None:
    ids = add_designs(database, exploration, *(new_design(n, feasible=n != 3) for n in range(5)))
    with database.write() as session:
        assert designs.set_front(session, exploration.id, {"k1", "k4"})
        assert not designs.set_front(session, exploration.id, {"k1", "k4"})
        assert designs.set_front(session, exploration.id, {"k4", "k2"})
    with database.read() as session:
        assert [d.number for d in designs.page(session, exploration.id, 1, 2)] == [2, 3]
        assert [d.number for d in designs.page(session, exploration.id, None, 9, front=True)] == [2, 4]
        assert designs.front_ids(session, exploration.id) == [ids[4], ids[2]]  # fastest first
        assert explorations.counts(session, [exploration.id, "exp_none"]) == {exploration.id: Counts(5, 4, 2)}
        assert [m.name for m in designs.metrics_of(session, ids)[ids[0]]] == ["latency"]


def test_transition_happens_from_the_named_states_only(database: Database, exploration: Exploration) -> None:
    with database.write() as session:
        assert not explorations.transition(session, exploration.id, ("searching",), "done")
        assert explorations.transition(session, exploration.id, ("queued",), "lowering")
        row = explorations.get(session, exploration.id)
        started = row.started_at
        assert started is not None
        explorations.transition(session, exploration.id, ("lowering",), "failed", "why")
        row = explorations.get(session, exploration.id)
        assert (row.state, row.error, row.started_at) == ("failed", "why", started)
        assert row.finished_at is not None
        explorations.transition(session, exploration.id, ("failed",), "queued")
        assert explorations.get(session, exploration.id).finished_at is None


def test_events_come_in_order_after_an_id(database: Database, exploration: Exploration) -> None:
    with database.write() as session:
        for n in range(3):
            events.append(session, exploration.id, "state", {"n": n})
    with database.read() as session:
        first, *rest = events.since(session, exploration.id, 0)
        assert [e.data["n"] for e in events.since(session, exploration.id, first.id)] == [e.data["n"] for e in rest]
        assert events.since(session, "exp_other", 0) == []


def test_idempotency_key_keeps_the_answer(database: Database) -> None:
    with database.write() as session:
        assert idempotency.reserve(session, "POST /x", "key", "b" * 64) is None
        idempotency.record(session, "POST /x", "key", {"id": "1"})
    with database.write() as session:
        assert idempotency.reserve(session, "POST /x", "key", "b" * 64) == {"id": "1"}
        assert idempotency.reserve(session, "POST /y", "key", "b" * 64) is None
        with pytest.raises(ConflictError, match="send a new key"):
            idempotency.reserve(session, "POST /x", "key", "c" * 64)
