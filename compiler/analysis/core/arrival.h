// When the tokens of a stream come: at an even pace between knees.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace millrace {

using Int = std::int64_t;

// A knee is worth keeping where an even pace would be off by this share of the time between first and last token.
constexpr double knee_share = 0.02;
constexpr int most_knees = 2;  // of a stream: more of them change next to nothing, and take time

// Token `number` (from 1) of a stream is pushed in `cycle`.
struct Knee {
    Int number;
    double cycle;

    bool operator<(const Knee& other) const {
        return number != other.number ? number < other.number : cycle < other.cycle;
    }
};

// Cycles at which the first and the last token of a stream are pushed, and those between where the pace changes.
struct Arrival {
    double first = 0.0, last = 0.0;
    int knees = 0;
    Knee knee[most_knees] = {};

    // When token number `count` (from 1) of `tokens` arrives.
    double at(Int count, Int tokens) const {
        if (count >= tokens) return last;
        Int low = 1, high = tokens;
        double begin = first, end = last;
        for (int k = 0; k < knees; ++k) {
            if (count <= knee[k].number) {
                high = knee[k].number;
                end = knee[k].cycle;
                break;
            }
            low = knee[k].number;
            begin = knee[k].cycle;
        }
        return count > low ? begin + (end - begin) * double(count - low) / double(high - low) : begin;
    }

    void add(Knee more) { knee[knees++] = more; }

    template <class Change>  // of a cycle
    Arrival with(Change change) const {
        Arrival found{change(first), change(last), knees, {}};
        for (int k = 0; k < knees; ++k) found.knee[k] = {knee[k].number, change(knee[k].cycle)};
        return found;
    }
};

// Tokens that come at an even pace, but for the knee of `near` that is farthest from it, and again, where it is worth
// keeping.
inline Arrival bent(double first, double last, const std::vector<Knee>& near, Int tokens) {
    Arrival found{first, last, 0, {}};
    const double least = knee_share * (last - first);
    while (found.knees < most_knees) {
        double most = least;
        const Knee* farthest = nullptr;
        for (const Knee& one : near) {
            if (one.number <= 0 || one.number >= tokens) continue;
            const double bend = std::fabs(one.cycle - found.at(one.number, tokens));
            if (bend > most) {
                most = bend;
                farthest = &one;
            }
        }
        if (farthest == nullptr) break;
        found.add(*farthest);
        for (int k = found.knees - 1; k > 0 && found.knee[k] < found.knee[k - 1]; --k)
            std::swap(found.knee[k], found.knee[k - 1]);
    }
    return found;
}

}  // namespace millrace
