from dataclasses import replace
from itertools import permutations
from random import Random

import optuna
import pytest
from small_graphs import mlp as small_mlp
from small_graphs import turned_product
from stepping_networks import replying, stepping
from window_networks import greatest

from compiler.analysis.tiling import plan_nests
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.options import Knobs, TaskOverride
from compiler.platforms.platform import Platform, load_platform
from dse.space import MAX_ORDERS, DesignSpace, heaviest_ops, order_choices


@pytest.fixture(scope="module")
def space(mlp: LinalgGraph, u55c: Platform) -> DesignSpace:
    return DesignSpace(mlp, u55c)


def draw(space: DesignSpace, seed: int) -> Knobs:
    rng = Random(seed)
    return space.knobs_of({p.name: rng.choice(p.choices) for p in space.parameters})


def test_contractions_are_the_heaviest_whatever_their_iterations(mlp: LinalgGraph):
    assert [op.name for op in heaviest_ops(mlp, 3)] == ["fc1", "fc2", "bias"]


def test_all_three_levels_are_offered(space: DesignSpace):
    names = [p.name for p in space.parameters]
    assert names[:17] == [
        "tile",
        "unroll",
        "order",
        "padding",
        "fusion_plan",
        "fusion_budget",
        "converters",
        "fifo",
        "hbm_channels",
        "stream_width",
        "prefetch",
        "multiplier",
        "engines",
        "slices",
        "loads",
        "unrolling",
        "weights",
    ]
    assert names[17:20] == ["fc1.tile", "fc1.unroll", "fc1.order"]
    choices = {p.name: p.choices for p in space.parameters}
    assert choices["tile"] == (4, 8, 16, 32, 64, 128, 256)
    assert choices["unroll"][0] == 32
    assert choices["unroll"][-1] == 16384
    assert choices["fusion_budget"][0] == 64 << 10
    assert choices["fusion_budget"][-1] == 32 << 20
    assert choices["hbm_channels"] == (1, 2, 4, 8, 16, 32)
    assert choices["stream_width"] == (128, 256, 512, 1024, 2048)


def test_task_tiles_end_with_the_whole_loop(space: DesignSpace):
    tiles = next(p.choices for p in space.parameters if p.name == "fc1.tile")
    assert tiles == (None, 4, 8, 16, 32, 64, 128)


def test_ports_of_the_board_bound_the_channels(mlp: LinalgGraph, u55c: Platform):
    small = replace(u55c, budget=replace(u55c.budget, hbm_ports=3))
    space = DesignSpace(mlp, small)
    assert next(p.choices for p in space.parameters if p.name == "hbm_channels") == (1, 2)
    assert all(knobs.hbm_channels <= 2 for knobs in space.default_knobs())


def test_three_groups_offer_every_order(mlp: LinalgGraph):
    assert order_choices(mlp.op["fc1"]) == tuple(permutations((0, 1, 2)))


def test_many_groups_offer_a_few_orders():
    iterators = ("parallel", "parallel", "parallel", "reduction", "reduction")
    op = LinalgOp("op", "generic", (2,) * 5, iterators, (0, 1, 2, 3, 4), (), ())
    orders = order_choices(op)
    assert len(orders) == len(set(orders)) <= MAX_ORDERS
    assert (0, 1, 2, 3, 4) in orders
    assert (3, 4, 0, 1, 2) in orders
    assert all(sorted(order) == [0, 1, 2, 3, 4] for order in orders)


def test_loops_of_one_group_move_together():
    iterators = ("parallel", "parallel", "reduction", "reduction")
    op = LinalgOp("op", "generic", (2,) * 4, iterators, (0, 0, 1, 1), (), ())
    assert order_choices(op) == ((0, 1), (1, 0))


@pytest.mark.parametrize("seed", range(50))
def test_knobs_and_params_are_inverse(space: DesignSpace, seed: int):
    knobs = draw(space, seed)
    params = space.params_of(knobs)
    assert params is not None
    assert space.knobs_of(params) == knobs
    assert Knobs.from_json(knobs.to_json()) == knobs


@pytest.mark.parametrize("seed", range(20))
def test_every_choice_is_legal(space: DesignSpace, mlp: LinalgGraph, u55c: Platform, seed: int):
    assert set(plan_nests(mlp, draw(space, seed), u55c)) == {op.name for op in mlp.ops}


@pytest.mark.parametrize("changes", [0, 1, 3])
def test_vary_changes_as_few_parameters_as_asked(space: DesignSpace, changes: int):
    for seed in range(10):
        before = space.params_of(Knobs())
        after = space.params_of(space.vary(Knobs(), changes, Random(seed)))
        assert before is not None
        assert after is not None
        assert sum(before[name] != after[name] for name in before) <= changes


def test_suggest_asks_for_every_parameter(space: DesignSpace):
    trial = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1)).ask()
    knobs = space.at(space.suggest(trial))
    params = space.params_of(knobs)
    assert params is not None
    assert trial.params == space.indices(params)
    assert trial.distributions == space.distributions


@pytest.mark.parametrize(
    "knobs",
    [
        Knobs(default_tile_size=17),
        Knobs(overrides=(TaskOverride("unknown", tile=4),)),
        Knobs(overrides=(TaskOverride("fc1", order=(0, 1)),)),
    ],
)
def test_designs_from_elsewhere_have_no_params(space: DesignSpace, knobs: Knobs):
    assert space.params_of(knobs) is None


def test_key_ignores_what_changes_nothing(space: DesignSpace):
    base = Knobs(overrides=(TaskOverride("fc1", unroll=4), TaskOverride("fc2", tile=8)))
    assert space.key(base) == space.key(replace(base, overrides=base.overrides[::-1]))
    assert space.key(Knobs()) == space.key(Knobs(overrides=(TaskOverride("fc1"),)))
    assert space.key(Knobs()) == space.key(Knobs(slices=4))  # of no engine
    assert space.key(Knobs()) == space.key(Knobs(loads="joint"))  # for no engine
    assert space.key(Knobs(engines="shared")) != space.key(Knobs(engines="shared", loads="joint"))
    assert space.key(Knobs(default_tile_size=8)) == space.key(
        Knobs(default_tile_size=8, overrides=(TaskOverride("fc1", tile=8, order=(0, 1, 2)),))
    )


def test_key_tells_designs_apart(space: DesignSpace):
    designs = [
        Knobs(),
        Knobs(fifo="whole"),
        Knobs(engines="shared"),
        Knobs(engines="shared", slices=4),
        Knobs(overrides=(TaskOverride("fc1", tile=8),)),
        Knobs(overrides=(TaskOverride("fc2", tile=8),)),
        Knobs(overrides=(TaskOverride("fc1", order=(2, 1, 0)),)),
        Knobs(order="reduction-outer", overrides=(TaskOverride("fc1", order=(0, 1, 2)),)),
    ]
    assert len({space.key(knobs) for knobs in designs}) == len(designs)


def test_key_is_stable(space: DesignSpace):
    assert space.key(Knobs()) == "586312f84158bc81e2f278a99f8985ef"


def test_first_designs_are_in_the_space_and_grow(space: DesignSpace):
    seeds = space.default_knobs()
    assert len({space.key(knobs) for knobs in seeds}) == len(seeds) >= 8
    unrolls = [knobs.overall_unroll for knobs in seeds[:8]]
    assert unrolls == sorted(unrolls)
    assert unrolls[0] == 32
    assert Knobs() in seeds


def test_where_a_resource_is_an_objective_a_search_begins_with_little_area_too(u55c: Platform):
    space = DesignSpace(replying(), u55c)
    usual = space.default_knobs()
    more = space.default_knobs(("latency", "energy", "area"))
    assert more[: len(usual)] == usual == space.default_knobs(("latency", "energy"))
    assert len(more) > len(usual)


def test_where_parameters_may_stay_on_the_chip_a_search_begins_with_those_too(space: DesignSpace, u55c: Platform):
    """Only where the network keeps no rows, and before all others where there are windows."""
    streamed = {knobs.weights for knobs in DesignSpace(replying(), u55c).default_knobs()}
    ends = [knobs.weights for knobs in space.default_knobs()]
    begins = [knobs.weights for knobs in DesignSpace(greatest(8, 4, kernel=3, padding=1), u55c).default_knobs()]
    assert streamed == {"streamed"}
    behind = ends.index("resident")
    assert {*ends[:behind]} == {"streamed"}
    assert behind > 8
    assert len(begins) == len(ends)
    assert {*begins[:4]} == {*ends[behind : behind + 4]} == {"resident"}
    assert begins[4] == "streamed"


def test_rows_of_a_prompt_are_a_choice_where_its_time_is_an_objective(mlp: LinalgGraph, u55c: Platform):
    graph, objectives = replying(), ("latency", "prompt_time")
    space = DesignSpace(graph, u55c, objectives=objectives)
    (rows,) = [p for p in space.parameters if p.name == "rows"]
    assert rows.choices == (1, 2, 3, 4)
    seeds = space.default_knobs(objectives)
    assert {knobs.rows for knobs in seeds} == {1, 2, 4}
    assert all(space.knobs_of(space.params_of(knobs) or {}) == knobs for knobs in seeds)
    for other in (DesignSpace(graph, u55c), DesignSpace(mlp, u55c, objectives=objectives)):
        assert "rows" not in [p.name for p in other.parameters]
        assert other.params_of(Knobs(rows=2)) is None
        assert {knobs.rows for knobs in other.default_knobs(objectives)} == {1}
    assert space.key(Knobs(rows=2)) == space.key(Knobs())  # where weights have ports of their own


def test_tokens_are_widest_where_a_cache_of_integers_is_walked(u55c: Platform) -> None:
    floats = replying()
    kept = (replace(v, dtype="i8") if v.role == "state" else v for v in floats.values)
    for graph, widest in ((floats, 2048), (replace(floats, values=tuple(kept)), 4096)):
        space = DesignSpace(graph, u55c)
        assert {p.choices[-1] for p in space.parameters if p.name == "stream_width"} == {widest}
        assert max(knobs.stream_width for knobs in space.default_knobs()) == widest


def test_operations_with_parameters_say_where_these_are() -> None:
    graph, board = small_mlp(), load_platform("u55c")
    space = DesignSpace(graph, board)
    assert {p.name for p in space.parameters if p.name.endswith(".weights")} == {"up.weights", "down.weights"}
    said = replace(space.default_knobs()[0], overrides=(TaskOverride("up", weights="resident"),))
    params = space.params_of(said)
    assert params is not None
    assert params["up.weights"] == "resident"
    assert space.knobs_of(params) == said
    assert space.key(said) != space.key(replace(said, overrides=()))
    as_all = (TaskOverride("up", weights="streamed"),)
    assert space.key(replace(said, overrides=as_all)) == space.key(replace(said, overrides=()))
    without = replace(said, overrides=(TaskOverride("add", weights="resident"),))
    assert space.params_of(without) is None, "it reads no parameters"


def test_networks_whose_parameters_come_with_the_reply_do_not() -> None:
    names = [parameter.name for parameter in DesignSpace(stepping(1), load_platform("u55c")).parameters]
    assert not [name for name in names if name.endswith(".weights")]


def test_where_a_kernel_begins_is_offered_of_what_may_not_be_one() -> None:
    """16 MB that are made row by row and read column by column; of an MLP no more is held, as it reads by rows."""
    board, small = load_platform("u55c"), small_mlp(2048, 64, 2048)
    space = DesignSpace(turned_product(2048), board)
    assert {p.name for p in space.parameters if p.name.endswith(".kernel")} == {"product.kernel", "turn.kernel"}
    said = replace(space.default_knobs()[0], overrides=(TaskOverride("turn", kernel="begins"),))
    params = space.params_of(said)
    assert params is not None
    assert space.knobs_of(params) == said
    assert space.key(said) != space.key(replace(said, overrides=()))
    assert DesignSpace(small, board).params_of(said) is None, "all of it is one"
