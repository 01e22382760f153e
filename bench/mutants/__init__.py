"""Wrong edits of emitted C++, and how many of them the proof of a design catches."""
