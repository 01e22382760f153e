// Dataflow tasks as stackful fibres.
//
// A region is a scope that declares streams and then calls tasks. Compiled with csim_spawn.h, which turns the name of
// each task into a macro around millrace::task(), such a call becomes a fibre; its arguments are evaluated at the call.
// Fibres run when the scope ends: the destructor of the first stream runs them all. So declare arrays that tasks share
// before the streams. Without a stream in scope a call is a plain call.
//
// A fibre runs until it blocks. Whether the tasks end depends on stream depths only, never on the order of running, so
// every deadlock that the depths allow is found. Reports go to stderr, one line of JSON each:
//   MILLRACE_DEADLOCK {...}  exit code 3: no task can run; what each waits for and the cycle
//   MILLRACE_LEFTOVER {...}  exit code 4: tasks ended with unread tokens
//   MILLRACE_ERROR {...}     exit code 5: misuse, an exception, a crash, tokens other than planned; names the task
//
// MILLRACE_TAPS names a folder whose file `plan` has a line for each stream of the design (see millrace/tap.h). What
// passes them is then recorded there, and every stream must have the ends, the depth and the tokens of its plan.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <type_traits>
#include <utility>

namespace millrace {

// Every source of a design includes this, and <string> and <memory> take longer to compile than a small one: here stand
// references and pointers, whose targets runtime.cpp makes and deletes.
class Fiber;
class Tap;

/// State of a stream that does not depend on its token type. One fibre reads it and one writes it.
class StreamBase {
 public:
  StreamBase(const StreamBase&) = delete;
  StreamBase& operator=(const StreamBase&) = delete;
  const std::string& name() const { return name_; }
  /// Tokens in the stream, and how many it can hold.
  std::size_t size() const { return tail_ - head_; }
  std::size_t capacity() const { return depth_; }

 protected:
  StreamBase(const char* name, std::size_t depth);
  ~StreamBase();

  std::size_t head_ = 0, tail_ = 0;  // tokens read and written so far
  const std::size_t depth_, mask_;   // mask_ + 1 slots, a power of two
  bool watched_ = false;             // pushed() has work: a reader waits, or the stream is tapped
  Fiber* reader_ = nullptr;          // blocked on empty
  Fiber* writer_ = nullptr;          // blocked on full

  void wait_for_token();
  void wait_for_room();
  void wake_writer();
  void pushed(void* token, std::size_t bytes);
  void yield();
  /// At the start of the destructor: runs the fibres of the region to their ends and checks for unread tokens.
  void close();

 private:
  friend class Runtime;
  std::string& name_;
  Fiber* owner_;                         // whose region this is
  Fiber* ends_[2] = {nullptr, nullptr};  // tasks that were given this stream
  Tap* tap_ = nullptr;
};

/// The body of a fibre.
class Job {
 public:
  virtual ~Job() = default;
  virtual void run() = 0;
};

/// Goes on when no other task can.
void let_others_run();
/// Whether the running fibre has streams open, so that task calls become fibres.
bool in_region();
/// `job` is deleted with the fibre.
Fiber* spawn(const char* name, Job* job);
/// Notes that `fiber` was given `stream`, for reports.
void attach(Fiber* fiber, StreamBase& stream);

namespace detail {

template <class T>
void attach_if_stream(Fiber* fiber, T& argument) {
  if constexpr (std::is_base_of_v<StreamBase, T>)
    attach(fiber, argument);
  else if constexpr (std::is_array_v<T>)
    for (auto& element : argument) attach_if_stream(fiber, element);
}

template <class Parameter, class Argument>
using Held = std::conditional_t<std::is_lvalue_reference_v<Parameter> && std::is_lvalue_reference_v<Argument>,
                                Parameter, std::decay_t<Parameter>>;

// Where std::tuple would do: of a hundred kinds of calls, these take a third of its time to compile.
template <std::size_t, class T>
struct Slot {
  T argument;
};

template <class Function, class Numbers, class... H>
class CallJob;

template <class Function, std::size_t... N, class... H>
class CallJob<Function, std::index_sequence<N...>, H...> final : public Job, Slot<N, H>... {
  Function* function_;

 public:
  template <class... A>
  explicit CallJob(Function* function, A&&... arguments)
      : Slot<N, H>{std::forward<A>(arguments)}..., function_(function) {}
  void run() override { function_(Slot<N, H>::argument...); }
};

template <class... P>
class TaskCall {
  const char* name_;
  void (*function_)(P...);

 public:
  TaskCall(const char* name, void (*function)(P...)) : name_(name), function_(function) {}

  template <class... A>
  void operator()(A&&... arguments) const {
    static_assert(sizeof...(A) == sizeof...(P), "a task call gives every argument");
    if (!in_region()) return function_(std::forward<A>(arguments)...);
    using Body = CallJob<void(P...), std::index_sequence_for<P...>, Held<P, A&&>...>;
    [[maybe_unused]] Fiber* fiber = spawn(name_, new Body(function_, std::forward<A>(arguments)...));
    (attach_if_stream(fiber, arguments), ...);
  }
};

}  // namespace detail

/// `function` as a callable that starts a fibre.
template <class... P>
detail::TaskCall<P...> task(const char* name, void (*function)(P...)) {
  return {name, function};
}

}  // namespace millrace
