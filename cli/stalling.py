"""Whether a design ends with stalling pipelines, too, for people."""

from millrace.numbers import number


def stalling_text(ends: bool | None, cycles: int | None, fifo: str | None) -> str:
    """What one more simulation with all pipelines of style stp found."""
    if ends is None or cycles is None:
        return "with stalling pipelines (stp): simulating it took too long"
    if ends:
        return f"with stalling pipelines (stp) it ends, too: {number(cycles)} simulated cycles"
    full = f", {fifo} is full" if fifo else ""
    return f"with stalling pipelines (stp) it would deadlock: simulated up to cycle {number(cycles)}{full}"
