// The state of one run: FIFOs and processes.
#pragma once

#include "plan.h"

namespace millrace {

// A FIFO keeps the cycles of the window's reads and writes, counted from the cycle before the window's first.
class Fifo {
public:
    i64 pushed = 0, popped = 0;  // before the window
    int pushes = 0, pops = 0;    // in it
    bool reader_waits = false, writer_waits = false;
    i64 peak = 0, empty = 0, full = 0;
    i64 lowest = NEVER, highest = 0;  // since the last snapshot: fewest tokens at a read, most at a write

    void open(i64 depth, i64 initial) {
        depth_ = depth;
        pushed = peak = highest = initial;  // as if they had been written before
        push_at_.resize(WINDOW + 1);
        pop_at_.resize(WINDOW + 1);
        start_window();
    }

    // Between two windows.
    void deepen(i64 depth) {
        depth_ = depth;
        start_window();
    }

    // First cycle in which the next token can be read: 0 at once, -1 not known yet.
    i64 readable() const {
        const int k = pops + read_offset_;
        if (k < 0) return 0;
        return k < pushes ? push_at_[static_cast<std::size_t>(k)] + 1 : -1;
    }

    i64 writable() const {
        const int k = pushes + write_offset_;
        if (k < 0) return 0;
        return k < pops ? pop_at_[static_cast<std::size_t>(k)] + 1 : -1;
    }

    void push(i64 cycle) { push_at_[static_cast<std::size_t>(pushes++)] = static_cast<std::int32_t>(cycle); }
    void pop(i64 cycle) { pop_at_[static_cast<std::size_t>(pops++)] = static_cast<std::int32_t>(cycle); }

    i64 depth() const { return depth_; }

    // The extremes of something that happens `times` from now on, as they are beyond what is held before each time.
    void note(i64 low, i64 high, i64 drift, i64 times) {
        const i64 held = pushed - popped, more = (times - 1) * drift;
        highest = std::max(highest, held + high + std::max<i64>(0, more));
        if (low < NEVER) lowest = std::min(lowest, held + low + std::min<i64>(0, more));
        peak = std::max(peak, highest);
    }

    // Counts the window's reads and writes; returns its last cycle with one, 0 for none.
    i64 end_window() {
        if (pushes == 0 && pops == 0) return 0;
        const i64 held = pushed - popped;
        int i = 0;  // writes so far
        for (int j = 0; j < pops; ++j) {
            const std::int32_t at = pop_at_[static_cast<std::size_t>(j)];
            while (i < pushes && push_at_[static_cast<std::size_t>(i)] < at)
                highest = std::max(highest, held + ++i - j);
            lowest = std::min(lowest, held + i - j);
            // A token that is written in the cycle of a read comes beside the one that is read.
            if (i < pushes && push_at_[static_cast<std::size_t>(i)] == at) highest = std::max(highest, held + i + 1 - j);
        }
        highest = std::max(highest, held + pushes - pops);
        peak = std::max(peak, highest);
        i64 last = 0;
        if (pushes) last = push_at_[static_cast<std::size_t>(pushes - 1)];
        if (pops) last = std::max<i64>(last, pop_at_[static_cast<std::size_t>(pops - 1)]);
        pushed += pushes;
        popped += pops;
        start_window();
        return last;
    }

    void start_window() {
        pushes = pops = 0;
        constexpr i64 FAR = 1 << 30;
        read_offset_ = static_cast<int>(std::max(popped - pushed, -FAR));
        write_offset_ = static_cast<int>(std::max(pushed - popped - depth_, -FAR));
    }

private:
    i64 depth_ = NEVER;
    int read_offset_ = 0, write_offset_ = 0;
    std::vector<std::int32_t> push_at_, pop_at_;
};

class Process {
public:
    const Program* program = nullptr;
    Cursor in, out;
    i64 start = -1, left_at = -1, empty = 0, full = 0;
    bool finished = false, queued = false;
    bool beyond = false;  // it goes on behind the window, whatever others do
    // Flushable: turn of the next entry in 1/per cycles; cycles of entry of what is inside, and of the last leavings.
    i64 turn = 0;
    std::vector<i64> entered, gone;
    // Stalling: the next step of the run, the first cycle it may happen in, and that of the last that took in or let out.
    i64 step = 0, due = 0, stepped = -1;

    void open(const Program& of) {
        program = &of;
        in.start(of.reads);
        out.start(of.writes);
        finished = of.total == 0;
        turn = due = in.idle * of.gap;
        entered.assign(static_cast<std::size_t>(of.mask) + 1, 0);
        gone.assign(static_cast<std::size_t>(of.mask) + 1, -1);
    }

    i64 entry(i64 iteration) const { return entered[static_cast<std::size_t>(iteration & program->mask)]; }

    bool starts_run() const { return in.index > 0 && in.begins_run(); }

    // Turn of the next entry in 1/per cycles; NEVER where all inside must leave first.
    i64 next_turn() const {
        if (!program->waits || !starts_run()) return turn;
        if (out.index < in.index) return NEVER;
        return std::max(turn, (left_at + 1) * program->per + program->pause(in.idle));
    }

    i64 cycle_of(i64 its_turn) const {
        return its_turn == NEVER || program->per == 1 ? its_turn : ceil_div(its_turn, program->per);
    }

    // Stalling: steps of the run that take in the next iteration (NEVER: the run has none more) and let out the oldest.
    i64 step_in() const {
        return in.run_begin > out.run_begin || in.index >= program->total ? NEVER : (in.index - in.run_begin) * program->ii;
    }

    i64 step_out() const { return (out.index - out.run_begin) * program->ii + program->latency - 1; }

    // Nothing more comes in, and what is inside is done and waits for room: a store that drains.
    bool only_drains() const {
        return in.index == program->total && !finished && !program->stalls;
    }

    bool is_overdue(i64 now) const { return entry(in.index - 1) + program->latency - 1 <= now; }

    // Goes on as if as many iterations as lately, `entries` and `leavings`, had passed `times` more: `shift` cycles in all.
    void repeat(i64 entries, i64 leavings, i64 times, i64 shift) {
        if (entries == 0 && leavings == 0) return;  // it waits, and since when is past
        if (entries != leavings) return drain(times * leavings, shift);
        const i64 iterations = entries;
        const i64 slots = program->slots, inside = in.index - out.index;
        std::vector<i64> kept;
        if (!program->stalls) {
            for (i64 i = 0; i < inside; ++i) kept.push_back(entry(out.index + i));
            for (i64 i = 1; i <= slots; ++i) kept.push_back(gone[ring(out.index - i)]);
        }
        const i64 out_in_run = out.index - out.run_begin;
        in.go(in.index + times * iterations);
        out.go(out.index + times * iterations);
        left_at += shift;
        stepped += shift;
        due += shift;
        turn += shift * program->per;
        step += (out.index - out.run_begin - out_in_run) * program->ii;
        if (program->stalls) return;
        for (i64 i = 0; i < inside; ++i) entered[ring(out.index + i)] = kept[static_cast<std::size_t>(i)] + shift;
        for (i64 i = 1; i <= slots; ++i)
            gone[ring(out.index - i)] = kept[static_cast<std::size_t>(inside + i - 1)] + shift;
    }

private:
    void drain(i64 leavings, i64 shift) {
        out.go(out.index + leavings);
        left_at += shift;
    }

    std::size_t ring(i64 iteration) const { return static_cast<std::size_t>(iteration & program->mask); }
};

}  // namespace millrace
