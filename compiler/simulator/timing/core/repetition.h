// Skips what repeats.
//
// Where the machine's state comes again, shifted in time, the cycles between repeat for as long as no nest gets to a place
// where it behaves otherwise, and no FIFO that fills or drains by the way gets full or empty. Snapshots are taken where an
// anchor, one of the busiest processes, begins another block of its nest: such places recur.
#pragma once

#include <array>

#include "loop.h"
#include "timeline.h"

namespace millrace {

class Repetition {
public:
    i64 skipped = 0;

    Repetition(Machine& machine, Timeline& timeline)
        : machine_(machine), timeline_(timeline), history_(machine.processes.size(), machine.fifos.size()) {
        seen_.assign(machine.processes.size(), 0);
        passed_.assign(machine.processes.size(), 0);
    }

    // Where the next window should end: where an anchor can at best have got to the end of its block.
    i64 window_end() const {
        i64 end = machine_.horizon + WINDOW;
        for (const Anchor& anchor : anchors_)
            if (anchor.process >= 0 && !process(anchor).finished)
                end = std::min(end, std::max(reach(process(anchor)), machine_.horizon + SHORTEST));
        return end;
    }

    void forget() {
        history_.clear();
        loops_.clear();
    }

    // After a window: skip, up to cycle `limit` at most, and remember where we are.
    void look(i64 limit) {
        const bool crossed = cross();
        choose_anchors();
        if (!crossed) return;
        for (std::size_t p = 0; p < passed_.size(); ++p)
            passed_[p] = machine_.processes[p].in.index - (history_.empty() ? 0 : history_.last().processes[p].in);
        describe();
        bool repeats = false;
        while (look_back(limit)) {  // an inner loop's skip may have come to where an outer one repeats
            repeats = true;
            describe();
        }
        be_patient(repeats);
        remember();
    }

private:
    static constexpr i64 SHORTEST = 16;  // cycles of a window
    static constexpr int CANDIDATES = 64;  // latest snapshots with one state that are tried
    static constexpr std::size_t LOOPS_EACH = 4;  // kept of one state
    static constexpr int PATIENCE = 24;    // snapshots in vain until they are taken half as often
    static constexpr i64 RAREST = 16;      // blocks between two snapshots, at most

    struct Anchor {
        int process = -1;
        i64 passed = 0;  // its iterations when it was looked at last
    };
    // Blocks that were begun in a window: the number of the anchor's loop, counted from its innermost block, -1 for none.
    struct Crossing {
        int process = -1, level = -1;
    };

    Machine& machine_;
    Timeline& timeline_;
    std::array<Anchor, 2> anchors_;
    std::array<Crossing, 2> crossings_;
    std::vector<i64> seen_;    // iterations of each process at the end of the last window
    std::vector<i64> passed_;  // those since the last snapshot
    std::vector<i64> state_;
    u64 hash_ = 0;
    i64 stride_ = 1;   // blocks between two snapshots
    int in_vain_ = 0;  // snapshots since one was of use, or since the stride changed
    std::size_t suspect_ = 0;  // the process that did not repeat last, which is asked first
    History history_;
    std::unordered_map<u64, std::vector<Loop>> loops_;  // by the state that they start and end with

    const Process& process(const Anchor& anchor) const {
        return machine_.processes[static_cast<std::size_t>(anchor.process)];
    }

    // Earliest cycle in which the process takes in the last iteration of its block.
    i64 reach(const Process& process) const {
        const Program& program = *process.program;
        const i64 missing = program.outline.left(process.in.index, stride_);
        const i64 from = program.stalls ? process.due : ceil_div(process.turn, program.per);
        return std::max(from, machine_.horizon + 1) + ceil_div((missing - 1) * program.ii, program.per);
    }

    void be_patient(bool repeats) {
        if (repeats) {
            stride_ = 1;
            in_vain_ = 0;
        } else if (++in_vain_ == PATIENCE) {
            stride_ = std::min(2 * stride_, RAREST);
            in_vain_ = 0;
        }
    }

    // ---- anchors ----

    bool cross() {
        const bool first = anchors_[0].process < 0;
        bool any = false;
        for (std::size_t a = 0; a < anchors_.size(); ++a) {
            crossings_[a] = {anchors_[a].process, -1};
            raise(a);
            any |= crossings_[a].level >= 0;
        }
        return first || any;
    }

    void raise(std::size_t a) {
        Anchor& anchor = anchors_[a];
        if (anchor.process < 0 || anchor.process != crossings_[a].process) return;
        const i64 index = process(anchor).in.index;
        const int level = process(anchor).program->outline.crossed(anchor.passed, index, stride_);
        crossings_[a].level = std::max(crossings_[a].level, level);
        anchor.passed = index;
    }

    static bool can_anchor(const Process& process) {
        return !process.finished && process.in.index < process.program->total;
    }

    // The process with most work left, which stays until it is through, and the one that took in most lately, which stays
    // as long as it moves.
    void choose_anchors() {
        i64 most_left = 0, most_done = 0;
        int heavy = -1, lively = -1;
        bool moves = false;
        for (std::size_t p = 0; p < seen_.size(); ++p) {
            const Process& each = machine_.processes[p];
            const i64 progress = each.in.index - seen_[p];
            seen_[p] = each.in.index;
            if (!can_anchor(each)) continue;
            if (static_cast<int>(p) == anchors_[1].process) moves = progress > 0;
            const i64 left = (each.program->total - each.in.index) * each.program->ii / each.program->per;
            if (left > most_left) {
                most_left = left;
                heavy = static_cast<int>(p);
            }
            if (progress > most_done) {
                most_done = progress;
                lively = static_cast<int>(p);
            }
        }
        if (anchors_[0].process < 0 || !can_anchor(process(anchors_[0]))) follow(0, heavy);
        if (!moves) follow(1, lively == anchors_[0].process ? -1 : lively);
    }

    void follow(std::size_t a, int process) {
        if (anchors_[a].process == process) return;
        anchors_[a] = {process, process < 0 ? 0 : machine_.processes[static_cast<std::size_t>(process)].in.index};
    }

    // ---- snapshots ----

    // All that what happens from here on depends on, in cycles from now, what is overdue as 0; and as much of the places
    // in the nests as must recur.
    void describe() {
        state_.clear();
        for (std::size_t p = 0; p < machine_.processes.size(); ++p) {
            const Process& each = machine_.processes[p];
            if (each.finished) {
                state_.push_back(-1);
                continue;
            }
            state_.push_back(each.in.phase(passed_[p]));
            state_.push_back(each.out.phase(passed_[p]));
            if (each.program->stalls)
                describe_stalling(each);
            else
                describe_flushable(each);
        }
        hash_ = 0x9E3779B97F4A7C15ull;
        for (i64 value : state_) {
            hash_ = (hash_ ^ static_cast<u64>(value)) * 0xBF58476D1CE4E5B9ull;
            hash_ ^= hash_ >> 29;
        }
    }

    void describe_stalling(const Process& each) {
        const i64 taking = each.step_in(), letting = each.step_out(), next = std::min(taking, letting);
        state_.push_back(std::max<i64>(0, each.due + next - each.step - machine_.horizon - 1));
        state_.push_back(taking == NEVER ? -1 : taking - next);
        state_.push_back(letting - next);
    }

    // What is inside comes out at an even pace for the most part: the cycles are kept as runs of equal distance.
    void describe_flushable(const Process& each) {
        const i64 now = machine_.horizon + 1, after = each.program->latency - 1 - now;
        if (each.only_drains() && each.is_overdue(now)) return state_.push_back(-2);  // how much of it only ends it
        state_.push_back(each.in.index - each.out.index);
        i64 before = 0, distance = -1, count = 0;
        for (i64 i = each.out.index; i < each.in.index; ++i) {
            const i64 left = std::max<i64>(0, each.entry(i) + after);
            if (left - before != distance) {
                if (count) state_.insert(state_.end(), {distance, count});
                distance = left - before;
                count = 0;
            }
            ++count;
            before = left;
        }
        if (count) state_.insert(state_.end(), {distance, count});
        i64 turn = each.next_turn();
        if (turn == NEVER) turn = each.turn;
        state_.push_back(std::max<i64>(0, turn - (now - 1) * each.program->per));
    }

    u64 key(const Crossing& crossing, int level) const {
        return hash_ + static_cast<u64>(level + 2) * 0x632BE59BD9B4E019ull +
               static_cast<u64>(crossing.process + 1) * 0xD6E8FEB86659FD93ull;
    }

    // What is known to happen from this state; else what did since a snapshot with it: those that the anchors' outermost
    // loops point to, then the latest ones.
    bool look_back(i64 limit) {
        const auto known = loops_.find(hash_);
        if (known != loops_.end())
            for (const Loop& loop : known->second)
                if (loop.state == state_ && skip(loop, limit)) return true;
        for (const Crossing& crossing : crossings_)
            for (int level = crossing.level; level >= 0; --level)
                if (learn(history_.latest(key(crossing, level)), limit)) return true;
        const Snapshot* before = history_.latest(hash_);
        for (int n = 0; n < CANDIDATES && before; ++n, before = history_.find(before->previous))
            if (learn(before, limit)) return true;
        return false;
    }

    void remember() {
        const Snapshot* same = history_.latest(hash_);
        const i64 previous = same ? same->id : -1;
        Snapshot& now = history_.add(std::max(crossings_[0].level, crossings_[1].level));
        now.cycle = machine_.horizon;
        now.previous = previous;
        now.state = state_;
        for (const Process& each : machine_.processes)
            now.processes.push_back(
                {each.in.index, each.out.index, each.empty, each.full, each.in.ahead(), each.out.ahead()});
        for (Fifo& each : machine_.fifos) {
            now.fifos.push_back({each.pushed, each.popped, each.empty, each.full, each.lowest, each.highest});
            each.lowest = NEVER;
            each.highest = each.pushed - each.popped;
        }
        history_.name(hash_, now.id);
        for (const Crossing& crossing : crossings_)
            for (int level = crossing.level; level >= 0; --level) history_.name(key(crossing, level), now.id);
    }

    // ---- skipping ----

    // Skips what happened since `before`, if it can happen again from here, and keeps it for other places.
    bool learn(const Snapshot* before, i64 limit) {
        if (!before || !recurs(suspect_, *before) || before->state != state_) return false;
        for (std::size_t p = 0; p < machine_.processes.size(); ++p)
            if (!recurs(p, *before)) {
                suspect_ = p;
                return false;
            }
        Loop loop(*before, machine_);
        if (loop.walks(machine_, limit) <= 0) return false;
        loop.count_fifos(*before, machine_, history_);
        if (!skip(loop, limit)) return false;
        if (loops_.size() >= history_.most() / 6) loops_.clear();
        std::vector<Loop>& known = loops_[hash_];
        if (known.size() == LOOPS_EACH) known.pop_back();
        known.insert(known.begin(), std::move(loop));
        return true;
    }

    bool recurs(std::size_t p, const Snapshot& before) const {
        return Loop::recurs(before.processes[p], machine_.processes[p]);
    }

    bool skip(const Loop& loop, i64 limit) {
        const i64 times = loop.repeats(machine_, limit);
        if (times <= 0) return false;
        const i64 from = machine_.horizon + 1;
        loop.apply(machine_, times);
        timeline_.note(machine_.processes, from, machine_.horizon + 1);
        skipped += machine_.horizon + 1 - from;
        for (std::size_t p = 0; p < seen_.size(); ++p) seen_[p] = machine_.processes[p].in.index;
        for (std::size_t a = 0; a < anchors_.size(); ++a) raise(a);
        return true;
    }
};

}  // namespace millrace
