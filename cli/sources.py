"""MODEL on the command line, as what the front end imports: a path, a built-in name, a stored model, a file."""

import json
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from cli.service import announce
from compiler.errors import InvalidInputError
from compiler.frontend.inputs.source import (
    PT2_WARNING,
    FileFormat,
    FileSource,
    format_of,
    is_format,
    require_pt2,
    resolve_source,
)
from compiler.frontend.models.config import BUILT_IN

if TYPE_CHECKING:
    from millrace.wire import Model
    from worker.settings import Settings


@contextmanager
def any_source_of(model: str, settings: "Settings", allow_pt2: bool) -> Generator[str | Path | FileSource]:
    """What the front end imports for MODEL: like `source_of`, or a file with a network, also a stored one.

    A .pt2 is taken where `allow_pt2` or the settings allow it; then a person is told what that means.
    """
    allowed = allow_pt2 or settings.allow_pt2
    if format_of(model) is not None:
        source = resolve_source(model, allowed)
        assert isinstance(source, FileSource)
        yield _announced(source, allowed)
        return
    stored = None if _is_path_or_built_in(model) else _stored(model, settings)
    if stored is None or not is_format(stored.kind):
        with source_of(model, settings) as family:
            yield family
        return
    yield _announced(_stored_file(stored, stored.kind, settings), allowed)


@contextmanager
def source_of(model: str, settings: "Settings") -> Generator[str | Path]:
    """What the front end imports for a MODEL that is a language model: a path, a built-in name, or the config of a
    stored model in a file. Raises InvalidInputError for a network from a file.
    """
    if format_of(model) is not None:
        raise InvalidInputError(f"{model} holds a whole network; this command needs a language model: its config.json")
    if _is_path_or_built_in(model):
        # A built-in name before its suffix: some have a dot in their names.
        yield model if model in BUILT_IN and not Path(model).exists() else Path(model)
        return
    with TemporaryDirectory() as folder:
        found = _stored(model, settings)
        if is_format(found.kind):
            raise InvalidInputError(f"{model} is a whole network from a file; this command needs a language model")
        config = Path(folder, found.name, "config.json")
        config.parent.mkdir()
        config.write_text(json.dumps(found.config))
        yield config


def _is_path_or_built_in(model: str) -> bool:
    return model in BUILT_IN or bool(Path(model).suffix) or Path(model).exists()


def _stored(model: str, settings: "Settings") -> "Model":
    from cli.stored import Stored

    with closing(Stored(settings)) as stored:
        return stored.model(model)


def _stored_file(found: "Model", form: FileFormat, settings: "Settings") -> FileSource:
    from worker.store.opening import open_store

    store, samples = open_store(settings), found.config.get("samples")
    calibrated = None if samples is None else store.path(samples)
    return FileSource(found.name, store.path(found.config["digest"]), form, calibrated)


def _announced(source: FileSource, allowed: bool) -> FileSource:
    if source.format == "pt2":
        require_pt2(allowed)
        announce(PT2_WARNING)
    return source
