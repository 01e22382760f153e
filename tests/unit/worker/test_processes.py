import os
import socket
import subprocess
import sys
import threading

from worker.processes import identity, is_dead, port_holder, slot_identity


def test_a_process_knows_that_it_lives() -> None:
    assert identity() == identity()
    assert not is_dead(identity())


def test_ended_process_is_dead() -> None:
    code = "from worker.processes import identity; print(identity())"
    owner = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert is_dead(owner)


def test_a_slot_is_as_dead_as_its_process() -> None:
    ours, mine = slot_identity(), identity()
    assert ours.startswith(f"{mine}#")
    assert not is_dead(ours)
    assert is_dead(f"{mine.rsplit('/', 1)[0]}/1#{threading.get_native_id()}")


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
