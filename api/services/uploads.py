"""Uploaded models and their samples: which file is what, looked at in confined processes before it is kept, then stored
by content.
"""

import asyncio
import os
from typing import BinaryIO, Literal

from starlette.concurrency import run_in_threadpool

from api.errors import BusyError
from compiler.errors import InvalidInputError, ToolError, UnsupportedError
from compiler.frontend.inputs.source import FORMATS, FileFormat, check_size, format_of, require_pt2
from compiler.frontend.scan.bounds import MAX_SAMPLES_BYTES
from compiler.frontend.scan.pool import ScanPool
from worker.farm import Farm

UploadFormat = FileFormat | Literal["npz"]
AT_ONCE = 4
WAIT_SECONDS = 20.0
"""How long an upload waits until fewer than AT_ONCE others are looked at."""
_RETRY_SECONDS = 5


class Uploads:
    """Looks at uploads and stores them, a few at once: the others wait without a thread, and not for ever."""

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._pool = ScanPool()

    async def take(self, farm: Farm, filename: str, form: UploadFormat, file: BinaryIO) -> tuple[str, int]:
        """Keep the file's content; its digest and size.

        Raises InvalidInputError and UnsupportedError for what a look at it tells, BusyError where nobody could look,
        DiskFullError.
        """
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._slots.acquire()
        except TimeoutError as error:
            raise _busy() from error
        try:
            return await run_in_threadpool(self._take, farm, filename, form, file)
        finally:
            self._slots.release()

    def close(self) -> None:
        self._pool.close()

    def _take(self, farm: Farm, filename: str, form: UploadFormat, file: BinaryIO) -> tuple[str, int]:
        file.flush()
        descriptor = os.open(f"/proc/self/fd/{file.fileno()}", os.O_RDONLY | os.O_CLOEXEC)  # what looks may not write
        try:
            self._pool.scan(descriptor, form, filename)
        except ToolError as error:
            raise _busy() from error
        finally:
            os.close(descriptor)
        file.seek(0)
        return farm.store.put_stream(file)


def upload_format(farm: Farm, filename: str, size: int) -> FileFormat:
    """The format of an uploaded file, by its name and size.

    Raises UnsupportedError for what is no model, or is a .pt2 that the operator has not allowed; InvalidInputError
    where it is too large.
    """
    form = format_of(filename)
    if form is None:
        known = ", ".join(f".{f}" for f in FORMATS)
        raise UnsupportedError(f"{filename!r} is no model; upload a config.json, or one of {known}, not packed")
    check_size(filename, size, form)
    if form == "pt2":
        require_pt2(farm.settings.allow_pt2)
    return form


def check_samples(filename: str, size: int) -> None:
    """Raises UnsupportedError for what are no samples by its name, InvalidInputError where it is too large."""
    if not filename.lower().endswith(".npz"):
        raise UnsupportedError(f"{filename!r} is no .npz; samples are an array of each input, written with numpy.savez")
    if size > MAX_SAMPLES_BYTES:
        raise InvalidInputError(f"{filename} has {size >> 20} MiB; samples may have {MAX_SAMPLES_BYTES >> 20} MiB")


def _busy() -> BusyError:
    return BusyError("too many uploads are being looked at; nothing was stored, upload it again", _RETRY_SECONDS)
