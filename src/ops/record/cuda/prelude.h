// The device library of recorded formulas: what their text calls. It needs no header under NVRTC; with CI_HOST a C++ compiler of
// the host takes it after <math.h> and <string.h>, and whoever includes it gives the functions whose last bits belong to a library. CI_NO_PTX leaves inline PTX out.
#ifdef CI_HOST
#define CI_FN static inline
#define CI_PART static
#define CI_IN inline
#define CI_KERNEL extern "C"
#define CI_EACH_OF(T, i, n) for (T i = 0; i < n; i++)
#define CI_UNROLL
#ifndef __restrict__
#define __restrict__ __restrict
#endif
#else
#define CI_FN __device__ __forceinline__ static
#define CI_PART __device__ static
#define CI_IN __device__ __forceinline__
#define CI_KERNEL extern "C" __global__
// Each number below `n`, over all threads; in a type that also holds `n` and their number.
#define CI_EACH_OF(T, i, n) for (T i = blockIdx.x * (T)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (T)blockDim.x)
#define CI_UNROLL _Pragma("unroll")
#endif
#define CI_EACH(i, n) CI_EACH_OF(ci_u64, i, n)
typedef unsigned char ci_u8; typedef signed char ci_i8; typedef short ci_i16; typedef int ci_i32; typedef long long ci_i64;
typedef unsigned short ci_u16; typedef unsigned ci_u32; typedef unsigned long long ci_u64;
struct ci_byte { ci_u8 bits; };
template<class T> struct ci_c { T re, im; };
template<class T> struct ci_unsigned { typedef T type; };
template<> struct ci_unsigned<ci_i8> { typedef ci_u8 type; };
template<> struct ci_unsigned<ci_i16> { typedef unsigned short type; };
template<> struct ci_unsigned<ci_i32> { typedef unsigned type; };
template<> struct ci_unsigned<ci_i64> { typedef ci_u64 type; };

// --- bits
#ifdef CI_HOST
CI_FN float ci_f32(unsigned b) { float x; memcpy(&x, &b, 4); return x; }
CI_FN double ci_f64(ci_u64 b) { double x; memcpy(&x, &b, 8); return x; }
CI_FN unsigned ci_word(float x) { unsigned b; memcpy(&b, &x, 4); return b; }
CI_FN ci_u64 ci_word(double x) { ci_u64 b; memcpy(&b, &x, 8); return b; }
#else
CI_FN float ci_f32(unsigned b) { return __uint_as_float(b); }
CI_FN double ci_f64(ci_u64 b) { return __longlong_as_double((ci_i64)b); }
CI_FN unsigned ci_word(float x) { return __float_as_uint(x); }
CI_FN ci_u64 ci_word(double x) { return (ci_u64)__double_as_longlong(x); }
#endif

// --- integers wrap: unsigned arithmetic, since an overflow of signed numbers is undefined in C++
template<class T> CI_FN T ci_add(T a, T b) { typedef typename ci_unsigned<T>::type U; return (T)(U)((U)a + (U)b); }
template<class T> CI_FN T ci_sub(T a, T b) { typedef typename ci_unsigned<T>::type U; return (T)(U)((U)a - (U)b); }
template<class T> CI_FN T ci_mul(T a, T b) { typedef typename ci_unsigned<T>::type U; return (T)(U)((1u * (U)a) * (U)b); }
template<class T> CI_FN T ci_neg(T a) { typedef typename ci_unsigned<T>::type U; return (T)(U)(0 - (U)a); }
template<class T> CI_FN T ci_not(T a) { return (T)~a; }
template<class T> CI_FN T ci_and(T a, T b) { return (T)(a & b); }
template<class T> CI_FN T ci_or(T a, T b) { return (T)(a | b); }
template<class T> CI_FN T ci_xor(T a, T b) { return (T)(a ^ b); }
template<class T> CI_FN bool ci_is_minus_one(T a) { return (T)-1 < (T)0 && a == (T)-1; }
template<class T> CI_FN T ci_quotient(T a, T b) { return b == 0 ? (T)0 : ci_is_minus_one(b) ? ci_neg(a) : (T)(a / b); }
template<class T> CI_FN T ci_remainder(T a, T b) { return b == 0 || ci_is_minus_one(b) ? (T)0 : (T)(a % b); }
template<class T> CI_FN T ci_shift_left(T a, T n) {
  typedef typename ci_unsigned<T>::type U;
  return n >= 0 && n < (T)(8 * sizeof(T)) ? (T)(U)((U)a << n) : (T)0;
}
template<class T> CI_FN T ci_shift_right(T a, T n) {
  return n >= 0 && n < (T)(8 * sizeof(T)) ? (T)(a >> n) : a < (T)0 ? (T)-1 : (T)0;
}
template<class T> CI_FN T ci_power(T a, T n) {
  if (n < (T)0) return a == 1 ? (T)1 : ci_is_minus_one(a) ? (n & 1 ? a : (T)1) : (T)0;
  T power = 1;
  for (; n > 0; n = (T)(n >> 1)) { if (n & 1) power = ci_mul(power, a); a = ci_mul(a, a); }
  return power;
}
template<class T> CI_FN T ci_greatest_divisor(T a, T b) {
  while (a != 0) { const T rest = ci_remainder(b, a); b = a; a = rest; }
  return b;
}

// --- floats, exact to the last bit
#define CI_ONE(name, single, of_double) CI_FN float name(float x) { return single(x); } CI_FN double name(double x) { return of_double(x); }
#define CI_TWO(name, single, of_double) CI_FN float name(float x, float y) { return single(x, y); } CI_FN double name(double x, double y) { return of_double(x, y); }
CI_ONE(ci_floor, floorf, floor) CI_ONE(ci_ceil, ceilf, ceil) CI_ONE(ci_round, roundf, round) CI_ONE(ci_trunc, truncf, trunc)
CI_ONE(ci_abs, fabsf, fabs) CI_ONE(ci_round_ties_even, rintf, rint) CI_ONE(ci_sqrt, sqrtf, sqrt)
CI_TWO(ci_copysign, copysignf, copysign) CI_TWO(ci_fmod, fmodf, fmod) CI_TWO(ci_max, fmaxf, fmax) CI_TWO(ci_min, fminf, fmin)
CI_TWO(ci_next_towards, nextafterf, nextafter)
CI_FN bool ci_is_nan(float x) { return x != x; }
CI_FN bool ci_is_nan(double x) { return x != x; }
CI_FN bool ci_is_infinite(float x) { return fabsf(x) == ci_f32(0x7f800000u); }
CI_FN bool ci_is_infinite(double x) { return fabs(x) == ci_f64(0x7ff0000000000000ull); }
CI_FN bool ci_is_finite(float x) { return fabsf(x) < ci_f32(0x7f800000u); }
CI_FN bool ci_is_finite(double x) { return fabs(x) < ci_f64(0x7ff0000000000000ull); }
CI_FN bool ci_is_sign_negative(float x) { return ci_word(x) >> 31; }
CI_FN bool ci_is_sign_negative(double x) { return ci_word(x) >> 63; }
#ifdef CI_HOST
CI_FN float ci_fma(float a, float b, float c) { return fmaf(a, b, c); }
CI_FN double ci_fma(double a, double b, double c) { return fma(a, b, c); }
#else
CI_FN float ci_fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
CI_FN double ci_fma(double a, double b, double c) { return __fma_rn(a, b, c); }
#endif
template<class T> CI_FN T ci_select(bool c, T a, T b) { return c ? a : b; }
CI_FN double ci_to_f64(float x) { return (double)x; }
CI_FN float ci_to_f32(double x) { return (float)x; }
// An exponent that is no 32-bit integer counts as 0.
template<class T> CI_FN int ci_exponent(T e) { return e > (T)-2147483649.0 && e < (T)2147483648.0 ? (int)e : 0; }
CI_FN float ci_scaled_by(float x, float e) { return scalbnf(x, ci_exponent(e)); }
CI_FN double ci_scaled_by(double x, double e) { return scalbn(x, ci_exponent(e)); }
CI_FN float ci_binade(float x) { return scalbnf(1.0f, ilogbf(x)); }
CI_FN double ci_binade(double x) { return scalbn(1.0, ilogb(x)); }

// --- elements of 16 bits, without headers
struct ci_f16 { unsigned short bits; };
struct ci_bf16 { unsigned short bits; };
CI_FN float ci_wide_by_bits(ci_f16 x) {
  const unsigned sign = (x.bits & 0x8000u) << 16, e = x.bits >> 10 & 31, m = x.bits & 1023;
  if (e == 31) return ci_f32(sign | 0x7f800000u | m << 13);
  if (e == 0) { const float f = m * 5.9604644775390625e-8f; return sign ? -f : f; }
  return ci_f32(sign | (e + 112) << 23 | m << 13);
}
#if defined(CI_HOST) || defined(CI_NO_PTX)
CI_FN float ci_wide(ci_f16 x) { return ci_wide_by_bits(x); }
CI_FN ci_f16 ci_half(float f) {
  const unsigned b = ci_word(f), sign = b >> 16 & 0x8000u, a = b & 0x7fffffffu;
  if (a > 0x7f800000u) return {(unsigned short)(sign | 0x7e00 | (a >> 13 & 0x3ff))};
  if (a >= 0x477ff000u) return {(unsigned short)(sign | 0x7c00)};
  if (a < 0x38800000u) { const float r = ci_f32(a) + 0.5f; return {(unsigned short)(sign | (ci_word(r) - 0x3f000000u))}; }
  return {(unsigned short)(sign | (a + 0xc8000fffu + (a >> 13 & 1)) >> 13)};
}
#else
CI_FN float ci_wide(ci_f16 x) { float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits)); return f; }
CI_FN ci_f16 ci_half(float f) { ci_f16 x; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(x.bits) : "f"(f)); return x; }
#endif
CI_FN float ci_wide(ci_bf16 x) { return ci_f32((unsigned)x.bits << 16); }
CI_FN ci_bf16 ci_brain(float f) {
#if !defined(CI_HOST) && !defined(CI_NO_PTX) && __CUDA_ARCH__ >= 800
  // (The instruction gives one NaN for all, as that of f16 does. That which makes two is four times as fast as that which makes one.)
  unsigned x;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(x) : "f"(0.0f), "f"(f));
  return {(unsigned short)x};
#else
  const unsigned b = ci_word(f);
  return {(unsigned short)((b & 0x7fffffffu) > 0x7f800000u ? b >> 16 | 0x40 : (b + 0x7fffu + (b >> 16 & 1)) >> 16)};
#endif
}
CI_FN float ci_rounded_to_f16(float x) { return ci_wide(ci_half(x)); }
CI_FN float ci_rounded_to_bf16(float x) { return ci_wide(ci_brain(x)); }
CI_FN double ci_rounded_to_f16(double x) { return ci_wide(ci_half((float)x)); }
CI_FN double ci_rounded_to_bf16(double x) { return ci_wide(ci_brain((float)x)); }

// --- conversions: sources widen to bool, int, ci_i64, ci_u64, float, double or complex; integers wrap, floats that don't fit become the
// smallest integer, as on x86
CI_FN bool ci_source(bool x) { return x; }
CI_FN int ci_source(ci_u8 x) { return x; }
CI_FN int ci_source(ci_i8 x) { return x; }
CI_FN int ci_source(ci_i16 x) { return x; }
CI_FN int ci_source(int x) { return x; }
CI_FN ci_i64 ci_source(ci_i64 x) { return x; }
CI_FN int ci_source(ci_u16 x) { return x; }
CI_FN ci_i64 ci_source(ci_u32 x) { return x; }
CI_FN ci_u64 ci_source(ci_u64 x) { return x; }
CI_FN float ci_source(ci_f16 x) { return ci_wide(x); }
CI_FN float ci_source(ci_bf16 x) { return ci_wide(x); }
CI_FN float ci_source(float x) { return x; }
CI_FN double ci_source(double x) { return x; }
CI_FN ci_c<float> ci_source(ci_c<ci_f16> x) { return {ci_wide(x.re), ci_wide(x.im)}; }
CI_FN ci_c<float> ci_source(ci_c<float> x) { return x; }
CI_FN ci_c<double> ci_source(ci_c<double> x) { return x; }
CI_FN int ci_int(float v) { return v >= -2147483648.0f && v < 2147483648.0f ? (int)v : (int)0x80000000u; }
CI_FN int ci_int(double v) { return v > -2147483649.0 && v < 2147483648.0 ? (int)v : (int)0x80000000u; }
CI_FN ci_i64 ci_long(double v) {
  return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? (ci_i64)v : (ci_i64)0x8000000000000000ull;
}
// Values from 2^63 up are shifted down first, as compilers do it for x86.
CI_FN ci_u64 ci_ulong(double v) {
  return v >= 9223372036854775808.0 ? (ci_u64)ci_long(v - 9223372036854775808.0) ^ 0x8000000000000000ull : (ci_u64)ci_long(v);
}
template<class T> struct ci_to { // integers of up to 32 bits
  static CI_IN T of(bool v) { return v; }
  static CI_IN T of(int v) { return (T)v; }
  static CI_IN T of(ci_i64 v) { return (T)v; }
  static CI_IN T of(ci_u64 v) { return (T)v; }
  static CI_IN T of(float v) { return (T)ci_int(v); }
  static CI_IN T of(double v) { return (T)ci_int(v); }
  template<class U> static CI_IN T of(ci_c<U> v) { return of(v.re); }
};
template<> struct ci_to<ci_i64> {
  static CI_IN ci_i64 of(bool v) { return v; }
  static CI_IN ci_i64 of(int v) { return v; }
  static CI_IN ci_i64 of(ci_i64 v) { return v; }
  static CI_IN ci_i64 of(ci_u64 v) { return (ci_i64)v; }
  static CI_IN ci_i64 of(float v) { return ci_long(v); }
  static CI_IN ci_i64 of(double v) { return ci_long(v); }
  template<class U> static CI_IN ci_i64 of(ci_c<U> v) { return of(v.re); }
};
#define CI_TO_UNSIGNED(T, from) template<> struct ci_to<T> { \
  static CI_IN T of(bool v) { return v; } \
  static CI_IN T of(int v) { return (T)v; } \
  static CI_IN T of(ci_i64 v) { return (T)v; } \
  static CI_IN T of(ci_u64 v) { return (T)v; } \
  static CI_IN T of(float v) { return (T)from(v); } \
  static CI_IN T of(double v) { return (T)from(v); } \
  template<class U> static CI_IN T of(ci_c<U> v) { return of(v.re); } };
CI_TO_UNSIGNED(ci_u32, ci_long) CI_TO_UNSIGNED(ci_u64, ci_ulong)
template<> struct ci_to<bool> {
  template<class U> static CI_IN bool of(U v) { return v != (U)0; }
  template<class U> static CI_IN bool of(ci_c<U> v) { return v.re != (U)0 || v.im != (U)0; }
};
#define CI_TO(T, from) template<> struct ci_to<T> { \
  template<class U> static CI_IN T of(U v) { return from(v); } \
  template<class U> static CI_IN T of(ci_c<U> v) { return from(v.re); } };
#define CI_HALF(v) ci_half((float)(v))
#define CI_BRAIN(v) ci_brain((float)(v))
CI_TO(float, (float)) CI_TO(double, (double)) CI_TO(ci_f16, CI_HALF) CI_TO(ci_bf16, CI_BRAIN)
template<class T> struct ci_to<ci_c<T>> {
  template<class U> static CI_IN ci_c<T> of(U v) { return {ci_to<T>::of(v), ci_to<T>::of(0)}; }
  template<class U> static CI_IN ci_c<T> of(ci_c<U> v) { return {ci_to<T>::of(v.re), ci_to<T>::of(v.im)}; }
};
template<class T, class U> CI_FN T ci_cast(U x) { return ci_to<T>::of(ci_source(x)); }

// --- where elements are: packs of contiguous ones, and positions by strides, the first axis being the outermost
template<class T, int N> struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) ci_pack { T of[N]; };
template<class T, int N> CI_FN ci_pack<T, N> ci_load(const T* from, ci_u64 pack) { return ((const ci_pack<T, N>*)from)[pack]; }
template<class T, int N> CI_FN void ci_store(T* to, ci_u64 pack, ci_pack<T, N> x) { ((ci_pack<T, N>*)to)[pack] = x; }
template<class I, int K> struct ci_strides { I sizes[8]; I of[K][8]; I rank; };
template<class I, int K> CI_FN void ci_find(const ci_strides<I, K>& at, I i, I (&to)[K]) {
  CI_UNROLL
  for (int k = 0; k < K; k++) to[k] = 0;
  CI_UNROLL
  for (int axis = 7; axis > 0; axis--) if (axis < (int)at.rank) {
    const I outer = i / at.sizes[axis], here = i - outer * at.sizes[axis];
    CI_UNROLL
    for (int k = 0; k < K; k++) to[k] += here * at.of[k][axis];
    i = outer;
  }
  CI_UNROLL
  for (int k = 0; k < K; k++) to[k] += i * at.of[k][0];
}

CI_FN ci_c<double> ci_paired(double re, double im) { return {re, im}; }
// C's frexp: a mantissa from 1/2 to 1 and an exponent of 2; 0, infinities and NaN are their own mantissa, as libm's Rust has them.
CI_FN double ci_mantissa(double x) { int e = 0; return ci_is_finite(x) ? frexp(x, &e) : x; }
CI_FN int ci_exponent_of(double x) { int e = 0; if (ci_is_finite(x)) frexp(x, &e); return e; }
CI_FN int ci_clamped_exponent(int e) { return e < -5000 ? -5000 : e > 5000 ? 5000 : e; }
// As Rust's `as`: 0 for NaN, else the nearest integer there is.
CI_FN ci_i64 ci_saturated(double v) {
  return v != v ? 0 : v >= 9223372036854775808.0 ? 0x7fffffffffffffffll : ci_long(v);
}
CI_FN ci_i64 ci_saturated_size(double v) { const ci_i64 n = ci_saturated(v); return n < 0 ? 0 : n; }

// `Place` of `tensor/create/triangle_indices.rs`: the row and the column of a place of a triangle.
CI_FN ci_i64 ci_triangle(ci_i64 i, ci_i64 count, ci_i64 first, ci_i64 width, ci_i64 moving, ci_i64 columns, bool mirrored) {
  const bool is_column = i >= count;
  ci_i64 at = is_column ? i - count : i;
  if (mirrored) at = count - 1 - at;
  const ci_i64 moved = moving * width + moving * (moving - 1) / 2;
  ci_i64 row, column;
  if (at < moved) {
    const double b = 2.0 * (double)width - 1.0;
    row = (ci_i64)(4.0 * (double)at / (sqrt(b * b + 8.0 * (double)at) + b));
    while (row > 0 && row * width + row * (row - 1) / 2 > at) row--;
    while ((row + 1) * width + (row + 1) * row / 2 <= at) row++;
    column = at - (row * width + row * (row - 1) / 2);
  } else {
    row = moving + (at - moved) / columns;
    column = (at - moved) % columns;
  }
  if (is_column) return mirrored ? columns - 1 - column : column;
  return mirrored ? first - row : first + row;
}

// --- functions whose last bits are a library's
#ifndef CI_HOST
#define CI_MATH(name) CI_ONE(ci_##name, name##f, name) CI_ONE(ci_platform_##name, name##f, name)
CI_MATH(exp) CI_MATH(exp2) CI_MATH(expm1) CI_MATH(log) CI_MATH(log2) CI_MATH(log10) CI_MATH(log1p) CI_MATH(sin) CI_MATH(cos) CI_MATH(tan)
CI_MATH(asin) CI_MATH(acos) CI_MATH(atan) CI_MATH(sinh) CI_MATH(cosh) CI_MATH(tanh) CI_MATH(asinh) CI_MATH(acosh) CI_MATH(atanh)
CI_MATH(cbrt) CI_ONE(ci_erf, erff, erf) CI_ONE(ci_erfc, erfcf, erfc)
CI_TWO(ci_pow, powf, pow) CI_TWO(ci_platform_pow, powf, pow) CI_TWO(ci_atan2, atan2f, atan2) CI_TWO(ci_platform_atan2, atan2f, atan2)
CI_TWO(ci_hypot, hypotf, hypot) CI_ONE(ci_erfinv, erfinvf, erfinv) CI_ONE(ci_erfcx, erfcxf, erfcx) CI_ONE(ci_special_lgamma, lgammaf, lgamma)
#endif

// --- loops that end by the numbers; each follows the Rust function of its name
template<class T> CI_FN T ci_loop_epsilon() { return sizeof(T) == 4 ? (T)1.1920928955078125e-7 : (T)2.220446049250313e-16; }
template<class T, int N> CI_FN T ci_loop_polynomial(T x, const double (&of)[N]) {
  T value = 0;
  for (int i = 0; i < N; i++) value = value * x + (T)of[i];
  return value;
}
template<class T> CI_PART T ci_loop_digamma(T x) {
  const double of[7] = {1.0 / 12.0, -691.0 / 32760.0, 1.0 / 132.0, -1.0 / 240.0, 1.0 / 252.0, -1.0 / 120.0, 1.0 / 12.0};
  if (x == (T)0) return ci_copysign((T)ci_f32(0x7f800000u), -x);
  T reflected = 0;
  if (x < (T)0) {
    if (x == ci_trunc(x)) return (T)ci_f32(0x7fc00000u);
    const double pi = 3.14159265358979323846, part = (double)(x - ci_trunc(x));
    reflected = (T)(pi / tan(pi * part));
    x = (T)1 - x;
  }
  T shift = 0;
  while (x < (T)10) { shift = shift - (T)1 / x; x = x + (T)1; }
  if (x == (T)10) return shift + (T)2.251752589066721 - reflected;
  T tail = 0;
  if (x < (T)1e17) { const T z = (T)1 / (x * x); tail = z * ci_loop_polynomial(z, of); }
  return shift + log(x) - (T)0.5 / x - tail - reflected;
}
CI_PART double ci_loop_zeta(double x, double q) {
  const double bernoulli[12] = {12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1892437580.3183792, 74724249600.0, -2950130727918.164, 116467828143500.67, -4597978722407473.0, 1.8152105401943546e+17, -7.166165256175667e+18};
  const double unit = ci_loop_epsilon<double>() / 2.0, infinity = ci_f64(0x7ff0000000000000ull), nan = ci_f64(0x7ff8000000000000ull);
  if (x == 1.0) return infinity;
  if (x < 1.0) return nan;
  if (q <= 0.0) {
    if (q == floor(q)) return infinity;
    if (x != floor(x)) return nan;
  }
  double sum = pow(q, -x), a = q, b = 0.0;
  for (int terms = 0; terms < 9 || a <= 9.0; terms++) {
    a += 1.0;
    b = pow(a, -x);
    sum += b;
    if (-unit * sum < b && b < unit * sum) return sum;
  }
  const double w = a;
  sum += b * w / (x - 1.0);
  sum -= 0.5 * b;
  double factor = 1.0, k = 0.0;
  for (int i = 0; i < 12; i++) {
    factor *= x + k;
    b /= w;
    const double term = factor * b / bernoulli[i];
    sum += term;
    if (fabs(term / sum) < unit) return sum;
    k += 1.0;
    factor *= x + k;
    b /= w;
    k += 1.0;
  }
  return sum;
}
#ifndef CI_HOST
CI_ONE(ci_special_digamma, ci_loop_digamma<float>, ci_loop_digamma<double>)
CI_FN float ci_special_zeta(float x, float q) { return (float)ci_loop_zeta(x, q); }
CI_FN double ci_special_zeta(double x, double q) { return ci_loop_zeta(x, q); }
#define CI_LGAMMAS(name, round) template<class T> CI_PART T name(T x, T first) { \
  T sum = 0; \
  for (T k = first; k <= (T)0; k = k + (T)0.5) sum = sum + round(ci_special_lgamma(round(k + x))); \
  return sum; }
template<class T> CI_PART T ci_special_sum_of_digammas(T x, T first) {
  T sum = 0;
  for (T k = first; k <= (T)0; k = k + (T)0.5) sum = sum + ci_special_digamma(k + x);
  return sum;
}
#define CI_AS_IT_IS(x) x
CI_LGAMMAS(ci_special_sum_of_lgammas, CI_AS_IT_IS)
CI_LGAMMAS(ci_special_sum_of_lgammas_f16, ci_rounded_to_f16)
CI_LGAMMAS(ci_special_sum_of_lgammas_bf16, ci_rounded_to_bf16)
#endif
