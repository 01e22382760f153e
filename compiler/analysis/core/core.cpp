// What the search asks for most, as core.py calls it.

#include "walk.h"

using namespace millrace;

extern "C" {

int millrace_walk(
    const Int* words, const double* numbers, const Int* streams, const Int* orders, double* times, Int* held
) {
    Walk walk{Reader(words), Numbers(numbers), streams, Reader(orders)};
    const bool ended = walk.go();
    walk.tell(times, held);
    return ended;
}

void millrace_walk_in_order(
    const Int* words, const double* numbers, const Int* depths, double* times, const double* loaded
) {
    walk_in_order(Reader(words), Numbers(numbers), depths, times, loaded);
}
}
