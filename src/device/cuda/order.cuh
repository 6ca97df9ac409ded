// Sorting and selection along an axis, and searches in sorted lanes, for elements `T`. Behind `block.cuh`. What is compiled is the first
// section and one of the others.

// An element as a number that compares.
template<class N> CI_FN N ci_number(N x) { return x; }
CI_FN float ci_number(ci_f16 x) { return ci_wide(x); }
CI_FN float ci_number(ci_bf16 x) { return ci_wide(x); }
// NaN comes after every number.
CI_FN bool ci_less(T a, T b) {
  const auto x = ci_number(a), y = ci_number(b);
  return x < y || (x == x && y != y);
}
CI_FN bool ci_is_no_number(T a) {
  const auto x = ci_number(a);
  return x != x;
}
// The lanes of a tensor and of its results: sizes of the other axes, strides there and along the axis.
struct ci_order {
  ci_u64 lanes, len, step, results, to_step;
  ci_u64 sizes[8], strides[8], to_strides[8];
  ci_u64 rank, k, descending;
};
// ---
// Lanes one behind the other, each element with its position.
CI_KERNEL void order(const T *a, T *keys, ci_i64 *positions, const ci_order w) {
  CI_EACH(e, w.lanes * w.len) {
    keys[e] = a[ci_place(e / w.len, w.rank, w.sizes, w.strides) + e % w.len * w.step];
    positions[e] = (ci_i64)(e % w.len);
  }
}
// ---
// A pass of a merge sort: runs of `width` are merged two by two, each element finding its place by a search in the other run.
CI_KERNEL void order(const T *keys, const ci_i64 *positions, T *to_keys, ci_i64 *to_positions, const ci_order w, const ci_u64 width) {
  CI_EACH(e, w.lanes * w.len) {
    const ci_u64 lane = e / w.len * w.len, at = e % w.len, base = at / (2 * width) * (2 * width);
    const bool is_left = at - base < width;
    const T own = keys[e];
    const ci_u64 middle = base + width < w.len ? base + width : w.len, end = middle + width < w.len ? middle + width : w.len;
    ci_u64 low = is_left ? middle : base, high = is_left ? end : middle;
    const ci_u64 first = low;
    while (low < high) {
      const ci_u64 half = (low + high) / 2;
      const T other = keys[lane + half];
      // What is equal stays in its order: the left run comes first.
      const bool goes_on = is_left ? (w.descending ? ci_less(own, other) : ci_less(other, own))
                                   : !(w.descending ? ci_less(other, own) : ci_less(own, other));
      if (goes_on) low = half + 1; else high = half;
    }
    const ci_u64 place = lane + base + (is_left ? at - base : at - middle) + (low - first);
    to_keys[place] = own;
    to_positions[place] = positions[e];
  }
}
// ---
// What the order selects from sorted lanes: as many as there are results, from the first on.
CI_KERNEL void order(const T *keys, const ci_i64 *positions, T *values, ci_i64 *indices, const ci_order w) {
  CI_EACH(e, w.lanes * w.results) {
    const ci_u64 lane = e / w.results, at = e % w.results;
    const ci_u64 to = ci_place(lane, w.rank, w.sizes, w.to_strides) + at * w.to_step;
    values[to] = keys[lane * w.len + w.k + at];
    indices[to] = positions[lane * w.len + w.k + at];
  }
}
// ---
// The middle element of sorted lanes, the lower of two; `k` says whether NaN is left out, else it is the median if there is one.
CI_KERNEL void order(const T *keys, const ci_i64 *positions, T *values, ci_i64 *indices, const ci_order w) {
  CI_EACH(lane, w.lanes) {
    const T *from = keys + lane * w.len;
    ci_u64 low = 0, high = w.len;
    while (low < high) {
      const ci_u64 half = (low + high) / 2;
      if (ci_is_no_number(from[half])) high = half; else low = half + 1;
    }
    const ci_u64 at = low < w.len && (!w.k || low == 0) ? low : (low - 1) / 2;
    const ci_u64 to = ci_place(lane, w.rank, w.sizes, w.to_strides);
    values[to] = from[at];
    indices[to] = positions[lane * w.len + at];
  }
}
// ---
// The last of the longest run of equal elements; of equally long runs, the first. No NaN equals another.
CI_KERNEL void order(const T *keys, const ci_i64 *positions, T *values, ci_i64 *indices, const ci_order w) {
  CI_EACH(lane, w.lanes) {
    const T *from = keys + lane * w.len;
    ci_u64 longest = 0, chosen = 0, run = 0;
    for (ci_u64 at = 0; at < w.len; at++) {
      run = at > 0 && ci_number(from[at]) == ci_number(from[at - 1]) ? run + 1 : 1;
      if (run > longest) { longest = run; chosen = at; }
    }
    const ci_u64 to = ci_place(lane, w.rank, w.sizes, w.to_strides);
    values[to] = from[chosen];
    indices[to] = positions[lane * w.len + chosen];
  }
}
// ---
// Where values would be inserted into sorted lanes. The comparisons are PyTorch's (`cus_lower_bound` and `cus_upper_bound` of
// `aten/src/ATen/native/Bucketization.cpp`), because they decide where NaN goes. Here `a` is sorted, `k` says right, and strides are
// those of `a`, `to_strides` those of the values, each lane of which has `results`.
CI_KERNEL void order(const T *a, const T *values, ci_i64 *to, const ci_order w) {
  CI_EACH(e, w.lanes * w.results) {
    const ci_u64 lane = e / w.results;
    const T *from = a + ci_place(lane, w.rank, w.sizes, w.strides);
    const auto value = ci_number(values[ci_place(lane, w.rank, w.sizes, w.to_strides) + e % w.results * w.to_step]);
    ci_u64 low = 0, left = w.len;
    while (left > 0) {
      const ci_u64 half = left / 2;
      const auto middle = ci_number(from[(low + half) * w.step]);
      const bool stops = w.k ? middle > value : middle >= value;
      low = stops ? low : low + half + 1;
      left = stops ? half : left - half - 1;
    }
    to[e] = (ci_i64)low;
  }
}
