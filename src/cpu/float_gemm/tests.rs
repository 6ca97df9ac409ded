//! Products of odd sizes in all layouts, by every kernel of the machine, compared with the definition.

use super::{Product, multiply_by, tile};
use crate::dtype::MachineFloat;

/// Integers, so that sums are exact in any order.
fn number<T: MachineFloat>(at: usize) -> T {
    T::lit(((at * 7919 + at / 13) % 7) as f64 - 3.0)
}

/// A matrix whose elements have `parts` numbers, and its row and column strides, in numbers.
struct Matrix<T> {
    numbers: Vec<T>,
    steps: [usize; 2],
    parts: usize,
}
impl<T: MachineFloat> Matrix<T> {
    /// Layouts 0 to 3: row-major, column-major with padding, neither axis contiguous, one row broadcast.
    fn new([rows, columns]: [usize; 2], layout: usize, parts: usize) -> Self {
        let steps = match layout {
            0 => [columns, 1],
            1 => [1, rows + 3],
            2 => [2 * columns + 1, 2],
            _ => [0, 1],
        };
        let len = match layout {
            0 => rows * columns,
            1 => (rows + 3) * columns,
            2 => (2 * columns + 1) * rows,
            _ => columns,
        };
        Matrix { numbers: (0..len * parts).map(number).collect(), steps: steps.map(|step| step * parts), parts }
    }

    fn at(&self, row: usize, column: usize) -> [T; 2] {
        let at = row * self.steps[0] + column * self.steps[1];
        [self.numbers[at], if self.parts == 2 { self.numbers[at + 1] } else { T::zero() }]
    }
}

/// Computes a product and compares each of its numbers; the padding after each row must stay unchanged.
fn compare<T: MachineFloat, const PARTS: usize>(
    [m, k, n]: [usize; 3],
    [left_layout, right_layout]: [usize; 2],
    (alpha, adds): (f64, bool),
    threads: usize,
) {
    let (left, right) = (Matrix::<T>::new([m, k], left_layout, PARTS), Matrix::<T>::new([k, n], right_layout, PARTS));
    let mut sums = vec![[T::zero(); 2]; m * n];
    for (at, sum) in sums.iter_mut().enumerate() {
        for term in 0..k {
            let ([a, b], [c, d]) = (left.at(at / n, term), right.at(term, at % n));
            *sum = if PARTS == 1 { [sum[0] + a * c, sum[1]] } else { [sum[0] + a * c - b * d, sum[1] + a * d + b * c] };
        }
    }
    for &kernels in tile::kernels::<T>() {
        let (untouched, there) = (T::lit(99.0), if adds { T::lit(2.0) } else { T::nan() });
        let out_step = n * PARTS + 3;
        let mut out: Vec<T> =
            (0..m * out_step).map(|at| if at % out_step < n * PARTS { there } else { untouched }).collect();
        let product = Product {
            sizes: [m, k, n],
            out: out.as_mut_ptr(),
            out_step,
            left: left.numbers.as_ptr(),
            left_steps: left.steps,
            right: right.numbers.as_ptr(),
            right_steps: right.steps,
            alpha: T::lit(alpha),
            adds,
            threads,
        };
        multiply_by::<T, PARTS>(product, kernels).unwrap();
        for (row, found) in out.chunks(out_step).enumerate() {
            for column in 0..n {
                let sum = sums[row * n + column];
                for part in 0..PARTS {
                    let expected = T::lit(alpha) * sum[part] + if adds { there } else { T::zero() };
                    assert_eq!(
                        found[column * PARTS + part],
                        expected,
                        "{m} {k} {n}, layouts {left_layout} {right_layout}, {alpha} {adds}, {PARTS} parts at {row} {column}"
                    );
                }
            }
            assert!(found[n * PARTS..].iter().all(|&number| number == untouched), "{m} {k} {n} behind row {row}");
        }
    }
}

/// Sizes around those of tiles, strips, panels and blocks.
#[test]
fn products_are_those_of_the_definition() {
    let sizes = [
        [1, 1, 1],
        [1, 9, 33],
        [2, 3, 16],
        [5, 40, 17],
        [6, 32, 31],
        [13, 33, 64],
        [14, 64, 32],
        [15, 65, 96],
        [29, 31, 47],
        [43, 70, 131],
        [60, 20, 8],
    ];
    for (at, sizes) in sizes.into_iter().enumerate() {
        for layouts in (0..4).flat_map(|left| (0..4).map(move |right| [left, right])) {
            let (alpha, adds) = [(1.0, false), (1.0, true), (3.0, false), (-2.0, true)][(at + layouts[0]) % 4];
            compare::<f32, 1>(sizes, layouts, (alpha, adds), 1 + at % 3);
            compare::<f64, 1>(sizes, layouts, (alpha, adds), 1 + at % 2);
            compare::<f32, 2>(sizes, layouts, (alpha, adds), 1 + at % 3);
            compare::<f64, 2>(sizes, layouts, (alpha, adds), 1);
        }
    }
}

/// Blocks and panels as large as those of release builds.
#[test]
#[cfg_attr(miri, ignore)]
fn products_of_many_terms_are_those_of_the_definition() {
    for layouts in [[0, 0], [0, 1], [1, 0], [2, 2]] {
        compare::<f32, 1>([30, 1030, 70], layouts, (1.0, false), 2);
        compare::<f64, 2>([17, 515, 530], layouts, (1.0, true), 3);
        compare::<f32, 1>([17, 390, 550], layouts, (3.0, true), 1);
    }
}

/// Without terms the result is zero, or unchanged if it is added to.
#[test]
fn products_without_terms_are_zero() {
    compare::<f32, 1>([3, 0, 5], [0, 0], (1.0, false), 1);
    compare::<f64, 2>([3, 0, 5], [0, 0], (1.0, true), 2);
    compare::<f32, 1>([0, 3, 5], [0, 0], (1.0, false), 1);
    compare::<f32, 1>([3, 3, 0], [0, 0], (1.0, false), 1);
}

/// Rounded sums do not depend on the number of threads or on where the right matrix is read from.
#[test]
fn sums_depend_on_the_number_of_terms_alone() {
    let [m, k, n] = [70, 130, 90];
    let noise = |at: usize| ((at.wrapping_mul(0x9e37_79b9) >> 7) % 1009) as f32 / 1009.0 - 0.4;
    let left: Vec<f32> = (0..m * k).map(noise).collect();
    let (right, turned): (Vec<f32>, Vec<f32>) =
        ((0..k * n).map(|at| noise(at + 5)).collect(), (0..k * n).map(|at| noise(at % k * n + at / k + 5)).collect());
    let product = |(right, right_steps): (&[f32], [usize; 2]), rows: usize, threads: usize| {
        let mut out = vec![0.0_f32; rows * n];
        let product = Product {
            sizes: [rows, k, n],
            out: out.as_mut_ptr(),
            out_step: n,
            left: left.as_ptr(),
            left_steps: [k, 1],
            right: right.as_ptr(),
            right_steps,
            alpha: 1.0,
            adds: false,
            threads,
        };
        multiply_by::<f32, 1>(product, tile::kernels::<f32>()[0]).unwrap();
        out.into_iter().map(f32::to_bits).collect::<Vec<_>>()
    };
    let expected = product((&right, [n, 1]), m, 1);
    for threads in [2, 3, 7] {
        assert_eq!(product((&right, [n, 1]), m, threads), expected, "{threads} threads");
    }
    assert_eq!(product((&turned, [1, k]), m, 1), expected);
    assert_eq!(product((&right, [n, 1]), 3, 1), expected[..3 * n]);
}

/// Non-finite values reach the sums they are in, and no others: padding columns are not multiplied into the result.
#[test]
fn what_is_not_finite_stays_in_its_row_and_column() {
    let (m, k, n) = (20, 40, 35);
    let (mut left, mut right) = (vec![1.0_f32; m * k], vec![1.0_f32; k * n]);
    (left[3 * k + 7], right[11 * n + 34]) = (f32::NAN, f32::INFINITY);
    let mut out = vec![0.0_f32; m * n];
    let product = Product {
        sizes: [m, k, n],
        out: out.as_mut_ptr(),
        out_step: n,
        left: left.as_ptr(),
        left_steps: [k, 1],
        right: right.as_ptr(),
        right_steps: [n, 1],
        alpha: 1.0,
        adds: false,
        threads: 1,
    };
    multiply_by::<f32, 1>(product, tile::kernels::<f32>()[0]).unwrap();
    for (at, &found) in out.iter().enumerate() {
        match (at / n, at % n) {
            (3, _) => assert!(found.is_nan()),
            (_, 34) => assert_eq!(found, f32::INFINITY),
            _ => assert_eq!(found, 40.0),
        }
    }
}
