// An affine schedule of tasks that take turns (turning.py and activities.py say how).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "reader.h"

namespace millrace {

using Int = std::int64_t;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double even = 1e-6;  // cycles
constexpr double rounding_tokens = 0.01;  // of the offsets, which are sums of fractions
constexpr Int min_depth = 3;
constexpr Int rounds_looked_at = 4;
constexpr Int few_sweeps = 20;  // of longest paths, until a period is taken to be too short
constexpr double longer = 1.05;  // times as long it is tried then
constexpr int tries = 60;
constexpr int start_sweeps = 2;
constexpr Int launch = 0;  // the node that starts with the kernel

// How tokens pass one end of a stream, in cycles since its node started.
struct Ramp {
    double begin, each, late, early;
    double at(Int token) const { return begin + each * double(token); }
};

// When an access moves its tokens, in paces since its nest started.
struct Window {
    Int stream, tokens;
    double begin, each, late, early;

    Ramp ramp(double pace, Int first) const {
        return {pace * (begin + double(first) * each), pace * each, pace * late, pace * early};
    }
};

struct Activity {
    Int task, depth;
    double cycles, rest;
    std::vector<Window> reads, writes;
    Int node = -1;  // of the schedule
};

// A round of a repetition, and the event that is the same but for one round before, or -1.
struct Round {
    Int repeat, time, earlier;
};

struct Event {
    Int activity;
    std::vector<Round> rounds;
};

// Tokens of a stream that one event writes and another one reads, from its token of this number on.
struct Part {
    Int stream, source, written, target, read, tokens;
    const Window *out, *into;
};

// Of a link: `Edge.lag`, `base` and `rate` of affine_schedule.py.
struct Flow {
    double lag, base, rate;
};

// A part between two activities.
struct Link {
    Int stream, source, target, written, read, tokens;
    const Window *out, *into;
    double shift = 0.0;
    Flow flow{};
};

// Between the starts of two nodes; the cost is 0 where it carries nothing.
struct Edge {
    Int source, target;
    double lag, cost;
};

struct StreamOf {
    Int initial, tokens, width;
    bool passed;  // from one task to another that take turns
    Int load;  // depth of the pipeline of its load, or -1
};

// A load of several streams: those of the first `inside` come in turns, in so many rounds.
struct JointLoad {
    Int rounds, inside;
    std::vector<Int> streams;
};

// Rounds of a kind of repetitions that are not looked at, and the tokens of each stream in one.
struct LeftOut {
    Int kind, rounds;
    const Int* tokens;
    double period = infinity;

    // Tokens of rounds that are not looked at, where one is held for `life` cycles.
    Int beyond(Int stream, double life) const {
        const double needed = std::ceil(life / period) - double(rounds_looked_at - 1 - 1);
        return Int(std::min(double(rounds), std::max(0.0, needed))) * tokens[stream];
    }
};

enum class Found : Int { schedule, no_period, no_writer, no_order };

using Starts = std::vector<double>;

class Turning {
  public:
    Found found = Found::schedule;
    Int task = -1, stream = -1;  // of what is not written in time
    std::vector<Int> nodes;  // activities, behind the launch
    std::vector<Link> links;  // each of them an edge
    std::vector<Edge> edges, phases;

    Turning(Reader words, Numbers numbers) {
        read(words, numbers);
        if (match() && order()) schedule();
    }

    // The earliest starts that keep the lags, none earlier than `start`; false where so many sweeps do not find any.
    bool longest_paths(Starts& start, Int sweeps) const {
        const auto entering = by_node(&Edge::target);
        for (; sweeps > 0; --sweeps) {
            bool moved = false;
            for (std::size_t node = 0; node < entering.size(); ++node) {
                double earliest = entering[node].empty() ? 0.0 : -infinity;
                for (const Edge* edge : entering[node]) earliest = std::max(earliest, start[edge->source] + edge->lag);
                if (earliest > start[node] + even) {
                    start[node] = earliest;
                    moved = true;
                }
            }
            if (!moved) return true;
        }
        return false;
    }

    // The earliest starts, then sweeps of local moves.
    Starts swept() const {
        Starts start(nodes.size() + 1, 0.0);
        longest_paths(start, Int(start.size()) + 1);
        const auto entering = by_node(&Edge::target), leaving = by_node(&Edge::source);
        const std::vector<double> gain = gains(entering, leaving);
        for (int sweep = 0; sweep < start_sweeps; ++sweep) {
            for (std::size_t node = start.size(); node-- > 0;) {
                if (gain[node] <= 0.0 || leaving[node].empty()) continue;
                double latest = infinity;
                for (const Edge* edge : leaving[node]) latest = std::min(latest, start[edge->target] - edge->lag);
                start[node] = latest;
            }
            for (std::size_t node = 0; node < start.size(); ++node) {
                if (gain[node] > 0.0 || entering[node].empty()) continue;
                double earliest = -infinity;
                for (const Edge* edge : entering[node]) earliest = std::max(earliest, start[edge->source] + edge->lag);
                start[node] = earliest;
            }
        }
        return start;
    }

    // Of the FIFO of each stream that is passed, with which the kernel runs by this schedule.
    void depths(const double* start, Int* depth) const {
        const std::vector<double> paces = stretched(start);
        std::vector<char> repeated(activities_.size(), 0);
        for (const Event& event : events_)
            if (!event.rounds.empty()) repeated[event.activity] = 1;
        std::vector<double> life(streams_.size(), 0.0);  // of what rounds pass
        for (const Link& link : links) {
            if (!repeated[link.source]) continue;
            const Int source = node(link.source), target = node(link.target);
            const double ends = start[target] + link.shift + paces[link.target] * (1 + link.into->late);
            life[link.stream] = std::max(life[link.stream], ends - start[source]);
        }
        std::vector<std::vector<Change>> changes(streams_.size());
        for (std::size_t n = 0; n < events_.size(); ++n) {
            const Activity& activity = activities_[events_[n].activity];
            const double begin = start[activity.node] + shifts_[n], pace = paces[events_[n].activity];
            for (const Window& out : activity.writes) {
                if (!streams_[out.stream].passed) continue;
                const double first = begin + pace * (out.begin - out.early), each = pace * out.each;
                changes[out.stream].emplace_back(first, 1.0, 1 / each);
                changes[out.stream].emplace_back(first + each * double(out.tokens - 1), 0.0, -1 / each);
            }
            for (const Window& into : activity.reads) {
                if (!streams_[into.stream].passed) continue;
                const double first = begin + pace * (into.begin + into.late), each = pace * into.each;
                changes[into.stream].emplace_back(first, 0.0, -1 / each);
                changes[into.stream].emplace_back(first + each * double(into.tokens), 0.0, 1 / each);
            }
        }
        for (std::size_t n = 0; n < streams_.size(); ++n) {
            const StreamOf& one = streams_[n];
            if (!one.passed) continue;
            Int beyond = 0;
            for (const LeftOut& left : left_) beyond += left.beyond(Int(n), life[n]);
            const double most = double(one.initial) + most_in_flight(changes[n]) + double(beyond);
            const double held = std::min(double(one.tokens + one.initial), 1 + std::floor(most + rounding_tokens));
            depth[n] = std::max(min_depth, Int(held));
        }
    }

  private:
    using Edges = std::vector<std::vector<const Edge*>>;  // by node
    using Change = std::tuple<double, double, double>;  // cycle, tokens at once, tokens a cycle from then on

    void read(Reader& words, Numbers& numbers) {
        for (Int n = words.next(); n > 0; --n)
            streams_.push_back({words.next(), words.next(), words.next(), words.next() != 0, words.next()});
        for (Int n = words.next(); n > 0; --n) read_task(words, numbers);
        for (Int n = words.next(); n > 0; --n) {
            loads_.push_back({words.next(), words.next(), {}});
            for (Int k = words.next(); k > 0; --k) loads_.back().streams.push_back(words.next());
        }
        for (Int n = words.next(); n > 0; --n) {
            const Int kind = words.next(), rounds = words.next();
            left_.push_back({kind, rounds, words.skip(Int(streams_.size()))});
        }
    }

    void read_task(Reader& words, Numbers& numbers) {
        const Int task = Int(slack_.size()), activity = Int(activities_.size()), repeat = Int(kinds_.size());
        const Int event = Int(events_.size());
        slack_.push_back(words.next() != 0);
        const Int count = words.next();
        const Int* stream = words.skip(count);
        for (Int n = words.next(); n > 0; --n) kinds_.push_back(words.next());
        for (Int n = words.next(); n > 0; --n) {
            Activity found{task, words.next(), numbers.next(), numbers.next(), {}, {}};
            for (auto* side : {&found.reads, &found.writes})
                for (Int k = words.next(); k > 0; --k)
                    side->push_back(
                        {stream[words.next()], words.next(), numbers.next(), numbers.next(), numbers.next(),
                         numbers.next()}
                    );
            activities_.push_back(std::move(found));
        }
        for (Int n = words.next(); n > 0; --n) {
            Event found{activity + words.next(), {}};
            for (Int k = words.next(); k > 0; --k) {
                const Int of = repeat + words.next(), time = words.next(), earlier = words.next();
                found.rounds.push_back({of, time, earlier < 0 ? -1 : event + earlier});
            }
            if (n > 1) after_.emplace_back(Int(events_.size()), Int(events_.size()) + 1);
            events_.push_back(std::move(found));
        }
    }

    // Which event reads what which one writes. What a stream holds at first is read before anything that is written.
    bool match() {
        struct End {
            Int event;
            const Window* window;
        };
        std::vector<std::vector<End>> writers(streams_.size()), readers(streams_.size());
        for (std::size_t n = 0; n < events_.size(); ++n) {
            const Activity& activity = activities_[events_[n].activity];
            for (const Window& out : activity.writes) writers[out.stream].push_back({Int(n), &out});
            for (const Window& into : activity.reads) readers[into.stream].push_back({Int(n), &into});
        }
        for (Int name = 0; name < Int(streams_.size()); ++name) {
            if (!streams_[name].passed) continue;
            std::size_t writer = 0;
            Int begun = 0, initial = streams_[name].initial;  // tokens of the writer that were read; that nobody wrote
            for (const End& reader : readers[name]) {
                Int read = std::min(initial, reader.window->tokens);
                initial -= read;
                while (read < reader.window->tokens) {
                    if (writer == writers[name].size()) return fail(Found::no_writer, reader.event, name);
                    const End& from = writers[name][writer];
                    const Int some = std::min(reader.window->tokens - read, from.window->tokens - begun);
                    parts_.push_back({name, from.event, begun, reader.event, read, some, from.window, reader.window});
                    read += some;
                    begun += some;
                    if (begun == from.window->tokens) {
                        ++writer;
                        begun = 0;
                    }
                }
            }
        }
        return true;
    }

    bool fail(Found why, Int event, Int name) {
        found = why;
        task = activities_[events_[event].activity].task;
        stream = name;
        return false;
    }

    // All events in an order in which tokens are written by events before those that read them.
    bool order() {
        const Int count = Int(events_.size());
        std::vector<std::vector<Int>> leads(count);
        std::vector<Int> waits(count, 0), place(count, -1), ready;
        const auto lead = [&](Int source, Int target) {
            leads[source].push_back(target);
            ++waits[target];
        };
        for (const auto& [source, target] : after_) lead(source, target);
        for (const Part& part : parts_) lead(part.source, part.target);
        for (Int n = 0; n < count; ++n)
            if (waits[n] == 0) ready.push_back(n);
        for (std::size_t n = 0; n < ready.size(); ++n) {
            place[ready[n]] = Int(n);
            for (const Int target : leads[ready[n]])
                if (--waits[target] == 0) ready.push_back(target);
        }
        if (Int(ready.size()) < count) {
            for (const Part& part : parts_)
                if (place[part.source] < 0 && place[part.target] < 0)
                    return fail(Found::no_order, part.target, part.stream);
        }
        std::vector<Event> ordered;
        for (const Int n : ready) ordered.push_back(std::move(events_[n]));
        events_ = std::move(ordered);
        for (Event& event : events_)
            for (Round& round : event.rounds)
                if (round.earlier >= 0) round.earlier = place[round.earlier];
        for (auto& [source, target] : after_) {
            source = place[source];
            target = place[target];
        }
        for (Part& part : parts_) {
            part.source = place[part.source];
            part.target = place[part.target];
        }
        return true;
    }

    void schedule() {
        for (const Event& event : events_) {
            Activity& activity = activities_[event.activity];
            if (activity.node >= 0) continue;
            nodes.push_back(event.activity);
            activity.node = Int(nodes.size());
        }
        before_.assign(events_.size(), -1);
        for (const auto& [source, target] : after_) before_[target] = source;
        link();
        pace();
        for (Link& one : all_links_) one.flow = flow(one);
        group();
        find_periods(starts());
        for (int n = 0; n < tries; ++n) {
            try_periods();
            Starts start(nodes.size() + 1, 0.0);
            if (longest_paths(start, few_sweeps)) {
                for (LeftOut& one : left_)
                    for (std::size_t repeat = 0; repeat < kinds_.size(); ++repeat)
                        if (seen_[repeat] && kinds_[repeat] == one.kind)
                            one.period = std::min(one.period, periods_[group_[repeat]]);
                return;
            }
            for (double& period : periods_) period *= longer;
        }
        found = Found::no_period;
    }

    Int node(Int activity) const { return activities_[activity].node; }

    // Links of all parts: activities that pass tokens to each other, each once, and the number of that of each part.
    void link() {
        std::map<std::tuple<Int, Int, Int, Int, Int, Int>, Int> known;
        entering_.resize(events_.size());
        for (std::size_t n = 0; n < parts_.size(); ++n) {
            const Part& part = parts_[n];
            const Int source = events_[part.source].activity, target = events_[part.target].activity;
            const std::tuple key{source, target, part.stream, part.written, part.read, part.tokens};
            const auto [place, added] = known.try_emplace(key, all_links_.size());
            if (added)
                all_links_.push_back(
                    {part.stream, source, target, part.written, part.read, part.tokens, part.out, part.into}
                );
            number_.push_back(place->second);
            entering_[part.target].push_back(n);
        }
    }

    // A pace for each activity: its own, or slower where tokens come slower while it runs. What it has in its last
    // round stays.
    void pace() {
        struct Arriving {
            double last, share;  // when the last token of a part comes, and its share of a pace
        };
        paces_.assign(activities_.size(), -1.0);
        std::vector<double> starts, paces;
        for (std::size_t n = 0; n < events_.size(); ++n) {
            const Activity& activity = activities_[events_[n].activity];
            const double own = activity.cycles;
            double begin = free(n, starts, paces);
            std::vector<Arriving> arriving;
            for (const std::size_t number : entering_[n]) {
                const Part& part = parts_[number];
                const Window &into = *part.into, &out = *part.out;
                const double slow = paces[part.source];
                const double depth = double(activities_[events_[part.source].activity].depth);
                const double latest = starts[part.source] + depth + slow * out.late;
                const double first = slow * (out.begin + double(part.written) * out.each);
                begin = std::max(
                    begin, latest + first - own * (into.begin + double(part.read) * into.each - into.early)
                );
                const double share = into.begin + double(part.read + part.tokens - 1) * into.each - into.early;
                arriving.push_back({latest + (first + slow * out.each * double(part.tokens - 1)), share});
            }
            double pace = own;
            for (const auto& [last, share] : arriving)
                if (share > 0 && begin + own * share < last)
                    pace = std::max(pace, std::min((last - begin) / share, own + last - begin));
            starts.push_back(begin);
            paces.push_back(pace);
            paces_[events_[n].activity] = pace;
        }
    }

    // When the task has ended what it does before, and what it loads has begun to come.
    double free(std::size_t event, const std::vector<double>& starts, const std::vector<double>& paces) const {
        if (const Int before = before_[event]; before >= 0)
            return starts[before] + paces[before] + activities_[events_[before].activity].rest;
        return launched(events_[event].activity);
    }

    // How long after a launch it starts at least: what it loads has begun to come.
    double launched(Int number) const {
        const Activity& activity = activities_[number];
        const double pace = paces_[number] < 0 ? activity.cycles : paces_[number];
        double begun = 0.0;
        for (const Window& into : activity.reads)
            if (const Int depth = streams_[into.stream].load; depth >= 0)
                begun = std::max(begun, double(depth) - pace * (into.begin - into.early));
        return begun;
    }

    // How much later than its writer the reader starts at least; most tokens are in flight when the first is read, or
    // the last written where the reader is the slower one.
    Flow flow(const Link& link) const {
        const Ramp written = link.out->ramp(paces_[link.source], link.written);
        const Ramp read = link.into->ramp(paces_[link.target], link.read);
        const Int last = link.tokens - 1;
        const double behind = std::max(written.at(0) - read.at(0), written.at(last) - read.at(last));
        const double lag = written.late + read.early + double(activities_[link.source].depth) + behind;
        const double apart = written.early + read.late + read.begin;
        if (written.each >= read.each) return {lag, (apart - written.begin) / written.each, 1 / written.each};
        return {lag, double(last) + (apart - written.at(last)) / read.each, 1 / read.each};
    }

    // The earliest start of each event at its activity's pace, with the lags of all links.
    std::vector<double> starts() const {
        std::vector<double> found, paces;
        for (const Event& event : events_) paces.push_back(paces_[event.activity]);
        for (std::size_t n = 0; n < events_.size(); ++n) {
            double begin = free(n, found, paces);
            for (const std::size_t part : entering_[n])
                begin = std::max(begin, found[parts_[part].source] + all_links_[number_[part]].flow.lag);
            found.push_back(begin);
        }
        return found;
    }

    // Repetitions of one kind that pass tokens to each other in rounds behind the first of both are a group.
    void group() {
        seen_.assign(kinds_.size(), false);
        for (std::size_t repeat = 0; repeat < kinds_.size(); ++repeat) group_.push_back(Int(repeat));
        for (const Event& event : events_)
            for (const Round& round : event.rounds) seen_[round.repeat] = true;
        const auto of = [this](Int repeat) {
            while (group_[repeat] != repeat) repeat = group_[repeat];
            return repeat;
        };
        for (const Part& part : parts_)
            for (const Round& one : events_[part.source].rounds)
                for (const Round& other : events_[part.target].rounds)
                    if (one.time && other.time && kinds_[one.repeat] == kinds_[other.repeat])
                        group_[of(one.repeat)] = of(other.repeat);
        for (std::size_t repeat = 0; repeat < kinds_.size(); ++repeat) group_[repeat] = of(Int(repeat));
    }

    // Cycles between rounds of each group, as far as the last two are apart.
    void find_periods(const std::vector<double>& starts) {
        std::map<std::pair<Int, std::size_t>, double> apart;  // by activity and level
        for (std::size_t n = 0; n < events_.size(); ++n)
            for (std::size_t level = 0; level < events_[n].rounds.size(); ++level)
                if (const Round& round = events_[n].rounds[level]; round.time)
                    apart[{events_[n].activity, level}] = starts[n] - starts[round.earlier];
        periods_.assign(kinds_.size(), 0.0);
        for (const Event& event : events_)
            for (std::size_t level = 0; level < event.rounds.size(); ++level) {
                const auto one = apart.find({event.activity, level});
                double& period = periods_[group_[event.rounds[level].repeat]];
                period = std::max(period, one == apart.end() ? 0.0 : one->second);
            }
    }

    // Edges and phases, with these periods.
    void try_periods() {
        shifts_.clear();
        for (const Event& event : events_) {
            double shift = 0.0;
            for (const Round& round : event.rounds) shift += double(round.time) * periods_[group_[round.repeat]];
            shifts_.push_back(shift);
        }
        links.clear();
        edges.clear();
        std::set<std::pair<Int, Int>> seen;  // each once, however many rounds it is in
        for (std::size_t n = 0; n < parts_.size(); ++n) {
            const double shift = shifts_[parts_[n].target] - shifts_[parts_[n].source];
            if (!seen.emplace(number_[n], Int(std::nearbyint(shift))).second) continue;
            Link link = all_links_[number_[n]];
            link.shift = shift;
            const StreamOf& stream = streams_[link.stream];
            const double cost = link.flow.rate * double(stream.width);
            edges.push_back({node(link.source), node(link.target), link.flow.lag - shift, cost});
            link.flow.base += link.flow.rate * shift;
            links.push_back(link);
        }
        phases.clear();
        phase_.clear();
        for (const auto& [before, after] : after_) {
            const Activity& source = activities_[events_[before].activity];
            phase(before, after, paces_[events_[before].activity] + source.rest - (shifts_[after] - shifts_[before]));
        }
        for (const JointLoad& load : loads_) one_behind_the_other(load);
        for (std::size_t n = 0; n < nodes.size(); ++n) phases.push_back({launch, Int(n) + 1, launched(nodes[n]), 0.0});
    }

    void phase(Int before, Int after, double lag) {
        const Int source = node(events_[before].activity), target = node(events_[after].activity);
        const auto [place, added] = phase_.try_emplace({source, target}, phases.size());
        if (added)
            phases.push_back({source, target, lag, 0.0});
        else
            phases[place->second].lag = std::max(phases[place->second].lag, lag);
    }

    // Events between which a load goes from one of its streams to the next: the last that reads the one, and the first
    // that reads the other.
    void one_behind_the_other(const JointLoad& load) {
        std::vector<std::vector<std::vector<Int>>> in_rounds;
        std::vector<std::vector<Int>> all;
        std::size_t most = 0;
        for (Int n = 0; n < load.inside; ++n) {
            in_rounds.push_back(readers(load.streams[n], load.rounds));
            most = std::max(most, in_rounds.back().size());
        }
        for (std::size_t round = 0; round < most; ++round)
            for (const auto& one : in_rounds)
                if (round < one.size()) all.push_back(one[round]);
        for (std::size_t n = load.inside; n < load.streams.size(); ++n)
            for (const auto& one : readers(load.streams[n], 1)) all.push_back(one);
        const std::vector<Int>* last = nullptr;
        for (const auto& one : all) {
            if (one.empty()) continue;
            if (last != nullptr) {
                const Int before = last->back(), after = one.front();
                phase(before, after, paces_[events_[before].activity] - (shifts_[after] - shifts_[before]));
            }
            last = &one;
        }
    }

    // Events that read a stream, of each round of a load that are looked at.
    std::vector<std::vector<Int>> readers(Int stream, Int rounds) const {
        std::vector<Int> found;
        bool folded = false;
        for (std::size_t n = 0; n < events_.size(); ++n)
            for (const Window& into : activities_[events_[n].activity].reads)
                if (into.stream == stream) {
                    found.push_back(Int(n));
                    folded = folded || !events_[n].rounds.empty();
                }
        if (rounds == 1) return {found};
        std::vector<std::vector<Int>> of_rounds;
        if (folded) {
            std::map<Int, std::vector<Int>> by_round;
            for (const Int n : found) {
                const auto& outer = events_[n].rounds;
                by_round[outer.empty() ? 0 : outer[0].time + 1].push_back(n);
            }
            for (const auto& [round, events] : by_round) of_rounds.push_back(events);
            return of_rounds;
        }
        const std::size_t each = (found.size() + rounds - 1) / rounds;
        for (std::size_t k = 0; k < found.size(); k += each)
            of_rounds.emplace_back(found.begin() + k, found.begin() + std::min(k + each, found.size()));
        return of_rounds;
    }

    Edges by_node(Int Edge::*end) const {
        Edges found(nodes.size() + 1);
        for (const auto* list : {&edges, &phases})
            for (const Edge& edge : *list) found[edge.*end].push_back(&edge);
        return found;
    }

    // Bits of FIFOs that are saved for each cycle by which a node starts later: what it writes, less what it reads; and
    // what those save that write to it alone, which then may start later, too.
    std::vector<double> gains(const Edges& entering, const Edges& leaving) const {
        std::vector<double> found(leaving.size(), 0.0);
        for (std::size_t node = 0; node < found.size(); ++node) {
            double writers = 0.0;
            std::set<Int> seen;
            for (const Edge* edge : entering[node])
                if (edge->cost != 0.0 && seen.insert(edge->source).second && alone(leaving[edge->source], Int(node)))
                    writers += std::max(0.0, found[edge->source]);
            found[node] = cost(leaving[node]) - cost(entering[node]) + writers;
        }
        return found;
    }

    // Whether all that carry something lead to this node.
    static bool alone(const std::vector<const Edge*>& edges, Int node) {
        const auto leads = [node](const Edge* edge) { return edge->cost == 0.0 || edge->target == node; };
        return std::all_of(edges.begin(), edges.end(), leads);
    }

    static double cost(const std::vector<const Edge*>& edges) {
        double found = 0.0;
        for (const Edge* edge : edges) found += edge->cost;
        return found;
    }

    // Paces of the activities when they start so: those that may wait are as slow as their readers, where that delays
    // nobody.
    std::vector<double> stretched(const double* start) const {
        std::vector<double> paces = paces_;
        std::vector<std::vector<const Link*>> leaving(activities_.size()), entering(activities_.size());
        for (const Link& link : links) {
            leaving[link.source].push_back(&link);
            entering[link.target].push_back(&link);
        }
        std::vector<double> until(activities_.size(), infinity);
        for (const Edge& phase : phases) {
            if (phase.source == launch) continue;
            const Int source = nodes[phase.source - 1];
            const double room = start[phase.target] - start[phase.source] - phase.lag + paces_[source];
            until[source] = std::min(until[source], room);
        }
        for (std::size_t n = nodes.size(); n-- > 0;) {
            const Int name = nodes[n];
            if (!slack_[activities_[name].task] || leaving[name].empty()) continue;
            double wanted = infinity;  // the pace of a writer that is as quick as its reader
            for (const Link* link : leaving[name])
                wanted = std::min(wanted, paces[link->target] * link->into->each / link->out->each);
            if (wanted <= paces[name]) continue;
            double most = std::min(wanted, until[name]);
            for (const Link* link : leaving[name]) most = std::min(most, slowest_writer(*link, start, paces));
            for (const Link* link : entering[name]) most = std::min(most, slowest_reader(*link, start, paces));
            paces[name] = std::max(paces[name], most);
        }
        return paces;
    }

    // The slowest pace with which the source of a link keeps its lag.
    double slowest_writer(const Link& link, const double* start, const std::vector<double>& paces) const {
        const Window& out = *link.out;
        const Ramp read = link.into->ramp(paces[link.target], link.read);
        const double room = this->room(link, start) - read.early;
        double found = infinity;
        for (const Int token : {Int(0), link.tokens - 1}) {
            const double weight = out.late + out.begin + double(link.written + token) * out.each;
            if (weight > 0) found = std::min(found, (room + read.at(token)) / weight);
        }
        return found;
    }

    // The slowest pace with which the target of a link keeps its lag.
    double slowest_reader(const Link& link, const double* start, const std::vector<double>& paces) const {
        const Window& into = *link.into;
        const Ramp written = link.out->ramp(paces[link.source], link.written);
        const double room = this->room(link, start) - written.late;
        double found = infinity;
        for (const Int token : {Int(0), link.tokens - 1}) {
            const double weight = into.early - into.begin - double(link.read + token) * into.each;
            if (weight > 0) found = std::min(found, (room - written.at(token)) / weight);
        }
        return found;
    }

    double room(const Link& link, const double* start) const {
        const double apart = start[node(link.target)] - start[node(link.source)];
        return apart + link.shift - double(activities_[link.source].depth);
    }

    // Most tokens that were written, each at its earliest, and not yet read, each at its latest, one of them whole.
    static double most_in_flight(std::vector<Change>& changes) {
        std::sort(changes.begin(), changes.end());
        double level = 0.0, slope = 0.0, most = 0.0, now = 0.0;
        for (const auto& [cycle, jump, bend] : changes) {
            level += slope * (cycle - now) + jump;
            slope += bend;
            now = cycle;
            most = std::max(most, level);
        }
        return most;
    }

    std::vector<StreamOf> streams_;
    std::vector<bool> slack_;  // by task
    std::vector<Int> kinds_;  // by repetition
    std::vector<Activity> activities_;
    std::vector<Event> events_;
    std::vector<std::pair<Int, Int>> after_;  // events, and the next one of the same task
    std::vector<Int> before_;
    std::vector<JointLoad> loads_;
    std::vector<LeftOut> left_;
    std::vector<Part> parts_;
    std::vector<Link> all_links_;
    std::vector<Int> number_;  // the link of each part
    std::vector<std::vector<std::size_t>> entering_;  // parts, by event
    std::vector<double> paces_;  // by activity
    std::vector<bool> seen_;  // by repetition
    std::vector<Int> group_;
    std::vector<double> periods_;  // by group
    std::vector<double> shifts_;  // by event: how much later than its activity it starts
    std::map<std::pair<Int, Int>, std::size_t> phase_;
};

}  // namespace millrace
