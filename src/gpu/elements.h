// What every kernel of `cuda_kernel!` begins with: dtypes under Rust's names.
typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64;
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned u32; typedef unsigned long long u64;
typedef float f32; typedef double f64;
// Stored as 16 bits, computed as `float`: they convert to it and from it, rounded to nearest even.
struct f16 {
  u16 bits;
  f16() = default;
  __device__ f16(float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
  __device__ operator float() const { float x; asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits)); return x; }
};
struct bf16 {
  u16 bits;
  bf16() = default;
  __device__ bf16(float x) {
    const u32 b = __float_as_uint(x);
    bits = (b & 0x7fffffffu) > 0x7f800000u ? (u16)0x7fc0 : (u16)((b + 0x7fffu + (b >> 16 & 1)) >> 16);
  }
  __device__ operator float() const { return __uint_as_float((u32)bits << 16); }
};
template<class T> struct Complex { T re, im; };
// Bits alone.
struct F8E4M3FN { u8 bits; }; struct F8E4M3FNUZ { u8 bits; }; struct F8E5M2 { u8 bits; }; struct F8E5M2FNUZ { u8 bits; };
struct F8E8M0FNU { u8 bits; }; struct F4E2M1FNX2 { u8 bits; };
