// What kernels over axes and over blocks share; behind the prelude and CI_THREADS, the threads of a block.

// How far element `i` of these axes, counted in row-major order, is from the first.
CI_FN ci_u64 ci_place(ci_u64 i, const ci_u64 rank, const ci_u64 *sizes, const ci_u64 *strides) {
  ci_u64 at = 0;
  for (int axis = (int)rank - 1; axis > 0; axis--) {
    at += i % sizes[axis] * strides[axis];
    i /= sizes[axis];
  }
  return rank ? at + i * strides[0] : 0;
}
// The accumulators of all threads of the block, merged by the reducer `R`, in each thread.
template<class R> CI_FN typename R::partial ci_merged(typename R::partial p, const typename R::given g) {
  __shared__ typename R::partial parts[CI_THREADS];
  parts[threadIdx.x] = p;
  __syncthreads();
  for (unsigned width = CI_THREADS / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) parts[threadIdx.x] = R::merge(parts[threadIdx.x], parts[threadIdx.x + width], g);
    __syncthreads();
  }
  p = parts[0];
  __syncthreads();
  return p;
}

