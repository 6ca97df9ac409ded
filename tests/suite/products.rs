//! Products of matrices equal the naive loop, whatever the sizes, the strides and the dtype: there are ways of their own for
//! tiny, tall and flat ones, by tiles, strips and lanes.

use castiron::ops::admit::NumericFor;
use castiron::{
    Activation, Complex, Device, Dim, Dtype, Dyn, Float, Generator, Meta, Numeric, Tensor, axis, bf16, f16, ops, shape,
    stack, tensor,
};

type Matrix<E> = Tensor<E, shape![_, _]>;
type Batch<E> = Tensor<E, shape![_, _, _]>;

/// Small whole numbers, so that every sum is exact before it is rounded or wraps.
fn whole<E: Dtype>(sizes: [usize; 2], seed: usize) -> Matrix<E> {
    let values = (0..sizes[0] * sizes[1]).map(|at| ((at * 7 + seed * 3 + at / 11) % 5) as i64 - 1).collect();
    Matrix::<i64>::from_vec_sized(values, sizes).to::<E>()
}

fn naive(a: &Matrix<i64>, b: &Matrix<i64>) -> Matrix<i64> {
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
const SIZES: [[usize; 3]; 14] = [
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

fn products_of<E: Dtype + Numeric>() {
    for [m, k, n] in SIZES {
        let (a, b) = (whole::<i64>([m, k], 1), whole::<i64>([k, n], 2));
        let expected = naive(&a, &b).to::<E>().to_vec();
        let (a, b) = (a.to::<E>(), b.to::<E>());
        let turned = |x: &Matrix<E>| -> Matrix<E> { x.t().contiguous().t() };
        // Every other column of a wider matrix.
        let apart = |x: &Matrix<E>| -> Matrix<E> {
            let wide: Batch<E> = stack(&[x, x][..], axis![-1]);
            wide.select(axis![2], 1)
        };
        let pairs = [(a.clone(), b.clone()), (turned(&a), turned(&b)), (apart(&a), b.clone()), (a.clone(), apart(&b))];
        for (left, right) in pairs {
            let product: Matrix<E> = left.matmul(&right);
            assert!(product.to_vec() == expected, "{m} x {k} x {n} of {:?}", E::DTYPE);
        }
    }
}

#[test]
fn products_of_every_dtype_are_loops() {
    products_of::<f32>();
    products_of::<f64>();
    products_of::<bf16>();
    products_of::<f16>();
    products_of::<Complex<f32>>();
    products_of::<i64>();
    products_of::<i32>();
    products_of::<i16>();
    products_of::<i8>();
    products_of::<u8>();
}

#[test]
fn long_vectors_are_summed_in_chunks() {
    let len = 300_000;
    let x = Tensor::<f32, shape![_]>::from_vec_sized((0..len).map(|at| (at % 3) as f32).collect(), [len]);
    let expected = (0..len).map(|at| (at % 3) as f32).map(|x| x * x).sum::<f32>();
    assert_eq!(x.dot(&x).item(), expected);
}

/// `2 * row + 3 * (a @ b)`, rounded or wrapped once.
fn sums_of<E: Dtype + Numeric>() {
    for [m, k, n] in [[1, 5, 3], [4, 4, 4], [6, 300, 20], [40, 9, 1], [70, 33, 65], [5, 0, 3]] {
        let (a, b) = (whole::<i64>([m, k], 1), whole::<i64>([k, n], 2));
        let (row, product) = (whole::<i64>([1, n], 3), naive(&a, &b));
        let sums = product.to_vec().into_iter().enumerate().map(|(at, x)| 2 * row.to_vec()[at % n] + 3 * x);
        let expected = Matrix::<i64>::from_vec_sized(sums.collect(), [m, n]).to::<E>().to_vec();
        let sum: Matrix<E> = row.to::<E>().addmm(&a.to::<E>(), &b.to::<E>(), 2, 3);
        assert!(sum.to_vec() == expected, "{m} x {k} x {n} of {:?}", E::DTYPE);

        // A batch whose right matrix is one for all, and one whose matrices differ.
        let batch: Batch<E> = stack(&[a.to::<E>(), a.to::<E>()][..], axis![0]);
        let shared: Batch<E> = batch.matmul(&b.to::<E>());
        let own: Batch<E> = batch.bmm(&stack(&[b.to::<E>(), b.to::<E>()][..], axis![0]));
        let twice = [product.to::<E>().to_vec(), product.to::<E>().to_vec()].concat();
        assert!(shared.to_vec() == twice && own.to_vec() == twice, "{m} x {k} x {n} of {:?}", E::DTYPE);
        let batched: Batch<E> = row.to::<E>().baddbmm(&batch, &stack(&[b.to::<E>(), b.to::<E>()][..], axis![0]), 2, 3);
        assert!(batched.to_vec() == [&expected[..], &expected[..]].concat(), "{m} x {k} x {n} of {:?}", E::DTYPE);
    }
}

#[test]
fn sums_with_products_are_rounded_once() {
    sums_of::<f32>();
    sums_of::<bf16>();
    sums_of::<f16>();
    sums_of::<Complex<f64>>();
    sums_of::<i32>();
    sums_of::<u8>();
}

#[test]
fn a_factor_of_zero_leaves_its_operand_out() {
    let (nan, x) = (tensor![[f32::NAN, 1.0], [0.0, 1.0]], tensor![[1.0, 2.0], [3.0, 4.0]]);
    assert_eq!(nan.addmm(&x, &x, 0, 1).to_vec(), [7.0, 10.0, 15.0, 22.0]);
    assert_eq!(x.addmm(&nan, &x, 1, 0).to_vec(), x.to_vec());
    assert_eq!(tensor![f32::NAN, 1.0].addmv(&x, &tensor![1.0, 1.0], 0, 1).to_vec(), [3.0, 7.0]);
}

#[test]
fn many_matrices_are_divided_among_threads() {
    let (count, m, k, n) = (40_usize, 40, 50, 60);
    let of = |rows, columns, seed: usize| -> Vec<Matrix<i64>> {
        (0..count).map(|at| whole([rows, columns], seed + at)).collect()
    };
    let (a, b) = (of(m, k, 1), of(k, n, 9));
    let expected: Vec<i64> = a.iter().zip(&b).flat_map(|(a, b)| naive(a, b).to_vec()).collect();
    let (a, b): (Batch<i64>, Batch<i64>) = (stack(&a, axis![0]), stack(&b, axis![0]));
    assert!(a.matmul(&b).to_vec() == expected);
    assert!(a.to::<f32>().matmul(&b.to::<f32>()).to::<i64>().to_vec() == expected);
    let transposed: Batch<i64> = b.transpose(axis![1], axis![2]).contiguous();
    assert!(a.matmul(&transposed.transpose(axis![1], axis![2])).to_vec() == expected);
}

#[test]
fn bytes_are_summed_in_32_bits() {
    for [m, k, n] in SIZES {
        let (a, b) = (whole::<i64>([m, k], 1) * 30, whole::<i64>([k, n], 2) * -30);
        let expected = naive(&a, &b).to::<i32>().to_vec();
        let product: Matrix<i32> = a.to::<i8>().int_mm(&b.to::<i8>());
        assert!(product.to_vec() == expected, "{m} x {k} x {n}");
        let positive: Matrix<i32> = (&a + 100).to::<u8>().int_mm(&b.to::<i8>());
        assert!(positive.to_vec() == naive(&(&a + 100), &b).to::<i32>().to_vec(), "{m} x {k} x {n}");
    }
    let nothing: Matrix<i32> = whole::<i8>([2, 0], 1).int_mm(&whole::<i8>([0, 3], 1));
    assert_eq!(nothing.to_vec(), [0; 6]);
    let error = whole::<i8>([2, 3], 1).try_int_mm::<_, _, shape![_, _]>(&whole::<i8>([4, 3], 1)).unwrap_err();
    assert!(error.to_string().contains("3 columns against 4 rows"), "{error}");
}

/// A bias and an activation in the pass of the product, and as steps of their own.
fn layers_of<E: Dtype + Numeric>()
where
    ops::relu: Activation<E>,
{
    for [m, k, n] in [[1, 5, 3], [7, 600, 5], [40, 0, 3], [9, 40, 1], [330, 30, 40]] {
        let (x, weight) = (whole::<E>([m, k], 1), whole::<E>([n, k], 2));
        let bias = whole::<E>([1, n], 3).select(axis![0], 0);
        for x in [x.clone(), x.t().contiguous().t()] {
            for bias in [None, Some(&bias)] {
                let steps = x.linear(&weight, bias).relu();
                let at_once: Matrix<E> = x.linear_with(&weight, bias, ops::relu {});
                assert!(at_once.to_vec() == steps.to_vec(), "{m} x {k} x {n} of {:?}", E::DTYPE);
            }
        }
    }
}

#[test]
fn activations_are_computed_in_the_pass_of_the_product() {
    layers_of::<f32>();
    layers_of::<f64>();
    layers_of::<bf16>();
    layers_of::<f16>();
    layers_of::<i32>();
    layers_of::<u8>();
}

#[test]
fn any_function_of_one_operand_that_keeps_the_dtype_is_an_activation() {
    fn layer<E: NumericFor<ops::reduce::linear>, N: Dim, D: Device, A: Activation<E>>(
        x: &Tensor<E, shape![_, 4], D>,
        weight: &Tensor<E, (N, castiron::dim!(4)), D>,
        activation: A,
    ) -> Tensor<E, (Dyn, N), D> {
        x.linear_with(weight, None, activation)
    }
    let mut generator = Generator::seeded(1);
    let x = Tensor::<f32, shape![_, 4]>::randn_sized([1500, 4], &mut generator);
    let weight = Tensor::<f32, shape![20, 4]>::randn(&mut generator);
    let y: Tensor<f32, shape![_, 20]> = layer(&x, &weight, ops::gelu {});
    assert_eq!(y.to_vec(), x.linear(&weight, None).gelu().to_vec());
    assert_eq!(layer(&x, &weight, ops::tanh {}).to_vec(), x.linear(&weight, None).tanh().to_vec());
    // Sums of several blocks of terms, in blocks of rows.
    let long = Tensor::<f32, shape![700, 600]>::randn(&mut generator);
    let (wide, bias) = (Tensor::<f32, shape![12, 600]>::randn(&mut generator), Tensor::<f32, shape![12]>::ones());
    let steps = long.linear(&wide, Some(&bias)).sigmoid();
    assert_eq!(long.linear_with(&wide, Some(&bias), ops::sigmoid {}).to_vec(), steps.to_vec());
    let batch = Tensor::<f32, shape![3, 5, 4]>::randn(&mut generator);
    let y: Tensor<f32, shape![3, 5, 20]> = batch.linear_with(&weight, None, ops::silu {});
    assert_eq!(y.to_vec(), batch.linear(&weight, None).silu().to_vec());
    let meta = Tensor::<f32, shape![_, 4], Meta>::zeros_sized([9, 4]);
    assert_eq!(layer(&meta, &Tensor::<f32, shape![2, 4], Meta>::zeros(), ops::relu {}).shape(), [9, 2]);
    let error = x.try_linear_with(&Tensor::<f32, shape![_, _]>::zeros_sized([2, 3]), None, ops::relu {}).unwrap_err();
    assert!(error.to_string().contains("4 columns against 3 rows"), "{error}");
}

/// Rows of small whole numbers, whose squares a product sums exactly.
fn distances_of<E: Dtype + Float>() {
    for ([m, k], n) in [([30, 5], 3), ([2, 9], 26), ([25, 4], 25), ([70, 33], 40)] {
        let (x, y) = (whole::<i64>([m, k], 1), whole::<i64>([n, k], 2));
        let expected: Vec<f64> = x
            .to_vec()
            .chunks(k)
            .flat_map(|x| {
                let y = y.to_vec();
                let squares = y.chunks(k).map(|y| x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<i64>());
                squares.map(|square| (square as f64).sqrt()).collect::<Vec<_>>()
            })
            .collect();
        let expected = Tensor::<f64, shape![_, _]>::from_vec_sized(expected, [m, n]).to::<E>().to_vec();
        let (x, y) = (x.to::<E>(), y.to::<E>());
        let distances: Matrix<E> = x.cdist(&y, 2.0);
        assert!(distances.to_vec() == expected, "{m} x {k} x {n} of {:?}", E::DTYPE);
        let turned: Matrix<E> = x.t().contiguous().t().cdist(&y, 2.0);
        assert!(turned.to_vec() == expected, "{m} x {k} x {n} of {:?}", E::DTYPE);
    }
}

#[test]
fn distances_of_many_rows_are_a_product() {
    distances_of::<f32>();
    distances_of::<f64>();
    distances_of::<bf16>();

    // As PyTorch's: close rows are less exact, never NaN; infinity meets itself.
    let mut generator = Generator::seeded(1);
    let x = Tensor::<f32, shape![30, 5]>::randn(&mut generator) + 100.0;
    let own: Tensor<f32, shape![30, 30]> = x.cdist(&x, 2.0);
    let few = x.narrow(axis![0], 0, 25);
    let exact: Matrix<f32> = few.cdist(&few, 2.0);
    assert!(own.to_vec().iter().all(|x| (0.0..12.0).contains(x)));
    assert!((0..25).all(|at| exact[(at, at)] == 0.0 && own[(at, at)] < 0.3));
    let mut odd = x.to_vec();
    (odd[0], odd[5]) = (f32::NAN, f32::INFINITY);
    let odd = Tensor::<f32, shape![30, 5]>::from_vec(odd);
    let distances: Tensor<f32, shape![30, 30]> = odd.cdist(&odd, 2.0);
    assert!((0..30).all(|at| distances[(0, at)].is_nan() && distances[(1, at)].is_nan()));
    assert!(!distances[(2, 3)].is_nan());

    // Batches broadcast.
    let (x, y) = (
        Tensor::<f64, shape![2, 1, 30, 4]>::randn(&mut generator),
        Tensor::<f64, shape![3, 40, 4]>::randn(&mut generator),
    );
    let distances: Tensor<f64, shape![2, 3, 30, 40]> = x.cdist(&y, 2.0);
    for at in [[0, 0, 0, 0], [1, 2, 29, 39], [0, 1, 7, 11]] {
        let [i, j, row, column] = at;
        let square: f64 = (0..4).map(|p| x[(i, 0, row, p)] - y[(j, column, p)]).map(|x| x * x).sum();
        assert!((distances[(i, j, row, column)] - square.sqrt()).abs() < 1e-12);
    }
}

#[test]
fn shapes_of_products_follow_from_the_factors() {
    use castiron::Shape;
    use castiron::shape::{BatchMatMul, MatMul};
    fn of<S: MatMul<T>, T>() -> (&'static [Option<usize>], Option<&'static str>) {
        (<S::Output as Shape>::KNOWN, <S::Output as Shape>::NAMES.first().copied().flatten())
    }
    castiron::dims! { Batch }
    assert_eq!(of::<shape![3], shape![3]>(), (&[][..], None));
    assert_eq!(of::<shape![_], shape![3]>(), (&[][..], None));
    assert_eq!(of::<shape![2, 3], shape![3]>(), (&[Some(2)][..], None));
    assert_eq!(of::<shape![3], shape![3, 5]>(), (&[Some(5)][..], None));
    assert_eq!(of::<shape![7, 2, 3], shape![3]>(), (&[Some(7), Some(2)][..], None));
    assert_eq!(of::<shape![3], shape![7, 3, 5]>(), (&[Some(7), Some(5)][..], None));
    assert_eq!(of::<shape![Batch, 3], shape![3, 5]>(), (&[None, Some(5)][..], Some("Batch")));
    assert_eq!(of::<shape![1, 2, 3], shape![7, 3, _]>(), (&[Some(7), Some(2), None][..], None));
    type Batches = <shape![_, 2, 3] as BatchMatMul<shape![7, 3, 5]>>::Output;
    assert_eq!(Batches::KNOWN, [Some(7), Some(2), Some(5)]);
}

#[test]
fn products_compile_in_code_generic_over_sizes() {
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
    let x = Tensor::<f32, shape![2, 3, 4]>::ones();
    assert!(attend(&x, &x, &x).allclose(&x));
    let a = tensor![[1.0, 2.0], [3.0, 4.0]];
    assert_eq!(rows(&a, &tensor![1.0, 10.0]).to_vec(), [21.0, 43.0]);
    assert_eq!(columns(&a, &tensor![1.0, 10.0]).to_vec(), [31.0, 42.0]);
}
