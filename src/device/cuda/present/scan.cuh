// Scans. Included after `block.cuh`, the struct `L` of a scan, and the constants that divide the lanes. A chunk of a lane belongs to a
// thread, to the warps of a block, or to a warp; if lanes have several chunks, a first kernel writes the totals of all but the last
// (CI_IS_TOTAL), and a second one starts each chunk from those before it. The division, and so the order of merging, depends on the sizes
// only. The first section and one other are compiled.

// Where lanes are: sizes of the other axes, strides there and along the lane, of the elements and of the results; and the chunks of each.
struct ci_scanned {
  ci_u64 lanes, len, step, to_step, chunk, chunks;
  ci_u64 sizes[8], strides[8], to_strides[8];
  ci_u64 rank;
};
typedef L::partial ci_partial;
typedef L::element ci_element;
// A stretch and the one behind it. (What takes many steps is one function: it would be in the kernel a hundred times.)
#if CI_IS_LONG
__device__ __noinline__ static ci_partial ci_put(const ci_partial p, const ci_partial q) { return L::merge(p, q); }
#else
CI_FN ci_partial ci_put(const ci_partial p, const ci_partial q) { return L::merge(p, q); }
#endif
// The partial value of a segment of a lane: empty at the start, unless the scan has an initial value.
struct ci_known {
  ci_partial p;
  bool is_there;
  CI_IN ci_partial with(const ci_partial later) const { return is_there ? ci_put(p, later) : later; }
  CI_IN void add(const ci_partial later) { p = with(later); is_there = true; }
};
CI_FN ci_known ci_at_start() {
  ci_known known;
  known.is_there = false;
  if (!CI_IS_TOTAL) { CI_START }
  return known;
}
#if CI_BOTH
#define CI_RESULTS , L::out *out, L::second_out *second
#define CI_RESULT_NAMES , out, second
#define CI_WRITE(at, p) { out[at] = L::emit(p); second[at] = L::second(p); }
#else
#define CI_RESULTS , L::out *out
#define CI_RESULT_NAMES , out
#define CI_WRITE(at, p) { out[at] = L::emit(p); }
#endif
// ---
// A thread for each chunk; neighbouring threads have neighbouring lanes.
CI_KERNEL void scan(const ci_element *a, ci_partial *totals CI_RESULTS, const ci_scanned w) {
  CI_EACH(unit, w.lanes * (w.chunks - CI_IS_TOTAL)) {
    const ci_u64 lane = unit % w.lanes, at = unit / w.lanes;
    const ci_u64 first = at * w.chunk, last = first + w.chunk < w.len ? first + w.chunk : w.len;
    const ci_element *from = a + ci_place(lane, w.rank, w.sizes, w.strides);
    const ci_u64 to = ci_place(lane, w.rank, w.sizes, w.to_strides);
    ci_known known = ci_at_start();
    if (!CI_IS_TOTAL) for (ci_u64 chunk = 0; chunk < at; chunk++) known.add(totals[chunk * w.lanes + lane]);
    for (ci_u64 i = first; i < last; i += CI_ROUNDS) {
      ci_element x[CI_ROUNDS];
      CI_UNROLL
      for (int k = 0; k < CI_ROUNDS; k++) if (i + k < last) x[k] = from[(i + k) * w.step];
      CI_UNROLL
      for (int k = 0; k < CI_ROUNDS; k++) if (i + k < last) {
        known.add(L::of(x[k], (ci_i64)(i + k)));
        if (!CI_IS_TOTAL) CI_WRITE(to + (i + k) * w.to_step, known.p)
      }
    }
    if (CI_IS_TOTAL) totals[unit] = known.p;
  }
}
// ---
// A chunk of 32 neighbouring lanes for a block. Each of its warps has some elements of every tile, a thread those of one lane.
CI_KERNEL void __launch_bounds__(CI_THREADS, 4) scan(const ci_element *a, ci_partial *totals CI_RESULTS, const ci_scanned w) {
  constexpr unsigned WARPS = CI_THREADS / 32, TILE = WARPS * CI_ROUNDS;
  __shared__ ci_partial parts[2][WARPS][32];
  const unsigned warp = threadIdx.x / 32;
  const ci_u64 groups = (w.lanes + 31) / 32, units = groups * (w.chunks - CI_IS_TOTAL);
  unsigned turn = 0;
  for (ci_u64 unit = blockIdx.x; unit < units; unit += gridDim.x) {
    const ci_u64 at = unit / groups, lane = (unit - at * groups) * 32 + threadIdx.x % 32;
    const bool is_lane = lane < w.lanes;
    const ci_u64 first = at * w.chunk, last = first + w.chunk < w.len ? first + w.chunk : w.len;
    const ci_element *from = is_lane ? a + ci_place(lane, w.rank, w.sizes, w.strides) : a;
    const ci_u64 to = is_lane ? ci_place(lane, w.rank, w.sizes, w.to_strides) : 0;
    ci_known known = ci_at_start();
    if (!CI_IS_TOTAL && is_lane) for (ci_u64 chunk = 0; chunk < at; chunk++) known.add(totals[chunk * w.lanes + lane]);
    for (ci_u64 tile = first; tile < last; tile += TILE) {
      const ci_u64 base = tile + warp * CI_ROUNDS;
      ci_element x[CI_ROUNDS];
      CI_UNROLL
      for (int k = 0; k < CI_ROUNDS; k++) if (is_lane && base + k < last) x[k] = from[(base + k) * w.step]; else x[k] = ci_element();
      ci_partial p[CI_ROUNDS];
      CI_UNROLL
      for (int k = 0; k < CI_ROUNDS; k++) {
        p[k] = L::of(x[k], (ci_i64)(base + k));
        if (k > 0) p[k] = ci_put(p[k - 1], p[k]);
      }
      parts[turn][warp][threadIdx.x % 32] = p[CI_ROUNDS - 1];
      __syncthreads();
      // (Elements past the end are merged as well: nothing follows them.)
      ci_known here = known;
      CI_UNROLL
      for (unsigned other = 0; other < WARPS; other++) {
        if (other == warp) here = known;
        known.add(parts[turn][other][threadIdx.x % 32]);
      }
      turn ^= 1;
      if (!CI_IS_TOTAL) {
        CI_UNROLL
        for (int k = 0; k < CI_ROUNDS; k++) if (is_lane && base + k < last) CI_WRITE(to + (base + k) * w.to_step, here.with(p[k]))
      }
    }
    if (CI_IS_TOTAL && is_lane && warp == 0) totals[at * w.lanes + lane] = known.p;
  }
}
// ---
// The value of another thread of the warp.
template<class P> CI_FN P ci_from_below(const P p, const unsigned by) {
  static_assert(sizeof(P) % 4 == 0, "words are moved");
  P other;
  CI_UNROLL
  for (unsigned i = 0; i < sizeof(P) / 4; i++) ((ci_u32 *)&other)[i] = __shfl_up_sync(~0u, ((const ci_u32 *)&p)[i], by);
  return other;
}
template<class P> CI_FN P ci_from_above(const P p, const unsigned by) {
  P other;
  CI_UNROLL
  for (unsigned i = 0; i < sizeof(P) / 4; i++) ((ci_u32 *)&other)[i] = __shfl_down_sync(~0u, ((const ci_u32 *)&p)[i], by);
  return other;
}
template<class P> CI_FN P ci_of_lane(const P p, const unsigned lane) {
  P other;
  CI_UNROLL
  for (unsigned i = 0; i < sizeof(P) / 4; i++) ((ci_u32 *)&other)[i] = __shfl_sync(~0u, ((const ci_u32 *)&p)[i], (int)lane);
  return other;
}
// The totals of `count` chunks, combined in their order by the threads of a warp, each of which starts with its share.
CI_FN ci_partial ci_together(const ci_partial *totals, const ci_u64 count) {
  const unsigned lane = threadIdx.x % 32;
  const ci_u64 share = (count + 31) / 32, first = lane * share, last = first + share < count ? first + share : count;
  ci_partial p = totals[first < count ? first : 0];
  for (ci_u64 i = first + 1; i < last; i++) p = ci_put(p, totals[i]);
  CI_UNROLL
  for (unsigned by = 1; by < 32; by *= 2) {
    const ci_partial other = ci_from_above(p, by);
    if (lane % (2 * by) == 0 && (lane + by) * share < count) p = ci_put(p, other);
  }
  return ci_of_lane(p, 0);
}
typedef ci_pack<ci_element, CI_PACK> ci_packed;
// Writes the results of a pack from element `i` of the lane on, whose place is `to`.
CI_FN void ci_write(const ci_partial (&p)[CI_PACK], const ci_u64 i, const ci_u64 last, const ci_u64 to, const ci_u64 step CI_RESULTS) {
  if (CI_PACK > 1 && i + CI_PACK <= last) {
    ci_pack<L::out, CI_PACK> pack;
    CI_UNROLL
    for (int k = 0; k < CI_PACK; k++) pack.of[k] = L::emit(p[k]);
    *(ci_pack<L::out, CI_PACK> *)(out + to + i) = pack;
#if CI_BOTH
    ci_pack<L::second_out, CI_PACK> positions;
    CI_UNROLL
    for (int k = 0; k < CI_PACK; k++) positions.of[k] = L::second(p[k]);
    *(ci_pack<L::second_out, CI_PACK> *)(second + to + i) = positions;
#endif
  } else {
    CI_UNROLL
    for (int k = 0; k < CI_PACK; k++) if (i + k < last) CI_WRITE(to + (i + k) * step, p[k])
  }
}
// A chunk for `CI_WARPS` warps. A thread has packs of `CI_PACK` neighbours, one in each of the `CI_ROUNDS` rounds of its warp. (What is
// behind the end of the lane is put together as well: no result depends on it.)
CI_KERNEL void __launch_bounds__(CI_THREADS, CI_ROUNDS > 2 ? 3 : 4) scan(const ci_element *a, ci_partial *totals CI_RESULTS, const ci_scanned w) {
  constexpr unsigned ROUND = 32 * CI_PACK, PART = CI_ROUNDS * ROUND, TILE = CI_WARPS * PART, GROUPS = CI_THREADS / 32 / CI_WARPS;
  __shared__ ci_partial parts[2][CI_THREADS / 32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32 % CI_WARPS, group = threadIdx.x / 32 / CI_WARPS;
  const ci_u64 chunks = w.chunks - CI_IS_TOTAL, units = w.lanes * chunks;
  unsigned turn = 0;
  for (ci_u64 turn_of = blockIdx.x * (ci_u64)GROUPS + group; turn_of < units; turn_of += gridDim.x * (ci_u64)GROUPS) {
    // (The last chunks may still be cached: they come first.)
    const ci_u64 unit = CI_IS_TOTAL ? turn_of : units - 1 - turn_of;
    const ci_u64 line = chunks > 1 ? unit / chunks : unit, at = unit - line * chunks;
    const ci_u64 first = at * w.chunk, last = first + w.chunk < w.len ? first + w.chunk : w.len;
    const ci_element *from = a + ci_place(line, w.rank, w.sizes, w.strides);
    const ci_u64 to = ci_place(line, w.rank, w.sizes, w.to_strides);
    ci_known before = ci_at_start();
    if (!CI_IS_TOTAL && at > 0) before.add(ci_together(totals + line * (w.chunks - 1), at));
    for (ci_u64 tile = first; tile < last; tile += TILE) {
      const ci_u64 warp_first = tile + warp * PART, base = warp_first + lane * CI_PACK;
      ci_packed x[CI_ROUNDS];
      CI_UNROLL
      for (int r = 0; r < CI_ROUNDS; r++) {
        const ci_u64 i = base + r * ROUND;
        x[r] = ci_packed();
        if (i + CI_PACK <= last) {
          if (CI_PACK > 1) x[r] = *(const ci_packed *)(from + i); else x[r].of[0] = from[i * w.step];
        }
      }
      if (CI_PACK > 1 && tile + TILE > last) {
        CI_UNROLL
        for (int r = 0; r < CI_ROUNDS; r++) {
          const ci_u64 i = base + r * ROUND;
          CI_UNROLL
          for (int k = 0; k < CI_PACK; k++) if (i + k < last && i + CI_PACK > last) x[r].of[k] = from[i + k];
        }
      }
      // Each pack, then the packs of the warp up to each.
      ci_partial p[CI_ROUNDS][CI_PACK], own[CI_ROUNDS];
      CI_UNROLL
      for (int r = 0; r < CI_ROUNDS; r++) if (warp_first + r * ROUND < last) {
        CI_UNROLL
        for (int k = 0; k < CI_PACK; k++) {
          p[r][k] = L::of(x[r].of[k], (ci_i64)(base + r * ROUND + k));
          if (k > 0) p[r][k] = ci_put(p[r][k - 1], p[r][k]);
        }
        own[r] = p[r][CI_PACK - 1];
        CI_UNROLL
        for (unsigned by = 1; by < 32; by *= 2) {
          const ci_partial other = ci_from_below(own[r], by);
          if (lane >= by) own[r] = ci_put(other, own[r]);
        }
      }
      // What the warps before this one have, and all of them.
      ci_known here = before;
      if (CI_WARPS > 1) {
        ci_partial all = ci_of_lane(own[0], 31);
        CI_UNROLL
        for (int r = 1; r < CI_ROUNDS; r++) all = ci_put(all, ci_of_lane(own[r], 31));
        if (lane == 31) parts[turn][warp] = all;
        __syncthreads();
        CI_UNROLL
        for (unsigned other = 0; other < CI_WARPS; other++) {
          if (other == warp) here = before;
          before.add(parts[turn][other]);
        }
        turn ^= 1;
      }
      if (!CI_IS_TOTAL || CI_WARPS == 1) {
        CI_UNROLL
        for (int r = 0; r < CI_ROUNDS; r++) if (warp_first + r * ROUND < last) {
          const ci_u64 i = base + r * ROUND;
          ci_known left = here;
          const ci_partial below = ci_from_below(own[r], 1);
          if (lane > 0) left.add(below);
          if (!CI_IS_TOTAL) {
            CI_UNROLL
            for (int k = 0; k < CI_PACK; k++) p[r][k] = left.with(p[r][k]);
            ci_write(p[r], i, last, to, w.to_step CI_RESULT_NAMES);
          }
          here.add(ci_of_lane(own[r], 31));
        }
        if (CI_WARPS == 1) before = here;
      }
    }
    if (CI_IS_TOTAL && threadIdx.x % (32 * CI_WARPS) == 0) totals[unit] = before.p;
  }
}
