// How stand-in headers and runtime end a run that went wrong.
#pragma once

namespace millrace {

/// Prints the message with the running task as a MILLRACE_ERROR line and exits with code 5.
[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace millrace
