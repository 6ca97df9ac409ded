// Products of matrices, for every dtype: tiles of both factors in shared memory, and a thread for CI_EACH x CI_EACH elements of a tile of
// the result, 16 apart. Each element is summed in the order of k. Behind `product.cuh`.
#define CI_TILE (16 * CI_EACH)

CI_KERNEL void product(const A *a, const B *b, OUT *out CI_INPUT, const ci_product w CI_VALUES) {
  // (Padded by one element per row: adjacent elements of a column are in different banks.)
  __shared__ A left[16][CI_TILE + 1];
  __shared__ B right[16][CI_TILE + 1];
  const unsigned t = threadIdx.x, x = t % 16, y = t / 16;
  // Adjacent threads read along the contiguous axis of a factor.
  const bool a_along_k = w.a_column <= w.a_row, b_along_k = w.b_row < w.b_column;
  const ci_u64 across = (w.n + CI_TILE - 1) / CI_TILE, down = (w.m + CI_TILE - 1) / CI_TILE;
  for (ci_u64 tile = blockIdx.x; tile < w.batch * down * across; tile += gridDim.x) {
    const ci_u64 matrix = tile / (down * across), top = tile / across % down * CI_TILE, start = tile % across * CI_TILE;
    const A *from_a = a + ci_place(matrix, w.rank, w.sizes, w.a_batch);
    const B *from_b = b + ci_place(matrix, w.rank, w.sizes, w.b_batch);
    SUM sum[CI_EACH][CI_EACH] = {};
    for (ci_u64 first = 0; first < w.k; first += 16) {
      const unsigned count = w.k - first < 16 ? (unsigned)(w.k - first) : 16;
      CI_UNROLL
      for (unsigned i = 0; i < CI_EACH; i++) {
        const unsigned at = t + i * CI_THREADS;
        const unsigned row = a_along_k ? at / 16 : at % CI_TILE, depth = a_along_k ? at % 16 : at / CI_TILE;
        left[depth][row] = top + row < w.m && depth < count ? from_a[(top + row) * w.a_row + (first + depth) * w.a_column] : A{};
      }
      CI_UNROLL
      for (unsigned i = 0; i < CI_EACH; i++) {
        const unsigned at = t + i * CI_THREADS;
        const unsigned column = b_along_k ? at / 16 : at % CI_TILE, depth = b_along_k ? at % 16 : at / CI_TILE;
        right[depth][column] = start + column < w.n && depth < count ? from_b[(first + depth) * w.b_row + (start + column) * w.b_column] : B{};
      }
      __syncthreads();
      for (unsigned at = 0; at < count; at++) {
        A own_left[CI_EACH];
        B own_right[CI_EACH];
        CI_UNROLL
        for (unsigned i = 0; i < CI_EACH; i++) {
          own_left[i] = left[at][y + 16 * i];
          own_right[i] = right[at][x + 16 * i];
        }
        CI_UNROLL
        for (unsigned i = 0; i < CI_EACH; i++)
          CI_UNROLL
          for (unsigned j = 0; j < CI_EACH; j++) sum[i][j] = term_element(sum[i][j], own_left[i], own_right[j], 0);
      }
      __syncthreads();
    }
    CI_FROM_INPUT
    CI_UNROLL
    for (unsigned i = 0; i < CI_EACH; i++)
      CI_UNROLL
      for (unsigned j = 0; j < CI_EACH; j++) {
        const ci_u64 row = top + y + 16 * i, column = start + x + 16 * j;
        if (row < w.m && column < w.n) out[(matrix * w.m + row) * w.n + column] = finish_element(sum[i][j], CI_ADDED CI_GIVEN 0);
      }
  }
}
