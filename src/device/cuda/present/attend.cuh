// Attention: recomputes NaN results from the keys that a query sees. (The product multiplies masked values by zero, which is NaN where they
// are NaN or infinite.) Included after `block.cuh`, the elements `T`, their compute type `N`, the mask's elements `M`, and CI_SEES, whether
// `query` sees `key`.

// Layout of the values and the mask: sizes and strides of the leading axes, strides of keys, columns and queries.
struct ci_attended {
  ci_u64 count, queries, keys, width, rank, sizes[8], value_batch[8], mask_batch[8];
  ci_u64 value_key, value_column, mask_query, mask_key;
};
CI_KERNEL void product(const T *shares, const T *values, const M *mask, T *out, const ci_attended w) {
  CI_EACH(i, w.count) {
    const N found = ci_cast<N>(out[i]);
    if (found == found) continue;
    const ci_u64 row = i / w.width, query = row % w.queries, head = row / w.queries;
    const T *share = shares + row * w.keys;
    const T *value = values + ci_place(head, w.rank, w.sizes, w.value_batch) + i % w.width * w.value_column;
    const M *of_query = mask + ci_place(head, w.rank, w.sizes, w.mask_batch) + query * w.mask_query;
    N sum = 0;
    for (ci_u64 key = 0; key < w.keys; key++) if (CI_SEES) sum += ci_cast<N>(share[key]) * ci_cast<N>(value[key * w.value_key]);
    out[i] = ci_cast<T>(sum);
  }
}
