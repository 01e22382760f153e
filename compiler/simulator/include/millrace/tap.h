// The taps: what a design says of its streams, and the record of what passes each of them.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/fail.h"

namespace millrace {

/// One stream as the design has it. Of its loops, outermost first, those that re-read repeat what is inside them.
struct Plan {
  struct Loop {
    std::size_t trip;
    bool rereads;
  };

  std::string source, target;
  std::size_t depth = 0, tokens = 1, distinct = 1;  // distinct: those of the first pass
  std::vector<Loop> loops;
  bool optional = false;  // some launches move nothing
};

/// Reads `directory`/plan. A line: name, source, target, depth, then a trip count a loop, with an r where it re-reads;
/// last of all a ? where some launches move nothing.
inline std::map<std::string, Plan> read_plans(const std::string& directory) {
  std::map<std::string, Plan> plans;
  std::ifstream file(directory + "/plan");
  if (!file) fail("cannot read %s/plan", directory.c_str());
  for (std::string line, name, loop; std::getline(file, line);) {
    std::istringstream words(line);
    Plan plan;
    words >> name >> plan.source >> plan.target >> plan.depth;
    while (words >> loop) {
      if (loop == "?") {
        plan.optional = true;
        continue;
      }
      plan.loops.push_back({std::stoul(loop), loop.back() == 'r'});
      plan.tokens *= plan.loops.back().trip;
      if (!plan.loops.back().rereads) plan.distinct *= plan.loops.back().trip;
    }
    plans.emplace(name, std::move(plan));
  }
  return plans;
}

/// Records the tokens of one stream in the order in which its first pass brings them, in `directory`/<name>.bin; a
/// later pass must bring the same. Where there is `directory`/<name>.in, its tokens are what the reader gets instead.
/// Of several calls of a kernel, the record is of the last.
class Tap {
  const Plan& plan_;
  const std::string name_, directory_;
  std::vector<std::size_t> index_, stride_;  // of each loop; in tokens of the first pass
  std::size_t count_ = 0, place_ = 0;
  std::size_t repeats_ = 0;  // re-reading loops that are past their first iteration
  char *record_ = nullptr, *given_ = nullptr;
  std::size_t bytes_ = 0;

 public:
  Tap(const Plan& plan, std::string name, std::string directory)
      : plan_(plan), name_(std::move(name)), directory_(std::move(directory)), index_(plan.loops.size()),
        stride_(plan.loops.size()) {
    std::size_t stride = 1;
    for (std::size_t k = plan.loops.size(); k-- > 0;) {
      stride_[k] = stride;
      if (!plan.loops[k].rereads) stride *= plan.loops[k].trip;
    }
  }
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;
  ~Tap() {
    if (record_) munmap(record_, bytes_ * plan_.distinct);
    if (given_) munmap(given_, bytes_ * plan_.distinct);
  }
  const Plan& plan() const { return plan_; }

  void pass(void* token, std::size_t bytes) {
    if (!record_) open_files(bytes);
    if (count_++ == plan_.tokens)
      fail("it writes more than the %zu tokens that stream %s carries", plan_.tokens, name_.c_str());
    char* recorded = record_ + place_ * bytes;
    if (repeats_ == 0)
      std::memcpy(recorded, token, bytes);
    else if (std::memcmp(recorded, token, bytes) != 0)
      fail("token %zu that it writes to %s is of a later pass and differs from that of the first", count_ - 1,
           name_.c_str());
    if (given_) std::memcpy(token, given_ + place_ * bytes, bytes);
    advance();
  }

 private:
  void advance() {
    for (std::size_t k = index_.size(); k-- > 0;) {
      const Plan::Loop& loop = plan_.loops[k];
      bool again = ++index_[k] < loop.trip;
      if (loop.rereads)
        repeats_ = repeats_ + (again && index_[k] == 1) - (!again && loop.trip > 1);
      else
        place_ += stride_[k];
      if (again) return;
      if (!loop.rereads) place_ -= stride_[k] * loop.trip;
      index_[k] = 0;
    }
  }

  void open_files(std::size_t bytes) {
    bytes_ = bytes;
    const std::string path = directory_ + "/" + name_;
    record_ = map(path + ".bin", O_RDWR | O_CREAT);
    if (access((path + ".in").c_str(), F_OK) == 0) given_ = map(path + ".in", O_RDONLY);
  }

  char* map(const std::string& path, int mode) {
    const bool writes = mode != O_RDONLY;
    const std::size_t size = bytes_ * plan_.distinct;
    int file = open(path.c_str(), mode | O_CLOEXEC, 0666);
    if (file < 0) fail("cannot open %s: %s", path.c_str(), std::strerror(errno));
    if (writes && ftruncate(file, off_t(size)) != 0) fail("cannot write %s: %s", path.c_str(), std::strerror(errno));
    if (!writes && lseek(file, 0, SEEK_END) != off_t(size))
      fail("%s does not hold %zu tokens of %zu bytes", path.c_str(), plan_.distinct, bytes_);
    void* at = mmap(nullptr, size, writes ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    if (at == MAP_FAILED) fail("cannot map %s: %s", path.c_str(), std::strerror(errno));
    return static_cast<char*>(at);
  }
};

}  // namespace millrace
