"""The tree of processes: who is below whom, and their end."""

import os
import subprocess

from processes import gone, until

from worker.process_tree import below, descendants, kill_all, processes

SLEEP = ["sleep", "1000"]


def test_grandchildren_are_below() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 1000 & wait"]) as shell:
        until(lambda: len(below(shell.pid, processes())) == 1)
        [sleeper] = below(shell.pid, processes())
        assert {shell.pid, sleeper} <= set(descendants(os.getpid()))
        assert below(sleeper, processes()) == []
        kill_all([shell.pid, sleeper])
    until(lambda: gone(sleeper))


def test_one_that_has_ended_does_not_keep_the_others_alive() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    living = [subprocess.Popen(SLEEP), subprocess.Popen(SLEEP)]
    kill_all([living[0].pid, ended.pid, living[1].pid])
    assert [process.wait(10) for process in living] == [-9, -9]
