// Shared by kernels over axes and over blocks; included after the prelude and CI_THREADS, the threads of a block.

// Offset of element `i`, counted in row-major order, of these axes.
CI_FN ci_u64 ci_place(ci_u64 i, const ci_u64 rank, const ci_u64 *sizes, const ci_u64 *strides) {
  ci_u64 at = 0;
  for (int axis = (int)rank - 1; axis > 0; axis--) {
    at += i % sizes[axis] * strides[axis];
    i /= sizes[axis];
  }
  return rank ? at + i * strides[0] : 0;
}
// The accumulator of the lane whose number differs in this bit.
template<class P> CI_FN P ci_shuffled(const P p, const unsigned bit) {
  union words { P p; unsigned of[(sizeof(P) + 3) / 4]; CI_IN words() {} } x;
  x.p = p;
  CI_UNROLL
  for (unsigned k = 0; k < (sizeof(P) + 3) / 4; k++) x.of[k] = __shfl_xor_sync(~0u, x.of[k], (int)bit);
  return x.p;
}
// The accumulators of all threads of the block, merged by the reducer `R`, in each thread: first within warps, then across them.
template<class R> CI_FN typename R::partial ci_merged(typename R::partial p, const typename R::given g) {
  __shared__ typename R::partial parts[CI_THREADS / 32];
  CI_UNROLL
  for (unsigned bit = 16; bit > 0; bit /= 2) p = R::merge(p, ci_shuffled(p, bit), g);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = p;
  __syncthreads();
  p = parts[0];
  for (unsigned warp = 1; warp < CI_THREADS / 32; warp++) p = R::merge(p, parts[warp], g);
  __syncthreads();
  return p;
}
