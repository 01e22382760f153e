"""`python -m worker [PARENT] [--drain]`: see `worker.serving`."""

import sys

from compiler.collection import imports_that_stay

if __name__ == "__main__":
    with imports_that_stay():
        from worker.serving import main
    main(sys.argv[1:])
