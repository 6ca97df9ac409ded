//! Typed linear algebra: laws of factors and solutions, shapes in the type, matrices that are singular or hold NaN.

use castiron::{
    Complete, Complex, Dim, Dyn, Field, Generator, Meta, RealField, Reduced, Tensor, Uplo, axis, dim, dims, shape,
    tensor,
};
use proptest::prelude::*;

type Matrix<E> = Tensor<E, (Dyn, Dyn)>;
type Batch = shape![_, _, _];

fn random(seed: u64, sizes: [usize; 3]) -> Tensor<f64, Batch> {
    Tensor::randn_sized(sizes, &mut Generator::seeded(seed))
}

fn is_identity(x: &Tensor<f64, Batch>) -> bool {
    let n = x.shape()[2];
    let eye: Matrix<f64> = Tensor::eye_sized([n, n]);
    (x - eye).abs().to_vec().into_iter().fold(0.0, f64::max) < 1e-8
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn factors_multiply_to_the_matrix(seed in 0..1000_u64, m in 1..9_usize, n in 1..9_usize) {
        let x = random(seed, [2, m, n]);
        let close = |product: Tensor<f64, Batch>| product.allclose_with(&x, 1e-9, 1e-9);
        let (q, r) = x.qr(Reduced);
        prop_assert!(close(q.matmul(&r).with_shape()));
        prop_assert!(is_identity(&q.transpose(axis![-1], axis![-2]).matmul(&q).with_shape()));
        let (q, r) = x.qr(Complete);
        prop_assert!(close(q.matmul(&r).with_shape()));
        let (u, s, vh) = x.svd(Reduced);
        prop_assert!(close((u * s.unsqueeze(axis![1])).matmul(&vh).with_shape()));
        let (p, l, u) = x.lu();
        prop_assert!(close(p.matmul(&l).matmul(&u).with_shape()));
    }

    /// Of a matrix whose rank is no more than that asked for, nothing is lost.
    #[test]
    fn a_matrix_of_low_rank_is_the_product_of_its_few_singular_vectors(
        (seed, m, n) in (0..1000_u64, 3..30_usize, 3..30_usize), (niter, moved) in (0..3_usize, any::<bool>()),
    ) {
        let x: Tensor<f64, Batch> = random(seed, [2, m, 2]).matmul(&random(seed + 1, [2, 2, n])).with_shape();
        let x = if moved { x.transpose(axis![1], axis![2]).contiguous().transpose(axis![1], axis![2]) } else { x };
        let (u, s, v) = x.svd_lowrank::<dim!(3), _>(niter, &mut Generator::seeded(seed));
        let product = (&u * s.unsqueeze(axis![1])).matmul(&v.mT());
        prop_assert!(product.allclose_with(&x, 1e-9, 1e-9));
        prop_assert!(is_identity(&u.mT().matmul(&u).with_shape()) && is_identity(&v.mT().matmul(&v).with_shape()));
        let largest: Tensor<f64, shape![_, 3]> = x.svdvals().narrow(axis![1], 0, 3).with_shape();
        prop_assert!(s.allclose_with(&largest, 1e-9, 1e-9));
        let centered = &x - x.mean_axis(axis![1].keepdim());
        let (_, s, _) = x.pca_lowrank::<dim!(3), _>(niter, &mut Generator::seeded(seed));
        let largest: Tensor<f64, shape![_, 3]> = centered.svdvals().narrow(axis![1], 0, 3).with_shape();
        prop_assert!(s.allclose_with(&largest, 1e-9, 1e-9));
    }

    #[test]
    fn an_inverse_undoes_its_matrix(seed in 0..1000_u64, n in 1..9_usize) {
        let x = random(seed, [3, n, n]) + Tensor::<f64, (Dyn, Dyn)>::eye_sized([n, n]) * (3.0 * n as f64);
        prop_assert!(is_identity(&x.inv().matmul(&x).with_shape()));
        prop_assert!(is_identity(&x.pinv(None, false).matmul(&x).with_shape()));
        let b = random(seed + 1, [3, n, 2]);
        prop_assert!(x.matmul(&x.solve(&b)).allclose_with(&b, 1e-9, 1e-9));
        let (log, det) = (x.slogdet(), x.det());
        prop_assert!((log.0 * log.1.exp()).allclose_with(&det, 1e-9, 1e-9));
    }

    #[test]
    fn positive_matrices_have_roots_and_eigenvalues(seed in 0..1000_u64, n in 1..9_usize) {
        let x = random(seed, [2, n, n]);
        let x: Tensor<f64, Batch> = x.matmul(&x.transpose(axis![-1], axis![-2])).with_shape::<Batch>()
            + Tensor::<f64, (Dyn, Dyn)>::eye_sized([n, n]);
        let l = x.cholesky(false);
        prop_assert!(l.matmul(&l.transpose(axis![-1], axis![-2])).allclose_with(&x, 1e-9, 1e-9));
        prop_assert!(is_identity(&l.cholesky_inverse(false).matmul(&x).with_shape()));
        let (w, v) = x.eigh(Uplo::Upper);
        prop_assert!(x.matmul(&v).allclose_with(&(v * w.unsqueeze(axis![1])), 1e-8, 1e-8));
        prop_assert!(w.to_vec().chunks(n).all(|w| w.is_sorted()));
    }
}

#[test]
fn the_type_knows_the_sizes_of_factors() {
    let x = Tensor::<f32, shape![2, 5, 3]>::ones();
    let (q, r) = x.qr(Reduced);
    let _: (&Tensor<f32, shape![2, 5, 3]>, &Tensor<f32, shape![2, 3, 3]>) = (&q, &r);
    let (q, r) = x.qr(Complete);
    let _: (&Tensor<f32, shape![2, 5, 5]>, &Tensor<f32, shape![2, 5, 3]>) = (&q, &r);
    let (u, s, vh) = x.svd(Complete);
    let _: (&Tensor<f32, shape![2, 5, 5]>, &Tensor<f32, shape![2, 3]>, &Tensor<f32, shape![2, 3, 3]>) = (&u, &s, &vh);
    let a: Tensor<Complex<f32>, shape![2, 3, 3]> = Tensor::zeros();
    let _: Tensor<Complex<f32>, shape![2]> = a.det();
    let _: Tensor<f32, shape![2, 3]> = a.eigvalsh(Uplo::Lower);
    let _: Tensor<Complex<f32>, shape![2, 3]> = a.eigvals();
    let _: Tensor<f64, shape![4, 2, 5, 1]> = Tensor::<f64, shape![2, 5, 5]>::zeros().solve_triangular(
        &Tensor::<f64, shape![4, 1, 5, 1]>::ones(),
        true,
        true,
    );
}

/// One bound is all that generic linear algebra takes, whatever the sizes are: its results are added to its operands.
#[test]
fn generic_code_takes_matrices_apart_without_a_clause() {
    fn rebuilt<E: RealField, N: Dim, K: Dim>(x: &Tensor<E, (N, K)>) -> Tensor<E, (N, K)> {
        let (u, s, vh) = x.svd(Reduced);
        let (q, r) = x.qr(Reduced);
        let (p, l, _) = x.lu();
        let nothing = (p.matmul(l).sum() * x.svdvals().sum() * x.diagonal(axis![0, 1]).sum()) * E::from_f64(0.0);
        ((u * s.unsqueeze(axis![0])).matmul(&vh) + q.matmul(&r)) / E::from_f64(2.0) + nothing
    }
    fn solved<E: RealField, N: Dim>(a: &Tensor<E, (N, N)>, b: &Tensor<E, (N,)>) -> Tensor<E, (N,)> {
        let scale = (a.det() + a.slogdet().1.exp() + a.cholesky(false).diagonal(axis![0, 1]).prod().square()).item();
        let scale = (scale / E::from_f64(3.0)).max(E::from_f64(0.0));
        (a.inv().matmul(b) + a.solve(b)) * scale / (a.det() * E::from_f64(2.0)) + (b.dot(b) - b.norm(2.0).square())
    }
    dims! { Rows }
    let x: Tensor<f64, shape![Rows, 2]> = Tensor::from_vec_sized(vec![3.0, 0.0, 4.0, 5.0, 0.0, 1.0], [3, 2]);
    assert!(rebuilt(&x).allclose(&x));
    let (q, r) = x.qr(Reduced);
    let _: (&Tensor<f64, shape![Rows, _]>, &Tensor<f64, shape![_, 2]>) = (&q, &r);
    let known: Tensor<f64, shape![3, 2]> = x.with_shape();
    assert!(rebuilt(&known).allclose(&known));
    // The right side is what `matmul` takes: tensors, references, views; of `lstsq` also a vector.
    let a = tensor![[2.0, 0.0], [0.0, 4.0]];
    let (owned, seen) = (a.solve(a.matmul(&a)), a.solve_triangular(tensor![[1.0, 2.0]].t(), true, false));
    assert_eq!((owned.to_vec(), seen.to_vec()), (a.to_vec(), vec![0.5, 0.5]));
    let (line, rank): (Tensor<f64, shape![2]>, _) = x.lstsq(x.select(axis![1], 1), None);
    assert!(line.allclose_with(&tensor![0.0, 1.0].to::<f64>(), 1e-12, 1e-12) && rank.item() == 2, "{line}");
    let solution = solved(&tensor![[4.0, 1.0], [1.0, 3.0]], &tensor![1.0, 2.0]);
    assert!(solution.allclose_with(&tensor![1.0 / 11.0, 7.0 / 11.0], 1e-5, 1e-5), "{solution}");
}

#[test]
fn without_data_results_have_shapes() {
    let x: Tensor<f32, shape![2, 5, 3], Meta> = Tensor::zeros();
    assert_eq!(x.svd(Reduced).0.shape(), [2, 5, 3]);
    assert_eq!(x.pinv(None, false).shape(), [2, 3, 5]);
    let a: Tensor<f64, shape![_, 4, 4], Meta> = Tensor::zeros_sized([3, 4, 4]);
    assert_eq!(a.inv().shape(), [3, 4, 4]);
    assert_eq!(a.solve(&Tensor::<f64, shape![4], Meta>::ones()).shape(), [3, 4]);
}

#[test]
fn singular_matrices_are_named_by_their_place_in_the_batch() {
    let mut x = Tensor::<f64, shape![4, 3, 3]>::zeros();
    x.copy_from(&Tensor::<f64, shape![3, 3]>::eye());
    x.select_mut(axis![0], 3).slice_mut(castiron::s![1]).fill(0.0);
    let error = x.try_inv().unwrap_err().to_string();
    assert_eq!(
        error,
        "linalg.inv: (Batch element 3): The diagonal element 2 is zero, the inversion could not be completed because the input matrix is singular."
    );
    assert_eq!(x.inv_ex().1.to_vec(), [0, 0, 0, 2]);
    assert!(x.try_solve(&Tensor::<f64, shape![3]>::ones()).is_err());
    let negative = -Tensor::<f32, shape![2, 2]>::eye();
    assert!(negative.try_cholesky(false).unwrap_err().to_string().contains("not positive-definite"));
}

#[test]
fn nan_and_infinities_end_in_a_result_or_an_error() {
    fn all<E: Field>(bad: E) {
        let x =
            Tensor::<E, shape![3, 3]>::from_fn(|[i, j]| if (i, j) == (1, 2) { bad } else { E::of_f64(1.0 + i as f64) });
        assert!(x.try_svdvals().is_err() && x.try_eig().is_err() && x.try_pinv(None, false).is_err());
        assert!(x.try_eigh(Uplo::Upper).is_ok() && x.try_qr(Reduced).is_ok() && x.try_det().is_ok());
        assert!(x.try_matrix_exp().is_ok());
        let _ = (x.try_inv(), x.try_cholesky(true), x.try_lu(), x.try_ldl_factor(false));
    }
    for bad in [f64::NAN, f64::INFINITY] {
        all(bad as f32);
        all(bad);
        all(Complex::new(bad as f32, 0.0));
        all(Complex::new(0.0, bad));
    }
}

#[test]
fn large_matrices_are_factored_in_blocks() {
    let x: Tensor<f64, Batch> = random(5, [1, 130, 100]);
    let (q, r) = x.qr(Complete);
    assert!(q.matmul(&r).allclose_with(&x, 1e-9, 1e-9));
    let (qr, tau) = x.geqrf();
    let full = qr.ormqr(&tau, &x, true);
    assert!(full.narrow(axis![1], 100, 30).abs().to_vec().into_iter().all(|x| x < 1e-9));
    let back = qr.ormqr(&tau, &full, false);
    assert!(back.allclose_with(&x, 1e-9, 1e-9));
    assert!(qr.rormqr(&tau, x.mT(), false).allclose_with(&full.mT(), 1e-9, 1e-9));
    let square: Tensor<f64, Batch> = random(6, [2, 150, 150]);
    assert!(is_identity(&square.inv().matmul(&square).with_shape()));
}

#[test]
fn a_batch_of_vectors_is_not_taken_for_matrices() {
    let (a, b) = (Tensor::<f64, shape![2, 2, 2]>::ones(), Tensor::<f64, shape![2, 2]>::ones());
    assert!(a.try_solve(&b).unwrap_err().to_string().contains("batch of vectors"));
    assert_eq!(tensor![[2.0]].rsolve(&tensor![[4.0], [6.0]]).to_vec(), [2.0, 3.0]);
}

#[test]
fn low_rank_is_at_most_the_smaller_size() {
    let generator = &mut Generator::seeded(0);
    let x = Tensor::<f32, shape![5, 3]>::ones();
    assert!(x.try_svd_lowrank::<dim!(4), _>(2, generator).unwrap_err().to_string().contains("min(m, n)=3"));
    assert!(x.try_svd_lowrank::<dim!(2), _>(usize::MAX, generator).unwrap_err().to_string().contains("niter"));
    let (u, s, v) = x.svd_lowrank::<dim!(0), _>(2, generator);
    assert_eq!((u.shape(), s.shape(), v.shape()), ([5, 0], [0], [3, 0]));
    let hole = tensor![[1.0, f64::NAN], [2.0, 3.0]];
    assert!(hole.try_svd_lowrank::<dim!(1), _>(2, generator).unwrap_err().to_string().contains("non-finite"));
    let (u, _, v) = Tensor::<f64, shape![4, 0, 3, 3]>::ones().svd_lowrank::<dim!(2), _>(2, generator);
    assert_eq!((u.shape(), v.shape()), ([4, 0, 3, 2], [4, 0, 3, 2]));
    let (u, s, _) = Tensor::<f32, shape![7, 9], Meta>::ones().pca_lowrank::<dim!(2), _>(2, generator);
    assert_eq!((u.shape(), s.shape()), ([7, 2], [2]));
    // Complex: what is decomposed is the product again.
    let x = Tensor::<Complex<f64>, shape![6, 2]>::from_fn(|[i, j]: [usize; 2]| {
        Complex::new(i as f64, (i * j) as f64 + 1.0)
    });
    let (u, s, v) = x.svd_lowrank::<dim!(2), _>(1, generator);
    assert!((u * s).matmul(&v.adjoint()).allclose_with(&x, 1e-9, 1e-9));
}

/// Factors multiply to the matrix, vectors are orthonormal, solutions solve, whatever the size of the elements: from the least normal numbers
/// to near the largest, of matrices that are rank-deficient and of rows and columns of several sizes.
#[test]
fn factors_do_not_depend_on_scale() {
    type Wide = Matrix<Complex<f64>>;
    const N: usize = 6;
    // In two steps: the power alone may be beyond `f64`'s.
    fn times(x: &Wide, k: i32) -> Wide {
        x * 2f64.powi(k / 2) * 2f64.powi(k - k / 2)
    }
    fn norm(x: &Wide) -> f64 {
        let most = |most: f64, x: f64| if x > most || x.is_nan() { x } else { most };
        x.abs().to_vec().into_iter().fold(0.0, most)
    }
    fn product(a: &Wide, b: &Wide) -> Wide {
        a.matmul(b).with_shape()
    }
    fn all<E: Field>(exponents: &[i32], epsilon: f64) {
        let draw = &mut Generator::seeded(11);
        let [re, im] = [(); 2].map(|()| Matrix::<f64>::randn_sized([N, N], draw).to::<Complex<f64>>());
        let random: Wide = if E::IS_REAL { re } else { re + im * Complex::new(0.0, 1.0) };
        let [left, right] = [random.narrow(axis![1], 0, 2), random.narrow(axis![0], 0, 2)];
        let deficient = product(&left.contiguous(), &right);
        let graded = Wide::from_fn_sized([N, N], |at| random[at] * 2f64.powi(-2 * (at[0] + at[1]) as i32));
        let one: Wide = Tensor::eye_sized([N, N]);
        for (kind, base, rank) in [("random", random, 6), ("rank-deficient", deficient, 2), ("graded", graded, 4)] {
            let definite = product(&base, &base.adjoint()) + &one;
            let values: Vec<f64> = base.svdvals().to_vec();
            for &k in exponents {
                let scaled = |x: &Wide| -> Matrix<E> { times(x, k).to() };
                let near = |what: &str, x: &Wide, to: &Wide| {
                    let (off, most) = (norm(&(x - to)), norm(to));
                    assert!(off <= 60.0 * epsilon * most, "{what}, {kind} {} times 2^{k}: {off:e} of {most}", E::DTYPE);
                };
                let down = |x: Matrix<E>| times(&x.to(), -k);
                let x = scaled(&base);

                let (u, s, vh) = x.svd(Reduced);
                let (u, s, vh): (Wide, Vec<f64>, Wide) = (u.to(), down_all(&s.to::<f64>().to_vec(), k), vh.to());
                near("U", &product(&u.adjoint(), &u), &one);
                near("V", &product(&vh, &vh.adjoint()), &one);
                let us = Wide::from_fn_sized([N, N], |[i, j]| u[[i, j]] * s[j]);
                near("svd", &product(&us, &vh), &base);
                assert!(
                    s.iter().zip(&values).all(|(s, of)| (s - of).abs() <= 60.0 * epsilon * values[0]),
                    "{kind} 2^{k}"
                );
                assert_eq!(x.matrix_rank(Some(1e-4), false).item(), rank, "{kind} 2^{k}");

                let hermitian = scaled(&(&base + base.adjoint()));
                let (w, v) = hermitian.eigh(Uplo::Lower);
                let (w, v): (Vec<f64>, Wide) = (down_all(&w.to::<f64>().to_vec(), k), v.to());
                near("eigh", &product(&v.adjoint(), &v), &one);
                let vw = Wide::from_fn_sized([N, N], |[i, j]| v[[i, j]] * w[j]);
                near("eigh", &product(&vw, &v.adjoint()), &(&base + base.adjoint()));
                let (w, v) = x.eig();
                let (w, v): (Tensor<Complex<f64>, shape![_]>, Wide) = (w.to(), v.to());
                let w = w * 2f64.powi(-k / 2) * 2f64.powi(k / 2 - k);
                let vw = Wide::from_fn_sized([N, N], |[i, j]| v[[i, j]] * w[[j]]);
                assert!(norm(&(product(&base, &v) - vw)) <= 60.0 * epsilon * norm(&base), "eig, {kind} 2^{k}");

                let (q, r) = x.qr(Complete);
                near("Q", &product(&q.to().adjoint(), &q.to()), &one);
                near("qr", &product(&q.to(), &down(r)), &base);
                let (p, l, u) = x.lu();
                near("lu", &product(&p.to(), &product(&l.to(), &down(u))), &base);
                // The factor has half the exponent.
                let l: Wide = scaled(&definite).cholesky(false).to();
                near("cholesky", &product(&times(&l, -k), &l.adjoint()), &definite);
                let b = scaled(&one);
                // Blocks of two.
                let indefinite = &base + base.adjoint() + one.flip(axis![0]) * 40.0;
                let (ld, pivots) = scaled(&indefinite).ldl_factor(true);
                near("ldl", &product(&indefinite, &ld.ldl_solve(&pivots, &b, true).to()), &one);
                // Of full rank, and well enough conditioned.
                let shifted = &base + &one * 20.0;
                near("solve", &product(&shifted, &scaled(&shifted).solve(&b).to()), &one);
                let solution: (Matrix<E>, Tensor<i64, ()>) = scaled(&shifted).lstsq(&b, None);
                near("lstsq", &product(&shifted, &solution.0.to()), &one);
                near("pinv", &product(&shifted, &times(&scaled(&shifted).pinv(None, false).to(), k)), &one);
                near("inv", &product(&shifted, &times(&scaled(&shifted).inv().to(), k)), &one);
            }
        }
    }
    fn down_all(x: &[f64], k: i32) -> Vec<f64> {
        x.iter().map(|x| x * 2f64.powi(-k / 2) * 2f64.powi(k / 2 - k)).collect()
    }
    let (narrow, wide) = ([-120, -70, -1, 0, 40, 63, 110], [-1000, -520, 0, 500, 511, 1000]);
    all::<f32>(&narrow, f32::EPSILON.into());
    all::<Complex<f32>>(&narrow, f32::EPSILON.into());
    all::<f64>(&wide, f64::EPSILON);
    all::<Complex<f64>>(&wide, f64::EPSILON);
}
