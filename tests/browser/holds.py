"""Where the stand-in waits for the test: what is to be seen lasts until it was seen, however slow the browser is."""

import threading


class Holds:
    """Safe to share between threads. Nothing is held unless a test says so."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: set[str] = set()

    def hold(self, what: str) -> None:
        """From now on the stand-in does not go past `what`."""
        with self._changed:
            self._held.add(what)

    def let_go(self, what: str) -> None:
        with self._changed:
            self._held.remove(what)
            self._changed.notify_all()

    def go_past(self, what: str) -> None:
        """Called by the stand-in: returns at once, or when the test lets it."""
        with self._changed:
            self._changed.wait_for(lambda: what not in self._held)
