// The scheduler of the fibres, its reports, and the taps. One per program, single-threaded.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "millrace/context.h"
#include "millrace/fail.h"
#include "millrace/fiber.h"
#include "millrace/tap.h"

namespace millrace {

namespace {

enum ExitCode { kDeadlock = 3, kLeftover = 4, kError = 5 };

// Address space only: pages are committed when touched. Room for the on-chip arrays of a task, which are its locals.
constexpr std::size_t kStackBytes = std::size_t(64) << 20;
constexpr std::size_t kGuardBytes = std::size_t(1) << 16;

}  // namespace

class Fiber {
 public:
  enum class State { kReady, kEmpty, kFull, kJoin, kFinished };

  Fiber(std::string name, Fiber* parent, std::unique_ptr<Job> job)
      : name(std::move(name)), parent(parent), job(std::move(job)) {}

  const std::string name;
  Fiber* const parent;
  std::unique_ptr<Job> job;
  Context context;
  char* stack = nullptr;
  State state = State::kReady;
  StreamBase* stream = nullptr;  // what it waits for in states kEmpty and kFull
  Fiber* next_ready = nullptr;
  int running_children = 0;
  int open_streams = 0;

  bool blocked() const { return state == State::kEmpty || state == State::kFull; }
};

class Runtime {
 public:
  Runtime();
  ~Runtime();

  Fiber* spawn(const char* name, std::unique_ptr<Job> job);
  void open(StreamBase& stream);
  void close(StreamBase& stream);
  void block(Fiber::State state, StreamBase* stream);
  void wake(Fiber* fiber);
  void yield();
  void let_others_run();
  static void attach(Fiber* fiber, StreamBase& stream);

  Fiber* current;

 private:
  static void fiber_main();
  void run_children();
  void finish();
  void check_counts() const;
  void resume_next();
  Fiber* other_end(const Fiber* fiber) const;
  std::vector<const Fiber*> find_cycle(const std::vector<const Fiber*>& blocked) const;
  [[noreturn]] void report_deadlock();
  void report_leftover(const Fiber* owner, const StreamBase* only);
  char* take_stack();

  Fiber main_{"main", nullptr, nullptr};
  std::vector<std::unique_ptr<Fiber>> fibers_;  // of the regions that are open
  Fiber *ready_first_ = nullptr, *ready_last_ = nullptr;
  std::deque<Fiber*> last_;  // go on when no other can
  std::vector<char*> free_stacks_;
  std::vector<StreamBase*> streams_;
  int unnamed_streams_ = 0;

  std::string tap_directory_;
  std::map<std::string, Plan> plans_;  // of the streams that are tapped
};

namespace {

Runtime& runtime() {
  static Runtime instance;
  return instance;
}

[[maybe_unused]] Runtime& started_with_the_program = runtime();

__attribute__((format(printf, 2, 3))) void append(std::string& text, const char* format, ...) {
  char piece[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(piece, sizeof piece, format, arguments);
  va_end(arguments);
  text += piece;
}

/// Before each but the first item of a list.
const char* comma(const std::string& list) { return list.empty() ? "" : ", "; }

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) result += c;
  }
  return result + '"';
}

[[noreturn]] void leave(ExitCode code) {
  std::fflush(nullptr);
  std::_Exit(code);
}

void print_error(const std::string& task, const std::string& message) {
  std::fprintf(stderr, "csim error in task %s: %s\nMILLRACE_ERROR {\"task\": %s, \"message\": %s}\n", task.c_str(),
               message.c_str(), quoted(task).c_str(), quoted(message).c_str());
}

/// As fail() does, of another task than the one that runs.
__attribute__((format(printf, 2, 3))) [[noreturn]] void fail_of(const std::string& task, const char* format, ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  print_error(task, message);
  leave(kError);
}

// Runs on its own stack: the fault may be an overflow of the fibre's.
void on_fault(int signal, siginfo_t* info, void*) {
  const Fiber* fiber = runtime().current;
  auto* address = static_cast<char*>(info->si_addr);
  bool overflow = signal == SIGSEGV && fiber->stack && address >= fiber->stack && address < fiber->stack + kGuardBytes;
  char text[512];
  int length = std::snprintf(text, sizeof text, "MILLRACE_ERROR {\"task\": \"%s\", \"message\": \"%s (signal %d)\"}\n",
                             fiber->name.c_str(),
                             overflow ? "the arrays of the task exceed its stack of 64 MiB"
                             : signal == SIGFPE ? "an arithmetic fault: an integer division by zero"
                                                : "a crash: an access outside an array or a memory",
                             signal);
  if (write(STDERR_FILENO, text, std::size_t(length)) < 0) _exit(kError);
  _exit(kError);
}

void catch_faults() {
  static char stack[1 << 16];
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &action, nullptr);
}

}  // namespace

Runtime::Runtime() : current(&main_) {
  catch_faults();
  if (const char* directory = std::getenv("MILLRACE_TAPS")) {
    tap_directory_ = directory;
    plans_ = read_plans(tap_directory_);
  }
#ifdef __linux__
  if (std::getenv("MILLRACE_DIE_WITH_PARENT")) prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

Runtime::~Runtime() {
  if (main_.running_children == 0) return;
  print_error("main", "tasks were called in a scope whose streams outlive main; declare the streams in the top function");
  leave(kError);
}

Fiber* Runtime::spawn(const char* name, std::unique_ptr<Job> job) {
  std::string unique = name;
  for (int copy = 2; std::any_of(fibers_.begin(), fibers_.end(), [&](auto& f) { return f->name == unique; }); ++copy)
    unique = name + ("#" + std::to_string(copy));
  fibers_.push_back(std::make_unique<Fiber>(unique, current, std::move(job)));
  Fiber* fiber = fibers_.back().get();
  fiber->stack = take_stack();
  fiber->context.prepare(fiber->stack, kStackBytes, fiber_main);
  ++current->running_children;
  wake(fiber);
  return fiber;
}

char* Runtime::take_stack() {
  if (!free_stacks_.empty()) {
    char* stack = free_stacks_.back();
    free_stacks_.pop_back();
    return stack;
  }
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) fail("no address space for the stack of a task: %s", std::strerror(errno));
  mprotect(stack, kGuardBytes, PROT_NONE);
  return static_cast<char*>(stack);
}

void Runtime::fiber_main() {
  Runtime& self = runtime();
  try {
    self.current->job->run();
  } catch (const std::exception& error) {
    fail("it throws: %s", error.what());
  } catch (...) {
    fail("it throws an exception");
  }
  self.finish();
  __builtin_unreachable();
}

void Runtime::finish() {
  Fiber* self = current;
  if (self->running_children > 0) fail("it returned while tasks that it called still run");
  check_counts();
  self->state = Fiber::State::kFinished;
  self->job.reset();
  free_stacks_.push_back(self->stack);  // not taken before this fibre is left for good, below
  self->stack = nullptr;
  if (--self->parent->running_children == 0 && self->parent->state == Fiber::State::kJoin) wake(self->parent);
  resume_next();
}

/// A task that ends must have moved every token that the plans of its streams say; or none, where one says that too.
void Runtime::check_counts() const {
  for (const StreamBase* stream : streams_) {
    if (!stream->tap_ || (stream->ends_[0] != current && stream->ends_[1] != current)) continue;
    const Plan& plan = stream->tap_->plan();
    const bool writes = plan.source == current->name;
    const std::size_t moved = writes ? stream->tail_ : stream->head_;
    if (moved != plan.tokens && !(plan.optional && moved == 0))
      fail("it ends after it has %s %zu of the %zu tokens of stream %s", writes ? "written" : "read", moved,
           plan.tokens, stream->name_.c_str());
  }
}

void Runtime::wake(Fiber* fiber) {
  fiber->state = Fiber::State::kReady;
  fiber->next_ready = nullptr;
  if (ready_last_)
    ready_last_->next_ready = fiber;
  else
    ready_first_ = fiber;
  ready_last_ = fiber;
}

void Runtime::resume_next() {
  if (!ready_first_ && !last_.empty()) {
    wake(last_.front());
    last_.pop_front();
  }
  Fiber* next = ready_first_;
  if (!next) report_deadlock();
  ready_first_ = next->next_ready;
  if (!ready_first_) ready_last_ = nullptr;
  Fiber* self = current;
  if (next == self) return;
  current = next;
  self->context.switch_to(next->context);
}

void Runtime::block(Fiber::State state, StreamBase* stream) {
  current->state = state;
  current->stream = stream;
  resume_next();
}

void Runtime::yield() {
  if (!ready_first_) return;
  wake(current);
  resume_next();
}

void Runtime::let_others_run() {
  last_.push_back(current);
  resume_next();
}

void Runtime::run_children() {
  Fiber* self = current;
  while (self->running_children > 0) block(Fiber::State::kJoin, nullptr);
  report_leftover(self, nullptr);
  fibers_.erase(std::remove_if(fibers_.begin(), fibers_.end(), [&](auto& fiber) { return fiber->parent == self; }),
                fibers_.end());
}

void Runtime::open(StreamBase& stream) {
  if (stream.name_.empty()) {
    stream.name_ = "stream" + std::to_string(unnamed_streams_++);
  } else if (auto found = plans_.find(stream.name_); found != plans_.end()) {
    const Plan& plan = found->second;
    if (stream.depth_ != plan.depth)
      fail_of(plan.source, "stream %s holds %zu tokens where the design was certified with %zu", stream.name_.c_str(),
              stream.depth_, plan.depth);
    stream.tap_ = new Tap(plan, stream.name_, tap_directory_);
    stream.watched_ = true;
  }
  stream.owner_ = current;
  ++current->open_streams;
  streams_.push_back(&stream);
}

void Runtime::close(StreamBase& stream) {
  if (current->running_children > 0) run_children();
  report_leftover(stream.owner_, &stream);
  --stream.owner_->open_streams;
  streams_.erase(std::find(streams_.rbegin(), streams_.rend(), &stream).base() - 1);
}

void Runtime::attach(Fiber* fiber, StreamBase& stream) {
  if (stream.ends_[0] && stream.ends_[1])
    fail("stream %s is given to three tasks, %s, %s and %s; a stream has one writer and one reader",
         stream.name_.c_str(), stream.ends_[0]->name.c_str(), stream.ends_[1]->name.c_str(), fiber->name.c_str());
  if (stream.tap_) {
    const Plan& plan = stream.tap_->plan();
    if (fiber->name != plan.source && fiber->name != plan.target)
      fail_of(fiber->name, "it is given stream %s, which goes from %s to %s", stream.name_.c_str(), plan.source.c_str(),
              plan.target.c_str());
  }
  stream.ends_[stream.ends_[0] ? 1 : 0] = fiber;
}

/// The task at the other end of the stream that `fiber` waits for; null where none was given it.
Fiber* Runtime::other_end(const Fiber* fiber) const {
  if (!fiber->blocked()) return nullptr;
  Fiber* const* ends = fiber->stream->ends_;
  return ends[0] == fiber ? ends[1] : ends[0];
}

/// Each blocked task waits for one other, so following them ends in a cycle, or at a task that is not blocked.
std::vector<const Fiber*> Runtime::find_cycle(const std::vector<const Fiber*>& blocked) const {
  for (const Fiber* start : blocked) {
    std::vector<const Fiber*> path;
    for (const Fiber* at = start; at; at = other_end(at)) {
      auto seen = std::find(path.begin(), path.end(), at);
      if (seen != path.end()) return {seen, path.end()};
      path.push_back(at);
    }
  }
  return {};
}

void Runtime::report_deadlock() {
  std::vector<const Fiber*> blocked;
  int finished = 0;
  if (main_.blocked()) blocked.push_back(&main_);
  for (auto& fiber : fibers_) {
    if (fiber->state == Fiber::State::kFinished) ++finished;
    if (fiber->blocked()) blocked.push_back(fiber.get());
  }

  std::string text, tasks, cycle, chain, grow;
  append(text, "csim deadlock: no task can run, %zu blocked, %d finished\n", blocked.size(), finished);
  for (const Fiber* fiber : blocked) {
    const StreamBase& stream = *fiber->stream;
    const Fiber* other = other_end(fiber);
    bool full = fiber->state == Fiber::State::kFull, ended = other && other->state == Fiber::State::kFinished;
    append(text, "  %s %s %s (%zu/%zu), waits for %s%s\n", fiber->name.c_str(),
           full ? "writes to full" : "reads from empty", stream.name_.c_str(), stream.size(), stream.depth_,
           other ? other->name.c_str() : "no task", ended ? ", which has finished" : "");
    append(tasks, "%s{\"task\": %s, \"stream\": %s, \"state\": \"%s\", ", comma(tasks), quoted(fiber->name).c_str(),
           quoted(stream.name_).c_str(), full ? "full" : "empty");
    append(tasks, "\"size\": %zu, \"depth\": %zu, \"waits_for\": %s, \"finished\": %s}", stream.size(), stream.depth_,
           other ? quoted(other->name).c_str() : "null", ended ? "true" : "false");
  }
  for (const Fiber* fiber : find_cycle(blocked)) {
    bool full = fiber->state == Fiber::State::kFull;
    append(cycle, "%s%s", comma(cycle), quoted(fiber->name).c_str());
    append(chain, "%s -[%s %s]-> ", fiber->name.c_str(), fiber->stream->name_.c_str(), full ? "full" : "empty");
    if (full) append(grow, "%s%s", comma(grow), fiber->stream->name_.c_str());
  }
  if (!chain.empty()) text += "  cycle: " + chain + "...\n";
  if (!grow.empty()) text += "  a larger depth of one of these breaks the cycle: " + grow + "\n";
  std::fprintf(stderr, "%sMILLRACE_DEADLOCK {\"tasks\": [%s], \"cycle\": [%s], \"finished\": %d}\n", text.c_str(),
               tasks.c_str(), cycle.c_str(), finished);
  leave(kDeadlock);
}

/// Ends the run if streams of `owner`, or `only` that one, hold tokens.
void Runtime::report_leftover(const Fiber* owner, const StreamBase* only) {
  std::string text, streams;
  for (const StreamBase* stream : streams_) {
    if (stream->owner_ != owner || (only && stream != only) || stream->size() == 0) continue;
    append(text, "csim leftover: %zu of %zu tokens of %s were not read\n", stream->size(), stream->tail_,
           stream->name_.c_str());
    std::string tasks;
    for (const Fiber* end : stream->ends_)
      if (end) append(tasks, "%s%s", comma(tasks), quoted(end->name).c_str());
    append(streams, "%s{\"stream\": %s, \"size\": %zu, \"written\": %zu, \"depth\": %zu, \"tasks\": [%s]}",
           comma(streams), quoted(stream->name_).c_str(), stream->size(), stream->tail_, stream->depth_, tasks.c_str());
  }
  if (streams.empty()) return;
  std::fprintf(stderr, "%sMILLRACE_LEFTOVER {\"streams\": [%s]}\n", text.c_str(), streams.c_str());
  leave(kLeftover);
}

void fail(const char* format, ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  print_error(runtime().current->name, message);
  leave(kError);
}

namespace {

std::size_t slots_for(std::size_t depth) {
  std::size_t slots = 1;
  while (slots < depth) slots *= 2;
  return slots;
}

void claim(Fiber*& place, const char* verb, const std::string& stream) {
  Fiber* self = runtime().current;
  if (place)
    fail("stream %s is %s by two tasks, %s and %s", stream.c_str(), verb, place->name.c_str(), self->name.c_str());
  place = self;
}

}  // namespace

StreamBase::StreamBase(const char* name, std::size_t depth)
    : depth_(depth), mask_(slots_for(depth) - 1), name_(*new std::string(name ? name : "")) {
  runtime().open(*this);
}

StreamBase::~StreamBase() {
  delete tap_;
  delete &name_;
}

void StreamBase::close() { runtime().close(*this); }

void StreamBase::wait_for_token() {
  if (tap_ && head_ == tap_->plan().tokens)
    fail("it reads more than the %zu tokens that stream %s carries", head_, name_.c_str());
  do {
    claim(reader_, "read", name_);
    watched_ = true;
    runtime().block(Fiber::State::kEmpty, this);
  } while (head_ == tail_);
}

void StreamBase::wait_for_room() {
  do {
    claim(writer_, "written", name_);
    runtime().block(Fiber::State::kFull, this);
  } while (tail_ - head_ == depth_);
}

void StreamBase::wake_writer() { runtime().wake(std::exchange(writer_, nullptr)); }

void StreamBase::pushed(void* token, std::size_t bytes) {
  watched_ = tap_ != nullptr;
  if (tap_) tap_->pass(token, bytes);
  if (reader_) runtime().wake(std::exchange(reader_, nullptr));
}

void StreamBase::yield() { runtime().yield(); }

void let_others_run() { runtime().let_others_run(); }

bool in_region() { return runtime().current->open_streams > 0; }

Fiber* spawn(const char* name, Job* job) { return runtime().spawn(name, std::unique_ptr<Job>(job)); }

void attach(Fiber* fiber, StreamBase& stream) { Runtime::attach(fiber, stream); }

}  // namespace millrace
