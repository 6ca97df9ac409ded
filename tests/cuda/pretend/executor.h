// What a kernel's text is compiled with on the host: `nvrtc.cpp` puts this in front of it, and links it with `executor.cpp`, which runs it.
// One fiber for each thread of a block, switched by hand, in warps; a barrier of a warp waits for the lanes of its mask, a barrier of the
// block for all warps. Two orders of blocks, warps and lanes, so that a missing barrier shows in one of them.
//
// It does not show: races that depend on neither order, work of several blocks at once, weak memory. Of PTX it knows what stands below.
#pragma once
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
// (What follows is in the same library as the kernel.)
#pragma GCC visibility push(hidden)
struct uint3 { unsigned x, y, z; };
typedef uint3 dim3;
extern uint3 threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;
struct __align__(8) float2 { float x, y; };
struct __align__(16) float4 { float x, y, z, w; };
struct __align__(16) double2 { double x, y; };
struct __align__(8) uint2 { unsigned x, y; };
struct __align__(16) uint4 { unsigned x, y, z, w; };
struct __align__(16) int4 { int x, y, z, w; };
struct __align__(16) ulonglong2 { unsigned long long x, y; };

// --- fibers, in `executor.cpp`
enum { PRETEND_THREADS = 1024 };
extern unsigned pretend_me, pretend_n;
extern unsigned long long pretend_slot[PRETEND_THREADS][2];
extern unsigned char pretend_said[PRETEND_THREADS];
alignas(16) extern char pretend_dynamic[48 << 10];
// A thread waits for the lanes of a mask (1), or for the block (2).
void pretend_wait(int wait, unsigned mask);

// --- what the driver calls
struct pretend_grid { unsigned blocks[3], threads[3]; int order; };
struct pretend_kernel {
  const char *(*run)(const pretend_grid *, void **);
  unsigned count;
  const unsigned *sizes;         // bytes of each parameter
  const unsigned char *pointers; // whether it is an address
};
// Runs a kernel, on fibers if it has barriers; says what is wrong with them, or null.
const char *pretend_run(const pretend_grid *grid, bool barriers, void (*body)(void **), void **arguments);
#pragma GCC visibility pop

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
#define PRETEND_KERNEL(name, barriers)                                                                                                  \
  static void name##__body(void **p) { pretend_parameters<decltype(&name)>::with(&name, p); }                                 \
  static const char *name##__run(const pretend_grid *grid, void **p) { return pretend_run(grid, barriers, name##__body, p); } \
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
