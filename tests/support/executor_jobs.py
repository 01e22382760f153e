"""Jobs for executors in tests: the build's id says what to do, nothing needs a database."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from worker.running.executing import Perform
from worker.running.orders import Order, Reply

held: list[bytes] = []


def _disturb() -> None:
    os.chdir("/")
    os.umask(0)
    os.environ["DISTURBED"] = "yes"
    os.environ.pop("HOME", None)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    sys.stdout = sys.stderr


def _look() -> None:
    mask = os.umask(0)
    os.umask(mask)
    ignored = signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN
    print(Path.cwd() == Path("/"), mask == 0, "DISTURBED" in os.environ, "HOME" not in os.environ, ignored)


def _tools() -> None:
    """A tool in a session of its own whose parent is gone, and a child that is waited for."""
    subprocess.run(["sh", "-c", "setsid sleep 1000 & echo $!"], check=True)
    subprocess.Popen([sys.executable, "-c", "import subprocess; subprocess.run(['sleep', '1000'])"])


def perform(order: Order) -> Reply:
    match order.build_id:
        case "disturb":
            _disturb()
        case "look":
            _look()
        case "thread":
            threading.Thread(target=time.sleep, args=(1000,), daemon=True, name="straggler").start()
        case "grow":
            held.append(b"x" * (800 << 20))
        case "tools":
            _tools()
        case "hang":
            _tools()
            time.sleep(1000)
        case "crash":
            print("the last words")
            os._exit(42)
        case "raise":
            raise RuntimeError("not foreseen")
        case "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "tool output":
            subprocess.run(["sh", "-c", "echo of a tool; echo of its errors >&2"], check=True)
            print("of the job")
        case _:
            print(f"{os.getpid()}")
    return Reply(tickets=["lower"])


def open_jobs() -> Perform:
    return perform
