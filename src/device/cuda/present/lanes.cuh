// Functions of rows, the elements along one axis: measured in one pass or two, then each element is computed. Behind `block.cuh` and the
// struct `L` of a function of rows; CI_PASSES(X) is a CI_MEASURE for each pass, of elements that `X` makes of those that there are, CI_SHARED the parameters of rows that all rows share, CI_HERE
// loads a pack of each of them, and CI_AT gives an element of the result. What is compiled is the first section and one of the others.

// Where lanes are: sizes of the other axes, strides there and along the lane, of the elements and of the results.
struct ci_lanes {
  ci_u64 lanes, len, step, to_step;
  ci_u64 sizes[8], strides[8], to_strides[8];
  ci_u64 rank;
};
typedef ci_pack<L::element, CI_PACK> ci_elements;
#define CI_AS_IS(x) x
#define CI_TIMES_POWER(x) L::times(x, power)
// Elements of a row in global memory that are loaded before the first is used.
#define CI_AHEAD 8
// Runs `ONE` with `x`, element `i` of the row at `from`, for each element of one of the `threads`.
#define CI_EACH_AHEAD(thread, threads, ONE) { \
    ci_u64 first = thread; \
    for (; first + (CI_AHEAD - 1) * (threads) < w.len; first += CI_AHEAD * (threads)) { \
      L::element ahead[CI_AHEAD]; \
      CI_UNROLL \
      for (int n = 0; n < CI_AHEAD; n++) ahead[n] = from[(first + n * (threads)) * w.step]; \
      CI_UNROLL \
      for (int n = 0; n < CI_AHEAD; n++) { const ci_u64 i = first + n * (threads); const L::element x = ahead[n]; ONE } \
    } \
    for (ci_u64 i = first; i < w.len; i += threads) { const L::element x = from[i * w.step]; ONE } \
  }
// ---
// Contiguous rows that threads hold in registers, so that each element is read once: CI_ROW threads for each row, a warp or the whole
// block, with CI_ITEMS packs each. Where all packs are there (CI_WHOLE), nothing branches: what two passes compute of an element is computed
// once. Where terms may grow beyond the numbers (CI_GROWS), a row of which they did is multiplied by a power, and measured again.
#define CI_IS_THERE(i) (CI_WHOLE || i < w.len)
template<class R> CI_FN typename R::partial ci_row_merged(typename R::partial p, const typename R::given g) {
  if (CI_ROW != 32) return ci_merged<R>(p, g);
  CI_UNROLL
  for (unsigned bit = 16; bit > 0; bit /= 2) p = R::merge(p, ci_shuffled(p, bit), g);
  return p;
}
#define CI_LOAD \
    CI_UNROLL \
    for (int item = 0; item < CI_ITEMS; item++) { \
      const ci_u64 i = (item * CI_ROW + thread) * (ci_u64)CI_PACK; \
      if (CI_IS_THERE(i)) x[item] = ci_load<L::element, CI_PACK>(from + i, 0); \
    }
#define CI_ACCUMULATE(R, p) \
    R::partial p = R::start(g); \
    CI_UNROLL \
    for (int item = 0; item < CI_ITEMS; item++) { \
      const ci_u64 i = (item * CI_ROW + thread) * (ci_u64)CI_PACK; \
      CI_UNROLL \
      for (int k = 0; k < CI_PACK; k++) if (CI_IS_THERE(i)) p = R::accumulate(p, x[item].of[k], (ci_i64)(i + k), g); \
    }
#define CI_MEASURE(n, X) { \
    CI_ACCUMULATE(L::pass##n, p) \
    g = L::with##n(g, L::pass##n::finish(ci_row_merged<L::pass##n>(p, g), (ci_i64)w.len, g)); \
  }
CI_KERNEL void __launch_bounds__(CI_THREADS) lanes(const L::element *a, L::element *out CI_SHARED, const ci_lanes w, const L::given values) {
  const unsigned thread = threadIdx.x % CI_ROW, rows = CI_THREADS / CI_ROW;
  for (ci_u64 lane = blockIdx.x * (ci_u64)rows + threadIdx.x / CI_ROW; lane < w.lanes; lane += gridDim.x * (ci_u64)rows) {
    const L::element *from = a + ci_place(lane, w.rank, w.sizes, w.strides);
    L::element *to = out + ci_place(lane, w.rank, w.sizes, w.to_strides);
    L::given g = values;
    ci_elements x[CI_ITEMS];
    CI_LOAD
#if CI_GROWS
    for (bool is_large = false;; is_large = true) {
      CI_PASSES(CI_AS_IS)
      if (is_large || !L::is_beyond(g)) break;
      // (Read once more, so that other rows need no registers for elements besides the numbers that they are.)
      CI_LOAD
      CI_ACCUMULATE(L::large, p)
      const L::number power = L::large::finish(ci_row_merged<L::large>(p, g), (ci_i64)w.len, g);
      CI_UNROLL
      for (int item = 0; item < CI_ITEMS; item++) {
        CI_UNROLL
        for (int k = 0; k < CI_PACK; k++) x[item].of[k] = L::times(x[item].of[k], power);
      }
      g = L::beside(values, power);
    }
#else
    CI_PASSES(CI_AS_IS)
#endif
    CI_UNROLL
    for (int item = 0; item < CI_ITEMS; item++) {
      const ci_u64 i = (item * CI_ROW + thread) * (ci_u64)CI_PACK;
      if (CI_IS_THERE(i)) {
        CI_HERE(i)
        CI_UNROLL
        for (int k = 0; k < CI_PACK; k++) x[item].of[k] = CI_AT(x[item].of[k], k);
        ci_store<L::element, CI_PACK>(to + i, 0, x[item]);
      }
    }
  }
}
// ---
// A block for each row, which is read once for each pass and once more.
#define CI_MEASURE(n, X) { \
    L::pass##n::partial p = L::pass##n::start(g); \
    CI_EACH_AHEAD(threadIdx.x, CI_THREADS, p = L::pass##n::accumulate(p, X(x), (ci_i64)i, g);) \
    g = L::with##n(g, L::pass##n::finish(ci_merged<L::pass##n>(p, g), (ci_i64)w.len, g)); \
  }
CI_KERNEL void __launch_bounds__(CI_THREADS) lanes(const L::element *a, L::element *out CI_SHARED, const ci_lanes w, const L::given values) {
  for (ci_u64 lane = blockIdx.x; lane < w.lanes; lane += gridDim.x) {
    const L::element *from = a + ci_place(lane, w.rank, w.sizes, w.strides);
    const ci_u64 to = ci_place(lane, w.rank, w.sizes, w.to_strides);
    L::given g = values;
    CI_PASSES(CI_AS_IS)
#if CI_GROWS
    if (L::is_beyond(g)) {
      L::large::partial p = L::large::start(g);
      CI_EACH_AHEAD(threadIdx.x, CI_THREADS, p = L::large::accumulate(p, x, (ci_i64)i, g);)
      const L::number power = L::large::finish(ci_merged<L::large>(p, g), (ci_i64)w.len, g);
      g = L::beside(values, power);
      CI_PASSES(CI_TIMES_POWER)
      CI_EACH_AHEAD(threadIdx.x, CI_THREADS, CI_HERE(i) out[to + i * w.to_step] = CI_AT(CI_TIMES_POWER(x), 0);)
      continue;
    }
#endif
    CI_EACH_AHEAD(threadIdx.x, CI_THREADS, CI_HERE(i) out[to + i * w.to_step] = CI_AT(x, 0);)
  }
}
// ---
// Rows that are neighbours in memory: 32 of them side by side in a block, whose other threads take other elements of the same rows.
#if CI_GROWS
#error "rows whose terms grow are contiguous (Backend::rows)"
#endif
template<class R> CI_FN typename R::partial ci_column_merged(typename R::partial p, const typename R::given g) {
  __shared__ typename R::partial parts[CI_THREADS];
  parts[threadIdx.x] = p;
  __syncthreads();
  for (unsigned width = CI_THREADS / 2; width >= 32; width /= 2) {
    if (threadIdx.x < width) parts[threadIdx.x] = R::merge(parts[threadIdx.x], parts[threadIdx.x + width], g);
    __syncthreads();
  }
  p = parts[threadIdx.x % 32];
  __syncthreads();
  return p;
}
#define CI_MEASURE(n, X) { \
    L::pass##n::partial p = L::pass##n::start(g); \
    if (is_there) CI_EACH_AHEAD(threadIdx.x / 32, CI_THREADS / 32, p = L::pass##n::accumulate(p, X(x), (ci_i64)i, g);) \
    g = L::with##n(g, L::pass##n::finish(ci_column_merged<L::pass##n>(p, g), (ci_i64)w.len, g)); \
  }
CI_KERNEL void __launch_bounds__(CI_THREADS) lanes(const L::element *a, L::element *out CI_SHARED, const ci_lanes w, const L::given values) {
  for (ci_u64 tile = blockIdx.x; tile * 32 < w.lanes; tile += gridDim.x) {
    const ci_u64 lane = tile * 32 + threadIdx.x % 32;
    const bool is_there = lane < w.lanes;
    const L::element *from = a + ci_place(is_there ? lane : 0, w.rank, w.sizes, w.strides);
    const ci_u64 to = ci_place(is_there ? lane : 0, w.rank, w.sizes, w.to_strides);
    L::given g = values;
    CI_PASSES(CI_AS_IS)
    if (is_there) CI_EACH_AHEAD(threadIdx.x / 32, CI_THREADS / 32, CI_HERE(i) out[to + i * w.to_step] = CI_AT(x, 0);)
  }
}
