"""The embedded service of a checkout, for as long as it is needed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from millrace.client import Client
from millrace.errors import ServiceUnavailableError, UsageError

_START_S = 300.0  # the first start sets the checkout's environment up
_STOP_S = 30.0


@contextmanager
def local(checkout: str | Path, *, home: str | Path | None = None) -> Generator[Client, None, None]:
    """Run `./millrace up` of a checkout in the background, and stop it at the end; a client of it.

    `home` is its state directory (MILLRACE_HOME), else the usual one. Raises UsageError where there is no checkout,
    ServiceUnavailableError where it does not start: another one may run on that home.
    """
    script = Path(checkout) / "millrace"
    if not script.is_file():
        raise UsageError(f"{checkout} is no checkout of Millrace: it has no ./millrace")
    environment = {**os.environ, **({} if home is None else {"MILLRACE_HOME": str(Path(home).absolute())})}
    process = subprocess.Popen(
        [str(script.absolute()), "up", "--json", "--port", "0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,  # Ctrl-C interrupts what waits for it, not the service
    )
    assert process.stdout is not None
    assert process.stderr is not None
    told: list[str] = []
    listener = threading.Thread(target=_collect, args=(process.stderr, told), daemon=True)
    listener.start()
    too_late = threading.Timer(_START_S, process.terminate)
    too_late.start()
    try:
        address, printed = _address(process.stdout)
        too_late.cancel()
        if address is None:
            listener.join(timeout=1)
            raise ServiceUnavailableError(f"{script} up did not start: {_reason(printed, _last(told))}")
        with Client(address) as client:
            try:
                yield client
            except ServiceUnavailableError as error:
                if process.poll() is None:
                    raise
                ended = f"{script} up ended with status {process.returncode}"
                raise ServiceUnavailableError(f"{ended}: {_last(told)}") from error
    finally:
        too_late.cancel()
        _stop(process)


def _address(output: IO[str]) -> tuple[str | None, str]:
    """What `up --json` says once it answers, None where it ends without; and all that it printed until then."""
    text = ""
    for line in output:
        text += line
        try:
            return str(json.loads(text)["address"]), text
        except (ValueError, KeyError, TypeError):
            continue
    return None, text


def _reason(printed: str, told: str) -> str:
    """Why it did not start: the message of the error that `up --json` prints, else all that was said."""
    try:
        return str(json.loads(printed)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return "\n".join(filter(None, (told, _last([printed])))) or "it said nothing"


def _last(told: list[str]) -> str:
    return "".join(told)[-2000:].strip()


def _collect(stream: IO[str], told: list[str]) -> None:
    told.extend(stream)


def _stop(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
