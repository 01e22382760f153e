// Switching between stacks: by hand on x86-64 and AArch64, through ucontext (two system calls a switch) elsewhere or
// where MILLRACE_UCONTEXT is defined. Included by runtime.cpp only.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(MILLRACE_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define MILLRACE_UCONTEXT
#endif

#ifdef MILLRACE_UCONTEXT

#include <ucontext.h>

namespace millrace {

class Context {
  ucontext_t context_;

 public:
  void prepare(void* stack, std::size_t bytes, void (*entry)()) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack;
    context_.uc_stack.ss_size = bytes;
    context_.uc_link = nullptr;
    makecontext(&context_, entry, 0);
  }
  void switch_to(Context& next) { swapcontext(&context_, &next.context_); }
};

}  // namespace millrace

#else

// Pushes what the calling convention preserves, stores the stack pointer in *save, and returns on the stack `load`.
extern "C" void millrace_switch(void** save, void* load);

#ifdef __x86_64__
asm(R"(
.text
.p2align 4
.type millrace_switch, @function
millrace_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmp *%rcx
.size millrace_switch, .-millrace_switch
)");
#else
asm(R"(
.text
.p2align 4
.type millrace_switch, %function
millrace_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size millrace_switch, .-millrace_switch
)");
#endif

namespace millrace {

class Context {
  void* stack_pointer_ = nullptr;

 public:
  void prepare(void* stack, std::size_t bytes, void (*entry)()) {
    auto* top = reinterpret_cast<void**>((reinterpret_cast<std::uintptr_t>(stack) + bytes) & ~std::uintptr_t(15));
#ifdef __x86_64__
    // Six registers, the entry, and a null return address that leaves the stack aligned as after a call.
    void** frame = top - 8;
    const int words = 8, entry_slot = 6;
#else
    void** frame = top - 20;
    const int words = 20, entry_slot = 11;
#endif
    for (int i = 0; i < words; ++i) frame[i] = nullptr;
    frame[entry_slot] = reinterpret_cast<void*>(entry);
    stack_pointer_ = frame;
  }
  void switch_to(Context& next) { millrace_switch(&stack_pointer_, next.stack_pointer_); }
};

}  // namespace millrace

#endif
