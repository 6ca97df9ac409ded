// Sorting and selection along an axis, and searches in sorted lanes, for elements `T` whose keys are `ci_key`s. Behind `block.cuh`. What
// is compiled is the first section and one of the others; `radix.cuh` sorts long lanes.

// An element as a number that compares.
template<class N> CI_FN N ci_number(N x) { return x; }
CI_FN float ci_number(ci_f16 x) { return ci_wide(x); }
CI_FN float ci_number(ci_bf16 x) { return ci_wide(x); }
// Keys: unsigned integers with the order of the elements. NaN is above all numbers; all NaNs are equal, as are the two zeros.
CI_FN ci_u8 ci_ordered(bool x) { return x; }
CI_FN ci_u8 ci_ordered(ci_u8 x) { return x; }
CI_FN ci_u8 ci_ordered(ci_i8 x) { return (ci_u8)(x ^ 0x80); }
CI_FN ci_u16 ci_ordered(ci_i16 x) { return (ci_u16)(x ^ 0x8000); }
CI_FN ci_u32 ci_ordered(int x) { return (ci_u32)x ^ 0x80000000u; }
CI_FN ci_u64 ci_ordered(ci_i64 x) { return (ci_u64)x ^ 0x8000000000000000ull; }
template<class K> CI_FN K ci_ordered_bits(const K bits, const K infinity) {
  const K sign = (K)((K)1 << (8 * sizeof(K) - 1)), size = (K)(bits & ~sign);
  return size > infinity ? (K)~(K)0 : size == 0 ? sign : bits & sign ? (K)~bits : (K)(bits | sign);
}
CI_FN ci_u16 ci_ordered(ci_f16 x) { return ci_ordered_bits<ci_u16>(x.bits, 0x7c00); }
CI_FN ci_u16 ci_ordered(ci_bf16 x) { return ci_ordered_bits<ci_u16>(x.bits, 0x7f80); }
CI_FN ci_u32 ci_ordered(float x) { return ci_ordered_bits<ci_u32>(ci_word(x), 0x7f800000u); }
CI_FN ci_u64 ci_ordered(double x) { return ci_ordered_bits<ci_u64>(ci_word(x), 0x7ff0000000000000ull); }
// The element of a key; false of keys that several elements have.
CI_FN bool ci_unordered(ci_u8 key, bool &x) { x = key != 0; return true; }
CI_FN bool ci_unordered(ci_u8 key, ci_u8 &x) { x = key; return true; }
CI_FN bool ci_unordered(ci_u8 key, ci_i8 &x) { x = (ci_i8)(key ^ 0x80); return true; }
CI_FN bool ci_unordered(ci_u16 key, ci_i16 &x) { x = (ci_i16)(key ^ 0x8000); return true; }
CI_FN bool ci_unordered(ci_u32 key, int &x) { x = (int)(key ^ 0x80000000u); return true; }
CI_FN bool ci_unordered(ci_u64 key, ci_i64 &x) { x = (ci_i64)(key ^ 0x8000000000000000ull); return true; }
template<class K> CI_FN K ci_unordered_bits(const K key) {
  const K sign = (K)((K)1 << (8 * sizeof(K) - 1));
  return key & sign ? (K)(key ^ sign) : (K)~key;
}
template<class K> CI_FN bool ci_is_shared(const K key) { return key == (K)~(K)0 || key == (K)((K)1 << (8 * sizeof(K) - 1)); }
CI_FN bool ci_unordered(ci_u16 key, ci_f16 &x) { x.bits = ci_unordered_bits(key); return !ci_is_shared(key); }
CI_FN bool ci_unordered(ci_u16 key, ci_bf16 &x) { x.bits = ci_unordered_bits(key); return !ci_is_shared(key); }
CI_FN bool ci_unordered(ci_u32 key, float &x) { x = ci_f32(ci_unordered_bits(key)); return !ci_is_shared(key); }
CI_FN bool ci_unordered(ci_u64 key, double &x) { x = ci_f64(ci_unordered_bits(key)); return !ci_is_shared(key); }
typedef decltype(ci_ordered(T())) ci_key;
const ci_key CI_LAST_KEY = (ci_key)~(ci_key)0;

// The lanes of a tensor and of its results: sizes of the other axes, strides there and along the axis. The results are elements `skip`,
// `skip + 1`, … in order; with `middle`, `skip` is the median's position (1), or that among the numbers (2). Lanes may be divided into
// chunks; `shift` is the digit of a radix pass.
struct ci_order {
  ci_u64 lanes, len, step, results, to_step, chunk, chunks;
  ci_u64 sizes[8], strides[8], to_strides[8];
  ci_u64 rank, skip;
  ci_u32 descending, middle, shift, is_first, is_last;
};
// The key in the order that is asked for.
CI_FN ci_key ci_key_of(const T x, const ci_order &w) { return (ci_key)(ci_ordered(x) ^ (w.descending ? CI_LAST_KEY : (ci_key)0)); }
// The first selected position of a lane with this many NaNs.
CI_FN ci_u64 ci_skip(const ci_order &w, const ci_u64 nans) {
  if (!w.middle) return w.skip;
  return nans && (w.middle == 1 || nans == w.len) ? w.len - nans : (w.len - nans - 1) / 2;
}
// The prefix sum over the threads before this one, and the total.
CI_FN ci_u32 ci_sum_before(const ci_u32 own, ci_u32 &all) {
  __shared__ ci_u32 parts[CI_THREADS / 32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  ci_u32 sum = own;
  CI_UNROLL
  for (unsigned by = 1; by < 32; by *= 2) {
    const ci_u32 other = __shfl_up_sync(~0u, sum, by);
    if (lane >= by) sum += other;
  }
  if (lane == 31) parts[warp] = sum;
  __syncthreads();
  ci_u32 before = 0;
  all = 0;
  CI_UNROLL
  for (unsigned other = 0; other < CI_THREADS / 32; other++) {
    if (other < warp) before += parts[other];
    all += parts[other];
  }
  __syncthreads();
  return before + sum - own;
}
// Ranks by a digit, stable: an item of a thread stands at `at(j)` among all of the block.
struct ci_ranks { ci_u32 counts[CI_THREADS / 32][256], starts[256]; };
CI_FN unsigned ci_at(const int j, const int items) { return (threadIdx.x / 32 * items + j) * 32 + threadIdx.x % 32; }
template<int N> CI_FN void ci_rank(const ci_key (&keys)[N], const unsigned shift, ci_u16 (&places)[N], ci_ranks &ranks, ci_u32 &count) {
  static_assert(CI_THREADS == 256, "a thread for each digit");
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  CI_UNROLL
  for (unsigned digit = lane; digit < 256; digit += 32) ranks.counts[warp][digit] = 0;
  __syncwarp();
  CI_UNROLL
  for (int j = 0; j < N; j++) {
    const unsigned digit = (unsigned)(keys[j] >> shift) & 255;
    // The lanes with the same digit.
    unsigned same = ~0u;
    CI_UNROLL
    for (int bit = 0; bit < 8; bit++) {
      const bool is_set = digit >> bit & 1;
      const unsigned with = __ballot_sync(~0u, is_set);
      same &= is_set ? with : ~with;
    }
    const int first = __ffs(same) - 1;
    ci_u32 before = 0;
    if ((int)lane == first) {
      before = ranks.counts[warp][digit];
      ranks.counts[warp][digit] = before + __popc(same);
    }
    places[j] = (ci_u16)(__shfl_sync(~0u, before, first) + __popc(same & ((1u << lane) - 1)));
    __syncwarp();
  }
  __syncthreads();
  count = 0;
  CI_UNROLL
  for (unsigned other = 0; other < CI_THREADS / 32; other++) {
    const ci_u32 here = ranks.counts[other][threadIdx.x];
    ranks.counts[other][threadIdx.x] = count;
    count += here;
  }
  ci_u32 all;
  const ci_u32 start = ci_sum_before(count, all);
  ranks.starts[threadIdx.x] = start;
  __syncthreads();
  CI_UNROLL
  for (int j = 0; j < N; j++) {
    const unsigned digit = (unsigned)(keys[j] >> shift) & 255;
    places[j] = (ci_u16)(places[j] + ranks.starts[digit] + ranks.counts[warp][digit]);
  }
}
// Sorts the keys of a block's threads, with the numbers that belong to them.
template<int N> struct ci_sorter { ci_ranks ranks; ci_key keys[N * CI_THREADS]; ci_u16 numbers[N * CI_THREADS]; };
template<int N> CI_FN void ci_sort(ci_key (&keys)[N], ci_u16 (&numbers)[N], ci_sorter<N> &shared) {
  for (unsigned shift = 0; shift < 8 * sizeof(ci_key); shift += 8) {
    ci_u16 places[N];
    ci_u32 count;
    ci_rank<N>(keys, shift, places, shared.ranks, count);
    CI_UNROLL
    for (int j = 0; j < N; j++) { shared.keys[places[j]] = keys[j]; shared.numbers[places[j]] = numbers[j]; }
    __syncthreads();
    CI_UNROLL
    for (int j = 0; j < N; j++) { keys[j] = shared.keys[ci_at(j, N)]; numbers[j] = shared.numbers[ci_at(j, N)]; }
    __syncthreads();
  }
}
// ---
// A warp for each lane of up to 32 elements: each element counts those that come before it.
CI_KERNEL void order(const T *a, T *values, ci_i64 *indices, const ci_order w) {
  const unsigned own = threadIdx.x % 32;
  for (ci_u64 lane = (blockIdx.x * (ci_u64)CI_THREADS + threadIdx.x) / 32; lane < w.lanes; lane += gridDim.x * (ci_u64)(CI_THREADS / 32)) {
    const T *from = a + ci_place(lane, w.rank, w.sizes, w.strides);
    const ci_u64 to = ci_place(lane, w.rank, w.sizes, w.to_strides);
    const bool is_there = own < w.len;
    const T x = from[is_there ? own * w.step : 0];
    typedef decltype(ci_key() + 0u) wide;
    const wide key = ci_key_of(x, w);
    const ci_u64 skip = ci_skip(w, CI_HAS_NAN ? __popc(__ballot_sync(~0u, is_there && key == CI_LAST_KEY)) : 0);
    ci_u64 place = 0;
    for (unsigned other = 0; other < w.len; other++) {
      const wide theirs = __shfl_sync(~0u, key, (int)other);
      place += theirs < key || (theirs == key && other < own);
    }
    if (is_there && place >= skip && place - skip < w.results) {
      values[to + (place - skip) * w.to_step] = x;
      indices[to + (place - skip) * w.to_step] = own;
    }
  }
}
// ---
// A block for each lane, of which each thread has up to CI_ITEMS elements.
CI_KERNEL void __launch_bounds__(CI_THREADS, 3) order(const T *a, T *values, ci_i64 *indices, const ci_order w) {
  __shared__ ci_sorter<CI_ITEMS> shared;
  for (ci_u64 lane = blockIdx.x; lane < w.lanes; lane += gridDim.x) {
    const T *from = a + ci_place(lane, w.rank, w.sizes, w.strides);
    const ci_u64 to = ci_place(lane, w.rank, w.sizes, w.to_strides);
    // Elements past the end come last, because the sort is stable.
    ci_key keys[CI_ITEMS];
    ci_u16 numbers[CI_ITEMS];
    ci_u32 own = 0, nans = 0;
    CI_UNROLL
    for (int j = 0; j < CI_ITEMS; j++) {
      const unsigned at = ci_at(j, CI_ITEMS);
      numbers[j] = (ci_u16)at;
      keys[j] = at < w.len ? ci_key_of(from[at * w.step], w) : CI_LAST_KEY;
      own += at < w.len && keys[j] == CI_LAST_KEY;
    }
    if (CI_HAS_NAN && w.middle) ci_sum_before(own, nans);
    const ci_u64 skip = ci_skip(w, nans);
    ci_sort<CI_ITEMS>(keys, numbers, shared);
    CI_UNROLL
    for (int j = 0; j < CI_ITEMS; j++) {
      const ci_u64 at = ci_at(j, CI_ITEMS);
      if (at < w.len && at >= skip && at - skip < w.results) {
        values[to + (at - skip) * w.to_step] = from[numbers[j] * w.step];
        indices[to + (at - skip) * w.to_step] = numbers[j];
      }
    }
  }
}
// ---
// A block for each lane, or for each chunk of one: the first `skip + results` in order are selected, digit by digit, and sorted. Where
// a single one is asked for, it is found without those before it. Of chunks, and of what was selected of them, there are keys and
// positions; `is_first` says that elements are read, `is_last` that results are written.
CI_FN ci_key ci_candidate(const T *from, const ci_key *keys, const ci_u64 i, const ci_order &w) {
  return w.is_first ? ci_key_of(from[i * w.step], w) : keys[i];
}
CI_KERNEL void __launch_bounds__(CI_THREADS) order(const T *a, const ci_key *keys, const ci_u32 *positions, ci_key *to_keys, ci_u32 *to_positions,
                                                   T *values, ci_i64 *indices, const ci_order w) {
  constexpr unsigned CAPACITY = CI_ITEMS * CI_THREADS, AHEAD = 8;
  __shared__ ci_sorter<CI_ITEMS> shared;
  __shared__ ci_u32 places[CAPACITY], digits[256];
  __shared__ ci_u64 found, before_found;
  for (ci_u64 unit = blockIdx.x; unit < w.lanes * w.chunks; unit += gridDim.x) {
    const ci_u64 lane = unit / w.chunks, first = unit % w.chunks * w.chunk, last = first + w.chunk < w.len ? first + w.chunk : w.len;
    const T *from = a + ci_place(lane, w.rank, w.sizes, w.strides);
    const ci_key *theirs = keys + lane * w.len;
    const ci_u64 to = ci_place(lane, w.rank, w.sizes, w.to_strides);
    ci_u32 nans = 0;
    if (CI_HAS_NAN && w.middle) {
      ci_u32 own = 0;
      for (ci_u64 i = first + threadIdx.x; i < last; i += CI_THREADS) own += ci_candidate(from, theirs, i, w) == CI_LAST_KEY;
      ci_sum_before(own, nans);
    }
    const ci_u64 skip = ci_skip(w, nans), wanted = skip + w.results < last - first ? skip + w.results : last - first;
    const bool is_single = skip > 0;
    // The key of the last one wanted, and how many of its equals are.
    ci_u64 equals = wanted;
    ci_key limit = 0, known = 0;
    for (int shift = 8 * sizeof(ci_key) - 8; shift >= 0; shift -= 8) {
      digits[threadIdx.x] = 0;
      __syncthreads();
      for (ci_u64 start = first; start < last; start += AHEAD * CI_THREADS) {
        ci_key some[AHEAD];
        CI_UNROLL
        for (unsigned j = 0; j < AHEAD; j++) {
          const ci_u64 i = start + j * CI_THREADS + threadIdx.x;
          if (i < last) some[j] = ci_candidate(from, theirs, i, w);
        }
        CI_UNROLL
        for (unsigned j = 0; j < AHEAD; j++)
          if (start + j * CI_THREADS + threadIdx.x < last && (some[j] & known) == limit) atomicAdd(&digits[some[j] >> shift & 255], 1u);
      }
      __syncthreads();
      ci_u32 all;
      const ci_u32 here = digits[threadIdx.x], before = ci_sum_before(here, all);
      if (before < equals && equals <= (ci_u64)before + here) { found = threadIdx.x; before_found = before; }
      __syncthreads();
      limit = (ci_key)(limit | (ci_key)found << shift);
      known = (ci_key)(known | (ci_key)255 << shift);
      equals -= before_found;
      __syncthreads();
    }
    // Those below the limit and the first of its equals, in the order of their positions.
    ci_u64 smaller_before = 0, equals_before = 0;
    for (ci_u64 start = first; start < last && (equals_before < equals || (!is_single && smaller_before < wanted - equals));
         start += AHEAD * CI_THREADS) {
      ci_key some[AHEAD];
      bool any = false;
      CI_UNROLL
      for (unsigned j = 0; j < AHEAD; j++) {
        const ci_u64 i = start + j * CI_THREADS + threadIdx.x;
        some[j] = i < last ? ci_candidate(from, theirs, i, w) : CI_LAST_KEY;
        any |= i < last && ((some[j] == limit && equals_before < equals) || (some[j] < limit && !is_single));
      }
      if (!__syncthreads_or(any)) continue;
      CI_UNROLL
      for (unsigned j = 0; j < AHEAD; j++) {
        const ci_u64 i = start + j * CI_THREADS + threadIdx.x;
        const bool is_smaller = i < last && some[j] < limit, is_equal = i < last && some[j] == limit;
        ci_u32 all;
        const ci_u32 both = ci_sum_before((is_smaller ? 1u : 0u) + (is_equal ? 1u << 16 : 0u), all);
        const ci_u64 smaller = smaller_before + (both & 0xffff), equal = equals_before + (both >> 16);
        smaller_before += all & 0xffff;
        equals_before += all >> 16;
        if (!is_smaller && !(is_equal && equal < equals)) continue;
        const ci_u32 position = w.is_first ? (ci_u32)i : positions[lane * w.len + i];
        if (is_single) {
          if (is_equal && equal == equals - 1) { values[to] = from[position * w.step]; indices[to] = position; }
        } else {
          const ci_u64 slot = smaller + (equal < equals ? equal : equals);
          if (w.is_last) { shared.keys[slot] = some[j]; places[slot] = position; }
          else { to_keys[unit * w.results + slot] = some[j]; to_positions[unit * w.results + slot] = position; }
        }
      }
    }
    if (is_single) continue;
    if (!w.is_last) {
      // (Behind those of a chunk that has too few. Nothing of it is selected, since it comes last.)
      for (ci_u64 slot = wanted + threadIdx.x; slot < w.results; slot += CI_THREADS) {
        to_keys[unit * w.results + slot] = CI_LAST_KEY;
        to_positions[unit * w.results + slot] = 0;
      }
      continue;
    }
    __syncthreads();
    ci_key own[CI_ITEMS];
    ci_u16 numbers[CI_ITEMS];
    CI_UNROLL
    for (int j = 0; j < CI_ITEMS; j++) {
      const unsigned at = ci_at(j, CI_ITEMS);
      numbers[j] = (ci_u16)at;
      own[j] = at < wanted ? shared.keys[at] : CI_LAST_KEY;
    }
    __syncthreads();
    ci_sort<CI_ITEMS>(own, numbers, shared);
    CI_UNROLL
    for (int j = 0; j < CI_ITEMS; j++) {
      const unsigned at = ci_at(j, CI_ITEMS);
      if (at < wanted) {
        const ci_u32 position = places[numbers[j]];
        values[to + at * w.to_step] = from[position * w.step];
        indices[to + at * w.to_step] = position;
      }
    }
    __syncthreads();
  }
}
// ---
// The middle element of sorted lanes.
CI_KERNEL void order(const T *sorted, const ci_i64 *positions, T *values, ci_i64 *indices, const ci_order w) {
  CI_EACH(lane, w.lanes) {
    const T *from = sorted + lane * w.len;
    ci_u64 low = 0, high = CI_HAS_NAN ? w.len : 0;
    while (low < high) {
      const ci_u64 half = (low + high) / 2;
      if (ci_ordered(from[half]) == CI_LAST_KEY) high = half; else low = half + 1;
    }
    const ci_u64 at = ci_skip(w, CI_HAS_NAN ? w.len - low : 0), to = ci_place(lane, w.rank, w.sizes, w.to_strides);
    values[to] = from[at];
    indices[to] = positions[lane * w.len + at];
  }
}
// ---
// The last of the longest run of equal elements in sorted lanes; of equally long runs, the first. No NaN equals another. A block for each
// lane: its threads look for the ends of runs, and for where these begin.
CI_KERNEL void order(const T *sorted, const ci_i64 *positions, T *values, ci_i64 *indices, const ci_order w) {
  __shared__ ci_u64 lengths[CI_THREADS], ends[CI_THREADS];
  for (ci_u64 lane = blockIdx.x; lane < w.lanes; lane += gridDim.x) {
    const T *from = sorted + lane * w.len;
    ci_u64 longest = 0, chosen = 0;
    for (ci_u64 at = threadIdx.x; at < w.len; at += CI_THREADS) {
      const ci_key key = ci_ordered(from[at]);
      const bool is_alone = CI_HAS_NAN && key == CI_LAST_KEY;
      if (!is_alone && at + 1 < w.len && ci_ordered(from[at + 1]) == key) continue;
      ci_u64 low = is_alone ? at : 0, high = at;
      while (low < high) {
        const ci_u64 half = (low + high) / 2;
        if (ci_ordered(from[half]) < key) low = half + 1; else high = half;
      }
      if (at + 1 - low > longest) { longest = at + 1 - low; chosen = at; }
    }
    lengths[threadIdx.x] = longest;
    ends[threadIdx.x] = chosen;
    __syncthreads();
    for (unsigned width = CI_THREADS / 2; width > 0; width /= 2) {
      if (threadIdx.x < width) {
        const unsigned other = threadIdx.x + width;
        if (lengths[other] > lengths[threadIdx.x] || (lengths[other] == lengths[threadIdx.x] && ends[other] < ends[threadIdx.x])) {
          lengths[threadIdx.x] = lengths[other];
          ends[threadIdx.x] = ends[other];
        }
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      const ci_u64 to = ci_place(lane, w.rank, w.sizes, w.to_strides);
      values[to] = from[ends[0]];
      indices[to] = positions[lane * w.len + ends[0]];
    }
    __syncthreads();
  }
}
// ---
// Where values would be inserted into sorted lanes. The comparisons are PyTorch's (`cus_lower_bound` and `cus_upper_bound` of
// `aten/src/ATen/native/Bucketization.cpp`), because they decide where NaN goes. Here `a` is sorted, `skip` says right, and strides are
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
      const bool stops = w.skip ? middle > value : middle >= value;
      low = stops ? low : low + half + 1;
      left = stops ? half : left - half - 1;
    }
    to[e] = (ci_i64)low;
  }
}
