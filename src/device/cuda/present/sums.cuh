// Few long sums: blocks for the pieces of each, then a block that merges the pieces. Behind `product.cuh`.
CI_FN SUM ci_all(SUM sum) {
  __shared__ SUM parts[CI_THREADS];
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned width = CI_THREADS / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) parts[threadIdx.x] = merge_element(parts[threadIdx.x], parts[threadIdx.x + width], 0);
    __syncthreads();
  }
  sum = parts[0];
  __syncthreads();
  return sum;
}
CI_KERNEL void sums(const A *a, const B *b, SUM *out, const ci_product w, const ci_u64 pieces) {
  const ci_u64 length = (w.k + pieces - 1) / pieces;
  for (ci_u64 part = blockIdx.x; part < w.batch * w.m * w.n * pieces; part += gridDim.x) {
    const ci_u64 result = part / pieces, matrix = result / (w.m * w.n), row = result / w.n % w.m, column = result % w.n;
    const ci_u64 first = part % pieces * length, last = w.k < first + length ? w.k : first + length;
    const A *from_a = a + ci_place(matrix, w.rank, w.sizes, w.a_batch) + row * w.a_row;
    const B *from_b = b + ci_place(matrix, w.rank, w.sizes, w.b_batch) + column * w.b_column;
    // Four sums of each thread, so that as many elements are on their way.
    SUM sum[4] = {};
    ci_u64 at = first + threadIdx.x;
    for (; at + 3 * CI_THREADS < last; at += 4 * CI_THREADS) {
      CI_UNROLL
      for (unsigned i = 0; i < 4; i++)
        sum[i] = term_element(sum[i], from_a[(at + i * CI_THREADS) * w.a_column], from_b[(at + i * CI_THREADS) * w.b_row], 0);
    }
    for (; at < last; at += CI_THREADS) sum[0] = term_element(sum[0], from_a[at * w.a_column], from_b[at * w.b_row], 0);
    const SUM all = ci_all(merge_element(merge_element(sum[0], sum[1], 0), merge_element(sum[2], sum[3], 0), 0));
    if (threadIdx.x == 0) out[part] = all;
  }
}
CI_KERNEL void product(const SUM *parts, OUT *out CI_INPUT, const ci_product w, const ci_u64 pieces CI_VALUES) {
  for (ci_u64 result = blockIdx.x; result < w.batch * w.m * w.n; result += gridDim.x) {
    const ci_u64 matrix = result / (w.m * w.n), row = result / w.n % w.m, column = result % w.n;
    SUM sum = {};
    for (ci_u64 piece = threadIdx.x; piece < pieces; piece += CI_THREADS) sum = merge_element(sum, parts[result * pieces + piece], 0);
    sum = ci_all(sum);
    CI_FROM_INPUT
    if (threadIdx.x == 0) out[result] = finish_element(sum, CI_ADDED CI_GIVEN 0);
  }
}
