import os
import socket
import subprocess
import sys

from worker.running.processes import identity, is_dead, port_holder


def test_a_process_knows_that_it_lives() -> None:
    assert identity() == identity()
    assert not is_dead(identity())


def test_ended_process_is_dead() -> None:
    code = "from worker.running.processes import identity; print(identity())"
    owner = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert is_dead(owner)


def test_reused_pid_is_not_the_same_process() -> None:
    machine = identity().rsplit("/", 1)[0]
    assert is_dead(f"{machine}/1")


def test_processes_elsewhere_are_not_judged() -> None:
    _, _, rest = identity().partition("/")
    assert not is_dead(f"another-host/{rest}")
    assert not is_dead("nonsense")


def test_port_holder_names_the_process() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        assert f"process {os.getpid()} " in port_holder(listener.getsockname()[1])
