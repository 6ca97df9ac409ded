// The arguments of a product; included before `tiles.cuh` or `sums.cuh`, after `block.cuh` and the functions of a product.
struct ci_product {
  ci_u64 batch, m, n, k;
  ci_u64 rank, sizes[8], a_batch[8], b_batch[8], input_batch[8];
  ci_u64 a_row, a_column, b_row, b_column, input_row, input_column;
};
