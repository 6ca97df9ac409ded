//! Matrix products equal the naive loop, whatever the sizes, strides and dtype: there are separate ways for tiny, tall and flat ones, by
//! tiles, strips and lanes; on a GPU, by libraries and by our own kernel.

use super::{Gives, On, is_host};
use castiron::{
    Activation, Complex, Cpu, Device, Dim, Dtype, Numeric, Tensor, axis, bf16, f16, ops, shape, stack, tensor,
};

type Matrix<E, D = Cpu> = Tensor<E, shape![_, _], D>;
type Batch<E, D> = Tensor<E, shape![_, _, _], D>;

/// Small whole numbers, so that every sum is exact before it is rounded or wraps.
pub fn whole<E: Dtype>(sizes: [usize; 2], seed: usize) -> Matrix<E> {
    let values = (0..sizes[0] * sizes[1]).map(|at| ((at * 7 + seed * 3 + at / 11) % 5) as i64 - 1).collect();
    Matrix::<i64>::from_vec_sized(values, sizes).to::<E>()
}

pub fn naive(a: &Matrix<i64>, b: &Matrix<i64>) -> Matrix<i64> {
    let ([m, k], [_, n]) = (a.shape(), b.shape());
    let (a, b) = (a.to_vec(), b.to_vec());
    let mut out = vec![0; m * n];
    for i in 0..m {
        for p in 0..k {
            for j in 0..n {
                out[i * n + j] += a[i * k + p] * b[p * n + j];
            }
        }
    }
    Matrix::from_vec_sized(out, [m, n])
}

/// Sizes around those of tiles, strips, blocks and lanes; vectors among them.
pub const SIZES: [[usize; 3]; 14] = [
    [1, 1, 1],
    [2, 2, 2],
    [4, 4, 4],
    [7, 8, 5],
    [9, 3, 17],
    [1, 40, 9],
    [9, 40, 1],
    [2, 4200, 1],
    [1, 300, 600],
    [70, 300, 1],
    [5, 600, 33],
    [131, 257, 18],
    [258, 3, 260],
    [3, 260, 1030],
];

/// All of the sizes on the host, the first of them on a GPU.
fn sizes<D: Device>(all: &[[usize; 3]], few: usize) -> Vec<[usize; 3]> {
    if is_host::<D>() { all.to_vec() } else { all[..few].to_vec() }
}

fn products_of<E: Dtype + Numeric, D: Device>() {
    for [m, k, n] in sizes::<D>(&SIZES, 5) {
        let (a, b) = (whole::<i64>([m, k], 1), whole::<i64>([k, n], 2));
        let expected = naive(&a, &b).to::<E>().to_vec();
        let (a, b) = (a.to::<E>().on::<D>(), b.to::<E>().on::<D>());
        let turned = |x: &Matrix<E, D>| -> Matrix<E, D> { x.t().contiguous().t() };
        // Every other column of a wider matrix.
        let apart = |x: &Matrix<E, D>| -> Matrix<E, D> {
            let wide: Batch<E, D> = stack(&[x, x][..], axis![-1]);
            wide.select(axis![2], 1)
        };
        let pairs = [(a.clone(), b.clone()), (turned(&a), turned(&b)), (apart(&a), b.clone()), (a.clone(), apart(&b))];
        for (left, right) in pairs {
            let product: Matrix<E, D> = left.matmul(&right);
            assert!(product.elements() == expected, "{m} x {k} x {n} of {:?}", E::DTYPE);
        }
    }
}

pub fn products_of_every_dtype_are_loops<D: Device>() {
    products_of::<f32, D>();
    products_of::<bf16, D>();
    products_of::<i32, D>();
    if is_host::<D>() {
        products_of::<f64, D>();
        products_of::<f16, D>();
        products_of::<Complex<f32>, D>();
        products_of::<i64, D>();
        products_of::<i16, D>();
        products_of::<i8, D>();
        products_of::<u8, D>();
    }
}

/// `2 * row + 3 * (a @ b)`, rounded or wrapped once.
fn sums_of<E: Dtype + Numeric, D: Device>() {
    for [m, k, n] in sizes::<D>(&[[1, 5, 3], [4, 4, 4], [6, 300, 20], [40, 9, 1], [5, 0, 3], [70, 33, 65]], 5) {
        let (a, b) = (whole::<i64>([m, k], 1), whole::<i64>([k, n], 2));
        let (row, product) = (whole::<i64>([1, n], 3), naive(&a, &b));
        let sums = product.to_vec().into_iter().enumerate().map(|(at, x)| 2 * row.to_vec()[at % n] + 3 * x);
        let expected = Matrix::<i64>::from_vec_sized(sums.collect(), [m, n]).to::<E>().to_vec();
        let (row, a, b) = (row.to::<E>().on::<D>(), a.to::<E>().on::<D>(), b.to::<E>().on::<D>());
        let sum: Matrix<E, D> = row.addmm(&a, &b, 2, 3);
        assert!(sum.elements() == expected, "{m} x {k} x {n} of {:?}", E::DTYPE);

        // A batch whose right matrix is one for all, and one whose matrices differ.
        let batch: Batch<E, D> = stack(&[a.clone(), a][..], axis![0]);
        let shared: Batch<E, D> = batch.matmul(&b);
        let own: Batch<E, D> = batch.bmm(&stack(&[b.clone(), b.clone()][..], axis![0]));
        let twice = [product.to::<E>().to_vec(), product.to::<E>().to_vec()].concat();
        assert!(shared.elements() == twice && own.elements() == twice, "{m} x {k} x {n} of {:?}", E::DTYPE);
        let batched: Batch<E, D> = row.baddbmm(&batch, &stack(&[b.clone(), b.clone()][..], axis![0]), 2, 3);
        assert!(batched.elements() == [&expected[..], &expected[..]].concat(), "{m} x {k} x {n} of {:?}", E::DTYPE);
    }
}

pub fn sums_with_products_are_rounded_once<D: Device>() {
    sums_of::<f32, D>();
    sums_of::<i32, D>();
    if is_host::<D>() {
        sums_of::<bf16, D>();
        sums_of::<f16, D>();
        sums_of::<Complex<f64>, D>();
        sums_of::<u8, D>();
    }
}

pub fn a_factor_of_zero_leaves_its_operand_out<D: Device>() {
    let nan = tensor![[f32::NAN, 1.0], [0.0, 1.0]].on::<D>();
    let (x, ones) = (tensor![[1.0, 2.0], [3.0, 4.0]].on::<D>(), tensor![1.0, 1.0].on::<D>());
    nan.addmm(&x, &x, 0, 1).gives([7.0, 10.0, 15.0, 22.0]);
    x.addmm(&nan, &x, 1, 0).gives([1.0, 2.0, 3.0, 4.0]);
    tensor![f32::NAN, 1.0].on::<D>().addmv(&x, &ones, 0, 1).gives([3.0, 7.0]);
}

/// A bias and an activation in the pass of the product, and as steps of their own.
fn layers_of<E: Dtype + Numeric, D: Device>()
where
    ops::relu: Activation<E>,
{
    for [m, k, n] in sizes::<D>(&[[1, 5, 3], [7, 600, 5], [40, 0, 3], [9, 40, 1], [330, 30, 40]], 4) {
        let (x, weight) = (whole::<E>([m, k], 1).on::<D>(), whole::<E>([n, k], 2).on::<D>());
        let bias = whole::<E>([1, n], 3).on::<D>().select(axis![0], 0);
        for x in [x.clone(), x.t().contiguous().t()] {
            for bias in [None, Some(&bias)] {
                let steps = x.linear(&weight, bias).relu();
                let at_once: Matrix<E, D> = x.linear_with(&weight, bias, ops::relu {});
                assert!(at_once.elements() == steps.elements(), "{m} x {k} x {n} of {:?}", E::DTYPE);
            }
        }
    }
}

pub fn activations_are_computed_in_the_pass_of_the_product<D: Device>() {
    layers_of::<f32, D>();
    layers_of::<bf16, D>();
    if is_host::<D>() {
        layers_of::<f64, D>();
        layers_of::<f16, D>();
        layers_of::<i32, D>();
        layers_of::<u8, D>();
    }
}

pub fn products_compile_in_code_generic_over_sizes<D: Device>() {
    fn attend<B: Dim, M: Dim, N: Dim, K: Dim, D: Device>(
        q: &Tensor<f32, (B, M, K), D>,
        k: &Tensor<f32, (B, N, K), D>,
        v: &Tensor<f32, (B, N, K), D>,
    ) -> Tensor<f32, (B, M, K), D> {
        q.matmul(k.transpose(axis![-2], axis![-1])).softmax(axis![-1]).matmul(v)
    }
    fn rows<M: Dim, K: Dim, D: Device>(a: &Tensor<f32, (M, K), D>, x: &Tensor<f32, (K,), D>) -> Tensor<f32, (M,), D> {
        a.matmul(x)
    }
    fn columns<M: Dim, K: Dim, D: Device>(
        a: &Tensor<f32, (M, K), D>,
        x: &Tensor<f32, (M,), D>,
    ) -> Tensor<f32, (K,), D> {
        x.matmul(a)
    }
    let x = Tensor::<f32, shape![2, 3, 4], D>::ones();
    attend(&x, &x, &x).all_are(|x| (x - 1.0).abs() < 1e-5);
    let a = tensor![[1.0, 2.0], [3.0, 4.0]].on::<D>();
    rows(&a, &tensor![1.0, 10.0].on::<D>()).gives([21.0, 43.0]);
    columns(&a, &tensor![1.0, 10.0].on::<D>()).gives([31.0, 42.0]);
}

each_device! {
    also_without_data: a_factor_of_zero_leaves_its_operand_out, products_compile_in_code_generic_over_sizes;
    with_data: products_of_every_dtype_are_loops, sums_with_products_are_rounded_once, activations_are_computed_in_the_pass_of_the_product;
}
