// Elements moved to other places: gather, scatter, pick, band, compress. Behind `block.cuh` and `word`, an element, of which mostly the
// width alone matters. What is compiled is the first section and one of the others.

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
// ---
// Gather; says where an index is out of range.
CI_KERNEL void moved(const ci_i64 *index, const word *a, word *out, ci_u32 *outside, const ci_indexed w) {
  CI_EACH(i, w.count) {
    const ci_i64 at = ci_position(index[ci_place(i, w.rank, w.sizes, w.strides[0])], w);
    if (ci_fits(at, w)) out[i] = a[ci_place(i, w.rank, w.sizes, w.strides[1]) + (ci_u64)at * w.steps[1]];
    else *outside = 1;
  }
}
// ---
// Whether an index is out of range.
CI_KERNEL void moved(const ci_i64 *index, ci_u32 *outside, const ci_indexed w) {
  CI_EACH(i, w.count) {
    if (!ci_fits(ci_position(index[ci_place(i, w.rank, w.sizes, w.strides[0])], w), w)) *outside = 1;
  }
}
// ---
// Scatter: a thread for each line along the axis, in the order of the indices, of which all are in range.
CI_KERNEL void moved(const ci_i64 *index, const word *b, word *out, const ci_indexed w CI_VALUES) {
  CI_EACH(line, w.count) {
    const ci_i64 *at = index + ci_place(line, w.rank, w.sizes, w.strides[0]);
    const word *from = b + ci_place(line, w.rank, w.sizes, w.strides[1]);
    word *to = out + ci_place(line, w.rank, w.sizes, w.strides[2]);
    for (ci_u64 i = 0; i < w.len; i++) {
      word *place = to + (ci_u64)ci_position(at[i * w.steps[0]], w) * w.steps[2];
      *place = CI_COMBINED(*place, from[i * w.steps[1]]);
    }
  }
}
// ---
// Pick: the positions of each axis of the result come from segments, sorted by their first position in it. Positions of a segment are
// `times` times those of the source, which go up or down; a segment of no times is filled.
struct ci_segment { ci_u64 at, start, step, times; };
struct ci_picked { ci_u64 count, rank, sizes[8], strides[8], first[9]; };
CI_KERNEL void moved(const word *a, const ci_segment *segments, word *out, const ci_picked w, const word fill) {
  CI_EACH(i, w.count) {
    ci_u64 rest = i, from = 0;
    bool inside = true;
    for (int axis = (int)w.rank - 1; axis >= 0; axis--) {
      const ci_u64 at = rest % w.sizes[axis];
      rest /= w.sizes[axis];
      ci_u64 low = w.first[axis], high = w.first[axis + 1];
      while (high - low > 1) {
        const ci_u64 middle = low + (high - low) / 2;
        if (segments[middle].at <= at) low = middle; else high = middle;
      }
      const ci_segment s = segments[low];
      if (s.times == 0) inside = false;
      else from += (s.start + (at - s.at) / s.times * s.step) * w.strides[axis];
    }
    if (inside) out[i] = a[from]; else out[i] = fill;
  }
}
// ---
// Band: contiguous matrices, zero where the column is not from `low` to `high` behind the row.
CI_KERNEL void moved(const word *a, word *out, const ci_u64 n, const ci_u64 height, const ci_u64 width, const ci_i64 low, const ci_i64 high) {
  CI_EACH(i, n) {
    const ci_i64 behind = (ci_i64)(i % width) - (ci_i64)(i / width % height);
    if (low <= behind && behind <= high) out[i] = a[i]; else out[i] = word();
  }
}
// ---
// What is shared by the kernels of compress: chunks of elements in row-major order, strides of the elements and of the mask.
struct ci_selected { ci_u64 count, chunk, chunks, rank, sizes[8], strides[2][8]; };
// The sum of what the threads before this one have, and that of all.
CI_FN ci_u64 ci_before(const ci_u64 own, ci_u64 &all) {
  __shared__ ci_u64 parts[CI_THREADS];
  parts[threadIdx.x] = own;
  __syncthreads();
  for (unsigned width = 1; width < CI_THREADS; width *= 2) {
    const ci_u64 more = threadIdx.x >= width ? parts[threadIdx.x - width] : 0;
    __syncthreads();
    parts[threadIdx.x] += more;
    __syncthreads();
  }
  const ci_u64 sum = parts[threadIdx.x];
  all = parts[CI_THREADS - 1];
  __syncthreads();
  return sum - own;
}
// ---
// How many elements of each chunk are selected.
CI_KERNEL void moved(const ci_u8 *mask, ci_u64 *counts, const ci_selected w) {
  for (ci_u64 chunk = blockIdx.x; chunk < w.chunks; chunk += gridDim.x) {
    const ci_u64 first = chunk * w.chunk, last = first + w.chunk < w.count ? first + w.chunk : w.count;
    ci_u64 own = 0, all;
    for (ci_u64 i = first + threadIdx.x; i < last; i += CI_THREADS) own += mask[ci_place(i, w.rank, w.sizes, w.strides[1])] != 0;
    ci_before(own, all);
    if (threadIdx.x == 0) counts[chunk] = all;
  }
}
// ---
// Counts become the number of those before each, and behind the last that of all: one block.
CI_KERNEL void moved(ci_u64 *counts, const ci_u64 chunks) {
  ci_u64 before = 0;
  for (ci_u64 tile = 0; tile < chunks; tile += CI_THREADS) {
    const ci_u64 i = tile + threadIdx.x;
    ci_u64 all;
    const ci_u64 here = ci_before(i < chunks ? counts[i] : 0, all);
    if (i < chunks) counts[i] = before + here;
    before += all;
  }
  if (threadIdx.x == 0) counts[chunks] = before;
}
// ---
// The selected elements of each chunk, behind those before it.
CI_KERNEL void moved(const word *a, const ci_u8 *mask, const ci_u64 *firsts, word *out, const ci_selected w) {
  for (ci_u64 chunk = blockIdx.x; chunk < w.chunks; chunk += gridDim.x) {
    const ci_u64 first = chunk * w.chunk, last = first + w.chunk < w.count ? first + w.chunk : w.count;
    ci_u64 to = firsts[chunk];
    for (ci_u64 tile = first; tile < last; tile += CI_THREADS) {
      const ci_u64 i = tile + threadIdx.x;
      const bool selected = i < last && mask[ci_place(i, w.rank, w.sizes, w.strides[1])] != 0;
      ci_u64 all;
      const ci_u64 here = to + ci_before(selected, all);
      if (selected) out[here] = a[ci_place(i, w.rank, w.sizes, w.strides[0])];
      to += all;
    }
  }
}
