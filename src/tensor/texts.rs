//! Test: the generated kernel source of `tensor` and `composite` agrees with the host's kernels.

use crate::ops::record::suite::Suite;

#[test]
fn compiled_kernels_of_tensors_give_the_bits_of_the_host() {
    let mut suite = Suite::default();
    super::create::ranges::kernels(&mut suite);
    crate::composite::sort::search::kernels(&mut suite);
    crate::composite::sort::runs::kernels(&mut suite);
    super::create::triangle_indices::kernels(&mut suite);
    crate::composite::sort::slices::kernels(&mut suite);
    super::create::weights::kernels(&mut suite);
    crate::composite::linalg::vectors::kernels(&mut suite);
    crate::composite::linalg::euclidean::kernels(&mut suite);
    super::linalg::addmm::kernels(&mut suite);
    super::scan::trapezoid::kernels(&mut suite);
    super::index::index_put::kernels(&mut suite);
    super::index::masked::kernels(&mut suite);
    crate::composite::index::nonzero::kernels(&mut suite);
    crate::composite::normalization::large::kernels(&mut suite);
    super::index::scatter_reduce::kernels(&mut suite);
    crate::composite::statistics::covariance::kernels(&mut suite);
    crate::composite::statistics::counting::kernels(&mut suite);
    crate::composite::normalization::normalize::kernels(&mut suite);
    crate::composite::statistics::rank::kernels(&mut suite);
    super::elementwise::shell_dtypes::kernels(&mut suite);
    crate::ops::losses::kernels(&mut suite);
    crate::cpu::gemm::kernels(&mut suite);
    suite.run_all();
}
