// Floats of 8 bits, converted as `dtype/shell.rs` and `dtype/cast.rs` convert them. Stands behind `prelude.h`.

// As `FloatFormat` has them: bits of the mantissa, bias, the codes (without sign) of the largest value, of what is beyond it, of NaN and of
// infinity (0: there is none), and whether zero has no sign.
template<int M, int BIAS, unsigned LARGEST, unsigned OVER, unsigned NONE, unsigned ENDLESS, bool FNUZ> struct ci_f8 { ci_u8 bits; };
typedef ci_f8<3, 7, 0x7e, 0x7e, 0x7f, 0, false> ci_e4m3fn;
typedef ci_f8<3, 8, 0x7f, 0x80, 0x80, 0, true> ci_e4m3fnuz;
typedef ci_f8<2, 15, 0x7b, 0x7c, 0x7f, 0x7c, false> ci_e5m2;
typedef ci_f8<2, 16, 0x7f, 0x80, 0x80, 0, true> ci_e5m2fnuz;
struct ci_e8m0fnu { ci_u8 bits; };
template<int M, int BIAS, unsigned LARGEST, unsigned OVER, unsigned NONE, unsigned ENDLESS, bool FNUZ>
CI_FN float ci_wide(ci_f8<M, BIAS, LARGEST, OVER, NONE, ENDLESS, FNUZ> x) {
  const unsigned code = x.bits, magnitude = code & 0x7fu, e = magnitude >> M, m = magnitude & ((1u << M) - 1);
  const bool endless = ENDLESS != 0 && magnitude == ENDLESS;
  if (FNUZ ? code == NONE : !endless && magnitude > LARGEST) return ci_f32(0x7fc00000u);
  const float scale = ci_f32((unsigned)(127 + (int)(e ? e : 1u) - BIAS - M) << 23);
  const float size = endless ? ci_f32(0x7f800000u) : (float)(int)(e ? m + (1u << M) : m) * scale;
  return code & 0x80u ? -size : size;
}
// Rounds to nearest, ties to even.
template<class F> struct ci_to_f8;
template<int M, int BIAS, unsigned LARGEST, unsigned OVER, unsigned NONE, unsigned ENDLESS, bool FNUZ>
struct ci_to_f8<ci_f8<M, BIAS, LARGEST, OVER, NONE, ENDLESS, FNUZ> > {
  static CI_IN ci_f8<M, BIAS, LARGEST, OVER, NONE, ENDLESS, FNUZ> of(float value) {
    const unsigned bits = ci_word(value), sign = bits >> 24 & 0x80u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return {(ci_u8)(FNUZ ? NONE : sign | NONE)};
    const int e = (int)(magnitude >> 23) - 127 + BIAS;
    // The significand of 24 bits and how many of its bits fall away; of subnormal numbers more do.
    const unsigned m = magnitude >> 23 ? (magnitude & 0x7fffffu) | 0x800000u : magnitude;
    const unsigned drop = 23 - M + (e <= 0 ? 1 - e : 0), base = e <= 0 ? 0u : (unsigned)(e - 1) << M;
    unsigned code = drop > 25 ? 0u : base + ((m + (1u << (drop - 1)) - 1 + (m >> drop & 1)) >> drop);
    if (code > LARGEST) code = OVER;
    return {(ci_u8)(FNUZ && (code == 0 || code == NONE) ? code : sign | code)};
  }
};
CI_FN float ci_wide(ci_e8m0fnu x) {
  return ci_f32(x.bits == 0 ? 0x400000u : x.bits == 0xff ? 0x7fc00000u : (unsigned)x.bits << 23);
}
CI_FN ci_e8m0fnu ci_power_of_two(float value) {
  const unsigned bits = ci_word(value), e = bits >> 23 & 0xff;
  return {(ci_u8)(e == 0xff ? 0xff : e + (bits & 0x400000u && (e || bits & 0x3fffffu) ? 1 : 0))};
}

// --- conversions
CI_FN float ci_source(ci_e4m3fn x) { return ci_wide(x); }
CI_FN float ci_source(ci_e5m2 x) { return ci_wide(x); }
template<int M, int BIAS, unsigned LARGEST, unsigned OVER, unsigned NONE, unsigned ENDLESS, bool FNUZ>
struct ci_to<ci_f8<M, BIAS, LARGEST, OVER, NONE, ENDLESS, FNUZ> > {
  typedef ci_f8<M, BIAS, LARGEST, OVER, NONE, ENDLESS, FNUZ> F;
  template<class U> static CI_IN F of(U v) { return ci_to_f8<F>::of((float)v); }
  template<class U> static CI_IN F of(ci_c<U> v) { return ci_to_f8<F>::of((float)v.re); }
};
#define CI_POWER_OF_TWO(v) ci_power_of_two((float)(v))
CI_TO(ci_e8m0fnu, CI_POWER_OF_TWO)
// Floats of 8 bits keep the sign of NaN, which the instruction that widens does not.
template<class T> struct ci_is_f8 { static const bool is = false; };
template<int M, int BIAS, unsigned LARGEST, unsigned OVER, unsigned NONE, unsigned ENDLESS, bool FNUZ>
struct ci_is_f8<ci_f8<M, BIAS, LARGEST, OVER, NONE, ENDLESS, FNUZ> > { static const bool is = true; };
template<class T> CI_FN T ci_cast(ci_f16 x) { return ci_to<T>::of(ci_is_f8<T>::is ? ci_wide_by_bits(x) : ci_wide(x)); }
// NaN of the formats that have no infinity, save one, is 0 as an integer.
template<class T> struct ci_whole { static const bool is = false; };
template<> struct ci_whole<ci_u8> { static const bool is = true; };
template<> struct ci_whole<ci_i8> { static const bool is = true; };
template<> struct ci_whole<ci_i16> { static const bool is = true; };
template<> struct ci_whole<ci_i32> { static const bool is = true; };
template<> struct ci_whole<ci_i64> { static const bool is = true; };
template<> struct ci_whole<ci_u16> { static const bool is = true; };
template<> struct ci_whole<ci_u32> { static const bool is = true; };
template<> struct ci_whole<ci_u64> { static const bool is = true; };
template<class T> CI_FN T ci_cast_or_none(float v) { return ci_to<T>::of(ci_whole<T>::is && v != v ? 0.0f : v); }
template<class T> CI_FN T ci_cast(ci_e4m3fnuz x) { return ci_cast_or_none<T>(ci_wide(x)); }
template<class T> CI_FN T ci_cast(ci_e5m2fnuz x) { return ci_cast_or_none<T>(ci_wide(x)); }
template<class T> CI_FN T ci_cast(ci_e8m0fnu x) { return ci_cast_or_none<T>(ci_wide(x)); }
