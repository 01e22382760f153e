"""Pictures of what the compiler works with, drawn from its own values: itensor, converter, windows, fusion, FIFO
certificate.

python -m bench.site.concepts            # a minute, most of it for the import of gpt2; writes docs/pictures/
python -m bench.site.concepts itensor    # one of them
"""

import argparse
from collections.abc import Callable

from bench.site.converter_picture import converter
from bench.site.fifo_picture import fifo
from bench.site.fusion_picture import fusion
from bench.site.itensor_picture import itensor
from bench.site.kept import draw
from bench.site.window_picture import window

PICTURES: dict[str, Callable[[], str]] = {
    "itensor": itensor,
    "converter": converter,
    "window": window,
    "fusion": fusion,
    "fifo": fifo,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", nargs="*", help=f"{', '.join(PICTURES)} (all)")
    for name in parser.parse_args().pictures or PICTURES:
        draw(name, PICTURES[name]())


if __name__ == "__main__":
    main()
