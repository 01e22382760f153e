"""Stages are ticked, and what the importer logged is not: it is printed as it is."""

import pytest

from cli.stages import Stages


def test_a_log_belongs_to_the_stage_that_failed(capsys: pytest.CaptureFixture[str]) -> None:
    stages = Stages()
    for text in ("reading net.onnx", "lowering to linalg", 'importer:   File "[/]x.py", line 3'):
        stages.start(text)
    stages.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
    read, logged, lowered = capsys.readouterr().err.strip().splitlines()
    assert read.startswith("✓ reading net.onnx")
    assert logged == 'importer:   File "[/]x.py", line 3'
    assert lowered.startswith("✗ lowering to linalg")


def test_nothing_is_said_where_it_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with Stages(quiet=True) as stages:
        stages.start("reading")
        stages.start("importer: Traceback")
    assert not capsys.readouterr().err
