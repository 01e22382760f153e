"""What takes the results of a product as they come."""

from grouped_products import grouped
from networks import NETWORKS
from small_graphs import mlp

from compiler.analysis.followed_products import Following, followed_products


def test_what_follows_a_product() -> None:
    graph = NETWORKS["layer_norm"]().graph()
    assert followed_products(graph) == {}, "there is none"
    followed = followed_products(mlp())
    products = [op.name for op in mlp().ops if op.is_contraction]
    assert {following.product for following in followed.values()} <= set(products)
    assert not followed.keys() & set(products), "a product waits for whole rows"
    attention = NETWORKS["attention"]().graph()
    followed = followed_products(attention)
    assert not any(following.behind for following in followed.values()), "there is no cache"
    for op in attention.ops:
        sources = {attention.producer[o.value][0] for o in op.inputs if o.value in attention.producer}
        held_back = any(s.reduction is not None and not s.is_contraction for s in sources)
        assert not (held_back and op.name in followed), f"{op.name} waits for a whole row"


def test_what_follows_a_product_through_an_adder_of_its_parts_knows_it() -> None:
    followed = followed_products(grouped())
    assert followed["op_d0"] == Following("op_p0")
    assert (followed["op_b"], followed["op_y"]) == (Following("op_p0", ("op_d0",)), Following("op_p1", ("op_d1",)))
