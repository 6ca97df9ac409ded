// A stable sort of long lanes by digits of 8 bits, the lowest first. For each digit its occurrences in every chunk of a lane are counted,
// the counts become places, and the elements go there. The first pass reads elements, the last one writes results; in between there are
// keys and positions (CI_IS_FIRST, CI_IS_LAST). Behind the first section of `order.cuh`; one of these sections is compiled.

// ---
// How often each digit occurs in each chunk.
CI_KERNEL void __launch_bounds__(CI_THREADS) order(const T *a, const ci_key *keys, ci_u32 *counts, const ci_order w) {
  __shared__ ci_u32 counted[CI_THREADS / 64][256];
  constexpr unsigned AHEAD = 8;
  for (ci_u64 unit = blockIdx.x; unit < w.lanes * w.chunks; unit += gridDim.x) {
    const ci_u64 lane = unit / w.chunks, first = (unit - lane * w.chunks) * w.chunk, last = first + w.chunk < w.len ? first + w.chunk : w.len;
    const T *from = a + ci_place(lane, w.rank, w.sizes, w.strides);
    CI_UNROLL
    for (unsigned part = 0; part < CI_THREADS / 64; part++) counted[part][threadIdx.x] = 0;
    __syncthreads();
    for (ci_u64 start = first + threadIdx.x; start < last; start += AHEAD * CI_THREADS) {
      ci_key some[AHEAD];
      CI_UNROLL
      for (unsigned j = 0; j < AHEAD; j++) {
        const ci_u64 i = start + j * CI_THREADS;
        if (i < last) some[j] = CI_IS_FIRST ? ci_key_of(from[i * w.step], w) : (keys + lane * w.len)[i];
      }
      CI_UNROLL
      for (unsigned j = 0; j < AHEAD; j++)
        if (start + j * CI_THREADS < last) atomicAdd(&counted[threadIdx.x / 64][some[j] >> w.shift & 255], 1u);
    }
    __syncthreads();
    ci_u32 sum = 0;
    CI_UNROLL
    for (unsigned part = 0; part < CI_THREADS / 64; part++) sum += counted[part][threadIdx.x];
    counts[unit * 256 + threadIdx.x] = sum;
    __syncthreads();
  }
}
// ---
// Counts become places in the lane: those of smaller digits come before, then those of the chunks before. A block of 1024 for each lane.
CI_KERNEL void __launch_bounds__(1024) order(ci_u32 *counts, const ci_order w) {
  __shared__ ci_u32 sums[4][256], parts[8];
  const unsigned digit = threadIdx.x % 256, slice = threadIdx.x / 256;
  for (ci_u64 lane = blockIdx.x; lane < w.lanes; lane += gridDim.x) {
    ci_u32 *all = counts + lane * w.chunks * 256 + digit;
    const ci_u64 share = (w.chunks + 3) / 4, first = slice * share, last = first + share < w.chunks ? first + share : w.chunks;
    ci_u32 sum = 0;
    for (ci_u64 chunk = first; chunk < last; chunk += 8) {
      CI_UNROLL
      for (int k = 0; k < 8; k++) if (chunk + k < last) sum += all[(chunk + k) * 256];
    }
    sums[slice][digit] = sum;
    __syncthreads();
    const ci_u32 total = sums[0][digit] + sums[1][digit] + sums[2][digit] + sums[3][digit];
    ci_u32 up_to = total;
    CI_UNROLL
    for (unsigned by = 1; by < 32; by *= 2) {
      const ci_u32 other = __shfl_up_sync(~0u, up_to, by);
      if (threadIdx.x % 32 >= by) up_to += other;
    }
    if (slice == 0 && threadIdx.x % 32 == 31) parts[digit / 32] = up_to;
    __syncthreads();
    ci_u32 place = up_to - total;
    CI_UNROLL
    for (unsigned part = 0; part < 8; part++) if (part < digit / 32) place += parts[part];
    CI_UNROLL
    for (unsigned before = 0; before < 4; before++) if (before < slice) place += sums[before][digit];
    for (ci_u64 chunk = first; chunk < last; chunk += 8) {
      ci_u32 here[8];
      CI_UNROLL
      for (int k = 0; k < 8; k++) if (chunk + k < last) here[k] = all[(chunk + k) * 256];
      CI_UNROLL
      for (int k = 0; k < 8; k++) if (chunk + k < last) { all[(chunk + k) * 256] = place; place += here[k]; }
    }
    __syncthreads();
  }
}
// ---
// The elements of each chunk go to their places. A tile is put in order in shared memory first, so that neighbours go to neighbours.
CI_KERNEL void __launch_bounds__(CI_THREADS, 3) order(const T *a, const ci_key *keys, const ci_u32 *positions, const ci_u32 *counts, ci_key *to_keys,
                                                   ci_u32 *to_positions, T *values, ci_i64 *indices, const ci_order w) {
  constexpr unsigned TILE = CI_ITEMS * CI_THREADS;
  __shared__ ci_ranks ranks;
  __shared__ ci_u32 bases[256];
  __shared__ union { ci_key keys[TILE]; ci_u32 positions[TILE]; } staged;
  for (ci_u64 unit = blockIdx.x; unit < w.lanes * w.chunks; unit += gridDim.x) {
    const ci_u64 lane = unit / w.chunks, first = (unit - lane * w.chunks) * w.chunk, last = first + w.chunk < w.len ? first + w.chunk : w.len;
    const T *from = a + ci_place(lane, w.rank, w.sizes, w.strides);
    const ci_u64 to = CI_IS_LAST ? ci_place(lane, w.rank, w.sizes, w.to_strides) : 0, own_lane = lane * w.len;
    ci_u32 base = counts[unit * 256 + threadIdx.x];
    for (ci_u64 tile = first; tile < last; tile += TILE) {
      const unsigned there = last - tile < TILE ? (unsigned)(last - tile) : TILE;
      ci_key own[CI_ITEMS];
      ci_u16 places[CI_ITEMS];
      // (What is behind the end comes last.)
      CI_UNROLL
      for (int j = 0; j < CI_ITEMS; j++) {
        const unsigned at = ci_at(j, CI_ITEMS);
        own[j] = CI_LAST_KEY;
        if (at < there) own[j] = CI_IS_FIRST ? ci_key_of(from[(tile + at) * w.step], w) : (keys + own_lane + tile)[at];
      }
      ci_u32 count;
      ci_rank<CI_ITEMS>(own, w.shift, places, ranks, count);
      bases[threadIdx.x] = base - ranks.starts[threadIdx.x];
      base += count;
      CI_UNROLL
      for (int j = 0; j < CI_ITEMS; j++) staged.keys[places[j]] = own[j];
      __syncthreads();
      ci_u32 goals[CI_ITEMS];
      CI_UNROLL
      for (int j = 0; j < CI_ITEMS; j++) {
        const unsigned at = j * CI_THREADS + threadIdx.x;
        own[j] = staged.keys[at];
        goals[j] = bases[own[j] >> w.shift & 255] + at;
        if (!CI_IS_LAST && at < there) (to_keys + own_lane)[goals[j]] = own[j];
      }
      __syncthreads();
      CI_UNROLL
      for (int j = 0; j < CI_ITEMS; j++) {
        const unsigned at = ci_at(j, CI_ITEMS);
        if (at < there) staged.positions[places[j]] = CI_IS_FIRST ? (ci_u32)(tile + at) : (positions + own_lane + tile)[at];
      }
      __syncthreads();
      CI_UNROLL
      for (int j = 0; j < CI_ITEMS; j++) {
        const unsigned at = j * CI_THREADS + threadIdx.x;
        if (at >= there) continue;
        const ci_u32 position = staged.positions[at];
        if (!CI_IS_LAST) {
          (to_positions + own_lane)[goals[j]] = position;
        } else if (goals[j] >= w.skip && goals[j] - w.skip < w.results) {
          T x;
          if (!ci_unordered((ci_key)(own[j] ^ (w.descending ? CI_LAST_KEY : (ci_key)0)), x)) x = from[position * w.step];
          values[to + (goals[j] - w.skip) * w.to_step] = x;
          indices[to + (goals[j] - w.skip) * w.to_step] = position;
        }
      }
      __syncthreads();
    }
  }
}
