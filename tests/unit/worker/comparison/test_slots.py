from typing import Any

from db.models import Exploration, Model, Workload
from worker.comparison.slots import partners, slot_name, slot_of


def exploration(name: str, length: int = 64, seed: int = 0, **options: Any) -> Exploration:
    model = Model(id="mdl", name="gpt2", kind="builtin", config={}, digest="d")
    workload = Workload(model=model, phase="decode", length=length, batch=1, precision="w4a8", layers=1)
    chosen = {"seed": seed, "sampler": "nsga2", **options}
    return Exploration(id=name, workload=workload, platform="u55c", options=chosen, budget=10)


def test_slots_are_named_by_what_tells_them_apart() -> None:
    slots = [slot_of(exploration("a", 64)), slot_of(exploration("b", 128, seed=0)), slot_of(exploration("c", 128, 1))]
    assert [slot_name(slot, slots) for slot in slots] == [
        "gpt2 decode 64 w4a8 u55c",
        "gpt2 decode 128 w4a8 u55c seed 0",
        "gpt2 decode 128 w4a8 u55c seed 1",
    ]


def test_partners_have_the_same_slot() -> None:
    before = [exploration("a", 64), exploration("b", 128)]
    now = [exploration("c", 128), exploration("d", 64), exploration("e", 256)]
    assert {key: e.id for key, e in partners(now, before).items()} == {"c": "b", "d": "a"}


def test_a_changed_seed_still_has_its_partner() -> None:
    assert partners([exploration("b", seed=5)], [exploration("a", seed=0)])["b"].id == "a"
    two = [exploration("a", seed=0), exploration("b", seed=1)]
    assert {k: e.id for k, e in partners([exploration("c", seed=0), exploration("d", seed=9)], two).items()} == {
        "c": "a",
        "d": "b",
    }
    assert partners([exploration("c", seed=8), exploration("d", seed=9)], two) == {}
