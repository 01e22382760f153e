"""`python -m compiler.frontend.warm`: loads all that the importer's process loads, so that Python keeps it compiled.

That process writes in its own folders only: where set-up had not kept them, each import would compile two thousand
modules of torch and torch-mlir again, which takes longer than the import itself.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from compiler.frontend import network_export
from compiler.frontend.convert import convert
from compiler.frontend.models.config import ModelSource
from compiler.frontend.models.gpt2_config import Gpt2Config
from compiler.options import Workload

LOADED = (network_export,)
"""What an import of a block does not load by itself."""


def main() -> None:
    """Import a block of next to no size: torch and torch-mlir load much of themselves with the first network only."""
    source = ModelSource("tiny", Gpt2Config(n_embd=16, n_head=2, n_positions=16, vocab_size=16))
    with TemporaryDirectory() as folder:
        convert(source, Workload(source.name, "decode", 8, "w4a8"), Path(folder), lambda _: None)


if __name__ == "__main__":
    main()
