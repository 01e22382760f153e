// What a network is: the same for all its runs.
#pragma once

#include <memory>

#include "walk.h"

namespace millrace {

constexpr i64 BLOCK = 128;  // iterations of an anchor between two snapshots, at least (see repetition.h)

struct Program {
    bool stalls = false, drains = true;
    bool restarts = false;  // it consists of several runs
    i64 ii = 1, per = 1, latency = 2, gap = 0, run = 1, total = 1;
    i64 slots = 1;  // iterations that a flushable process holds at most
    i64 mask = 1;   // of a ring for more than `slots` cycles
    std::vector<i64> blocks;  // iterations inside each loop, of at least BLOCK, innermost first
    Walk reads, writes;
};

struct Plan {
    std::vector<Program> processes;
    std::vector<int> source, target;  // of each FIFO
};

// Reads the numbers that core.py writes.
class PlanReader {
public:
    explicit PlanReader(const i64* words) : words_(words) {}

    std::unique_ptr<Plan> read() {
        auto plan = std::make_unique<Plan>();
        const i64 processes = next(), fifos = next();
        plan->source.assign(static_cast<std::size_t>(fifos), -1);
        plan->target.assign(static_cast<std::size_t>(fifos), -1);
        for (i64 p = 0; p < processes; ++p) {
            plan->processes.push_back(timing());
            Program& program = plan->processes.back();
            program.reads.build(trips_, accesses(plan->target, static_cast<int>(p)));
            program.writes.build(trips_, accesses(plan->source, static_cast<int>(p)));
        }
        return plan;
    }

private:
    const i64* words_;
    std::vector<i64> trips_;

    i64 next() { return *words_++; }

    Program timing() {
        Program program;
        program.stalls = next() != 0;
        program.drains = next() != 0;
        program.ii = next();
        program.per = next();
        program.latency = next();
        program.gap = next();
        const i64 restarts = next();
        trips_.resize(static_cast<std::size_t>(next()));
        for (i64& trip : trips_) trip = next();
        for (std::size_t k = trips_.size(); k-- > 0;) {
            program.total *= trips_[k];
            if (static_cast<i64>(k) >= restarts) program.run *= trips_[k];
            if (program.total >= BLOCK) program.blocks.push_back(program.total);
        }
        if (program.blocks.empty() || program.blocks.front() > 8 * BLOCK)
            program.blocks.insert(program.blocks.begin(), BLOCK);
        program.restarts = program.run < program.total;
        program.slots = std::max<i64>(1, ceil_div((program.latency - 1) * program.per, program.ii));
        while (program.mask < program.slots) program.mask = 2 * program.mask + 1;
        return program;
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
