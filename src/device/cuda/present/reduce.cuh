// Reductions over any axes. Behind the prelude, the struct `R` of a reducer and `ci_elements`, which gives the elements: those of a tensor, or
// of an expression that is computed here. CI_PACK of them are loaded at once. A result is reduced by a thread, by some lanes of a
// warp, or by a block; few results of many elements are divided into chunks, whose accumulators a second kernel merges. How elements are
// divided depends on the sizes alone. What is compiled is the first section and one of the others.

// Where the elements of each result are: sizes and strides of the axes that stay and of those that go, in row-major order.
struct ci_places {
  ci_u64 kept, reduced, chunk, chunks, across;
  ci_u64 kept_sizes[8], kept_strides[8], reduced_sizes[8], reduced_strides[8];
  ci_u64 kept_rank, reduced_rank;
};
// So many packs are loaded before the first is used.
#define CI_AHEAD 4

CI_FN ci_u64 ci_kept(ci_u64 o, const ci_places &w) { return ci_place(o, w.kept_rank, w.kept_sizes, w.kept_strides); }
// (Where the axes that go are one, which CI_LINE says, nothing is divided.)
CI_FN ci_u64 ci_gone(ci_u64 i, const ci_places &w) {
  return CI_LINE ? i * w.reduced_strides[0] : ci_place(i, w.reduced_rank, w.reduced_sizes, w.reduced_strides);
}
CI_FN R::partial ci_add(R::partial p, const ci_pack<R::element, CI_PACK> &x, ci_u64 i, const R::given g) {
  CI_UNROLL
  for (int k = 0; k < CI_PACK; k++) p = R::accumulate(p, x.of[k], (ci_i64)(i + k), g);
  return p;
}
#if CI_MOMENTS
// Count, mean and squared deviations from it, of some elements at once: two passes over what is in registers, and a division for all. (Where
// their sum is not finite, their mean may be: one by one.)
CI_FN R::partial ci_add_all(R::partial p, const ci_pack<R::element, CI_PACK> (&x)[CI_AHEAD], ci_u64 i, ci_u64 step, const R::given g) {
  constexpr int COUNT = CI_AHEAD * CI_PACK;
  double sums[CI_AHEAD] = {}, squares[CI_AHEAD] = {};
  CI_UNROLL
  for (int n = 0; n < COUNT; n++) sums[n % CI_AHEAD] += ci_cast<double>(x[n / CI_PACK].of[n % CI_PACK]);
  const double mean = ((sums[0] + sums[1]) + (sums[2] + sums[3])) * (1.0 / COUNT);
  CI_UNROLL
  for (int n = 0; n < COUNT; n++) {
    const double deviation = ci_cast<double>(x[n / CI_PACK].of[n % CI_PACK]) - mean;
    squares[n % CI_AHEAD] += deviation * deviation;
  }
  if (ci_is_finite(mean)) return R::merge(p, R::partial{(double)COUNT, mean, (squares[0] + squares[1]) + (squares[2] + squares[3])}, g);
  CI_UNROLL
  for (int n = 0; n < CI_AHEAD; n++) p = ci_add(p, x[n], i + n * step, g);
  return p;
}
#else
CI_FN R::partial ci_add_all(R::partial p, const ci_pack<R::element, CI_PACK> (&x)[CI_AHEAD], ci_u64 i, ci_u64 step, const R::given g) {
  CI_UNROLL
  for (int n = 0; n < CI_AHEAD; n++) p = ci_add(p, x[n], i + n * step, g);
  return p;
}
#endif
// The elements from `first` to `last` of the result at `from` that one of `threads` threads adds up, pack by pack.
CI_FN R::partial ci_reduced(const ci_elements &a, ci_u64 from, const ci_places &w, ci_u64 first, ci_u64 last, ci_u64 thread, ci_u64 threads, const R::given g) {
  R::partial p = R::start(g);
  const ci_u64 step = threads * CI_PACK;
  ci_u64 i = first + thread * CI_PACK;
  for (; i + (CI_AHEAD - 1) * step + CI_PACK <= last; i += CI_AHEAD * step) {
    ci_pack<R::element, CI_PACK> x[CI_AHEAD];
    CI_UNROLL
    for (int k = 0; k < CI_AHEAD; k++) x[k] = a.pack<CI_PACK>(from + ci_gone(i + k * step, w));
    p = ci_add_all(p, x, i, step, g);
  }
  for (; i + CI_PACK <= last; i += step) p = ci_add(p, a.pack<CI_PACK>(from + ci_gone(i, w)), i, g);
  // The rest that does not fill a pack is one thread's.
  for (; i < last; i++) p = R::accumulate(p, a.one(from + ci_gone(i, w)), (ci_i64)i, g);
  return p;
}
// ---
// Some lanes of a warp for each result, neighbours in memory.
CI_KERNEL void reduce(const ci_elements a, CI_RESULT, const ci_places w CI_GIVEN) {
  CI_NO_GIVEN
  const ci_u64 thread = blockIdx.x * (ci_u64)CI_THREADS + threadIdx.x, at_once = gridDim.x * (ci_u64)CI_THREADS / w.across;
  const unsigned lane = (unsigned)(thread % w.across);
  // All lanes of a warp go through as many rounds, for they wait for one another.
  for (ci_u64 round = 0; round < w.kept; round += at_once) {
    const ci_u64 o = round + thread / w.across;
    R::partial p = R::start(g);
    if (o < w.kept) p = ci_reduced(a, ci_kept(o, w), w, 0, w.reduced, lane, w.across, g);
    for (unsigned width = (unsigned)w.across / 2; width > 0; width /= 2) p = R::merge(p, ci_shuffled(p, width), g);
    if (o < w.kept && lane == 0) { CI_WRITE(o, p) }
  }
}
// ---
// A block for each result.
CI_KERNEL void reduce(const ci_elements a, CI_RESULT, const ci_places w CI_GIVEN) {
  CI_NO_GIVEN
  for (ci_u64 o = blockIdx.x; o < w.kept; o += gridDim.x) {
    const R::partial p = ci_merged<R>(ci_reduced(a, ci_kept(o, w), w, 0, w.reduced, threadIdx.x, CI_THREADS, g), g);
    if (threadIdx.x == 0) { CI_WRITE(o, p) }
  }
}
// ---
// A block for each chunk of a result.
CI_KERNEL void reduce(const ci_elements a, R::partial *to, const ci_places w CI_GIVEN) {
  CI_NO_GIVEN
  for (ci_u64 unit = blockIdx.x; unit < w.kept * w.chunks; unit += gridDim.x) {
    const ci_u64 o = unit / w.chunks, first = unit % w.chunks * w.chunk;
    const ci_u64 last = first + w.chunk < w.reduced ? first + w.chunk : w.reduced;
    const R::partial p = ci_merged<R>(ci_reduced(a, ci_kept(o, w), w, first, last, threadIdx.x, CI_THREADS, g), g);
    if (threadIdx.x == 0) to[unit] = p;
  }
}
// ---
// Results that are neighbours in memory: a thread for each pack of them, `across` packs side by side in a block; the other threads of the
// block take other elements of the same results. Chunk by chunk; where there are several, CI_WRITE keeps the accumulators.
CI_KERNEL void reduce(const ci_elements a, CI_RESULT, const ci_places w CI_GIVEN) {
  CI_NO_GIVEN
  __shared__ R::partial parts[CI_THREADS];
  const unsigned across = (unsigned)w.across, down = CI_THREADS / across, x = threadIdx.x % across, y = threadIdx.x / across;
  const ci_u64 packs = w.kept / CI_PACK, tiles = (packs + across - 1) / across;
  for (ci_u64 unit = blockIdx.x; unit < tiles * w.chunks; unit += gridDim.x) {
    const ci_u64 pack = unit % tiles * across + x, chunk = unit / tiles, first = chunk * w.chunk;
    const ci_u64 last = first + w.chunk < w.reduced ? first + w.chunk : w.reduced;
    R::partial p[CI_PACK];
    CI_UNROLL
    for (int k = 0; k < CI_PACK; k++) p[k] = R::start(g);
    if (pack < packs) {
      const ci_u64 from = ci_kept(pack * CI_PACK, w);
      ci_u64 i = first + y;
      for (; i + (CI_AHEAD - 1) * down < last; i += CI_AHEAD * down) {
        ci_pack<R::element, CI_PACK> x[CI_AHEAD];
        CI_UNROLL
        for (int n = 0; n < CI_AHEAD; n++) x[n] = a.pack<CI_PACK>(from + ci_gone(i + n * down, w));
        CI_UNROLL
        for (int n = 0; n < CI_AHEAD; n++) {
          CI_UNROLL
          for (int k = 0; k < CI_PACK; k++) p[k] = R::accumulate(p[k], x[n].of[k], (ci_i64)(i + n * down), g);
        }
      }
      for (; i < last; i += down) {
        const ci_pack<R::element, CI_PACK> x = a.pack<CI_PACK>(from + ci_gone(i, w));
        CI_UNROLL
        for (int k = 0; k < CI_PACK; k++) p[k] = R::accumulate(p[k], x.of[k], (ci_i64)i, g);
      }
    }
    CI_UNROLL
    for (int k = 0; k < CI_PACK; k++) {
      parts[threadIdx.x] = p[k];
      __syncthreads();
      for (unsigned width = down / 2; width > 0; width /= 2) {
        if (y < width) parts[threadIdx.x] = R::merge(parts[threadIdx.x], parts[threadIdx.x + width * across], g);
        __syncthreads();
      }
      if (y == 0 && pack < packs) {
        const ci_u64 o = pack * CI_PACK + k;
        CI_WRITE_CHUNK(o, chunk, parts[threadIdx.x])
      }
      __syncthreads();
    }
  }
}
// ---
// The chunks of each result, merged by a block.
CI_KERNEL void reduce(const R::partial *from, CI_RESULT, const ci_places w CI_GIVEN) {
  CI_NO_GIVEN
  for (ci_u64 o = blockIdx.x; o < w.kept; o += gridDim.x) {
    R::partial p = R::start(g);
    for (ci_u64 i = threadIdx.x; i < w.chunks; i += CI_THREADS) p = R::merge(p, from[o * w.chunks + i], g);
    p = ci_merged<R>(p, g);
    if (threadIdx.x == 0) { CI_WRITE(o, p) }
  }
}
