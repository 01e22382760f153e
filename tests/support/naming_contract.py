"""Names of explorations and whom a key means, on any database: one shared class of tests."""

import pytest
from queued_builds import add_designs, another, ensure
from sqlalchemy import select

from db.engine import Database
from db.errors import ConflictError, NotFoundError
from db.models import Build, Calibration, Design, Event, Exploration, Metric
from db.repositories import artifacts, belongings, catalog, designs, events, explorations, naming
from db.repositories.artifacts import NewArtifact
from db.repositories.explorations import Label


class NamingContract:
    """Fixtures `database` and `exploration` come from the subclass's conftest."""

    def test_no_two_made_names_are_alike(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            second, third = another(session, exploration), another(session, exploration)
            assert exploration.name == "gpt2-decode-64-w4a8"
            assert [second.name, third.name] == ["gpt2-decode-64-w4a8-2", "gpt2-decode-64-w4a8-3"]
            belongings.delete_exploration(session, second.id)
            assert another(session, exploration).name == "gpt2-decode-64-w4a8-2"

    def test_a_whole_network_has_no_phase_in_its_name(self, database: Database) -> None:
        with database.write() as session:
            model = catalog.put_model(session, "my net", "onnx", {}, "n" * 64)
            whole = catalog.put_workload(session, model, "prefill", 1, 1, "f32", 1, "v" * 64)
            assert naming.made_name(session, whole) == "my-net-f32"

    def test_a_given_name_is_taken_once(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            workload = catalog.get_workload(session, exploration.workload_id)
            mine = explorations.add(
                session, workload, "u55c", ["latency", "energy"], {}, 1, label=Label("mine", ("a",), "why")
            )
            assert (mine.name, mine.tags, mine.notes) == ("mine", ["a"], "why")
            with pytest.raises(ConflictError, match="named 'mine' exists; choose another name"):
                explorations.add(session, workload, "u55c", ["latency", "energy"], {}, 1, label=Label("mine"))
        with pytest.raises(ConflictError, match="named 'mine' exists"), database.write() as session:
            explorations.relabel(session, explorations.lock(session, exploration.id), {"name": "mine"})
        with database.write() as session:
            explorations.relabel(session, explorations.lock(session, exploration.id), {"name": "other", "notes": "n"})
            found = explorations.get(session, exploration.id)
            assert (found.name, found.tags, found.notes) == ("other", [], "n")

    def test_whom_a_key_means(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            second = another(session, exploration)
            second.owner = "bob"
            third = another(session, exploration)
            for key in (second.id, second.name, second.id[:-1]):
                assert naming.find_exploration(session, key).id == second.id
            assert naming.find_exploration(session, "latest").id == third.id
            assert naming.find_exploration(session, "latest", "bob").id == second.id
            assert naming.find_exploration(session, "latest", "eve").id == third.id  # who has started none
            with pytest.raises(ConflictError, match="more than one exploration has an id that begins with 'exp_0'"):
                naming.find_exploration(session, "exp_0")

    @pytest.mark.parametrize("key", ["", "x", "exp_", "exp_zz", "%", "exp_%", "\0", "exp_\0", "gpt2", "exp 1"])
    def test_what_is_not_there(self, database: Database, key: str) -> None:
        with database.read() as session, pytest.raises(NotFoundError, match="millrace pareto lists them"):
            naming.find_exploration(session, key)

    def test_latest_of_none(self, database: Database) -> None:
        with database.read() as session, pytest.raises(NotFoundError, match="none was started yet"):
            naming.find_exploration(session, "latest")

    def test_designs_by_number(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            first = add_designs(session, exploration, 3)
            second = add_designs(session, another(session, exploration), 2)
            found = {
                "1": second[1],
                "#1": second[1],
                "latest#0": second[0],
                f"{exploration.name}#2": first[2],
                f"{exploration.id}#2": first[2],
                first[2]: first[2],
            }
            assert {key: naming.find_design(session, key).id for key in found} == found
            for key in ("2", "latest#-1", "latest#x", "latest#", "nobody#1", "dsg_zz", "x", "#99999999999", "²"):
                with pytest.raises(NotFoundError):
                    naming.find_design(session, key)

    def test_builds_by_the_beginning_of_their_id(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            (build,) = ensure(session, exploration, "a")
            assert naming.find_build(session, build.id[:-2]).id == build.id
            with pytest.raises(NotFoundError):
                naming.find_build(session, "bld_zz")

    def test_what_is_deleted_with_an_exploration(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            other = another(session, exploration)
            kept = other.id
            for of in (other, exploration):
                (design,) = add_designs(session, of, 1)
                (before,) = ensure(session, of, f"a{of.id}", design_id=design)
                (after,) = ensure(session, of, f"b{of.id}", design_id=design, after_id=before.id)
                artifacts.replace(session, after.id, design, [NewArtifact("a", "1" * 64, 1, "text/plain")])
                events.append(session, of.id, "state", {})
                session.add(
                    Calibration(id=f"cal_{of.name}"[:32], platform="u55c", digest="d", summary={}, build_id=after.id)
                )
            belongings.delete_exploration(session, explorations.lock(session, exploration.id).id)
        with database.read() as session:
            assert session.scalars(select(Exploration.id)).all() == [kept]
            for table in (Design, Build, Event):
                assert set(session.scalars(select(table.exploration_id))) == {kept}
            (left,) = designs.stored(session, kept)
            assert [m.design_id for m in session.scalars(select(Metric))] == [left.id]
            assert [file.path for file in artifacts.of_design(session, left.id)] == ["a"]
            assert sorted(row.build_id is None for row in session.scalars(select(Calibration))) == [False, True]
