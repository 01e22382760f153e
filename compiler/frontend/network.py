"""The folder with a whole network, from the cache if it is there, else exported. Never imports torch itself."""

import json
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from compiler.errors import InvalidInputError
from compiler.frontend.bundle import frontend_version
from compiler.frontend.cached import make_once
from compiler.frontend.files import digest_of, weight_files
from compiler.frontend.models.config import ModelSource
from compiler.frontend.models.gpt2_config import Gpt2Config
from compiler.frontend.network_request import NetworkRequest
from compiler.frontend.process import Importer
from compiler.options import context_of

MAX_NETWORK_BYTES = 8 << 30  # as f32, embedding and head included; the exporter holds it about twice


def import_network(
    source: ModelSource,
    request: NetworkRequest,
    cache: Path,
    importer: Importer,
    on_progress: Callable[[str], None] | None = None,
) -> Path:
    """What `compiler.host.network` reads; `importer` is of `source` and works in `cache`. Raises InvalidInputError,
    UnsupportedError, ToolError as `import_model`.
    """
    check_request(source, request)

    def make(folder: Path) -> None:
        importer.run(request, folder, on_progress)

    return make_once(cache, network_key(source, request), make, importer.folder)


def check_request(source: ModelSource, request: NetworkRequest) -> None:
    """Raises InvalidInputError for what `source` does not have: layers, positions, tokens of the prompt."""
    config = source.config
    if not 1 <= request.layers <= config.layers:
        raise InvalidInputError(f"layers is {request.layers}; {source.name} has {config.layers}")
    given = [token for prompt in request.turns for token in prompt]
    if wrong := [token for token in given if not 0 <= token < config.vocab_size]:
        raise InvalidInputError(
            f"the prompt holds token {wrong[0]}; {source.name} has tokens 0 to {config.vocab_size - 1}"
        )
    needed = len(given) + len(request.turns) * request.tokens - 1  # the last token is not fed back
    if needed > config.positions or request.length > context_of(config.positions):
        positions = needed if needed > config.positions else request.length
        raise InvalidInputError(
            f"{positions} positions are needed for the prompt and {request.tokens} tokens; {source.name} has "
            f"{config.positions}: generate fewer tokens or shorten the prompt"
        )
    tables = (1 if config.tie_word_embeddings else 2) * config.vocab_size
    tables += config.positions if isinstance(config, Gpt2Config) else 0
    if (size := 4 * (tables * config.hidden + request.layers * config.layer_parameters)) > MAX_NETWORK_BYTES:
        raise InvalidInputError(
            f"{request.layers} layers of {source.name} have {size >> 20} MiB of weights; at most "
            f"{MAX_NETWORK_BYTES >> 20} MiB can be exported: use fewer layers"
        )


def network_key(source: ModelSource, request: NetworkRequest) -> str:
    """Digest of everything that the export depends on."""
    parts = {
        "name": source.name,
        "config": source.config.to_json(),
        "weights": None if source.weights is None else [digest_of(file) for file in weight_files(source.weights)],
        "request": request.to_json(),
        "frontend": frontend_version(),
    }
    return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()
