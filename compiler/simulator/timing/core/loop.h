// What happened between two equal states, and how often it can happen again from another place with that state.
#pragma once

#include "history.h"
#include "machine.h"

namespace millrace {

class Loop {
public:
    i64 period = 0;
    std::vector<i64> state;

    // From `before` on; `machine` has the same state now.
    Loop(const Snapshot& before, const Machine& machine)
        : period(machine.horizon - before.cycle), state(before.state) {
        for (std::size_t p = 0; p < before.processes.size(); ++p) {
            const Process& now = machine.processes[p];
            const Snapshot::OfProcess& old = before.processes[p];
            processes_.push_back({side(old.in, old.next_in, now.in), side(old.out, old.next_out, now.out),
                                  now.empty - old.empty, now.full - old.full});
        }
    }

    // What passed the FIFOs; the extremes are those since `before`.
    void count_fifos(const Snapshot& before, const Machine& machine, const History& history) {
        for (std::size_t f = 0; f < before.fifos.size(); ++f) {
            const Fifo& now = machine.fifos[f];
            const Snapshot::OfFifo& old = before.fifos[f];
            const Extremes seen = history.since(before, f, {now.lowest, now.highest});
            const i64 held = old.pushed - old.popped;
            fifos_.push_back({held, now.pushed - old.pushed, now.popped - old.popped, now.empty - old.empty,
                              now.full - old.full, seen.lowest < NEVER ? seen.lowest - held : NEVER,
                              seen.highest - held});
        }
    }

    // Whether the nests were walked in a way that can recur, as one process alone says, or all.
    static bool recurs(const Snapshot::OfProcess& old, const Process& now) {
        if (now.finished) return true;
        if (now.in.index - old.in != now.out.index - old.out && old.in < now.program->total) return false;
        return (now.in.index == old.in || now.in.walked_from(old.in)) &&
               (now.out.index == old.out || now.out.walked_from(old.out));
    }

    // How often the nests can be walked so from where `machine` is, which has this state; 0 for not at all.
    i64 walks(const Machine& machine, i64 limit) const {
        i64 times = (limit - 1 - machine.horizon) / period;
        for (std::size_t p = 0; p < processes_.size() && times > 0; ++p)
            times = std::min(times, processes_[p].repeats(machine.processes[p]));
        return times;
    }

    // How often it can happen, the FIFOs regarded too.
    i64 repeats(const Machine& machine, i64 limit) const {
        i64 times = walks(machine, limit);
        for (std::size_t f = 0; f < fifos_.size() && times > 0; ++f)
            times = std::min(times, fifos_[f].repeats(machine.fifos[f]));
        return times;
    }

    void apply(Machine& machine, i64 times) const {
        for (std::size_t p = 0; p < processes_.size(); ++p) {
            Process& each = machine.processes[p];
            each.empty += times * processes_[p].empty;
            each.full += times * processes_[p].full;
            if (!each.finished)
                each.repeat(processes_[p].in.iterations, processes_[p].out.iterations, times, times * period);
        }
        for (std::size_t f = 0; f < fifos_.size(); ++f) {
            const OfFifo& every = fifos_[f];
            Fifo& each = machine.fifos[f];
            each.note(every.lowest, every.highest, every.pushes - every.pops, times);
            each.empty += times * every.empty;
            each.full += times * every.full;
            each.pushed += times * every.pushes;
            each.popped += times * every.pops;
            machine.tokens += times * every.pops;
            each.start_window();
        }
        machine.horizon += times * period;
    }

private:
    // Of the reads, or the writes, of a process: whole iterations of `part`, from `offset` in it.
    struct Side {
        i64 iterations;
        Next next;  // in the beginning
        const Part* part = nullptr;
        i64 offset = 0;

        // How often it can be walked from a place. One that does not move looks at its next iteration, which must be alike.
        i64 repeats(const Cursor& now) const {
            if (iterations == 0) return now.ahead() == next ? NEVER : 0;
            return part ? now.repeats(part, offset, iterations) : 0;
        }
    };

    static Side side(i64 before, const Next& next, const Cursor& now) {
        const Part* part = now.index == before ? nullptr : now.walked_from(before);
        return {now.index - before, next, part, part ? now.offset_in(part) : 0};
    }

    struct OfProcess {
        Side in, out;
        i64 empty, full;

        i64 repeats(const Process& now) const {
            if (now.finished) return NEVER;
            if (now.start < 0 && in.iterations) return 0;  // its first entry is yet to be noted
            return std::min(in.repeats(now.in), out.repeats(now.out));
        }
    };

    struct OfFifo {
        i64 held, pushes, pops, empty, full;
        i64 lowest, highest;  // less `held`

        // Where it holds what it did then, all goes as it did. Else nobody may have waited for it, and with fewer tokens
        // it must never get empty, with more never full: who waits for another FIFO counts how long this one is, too.
        // What comes next finds a token and room then, so a deadlock is seen in the window of its last event.
        i64 repeats(const Fifo& now) const {
            const i64 holds = now.pushed - now.popped, drift = pushes - pops;
            if (drift == 0 && holds == held) return NEVER;
            if (empty || full) return 0;
            i64 times = NEVER;
            if (drift < 0 || holds < held) times = within(holds + std::min<i64>(0, lowest - 1) - 1, -drift);
            if (drift > 0 || holds > held) times = std::min(times, within(now.depth() - 1 - holds - highest, drift));
            return times;
        }

        // How often something can be done that takes `step` each time and leaves `spare` the first time.
        static i64 within(i64 spare, i64 step) { return spare < 0 ? 0 : step > 0 ? spare / step + 1 : NEVER; }
    };

    std::vector<OfProcess> processes_;
    std::vector<OfFifo> fifos_;
};

}  // namespace millrace
