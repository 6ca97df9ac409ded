// Systems of equations, factors of matrices, and what goes with them.

use castiron::{Generator, KnownShape, Reduced, Tensor, Uplo, dim, shape, tensor};

/// A matrix of ones, with 2 on its diagonal.
fn x<S: KnownShape>() -> Tensor<f64, S> {
    let columns = S::SIZES.as_ref().last().copied().unwrap_or(1);
    Tensor::from_vec((0..S::NUMEL).map(|at| if at % columns == at / columns { 2.0 } else { 1.0 }).collect())
}
fn p<S: KnownShape>() -> Tensor<i32, S> {
    Tensor::ones()
}

calls! {
    x::<shape![3, 3]>().solve(&x::<shape![2, 1]>());
    // instead: x::<shape![3, 3]>().solve(&x::<shape![3, 1]>());
    x::<shape![3, 2]>().solve(&x::<shape![2, 1]>());
    // instead: x::<shape![2, 2]>().solve(&x::<shape![2, 1]>());
    x::<shape![3, 3]>().rsolve(&x::<shape![1, 2]>());
    // instead: x::<shape![3, 3]>().rsolve(&x::<shape![1, 3]>());
    x::<shape![3, 3]>().solve_ex(&x::<shape![2, 1]>());
    // instead: x::<shape![3, 3]>().solve_ex(&x::<shape![3, 1]>());
    x::<shape![3, 3]>().solve_triangular(&x::<shape![2, 1]>(), true, false);
    // instead: x::<shape![3, 3]>().solve_triangular(&x::<shape![3, 1]>(), true, false);
    x::<shape![3, 3]>().rsolve_triangular(&x::<shape![1, 2]>(), true, false);
    // instead: x::<shape![3, 3]>().rsolve_triangular(&x::<shape![1, 3]>(), true, false);
    x::<shape![3, 2]>().lstsq(&x::<shape![2, 1]>(), None);
    // instead: x::<shape![3, 2]>().lstsq(&x::<shape![3, 1]>(), None);
    x::<shape![3, 3]>().lu_solve(&p::<shape![2]>(), &x::<shape![3, 1]>(), false);
    // instead: x::<shape![3, 3]>().lu_solve(&p::<shape![3]>(), &x::<shape![3, 1]>(), false);
    x::<shape![4, 3, 3]>().lu_solve(&p::<shape![3]>(), &x::<shape![3, 1]>(), false);
    // instead: x::<shape![4, 3, 3]>().lu_solve(&p::<shape![4, 3]>(), &x::<shape![3, 1]>(), false);
    x::<shape![3, 2]>().lu_solve(&p::<shape![2]>(), &x::<shape![2, 1]>(), false);
    // instead: x::<shape![2, 2]>().lu_solve(&p::<shape![2]>(), &x::<shape![2, 1]>(), false);
    x::<shape![3, 3]>().lu_solve(&p::<shape![3]>(), &x::<shape![2, 1]>(), false);
    // instead: x::<shape![3, 3]>().lu_solve(&p::<shape![3]>(), &x::<shape![3, 2]>(), false);
    x::<shape![3, 2]>().lu_unpack(&p::<shape![3]>());
    // instead: x::<shape![3, 2]>().lu_unpack(&p::<shape![2]>());
    x::<shape![3, 3]>().ldl_solve(&p::<shape![2]>(), &x::<shape![3, 1]>(), false);
    // instead: x::<shape![3, 3]>().ldl_solve(&p::<shape![3]>(), &x::<shape![3, 1]>(), false);
    x::<shape![3, 3]>().ldl_solve(&p::<shape![3]>(), &x::<shape![2, 1]>(), false);
    // instead: x::<shape![3, 3]>().ldl_solve(&p::<shape![3]>(), &x::<shape![3, 2]>(), false);
    x::<shape![3, 1]>().cholesky_solve(&x::<shape![2, 2]>(), false);
    // instead: x::<shape![2, 1]>().cholesky_solve(&x::<shape![2, 2]>(), false);
    x::<shape![3, 1]>().cholesky_solve(&x::<shape![3, 2]>(), false);
    // instead: x::<shape![3, 1]>().cholesky_solve(&x::<shape![3, 3]>(), false);
    x::<shape![4, 3]>().householder_product(&x::<shape![4]>());
    // instead: x::<shape![4, 3]>().householder_product(&x::<shape![3]>());
    x::<shape![3, 4]>().householder_product(&x::<shape![3]>());
    // instead: x::<shape![4, 4]>().householder_product(&x::<shape![3]>());
    x::<shape![3, 2]>().ormqr(&x::<shape![3]>(), &x::<shape![3, 1]>(), false);
    // instead: x::<shape![3, 2]>().ormqr(&x::<shape![2]>(), &x::<shape![3, 1]>(), false);
    x::<shape![3, 2]>().ormqr(&x::<shape![2]>(), &x::<shape![1, 3]>(), false);
    // instead: x::<shape![3, 2]>().ormqr(&x::<shape![2]>(), &x::<shape![3, 1]>(), false);
    x::<shape![3, 2]>().rormqr(&x::<shape![2]>(), &x::<shape![3, 1]>(), false);
    // instead: x::<shape![3, 2]>().rormqr(&x::<shape![2]>(), &x::<shape![1, 3]>(), false);
    x::<shape![2, 3, 6]>().tensorinv::<1>();
    // instead: x::<shape![2, 2]>().tensorinv::<1>();
    x::<shape![2, 3, 5]>().tensorinv::<2>();
    // instead: tensor![[[2.0], [1.0]], [[1.0], [2.0]]].reshape::<shape![2, 1, 2]>().tensorinv::<2>();
    x::<shape![3, 2]>().cholesky(false);
    // instead: x::<shape![2, 2]>().cholesky(false);
    x::<shape![3, 2]>().cholesky_ex(false);
    // instead: x::<shape![2, 2]>().cholesky_ex(false);
    x::<shape![3, 2]>().cholesky_inverse(false);
    // instead: x::<shape![2, 2]>().cholesky_inverse(false);
    x::<shape![3, 2]>().ldl_factor(false);
    // instead: x::<shape![2, 2]>().ldl_factor(false);
    x::<shape![3, 2]>().inv();
    // instead: x::<shape![2, 2]>().inv();
    x::<shape![3, 2]>().inv_ex();
    // instead: x::<shape![2, 2]>().inv_ex();
    x::<shape![3, 2]>().det();
    // instead: x::<shape![2, 2]>().det();
    x::<shape![3, 2]>().slogdet();
    // instead: x::<shape![2, 2]>().slogdet();
    x::<shape![3, 2]>().matrix_exp();
    // instead: x::<shape![2, 2]>().matrix_exp();
    x::<shape![3, 2]>().eig();
    // instead: x::<shape![2, 2]>().eig();
    x::<shape![3, 2]>().eigvals();
    // instead: x::<shape![2, 2]>().eigvals();
    x::<shape![3, 2]>().eigh(Uplo::Lower);
    // instead: x::<shape![2, 2]>().eigh(Uplo::Lower);
    x::<shape![3, 2]>().eigvalsh(Uplo::Lower);
    // instead: x::<shape![2, 2]>().eigvalsh(Uplo::Lower);
    x::<shape![3]>().svd(Reduced);
    // instead: x::<shape![3, 2]>().svd(Reduced);
    x::<shape![3]>().svdvals();
    // instead: x::<shape![3, 2]>().svdvals();
    x::<shape![3]>().qr(Reduced);
    // instead: x::<shape![3, 2]>().qr(Reduced);
    x::<shape![3]>().geqrf();
    // instead: x::<shape![3, 2]>().geqrf();
    x::<shape![3]>().lu();
    // instead: x::<shape![3, 2]>().lu();
    x::<shape![3]>().lu_factor();
    // instead: x::<shape![3, 2]>().lu_factor();
    x::<shape![3]>().lu_factor_ex();
    // instead: x::<shape![3, 2]>().lu_factor_ex();
    x::<shape![3]>().svd_lowrank::<dim!(1), _>(1, &mut Generator::seeded(1));
    // instead: x::<shape![3, 2]>().svd_lowrank::<dim!(1), _>(1, &mut Generator::seeded(1));
    x::<shape![3]>().pca_lowrank::<dim!(1), _>(1, &mut Generator::seeded(1));
    // instead: x::<shape![3, 2]>().pca_lowrank::<dim!(1), _>(1, &mut Generator::seeded(1));
    x::<shape![3]>().pinv(None, false);
    // instead: x::<shape![3, 2]>().pinv(None, false);
    x::<shape![3]>().matrix_rank(None, false);
    // instead: x::<shape![3, 2]>().matrix_rank(None, false);
    x::<shape![3]>().cond(2.0);
    // instead: x::<shape![3, 2]>().cond(2.0);
    x::<shape![3]>().spectral_norm();
    // instead: x::<shape![3, 2]>().spectral_norm();
    x::<shape![3]>().nuclear_norm();
    // instead: x::<shape![3, 2]>().nuclear_norm();
}
