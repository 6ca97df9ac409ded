// Functions of lanes, the elements along one axis: a block for each lane. Behind `block.cuh` and the struct `L` of a scan or of a
// function of rows. What is compiled is the first section and one of the others.

// Where lanes are: sizes of the other axes, strides there and along the lane, of the elements and of the results.
struct ci_lanes {
  ci_u64 lanes, len, step, to_step;
  ci_u64 sizes[8], strides[8], to_strides[8];
  ci_u64 rank;
};
// ---
// A scan: tiles of as many elements as threads, each scanned in steps of 1, 2, 4, ... and put behind what was before it.
CI_KERNEL void lanes(const L::element *a, L::out *out CI_SECOND, const ci_lanes w) {
  __shared__ L::partial parts[CI_THREADS];
  for (ci_u64 lane = blockIdx.x; lane < w.lanes; lane += gridDim.x) {
    const L::element *from = a + ci_place(lane, w.rank, w.sizes, w.strides);
    const ci_u64 to = ci_place(lane, w.rank, w.sizes, w.to_strides);
    CI_BEFORE
    for (ci_u64 tile = 0; tile < w.len; tile += CI_THREADS) {
      const ci_u64 i = tile + threadIdx.x;
      const bool inside = i < w.len;
      if (inside) parts[threadIdx.x] = L::of(from[i * w.step], (ci_i64)i);
      __syncthreads();
      for (unsigned width = 1; width < CI_THREADS; width *= 2) {
        const bool takes = inside && threadIdx.x >= width;
        L::partial both;
        if (takes) both = L::merge(parts[threadIdx.x - width], parts[threadIdx.x]);
        __syncthreads();
        if (takes) parts[threadIdx.x] = both;
        __syncthreads();
      }
      if (inside) {
        const L::partial p = is_there ? L::merge(before, parts[threadIdx.x]) : parts[threadIdx.x];
        out[to + i * w.to_step] = L::emit(p);
        CI_WRITE_SECOND
      }
      const L::partial last = parts[w.len - tile < CI_THREADS ? w.len - tile - 1 : CI_THREADS - 1];
      before = is_there ? L::merge(before, last) : last;
      is_there = true;
      __syncthreads();
    }
  }
}
// ---
// A function of a row: it is measured in one pass or two, then each element is computed.
CI_KERNEL void lanes(const L::element *a, L::element *out CI_SHARED, const ci_lanes w, const L::given values) {
  for (ci_u64 lane = blockIdx.x; lane < w.lanes; lane += gridDim.x) {
    const L::element *from = a + ci_place(lane, w.rank, w.sizes, w.strides);
    const ci_u64 to = ci_place(lane, w.rank, w.sizes, w.to_strides);
    L::given g = values;
    CI_PASSES
    for (ci_u64 i = threadIdx.x; i < w.len; i += CI_THREADS) out[to + i * w.to_step] = CI_AT;
  }
}
