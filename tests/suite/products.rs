//! Products on the host: many matrices, bytes, distances, activations in the same pass, and shapes. (On every device:
//! `each_device/products.rs`.)

use super::each_device::products::{SIZES, naive, whole};
use castiron::ops::admit::NumericFor;
use castiron::{
    Activation, Device, Dim, Dtype, Dyn, Float, Generator, Meta, Tensor, axis, bf16, f16, ops, shape, stack,
};

type Matrix<E> = Tensor<E, shape![_, _]>;
type Batch<E> = Tensor<E, shape![_, _, _]>;

#[test]
fn long_vectors_are_summed_in_chunks() {
    let len = 300_000;
    let x = Tensor::<f32, shape![_]>::from_vec_sized((0..len).map(|at| (at % 3) as f32).collect(), [len]);
    let expected = (0..len).map(|at| (at % 3) as f32).map(|x| x * x).sum::<f32>();
    assert_eq!(x.dot(&x).item(), expected);
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
    let error = whole::<i8>([2, 3], 1).try_int_mm::<_, _, shape![_, _], _>(&whole::<i8>([4, 3], 1)).unwrap_err();
    assert!(error.to_string().contains("3 columns against 4 rows"), "{error}");
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

/// A few rows or columns with the transpose of a row-major matrix: exact sums of small integers, with gaps between rows, a bias, and what is added.
#[test]
fn a_few_rows_or_columns_are_dot_products() {
    let whole = |sizes: [usize; 2], seed: usize| -> Tensor<i64, shape![_, _]> {
        Tensor::from_fn_sized(sizes, |[i, j]: [usize; 2]| ((i * 31 + j * 7 + seed) % 11) as i64 - 5)
    };
    let few = [
        (2, 5, 256),
        (3, 70, 300),
        (8, 33, 513),
        (8, 300, 1100),
        (9, 31, 256),
        (16, 17, 700),
        (2, 2, 70_000),
        (300, 5, 130),
    ];
    let vectors = [(1, 9, 200), (40, 1, 300), (1, 30, 5000), (50, 1, 4100), (1, 7, 300)];
    for (m, n, k) in few.into_iter().chain(vectors) {
        let (x, w, b) = (whole([m, k + 3], 1), whole([n, k + 2], 2), whole([1, n], 3));
        let (x, w) = (x.narrow(axis![1], 2, k), w.narrow(axis![1], 1, k));
        let expected = x.matmul(w.t());
        assert_eq!(x.to::<f32>().matmul(w.to::<f32>().t()).to::<i64>().to_vec(), expected.to_vec());
        assert_eq!(x.to::<f64>().matmul(w.to::<f64>().t()).to::<i64>().to_vec(), expected.to_vec());
        assert_eq!(x.to::<f16>().matmul(w.to::<f16>().t()).to_vec(), expected.to::<f16>().to_vec());
        assert_eq!(x.to::<bf16>().matmul(w.to::<bf16>().t()).to_vec(), expected.to::<bf16>().to_vec());
        let (x, w, b) = (x.to::<f32>(), w.to::<f32>(), b.to::<f32>());
        let sum = x.linear(&w, Some(&b.flatten())).to::<i64>();
        assert_eq!(sum.to_vec(), (&expected + b.to::<i64>()).to_vec());
        let sum = b.addmm(&x, &w.t(), 2, 3).to::<i64>();
        assert_eq!(sum.to_vec(), (&expected * 3 + b.to::<i64>() * 2).to_vec());
    }
}
