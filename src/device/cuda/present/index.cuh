// Elements moved to other places: gather, scatter, pick, band, compress, and the indices of what is selected. Behind `block.cuh` and `word`, an element, of which mostly the
// width alone matters. What is compiled is the first section and one of the others.

// Counts and offsets: 32 bits if all of them fit.
typedef CI_PLACES ci_at;
// Where indices and elements are: strides of the indices, of the elements, and of what is written to; `steps` are those along the
// indexed axis, which has `len` indices and, where they point to, the size `size`.
struct ci_indexed {
  ci_u64 count, rank, sizes[8], strides[3][8];
  ci_u64 len, steps[3];
  ci_i64 size, wrap;
};
// An index counted from the start of the axis.
CI_FN ci_i64 ci_position(const ci_i64 index, const ci_indexed &w) { return index < 0 ? index + w.wrap : index; }
CI_FN bool ci_fits(const ci_i64 position, const ci_indexed &w) { return position >= 0 && position < w.size; }
// How far element `i` of these axes, counted in row-major order, is from the first, for operands from `K` on.
template<int K, int N> CI_FN void ci_spots(ci_at i, const ci_indexed &w, ci_at (&at)[N]) {
  CI_UNROLL
  for (int k = 0; k < N; k++) at[k] = 0;
  for (int axis = (int)w.rank - 1; axis >= 0; axis--) {
    const ci_at outer = axis > 0 ? i / (ci_at)w.sizes[axis] : 0, here = i - outer * (ci_at)w.sizes[axis];
    CI_UNROLL
    for (int k = 0; k < N; k++) at[k] += here * (ci_at)w.strides[K + k][axis];
    i = outer;
  }
}
// ---
// Gather; says where an index is out of range. A thread has some elements on their way at once.
CI_KERNEL void moved(const ci_i64 *index, const word *a, word *out, ci_u32 *outside, const ci_indexed w) {
  constexpr int AHEAD = 4;
  const ci_at count = (ci_at)w.count, step = (ci_at)w.steps[1];
  for (ci_at start = blockIdx.x * (ci_at)(AHEAD * CI_THREADS) + threadIdx.x; start < count; start += gridDim.x * (ci_at)(AHEAD * CI_THREADS)) {
    ci_at from[AHEAD];
    ci_i64 at[AHEAD];
    CI_UNROLL
    for (int k = 0; k < AHEAD; k++) if (start + k * CI_THREADS < count) {
      ci_at spots[2];
      ci_spots<0, 2>(start + k * CI_THREADS, w, spots);
      at[k] = ci_position(index[spots[0]], w);
      from[k] = spots[1];
    }
    word x[AHEAD];
    CI_UNROLL
    for (int k = 0; k < AHEAD; k++) if (start + k * CI_THREADS < count) {
      if (ci_fits(at[k], w)) x[k] = a[from[k] + (ci_at)at[k] * step];
      else *outside = 1;
    }
    CI_UNROLL
    for (int k = 0; k < AHEAD; k++) if (start + k * CI_THREADS < count) out[start + k * CI_THREADS] = x[k];
  }
}
// ---
// The positions that indices name, line by line; says whether an index is out of range.
CI_KERNEL void moved(const ci_i64 *index, ci_i32 *positions, ci_u32 *outside, const ci_indexed w) {
  CI_EACH_OF(ci_at, i, (ci_at)(w.count * w.len)) {
    const ci_at line = i / (ci_at)w.len;
    ci_at spot[1];
    ci_spots<0, 1>(line, w, spot);
    const ci_i64 at = ci_position(index[spot[0] + (i - line * (ci_at)w.len) * (ci_at)w.steps[0]], w);
    if (!ci_fits(at, w)) *outside = 1;
    else if (positions) positions[i] = (ci_i32)at;
  }
}
// ---
// Scatter: a thread for each line along the axis, in the order of the indices, of which all are in range.
CI_KERNEL void moved(const ci_i64 *index, const word *b, word *out, const ci_indexed w CI_VALUES) {
  CI_EACH_OF(ci_at, line, (ci_at)w.count) {
    ci_at spots[3];
    ci_spots<0, 3>(line, w, spots);
    const ci_i64 *at = index + spots[0];
    const word *from = b + spots[1];
    word *to = out + spots[2];
    for (ci_u64 i = 0; i < w.len; i++) {
      word *place = to + (ci_u64)ci_position(at[i * w.steps[0]], w) * w.steps[2];
      *place = CI_COMBINED(*place, from[i * w.steps[1]]);
    }
  }
}
// ---
// Scatter of lines whose positions have been sorted, with what each is the position of. All elements for one place are the work of one
// thread, in their order; where all lines have the same indices, neighbouring threads have neighbouring lines.
CI_KERNEL void moved(const ci_i32 *positions, const ci_i64 *order, const word *b, word *out, const ci_indexed w, const ci_u64 is_shared CI_VALUES) {
  const ci_at count = (ci_at)w.count, len = (ci_at)w.len;
  CI_EACH_OF(ci_at, i, count * len) {
    const ci_at line = is_shared ? i % count : i / len, first = is_shared ? 0 : line * len, at = is_shared ? i / count : i - first;
    const ci_i32 position = positions[first + at];
    if (at > 0 && positions[first + at - 1] == position) continue;
    ci_at spots[2];
    ci_spots<1, 2>(line, w, spots);
    word *place = out + spots[1] + (ci_u64)position * w.steps[2];
    const word *from = b + spots[0];
    word x = *place;
    for (ci_at k = at; k < len && positions[first + k] == position; k++) {
      const ci_i64 i = order[first + k];
      x = CI_COMBINED(x, from[(ci_u64)i * w.steps[1]]);
    }
    *place = x;
  }
}
// ---
// Pick: the positions of each axis of the result come from segments, sorted by their first position in it. Positions of a segment are
// `times` times those of the source, which go up or down; a segment of no times is filled. There is an axis. A thread has packs of
// neighbours along the last axis, where that is `packed`: a number of whole ones.
struct ci_segment { ci_u64 at, start, step, times; };
struct ci_picked { ci_u64 count, rank, packed, sizes[8], strides[8], first[9]; };
// The segment of an axis that has this position.
CI_FN ci_u64 ci_segment_with(const ci_at at, const ci_segment *segments, const ci_u64 first, const ci_u64 last) {
  ci_u64 low = first, high = last;
  while (high - low > 1) {
    const ci_u64 middle = low + (high - low) / 2;
    if (segments[middle].at <= at) low = middle; else high = middle;
  }
  return low;
}
// Where in the source's axis a position of a segment is.
CI_FN ci_at ci_in_source(const ci_segment &s, const ci_at at) {
  return (ci_at)s.start + (s.times == 1 ? at - (ci_at)s.at : (at - (ci_at)s.at) / (ci_at)s.times) * (ci_at)s.step;
}
template<int PACK> CI_FN void ci_pick(const word *a, const ci_segment *segments, word *out, const ci_picked &w, const word fill) {
  const int last = (int)w.rank - 1;
  const ci_at size = (ci_at)w.sizes[last], stride = (ci_at)w.strides[last];
  const ci_u64 behind = w.first[last + 1];
  CI_EACH_OF(ci_at, pack, (ci_at)(w.count / PACK)) {
    ci_at rest = pack * PACK / size, from = 0;
    const ci_at at = pack * PACK - rest * size;
    bool inside = true;
    for (int axis = last - 1; axis >= 0; axis--) {
      const ci_at outer = axis > 0 ? rest / (ci_at)w.sizes[axis] : 0, here = rest - outer * (ci_at)w.sizes[axis];
      rest = outer;
      const ci_segment s = segments[ci_segment_with(here, segments, w.first[axis], w.first[axis + 1])];
      if (s.times == 0) inside = false;
      else from += ci_in_source(s, here) * (ci_at)w.strides[axis];
    }
    ci_u64 low = ci_segment_with(at, segments, w.first[last], behind);
    ci_segment s = segments[low];
    ci_at end = low + 1 < behind ? (ci_at)segments[low + 1].at : size;
    ci_pack<word, PACK> x;
    // Neighbours in the source, upwards or downwards, are read as a pack, if it lies at a multiple of its size.
    const bool is_whole = PACK > 1 && inside && s.times == 1 && stride == 1 && at + PACK <= end, is_down = s.step != 1;
    const word *first = a + (is_whole ? from + ci_in_source(s, is_down ? at + (PACK - 1) : at) : 0);
    if (is_whole && (ci_u64)first % sizeof(x) == 0) {
      const ci_pack<word, PACK> own = ci_load<word, PACK>(first, 0);
      CI_UNROLL
      for (int k = 0; k < PACK; k++) if (is_down) x.of[k] = own.of[PACK - 1 - k]; else x.of[k] = own.of[k];
    } else {
      CI_UNROLL
      for (int k = 0; k < PACK; k++) {
        if (at + k == end) {
          s = segments[++low];
          end = low + 1 < behind ? (ci_at)segments[low + 1].at : size;
        }
        if (inside && s.times != 0) x.of[k] = a[from + ci_in_source(s, at + k) * stride]; else x.of[k] = fill;
      }
    }
    ci_store<word, PACK>(out, pack, x);
  }
}
CI_KERNEL void moved(const word *a, const ci_segment *segments, word *out, const ci_picked w, const word fill) {
  if (w.packed) ci_pick<(sizeof(word) < 16 ? 16 / sizeof(word) : 1)>(a, segments, out, w, fill);
  else ci_pick<1>(a, segments, out, w, fill);
}
// ---
// Band: contiguous matrices, zero where the column is not from `low` to `high` behind the row.
CI_KERNEL void moved(const word *a, word *out, const ci_u64 n, const ci_u64 height, const ci_u64 width, const ci_i64 low, const ci_i64 high) {
  CI_EACH_OF(ci_at, i, (ci_at)n) {
    const ci_at row = i / (ci_at)width;
    const ci_i64 behind = (ci_i64)(i - row * (ci_at)width) - (ci_i64)(row % (ci_at)height);
    if (low <= behind && behind <= high) out[i] = a[i]; else out[i] = word();
  }
}
// ---
// What is shared by the kernels of compress: chunks of elements in row-major order, strides of the elements and of the mask. A thread
// has CI_ROUNDS neighbours of a chunk; where the mask is `packed`, they are neighbours in memory, at a multiple of their number.
struct ci_selected { ci_u64 count, chunks, packed, rank, sizes[8], strides[2][8]; };
#define CI_ROUNDS 16
#define CI_CHUNK (CI_ROUNDS * CI_THREADS)
// A bit for each element of this thread: whether it is selected.
CI_FN ci_u32 ci_own_selected(const ci_u8 *mask, const ci_u64 chunk, const ci_selected &w) {
  const ci_u64 first = chunk * CI_CHUNK + threadIdx.x * CI_ROUNDS;
  ci_u32 selected = 0;
  if (w.packed && first + CI_ROUNDS <= w.count) {
    const ci_pack<ci_u8, CI_ROUNDS> own = ci_load<ci_u8, CI_ROUNDS>(mask + first, 0);
    CI_UNROLL
    for (int k = 0; k < CI_ROUNDS; k++) selected |= (ci_u32)(own.of[k] != 0) << k;
  } else {
    for (int k = 0; k < CI_ROUNDS && first + k < w.count; k++)
      selected |= (ci_u32)(mask[ci_place(first + k, w.rank, w.sizes, w.strides[1])] != 0) << k;
  }
  return selected;
}
// The prefix sum over the threads before this one, and the total.
CI_FN ci_u32 ci_of_threads_before(const ci_u32 own, ci_u32 &all) {
  __shared__ ci_u32 parts[CI_THREADS / 32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  ci_u32 before = own;
  CI_UNROLL
  for (unsigned by = 1; by < 32; by *= 2) {
    const ci_u32 other = __shfl_up_sync(~0u, before, by);
    if (lane >= by) before += other;
  }
  if (lane == 31) parts[warp] = before;
  __syncthreads();
  before -= own;
  all = 0;
  CI_UNROLL
  for (unsigned other = 0; other < CI_THREADS / 32; other++) {
    if (other < warp) before += parts[other];
    all += parts[other];
  }
  __syncthreads();
  return before;
}
// Where in a chunk its selected elements are, in their order, and how many there are.
CI_FN ci_u32 ci_listed(const ci_u8 *mask, const ci_u64 chunk, const ci_selected &w, ci_u16 *spots) {
  ci_u32 selected = ci_own_selected(mask, chunk, w), all;
  for (ci_u32 at = ci_of_threads_before(__popc(selected), all); selected; selected &= selected - 1)
    spots[at++] = (ci_u16)(threadIdx.x * CI_ROUNDS + (__ffs((int)selected) - 1));
  __syncthreads();
  return all;
}
// ---
// How many elements of each chunk are selected.
CI_KERNEL void moved(const ci_u8 *mask, ci_u64 *counts, const ci_selected w) {
  for (ci_u64 chunk = blockIdx.x; chunk < w.chunks; chunk += gridDim.x) {
    ci_u32 all;
    ci_of_threads_before(__popc(ci_own_selected(mask, chunk, w)), all);
    if (threadIdx.x == 0) counts[chunk] = all;
  }
}
// ---
// Counts become the number of those before each, and behind the last that of all: one block, whose threads have CI_ROUNDS neighbours.
CI_KERNEL void moved(ci_u64 *counts, const ci_u64 chunks) {
  __shared__ ci_u64 parts[CI_THREADS / 32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  ci_u64 before = 0;
  for (ci_u64 tile = 0; tile < chunks; tile += CI_CHUNK) {
    const ci_u64 first = tile + threadIdx.x * CI_ROUNDS;
    ci_u64 own[CI_ROUNDS], sum = 0;
    CI_UNROLL
    for (int k = 0; k < CI_ROUNDS; k++) own[k] = first + k < chunks ? counts[first + k] : 0;
    CI_UNROLL
    for (int k = 0; k < CI_ROUNDS; k++) sum += own[k];
    ci_u64 up_to = sum;
    CI_UNROLL
    for (unsigned by = 1; by < 32; by *= 2) {
      const ci_u64 other = __shfl_up_sync(~0u, up_to, by);
      if (lane >= by) up_to += other;
    }
    if (lane == 31) parts[warp] = up_to;
    __syncthreads();
    ci_u64 here = before + up_to - sum;
    CI_UNROLL
    for (unsigned other = 0; other < CI_THREADS / 32; other++) {
      if (other < warp) here += parts[other];
      before += parts[other];
    }
    CI_UNROLL
    for (int k = 0; k < CI_ROUNDS; k++) {
      if (first + k < chunks) counts[first + k] = here;
      here += own[k];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) counts[chunks] = before;
}
// ---
// The selected elements of each chunk, behind those before it. A thread has some of them on their way at once.
CI_KERNEL void moved(const word *a, const ci_u8 *mask, const ci_u64 *firsts, word *out, const ci_selected w) {
  constexpr unsigned AHEAD = 4;
  __shared__ ci_u16 spots[CI_CHUNK];
  for (ci_u64 chunk = blockIdx.x; chunk < w.chunks; chunk += gridDim.x) {
    const ci_u32 all = ci_listed(mask, chunk, w, spots);
    word *to = out + firsts[chunk];
    for (unsigned start = threadIdx.x; start < all; start += AHEAD * CI_THREADS) {
      word x[AHEAD];
      CI_UNROLL
      for (unsigned k = 0; k < AHEAD; k++) if (start + k * CI_THREADS < all)
        x[k] = a[ci_place(chunk * CI_CHUNK + spots[start + k * CI_THREADS], w.rank, w.sizes, w.strides[0])];
      CI_UNROLL
      for (unsigned k = 0; k < AHEAD; k++) if (start + k * CI_THREADS < all) to[start + k * CI_THREADS] = x[k];
    }
    __syncthreads();
  }
}
// ---
// The indices of the selected elements of each chunk, a row for each, behind those before it.
CI_KERNEL void moved(const ci_u8 *mask, const ci_u64 *firsts, ci_i64 *out, const ci_selected w) {
  __shared__ ci_u16 spots[CI_CHUNK];
  for (ci_u64 chunk = blockIdx.x; chunk < w.chunks; chunk += gridDim.x) {
    const ci_u32 all = ci_listed(mask, chunk, w, spots);
    ci_i64 *to = out + firsts[chunk] * w.rank;
    for (unsigned row = threadIdx.x; row < all; row += CI_THREADS) {
      ci_at i = (ci_at)(chunk * CI_CHUNK) + spots[row];
      for (int axis = (int)w.rank - 1; axis > 0; axis--) {
        const ci_at outer = i / (ci_at)w.sizes[axis];
        to[row * w.rank + axis] = (ci_i64)(i - outer * (ci_at)w.sizes[axis]);
        i = outer;
      }
      to[row * w.rank] = (ci_i64)i;
    }
    __syncthreads();
  }
}
