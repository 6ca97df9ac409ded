// Products of matrices, for every dtype: tiles of both factors in shared memory, a thread for each element of a tile of the result.
// Behind `block.cuh` and the functions of a product, with which the result of a sum is finished.
struct ci_product {
  ci_u64 batch, m, n, k;
  ci_u64 rank, sizes[8], a_batch[8], b_batch[8], input_batch[8];
  ci_u64 a_row, a_column, b_row, b_column, input_row, input_column;
};

CI_KERNEL void product(const A *a, const B *b, OUT *out CI_INPUT, const ci_product w CI_VALUES) {
  __shared__ A left[16][17];
  __shared__ B right[16][17];
  const unsigned column_in = threadIdx.x % 16, row_in = threadIdx.x / 16;
  const ci_u64 across = (w.n + 15) / 16, down = (w.m + 15) / 16;
  for (ci_u64 tile = blockIdx.x; tile < w.batch * down * across; tile += gridDim.x) {
    const ci_u64 matrix = tile / (down * across), row = tile / across % down * 16 + row_in, column = tile % across * 16 + column_in;
    const A *from_a = a + ci_place(matrix, w.rank, w.sizes, w.a_batch);
    const B *from_b = b + ci_place(matrix, w.rank, w.sizes, w.b_batch);
    SUM sum = {};
    for (ci_u64 first = 0; first < w.k; first += 16) {
      const ci_u64 count = w.k - first < 16 ? w.k - first : 16;
      if (row < w.m && column_in < count) left[row_in][column_in] = from_a[row * w.a_row + (first + column_in) * w.a_column];
      if (column < w.n && row_in < count) right[row_in][column_in] = from_b[(first + row_in) * w.b_row + column * w.b_column];
      __syncthreads();
      if (row < w.m && column < w.n)
        for (unsigned at = 0; at < count; at++) sum = term_element(sum, left[row_in][at], right[at][column_in], 0);
      __syncthreads();
    }
    if (row < w.m && column < w.n) {
      const ci_u64 to = (matrix * w.m + row) * w.n + column;
      out[to] = finish_element(sum, CI_ADDED CI_GIVEN 0);
    }
  }
}
