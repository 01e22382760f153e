// What Python hands over: words, one after the other.
#pragma once

#include <cstdint>

namespace millrace {

template <class Word>
class Words {
  public:
    explicit Words(const Word* words) : words_(words) {}
    Word next() { return *words_++; }
    Word ahead() const { return *words_; }  // the next one, which stays
    const Word* skip(std::int64_t count) {
        const Word* found = words_;
        words_ += count;
        return found;
    }

  private:
    const Word* words_;
};

using Reader = Words<std::int64_t>;
using Numbers = Words<double>;

}  // namespace millrace
