// Random numbers: Philox4x32 with 10 rounds, of which CI_EACH_GIVES elements `T` are made at a time. An element depends on the seed and on
// its position alone. Source: J. Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011. What is compiled is the first
// section and one of the others.

struct ci_bits { ci_u32 of[4]; };
CI_FN ci_bits ci_philox(const ci_u64 counter, const ci_u64 seed) {
  ci_u32 a = (ci_u32)counter, b = (ci_u32)(counter >> 32), c = 0, d = 0, key = (ci_u32)seed, other = (ci_u32)(seed >> 32);
  CI_UNROLL
  for (int round = 0; round < 10; round++) {
    const ci_u32 high = __umulhi(0xD2511F53u, a), low = 0xD2511F53u * a;
    const ci_u32 upper = __umulhi(0xCD9E8D57u, c), lower = 0xCD9E8D57u * c;
    a = upper ^ b ^ key;
    b = lower;
    c = high ^ d ^ other;
    d = low;
    key += 0x9E3779B9u;
    other += 0xBB67AE85u;
  }
  return {{a, b, c, d}};
}
CI_FN ci_u64 ci_long_of(const ci_bits &x, const int at) { return (ci_u64)x.of[2 * at] << 32 | x.of[2 * at + 1]; }
// Uniform numbers from 0 up to 1, of 53 bits.
CI_FN double ci_unit(const ci_u64 bits) { return (double)(bits >> 11) * 1.1102230246251565e-16; }
// What is drawn: numbers from `low` up to `low + range`, normal ones with mean `low` and deviation `range`, or one of `choices` integers.
struct ci_drawn {
  ci_u64 count, seed, choices;
  ci_i64 first;
  double low, range;
};
// ---
// Uniform, with as many bits as the significand has, so that rounding never gives 1.
CI_FN void ci_draw(const ci_bits &x, T (&to)[CI_EACH_GIVES], const ci_drawn &w) {
  CI_UNROLL
  for (int k = 0; k < CI_EACH_GIVES; k++) {
    const double unit = CI_DIGITS > 32 ? ci_unit(ci_long_of(x, k % 2)) : (double)(x.of[k] >> (32 - CI_DIGITS) % 32) / (double)(1ull << CI_DIGITS);
    to[k] = ci_cast<T>(w.low + unit * w.range);
  }
}
// ---
// Normal: two at a time. Source: G. Box, M. Muller, "A note on the generation of random normal deviates", 1958.
CI_FN void ci_turned(const float angle, float &cosine, float &sine) { sincosf(angle, &sine, &cosine); }
CI_FN void ci_turned(const double angle, double &cosine, double &sine) { sincos(angle, &sine, &cosine); }
template<class N> CI_FN void ci_pair(const N above_zero, const N unit, N &one, N &other) {
  const N size = ci_sqrt((N)-2 * ci_log(above_zero));
  ci_turned((N)6.283185307179586 * unit, one, other);
  one *= size;
  other *= size;
}
CI_FN void ci_draw(const ci_bits &x, T (&to)[CI_EACH_GIVES], const ci_drawn &w) {
  if (CI_DIGITS > 32) {
    double one, other;
    ci_pair<double>(1.0 - ci_unit(ci_long_of(x, 0)), ci_unit(ci_long_of(x, 1)), one, other);
    to[0] = ci_cast<T>(w.low + w.range * one);
    to[1] = ci_cast<T>(w.low + w.range * other);
  } else {
    // (Of mean 0 and deviation 1 they are what they are, without a double: 0 is added, which makes no other number of any but -0.)
    const bool is_standard = w.low == 0.0 && w.range == 1.0;
    CI_UNROLL
    for (int k = 0; k + 1 < CI_EACH_GIVES; k += 2) {
      float one, other;
      ci_pair<float>(((float)x.of[k] + 1.0f) * 2.3283064e-10f, (float)(x.of[k + 1] >> 8) * 5.9604645e-8f, one, other);
      to[k] = is_standard ? ci_cast<T>(0.0f + one) : ci_cast<T>(w.low + w.range * (double)one);
      to[k + 1] = is_standard ? ci_cast<T>(0.0f + other) : ci_cast<T>(w.low + w.range * (double)other);
    }
  }
}
// ---
// Integers: the upper half of a product of 128 bits, so that none is likelier than another by more than 2^-64 of all.
CI_FN void ci_draw(const ci_bits &x, T (&to)[CI_EACH_GIVES], const ci_drawn &w) {
  CI_UNROLL
  for (int k = 0; k < CI_EACH_GIVES; k++)
    to[k] = ci_cast<T>((ci_i64)((ci_u64)w.first + __umul64hi(ci_long_of(x, k % 2), w.choices)));
}
// ---
// A thread for each group of elements. (Behind one of the sections above.)
CI_KERNEL void draw(T *to, const ci_drawn w) {
  CI_EACH(group, (w.count + CI_EACH_GIVES - 1) / CI_EACH_GIVES) {
    ci_pack<T, CI_EACH_GIVES> x;
    ci_draw(ci_philox(group, w.seed), x.of, w);
    const ci_u64 first = group * CI_EACH_GIVES;
    if (first + CI_EACH_GIVES <= w.count) {
      *(ci_pack<T, CI_EACH_GIVES> *)(to + first) = x;
    } else {
      CI_UNROLL
      for (int k = 0; k < CI_EACH_GIVES; k++) if (first + k < w.count) to[first + k] = x.of[k];
    }
  }
}
// ---
// For each probability one, or zero; says where an element is none.
struct ci_chances { ci_u64 count, seed, rank, sizes[8], strides[8]; };
CI_KERNEL void draw(const T *p, T *to, ci_u32 *outside, const ci_chances w) {
  CI_EACH(i, w.count) {
    const double chance = ci_cast<double>(p[ci_place(i, w.rank, w.sizes, w.strides)]);
    if (!(chance >= 0.0 && chance <= 1.0)) *outside = 1;
    const ci_bits x = ci_philox(i / 2, w.seed);
    to[i] = ci_cast<T>(ci_unit(i % 2 ? ci_long_of(x, 1) : ci_long_of(x, 0)) < chance);
  }
}
