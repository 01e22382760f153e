// Snapshots of a machine, of which those at outer loops are kept longest: their states recur after the longest time.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "state.h"

namespace millrace {

struct Snapshot {
    struct OfProcess {
        i64 in, out, empty, full;
        Next next_in, next_out;
    };
    struct OfFifo {
        i64 pushed, popped, empty, full;
        i64 lowest, highest;  // since the snapshot before
    };
    i64 id, cycle;
    i64 previous;  // snapshot with this state, -1 for none
    int level;     // of the loop that an anchor began, -1 for none
    std::vector<i64> state;
    std::vector<OfProcess> processes;
    std::vector<OfFifo> fifos;
};

struct Extremes {
    i64 lowest, highest;
};

class History {
public:
    // As many snapshots as fit some 64 MiB.
    History(std::size_t processes, std::size_t fifos)
        : most_(std::clamp<std::size_t>(WORDS / (12 * processes + 6 * fifos + 1), 96, 1536)) {}

    std::size_t most() const { return most_; }

    bool empty() const { return snapshots_.empty(); }
    const Snapshot& last() const { return snapshots_.back(); }

    void clear() {
        snapshots_.clear();
        latest_.clear();
    }

    // The latest snapshot that was added under `key`, if it is still kept.
    const Snapshot* latest(u64 key) const {
        const auto found = latest_.find(key);
        return found == latest_.end() ? nullptr : find(found->second);
    }

    const Snapshot* find(i64 id) const {
        const auto found = std::lower_bound(snapshots_.begin(), snapshots_.end(), id,
                                            [](const Snapshot& snapshot, i64 wanted) { return snapshot.id < wanted; });
        return found != snapshots_.end() && found->id == id ? &*found : nullptr;
    }

    // A new snapshot, to be filled in.
    Snapshot& add(int level) {
        if (snapshots_.size() >= most_) thin();
        if (latest_.size() > 16 * most_) latest_.clear();
        Snapshot snapshot;
        if (!spare_.empty()) {  // for the memory that it has
            snapshot = std::move(spare_.back());
            spare_.pop_back();
        }
        snapshot.id = next_id_++;
        snapshot.level = level;
        snapshot.processes.clear();
        snapshot.fifos.clear();
        snapshots_.push_back(std::move(snapshot));
        return snapshots_.back();
    }

    void name(u64 key, i64 id) { latest_[key] = id; }

    // Fewest tokens at a read and most at a write of a FIFO since a snapshot.
    Extremes since(const Snapshot& snapshot, std::size_t fifo, Extremes now) const {
        for (const Snapshot* each = &snapshot + 1; each <= &snapshots_.back(); ++each) {
            now.lowest = std::min(now.lowest, each->fifos[fifo].lowest);
            now.highest = std::max(now.highest, each->fifos[fifo].highest);
        }
        return now;
    }

private:
    static constexpr std::size_t WORDS = std::size_t{8} << 20;

    std::size_t most_;
    std::vector<Snapshot> snapshots_, spare_;
    std::unordered_map<u64, i64> latest_;
    i64 next_id_ = 0;

    // Of the older ones, keeps those at outer loops, as long as there is room for them.
    void thin() {
        const std::size_t old = snapshots_.size() - most_ / 3;
        int least = 1;
        while (at_least(least, old) > most_ / 3) ++least;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < snapshots_.size(); ++i) {
            if (i < old && snapshots_[i].level < least) {
                merge(snapshots_[i], snapshots_[i + 1]);
                spare_.push_back(std::move(snapshots_[i]));
            } else if (i != kept++) {
                snapshots_[kept - 1] = std::move(snapshots_[i]);
            }
        }
        snapshots_.resize(kept);
    }

    std::size_t at_least(int level, std::size_t old) const {
        return static_cast<std::size_t>(std::count_if(snapshots_.begin(), snapshots_.begin() + static_cast<long>(old),
                                                      [&](const Snapshot& each) { return each.level >= level; }));
    }

    static void merge(const Snapshot& from, Snapshot& into) {
        for (std::size_t f = 0; f < from.fifos.size(); ++f) {
            into.fifos[f].lowest = std::min(into.fifos[f].lowest, from.fifos[f].lowest);
            into.fifos[f].highest = std::max(into.fifos[f].highest, from.fifos[f].highest);
        }
    }
};

}  // namespace millrace
