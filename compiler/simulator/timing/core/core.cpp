// Cycle-exact timing of a network of pipelined processes and bounded FIFOs; ../network.py defines the machine. What
// ../core.py calls; all numbers are 64 bits wide.

#include "progress.h"
#include "repetition.h"

using namespace millrace;

namespace {

class Run {
public:
    Run(const Plan& plan, const i64* depths, int buckets)
        : plan_(plan), machine_(plan, depths), timeline_(buckets, machine_.processes.size()), repetition_(machine_, timeline_) {}

    // Up to the end, a deadlock, or cycle `limit`.
    void go(i64 limit, bool fast) {
        stopped_ = false;
        while (!machine_.done && !machine_.deadlocked && !stopped_) {
            const i64 end = fast ? repetition_.window_end() : machine_.horizon + WINDOW;
            machine_.advance(std::min({end, machine_.horizon + timeline_.window(), limit - 1}));
            timeline_.note(machine_.processes, machine_.base, machine_.horizon + 1);
            ++windows_;
            if (machine_.done || machine_.deadlocked) return;
            if (fast && machine_.horizon + 1 < limit) repetition_.look(limit);
            stopped_ = machine_.horizon + 1 >= limit;
        }
    }

    // What repeated with the old depth may not with the new one.
    void deepen(std::size_t fifo, i64 depth) {
        machine_.fifos[fifo].deepen(depth);
        machine_.deadlocked = false;
        repetition_.forget();
    }

    void results(i64* numbers, double* shares) const {
        const i64 cycles = stopped_ ? machine_.horizon + 1 : machine_.last + 1;
        for (i64 value : {cycles, i64{machine_.deadlocked}, i64{stopped_}, machine_.tokens, windows_,
                          repetition_.skipped, timeline_.width})
            *numbers++ = value;
        for (const Process& process : machine_.processes)
            for (i64 value : {process.in.index, process.start, process.left_at + 1, process.empty, process.full})
                *numbers++ = value;
        for (std::size_t f = 0; f < machine_.fifos.size(); ++f) {
            const Fifo& fifo = machine_.fifos[f];
            for (i64 value : {fifo.pushed - plan_.initial[f], fifo.popped, fifo.peak, fifo.empty, fifo.full}) *numbers++ = value;
        }
        shares = std::copy(timeline_.empty.begin(), timeline_.empty.end(), shares);
        std::copy(timeline_.full.begin(), timeline_.full.end(), shares);
    }

private:
    const Plan& plan_;
    Machine machine_;
    Timeline timeline_;
    Repetition repetition_;
    bool stopped_ = false;
    i64 windows_ = 0;
};

}  // namespace

extern "C" {

// None where a nest has too many different parts.
void* millrace_plan(const i64* words) { return PlanReader(words).read().release(); }

void millrace_free(void* plan) { delete static_cast<Plan*>(plan); }

// A run with the given depth of each FIFO (0: any number of tokens); the plan must outlive it.
void* millrace_start(const void* plan, const i64* depths, i64 buckets) {
    return new Run(*static_cast<const Plan*>(plan), depths, static_cast<int>(buckets));
}

void millrace_go(void* run, i64 limit, i64 fast) { static_cast<Run*>(run)->go(limit, fast != 0); }

void millrace_deepen(void* run, i64 fifo, i64 depth) {
    static_cast<Run*>(run)->deepen(static_cast<std::size_t>(fifo), depth);
}

// 7 totals (cycles, deadlocked, stopped, tokens, windows, cycles skipped, width of a bucket), 5 numbers a process (entered,
// start, end, empty, full), 5 a FIFO (pushed, popped, peak, empty, full); 2 x processes x buckets shares.
void millrace_results(const void* run, i64* numbers, double* shares) {
    static_cast<const Run*>(run)->results(numbers, shares);
}

void millrace_end(void* run) { delete static_cast<Run*>(run); }

// Whether `millrace_progress` takes the plan.
i64 millrace_confluent(const void* plan) { return Progress::takes(*static_cast<const Plan*>(plan)); }

void* millrace_progress(const void* plan, const i64* depths) {
    return new Progress(*static_cast<const Plan*>(plan), depths);
}

void millrace_widen(void* progress, i64 fifo, i64 depth) {
    static_cast<Progress*>(progress)->fifos[static_cast<std::size_t>(fifo)].depth = depth;
}

// On as far as it can: whether it deadlocked, moves, iterations that entered each process, tokens pushed and popped of each
// FIFO.
void millrace_proceed(void* progress, i64* numbers) {
    Progress& of = *static_cast<Progress*>(progress);
    const bool ended = of.go();
    for (i64 value : {i64{!ended}, of.moves}) *numbers++ = value;
    for (const Progress::Process& process : of.processes) *numbers++ = process.in.index;
    for (std::size_t f = 0; f < of.fifos.size(); ++f)
        for (i64 value : {of.fifos[f].pushed - of.initial(f), of.fifos[f].popped}) *numbers++ = value;
}

void millrace_stop(void* progress) { delete static_cast<Progress*>(progress); }

}  // extern "C"
