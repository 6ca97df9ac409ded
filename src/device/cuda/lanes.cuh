// Functions of rows, the elements along one axis: a block for each. Behind `block.cuh` and the struct `L` of a function of rows. What is
// compiled is the first section and one of the others.

// Where lanes are: sizes of the other axes, strides there and along the lane, of the elements and of the results.
struct ci_lanes {
  ci_u64 lanes, len, step, to_step;
  ci_u64 sizes[8], strides[8], to_strides[8];
  ci_u64 rank;
};
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
