// Cycle-exact timing of a network of pipelined processes and bounded FIFOs; ../network.py defines the machine. What
// ../core.py calls; all numbers are 64 bits wide.

#include "repetition.h"

using namespace millrace;

extern "C" {

void* millrace_plan(const i64* words) { return PlanReader(words).read().release(); }

void millrace_free(void* plan) { delete static_cast<Plan*>(plan); }

// Runs with the given depth of each FIFO (0: any number of tokens), for `limit` cycles at most. Results: 7 totals (cycles,
// deadlocked, stopped, tokens, windows, cycles skipped, width of a bucket), 5 numbers a process (entered, start, end,
// empty, full), 5 a FIFO (pushed, popped, peak, empty, full). `shares` takes 2 x processes x buckets numbers.
void millrace_run(const void* plan, const i64* depths, i64 limit, i64 fast, i64 buckets, i64* results, double* shares) {
    Machine machine(*static_cast<const Plan*>(plan), depths);
    Timeline timeline(static_cast<int>(buckets), machine.processes.size());
    Repetition repetition(machine, timeline);
    bool stopped = false;
    i64 windows = 0;
    for (; !machine.done && !machine.deadlocked && !stopped; ++windows) {
        const i64 end = fast ? repetition.window_end() : machine.horizon + WINDOW;
        machine.advance(std::min(end, limit - 1));
        timeline.note(machine.processes, machine.base, machine.horizon + 1);
        stopped = !machine.done && !machine.deadlocked && machine.horizon + 1 >= limit;
        if (fast && !machine.done && !machine.deadlocked && !stopped) {
            repetition.look(limit);
            stopped = machine.horizon + 1 >= limit;
        }
    }
    const i64 cycles = stopped ? machine.horizon + 1 : machine.last + 1;
    for (i64 value : {cycles, i64{machine.deadlocked}, i64{stopped}, machine.tokens, windows, repetition.skipped,
                      timeline.width})
        *results++ = value;
    for (const Process& process : machine.processes)
        for (i64 value : {process.in.index, process.start, process.left_at + 1, process.empty, process.full})
            *results++ = value;
    for (const Fifo& fifo : machine.fifos)
        for (i64 value : {fifo.pushed, fifo.popped, fifo.peak, fifo.empty, fifo.full}) *results++ = value;
    shares = std::copy(timeline.empty.begin(), timeline.empty.end(), shares);
    std::copy(timeline.full.begin(), timeline.full.end(), shares);
}

}  // extern "C"
