"""Small netlists for Hypothesis: a few tasks of the size of a share of a die, in a chain with some shortcuts."""

from hypothesis import strategies as st

from compiler.analysis.placement.netlist import RESOURCES, Netlist


@st.composite
def netlists(draw: st.DrawFn, *, relays: bool = False) -> Netlist:
    size = draw(st.integers(2, 6))
    lut = st.sampled_from([1e4, 1e5, 1.5e5, 2.5e5])
    area = tuple((draw(lut), *(0.0 for _ in RESOURCES[1:])) for _ in range(size))
    wires = {
        (a, b): draw(st.sampled_from([34, 514, 2050, 8200]))
        for a in range(size)
        for b in range(a + 1, size)
        if b == a + 1 or draw(st.booleans())
    }
    anchor = tuple(draw(st.sampled_from([0, 0, 1250])) for _ in range(size))
    taken = {
        ends: (draw(st.sampled_from([1e3, 3e4])), *(0.0 for _ in RESOURCES[1:]))
        for a, b in wires
        for ends in ((a, b), (b, a))
        if relays and draw(st.booleans())
    }
    return Netlist(tuple((f"t{k}",) for k in range(size)), area, anchor, wires, taken)
