from rich.console import Console

from cli.output import table


def test_an_id_stays_whole_on_a_narrow_terminal():
    console = Console(width=60)
    row = ("dsg_01m7z14rsxp28kvfzd", "89.4", "742.3", "tile 16 unroll 4096 width 1024 hbm 4", "passed err 7.4e-08")
    with console.capture() as capture:
        console.print(table("", ("design", ">latency us", ">energy uJ", "knobs", "csim"), [row]))
    assert "dsg_01m7z14rsxp28kvfzd" in capture.get()
    assert "\u2026" not in capture.get()
