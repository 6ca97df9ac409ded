// Runs the kernels of `executor.h`: compiled once, and linked with each of them.
#include <sys/mman.h>
#include "executor.h"
#pragma GCC visibility push(hidden)
uint3 threadIdx, blockIdx, blockDim, gridDim;

extern "C" __attribute__((visibility("hidden"))) void pretend_switch(void **save, void *load);
#if defined(__x86_64__)
asm(".text\n.hidden pretend_switch\n.globl pretend_switch\npretend_switch:\n"
    " pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n movq %rsp, (%rdi)\n movq %rsi, %rsp\n"
    " popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n popq %rcx\n jmp *%rcx\n");
static void *pretend_fresh(char *stack, void (*entry)()) {
  void **top = (void **)stack;
  *--top = 0; *--top = (void *)entry;
  for (int k = 0; k < 6; k++) *--top = 0;
  return top;
}
#elif defined(__aarch64__)
asm(".text\n.hidden pretend_switch\n.globl pretend_switch\npretend_switch:\n"
    " sub sp, sp, #160\n stp x19, x20, [sp]\n stp x21, x22, [sp, #16]\n stp x23, x24, [sp, #32]\n stp x25, x26, [sp, #48]\n"
    " stp x27, x28, [sp, #64]\n stp x29, x30, [sp, #80]\n stp d8, d9, [sp, #96]\n stp d10, d11, [sp, #112]\n stp d12, d13, [sp, #128]\n"
    " stp d14, d15, [sp, #144]\n mov x9, sp\n str x9, [x0]\n mov sp, x1\n ldp x19, x20, [sp]\n ldp x21, x22, [sp, #16]\n"
    " ldp x23, x24, [sp, #32]\n ldp x25, x26, [sp, #48]\n ldp x27, x28, [sp, #64]\n ldp x29, x30, [sp, #80]\n ldp d8, d9, [sp, #96]\n"
    " ldp d10, d11, [sp, #112]\n ldp d12, d13, [sp, #128]\n ldp d14, d15, [sp, #144]\n add sp, sp, #160\n ret\n");
static void *pretend_fresh(char *stack, void (*entry)()) {
  void **top = (void **)stack - 20;
  memset(top, 0, 160);
  top[11] = (void *)entry;
  return top;
}
#else
#error "no switch of fibers for this processor"
#endif

// (Stacks at a power of two from each other would share a few lines of the cache.)
enum { PRETEND_STACK = (128 << 10) + 320 };
// A thread waits for nothing, for the lanes of a mask, or for the block.
struct pretend_fiber { void *sp; bool done; int wait; unsigned mask; uint3 at; };
static pretend_fiber pretend_f[PRETEND_THREADS];
static char *pretend_stacks;
static void *pretend_main;
unsigned pretend_me, pretend_n;
static void (*pretend_body)(void **);
static void **pretend_arguments;
unsigned long long pretend_slot[PRETEND_THREADS][2];
unsigned char pretend_said[PRETEND_THREADS];
alignas(16) char pretend_dynamic[48 << 10];
extern "C" __attribute__((weak, visibility("hidden"))) char __start_pretend_shared[], __stop_pretend_shared[];

void pretend_wait(int wait, unsigned mask) {
  pretend_f[pretend_me].wait = wait; pretend_f[pretend_me].mask = mask;
  pretend_switch(&pretend_f[pretend_me].sp, pretend_main);
}
static void pretend_entry() {
  pretend_body(pretend_arguments);
  pretend_f[pretend_me].done = true;
  for (;;) pretend_wait(1, 0);
}

// Runs the threads of a block; what is wrong with its barriers, or null.
static const char *pretend_block(int order) {
  unsigned n = pretend_n, warps = (n + 31) / 32;
  for (unsigned i = 0; i < n; i++) {
    pretend_fiber &f = pretend_f[i];
    f.done = false; f.wait = 0;
    f.at.x = i % blockDim.x; f.at.y = i / blockDim.x % blockDim.y; f.at.z = i / (blockDim.x * blockDim.y);
    f.sp = pretend_fresh(pretend_stacks + (size_t)(i + 1) * PRETEND_STACK, pretend_entry);
  }
  for (;;) {
    for (unsigned q = 0; q < warps; q++) {
      unsigned lo = (order ? warps - 1 - q : q) * 32, hi = lo + 32 < n ? lo + 32 : n;
      for (;;) {
        for (unsigned k = lo; k < hi; k++) {
          unsigned i = order ? hi - 1 - (k - lo) : k;
          if (pretend_f[i].done || pretend_f[i].wait) continue;
          pretend_me = i; threadIdx = pretend_f[i].at;
          pretend_switch(&pretend_main, pretend_f[i].sp);
        }
        // Lanes all of whose mask have come go on.
        bool released = false, stuck = false;
        unsigned come = 0;
        for (unsigned i = lo; i < hi; i++) if (!pretend_f[i].done && pretend_f[i].wait == 1) come |= 1u << (i - lo);
        const unsigned there = hi - lo == 32 ? ~0u : (1u << (hi - lo)) - 1;
        for (unsigned i = lo; i < hi; i++) {
          if (!(come >> (i - lo) & 1)) continue;
          const unsigned mask = pretend_f[i].mask & there;
          if (mask & ~come) { stuck = true; continue; }
          for (unsigned k = lo; k < hi; k++) if (mask >> (k - lo) & 1) pretend_f[k].wait = 0;
          come &= ~mask;
          released = true;
        }
        if (released) continue;
        if (stuck) return "a lane waits for lanes that never come to the same barrier of the warp";
        break;
      }
    }
    bool live = false;
    for (unsigned i = 0; i < n; i++) live |= !pretend_f[i].done;
    if (!live) return 0;
    for (unsigned i = 0; i < n; i++) pretend_f[i].wait = 0;
  }
}

const char *pretend_run(const pretend_grid *grid, bool barriers, void (*body)(void **), void **arguments) {
  const unsigned *g = grid->blocks, *b = grid->threads;
  gridDim = {g[0], g[1], g[2]}; blockDim = {b[0], b[1], b[2]};
  pretend_n = b[0] * b[1] * b[2]; pretend_body = body; pretend_arguments = arguments;
  if (!pretend_stacks)
    pretend_stacks = (char *)mmap(0, (size_t)PRETEND_THREADS * PRETEND_STACK, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  unsigned long long blocks = (unsigned long long)g[0] * g[1] * g[2];
  for (unsigned long long k = 0; k < blocks; k++) {
    unsigned long long at = grid->order ? blocks - 1 - k : k;
    blockIdx = {(unsigned)(at % g[0]), (unsigned)(at / g[0] % g[1]), (unsigned)(at / g[0] / g[1])};
    memset(pretend_dynamic, 0xA5, sizeof pretend_dynamic);
    if (&__start_pretend_shared[0]) memset(__start_pretend_shared, 0xA5, __stop_pretend_shared - __start_pretend_shared);
    if (barriers) {
      if (const char *wrong = pretend_block(grid->order)) return wrong;
    } else {
      for (unsigned i = 0; i < pretend_n; i++) {
        unsigned t = grid->order ? pretend_n - 1 - i : i;
        threadIdx = {t % b[0], t / b[0] % b[1], t / (b[0] * b[1])};
        body(arguments);
      }
    }
  }
  return 0;
}
#pragma GCC visibility pop
