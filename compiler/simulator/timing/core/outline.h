// The loops of a program, whatever is read and written in them: where one begins anew, states of the network may recur.
#pragma once

#include <deque>
#include <map>

#include "walk.h"

namespace millrace {

constexpr i64 BLOCK = 128;  // iterations of an anchor between two snapshots, at least (see repetition.h)

class Outline {
public:
    Outline() = default;
    Outline(Outline&&) = default;

    void build(const std::vector<Step>& program) {
        root_ = of_items(items_of(program));
        known_.clear();
        // Of several nests each may have its own length, so that what repeats in one of their loops does in no other.
        if (program.size() != 1 || !program.front().is_nest) least_ = 4;
    }

    // The outermost loop of which another iteration began between two places, by how many loops are inside; those at the
    // bottom, 0, are taken `stride` blocks at a time. -1 for none.
    int crossed(i64 from, i64 to, i64 stride) const {
        if (to >= root_->length) return from < to ? root_->height : -1;
        for (const Loop* in = root_;;) {
            const Place old = place(*in, from, stride), now = place(*in, to, stride);
            if (old.item != now.item || old.number != now.number) return in->height - 1;
            if (!now.inside) return -1;
            in = now.inside;
            from -= now.begin;
            to -= now.begin;
        }
    }

    // Iterations until `stride` blocks are over, or the loop around them.
    i64 left(i64 at, i64 stride) const {
        Place now = place(*root_, at, stride);
        while (now.inside) {
            at -= now.begin;
            now = place(*now.inside, at, stride);
        }
        return now.end - at;
    }

private:
    struct Loop {
        struct Item {
            const Loop* body;
            i64 times, begin;
        };
        i64 length = 0;
        int height = 1;  // loops that are worth it, one in the other
        std::vector<Item> items;  // none: it is a single iteration
    };
    using Items = std::vector<Loop::Item>;
    struct Place {
        std::size_t item;
        i64 number;  // of the block, or the iteration, within the item
        i64 begin, end;
        const Loop* inside;  // none: it is in a block
    };
    static constexpr std::size_t SHORT_ONES = ~std::size_t{0};

    std::deque<Loop> loops_;
    std::map<std::vector<i64>, const Loop*> known_;
    const Loop* root_ = nullptr;
    i64 least_ = 1;  // strides in a loop

    Items items_of(const std::vector<Step>& program) {
        Items items;
        for (const Step& step : program) {
            const Loop* body = step.is_nest ? nest(step.nest, 0) : sequence(items_of(step.body));
            const i64 times = step.is_nest ? 1 : step.times;
            if (body->length && times) items.push_back({body, times, 0});
        }
        return items;
    }

    const Loop* nest(const Nest& of, std::size_t k) {
        if (k == of.trips.size()) return loop({1, 1, {}}, {1});
        const Loop* inside = nest(of, k + 1);
        return sequence(of.trips[k] && inside->length ? Items{{inside, of.trips[k], 0}} : Items{});
    }

    const Loop* sequence(const Items& items) {
        return items.size() == 1 && items.front().times == 1 ? items.front().body : of_items(items);
    }

    const Loop* of_items(const Items& items) {
        Loop made;
        std::vector<i64> key{0};
        for (Loop::Item item : items) {
            item.begin = made.length;
            made.length += item.times * item.body->length;
            if (is_worth_it(*item.body)) made.height = std::max(made.height, item.body->height + 1);
            made.items.push_back(item);
            key.insert(key.end(), {reinterpret_cast<i64>(item.body), item.times});
        }
        return loop(std::move(made), std::move(key));
    }

    const Loop* loop(Loop made, std::vector<i64> key) {
        const auto [place, is_new] = known_.try_emplace(std::move(key), nullptr);
        if (is_new) {
            loops_.push_back(std::move(made));
            place->second = &loops_.back();
        }
        return place->second;
    }

    // Whether places inside it are told apart; else it is, or is less than, a block.
    static bool is_worth_it(const Loop& loop) {
        if (loop.length > 8 * BLOCK) return true;
        return std::any_of(loop.items.begin(), loop.items.end(), [](const auto& item) { return item.body->length >= BLOCK; });
    }

    Place place(const Loop& in, i64 at, i64 stride) const {
        const auto behind = std::upper_bound(in.items.begin(), in.items.end(), at,
                                             [](i64 wanted, const auto& item) { return wanted < item.begin; });
        const Loop::Item& item = *(behind - 1);
        const i64 length = item.body->length, inside = at - item.begin, all = item.times * length;
        const std::size_t number = static_cast<std::size_t>(&item - in.items.data());
        if (is_worth_it(*item.body)) {
            const i64 begin = item.begin + inside / length * length;
            return {number, inside / length, begin, begin + length, item.body};
        }
        if (all < BLOCK) {
            const i64 block = BLOCK * stride;
            return {SHORT_ONES, at / block, 0, std::min(in.length, (at / block + 1) * block), nullptr};
        }
        const i64 once = ceil_div(BLOCK, length) * length;
        const i64 block = once * std::clamp<i64>(all / once / least_, 1, stride);
        return {number, inside / block, 0, item.begin + std::min(all, (inside / block + 1) * block), nullptr};
    }
};

}  // namespace millrace
