"""Jobs for executors in tests: the build's id says what to do, nothing needs a database."""

import os
import signal
import subprocess
import sys
import threading
import time
import zlib
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


def mark_of(log: str) -> str:
    """A word on the command line of the tools of one job: how much longer they sleep."""
    return f"0.{zlib.crc32(log.encode())}"


def _tools(log: str) -> None:
    """A tool in a session of its own whose parent is gone, and a child that is waited for."""
    mark = mark_of(log)
    subprocess.run(["sh", "-c", f"setsid sleep 1000 {mark} & echo $!"], check=True)
    subprocess.Popen([sys.executable, "-c", f"import subprocess; subprocess.run(['sleep', '1000', '{mark}'])"])


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
            _tools(order.log)
        case "hang":
            _tools(order.log)
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
