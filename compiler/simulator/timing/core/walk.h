// A program as one side of a process sees it, its reads or its writes, and a place in it.
//
// It is a graph of parts. A part is a single iteration, of which only matters which FIFOs it uses, or a sequence of items:
// each a part, so many times. Equal parts are one part, wherever they stand, so that a long program with many gates stays
// small, and "the same again" is a comparison of addresses.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
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

struct Nest {
    std::vector<i64> trips;
    std::size_t restarts = 0;
    std::vector<Access> reads, writes;
};

struct Step {  // of a program: a nest, or `body` so many times
    i64 times = 0;
    Nest nest;
    std::vector<Step> body;
    bool is_nest = true;
};

constexpr i64 NO_RUN = -1;

// See above. A run of the pipeline is a part of its own where the pipeline knows runs.
struct Part {
    struct Item {
        const Part* part;
        i64 times;
        i64 begin;  // iterations before it in the sequence
    };
    int number = 0;
    i64 length = 0;
    i64 idle = NO_RUN;       // of a run: the runs of no iterations before it
    std::vector<int> fifos;  // of a single iteration
    std::vector<Item> items;  // none: it is a single iteration

    bool is_single() const { return items.empty(); }

    const Item& item_at(i64 offset) const {
        const auto behind = std::upper_bound(items.begin(), items.end(), offset,
                                             [](i64 wanted, const Item& item) { return wanted < item.begin; });
        return *(behind - 1);
    }
};

class Walk {
public:
    i64 total = 0;

    Walk() = default;
    Walk(Walk&&) = default;  // parts stay where they are

    // With `has_runs` the ends of runs are kept, and what was no run but for its gap. False where there is no `room` for
    // more parts; they are taken from it.
    template <class Side>
    bool build(const std::vector<Step>& program, Side accesses, bool has_runs, i64& room) {
        has_runs_ = has_runs;
        room_ = room;
        const Piece all = pieces(program, accesses);
        root_ = all.items.empty() ? nullptr : preceded(sequence(all.items), all.lead);
        if (root_ && root_->is_single()) root_ = of_items(all.items, NO_RUN);
        total = root_ ? root_->length : 0;
        known_.clear();
        room = room_;
        return room > 0;
    }

    const Part* root() const { return root_; }

    // Of one that was built with runs.
    bool has_several_runs() const { return root_ && root_->idle == NO_RUN; }

private:
    using Item = Part::Item;
    using List = std::vector<Item>;
    using Key = std::vector<i64>;

    struct Piece {
        List items;
        i64 lead = 0, trail = 0;  // runs of no iterations before and behind all others; before, if there are no others
    };
    static constexpr std::size_t MOST_TO_COPY = 4096;  // items of a sequence that becomes a part of another

    std::deque<Part> parts_;
    std::map<Key, const Part*> known_;
    const Part* root_ = nullptr;
    bool has_runs_ = false;
    i64 room_ = 0;

    // ---- equal parts are one ----

    const Part* part(Part made, Key key) {
        const auto [place, is_new] = known_.try_emplace(std::move(key), nullptr);
        if (!is_new) return place->second;
        room_ -= 1 + static_cast<i64>(made.items.size());
        for (Item& item : made.items) {
            item.begin = made.length;
            made.length += item.times * item.part->length;
        }
        made.number = static_cast<int>(parts_.size());
        parts_.push_back(std::move(made));
        return place->second = &parts_.back();
    }

    const Part* single(const std::vector<int>& fifos) {
        Part made;
        made.length = 1;
        made.fifos = fifos;
        Key key{-2};
        key.insert(key.end(), fifos.begin(), fifos.end());
        return part(std::move(made), std::move(key));
    }

    // A run of these items, or what they are.
    const Part* sequence(const List& items, i64 idle = NO_RUN) {
        const bool is_part = idle == NO_RUN && items.size() == 1 && items.front().times == 1;
        return is_part ? items.front().part : of_items(items, idle);
    }

    const Part* of_items(const List& items, i64 idle) {
        Part made;
        made.idle = idle;
        made.items = items;
        Key key{idle};
        for (const Item& item : items) key.insert(key.end(), {item.part->number, item.times});
        return part(std::move(made), std::move(key));
    }

    // What is not a run of its own has no ends: it becomes a part of what it stands in, if it comes once or is even.
    static void append(List& to, const Part* part, i64 times) {
        if (times == 0) return;
        const bool is_even = part->items.size() == 1;
        const bool copied = !part->is_single() && part->idle == NO_RUN &&
                            (is_even || (times == 1 && to.size() + part->items.size() <= MOST_TO_COPY));
        if (copied)
            for (const Item& item : part->items) append_item(to, item.part, item.times * times);
        else
            append_item(to, part, times);
    }

    static void append_item(List& to, const Part* part, i64 times) {
        if (!to.empty() && to.back().part == part)
            to.back().times += times;
        else
            to.push_back({part, times, 0});
    }

    // The part with more runs of no iterations before it.
    const Part* preceded(const Part* part, i64 idle) {
        if (idle == 0 || !has_runs_) return part;
        if (part->idle != NO_RUN) return sequence(part->items, part->idle + idle);
        List items;
        const Item& first = part->items.front();
        append(items, preceded(first.part, idle), 1);
        if (first.times > 1) append(items, first.part, first.times - 1);
        for (std::size_t i = 1; i < part->items.size(); ++i) append(items, part->items[i].part, part->items[i].times);
        return sequence(items);
    }

    // ---- programs ----

    template <class Side>
    Piece pieces(const std::vector<Step>& program, Side accesses) {
        Piece all;
        for (const Step& step : program)
            add(all, step.is_nest ? piece(step.nest, step.nest.*accesses) : repeated(pieces(step.body, accesses), step.times));
        return all;
    }

    void add(Piece& to, const Piece& next) {
        i64& pending = to.items.empty() ? to.lead : to.trail;
        if (next.items.empty()) {
            pending += next.lead;
            return;
        }
        const i64 idle = to.items.empty() ? 0 : pending + next.lead;
        if (to.items.empty()) pending += next.lead;
        append(to.items, preceded(sequence(next.items), idle), 1);
        to.trail = next.trail;
    }

    Piece repeated(const Piece& body, i64 times) {
        Piece all;
        if (times == 0) return all;
        all.lead = body.items.empty() ? times * body.lead : body.lead;
        all.trail = body.trail;
        if (body.items.empty()) return all;
        const Part* once = sequence(body.items);
        const Part* again = preceded(once, body.lead + body.trail);
        if (again != once) append(all.items, once, 1);
        append(all.items, again, again != once ? times - 1 : times);
        return all;
    }

    // ---- nests ----

    Piece piece(const Nest& nest, const std::vector<Access>& accesses) {
        Piece all;
        i64 runs = 1, length = 1;
        for (std::size_t k = 0; k < nest.trips.size(); ++k) (k < nest.restarts ? runs : length) *= nest.trips[k];
        if (runs == 0 || length == 0) {
            all.lead = runs;
            return all;
        }
        std::map<std::pair<std::size_t, u64>, const Part*> made;
        const u64 open = accesses.size() == 64 ? ~u64{0} : (u64{1} << accesses.size()) - 1;
        append(all.items, loops(nest, accesses, 0, open, made), 1);
        return all;
    }

    // Loop `k` and those inside, with the accesses that those outside let through.
    const Part* loops(const Nest& nest, const std::vector<Access>& accesses, std::size_t k, u64 open,
                      std::map<std::pair<std::size_t, u64>, const Part*>& made) {
        const auto [place, is_new] = made.try_emplace({k, open}, nullptr);
        if (!is_new) return place->second;
        List items;
        if (k == nest.trips.size() || room_ <= 0) {
            std::vector<int> fifos;
            for (std::size_t a = 0; a < accesses.size(); ++a)
                if (open >> a & 1) fifos.push_back(accesses[a].fifo);
            append(items, single(fifos), 1);
        } else {
            i64 from = 0;
            for (i64 to : regions(accesses, open, static_cast<int>(k), nest.trips[k])) {
                const u64 here = open & open_at(accesses, static_cast<int>(k), from);
                append(items, loops(nest, accesses, k + 1, here, made), to - from);
                from = to;
            }
        }
        return place->second = sequence(items, has_runs_ && k == nest.restarts ? 0 : NO_RUN);
    }

    // Accesses that no gate of a loop keeps from index `index`.
    static u64 open_at(const std::vector<Access>& accesses, int loop, i64 index) {
        u64 mask = 0;
        for (std::size_t a = 0; a < accesses.size(); ++a)
            if (std::none_of(accesses[a].gates.begin(), accesses[a].gates.end(), [&](const Gate& gate) {
                    return gate.loop == loop && (index < gate.low || index >= gate.high);
                }))
                mask |= u64{1} << a;
        return mask;
    }

    // Ends of the parts of a loop in which the gates of the open accesses say the same.
    static std::vector<i64> regions(const std::vector<Access>& accesses, u64 open, int loop, i64 trip) {
        std::vector<i64> ends{trip};
        for (std::size_t a = 0; a < accesses.size(); ++a)
            for (const Gate& gate : accesses[a].gates)
                if ((open >> a & 1) && gate.loop == loop)
                    for (i64 end : {gate.low, gate.high})
                        if (end > 0 && end < trip) ends.push_back(end);
        std::sort(ends.begin(), ends.end());
        ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
        return ends;
    }
};

// What an iteration is where it is the next one: its accesses, and how its run begins if it is the first one of it.
struct Next {
    const Part* single;
    i64 idle;

    bool operator==(const Next& other) const { return single == other.single && idle == other.idle; }
};

// A place in a walk: what is left of the iterations with equal accesses, these, and the run that it is in.
class Cursor {
public:
    i64 index = 0;  // iterations passed
    i64 left = 0;   // that make the same accesses, one after the other
    const int* fifos = nullptr;  // of these accesses
    int count = 0;
    i64 run_begin = 0, idle = 0;  // of its run: its first iteration, the runs of no iterations before it

    void start(const Walk& walk) {
        walk_ = &walk;
        go(0);
    }

    __attribute__((noinline)) void go(i64 to) {
        index = to;
        path_.clear();
        if (to >= walk_->total) return stop();
        descend(walk_->root(), 0);
    }

    void pass(i64 iterations) {
        index += iterations;
        left -= iterations;
        if (left == 0) next();
    }

    bool begins_run() const { return index == run_begin; }

    Next ahead() const { return {path_.empty() ? nullptr : item(path_.back()).part, begins_run() ? idle : NO_RUN}; }

    // What of the place must recur where the walk does, if it passes `iterations` at a time: all of it where that is more
    // than the innermost sequence, else the accesses.
    i64 phase(i64 iterations) const {
        if (path_.empty()) return -1;
        const Place& inner = path_.back();
        if (iterations >= inner.part->length) return index - inner.begin;
        return -2 - item(inner).part->number;
    }

    // What the way from `before` consists of, which is no later: whole iterations of a part that can follow once more, since
    // the next one was looked at too. None if there is no such part.
    const Part* walked_from(i64 before) const {
        for (const Place& place : path_) {
            const Part::Item& at = item(place);
            const i64 begin = place.begin + at.begin, passed = iteration(place);
            if (before < begin) return nullptr;
            if ((before - begin) / at.part->length == passed) continue;
            return (index - before) % at.part->length ? nullptr : at.part;
        }
        return nullptr;
    }

    // Iterations of `part` that are over; -1 where the place is not in it.
    i64 offset_in(const Part* part) const {
        for (const Place& place : path_)
            if (item(place).part == part) return (index - place.begin - item(place).begin) % part->length;
        return -1;
    }

    // How often a way of so many iterations that consisted of whole ones of `part`, from `offset` in it, can follow.
    i64 repeats(const Part* part, i64 offset, i64 iterations) const {
        for (const Place& place : path_) {
            const Part::Item& at = item(place);
            if (at.part != part) continue;
            const i64 passed = iteration(place);
            if (index - place.begin - at.begin - passed * part->length != offset) return 0;
            return (at.times - 1 - passed) / (iterations / part->length);
        }
        return 0;
    }

private:
    struct Place {
        const Part* part;  // a sequence
        std::size_t item;  // of it
        i64 begin;         // index of its first iteration
    };
    const Walk* walk_ = nullptr;
    std::vector<Place> path_;  // outermost first; the item of the last one is a single iteration

    static const Part::Item& item(const Place& place) { return place.part->items[place.item]; }

    // How often the item is over.
    i64 iteration(const Place& place) const {
        const Part::Item& at = item(place);
        return (index - place.begin - at.begin) / at.part->length;
    }

    void stop() {
        left = NEVER;
        fifos = nullptr;
        count = 0;
        run_begin = -1;
    }

    // To `index`, from a part that begins at index `begin`.
    void descend(const Part* part, i64 begin) {
        while (true) {
            if (part->idle != NO_RUN) {
                run_begin = begin;
                idle = part->idle;
            }
            const Part::Item& at = part->item_at(index - begin);
            path_.push_back({part, static_cast<std::size_t>(&at - part->items.data()), begin});
            if (at.part->is_single()) return enter(at);
            const i64 inside = index - begin - at.begin;
            begin += at.begin + inside / at.part->length * at.part->length;
            part = at.part;
        }
    }

    void enter(const Part::Item& at) {
        left = at.begin + at.times - (index - path_.back().begin);
        fifos = at.part->fifos.data();
        count = static_cast<int>(at.part->fifos.size());
    }

    // Not in line: most of what is simulated goes on in loops where nothing ends.
    __attribute__((noinline)) void next() {
        while (!path_.empty()) {
            Place& place = path_.back();
            const i64 offset = index - place.begin;
            if (offset < place.part->length) {
                if (offset == item(place).begin + item(place).times * item(place).part->length) ++place.item;
                const Part::Item& at = item(place);
                if (at.part->is_single()) return enter(at);
                return descend(at.part, index);
            }
            path_.pop_back();
        }
        stop();
    }
};

}  // namespace millrace
