// What the search asks for most, as core.py calls it.

#include "deal.h"
#include "place.h"
#include "turning.h"
#include "walk.h"

using namespace millrace;

extern "C" {

Int millrace_deal(const Int* structure, const Int* given, double least_worth, Int* at, Int* missing, Int room) {
    return Deal(Reader(structure), Reader(given), at).go(least_worth, missing, room);
}

int millrace_walk(
    const Int* words, const double* numbers, const Int* streams, const Int* orders, double* of_runs,
    double* of_carriers, Int* held
) {
    Walk walk{Reader(words), Numbers(numbers), streams, Reader(orders)};
    const Outcome found = walk.go();
    walk.tell(found == Outcome::stuck, of_runs, of_carriers, held);
    return int(found);
}

void millrace_walk_in_order(
    const Int* words, const double* numbers, const Int* depths, double* times, const double* loaded
) {
    walk_in_order(Reader(words), Numbers(numbers), depths, times, loaded);
}

// `told`: how it went, by which task and stream it failed, and how many nodes, edges and phases it has.
Turning* millrace_turning(const Int* words, const double* numbers, Int* told) {
    auto* found = new Turning(Reader(words), Numbers(numbers));
    for (const Int one :
         {Int(found->found), found->task, found->stream, Int(found->nodes.size()), Int(found->edges.size()),
          Int(found->phases.size())})
        *told++ = one;
    return found;
}

void millrace_turning_end(Turning* turning) { delete turning; }

void millrace_turning_swept(const Turning* turning, double* start) {
    for (const double one : turning->swept()) *start++ = one;
}

int millrace_turning_earliest(const Turning* turning, double* start) {
    Starts found(start, start + turning->nodes.size() + 1);
    const bool kept = turning->longest_paths(found, Int(found.size()) + 1);
    std::copy(found.begin(), found.end(), start);
    return kept;
}

void millrace_turning_depths(const Turning* turning, const double* start, Int* depths) {
    turning->depths(start, depths);
}

// Activities of the nodes; stream, source and target of each edge, source and target of each phase; lag, base and rate
// of each edge, lag of each phase.
void millrace_turning_tell(const Turning* turning, Int* words, double* numbers) {
    for (const Int node : turning->nodes) *words++ = node;
    for (std::size_t n = 0; n < turning->edges.size(); ++n) {
        const Edge& edge = turning->edges[n];
        const Link& link = turning->links[n];
        for (const Int one : {link.stream, edge.source, edge.target}) *words++ = one;
        for (const double one : {edge.lag, link.flow.base, link.flow.rate}) *numbers++ = one;
    }
    for (const Edge& phase : turning->phases) {
        for (const Int one : {phase.source, phase.target}) *words++ = one;
        *numbers++ = phase.lag;
    }
}

// Of arrays of numpy: sizes, areas, links, anchors and crossings of a board; costs of dies and wires, and numbers.
#define MILLRACE_BOARD \
    const Int *sizes, const double *areas, const double *links, const double *anchor, const double *crossed, \
        const double *over_dies, const double *over_wires, const double *numbers
#define MILLRACE_READ_BOARD \
    const Board board{sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], areas, links, anchor, crossed}; \
    const Costs costs(board, over_dies, over_wires, numbers)

void millrace_cut(MILLRACE_BOARD, const Int* order, Int* die) {
    MILLRACE_READ_BOARD;
    Cuts(board, costs).cut(std::vector<Int>(order, order + board.dies), die);
}

double millrace_repaired(MILLRACE_BOARD, Int* die, const double* use, const double* wires, Int moves) {
    MILLRACE_READ_BOARD;
    Placed state(board, die, use, wires);
    return repaired(board, state, costs, moves, die);
}

void millrace_descended(MILLRACE_BOARD, Int* die, const double* use, const double* wires) {
    MILLRACE_READ_BOARD;
    Placed state(board, die, use, wires);
    descend(board, state, costs);
    std::copy(state.die.begin(), state.die.end(), die);
}
}
