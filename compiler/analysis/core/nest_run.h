// One nest of a task in time, from what arrives to what it pushes, without simulating it (nest_run.py says how).
#pragma once

#include <algorithm>

#include "arrival.h"
#include "reader.h"

namespace millrace {

// Iterations that move a token of a stream (compiler/graph/passage.py).
struct Passage {
    Int first, last, tokens, digits;
    const Int* digit;  // of each: trip, low, moving; innermost first

    static Passage read(Reader& words) {
        Passage found{words.next(), words.next(), words.next(), words.next(), nullptr};
        found.digit = words.skip(3 * found.digits);
        return found;
    }

    // Tokens moved in iterations 0 .. `iteration`, both included.
    Int until(Int iteration) const {
        if (digits == 0) return iteration + 1;
        Int count = 1, admitted = 1;  // of the loops inside: up to where they are, and in all
        for (const Int* one = digit; one != digit + 3 * digits; one += 3) {
            const Int trip = one[0], low = one[1], moving = one[2], index = iteration % trip;
            iteration /= trip;
            if (index < low)
                count = 0;
            else if (index < low + moving)
                count += (index - low) * admitted;
            else
                count = moving * admitted;
            admitted *= moving;
        }
        return count;
    }

    // The iteration that moves token number `token` (from 0).
    Int iteration_of(Int token) const {
        if (digits == 0) return token;
        Int iteration = 0, stride = 1;
        for (const Int* one = digit; one != digit + 3 * digits; one += 3) {
            iteration += (one[1] + token % one[2]) * stride;
            token /= one[2];
            stride *= one[0];
        }
        return iteration;
    }
};

constexpr Int no_drain = -1;

// Input `number` comes from HBM, by a load that takes `busy` cycles for it where nobody holds it up; FIFO and adapters
// in front of the nest hold `stock` tokens.
struct Loaded {
    Int number, stock;
    double busy;
};

// What of a nest's run no other task and no FIFO changes, but for what it loads.
struct Step {
    Int ii, depth, iterations, latency;
    std::vector<Passage> reads, writes;
    Int drain = no_drain;  // cycles from the last word that a store moves until it is in memory
    double busy = 0.0;
    std::vector<Loaded> loaded;

    static Step read(Reader& words) {
        Step found{words.next(), words.next(), words.next(), words.next(), {}, {}, no_drain, 0.0, {}};
        for (auto* side : {&found.reads, &found.writes}) {
            side->reserve(words.ahead());
            for (Int n = words.next(); n > 0; --n) side->push_back(Passage::read(words));
        }
        return found;
    }

    bool has_digits() const {
        const auto digits = [](const Passage& one) { return one.digits > 0; };
        return std::any_of(reads.begin(), reads.end(), digits) || std::any_of(writes.begin(), writes.end(), digits);
    }
};

struct End {
    bool held_up = false;
    double cycle = 0.0;
};

// How a nest ran, when each of its outputs came, and for each loaded stream its end where the nest held it up.
struct Result {
    double start = 0.0, end = 0.0;
    std::vector<Arrival> pushed;
    std::vector<End> ends;
};

// A run from what arrives to what it pushes.
class NestRun {
  public:
    NestRun(const Step& step, std::vector<Arrival>& arrivals) : step_(step), arrivals_(arrivals) {
        for (std::size_t n = 0; n < step.reads.size(); ++n) stall(step.reads[n], arrivals[n]);
        for (const Stall& one : stalls_)
            if (one.at == 0 && one.cycle > start_) start_ = one.cycle;
        stalls_.push_back({0, start_});
    }

    Result go() {
        Result found;
        for (const Loaded& one : step_.loaded) found.ends.push_back(held_up(one));
        found.start = start_;
        found.end = std::max(start_ + double(step_.latency), ready(step_.iterations - 1) + double(step_.depth));
        if (step_.drain != no_drain) found.end = std::max(found.end, start_ + step_.busy) + double(step_.drain);
        for (const Passage& write : step_.writes) found.pushed.push_back(pushed(write));
        return found;
    }

  private:
    struct Stall {
        Int at;  // an iteration
        double cycle;  // before which it can not run
    };

    void stall(const Passage& read, const Arrival& arrival) {
        stalls_.push_back({read.first, arrival.first});
        stalls_.push_back({read.last, arrival.last});
        for (int k = 0; k < arrival.knees; ++k)
            stalls_.push_back({read.iteration_of(arrival.knee[k].number - 1), arrival.knee[k].cycle});
    }

    // The cycle in which an iteration can enter.
    double ready(Int iteration) const {
        if (iteration == 0) return start_;
        double found = 0.0;
        for (const Stall& one : stalls_)
            if (one.at <= iteration) found = std::max(found, one.cycle + double((iteration - one.at) * step_.ii));
        for (std::size_t n = 0; n < step_.reads.size(); ++n) {
            const Passage& read = step_.reads[n];
            if (arrivals_[n].last > found && read.first < iteration && iteration < read.last)
                found = std::max(found, arrivals_[n].at(read.until(iteration), read.tokens));
        }
        return found;
    }

    // When the tokens of a stream that the nest writes come out.
    Arrival pushed(const Passage& write) const {
        const double depth = double(step_.depth), first = ready(write.first) + depth;
        const double last = std::max(ready(write.last) + depth, first);
        const double waits = last - first - double((write.last - write.first) * step_.ii);
        std::vector<Int> beside;  // numbers of tokens, from 0
        if (waits > knee_share * (last - first)) beside_stalls(write, beside);
        around_last_burst(write, beside);
        std::sort(beside.begin(), beside.end());
        beside.erase(std::unique(beside.begin(), beside.end()), beside.end());
        std::vector<Knee> near;
        for (const Int token : beside)
            if (0 < token && token < write.tokens)
                near.push_back({token + 1, ready(write.iteration_of(token)) + depth});
        return bent(first, last, near, write.tokens);
    }

    // The last token that is pushed before a stall and the first one behind it.
    void beside_stalls(const Passage& write, std::vector<Int>& found) const {
        for (const Stall& one : stalls_) {
            if (one.at <= write.first || one.at > write.last) continue;
            const Int count = write.until(one.at - 1);
            found.push_back(count);
            found.push_back(count - 1);
        }
    }

    // The token before the last ones that are pushed without a pause, and the first of those: what comes in bursts is
    // late by up to one when the last token is there. None where tokens come one by one.
    static void around_last_burst(const Passage& write, std::vector<Int>& found) {
        Int burst = 1;
        for (const Int* one = write.digit; one != write.digit + 3 * write.digits; one += 3) {
            burst *= one[2];
            if (one[2] < one[0]) break;
        }
        if (burst <= 1 || burst >= write.tokens) return;
        found.push_back(write.tokens - burst);
        found.push_back(write.tokens - burst - 1);
    }

    // A load's stream with the stalls of its reader: at each the load is ahead by at most its stock, and the rest comes
    // at its own rate. Where that is more than are left, tokens of the next nest have come, too: then the last one of
    // this came that much earlier.
    End held_up(const Loaded& one) {
        const Passage& read = step_.reads[one.number];
        Arrival& arrival = arrivals_[one.number];
        const double each = one.busy / double(read.tokens);
        Arrival found = arrival;
        for (const Stall& stall : stalls_) {
            if (stall.at < read.first || stall.at > read.last) continue;
            if (stall.cycle + double(read.tokens - one.stock) * each <= found.last) continue;
            const Int there = one.stock + (stall.at > 0 ? read.until(stall.at - 1) : 0);
            const double end = stall.cycle + double(read.tokens - there) * each;
            if (end <= found.last) continue;
            found = {arrival.first, end, 0, {}};
            if (there < read.tokens) found.add({there, stall.cycle});
        }
        if (found.last <= arrival.last) return {};
        arrival = found;
        stall(read, found);
        return {true, found.last};
    }

    const Step& step_;
    std::vector<Arrival>& arrivals_;  // later where a load was held up
    std::vector<Stall> stalls_;
    double start_ = 0.0;
};

// A nest that reads one stream, of even pace, and writes, in each of its iterations: nothing bends.
inline Result passed_on(const Step& step, const Arrival& arrival) {
    const Int steps = step.iterations - 1;
    Result found;
    found.start = std::max(0.0, steps ? arrival.first : arrival.last);
    const double last = std::max(found.start + double(steps * step.ii), arrival.last);
    found.end = std::max(found.start + double(step.latency), last + double(step.depth));
    if (step.drain != no_drain) found.end = std::max(found.end, found.start + step.busy) + double(step.drain);
    found.pushed.assign(step.writes.size(), {found.start + double(step.depth), last + double(step.depth), 0, {}});
    return found;
}

// The run where the inputs arrive so.
inline Result ran(const Step& step, std::vector<Arrival> arrivals) {
    if (arrivals.size() == 1 && arrivals[0].knees == 0 && step.loaded.empty() && !step.has_digits())
        return passed_on(step, arrivals[0]);
    return NestRun(step, arrivals).go();
}

}  // namespace millrace
