//! Matrix products, compared with the host: every dtype, any strides, batches, an added tensor and a following function. Elements are small
//! integers, so that sums are exact in any order.

use crate::on_gpu;
use castiron::{
    Activation, Complex, Cpu, Cuda, Device, Dtype, Element, Numeric, Shape, Tensor, axis, bf16, f16, ops, s, shape,
};

type Matrix<E, D> = Tensor<E, shape![_, _], D>;
type Batch<E, D> = Tensor<E, shape![_, _, _], D>;
type Heads<E, D> = Tensor<E, shape![_, _, _, _], D>;

pub fn filled<E: Dtype, S: Shape, D: Device>(sizes: S::Sizes) -> Tensor<E, S, D> {
    let value = |at: usize| E::from_f64(((at * 5 + at / 3) % 5) as f64 - 1.0);
    let len = sizes.as_ref().iter().product();
    let host = Tensor::<E, S, Cpu>::from_vec_sized((0..len).map(value).collect(), sizes);
    host.to_device::<D>().unwrap()
}

/// Shape and elements. (A sum of one product is -0 on a GPU where it is 0 on the host, which begins each sum with 0.)
pub fn host<E: Element, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> String {
    format!("{:?}: {:?}", x.shape().as_ref(), x.to_device::<Cpu>().unwrap().to_vec()).replace("-0.0", "0.0")
}

/// A matrix in memory: rows contiguous, columns contiguous, both with gaps, from an odd element on, every other element, one row.
fn layouts<E: Dtype, D: Device>(rows: usize, columns: usize) -> Vec<Matrix<E, D>> {
    let wide: Matrix<E, D> = filled([rows + 2, columns + 3]);
    let tall: Matrix<E, D> = filled([columns + 3, rows + 2]);
    let part =
        |x: &Matrix<E, D>| -> Matrix<E, D> { x.narrow(axis![0], 1, rows).narrow(axis![1], 2, columns).with_shape() };
    let sparse: Matrix<E, D> = filled([2 * rows, 2 * columns]);
    vec![
        filled([rows, columns]),
        filled::<E, shape![_, _], D>([columns, rows]).t(),
        part(&wide),
        part(&tall.t()),
        sparse.slice(s![..;2, ..;2]),
        filled::<E, shape![1, _], D>([1, columns]).expand_sized([rows, columns]),
    ]
}

fn of_every_layout<E: Numeric, D: Device>() -> Vec<String> {
    let mut results = Vec::new();
    for (m, k, n) in [(17, 20, 33), (1, 9, 4), (4, 9, 1), (3, 1, 5)] {
        for a in layouts::<E, D>(m, k) {
            results.extend(layouts::<E, D>(k, n).iter().map(|b| host(&a.matmul(b))));
        }
    }
    results
}

fn of_batches<E: Numeric, D: Device>() -> Vec<String> {
    let one: Matrix<E, D> = filled([5, 6]);
    let (left, right): (Batch<E, D>, Batch<E, D>) = (filled([3, 4, 5]), filled([3, 5, 6]));
    let row: Batch<E, D> = filled([3, 1, 5]);
    let (heads, others): (Heads<E, D>, Heads<E, D>) = (filled([2, 3, 4, 5]), filled([2, 3, 6, 5]));
    let (apart, apart_others): (Heads<E, D>, Heads<E, D>) = (filled([2, 4, 3, 5]), filled([2, 6, 3, 5]));
    let shared: Heads<E, D> = filled([2, 1, 5, 6]);
    let turned = |x: &Heads<E, D>| -> Heads<E, D> { x.permute(axis![0, 2, 1, 3]) };
    let vector: Tensor<E, shape![_], D> = filled([5]);
    vec![
        host(&left.matmul(&one)),
        host(&left.permute(axis![1, 0, 2]).matmul(&one)),
        host(&left.narrow(axis![1], 1, 2).matmul(&one)),
        host(&row.matmul(&one)),
        host(&row.expand_sized::<shape![_, _, _]>([3, 4, 5]).matmul(&one)),
        host(&left.matmul(&right)),
        host(&left.bmm(&right)),
        host(&heads.matmul(&right)),
        host(&heads.matmul(&one)),
        host(&heads.matmul(&shared)),
        host(&heads.matmul(&others.transpose(axis![2], axis![3]))),
        host(&turned(&apart).matmul(&turned(&apart_others).transpose(axis![2], axis![3]))),
        host(&turned(&apart).matmul(&right)),
        host(&filled::<E, shape![4, 5], D>([4, 5]).matmul(&right)),
        host(&vector.matmul(&right)),
        host(&left.matmul(&vector)),
        host(&one.t().matmul(&vector)),
        host(&vector.matmul(&one)),
        host(&vector.matmul(&vector)),
        host(&filled::<E, shape![_, 0], D>([17, 0]).matmul(filled::<E, shape![0, _], D>([0, 4]))),
        host(&filled::<E, shape![0, _], D>([0, 5]).matmul(&one)),
    ]
}

fn with_what_is_added<E: Numeric, D: Device>() -> Vec<String> {
    let (a, b): (Matrix<E, D>, Matrix<E, D>) = (filled([17, 20]), filled([20, 24]));
    let mut results = Vec::new();
    let mut inputs: Vec<Matrix<E, D>> = layouts(17, 24);
    inputs.push(filled::<E, shape![_, 1], D>([17, 1]).expand_sized([17, 24]));
    inputs.push(filled::<E, shape![1, 1], D>([1, 1]).expand_sized([17, 24]));
    let rows: Matrix<E, D> = filled([2, 24]);
    for start in [0, 1] {
        inputs.push(rows.narrow(axis![0], start, 1).expand_sized([17, 24]));
    }
    for input in &inputs {
        for (beta, alpha) in [(1, 1), (2, 3), (1, 3), (0, 2), (2, 0)] {
            results.push(host(&input.addmm(&a, &b, beta, alpha)));
        }
    }
    let (left, right): (Batch<E, D>, Batch<E, D>) = (filled([3, 4, 5]), filled([3, 5, 6]));
    for sizes in [[3, 4, 6], [1, 4, 6], [3, 1, 6], [1, 1, 6], [3, 4, 1]] {
        let input: Batch<E, D> = filled(sizes);
        let input: Batch<E, D> = input.expand_sized([3, 4, 6]);
        results.push(host(&input.baddbmm(&left, &right, 1, 1)));
        results.push(host(&input.baddbmm(&left, &right, 2, 3)));
    }
    // Rows of one product, if what is added runs on, too.
    let shared: Batch<E, D> = filled::<E, shape![1, 5, 6], D>([1, 5, 6]).expand_sized([3, 5, 6]);
    for input in [filled::<E, shape![_, _, _], D>([3, 4, 6]), filled::<E, shape![_, _, _], D>([3, 7, 6])] {
        let input: Batch<E, D> = input.narrow(axis![1], 0, 4).with_shape();
        results.push(host(&input.baddbmm(&left, &shared, 2, 3)));
    }
    let (x, weight): (Batch<E, D>, Matrix<E, D>) = (filled([3, 4, 5]), filled([6, 5]));
    let bias: Tensor<E, shape![_], D> = filled([6]);
    results.push(host(&x.linear(&weight, Some(&bias))));
    results.push(host(&x.linear(&weight, None)));
    results.push(host(&left.narrow(axis![2], 0, 4).linear(&weight.narrow(axis![1], 1, 4), Some(&bias))));
    results
}

fn followed_by_a_function<E: Numeric, D: Device>() -> Vec<String>
where
    ops::relu: Activation<E>,
    ops::neg: Activation<E>,
{
    let (x, weight): (Batch<E, D>, Matrix<E, D>) = (filled([3, 4, 5]), filled([6, 5]));
    let bias: Tensor<E, shape![_], D> = filled([6]);
    let nothing = Tensor::<E, shape![4, 6], D>::full(E::from_f64(f64::NAN));
    let (a, b): (Matrix<E, D>, Matrix<E, D>) = (filled([4, 5]), filled([5, 6]));
    vec![
        host(&x.linear_with(&weight, Some(&bias), ops::relu {})),
        host(&x.linear_with(&weight, None, ops::neg {})),
        // What a factor of 0 ignores may be NaN.
        host(&nothing.addmm(&a, &b, 0, 1)),
        host(&b.addmm(&nothing.t().matmul(&a).t(), &b.t().matmul(&b), 1, 0)),
    ]
}

macro_rules! same {
    ($run:ident: $($E:ty)*) => {$(
        assert_eq!($run::<$E, Cpu>(), $run::<$E, Cuda<0>>(), "{:?}", <$E as Element>::DTYPE);
    )*};
}

/// Writes tests of the same three groups of products over several dtypes.
macro_rules! products {
    ($($name:ident $path:literal: $($E:ty)*;)*) => {$(
        #[test]
        fn $name() {
            on_gpu!($path, {
                same!(of_every_layout: $($E)*);
                same!(of_batches: $($E)*);
                same!(with_what_is_added: $($E)*);
            });
        }
    )*};
}
products! {
    products_of_halves_are_those_of_the_host "product::products_of_halves_are_those_of_the_host": f16 bf16;
    products_of_floats_are_those_of_the_host "product::products_of_floats_are_those_of_the_host": f32 f64;
    products_of_complex_numbers_are_those_of_the_host "product::products_of_complex_numbers_are_those_of_the_host": Complex<f32> Complex<f64>;
    products_of_integers_are_those_of_the_host "product::products_of_integers_are_those_of_the_host": i8 i64;
}

#[test]
fn functions_of_products_are_those_of_the_host() {
    on_gpu!("product::functions_of_products_are_those_of_the_host", {
        same!(followed_by_a_function: f16 bf16 f32 f64);
    });
}

/// Without cublasLt the own kernel multiplies floats, too.
#[test]
fn products_without_cublas_lt_are_those_of_the_host() {
    on_gpu!("product::products_without_cublas_lt_are_those_of_the_host", ["CASTIRON_CUBLASLT" = "0"], {
        same!(of_every_layout: f32);
        same!(of_batches: bf16 Complex<f32> u8);
        same!(with_what_is_added: f16 Complex<f16> f64 i16);
        same!(followed_by_a_function: f16 f32);
    });
}

/// Tiles of every size of the own kernel, with edges.
fn large<E: Numeric, D: Device>() -> Vec<String> {
    let (a, b): (Matrix<E, D>, Matrix<E, D>) = (filled([523, 18]), filled([18, 517]));
    let (c, d): (Matrix<E, D>, Matrix<E, D>) = (filled([1030, 3]), filled([3, 1027]));
    let digest = |x: Matrix<E, D>| {
        let x = x.to_device::<Cpu>().unwrap().to_vec();
        format!("{:?}", x.iter().step_by(97).chain(&x[x.len() - 1100..]).collect::<Vec<_>>())
    };
    vec![digest(a.matmul(&b)), digest(b.t().matmul(&a.t())), digest(c.matmul(&d))]
}

/// Few long sums: of two vectors, of vectors and matrices, of batches of these, with what is added and what follows.
fn long<E: Numeric, D: Device>() -> Vec<String> {
    let (x, y): (Tensor<E, shape![_], D>, Tensor<E, shape![_], D>) = (filled([9_001]), filled([9_001]));
    let sparse: Tensor<E, shape![_], D> = filled::<E, shape![_], D>([4_100]).slice(s![..;2]);
    let (rows, columns): (Matrix<E, D>, Matrix<E, D>) = (filled([5, 1_500]), filled([1_500, 3]));
    let line: Tensor<E, shape![_], D> = filled([1_500]);
    let one: Tensor<E, shape![_], D> = filled([5]);
    let (left, right): (Batch<E, D>, Batch<E, D>) = (filled([3, 1, 1_025]), filled([3, 1_025, 1]));
    vec![
        host(&x.dot(&y)),
        host(&x.narrow(axis![0], 3, 1024).dot(x.narrow(axis![0], 700, 1024))),
        host(&sparse.dot(&sparse)),
        host(&rows.matmul(&line)),
        host(&line.matmul(&rows.t())),
        host(&line.matmul(&columns)),
        host(&one.addmv(&rows, &line, 2, 3)),
        host(&one.addmv(&rows, &line, 1, 0)),
        host(&left.matmul(&right)),
        host(&filled::<E, shape![1, 1, 1], D>([1, 1, 1]).baddbmm(&left, &right, 3, 2)),
    ]
}

#[test]
fn long_sums_are_those_of_the_host() {
    on_gpu!("product::long_sums_are_those_of_the_host", {
        same!(long: u8 i32 i64 f32 Complex<f64>);
    });
}

#[test]
fn long_sums_without_cublas_lt_are_those_of_the_host() {
    on_gpu!("product::long_sums_without_cublas_lt_are_those_of_the_host", ["CASTIRON_CUBLASLT" = "0"], {
        same!(long: f64 Complex<f32>);
    });
}

#[test]
fn large_products_are_those_of_the_host() {
    on_gpu!("product::large_products_are_those_of_the_host", ["PRETEND_ORDER" = "0"], {
        same!(large: i32 f32);
    });
}

#[test]
fn large_products_without_cublas_lt_are_those_of_the_host() {
    on_gpu!(
        "product::large_products_without_cublas_lt_are_those_of_the_host",
        ["PRETEND_ORDER" = "1", "CASTIRON_CUBLASLT" = "0"],
        {
            same!(large: bf16);
        }
    );
}
