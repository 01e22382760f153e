// Nodes on dies: the cheapest cuts of their order (placement/cuts.py says how), and moves (placement/search.py).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace millrace {

using Int = std::int64_t;

constexpr double nowhere = std::numeric_limits<double>::infinity();
constexpr double least_gain = 1e-9;  // of a move: less is rounding
constexpr Int tenure = 6;  // moves for which a node that has moved stays

// A netlist and its dies, as arrays of numpy (placement/arrays.py).
struct Board {
    Int nodes, dies, resources, boundaries, home;
    const double *areas, *links, *anchor, *crossed;

    const double* area(Int node, Int die) const { return areas + (node * dies + die) * resources; }
    double crosses(Int one, Int other, Int boundary) const {
        return crossed[(one * dies + other) * boundaries + boundary];
    }
};

// What dies and boundaries cost: `Costs` of placement/arrays.py.
struct Costs {
    std::vector<double> over_dies, over_wires;
    double wire, crowding, comfort, fill;

    Costs(const Board& board, const double* of_dies, const double* of_wires, const double* numbers)
        : over_dies(of_dies, of_dies + board.dies * board.resources),
          over_wires(of_wires, of_wires + board.boundaries),
          wire(numbers[0]),
          crowding(numbers[1]),
          comfort(numbers[2]),
          fill(numbers[3]) {}

    // `use(r)`: share of each resource of a die.
    template <class Use>
    double of_die(Int die, Int resources, Use use) const {
        double cost = 0.0, fullest = -nowhere;
        for (Int r = 0; r < resources; ++r) {
            const double share = use(r);
            cost += over_dies[die * resources + r] * std::max(0.0, share - 1.0);
            fullest = std::max(fullest, share);
        }
        return crowding == 0.0 ? cost : cost + crowding * std::max(0.0, fullest * fill - comfort);
    }

    double of_wires(double wires, Int boundary) const {
        return over_wires[boundary] * std::max(0.0, wires - 1.0) + wire * fill * wires;
    }
};

// The sum of an array as numpy makes it: eight sums side by side.
inline double sum(const std::vector<double>& values) {
    const std::size_t count = values.size(), whole = count - count % 8;
    double found = 0.0;
    if (whole > 0) {
        double part[8];
        std::copy(values.begin(), values.begin() + 8, part);
        for (std::size_t n = 8; n < whole; ++n) part[n % 8] += values[n];
        found = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    }
    for (std::size_t n = whole; n < count; ++n) found += values[n];
    return found;
}

// A placement under moves, with what its dies and boundaries hold. All in shares of the limits.
class Placed {
  public:
    std::vector<Int> die;
    std::vector<double> use, wires;

    Placed(const Board& board, const Int* dies, const double* of_dies, const double* of_wires)
        : die(dies, dies + board.nodes),
          use(of_dies, of_dies + board.dies * board.resources),
          wires(of_wires, of_wires + board.boundaries),
          board_(board) {
        rewire();
    }

    // What exceeds the limits, all of it together; 0 where the placement holds them.
    double excess() const {
        const auto over = [](const std::vector<double>& shares) {
            std::vector<double> found;
            for (const double one : shares) found.push_back(std::max(0.0, one - 1.0));
            return sum(found);
        };
        return over(use) + over(wires);
    }

    // By how much the cost changes where a node moves to a die, by node and die; infinite where it is there.
    void moves(const Costs& costs, std::vector<double>& change) const {
        const Int dies = board_.dies, resources = board_.resources;
        const std::vector<double> now = of_dies(costs);
        const double lines = of_wires(costs);
        change.assign(board_.nodes * dies, nowhere);
        for (Int node = 0; node < board_.nodes; ++node) {
            const Int here = die[node];
            const double *used = &use[here * resources], *area = board_.area(node, here);
            const double left = costs.of_die(here, resources, [&](Int r) { return used[r] - area[r]; }) - now[here];
            for (Int to = 0; to < dies; ++to) {
                if (to == here) continue;
                const double *there = &use[to * resources], *more = board_.area(node, to);
                const double gets = costs.of_die(to, resources, [&](Int r) { return there[r] + more[r]; }) - now[to];
                double cost = 0.0;
                for (Int b = 0; b < board_.boundaries; ++b) cost += costs.of_wires(wires[b] + rewired(node, to, b), b);
                change[node * dies + to] = gets + left + (cost - lines);
            }
        }
    }

    // The same where two nodes of different dies take each other's place.
    void swaps(const Costs& costs, std::vector<double>& change) const {
        const Int nodes = board_.nodes, resources = board_.resources;
        const std::vector<double> now = of_dies(costs);
        const double lines = of_wires(costs);
        const auto gets = [&](Int one, Int other) {
            const Int here = die[one];
            const double *used = &use[here * resources], *comes = board_.area(other, here);
            const double* goes = board_.area(one, here);
            return costs.of_die(here, resources, [&](Int r) { return used[r] + comes[r] - goes[r]; }) - now[here];
        };
        change.assign(nodes * nodes, nowhere);
        for (Int one = 0; one < nodes; ++one)
            for (Int other = 0; other < nodes; ++other) {
                const Int here = die[one], there = die[other];
                if (here == there) continue;
                double cost = 0.0;
                for (Int b = 0; b < board_.boundaries; ++b) {
                    const double between = board_.links[one * nodes + other] * board_.crosses(here, there, b);
                    const double to = wires[b] + rewired(one, there, b) + rewired(other, here, b) + 2 * between;
                    cost += costs.of_wires(to, b);
                }
                change[one * nodes + other] = gets(one, other) + gets(other, one) + cost - lines;
            }
    }

    void place(Int node, Int to) {
        const Int here = die[node];
        for (Int b = 0; b < board_.boundaries; ++b) wires[b] += rewired(node, to, b);
        for (Int r = 0; r < board_.resources; ++r) {
            use[here * board_.resources + r] -= board_.area(node, here)[r];
            use[to * board_.resources + r] += board_.area(node, to)[r];
        }
        die[node] = to;
        rewire();
    }

  private:
    // What a move changes at a boundary.
    double rewired(Int node, Int to, Int boundary) const {
        const double* reach = &reach_[node * board_.dies * board_.boundaries];
        return reach[to * board_.boundaries + boundary] - reach[die[node] * board_.boundaries + boundary];
    }

    // What the wires of each node take of each boundary if it lay on each die.
    void rewire() {
        const Int dies = board_.dies, each = dies * board_.boundaries;
        reach_.assign(board_.nodes * each, 0.0);
        std::vector<double> ends(dies);
        for (Int node = 0; node < board_.nodes; ++node) {
            std::fill(ends.begin(), ends.end(), 0.0);
            const double* links = board_.links + node * board_.nodes;
            for (Int other = 0; other < board_.nodes; ++other) ends[die[other]] += links[other];
            ends[board_.home] += board_.anchor[node];
            double* reach = &reach_[node * each];
            for (Int k = 0; k < each; ++k)
                for (Int end = 0; end < dies; ++end)
                    reach[k] += ends[end] * board_.crossed[end * each + k];
        }
    }

    std::vector<double> of_dies(const Costs& costs) const {
        std::vector<double> found;
        for (Int one = 0; one < board_.dies; ++one) {
            const double* used = &use[one * board_.resources];
            found.push_back(costs.of_die(one, board_.resources, [&](Int r) { return used[r]; }));
        }
        return found;
    }

    double of_wires(const Costs& costs) const {
        double found = 0.0;
        for (Int b = 0; b < board_.boundaries; ++b) found += costs.of_wires(wires[b], b);
        return found;
    }

    const Board& board_;
    std::vector<double> reach_;
};

inline std::pair<Int, Int> least(const std::vector<double>& values, Int columns) {
    const Int at = std::min_element(values.begin(), values.end()) - values.begin();
    return {at / columns, at % columns};
}

// The placement nearest to the limits among those that so many moves pass through; its excess over them.
inline double repaired(const Board& board, Placed& state, Costs costs, Int moves, Int* best) {
    std::copy(state.die.begin(), state.die.end(), best);
    double lowest = state.excess();
    std::vector<Int> rests(board.nodes, 0);
    std::vector<double> change;
    for (Int number = 0; number < moves && lowest != 0.0; ++number) {
        state.moves(costs, change);
        for (Int node = 0; node < board.nodes; ++node)
            if (rests[node] > number) std::fill_n(change.begin() + node * board.dies, board.dies, nowhere);
        const auto [node, to] = least(change, board.dies);
        if (change[node * board.dies + to] > -least_gain) {
            for (std::size_t n = 0; n < state.use.size(); ++n)
                if (state.use[n] > 1.0) costs.over_dies[n] += 1.0;
            for (std::size_t b = 0; b < state.wires.size(); ++b)
                if (state.wires[b] > 1.0) costs.over_wires[b] += 1.0;
        }
        state.place(node, to);
        rests[node] = number + tenure;
        const double excess = state.excess();
        if (excess < lowest) {
            std::copy(state.die.begin(), state.die.end(), best);
            lowest = excess;
        }
    }
    return lowest;
}

// Move single nodes, and swap two where no move helps, while that lowers the cost.
inline void descend(const Board& board, Placed& state, const Costs& costs) {
    std::vector<double> change;
    for (;;) {
        state.moves(costs, change);
        const auto [node, to] = least(change, board.dies);
        if (change[node * board.dies + to] < -least_gain) {
            state.place(node, to);
            continue;
        }
        state.swaps(costs, change);
        const auto [one, other] = least(change, board.nodes);
        if (!(change[one * board.nodes + other] < -least_gain)) return;
        const Int here = state.die[one], there = state.die[other];
        state.place(one, there);
        state.place(other, here);
    }
}

// A square of numbers for the runs [a, b) of the nodes that are cut.
class OfRuns {
  public:
    explicit OfRuns(Int ends = 0, double value = 0.0) : ends_(ends), values_(ends * ends, value) {}
    double& at(Int a, Int b) { return values_[a * ends_ + b]; }
    double at(Int a, Int b) const { return values_[a * ends_ + b]; }
    Int ends() const { return ends_; }

  private:
    Int ends_;
    std::vector<double> values_;
};

class Cuts {
  public:
    Cuts(const Board& board, const Costs& costs) : board_(board), costs_(costs) {
        for (Int node = 0; node < board.nodes; ++node) {
            double wires = 0.0;
            for (Int other = 0; other < board.nodes; ++other) wires += board.links[node * board.nodes + other];
            const double anchor = board.anchor[node];
            (anchor == 0.0 || anchor < wires ? free_ : fixed_).push_back(node);
        }
        count_ = Int(free_.size());
        to_hbm_.assign(count_ + 1, 0.0);
        leaving_ = OfRuns(count_ + 1);
        std::vector<double> wires(count_ + 1, 0.0);
        OfRuns corner(count_ + 1);  // wires between the first of one order and of the other
        for (Int n = 0; n < count_; ++n) {
            double hbm = board.anchor[free_[n]], all = 0.0;
            for (const Int node : fixed_) hbm += link(free_[n], node);
            for (Int m = 0; m < count_; ++m) {
                all += link(free_[n], free_[m]);
                corner.at(n + 1, m + 1) =
                    link(free_[n], free_[m]) + corner.at(n, m + 1) + corner.at(n + 1, m) - corner.at(n, m);
            }
            to_hbm_[n + 1] = to_hbm_[n] + hbm;
            wires[n + 1] = wires[n] + all;
        }
        for (Int a = 0; a <= count_; ++a)
            for (Int b = 0; b <= count_; ++b) {
                const double inside = corner.at(b, b) - corner.at(a, b) - corner.at(b, a) + corner.at(a, a);
                leaving_.at(a, b) = wires[b] - wires[a] - inside;
            }
    }

    // Die of each node, for dies laid in this order.
    void cut(const std::vector<Int>& order, Int* die_of) const {
        const Int last = order.back(), inner_dies = Int(order.size()) - 1;
        OfRuns best = on_die(order[0]);
        std::vector<std::pair<OfRuns, OfRuns>> laid;
        bool with_hbm = false;
        for (Int place = 0; place < inner_dies; ++place) {
            if (place > 0) {
                laid.emplace_back(best, on_die(order[place]));
                best = grown(laid.back().first, laid.back().second);
            }
            with_hbm = with_hbm || order[place] == board_.home;
            add_across(best, std::min(order[place], order[place + 1]), with_hbm);
        }
        const OfRuns rest = cost(last, true);
        double least = nowhere;
        Int low = 0, high = 0;
        for (Int a = 0; a <= count_; ++a)
            for (Int b = a; b <= count_; ++b)
                if (const double whole = best.at(a, b) + rest.at(a, b); whole < least) {
                    least = whole;
                    low = a;
                    high = b;
                }
        std::vector<Int> cut(count_, last);
        for (Int n = Int(laid.size()) - 1; n >= 0; --n) {
            const auto& [inner, alone] = laid[n];
            const auto split = [&](const OfRuns& left, const OfRuns& right) {
                std::pair<double, Int> found{nowhere, 0};
                for (Int c = 0; c <= count_; ++c) {
                    const double whole = left.at(low, c) + right.at(c, high);
                    if (whole < found.first) found = {whole, c};
                }
                return found;
            };
            const auto before = split(alone, inner), after = split(inner, alone);
            if (before.first <= after.first) {
                std::fill(cut.begin() + low, cut.begin() + before.second, order[n + 1]);
                low = before.second;
            } else {
                std::fill(cut.begin() + after.second, cut.begin() + high, order[n + 1]);
                high = after.second;
            }
        }
        std::fill(cut.begin() + low, cut.begin() + high, order[0]);
        std::fill_n(die_of, board_.nodes, board_.home);
        for (Int n = 0; n < count_; ++n) die_of[free_[n]] = cut[n];
    }

  private:
    double link(Int one, Int other) const { return board_.links[one * board_.nodes + other]; }

    // Cost of a run on a die, infinite where it is none.
    OfRuns on_die(Int die) const { return cost(die, false); }

    // The same, or of the die that has everything but the run.
    OfRuns cost(Int die, bool without) const {
        const Int resources = board_.resources;
        std::vector<double> sums((count_ + 1) * resources, 0.0), base(resources, 0.0);
        for (Int n = 0; n < count_; ++n)
            for (Int r = 0; r < resources; ++r)
                sums[(n + 1) * resources + r] = sums[n * resources + r] + board_.area(free_[n], die)[r];
        if (die == board_.home)
            for (const Int node : fixed_)
                for (Int r = 0; r < resources; ++r) base[r] += board_.area(node, die)[r];
        const double* whole = &sums[count_ * resources];
        OfRuns found(count_ + 1, nowhere);
        for (Int a = 0; a <= count_; ++a)
            for (Int b = a; b <= count_; ++b) {
                const double *begin = &sums[a * resources], *end = &sums[b * resources];
                found.at(a, b) = costs_.of_die(die, resources, [&](Int r) {
                    const double held = std::max(0.0, end[r] - begin[r]);
                    return (without ? whole[r] - held : held) + base[r];
                });
            }
        return found;
    }

    // The cost of a boundary that has the run on the one side, the HBM with it or not, and all else on the other.
    void add_across(OfRuns& found, Int boundary, bool with_hbm) const {
        const double share = board_.crosses(boundary, boundary + 1, boundary), all = to_hbm_[count_];
        for (Int a = 0; a <= count_; ++a)
            for (Int b = a; b <= count_; ++b) {
                const double inside = to_hbm_[b] - to_hbm_[a];
                const double wires = leaving_.at(a, b) + (with_hbm ? all - inside : inside);
                found.at(a, b) += costs_.of_wires(wires * share, boundary);
            }
    }

    // Cost of each run [a, b) with one more die laid where that is cheapest: before the runs so far, on [a, c), or
    // after them, on [c, b).
    OfRuns grown(const OfRuns& inner, const OfRuns& alone) const {
        OfRuns found(count_ + 1, nowhere);
        for (Int a = 0; a <= count_; ++a)
            for (Int c = a; c <= count_; ++c) {
                const double first = alone.at(a, c), other = inner.at(a, c);
                for (Int b = c; b <= count_; ++b) {
                    const double cost = std::min(first + inner.at(c, b), other + alone.at(c, b));
                    found.at(a, b) = std::min(found.at(a, b), cost);
                }
            }
        return found;
    }

    const Board& board_;
    const Costs& costs_;
    std::vector<Int> free_, fixed_;  // nodes that are cut, in their order, and those that stay with the HBM
    Int count_;
    std::vector<double> to_hbm_;  // wires of the first nodes that are cut to the HBM and to what stays with it
    OfRuns leaving_;  // wires between a run and the others that are cut
};

}  // namespace millrace
