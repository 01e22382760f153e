"""Warm processes that look at uploads; see `compiler.frontend.scan.process`. Never imports an importer."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock

import compiler
from compiler.errors import InvalidInputError, ToolError
from compiler.frontend.scan.bounds import SCAN_MEMORY_BYTES, SCAN_SECONDS, SCAN_WALL_SECONDS
from compiler.frontend.scan.process import ERRORS, MESSAGE_BYTES

_MAX_NAME = 200


class ScanPool:
    """As many processes as files are looked at at once: the caller bounds that. Any thread may call."""

    def __init__(self) -> None:
        self._idle: list[_Scanner] = []
        self._lock = Lock()

    def scan(self, descriptor: int, form: str, name: str) -> None:
        """Look at the file behind the descriptor. Raises InvalidInputError and UnsupportedError for the file, ToolError
        where this machine is too busy to tell.
        """
        scanner = self._taken()
        try:
            answer = scanner.ask(descriptor, form, name[:_MAX_NAME])
        except BaseException:
            scanner.close()
            raise
        with self._lock:
            self._idle.append(scanner)
        if answer:
            raise ERRORS[answer["error"]](answer["message"])

    def close(self) -> None:
        """End the processes that wait."""
        with self._lock:
            idle, self._idle = self._idle, []
        for scanner in idle:
            scanner.close()

    def _taken(self) -> "_Scanner":
        """One that waits and lives, else a new one."""
        with self._lock:
            while self._idle:
                scanner = self._idle.pop()
                if scanner.lives():
                    return scanner
                scanner.close()
        return _Scanner()


class _Scanner:
    """One process and this end of its socket."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "compiler.frontend.scan.process", str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PYTHONPATH": str(Path(compiler.__path__[0]).parent), "PATH": os.environ.get("PATH", "")},
                start_new_session=True,
            )

    def lives(self) -> bool:
        return self._process.poll() is None

    def ask(self, descriptor: int, form: str, name: str) -> dict[str, str]:
        """The process's answer. Raises InvalidInputError where the file was too much for it."""
        self._channel.settimeout(SCAN_WALL_SECONDS)
        request = json.dumps({"form": form, "name": name}).encode()
        try:
            socket.send_fds(self._channel, [request], [descriptor])
            answer = self._channel.recv(MESSAGE_BYTES)
        except TimeoutError as error:
            raise ToolError(f"{name} could not be looked at in {SCAN_WALL_SECONDS:g} s; try again") from error
        except OSError:
            answer = b""
        if answer:
            return json.loads(answer)
        raise self._lost(name)

    def close(self) -> None:
        """End the process, whatever it does."""
        self._channel.close()
        with suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()

    def _lost(self, name: str) -> Exception:
        """What the end of the process says of the file."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        if self._process.returncode == -signal.SIGPROF:
            return InvalidInputError(
                f"{name} takes more than {SCAN_SECONDS:g} s of processor time to look at; export fewer layers"
            )
        if self._process.returncode is not None and self._process.returncode < 0:
            return InvalidInputError(
                f"{name} takes more than {SCAN_MEMORY_BYTES >> 20} MiB to look at, or is damaged; export it again"
            )
        return ToolError(f"{name} could not be looked at; try again, and look at the API's log if it lasts")
