// When tasks run that take turns, nest by nest (turns.py says how), and tasks of one nest each, in order (schedule.py).
#pragma once

#include <deque>

#include "nest_run.h"

namespace millrace {

constexpr double grain = 64.0;  // of a cycle: rounds of equal length are then equal numbers

constexpr double evenness = 0.001;  // by how much of their length two rounds that are called equal may differ

inline double since(double base, double cycle) { return std::nearbyint((cycle - base) * grain) / grain; }

// Tokens of a stream that have been written and not yet read: how many, and when they came.
class Queue {
  public:
    Int held = 0;

    void put(Int count, const Arrival& arrival) {
        pieces_.push_back({count, arrival});
        held += count;
    }

    // When the next `count` tokens came.
    Arrival take(Int count) {
        held -= count;
        std::vector<Piece> parts;
        while (count > 0) {
            Piece& piece = pieces_.front();
            const Int some = std::min(count, piece.count);
            if (piece.count == some) {
                parts.push_back(piece);
                pieces_.pop_front();
            } else {
                parts.push_back({some, part(piece, 0, some)});
                piece = {piece.count - some, part(piece, some, piece.count)};
            }
            count -= some;
        }
        return parts.size() == 1 ? parts[0].arrival : joined(parts);
    }

  private:
    struct Piece {
        Int count;
        Arrival arrival;
    };

    // Of tokens `begin` to `end` (from 0) of a piece.
    static Arrival part(const Piece& piece, Int begin, Int end) {
        const Arrival& whole = piece.arrival;
        Arrival found{whole.at(begin + 1, piece.count), whole.at(end, piece.count), 0, {}};
        for (int k = 0; k < whole.knees; ++k)
            if (begin < whole.knee[k].number - 1 && whole.knee[k].number < end)
                found.add({whole.knee[k].number - begin, whole.knee[k].cycle});
        return found;
    }

    // Of all parts together, with the knees that are farthest from an even pace.
    static Arrival joined(const std::vector<Piece>& parts) {
        std::vector<Knee> knees;
        Int before = 0;
        for (const Piece& one : parts) {
            if (before > 0) knees.push_back({before + 1, one.arrival.first});
            for (int k = 0; k < one.arrival.knees; ++k)
                knees.push_back({before + one.arrival.knee[k].number, one.arrival.knee[k].cycle});
            before += one.count;
            knees.push_back({before, one.arrival.last});
        }
        return bent(parts.front().arrival.first, parts.back().arrival.last, knees, before);
    }

    std::deque<Piece> pieces_;
};

// A nest, the streams of its passages, and those that it takes from queues, with their tokens.
struct Nest {
    Step step;
    std::vector<Int> reads, writes;
    std::vector<std::pair<Int, Int>> waits;
    double busy;
};

enum class Paced : Int { no, load, store };

// A task between its nests.
struct Clock {
    Int gap, ii, depth;
    Paced paced;  // by memory, since it has credits
    bool stores;  // its last word is in memory some time after it was moved
    Int iterations;
    double moves;
    std::vector<Nest> nests;
    const Int *order, *ends;  // numbers of nests, and whether a round ends with each
    Int length, next = 0;
    bool started = false;
    double start = 0.0, free = 0.0, end = 0.0, busy = 0.0;
    Int rounds = 0;
    double before = 0.0, middle = 0.0, last = 0.0;  // ends of the last three

    // Whether the last two rounds took equally long.
    bool is_even() const {
        if (rounds < 3) return rounds == 0;
        return std::fabs((last - middle) - (middle - before)) <= evenness * (last - middle);
    }
};

// A stream that comes from HBM: cycles from one token to the next, streams that the same load brings behind it, and the
// tasks that pass on its tokens.
struct Source {
    Int ahead = 0;  // tokens that are on their way in front of the FIFO of their reader while that stalls
    double each = 0.0;
    std::vector<Int> behind{}, carriers{};
};

enum class Outcome : Int { stuck, uneven, even };

class Walk {
  public:
    // Descriptions as turns.py makes them, and of each stream its depth and the tokens that it begins with.
    Walk(Reader words, Numbers numbers, const Int* streams, Reader orders) : streams_(streams) {
        response_ = double(words.next());
        queues_.resize(words.ahead());
        source_.resize(words.ahead(), -1);
        given_.resize(words.next(), 0.0);
        for (Queue& queue : queues_) {
            if (streams[1] > 0) queue.put(streams[1], {});
            streams += 2;
        }
        carried_.resize(words.next());
        for (Int n = words.next(); n > 0; --n) read_source(words, numbers);
        for (Int n = words.next(); n > 0; --n) clocks_.push_back(read_clock(words, numbers, orders));
    }

    // Where some task needs, within one nest, what it makes in it, it is stuck.
    Outcome go() {
        std::vector<Clock*> waiting;
        for (Clock& clock : clocks_) waiting.push_back(&clock);
        const auto ended = [](const Clock* clock) { return clock->next == clock->length; };
        for (;;) {
            waiting.erase(std::remove_if(waiting.begin(), waiting.end(), ended), waiting.end());
            if (waiting.empty()) break;
            bool moved = false;
            for (Clock* clock : waiting)
                for (; !ended(clock) && has_all(following(*clock)); moved = true) run(*clock);
            if (!moved) return Outcome::stuck;
        }
        const bool even = std::all_of(clocks_.begin(), clocks_.end(), [](const Clock& one) { return one.is_even(); });
        return even ? Outcome::even : Outcome::uneven;
    }

    // Start, end, cycles that it is busy, nests, or rounds where all has ended, and their period of each task; whether
    // the end of each carrier is known, and that; and the tokens that each stream holds.
    void tell(bool stuck, double* of_runs, double* of_carriers, Int* held) const {
        for (const Clock& clock : clocks_)
            for (const double one :
                 {clock.start, clock.end, clock.busy, double(stuck ? clock.next : clock.rounds),
                  clock.last - clock.middle})
                *of_runs++ = one;
        for (const End& one : carried_) {
            *of_carriers++ = one.held_up;
            *of_carriers++ = one.cycle;
        }
        for (const Queue& queue : queues_) *held++ = queue.held;
    }

  private:
    void read_source(Reader& words, Numbers& numbers) {
        const Int stream = words.next();
        given_[stream] = numbers.next();
        source_[stream] = Int(sources_.size());
        sources_.push_back({words.next(), numbers.next()});
        for (auto* list : {&sources_.back().behind, &sources_.back().carriers})
            for (Int n = words.next(); n > 0; --n) list->push_back(words.next());
    }

    Clock read_clock(Reader& words, Numbers& numbers, Reader& orders) const {
        const Int count = words.next(), *streams = words.skip(count);
        Clock found{words.next(), words.next(), words.next(), Paced(words.next()), words.next() != 0, words.next(),
                    numbers.next(), {}, {}, {}, 0};
        found.nests.reserve(words.ahead());
        for (Int n = words.next(); n > 0; --n) found.nests.push_back(read_nest(words, streams, found));
        found.length = orders.next();
        found.order = orders.skip(found.length);
        found.ends = orders.skip(found.length);
        return found;
    }

    Nest read_nest(Reader& words, const Int* streams, const Clock& clock) const {
        Nest found{Step::read(words), {}, {}, {}, 0.0};
        Step& step = found.step;
        for (std::size_t n = 0; n < step.reads.size(); ++n) found.reads.push_back(streams[words.next()]);
        for (std::size_t n = 0; n < step.writes.size(); ++n) found.writes.push_back(streams[words.next()]);
        for (Int number = 0; number < Int(step.reads.size()); ++number) {
            const Int stream = found.reads[number], count = step.reads[number].tokens;
            if (source_[stream] < 0) {
                found.waits.push_back({stream, count});
                continue;
            }
            const Source& source = sources_[source_[stream]];
            step.loaded.push_back({number, streams_[2 * stream] + source.ahead, double(count) * source.each});
        }
        found.busy = clock.paced == Paced::no ? double(step.iterations * clock.ii)
                                              : clock.moves * double(step.iterations) / double(clock.iterations);
        return found;
    }

    static const Nest& following(const Clock& clock) { return clock.nests[clock.order[clock.next]]; }

    bool has_all(const Nest& nest) const {
        for (const auto& [stream, count] : nest.waits)
            if (queues_[stream].held < count) return false;
        return true;
    }

    Arrival arrival(Int stream, Int count, double base) {
        if (source_[stream] < 0)
            return queues_[stream].take(count).with([base](double cycle) { return since(base, cycle); });
        const double last = given_[stream], each = sources_[source_[stream]].each;
        return {since(base, last + each), since(base, last + double(count) * each), 0, {}};
    }

    void run(Clock& clock) {
        const Nest& nest = following(clock);
        const double base = clock.free;
        std::vector<Arrival> arrivals;
        for (std::size_t n = 0; n < nest.step.reads.size(); ++n)
            arrivals.push_back(arrival(nest.reads[n], nest.step.reads[n].tokens, base));
        Result result = ran(nest.step, arrivals);
        if (clock.paced != Paced::no) pace(result, clock, nest.busy);
        for (std::size_t n = 0; n < result.ends.size(); ++n) {
            const Int number = nest.step.loaded[n].number, stream = nest.reads[number];
            const End& end = result.ends[n];
            note(stream, base + (end.held_up ? end.cycle : arrivals[number].last));
        }
        for (std::size_t n = 0; n < result.pushed.size(); ++n) {
            const auto later = [base](double cycle) { return cycle + base; };
            queues_[nest.writes[n]].put(nest.step.writes[n].tokens, result.pushed[n].with(later));
        }
        if (!clock.started) clock.start = base + result.start;
        clock.started = true;
        clock.end = base + result.end;
        clock.free = clock.end + double(clock.gap);
        if (clock.ends[clock.next++]) {
            ++clock.rounds;
            clock.before = clock.middle;
            clock.middle = clock.last;
            clock.last = clock.end;
        }
        clock.busy += nest.busy;
        if (clock.stores && clock.next == clock.length) {
            clock.busy = clock.moves;
            clock.end = std::max(clock.end, clock.start + clock.busy) + response_;
        }
    }

    // A load or store with credits at the pace of memory: nothing of it waits in an adapter for the next.
    static void pace(Result& run, const Clock& clock, double busy) {
        const double late = std::max(0.0, run.start + busy + double(clock.depth) - run.end);
        const double first = clock.paced == Paced::load ? 0.0 : late;  // a credit comes behind the last word
        run.end += late;
        for (Arrival& one : run.pushed) one = {one.first + first, one.last + late, 0, {}};
    }

    // The last tokens so far of a stream that comes from HBM.
    void note(Int stream, double last) {
        const Source& source = sources_[source_[stream]];
        for (const Int other : source.behind) given_[other] = std::max(given_[other], last);
        given_[stream] = last;
        for (const Int task : source.carriers) carried_[task] = {true, last};
    }

    const Int* streams_;
    double response_;
    std::vector<Queue> queues_;
    std::vector<Int> source_;  // by stream, or -1
    std::vector<Source> sources_;
    std::vector<double> given_;  // the last tokens so far
    std::vector<End> carried_;
    std::vector<Clock> clocks_;
};

// Tasks of one nest each, in topological order. `times`: start and end of each task; `arrivals`: of each stream, first
// and last token of those that come from HBM.
inline void walk_in_order(Reader words, Numbers numbers, const Int* depths, double* times, const double* loaded) {
    std::vector<Arrival> arrivals(words.next());
    for (Int n = words.next(); n > 0; --n) {
        const Int stream = words.next();
        arrivals[stream] = {loaded[0], loaded[1], 0, {}};
        loaded += 2;
    }
    for (Int left = words.next(); left > 0; --left) {
        double* time = times + 2 * words.next();
        Step step = Step::read(words);
        step.drain = words.next();
        step.busy = numbers.next();
        const Int *reads = words.skip(step.reads.size()), *writes = words.skip(step.writes.size());
        std::vector<std::vector<double*>> ends;
        for (Int n = words.next(); n > 0; --n) {
            const Int number = words.next();
            step.loaded.push_back({number, depths[reads[number]] + words.next(), numbers.next()});
            ends.emplace_back();
            for (Int k = words.next(); k > 0; --k) ends.back().push_back(times + 2 * words.next() + 1);
        }
        std::vector<Arrival> came;
        for (std::size_t n = 0; n < step.reads.size(); ++n) came.push_back(arrivals[reads[n]]);
        const Result run = ran(step, came);
        time[0] = run.start;
        time[1] = run.end;
        for (std::size_t n = 0; n < ends.size(); ++n)
            if (run.ends[n].held_up)
                for (double* end : ends[n]) *end = run.ends[n].cycle;
        for (std::size_t n = 0; n < step.writes.size(); ++n) arrivals[writes[n]] = run.pushed[n];
    }
}

}  // namespace millrace
