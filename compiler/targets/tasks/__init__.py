"""Tasks as C++ functions: one module per kind of task, a dispatch (`emitter`), what all share (`frame`)."""
