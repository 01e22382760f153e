// Who grows: lanes go where they are worth most (lanes.py says what that is).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "reader.h"

namespace millrace {

using Int = std::int64_t;

constexpr Int steps_ahead = 2;  // some steps alone save nothing: those that only make a chain of additions longer
constexpr Int nobody = -1;

// What is found of a step when somebody comes to it: as `Growth.FOUND` of growth.py has them.
enum Asked : Int { cycles_of, leaving_of, bursts_of, sums_of, share_of };

// Steps of one operation from one lane on, as `Growth.table` has them; what is negative is not known yet.
struct Steps {
    Int count, iterations, runs;
    const Int *lanes, *cycles, *leaving, *bursts, *sums;
    const double* share;

    explicit Steps(const Int* table)
        : count(table[0]),
          iterations(table[1]),
          runs(table[2]),
          lanes(reinterpret_cast<const Int*>(table[3])),
          cycles(reinterpret_cast<const Int*>(table[4])),
          leaving(reinterpret_cast<const Int*>(table[5])),
          bursts(reinterpret_cast<const Int*>(table[6])),
          sums(reinterpret_cast<const Int*>(table[7])),
          share(reinterpret_cast<const double*>(table[8])) {}
};

// An operation: what it waits for, as `_structure` of lanes.py has it.
struct Grown {
    Steps steps;
    const Int* loading;  // cycles in which its weights come, by step, or none
    Int unroll, floor = 0;
    bool waits = false, behind = false, is_sum = false;
    Int product = nobody, taker = nobody;
    std::vector<Int> adders;
};

class Deal {
  public:
    Deal(Reader structure, Reader given, Int* at) : at_(at) {
        most_ = given.next();
        rows_ = given.next();
        parts_ = structure.next();
        const Int unrolls = structure.next();
        members_.resize(unrolls);
        followers_.resize(unrolls);
        for (Int unroll = 0; unroll < unrolls; ++unroll) {
            free_.push_back(given.next());
            for (Int left = structure.next(); left > 0; --left) members_[unroll].push_back(read(structure, given, unroll));
            for (Int left = structure.next(); left > 0; --left) followers_[unroll].push_back(structure.next());
        }
    }

    // Steps that are taken in `at`, until no more pay, which ends with 0, or something is not known: so many operations,
    // steps and kinds of them in `missing`.
    Int go(double least_worth, Int* missing, Int room) {
        missing_ = missing;
        room_ = room;
        const Int unrolls = Int(members_.size());
        Int total = 0, whole = 0;
        cycles_.assign(unrolls, 0);
        offers_.assign(unrolls, {});
        for (Int unroll = 0; unroll < unrolls; ++unroll) {
            total += lanes(unroll);
            look_at(unroll);
            whole += cycles_[unroll];
        }
        while (asked_ == 0 && total < most_) {
            Int best = nobody;
            for (Int unroll = 0; unroll < unrolls; ++unroll)
                if (free_[unroll] && (best == nobody || offers_[unroll].worth > offers_[best].worth)) best = unroll;
            if (best == nobody || offers_[best].steps == 0 || offers_[best].worth < least_worth * double(whole)) break;
            total -= lanes(best);
            at_[best] += offers_[best].steps;
            total += lanes(best);
            whole += looked_at_again(best);
            for (const Int follower : followers_[best]) whole += looked_at_again(follower);
        }
        return asked_;
    }

  private:
    // Steps of a growth, and cycles that they save for their share of the board.
    struct Offer {
        double worth = 0.0;
        Int steps = 0;
    };
    // Of results: cycles from the first to the last, and bursts in which they come, the last in so many cycles.
    struct Coming {
        Int cycles, bursts, last;
    };

    Int* at_;
    Int most_, rows_, parts_, asked_ = 0, room_ = 0, *missing_ = nullptr;
    std::vector<Grown> grown_;
    std::vector<Int> free_;
    std::vector<std::vector<Int>> members_, followers_;
    std::vector<Int> cycles_;  // that each unroll adds to the time now
    std::vector<Offer> offers_;

    Int read(Reader& structure, Reader& given, Int unroll) {
        Grown one{Steps(reinterpret_cast<const Int*>(given.next())), reinterpret_cast<const Int*>(given.next()), unroll};
        one.floor = structure.next();
        one.waits = structure.next();
        one.is_sum = structure.next();
        one.product = structure.next();
        one.behind = structure.next();
        one.taker = structure.next();
        for (Int left = structure.next(); left > 0; --left) one.adders.push_back(structure.next());
        grown_.push_back(std::move(one));
        return Int(grown_.size()) - 1;
    }

    Int lanes(Int unroll) const { return grown_[members_[unroll][0]].steps.lanes[at_[unroll]]; }

    template <class Number>
    Number known(const Number* table, Int one, Int step, Asked kind) {
        if (table[step] >= 0) return table[step];
        if (asked_ < room_) {
            for (const Int word : {one, step, Int(kind)}) *missing_++ = word;
            ++asked_;
        }
        return 1;  // whatever divides by it
    }

    Int now(Int one) const { return at_[grown_[one].unroll]; }
    bool is_engine(Int one) const { return members_[grown_[one].unroll].size() > 1; }

    // Weights that are used once in a launch come no faster than through all ports.
    Int cycles(Int one, Int step) {
        const Grown& grown = grown_[one];
        const Int found = known(grown.steps.cycles, one, step, cycles_of);
        return std::max({found, grown.floor, grown.loading == nullptr ? 0 : grown.loading[step]});
    }

    Int iterations(Int one) const {
        const Steps& steps = grown_[one].steps;
        return steps.iterations / steps.lanes[now(one)] * steps.runs;
    }

    // Of the results that an operation follows. Those of an engine come as fast as it computes rows of a prompt side by
    // side; what adds up parts of them is there as often, and gives results with the last parts.
    Coming coming(const Grown& grown) {
        const Int product = grown.product, step = now(product), whole = iterations(product);
        const Steps& steps = grown_[product].steps;
        Int cycles = known(steps.leaving, product, step, leaving_of);
        Int bursts = known(steps.bursts, product, step, bursts_of);
        for (const Int adder : grown.adders) {
            const Steps& of_adder = grown_[adder].steps;
            const Int leaving = known(of_adder.leaving, adder, now(adder), leaving_of);
            cycles = Int(static_cast<__int128>(cycles) * leaving / iterations(adder));
            bursts = known(of_adder.bursts, adder, now(adder), bursts_of);
        }
        const Int rows = is_engine(product) && !grown.is_sum ? rows_ : 1;
        const Int last = cycles - whole + whole / bursts;  // negative where adders are through before the product is
        return {cycles / rows, bursts, last / rows - (last % rows < 0)};
    }

    // Cycles for which the results wait that it follows, at their end, or of their last burst, and beyond those of the
    // product that takes its own as they come: of one row, where that has several side by side.
    Int after_waiting(const Grown& grown, Int found, const Coming& come) {
        Int taking = 0, sums = 1;
        if (const Int taker = grown.taker; taker != nobody) {
            taking = known(grown_[taker].steps.cycles, taker, now(taker), cycles_of) / (is_engine(taker) ? rows_ : 1);
            sums = known(grown_[taker].steps.sums, taker, now(taker), sums_of);
        }
        if (grown.behind) {
            found = std::max(found / parts_, found - (come.cycles - come.cycles / parts_));
            taking /= parts_;
        } else if (grown.product != nobody) {
            found = std::max({Int(0), found - come.cycles, found / come.bursts - come.last});
        }
        return sums == 1 ? found : std::max(found / sums, found - taking);
    }

    // What it adds to the time now, and what the next steps would save.
    void look_at(Int unroll) {
        const Steps& first = grown_[members_[unroll][0]].steps;
        const Int at = at_[unroll], count = 1 + std::min(steps_ahead, first.count - 1 - at), asked = asked_;
        Int found[1 + steps_ahead] = {};
        for (const Int one : members_[unroll]) {
            const Grown& grown = grown_[one];
            const bool follows = grown.waits && grown.product != nobody;
            const Coming come = follows ? coming(grown) : Coming{0, 1, 0};
            for (Int step = 0; step < count; ++step) {
                const Int own = cycles(one, at + step);
                found[step] += grown.waits ? after_waiting(grown, own, come) : own;
            }
        }
        cycles_[unroll] = found[0];
        Offer best;
        for (Int steps = 1; steps < count && free_[unroll] && asked == asked_; ++steps) {
            const Int saved = found[0] - found[steps], one = members_[unroll][0];
            if (saved <= 0) continue;
            const double more =
                known(first.share, one, at + steps, share_of) - known(first.share, one, at, share_of);
            const double worth = double(saved) / more;
            if (best.steps == 0 || worth > best.worth) best = {worth, steps};
        }
        offers_[unroll] = best;
    }

    // By how many more cycles than before.
    Int looked_at_again(Int unroll) {
        const Int before = cycles_[unroll];
        look_at(unroll);
        return cycles_[unroll] - before;
    }
};

}  // namespace millrace
