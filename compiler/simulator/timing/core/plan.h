// What a network is: the same for all its runs.
#pragma once

#include <memory>

#include "outline.h"

namespace millrace {

struct Program {
    bool stalls = false, drains = true;
    bool waits = false;  // a run for the end of the one before
    i64 ii = 1, per = 1, latency = 2, gap = 0, total = 0;
    i64 slots = 1;  // iterations that a flushable process holds at most
    i64 mask = 1;   // of a ring for more than `slots` cycles
    Walk reads, writes;
    Outline outline;

    // From the end of a run to the next one, which has `idle` runs of no iterations before it.
    i64 pause(i64 idle) const { return (1 + idle) * gap; }
};

struct Plan {
    std::vector<Program> processes;
    std::vector<int> source, target;  // of each FIFO
    std::vector<i64> initial;         // tokens
};

// Reads the numbers that core.py writes.
class PlanReader {
public:
    explicit PlanReader(const i64* words) : words_(words) {}

    // None where a nest has so many different parts that memory does not hold them.
    std::unique_ptr<Plan> read() {
        auto plan = std::make_unique<Plan>();
        const i64 processes = next(), fifos = next();
        plan->source.assign(static_cast<std::size_t>(fifos), -1);
        plan->target.assign(static_cast<std::size_t>(fifos), -1);
        for (i64 f = 0; f < fifos; ++f) plan->initial.push_back(next());
        plan->processes.reserve(static_cast<std::size_t>(processes));
        i64 room = MOST_PARTS + processes * PARTS_EACH;
        for (i64 p = 0; p < processes; ++p) {
            plan->processes.push_back(timing());
            Program& program = plan->processes.back();
            const std::vector<Step> steps = sequence(*plan, static_cast<int>(p));
            // Pipelines that go on from run to run without a pause do not know them.
            const bool has_runs = program.stalls || program.drains || program.gap > 0;
            if (!program.reads.build(steps, &Nest::reads, has_runs, room)) return nullptr;
            if (!program.writes.build(steps, &Nest::writes, has_runs, room)) return nullptr;
            program.outline.build(steps);
            program.total = program.reads.total;
            program.waits = program.drains && program.reads.has_several_runs();
        }
        return plan;
    }

private:
    static constexpr i64 MOST_PARTS = i64{1} << 20, PARTS_EACH = 64;

    const i64* words_;

    i64 next() { return *words_++; }

    Program timing() {
        Program program;
        program.stalls = next() != 0;
        program.drains = next() != 0;
        program.ii = next();
        program.per = next();
        program.latency = next();
        program.gap = next();
        program.slots = std::max<i64>(1, ceil_div((program.latency - 1) * program.per, program.ii));
        while (program.mask < program.slots) program.mask = 2 * program.mask + 1;
        return program;
    }

    std::vector<Step> sequence(Plan& plan, int process) {
        std::vector<Step> steps(static_cast<std::size_t>(next()));
        for (Step& step : steps) {
            step.times = next();
            step.is_nest = step.times < 0;
            if (step.is_nest)
                step.nest = nest(plan, process);
            else
                step.body = sequence(plan, process);
        }
        return steps;
    }

    Nest nest(Plan& plan, int process) {
        Nest found;
        found.restarts = static_cast<std::size_t>(next());
        found.trips.resize(static_cast<std::size_t>(next()));
        for (i64& trip : found.trips) trip = next();
        found.reads = accesses(plan.target, process);
        found.writes = accesses(plan.source, process);
        return found;
    }

    std::vector<Access> accesses(std::vector<int>& end, int process) {
        std::vector<Access> all(static_cast<std::size_t>(next()));
        for (Access& access : all) {
            access.fifo = static_cast<int>(next());
            end[static_cast<std::size_t>(access.fifo)] = process;
            access.gates.resize(static_cast<std::size_t>(next()));
            for (Gate& gate : access.gates) {
                gate.loop = static_cast<int>(next());
                gate.low = next();
                gate.high = next();
            }
        }
        return all;
    }
};

}  // namespace millrace
