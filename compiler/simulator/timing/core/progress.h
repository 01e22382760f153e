// How far a network gets, whatever the time: blocking reads and writes are confluent, so every order of execution that
// goes on as long as it can comes to the same end. This one moves as many tokens at once as there are, and does what it has
// done lately again in one go, for as long as the nests allow it and no FIFO gets over its depth or under nothing.
#pragma once

#include "history.h"

namespace millrace {

class Progress {
public:
    struct Fifo {
        i64 depth, pushed = 0, popped = 0;
        i64 lowest = 0, highest = 0;  // held, since the last mark

        i64 held() const { return pushed - popped; }
    };
    struct Process {
        const Program* program = nullptr;
        Cursor in, out;
        bool queued = false;

        bool finished() const { return out.index == program->total; }
    };
    std::vector<Process> processes;
    std::vector<Fifo> fifos;
    i64 moves = 0;  // of any number of tokens

    Progress(const Plan& plan, const i64* depths) : plan_(plan) {
        for (std::size_t f = 0; f < plan.source.size(); ++f)
            fifos.push_back({depths[f] > 0 ? depths[f] : NEVER, plan.initial[f]});
        processes.resize(plan.processes.size());
        queue_.resize(processes.size() + 1);
        for (std::size_t p = 0; p < processes.size(); ++p) {
            processes[p].program = &plan.processes[p];
            processes[p].in.start(plan.processes[p].reads);
            processes[p].out.start(plan.processes[p].writes);
        }
    }

    // Neither steps that take several processes to agree, nor pipelines that must run empty, are known here.
    static bool takes(const Plan& plan) {
        return std::none_of(plan.processes.begin(), plan.processes.end(),
                            [](const Program& each) { return each.stalls || each.waits; });
    }

    i64 initial(std::size_t fifo) const { return plan_.initial[fifo]; }

    // To the end; false where it deadlocks.
    bool go() {
        follow();
        wake_all();
        while (waiting_ > 0) {
            Process& process = processes[static_cast<std::size_t>(queue_[first_])];
            first_ = first_ + 1 == queue_.size() ? 0 : first_ + 1;
            --waiting_;
            process.queued = false;
            while (pass(process) || leave(process) || enter(process)) {}
            if (&process == anchor_) look();
        }
        return std::all_of(processes.begin(), processes.end(), [](const Process& each) { return each.finished(); });
    }

private:
    const Plan& plan_;
    std::vector<int> queue_;  // a ring: every process is in it once at most
    std::size_t first_ = 0, waiting_ = 0;

    // Where everything was when the anchor, the process with most left to do, began a block of its nest.
    struct Mark {
        struct OfFifo {
            i64 pushed, popped;
            i64 lowest, highest;  // since the mark before
        };
        std::vector<i64> in, out;
        std::vector<OfFifo> fifos;
    };
    static constexpr std::size_t MOST = 512;  // marks
    static constexpr int PATIENCE = 64;       // marks in vain until they are set half as often
    static constexpr i64 RAREST = 64;         // blocks between two marks, at most

    Process* anchor_ = nullptr;
    i64 looked_ = 0, stride_ = 1;  // its iterations when it was looked at last, blocks between two marks
    int in_vain_ = 0;
    std::vector<Mark> marks_;
    std::unordered_map<u64, std::size_t> latest_;  // mark by where the nests were in their inner loops

    void wake_all() {
        for (std::size_t p = 0; p < processes.size(); ++p) wake(static_cast<int>(p));
    }

    void forget() {
        marks_.clear();
        latest_.clear();
        for (Fifo& each : fifos) each.lowest = each.highest = each.held();
    }

    void follow() {
        anchor_ = nullptr;
        for (Process& each : processes)
            if (each.in.index < each.program->total && (!anchor_ || left(each) > left(*anchor_))) anchor_ = &each;
        looked_ = anchor_ ? anchor_->in.index : 0;
        forget();
    }

    static i64 left(const Process& process) { return process.program->total - process.in.index; }

    void look() {
        if (anchor_->in.index == anchor_->program->total) return follow();
        const int level = anchor_->program->outline.crossed(looked_, anchor_->in.index, stride_);
        if (level < 0) return;
        const u64 place = places();
        bool repeats = false;
        for (int outer = level; outer >= 0 && !repeats; --outer) {
            const auto found = latest_.find(key(place, outer));
            repeats = found != latest_.end() && repeat(found->second);
        }
        if (marks_.size() == MOST) forget();
        mark(repeats ? places() : place, level);
        be_patient(repeats);
        looked_ = anchor_->in.index;
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

    // Of the nests, as much as must recur.
    u64 places() const {
        u64 hash = 0x9E3779B97F4A7C15ull;
        for (std::size_t p = 0; p < processes.size(); ++p) {
            const Process& each = processes[p];
            const i64 passed = each.in.index - (marks_.empty() ? 0 : marks_.back().in[p]);
            for (i64 value : {each.in.phase(passed), each.out.phase(passed), each.in.index - each.out.index}) {
                hash = (hash ^ static_cast<u64>(value)) * 0xBF58476D1CE4E5B9ull;
                hash ^= hash >> 29;
            }
        }
        return hash;
    }

    static u64 key(u64 place, int level) { return place + static_cast<u64>(level) * 0x632BE59BD9B4E019ull; }

    void mark(u64 place, int level) {
        Mark now;
        for (const Process& each : processes) {
            now.in.push_back(each.in.index);
            now.out.push_back(each.out.index);
        }
        for (Fifo& each : fifos) {
            now.fifos.push_back({each.pushed, each.popped, each.lowest, each.highest});
            each.lowest = each.highest = each.held();
        }
        for (; level >= 0; --level) latest_[key(place, level)] = marks_.size();
        marks_.push_back(std::move(now));
    }

    // Does what was done since a mark as often as it can be done again.
    bool repeat(std::size_t mark) {
        const Mark& before = marks_[mark];
        i64 times = NEVER;
        for (std::size_t p = 0; p < processes.size() && times > 0; ++p)
            times = std::min(times, walks(processes[p], before.in[p], before.out[p]));
        for (std::size_t f = 0; f < fifos.size() && times > 0; ++f) times = std::min(times, fits(mark, f));
        if (times <= 0 || times == NEVER) return false;
        for (std::size_t p = 0; p < processes.size(); ++p) {
            Process& each = processes[p];
            each.in.go(each.in.index + times * (each.in.index - before.in[p]));
            each.out.go(each.out.index + times * (each.out.index - before.out[p]));
        }
        for (std::size_t f = 0; f < fifos.size(); ++f) {
            Fifo& each = fifos[f];
            const Extremes seen = since(mark, f);
            const i64 pushed = each.pushed - before.fifos[f].pushed, popped = each.popped - before.fifos[f].popped;
            const i64 drift = pushed - popped;
            each.lowest = std::min(each.lowest, seen.lowest + std::min(drift, times * drift));
            each.highest = std::max(each.highest, seen.highest + std::max(drift, times * drift));
            each.pushed += times * pushed;
            each.popped += times * popped;
        }
        wake_all();
        return true;
    }

    static i64 walks(const Process& now, i64 in, i64 out) {
        const i64 iterations = now.in.index - in;
        if (iterations != now.out.index - out) return 0;
        return iterations ? std::min(again(now.in, in), again(now.out, out)) : NEVER;
    }

    static i64 again(const Cursor& now, i64 before) {
        const Part* part = now.walked_from(before);
        return part ? now.repeats(part, now.offset_in(part), now.index - before) : 0;
    }

    // How often a FIFO takes what it did since a mark.
    i64 fits(std::size_t mark, std::size_t f) const {
        const Fifo& now = fifos[f];
        const i64 drift = now.held() - (marks_[mark].fifos[f].pushed - marks_[mark].fifos[f].popped);
        if (drift == 0) return NEVER;
        const Extremes seen = since(mark, f);
        return drift < 0 ? seen.lowest / -drift : (now.depth - seen.highest) / drift;
    }

    Extremes since(std::size_t mark, std::size_t f) const {
        Extremes seen{fifos[f].lowest, fifos[f].highest};
        for (std::size_t later = mark + 1; later < marks_.size(); ++later) {
            seen.lowest = std::min(seen.lowest, marks_[later].fifos[f].lowest);
            seen.highest = std::max(seen.highest, marks_[later].fifos[f].highest);
        }
        return seen;
    }

    void wake(int p) {
        Process& process = processes[static_cast<std::size_t>(p)];
        if (process.queued || process.finished()) return;
        process.queued = true;
        const std::size_t end = first_ + waiting_++;
        queue_[end < queue_.size() ? end : end - queue_.size()] = p;
    }

    Fifo& fifo(const Cursor& cursor, int n) { return fifos[static_cast<std::size_t>(cursor.fifos[n])]; }

    // Of at most `most` iterations, those for which there are tokens.
    i64 readable(const Cursor& cursor, i64 most) {
        for (int n = 0; n < cursor.count; ++n) most = std::min(most, fifo(cursor, n).held());
        return most;
    }

    i64 writable(const Cursor& cursor, i64 most) {
        for (int n = 0; n < cursor.count; ++n) {
            const Fifo& to = fifo(cursor, n);
            most = std::min(most, to.depth - to.held());
        }
        return most;
    }

    // Whole iterations, through an empty pipeline.
    bool pass(Process& process) {
        if (process.in.index != process.out.index || process.finished()) return false;
        const i64 some = writable(process.out, readable(process.in, std::min(process.in.left, process.out.left)));
        if (some <= 0) return false;
        take(process, some);
        let(process, some);
        return true;
    }

    bool leave(Process& process) {
        const i64 inside = process.in.index - process.out.index;
        const i64 some = inside ? writable(process.out, std::min(inside, process.out.left)) : 0;
        if (some <= 0) return false;
        let(process, some);
        return true;
    }

    bool enter(Process& process) {
        const i64 slots = process.program->slots - (process.in.index - process.out.index);
        if (slots <= 0 || process.in.index == process.program->total) return false;
        const i64 some = readable(process.in, std::min(slots, process.in.left));
        if (some <= 0) return false;
        take(process, some);
        return true;
    }

    void take(Process& process, i64 iterations) {
        ++moves;
        for (int n = 0; n < process.in.count; ++n) {
            Fifo& from = fifo(process.in, n);
            from.popped += iterations;
            from.lowest = std::min(from.lowest, from.held());
            wake(plan_.source[static_cast<std::size_t>(process.in.fifos[n])]);
        }
        process.in.pass(iterations);
    }

    void let(Process& process, i64 iterations) {
        ++moves;
        for (int n = 0; n < process.out.count; ++n) {
            Fifo& to = fifo(process.out, n);
            to.pushed += iterations;
            to.highest = std::max(to.highest, to.held());
            wake(plan_.target[static_cast<std::size_t>(process.out.fifos[n])]);
        }
        process.out.pass(iterations);
    }
};

}  // namespace millrace
