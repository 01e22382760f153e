// One run of a network, window by window.
//
// What a process may do depends on its FIFOs alone, so there is no queue of events: in a window each process runs until it
// blocks or passes the window's end, and the FIFOs keep the cycle of each read and write. Blocking reads and writes
// commute, so the order in which processes run changes no cycle. At the end of a window everything up to that cycle has
// happened, and how far each nest is, what is inside each pipeline and how much each FIFO holds is the whole state.
#pragma once

#include "state.h"

namespace millrace {

class Machine {
public:
    std::vector<Process> processes;
    std::vector<Fifo> fifos;
    i64 base = 0, horizon = -1;  // first and last cycle of the window
    i64 last = -1;               // cycle of the last event
    i64 tokens = 0;
    bool done = false, deadlocked = false;

    Machine(const Plan& plan, const i64* depths) : plan_(plan) {
        fifos.resize(plan.source.size());
        for (std::size_t f = 0; f < fifos.size(); ++f) fifos[f].open(depths[f] > 0 ? depths[f] : NEVER, plan.initial[f]);
        processes.resize(plan.processes.size());
        for (std::size_t p = 0; p < processes.size(); ++p) processes[p].open(plan.processes[p]);
        queue_.resize(processes.size() + 1);
    }

    // Everything that happens up to cycle `until`, at most WINDOW cycles on.
    void advance(i64 until) {
        base = horizon + 1;
        horizon = until;
        for (std::size_t p = 0; p < processes.size(); ++p) wake(static_cast<int>(p));
        while (waiting_ > 0) {
            Process& process = processes[static_cast<std::size_t>(queue_[first_])];
            first_ = first_ + 1 == queue_.size() ? 0 : first_ + 1;
            --waiting_;
            process.queued = process.beyond = false;
            if (process.program->stalls)
                advance_stalling(process);
            else
                while (leave(process) | enter(process)) {}
        }
        settle();
    }

private:
    const Plan& plan_;
    std::vector<int> queue_;  // a ring: every process is in it once at most
    std::size_t first_ = 0, waiting_ = 0;

    void wake(int p) {
        Process& process = processes[static_cast<std::size_t>(p)];
        if (process.queued || process.finished) return;
        process.queued = true;
        const std::size_t end = first_ + waiting_++;
        queue_[end < queue_.size() ? end : end - queue_.size()] = p;
    }

    Fifo& fifo(const Cursor& cursor, int n) { return fifos[static_cast<std::size_t>(cursor.fifos[n])]; }

    // The FIFOs of a place: `count` of them, or any number where that is 0.
    template <int count>
    class Ends {
    public:
        Ends(Machine& machine, const Cursor& cursor) : machine_(machine), cursor_(cursor) {
            for (int n = 0; n < count; ++n) fifos_[n] = &machine.fifo(cursor, n);
        }

        // See Fifo::readable; where it is not known, the process is woken when it is.
        i64 readable() const {
            i64 ready = 0;
            bool known = true;
            each([&](Fifo& fifo) {
                const i64 at = fifo.readable();
                if (at < 0) fifo.reader_waits = true;
                known &= at >= 0;
                ready = std::max(ready, at);
            });
            return known ? ready : -1;
        }

        i64 writable() const {
            i64 ready = 0;
            bool known = true;
            each([&](Fifo& fifo) {
                const i64 at = fifo.writable();
                if (at < 0) fifo.writer_waits = true;
                known &= at >= 0;
                ready = std::max(ready, at);
            });
            return known ? ready : -1;
        }

        void pop(i64 cycle) const {
            each([&](Fifo& fifo) { fifo.pop(cycle); });
        }

        void push(i64 cycle) const {
            each([&](Fifo& fifo) { fifo.push(cycle); });
        }

    private:
        Machine& machine_;
        const Cursor& cursor_;
        Fifo* fifos_[count ? count : 1];

        template <class Action>
        void each(Action action) const {
            if constexpr (count)
                for (Fifo* fifo : fifos_) action(*fifo);
            else
                for (int n = 0; n < cursor_.count; ++n) action(machine_.fifo(cursor_, n));
        }
    };

    void wake_writers(const Cursor& cursor) {
        for (int n = 0; n < cursor.count; ++n) {
            if (!fifo(cursor, n).writer_waits) continue;
            fifo(cursor, n).writer_waits = false;
            wake(plan_.source[static_cast<std::size_t>(cursor.fifos[n])]);
        }
    }

    void wake_readers(const Cursor& cursor) {
        for (int n = 0; n < cursor.count; ++n) {
            if (!fifo(cursor, n).reader_waits) continue;
            fifo(cursor, n).reader_waits = false;
            wake(plan_.target[static_cast<std::size_t>(cursor.fifos[n])]);
        }
    }

    // ---- flushable pipelines ----

    bool leave(Process& process) {
        const i64 from = process.out.index;
        bool on = true;
        while (on && process.out.index < process.in.index) {
            switch (process.out.count) {
                case 0: on = leave_quietly(process); break;
                case 1: on = leave_some<1>(process); break;
                case 2: on = leave_some<2>(process); break;
                case 3: on = leave_some<3>(process); break;
                default: on = leave_some<0>(process);
            }
        }
        if (process.out.index == process.program->total) process.finished = true;
        return process.out.index > from;
    }

    // Iterations that write nothing leave as soon as they are done.
    bool leave_quietly(Process& process) {
        const Program& program = *process.program;
        const i64 first = process.out.index;
        const i64 end = first + std::min(process.in.index - first, process.out.left);
        i64 index = first, left_at = process.left_at;
        for (; index < end; ++index) {
            const std::size_t slot = static_cast<std::size_t>(index & program.mask);
            const i64 cycle = std::max(process.entered[slot] + program.latency - 1, left_at + 1);
            if (cycle > horizon) break;
            process.gone[slot] = left_at = cycle;
        }
        process.left_at = left_at;
        process.beyond |= index < end;
        if (index > first) process.out.pass(index - first);
        return index == end;
    }

    // Iterations of one segment, each of which writes to `count` FIFOs; 0 stands for any number.
    template <int count>
    bool leave_some(Process& process) {
        const Program& program = *process.program;
        const Ends<count> to(*this, process.out);
        const i64 first = process.out.index;
        const i64 end = first + std::min(process.in.index - first, process.out.left);
        i64 index = first, left_at = process.left_at;
        for (; index < end; ++index) {
            const std::size_t slot = static_cast<std::size_t>(index & program.mask);
            const i64 from = std::max({process.entered[slot] + program.latency - 1, left_at + 1, base});
            const i64 room = to.writable();
            if (room < 0) break;
            const i64 cycle = std::max(from, room + base - 1);
            if (cycle > horizon) {
                process.beyond = true;
                break;
            }
            if (cycle > from) charge_full(process.out, from, cycle);
            to.push(cycle - base + 1);
            process.gone[slot] = left_at = cycle;
        }
        process.left_at = left_at;
        if (index == first) return false;
        wake_readers(process.out);
        process.out.pass(index - first);
        return index == end;
    }

    bool enter(Process& process) {
        const Program& program = *process.program;
        const i64 first = process.in.index;
        bool on = true;
        while (on && process.in.index < program.total && process.in.index - process.out.index < program.slots) {
            if (program.waits && process.next_turn() == NEVER) break;
            switch (process.in.count) {
                case 1: on = enter_some<1>(process); break;
                case 2: on = enter_some<2>(process); break;
                default: on = enter_some<0>(process);
            }
        }
        return process.in.index > first;
    }

    // Iterations of one segment, each of which reads from `count` FIFOs; 0 stands for any number.
    template <int count>
    bool enter_some(Process& process) {
        const Program& program = *process.program;
        const Ends<count> from(*this, process.in);
        const i64 first = process.in.index;
        const i64 end = first + std::min(program.slots - first + process.out.index, process.in.left);
        i64 index = first, turn = process.next_turn();
        for (; index < end; ++index) {
            const i64 due = process.cycle_of(turn), earliest = std::max(due, base);
            const i64 token = from.readable();
            if (token < 0) break;
            const i64 ready = token + base - 1;
            // A slot that was left in this window; before it there are none that matter.
            const i64 slot = process.gone[static_cast<std::size_t>((index - program.slots) & program.mask)];
            const i64 cycle = std::max({earliest, ready, slot});
            if (cycle > horizon) {
                process.beyond = true;
                break;
            }
            if (cycle > earliest) charge_entry(process, earliest, ready, cycle);
            from.pop(cycle - base + 1);
            process.entered[static_cast<std::size_t>(index & program.mask)] = cycle;
            turn = (cycle == due ? turn : cycle * program.per) + program.ii;
        }
        if (index == first) return false;
        if (process.start < 0) process.start = process.entered[static_cast<std::size_t>(first & program.mask)];
        process.turn = turn;
        wake_writers(process.in);
        process.in.pass(index - first);
        if (!program.drains && process.starts_run()) process.turn += program.pause(process.in.idle);
        return index == end;
    }

    void charge_entry(Process& process, i64 from, i64 ready, i64 cycle) {
        process.full += cycle - std::max(from, ready);
        if (ready <= from) return;
        process.empty += ready - from;
        charge_empty(process.in, from, cycle);
    }

    // ---- stalling pipelines ----

    void advance_stalling(Process& process) {
        while (step(process)) {}
    }

    bool step(Process& process) {
        const i64 taking = process.step_in(), letting = process.step_out(), next = std::min(taking, letting);
        const i64 from = std::max(process.due + next - process.step, base);
        process.beyond = next > process.step && from > horizon + 1;  // steps that need no FIFO are left
        const i64 token = taking == next ? Ends<0>(*this, process.in).readable() : 0;
        const i64 place = letting == next ? Ends<0>(*this, process.out).writable() : 0;
        if (token < 0 || place < 0) return false;
        const i64 ready = token + base - 1, room = place + base - 1;
        const i64 cycle = std::max({from, ready, room});
        process.beyond = cycle > horizon;
        if (process.beyond) return false;
        if (cycle > from) {
            process.empty += std::max<i64>(0, ready - from);
            process.full += cycle - std::max(from, ready);
            if (taking == next) charge_empty(process.in, from, cycle);
            if (letting == next) charge_full(process.out, from, cycle);
        }
        process.step = next + 1;
        process.due = cycle + 1;
        process.stepped = cycle;
        if (taking == next) take_in(process, cycle);
        return letting != next || let_out(process, cycle);
    }

    void take_in(Process& process, i64 cycle) {
        Ends<0>(*this, process.in).pop(cycle - base + 1);
        wake_writers(process.in);
        if (process.start < 0) process.start = cycle;
        process.in.pass(1);
    }

    bool let_out(Process& process, i64 cycle) {
        Ends<0>(*this, process.out).push(cycle - base + 1);
        wake_readers(process.out);
        process.left_at = cycle;
        process.out.pass(1);
        process.finished = process.out.index == process.program->total;
        if (!process.finished && process.out.begins_run()) {
            process.step = 0;
            process.due = cycle + 1 + process.program->pause(process.out.idle);
        }
        return !process.finished;
    }

    // ---- the end of a window ----

    void settle() {
        bool open = false, goes_on = false;
        for (const Process& process : processes) {
            open |= !process.finished;
            goes_on |= !process.finished && process.beyond;
            last = std::max(last, last_event(process));
        }
        done = !open;
        deadlocked = open && !goes_on;
        charge_waiting(deadlocked ? std::min(last, horizon) : horizon);
        for (Fifo& each : fifos) {
            tokens += each.pops;
            each.end_window();
        }
    }

    i64 last_event(const Process& process) const {
        if (process.finished) return process.left_at;
        if (!process.program->stalls)
            return process.in.index ? std::max(process.left_at, process.entry(process.in.index - 1)) : -1;
        // Steps that take in and let out nothing need no FIFO.
        const i64 idle = std::min(process.step_in(), process.step_out()) - process.step;
        return idle > 0 ? std::max(process.stepped, std::min(horizon, process.due + idle - 1)) : process.stepped;
    }

    // Waiting of all that could not go on, up to cycle `until`.
    void charge_waiting(i64 until) {
        for (Process& process : processes) {
            if (process.finished) continue;
            if (process.program->stalls)
                charge_stalled(process, until + 1);
            else
                charge_flushable(process, until + 1);
        }
    }

    void charge_stalled(Process& process, i64 until) {
        const i64 taking = process.step_in(), letting = process.step_out(), next = std::min(taking, letting);
        const i64 from = std::max(process.due + next - process.step, base);
        if (from >= until) return;
        i64 ready = from;
        if (taking == next) {
            ready = std::max(from, ready_by(process.in, until));
            charge_empty(process.in, from, until);
        }
        if (letting == next) charge_full(process.out, from, until);
        process.empty += ready - from;
        process.full += until - ready;
    }

    void charge_flushable(Process& process, i64 until) {
        const Program& program = *process.program;
        if (process.out.index < process.in.index && process.out.count) {
            const i64 done_at = process.entry(process.out.index) + program.latency - 1;
            charge_full(process.out, std::max({done_at, process.left_at + 1, base}), until);
        }
        if (process.in.index >= program.total) return;
        const i64 from = std::max(process.cycle_of(process.next_turn()), base);
        if (from >= until) return;
        const i64 ready = std::max(from, ready_by(process.in, until));
        charge_empty(process.in, from, until);
        process.empty += ready - from;
        process.full += until - ready;
    }

    // First cycle in which all tokens are there, at most `until`.
    i64 ready_by(const Cursor& cursor, i64 until) {
        i64 ready = 0;
        for (int n = 0; n < cursor.count; ++n) {
            const i64 at = fifo(cursor, n).readable();
            ready = std::max(ready, at < 0 ? until : std::min(until, at + base - 1));
        }
        return ready;
    }

    // Cycles of [from, until) in which each FIFO had no token, or no room.
    void charge_empty(const Cursor& cursor, i64 from, i64 until) {
        for (int n = 0; n < cursor.count; ++n) {
            const i64 at = fifo(cursor, n).readable();
            const i64 ready = at < 0 ? until : std::min(until, at + base - 1);
            if (ready > from) fifo(cursor, n).empty += ready - from;
        }
    }

    void charge_full(const Cursor& cursor, i64 from, i64 until) {
        for (int n = 0; n < cursor.count; ++n) {
            const i64 at = fifo(cursor, n).writable();
            const i64 ready = at < 0 ? until : std::min(until, at + base - 1);
            if (ready > from) fifo(cursor, n).full += ready - from;
        }
    }
};

}  // namespace millrace
