// A loop nest as one side of a process sees it, its reads or its writes, and a place in it.
#pragma once

#include <algorithm>
#include <vector>

#include "numbers.h"

namespace millrace {

struct Gate {  // restricts an access to the iterations where loop `loop` is in [low, high)
    int loop;
    i64 low, high;
};

struct Access {
    int fifo;
    std::vector<Gate> gates;
};

// The inner loops are one list of segments, in each of which the same accesses are made in every iteration. It takes in a
// loop as long as no segment comes more often by that: a sum that is written in the last iteration of three loops is two
// segments. Around it, neighbouring loops that no gate tells apart are one.
class Walk {
public:
    struct Segment {
        i64 length;
        u64 mask;  // accesses, a bit each
    };
    std::vector<i64> trips;   // of the outer loops, outermost first, and at last the length of all segments
    std::vector<i64> inside;  // iterations inside one iteration of each
    std::vector<std::vector<i64>> borders;  // where the accesses may change, of each; its trip count is the last one
    std::vector<Access> accesses;           // gates by outer loops alone
    std::vector<Segment> segments;
    i64 total = 1;

    void build(const std::vector<i64>& loops, const std::vector<Access>& all) {
        accesses = all;
        trips = loops;
        segments = {{1, all_bits()}};
        while (!trips.empty() && unroll_innermost()) {}
        for (bool merged = true; merged;) merged = merge_neighbours();
        i64 length = 0;
        for (const Segment& segment : segments) length += segment.length;
        borders.clear();
        for (std::size_t k = 0; k < trips.size(); ++k) borders.push_back(regions(static_cast<int>(k)));
        borders.emplace_back();
        i64 end = 0;
        for (const Segment& segment : segments) borders.back().push_back(end += segment.length);
        trips.push_back(length);
        inside.assign(trips.size(), 1);
        for (std::size_t k = trips.size() - 1; k-- > 0;) inside[k] = inside[k + 1] * trips[k + 1];
        total = inside[0] * trips[0];
    }

    // Whether the part between two places can follow once more: it is made of whole iterations of some loop, and the
    // accesses in all of them are the same. The next iteration was looked at too, whether it can be made or not.
    bool is_even(i64 before, i64 now) const {
        if (before == now) return true;
        const std::size_t k = loop_of(now - before);
        const i64 from = before / inside[k] % trips[k];
        return from + (now - before) / inside[k] < border_behind(k, from);
    }

    // How often a part of `length` iterations that was walked evenly from `before` can be walked from `now`.
    i64 repeats(i64 before, i64 now, i64 length) const {
        if (now >= total) return 0;
        const std::size_t k = loop_of(length);
        if ((now - before) % inside[k] || open_in(k, before) != open_in(k, now)) return 0;
        const i64 from = now / inside[k] % trips[k];
        return (border_behind(k, from) - 1 - from) / (length / inside[k]);
    }

private:
    // The outermost loop that a part consists of whole iterations of.
    std::size_t loop_of(i64 length) const {
        std::size_t k = 0;
        while (length % inside[k]) ++k;
        return k;
    }

    i64 border_behind(std::size_t k, i64 from) const {
        return *std::upper_bound(borders[k].begin(), borders[k].end(), from);
    }

    // Accesses that loop `k` and those outside it let through at a place.
    u64 open_in(std::size_t k, i64 place) const {
        u64 mask = all_bits();
        for (std::size_t loop = 0; loop <= k && loop + 1 < trips.size(); ++loop)
            mask &= open_at(static_cast<int>(loop), place / inside[loop] % trips[loop]);
        if (k + 1 < trips.size()) return mask;
        i64 within = place % trips.back();
        std::size_t segment = 0;
        while (within >= segments[segment].length) within -= segments[segment++].length;
        return mask & segments[segment].mask;
    }

    u64 all_bits() const { return accesses.size() == 64 ? ~u64{0} : (u64{1} << accesses.size()) - 1; }

    // Accesses that no gate of loop `loop` keeps from index `index`.
    u64 open_at(int loop, i64 index) const {
        u64 mask = 0;
        for (std::size_t a = 0; a < accesses.size(); ++a)
            if (std::none_of(accesses[a].gates.begin(), accesses[a].gates.end(), [&](const Gate& gate) {
                    return gate.loop == loop && (index < gate.low || index >= gate.high);
                }))
                mask |= u64{1} << a;
        return mask;
    }

    // Ends of the parts of a loop in which its gates say the same.
    std::vector<i64> regions(int loop) const {
        std::vector<i64> ends{trips[static_cast<std::size_t>(loop)]};
        for (const Access& access : accesses)
            for (const Gate& gate : access.gates)
                if (gate.loop == loop)
                    for (i64 end : {gate.low, gate.high})
                        if (end > 0 && end < trips[static_cast<std::size_t>(loop)]) ends.push_back(end);
        std::sort(ends.begin(), ends.end());
        ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
        return ends;
    }

    static constexpr std::size_t MOST_SEGMENTS = 4096;  // what many gates leave of each other may be more than memory holds

    bool unroll_innermost() {
        const int loop = static_cast<int>(trips.size()) - 1;
        std::vector<Segment> all;
        i64 from = 0;
        for (i64 to : regions(loop)) {
            std::vector<Segment> once;
            for (const Segment& segment : segments) append(once, {segment.length, segment.mask & open_at(loop, from)});
            if (once.size() > 1 && to - from > 1) return false;
            for (const Segment& segment : once) append(all, {segment.length * (to - from), segment.mask});
            from = to;
        }
        if (all.size() > MOST_SEGMENTS) return false;
        segments = all;
        trips.pop_back();
        for (Access& access : accesses)
            access.gates.erase(std::remove_if(access.gates.begin(), access.gates.end(),
                                              [&](const Gate& gate) { return gate.loop == loop; }),
                               access.gates.end());
        return true;
    }

    static void append(std::vector<Segment>& to, Segment segment) {
        if (!to.empty() && to.back().mask == segment.mask)
            to.back().length += segment.length;
        else
            to.push_back(segment);
    }

    bool merge_neighbours() {
        for (std::size_t k = 0; k + 1 < trips.size(); ++k)
            if (regions(static_cast<int>(k) + 1).size() == 1) {
                merge(static_cast<int>(k));
                return true;
            }
        return false;
    }

    // Loop k + 1, whose iterations are all alike, becomes a part of loop k.
    void merge(int k) {
        const i64 inner = trips[static_cast<std::size_t>(k) + 1];
        trips[static_cast<std::size_t>(k)] *= inner;
        trips.erase(trips.begin() + k + 1);
        for (Access& access : accesses) {
            access.gates.erase(std::remove_if(access.gates.begin(), access.gates.end(),
                                              [&](const Gate& gate) { return gate.loop == k + 1; }),
                               access.gates.end());
            for (Gate& gate : access.gates) {
                if (gate.loop == k) {
                    gate.low *= inner;
                    gate.high *= inner;
                } else if (gate.loop > k) {
                    --gate.loop;
                }
            }
        }
    }
};

// A place in a walk: the segment it is in, what is left of it, and the accesses that are made there.
class Cursor {
public:
    i64 index = 0;  // iterations passed
    i64 left = 0;   // of the segment
    u64 mask = 0;   // accesses of the segment
    const int* fifos = nullptr;  // of these accesses
    int count = 0;

    void start(const Walk& walk) {
        walk_ = &walk;
        at_.assign(walk.trips.size(), 0);
        active_.resize(walk.accesses.size() + 1);
        fifos = active_.data();
        go(0);
    }

    void go(i64 to) {
        index = to;
        if (to >= walk_->total) return stop();
        for (std::size_t k = 0; k < at_.size(); ++k) at_[k] = to / walk_->inside[k] % walk_->trips[k];
        look_outside();
        i64 within = at_.back();
        for (segment_ = 0; within >= walk_->segments[segment_].length; ++segment_)
            within -= walk_->segments[segment_].length;
        enter();
        left -= within;
    }

    void pass(i64 iterations) {
        index += iterations;
        left -= iterations;
        if (left == 0) next();
    }

    // What of the place must recur where the walk does, if it passes `iterations` at a time: all of it where that is more
    // than the list of segments, else the segment.
    i64 phase(i64 iterations) const {
        const i64 length = walk_->trips.back();
        return iterations >= length ? index % length : static_cast<i64>(segment_);
    }

private:
    const Walk* walk_ = nullptr;
    std::size_t segment_ = 0;
    u64 outer_ = 0;  // accesses that the outer loops let through
    std::vector<i64> at_;
    std::vector<int> active_;

    void stop() {
        left = NEVER;
        mask = 0;
        count = 0;
    }

    void look_outside() {
        outer_ = 0;
        for (std::size_t a = 0; a < walk_->accesses.size(); ++a) {
            bool open = true;
            for (const Gate& gate : walk_->accesses[a].gates) {
                const i64 i = at_[static_cast<std::size_t>(gate.loop)];
                open &= i >= gate.low && i < gate.high;
            }
            if (open) outer_ |= u64{1} << a;
        }
    }

    void enter() {
        left = walk_->segments[segment_].length;
        const u64 wanted = outer_ & walk_->segments[segment_].mask;
        if (wanted == mask && count > 0) return;
        mask = wanted;
        count = 0;
        for (u64 rest = mask; rest; rest &= rest - 1)
            active_[static_cast<std::size_t>(count++)] =
                walk_->accesses[static_cast<std::size_t>(__builtin_ctzll(rest))].fifo;
    }

    void next() {
        if (index >= walk_->total) return stop();
        if (++segment_ == walk_->segments.size()) {
            segment_ = 0;
            for (std::size_t k = walk_->trips.size() - 1; k-- > 0;) {
                if (++at_[k] < walk_->trips[k]) break;
                at_[k] = 0;
            }
            look_outside();
        }
        enter();
    }
};

}  // namespace millrace
