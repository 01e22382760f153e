// Waiting of each process by parts of time, which get wider as time goes on.
#pragma once

#include <algorithm>
#include <vector>

#include "state.h"

namespace millrace {

class Timeline {
public:
    i64 width = FINEST;
    std::vector<double> empty, full;  // [process][bucket]

    Timeline(int buckets, std::size_t processes) : buckets_(buckets) {
        empty.assign(processes * static_cast<std::size_t>(buckets), 0.0);
        full.assign(processes * static_cast<std::size_t>(buckets), 0.0);
        seen_.assign(processes, {0, 0});
    }

    // How long a window may be so that no part of time gets what happened in others.
    i64 window() const { return buckets_ ? std::min(width, WINDOW) : WINDOW; }

    // What the processes waited since the last call, evenly over the cycles [from, to).
    void note(const std::vector<Process>& processes, i64 from, i64 to) {
        if (buckets_ == 0) return;
        while (to > width * buckets_) fold();
        for (std::size_t p = 0; p < processes.size(); ++p) {
            add(empty, p, from, to, processes[p].empty - seen_[p].empty);
            add(full, p, from, to, processes[p].full - seen_[p].full);
            seen_[p] = {processes[p].empty, processes[p].full};
        }
    }

private:
    static constexpr i64 FINEST = 16;
    struct Waited {
        i64 empty, full;
    };
    int buckets_;
    std::vector<Waited> seen_;

    void add(std::vector<double>& rows, std::size_t process, i64 from, i64 to, i64 cycles) const {
        if (cycles == 0) return;
        double* row = &rows[process * static_cast<std::size_t>(buckets_)];
        const double each = static_cast<double>(cycles) / static_cast<double>(to - from);
        for (i64 b = from / width; b <= (to - 1) / width; ++b)
            row[b] += each * static_cast<double>(std::min(to, (b + 1) * width) - std::max(from, b * width));
    }

    void fold() {
        for (std::vector<double>* rows : {&empty, &full})
            for (std::size_t row = 0; row < rows->size(); row += static_cast<std::size_t>(buckets_))
                fold_row(&(*rows)[row]);
        width *= 2;
    }

    void fold_row(double* row) const {
        const auto at = [&](int b) { return b < buckets_ ? row[b] : 0.0; };
        for (int b = 0; b < buckets_; ++b) row[b] = at(2 * b) + at(2 * b + 1);
    }
};

}  // namespace millrace
