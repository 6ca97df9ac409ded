// Reductions over any axes. Behind the prelude and the struct `R` of a reducer. A result is reduced by one thread, or by the threads
// of a block; few results of many elements are divided into chunks, whose accumulators a second kernel merges. How elements are
// divided depends on the sizes alone. What is compiled is the first section and one of the others.

// Where the elements of each result are: sizes and strides of the axes that stay and of those that go, in row-major order.
struct ci_places {
  ci_u64 kept, reduced, chunk, chunks;
  ci_u64 kept_sizes[8], kept_strides[8], reduced_sizes[8], reduced_strides[8];
  ci_u64 kept_rank, reduced_rank;
};

CI_FN R::partial ci_reduced(const R::element *a, const ci_places &w, ci_u64 first, ci_u64 last, ci_u64 step, const R::given g) {
  R::partial p = R::start(g);
  for (ci_u64 i = first; i < last; i += step)
    p = R::accumulate(p, a[ci_place(i, w.reduced_rank, w.reduced_sizes, w.reduced_strides)], (ci_i64)i, g);
  return p;
}
// ---
// A thread for each result.
CI_KERNEL void reduce(const R::element *a, R::out *out CI_SECOND, const ci_places w CI_GIVEN) {
  CI_NO_GIVEN
  CI_EACH(o, w.kept) {
    const R::partial p = ci_reduced(a + ci_place(o, w.kept_rank, w.kept_sizes, w.kept_strides), w, 0, w.reduced, 1, g);
    out[o] = R::finish(p, (ci_i64)w.reduced, g);
    CI_WRITE_SECOND
  }
}
// ---
// A block for each result.
CI_KERNEL void reduce(const R::element *a, R::out *out CI_SECOND, const ci_places w CI_GIVEN) {
  CI_NO_GIVEN
  for (ci_u64 o = blockIdx.x; o < w.kept; o += gridDim.x) {
    const R::element *from = a + ci_place(o, w.kept_rank, w.kept_sizes, w.kept_strides);
    const R::partial p = ci_merged<R>(ci_reduced(from, w, threadIdx.x, w.reduced, CI_THREADS, g), g);
    if (threadIdx.x == 0) {
      out[o] = R::finish(p, (ci_i64)w.reduced, g);
      CI_WRITE_SECOND
    }
  }
}
// ---
// A block for each chunk of a result.
CI_KERNEL void reduce(const R::element *a, R::partial *to, const ci_places w CI_GIVEN) {
  CI_NO_GIVEN
  for (ci_u64 unit = blockIdx.x; unit < w.kept * w.chunks; unit += gridDim.x) {
    const ci_u64 o = unit / w.chunks, first = unit % w.chunks * w.chunk;
    const ci_u64 last = first + w.chunk < w.reduced ? first + w.chunk : w.reduced;
    const R::element *from = a + ci_place(o, w.kept_rank, w.kept_sizes, w.kept_strides);
    const R::partial p = ci_merged<R>(ci_reduced(from, w, first + threadIdx.x, last, CI_THREADS, g), g);
    if (threadIdx.x == 0) to[unit] = p;
  }
}
// ---
// A thread for each chunk of a result: neighbouring threads read neighbouring results.
CI_KERNEL void reduce(const R::element *a, R::partial *to, const ci_places w CI_GIVEN) {
  CI_NO_GIVEN
  CI_EACH(unit, w.kept * w.chunks) {
    const ci_u64 o = unit % w.kept, at = unit / w.kept, first = at * w.chunk;
    const ci_u64 last = first + w.chunk < w.reduced ? first + w.chunk : w.reduced;
    to[o * w.chunks + at] = ci_reduced(a + ci_place(o, w.kept_rank, w.kept_sizes, w.kept_strides), w, first, last, 1, g);
  }
}
// ---
// The chunks of each result, merged by a block.
CI_KERNEL void reduce(const R::partial *from, R::out *out CI_SECOND, const ci_places w CI_GIVEN) {
  CI_NO_GIVEN
  for (ci_u64 o = blockIdx.x; o < w.kept; o += gridDim.x) {
    R::partial p = R::start(g);
    for (ci_u64 i = threadIdx.x; i < w.chunks; i += CI_THREADS) p = R::merge(p, from[o * w.chunks + i], g);
    p = ci_merged<R>(p, g);
    if (threadIdx.x == 0) {
      out[o] = R::finish(p, (ci_i64)w.reduced, g);
      CI_WRITE_SECOND
    }
  }
}
