"""Makes `.venv`: what `./millrace` runs before its first command, and again when a lock has changed.

    python3 deploy/environment.py [product DIGEST] [test DIGEST]

`product` makes the environment and installs requirements.lock, `test` adds requirements-test.lock. DIGEST is kept as
the sign that the part is ready. What is downloaded lies in uv's cache, so that an interrupted set-up goes on where it
was. Standard library only: it runs before anything is installed.
"""

import ast
import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from types import FrameType

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
UV = VENV / "bin" / "uv"
UNFINISHED = VENV / ".unfinished"  # there while a set-up runs, and after one that was interrupted
CACHE = VENV / ".cache"  # uv's, where its own can not be used
LOCKS = {"product": ROOT / "requirements.lock", "test": ROOT / "requirements-test.lock"}

GB = 1e9
_INTERRUPTED, _FAILED = 130, 3  # exit codes
_ENDINGS = (signal.SIGINT, signal.SIGTERM)
_TICK_S = 0.5
_BAR = 24


@dataclass(frozen=True, slots=True)
class Size:
    """GB to download, and on disk once unpacked; tests/fresh measures both."""

    download: float
    disk: float


SIZES = {
    ("product", "cpu"): Size(0.5, 1.8),
    ("product", "cuda"): Size(3.1, 5.9),
    ("test", "cpu"): Size(0.3, 1.0),
    ("test", "cuda"): Size(0.3, 1.0),
}


class SetUpError(Exception):
    """What could not be done, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Torch:
    """Where torch comes from: `build` is `cpu` or `cuda`, `options` are uv's, for all packages."""

    build: str
    origin: str
    options: tuple[str, ...]


def main(*arguments: str) -> int:
    """Set the parts up that are not ready, each of `arguments` with its digest; the exit code."""
    digests = dict(zip(arguments[::2], arguments[1::2], strict=True))
    signal.signal(signal.SIGTERM, _interrupt)
    start = monotonic()
    try:
        with _alone():
            missing = [part for part, digest in digests.items() if not _is_ready(part, digest)]
            if not missing:
                return 0
            _set_up(missing)
            for part in missing:
                (VENV / f".ready-{part}").write_text(digests[part])
            _say(f"ready after {monotonic() - start:.0f} s")
    except KeyboardInterrupt:
        _say("set-up interrupted; the same command goes on where it stopped")
        return _INTERRUPTED
    except (SetUpError, OSError) as error:
        _say(f"{error}\nmillrace: the same command goes on where this one stopped")
        return _FAILED
    return 0


def _is_ready(part: str, digest: str) -> bool:
    """Whether another set-up, which this one waited for, has done it."""
    ready = VENV / f".ready-{part}"
    done = not UNFINISHED.exists() and PYTHON.exists() and ready.is_file() and ready.read_text() == digest
    return done and _is_of_this_python()


def _is_of_this_python() -> bool:
    kept = VENV / "pyvenv.cfg"
    return kept.is_file() and f"executable = {os.path.realpath(sys.executable)}\n" in kept.read_text()


@contextmanager
def _alone() -> Generator[None]:
    """Only one set-up of a checkout runs at a time. Raises SetUpError where the folder is somebody else's."""
    try:
        VENV.mkdir(exist_ok=True)
        lock = (VENV / ".set-up").open("w")  # not .lock: uv's own
    except PermissionError:
        raise SetUpError(
            f"{VENV} can not be written: clone Millrace to a folder that is yours, or run this once as its owner"
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("another set-up is running: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _set_up(parts: Sequence[str]) -> None:
    room = _room()
    if "product" in parts:
        _make_environment()
    settings = _pip_settings()
    environment = _uv_environment(settings)
    torch = _find_torch(_uv_options(settings), environment)
    disk = _announce(parts, torch, room)
    install = [str(UV), "pip", "install", "--python", str(PYTHON), *torch.options]
    locks = [LOCKS[part] for part in dict.fromkeys(("product", *parts))]
    _run_step("packages", [*install, *(f"--requirements={lock}" for lock in locks)], environment, disk)
    if "product" in parts:
        itself = ["--no-deps", "--no-build-isolation", f"--editable={ROOT}"]
        _run_step("millrace itself", [*install, *itself], environment)
        _run_step("modules", [str(PYTHON), "-m", "compiler.frontend.warm"], environment)
    shutil.rmtree(CACHE, ignore_errors=True)
    UNFINISHED.unlink()


def _room() -> float:
    """GB for this set-up. Of one that was interrupted: what was free when it began, for what was downloaded since lies
    in the cache and need not fit again. What it left half done is removed.
    """
    free = shutil.disk_usage(VENV).free / GB
    if not UNFINISHED.exists():
        UNFINISHED.write_text(f"{free:.3f}")
        return free
    _say("the last set-up was interrupted: going on")
    _empty()
    before = UNFINISHED.read_text()
    return max(free, float(before or 0))


def _empty() -> None:
    """Leave nothing of an environment but what was downloaded for it; no part of it is ready then."""
    for ready in VENV.glob(".ready-*"):
        ready.unlink()
    for path in VENV.iterdir():
        if path.is_dir() and not path.is_symlink() and path != CACHE:
            shutil.rmtree(path)


def _make_environment() -> None:
    """With the Python that runs this; one of another Python goes, and one that was not set up here."""
    if not (VENV / ".ready-product").is_file() or not _is_of_this_python():
        _empty()
    version = ".".join(map(str, sys.version_info[:3]))
    _say(f"setting up in {VENV} with Python {version} ({sys.executable})")
    _run_step("environment", [sys.executable, "-m", "venv", str(VENV)], os.environ)
    pip = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check"]
    _run_step("installer", [*pip, _pin("uv")], os.environ)


def _pin(package: str) -> str:
    """`package==version` as the product's lock has it."""
    return next(line for line in LOCKS["product"].read_text().splitlines() if line.startswith(f"{package}=="))


def _announce(parts: Sequence[str], torch: Torch, room: float) -> float:
    """Say what is downloaded and how many GB of the disk it takes, which it returns. Raises SetUpError where it does
    not fit.
    """
    sizes = [SIZES[part, torch.build] for part in parts]
    download, disk = (round(sum(amounts), 1) for amounts in zip(*((s.download, s.disk) for s in sizes), strict=True))
    if "product" in parts:
        _say(f"torch is {torch.origin}")
    _say(f"downloads {download} GB at most, takes {disk} GB of {room:.1f} that are free")
    if "product" in parts and torch.build == "cuda":
        lighter = SIZES["product", "cpu"]
        _say(
            f"most of it is CUDA, which Millrace does not use: {lighter.download} and {lighter.disk} GB do without it."
        )
        _say("to avoid it: Ctrl-C, name a place with the CPU build of torch in MILLRACE_TORCH_INDEX, run this again")
    if room < disk:
        raise SetUpError(f"{VENV} has too little room: {disk} GB are needed, {room:.1f} are free. Make room")
    return disk


def _pip_settings() -> dict[str, str]:
    """What pip is configured with, files and environment: `{"index-url": ...}`."""
    listed = subprocess.run(
        [str(PYTHON), "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    lines = (line.split("=", 1) for line in listed.splitlines() if "=" in line)
    return {name.rsplit(".", 1)[-1]: ast.literal_eval(value) for name, value in lines}


def _uv_options(settings: Mapping[str, str]) -> list[str]:
    """pip's places for packages as uv's options; uv does not read pip's configuration."""
    options = ["--index-strategy=unsafe-best-match"]  # as pip: of all places the best version
    options += [f"--default-index={url}" for url in settings.get("index-url", "").split()]
    options += [f"--index={url}" for url in settings.get("extra-index-url", "").split()]
    options += [f"--find-links={place}" for place in settings.get("find-links", "").split()]
    options += [f"--allow-insecure-host={host}" for host in settings.get("trusted-host", "").split()]
    return options + (["--no-index"] if settings.get("no-index", "").lower() in {"1", "true", "yes", "on"} else [])


def _uv_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Certificates and proxy as pip has them; a cache on the file system of `.venv`: nothing lies there twice."""
    environment = dict(os.environ)
    if certificates := settings.get("cert"):
        environment.setdefault("SSL_CERT_FILE", certificates)
    if proxy := settings.get("proxy"):
        environment.setdefault("ALL_PROXY", proxy)
    usual = _run([str(UV), "cache", "dir"], environment).stdout.strip()
    if not _can_keep(Path(usual)):
        environment["UV_CACHE_DIR"] = str(CACHE)
    return environment


def _can_keep(cache: Path) -> bool:
    existing = next(path for path in (cache, *cache.parents) if path.exists())
    return os.access(existing, os.W_OK) and existing.stat().st_dev == VENV.stat().st_dev


def _find_torch(options: Sequence[str], environment: Mapping[str, str]) -> Torch:
    """The CPU build of the pinned torch where one can be had, else the CUDA build. Raises SetUpError where
    MILLRACE_TORCH_INDEX has none.
    """
    pin = _pin("torch")
    if place := os.environ.get("MILLRACE_TORCH_INDEX"):
        given = (*options, f"--find-links={place}" if Path(place).is_dir() else f"--index={place}")
        if not _offers_cpu(pin, given, environment):
            python = ".".join(map(str, sys.version_info[:2]))
            raise SetUpError(f"MILLRACE_TORCH_INDEX={place} has no CPU build of {pin} for Python {python}")
        return Torch("cpu", f"the CPU build of {place}", given)
    if _offers_cpu(pin, options, environment):
        return Torch("cpu", "a CPU build, which pip's configuration names", tuple(options))
    known = (*options, "--torch-backend=cpu")
    if _offers_cpu(pin, known, environment):
        return Torch("cpu", "the CPU build of its makers", known)
    return Torch("cuda", "the build for CUDA: pip's configuration names no CPU build", tuple(options))


def _offers_cpu(pin: str, options: Sequence[str], environment: Mapping[str, str]) -> bool:
    command = [str(UV), "pip", "compile", "--no-deps", "--no-header", "--python", str(PYTHON), *options, "-"]
    found = _run(command, {**environment, "UV_HTTP_RETRIES": "1"}, pin)
    return found.returncode == 0 and "+cpu" in found.stdout


def _run(command: Sequence[str], environment: Mapping[str, str], given: str = "") -> subprocess.CompletedProcess[str]:
    """The root as working folder: this project's own settings of uv are for making locks."""
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False, env=environment, cwd="/")


def _run_step(title: str, command: Sequence[str], environment: Mapping[str, str], disk: float = 0) -> None:
    """Run the command, with a bar of the `disk` GB it is to write where a person watches. Raises SetUpError."""
    log, start, free = VENV / ".log", monotonic(), shutil.disk_usage(VENV).free
    with log.open("w") as output:
        # Between the start of the process and the `try` that ends it, no interruption gets through.
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDINGS)
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            cwd="/",
            preexec_fn=_let_through,  # noqa: PLW1509  # one system call, and no threads here
        )
        try:
            _let_through()
            while process.poll() is None:
                _draw(title, monotonic() - start, (free - shutil.disk_usage(VENV).free) / GB, disk)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_TICK_S)
        except KeyboardInterrupt:
            process.terminate()
            process.wait()
            _end_line()
            raise
    _end_line()
    if process.returncode:
        sys.stderr.write("".join(log.read_text(errors="replace").splitlines(keepends=True)[-20:]))
        raise SetUpError(f"{title}: failed. Check the network, pip's settings and the room on the disk")
    if not sys.stderr.isatty() or not disk:
        _say(f"  {title:<16} {monotonic() - start:4.0f} s")


def _let_through() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDINGS)


def _draw(title: str, seconds: float, written: float, disk: float) -> None:
    if not sys.stderr.isatty():
        return
    share = min(max(written / disk, 0), 1) if disk else 0
    bar = f"[{'#' * round(share * _BAR):<{_BAR}}] {share:4.0%} of {disk} GB" if disk else ""
    sys.stderr.write(f"\rmillrace:   {title:<16} {seconds:4.0f} s  {bar}")
    sys.stderr.flush()


def _end_line() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\n")


def _say(text: str) -> None:
    sys.stderr.write(f"millrace: {text}\n")


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
