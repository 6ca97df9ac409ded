// Runs a kernel's text on the host: `nvrtc.cpp` puts this in front of it. One fiber for each thread of a block, switched by hand, in
// warps; a barrier of a warp waits for the lanes of its mask, a barrier of the block for all warps. Two orders of blocks, warps and
// lanes, so that a missing barrier shows in one of them.
//
// It does not show: races that depend on neither order, work of several blocks at once, weak memory. Of PTX it knows what stands below.
#pragma once
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define __CUDACC_RTC__ 1
#define CI_NO_PTX 1
#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __launch_bounds__(...)
// (Text stands in a namespace without a name, so that all of it is of one kind, templates too.)
#define __shared__ static __attribute__((section("pretend_shared")))
#define __align__(n) __attribute__((aligned(n)))
struct uint3 { unsigned x, y, z; };
typedef uint3 dim3;
static uint3 threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;
struct __align__(8) float2 { float x, y; };
struct __align__(16) float4 { float x, y, z, w; };
struct __align__(16) double2 { double x, y; };
struct __align__(8) uint2 { unsigned x, y; };
struct __align__(16) uint4 { unsigned x, y, z, w; };
struct __align__(16) int4 { int x, y, z, w; };
struct __align__(16) ulonglong2 { unsigned long long x, y; };

// --- fibers
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
enum { PRETEND_THREADS = 1024, PRETEND_STACK = (128 << 10) + 320 };
// A thread waits for nothing, for the lanes of a mask, or for the block.
struct pretend_fiber { void *sp; bool done; int wait; unsigned mask; uint3 at; };
static pretend_fiber pretend_f[PRETEND_THREADS];
static char *pretend_stacks;
static void *pretend_main;
static unsigned pretend_me, pretend_n;
static void (*pretend_body)(void **);
static void **pretend_arguments;
static unsigned long long pretend_slot[PRETEND_THREADS][2];
static unsigned char pretend_said[PRETEND_THREADS];
alignas(16) static char pretend_dynamic[48 << 10];
extern "C" __attribute__((weak, visibility("hidden"))) char __start_pretend_shared[], __stop_pretend_shared[];

static void pretend_wait(int wait, unsigned mask) {
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

// --- what the driver calls
struct pretend_grid { unsigned blocks[3], threads[3]; int order; };
struct pretend_kernel {
  const char *(*run)(const pretend_grid *, void **);
  unsigned count;
  const unsigned *sizes;         // bytes of each parameter
  const unsigned char *pointers; // whether it is an address
};
static const char *pretend_run(const pretend_grid *grid, void (*body)(void **), void **arguments) {
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
    if (PRETEND_BARRIERS) {
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
template <class T> struct pretend_is_pointer { enum { value = 0 }; };
template <class T> struct pretend_is_pointer<T *> { enum { value = 1 }; };
template <class T> struct pretend_plain { typedef T type; };
template <class T> struct pretend_plain<const T> { typedef T type; };
template <class T> struct pretend_plain<T *__restrict> { typedef T *type; };
template <unsigned... I> struct pretend_list {};
template <unsigned N, unsigned... I> struct pretend_count : pretend_count<N - 1, N - 1, I...> {};
template <unsigned... I> struct pretend_count<0, I...> { typedef pretend_list<I...> type; };
template <class F> struct pretend_parameters;
template <class... A> struct pretend_parameters<void (*)(A...)> {
  static constexpr unsigned count = sizeof...(A);
  static constexpr unsigned sizes[sizeof...(A) + 1] = {(unsigned)sizeof(A)..., 0};
  static constexpr unsigned char pointers[sizeof...(A) + 1] = {pretend_is_pointer<typename pretend_plain<A>::type>::value..., 0};
  template <unsigned... I> static void call(void (*f)(A...), void **p, pretend_list<I...>) {
    f(*(typename pretend_plain<A>::type *)p[I]...);
  }
  static void with(void (*f)(A...), void **p) { call(f, p, typename pretend_count<sizeof...(A)>::type()); }
};
#define PRETEND_KERNEL(name)                                                                                                  \
  static void name##__body(void **p) { pretend_parameters<decltype(&name)>::with(&name, p); }                                 \
  static const char *name##__run(const pretend_grid *grid, void **p) { return pretend_run(grid, name##__body, p); }           \
  extern "C" __attribute__((visibility("default"))) const pretend_kernel name##__pretend = {                                  \
      name##__run, pretend_parameters<decltype(&name)>::count, pretend_parameters<decltype(&name)>::sizes,                    \
      pretend_parameters<decltype(&name)>::pointers};

// --- what NVRTC knows without a header
static inline void __syncthreads() { pretend_wait(2, 0); }
static inline void __syncwarp(unsigned mask = ~0u) { pretend_wait(1, mask); }
static inline int pretend_vote(int predicate, int kind) {
  pretend_said[pretend_me] = predicate != 0; __syncthreads();
  int all = 1, count = 0;
  for (unsigned i = 0; i < pretend_n; i++) { all &= pretend_said[i]; count += pretend_said[i]; }
  __syncthreads();
  return kind == 0 ? all : kind == 1 ? count != 0 : count;
}
static inline int __syncthreads_and(int p) { return pretend_vote(p, 0); }
static inline int __syncthreads_or(int p) { return pretend_vote(p, 1); }
static inline int __syncthreads_count(int p) { return pretend_vote(p, 2); }
template <class T> static inline T pretend_shuffle(unsigned mask, T value, unsigned from) {
  static_assert(sizeof(T) <= 16, "shuffles move at most 16 bytes");
  unsigned me = pretend_me;
  memcpy(pretend_slot[me], &value, sizeof value); pretend_wait(1, mask);
  T other; memcpy(&other, pretend_slot[from < pretend_n ? from : me], sizeof other); pretend_wait(1, mask);
  return other;
}
template <class T> static inline T __shfl_sync(unsigned m, T v, int lane, int w = 32) { return pretend_shuffle(m, v, (pretend_me & ~(w - 1u)) + (lane & (w - 1u))); }
template <class T> static inline T __shfl_xor_sync(unsigned m, T v, int d, int w = 32) { return pretend_shuffle(m, v, pretend_me ^ (unsigned)d); }
template <class T> static inline T __shfl_down_sync(unsigned m, T v, unsigned d, int w = 32) { unsigned l = pretend_me & (w - 1u); return pretend_shuffle(m, v, l + d < (unsigned)w ? pretend_me + d : pretend_me); }
template <class T> static inline T __shfl_up_sync(unsigned m, T v, unsigned d, int w = 32) { unsigned l = pretend_me & (w - 1u); return pretend_shuffle(m, v, l >= d ? pretend_me - d : pretend_me); }
static inline unsigned __ballot_sync(unsigned mask, int predicate) {
  unsigned me = pretend_me, warp = me & ~31u, result = 0;
  pretend_said[me] = predicate != 0; pretend_wait(1, mask);
  // Eight bytes of 0 or 1 are eight bits.
  for (unsigned i = 0; i < 32; i += 8) {
    unsigned long long said; memcpy(&said, pretend_said + warp + i, 8);
    result |= (unsigned)(said * 0x0102040810204080ull >> 56) << i;
  }
  const unsigned there = pretend_n - warp < 32 ? (1u << (pretend_n - warp)) - 1 : ~0u;
  pretend_wait(1, mask);
  return result & mask & there;
}
static inline int __any_sync(unsigned m, int p) { return __ballot_sync(m, p) != 0; }
static inline int __all_sync(unsigned m, int p) { return __ballot_sync(m, !p) == 0; }
static inline unsigned __activemask() { return ~0u; }
static inline void __threadfence() {} static inline void __threadfence_block() {}
template <class T> struct pretend_same { typedef T type; };
#define PRETEND_ATOMIC(name, after) \
  template <class T> static inline T name(T *p, typename pretend_same<T>::type v) { T old = *p; *p = after; return old; }
PRETEND_ATOMIC(atomicAdd, (T)(old + v)) PRETEND_ATOMIC(atomicSub, (T)(old - v)) PRETEND_ATOMIC(atomicExch, v)
PRETEND_ATOMIC(atomicMin, v < old ? v : old) PRETEND_ATOMIC(atomicMax, v > old ? v : old)
PRETEND_ATOMIC(atomicAnd, (T)(old & v)) PRETEND_ATOMIC(atomicOr, (T)(old | v)) PRETEND_ATOMIC(atomicXor, (T)(old ^ v))
template <class T> static inline T atomicCAS(T *p, typename pretend_same<T>::type expected, typename pretend_same<T>::type v) { T old = *p; if (old == expected) *p = v; return old; }
template <class To, class From> static inline To pretend_bits(From from) { To to; memcpy(&to, &from, sizeof to); return to; }
static inline float __uint_as_float(unsigned x) { return pretend_bits<float>(x); }
static inline float __int_as_float(int x) { return pretend_bits<float>(x); }
static inline unsigned __float_as_uint(float x) { return pretend_bits<unsigned>(x); }
static inline int __float_as_int(float x) { return pretend_bits<int>(x); }
static inline double __longlong_as_double(long long x) { return pretend_bits<double>(x); }
static inline long long __double_as_longlong(double x) { return pretend_bits<long long>(x); }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
// PTX, rewritten by `nvrtc.cpp`: what is not here does not compile.
static inline void pretend_ptx_cvt_f32_f16(float &to, unsigned short x) {
  const unsigned sign = (x & 0x8000u) << 16, e = x >> 10 & 31, m = x & 1023;
  if (e == 0) { const float f = m * 5.9604644775390625e-8f; to = sign ? -f : f; }
  else to = pretend_bits<float>(e == 31 ? sign | 0x7f800000u | m << 13 : sign | (e + 112) << 23 | m << 13);
}
static inline void pretend_ptx_cvt_rn_f16_f32(unsigned short &to, float f) {
  const unsigned b = pretend_bits<unsigned>(f), sign = b >> 16 & 0x8000u, a = b & 0x7fffffffu;
  if (a > 0x7f800000u) to = 0x7fff;
  else if (a >= 0x477ff000u) to = (unsigned short)(sign | 0x7c00);
  else if (a < 0x38800000u) to = (unsigned short)(sign | (pretend_bits<unsigned>(pretend_bits<float>(a) + 0.5f) - 0x3f000000u));
  else to = (unsigned short)(sign | (a + 0xc8000fffu + (a >> 13 & 1)) >> 13);
}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
template <class T> static inline T __ldg(const T *p) { return *p; }
template <class T> static inline T min(T a, T b) { return b < a ? b : a; }
template <class T> static inline T max(T a, T b) { return a < b ? b : a; }
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline double rsqrt(double x) { return 1 / sqrt(x); }
// CUDA's own functions that C++ lacks, in `long double`: Newton's steps, and beyond the range of `expl` the asymptotic series.
static inline long double pretend_erfinv(long double y) {
  const long double size = y < 0 ? -y : y;
  if (!(size < 1)) return size == 1 ? y * HUGE_VALL : (long double)NAN;
  const long double rest = 1 - size, lg = logl(rest * (1 + size)), mean = 4.3307467508L + lg / 2;
  long double x = size < 0.5L ? size * 0.886226925452758013649L : sqrtl(sqrtl(mean * mean - lg / 0.147L) - mean);
  for (int step = 0; step < 5; ++step) {
    const long double error = size < 0.5L ? erfl(x) - size : rest - erfcl(x);
    x -= error * expl(x * x) * 0.886226925452758013649L;
  }
  return y < 0 ? -x : y == 0 ? y : x;
}
static inline long double pretend_erfcx(long double x) {
  if (x < 50) return expl(x * x) * erfcl(x);
  const long double inverse = 1 / (x * x);
  return 0.564189583547756286948L / x * (1 - inverse / 2 * (1 - inverse * 1.5L * (1 - inverse * 2.5L * (1 - inverse * 3.5L))));
}
static inline float erfinvf(float x) { return (float)pretend_erfinv(x); }
static inline double erfinv(double x) { return (double)pretend_erfinv(x); }
static inline float erfcxf(float x) { return (float)pretend_erfcx(x); }
static inline double erfcx(double x) { return (double)pretend_erfcx(x); }
