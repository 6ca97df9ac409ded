use super::{Weight, convolve_by, pack_by, tile};
use crate::dtype::{Castable, Dtype, bf16};
use crate::layout::strides::row_major;
use crate::ops::window::{Convolution, Window};
use crate::storage::{HostBuffer, View};

/// Small whole numbers, so that sums are exact in any order.
fn numbers<E: Castable>(len: usize, from: usize) -> Vec<E> {
    (0..len).map(|at| E::from_i32((((at + from) * 7919) % 7) as i32 - 3)).collect()
}

/// The strides of a tensor whose channels are last.
fn channels_last(sizes: &[usize]) -> Vec<usize> {
    let [_, c, d, h, w] = [sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]];
    vec![c * d * h * w, 1, c * h * w, c * w, c]
}

/// The strides of weights whose output channels are neighbours in memory.
fn output_channels_last(sizes: &[usize]) -> Vec<usize> {
    let [o, c, _, h, w] = [sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]];
    vec![1, o, o * c * h * w, o * c * w, o * c]
}

/// Row-major elements, rearranged to these strides.
fn laid_out<E: Copy>(elements: &[E], sizes: &[usize], strides: &[usize]) -> Vec<E> {
    let mut list = elements.to_vec();
    for (at, &element) in elements.iter().enumerate() {
        let (mut rest, mut place) = (at, 0);
        for (size, stride) in sizes.iter().zip(strides).rev() {
            place += rest % size * stride;
            rest /= size;
        }
        list[place] = element;
    }
    list
}

/// The definition, in plain loops.
fn naive(
    convolution: &Convolution,
    x: &[f64],
    x_sizes: &[usize],
    w: &[f64],
    w_sizes: &[usize],
    sizes: &[usize],
) -> Vec<f64> {
    let steps = (row_major(x_sizes), row_major(w_sizes));
    let (channels, per_group) = (w_sizes[1], sizes[1] / convolution.groups);
    let mut out = vec![];
    for at in 0..sizes.iter().product::<usize>() {
        let mut rest = at;
        let mut place = [0; 5];
        for axis in (0..5).rev() {
            place[axis] = rest % sizes[axis];
            rest /= sizes[axis];
        }
        // The initial value: the bias, which is the channel's index.
        let mut sum = place[1] as f64;
        for term in 0..w_sizes[1..].iter().product::<usize>() {
            let mut rest = term;
            let mut of = [0; 4];
            for axis in (0..4).rev() {
                of[axis] = rest % w_sizes[axis + 1];
                rest /= w_sizes[axis + 1];
            }
            let mut from = place[0] * steps.0[0] + (place[1] / per_group * channels + of[0]) * steps.0[1];
            let mut inside = true;
            for axis in 0..3 {
                let window = convolution.windows[axis];
                let position = place[axis + 2] * window.stride + of[axis + 1] * window.dilation;
                inside &= position >= window.before && position - window.before < x_sizes[axis + 2];
                from = from.wrapping_add(position.wrapping_sub(window.before).wrapping_mul(steps.0[axis + 2]));
            }
            if inside {
                let to: usize = place[1] * steps.1[0] + (0..4).map(|axis| of[axis] * steps.1[axis + 1]).sum::<usize>();
                sum += x[from] * w[to];
            }
        }
        out.push(sum);
    }
    out
}

const fn window(kernel: usize, stride: usize, before: usize, after: usize, dilation: usize) -> Window {
    Window { kernel, stride, dilation, before, after }
}

/// A convolution, its operands in row-major order, and its result by the definition.
struct Kind {
    convolution: Convolution,
    x_sizes: [usize; 5],
    w_sizes: [usize; 5],
    sizes: [usize; 5],
    x: Vec<f64>,
    w: Vec<f64>,
    expected: Vec<f64>,
}

/// Convolutions of all kinds: groups, the operand's sizes, output channels, windows.
fn kinds() -> impl Iterator<Item = Kind> {
    let point = Window::POINT;
    let kinds = [
        (1, [2, 3, 1, 9, 8], 5, [point, window(3, 1, 1, 1, 1), window(3, 1, 1, 1, 1)]),
        (1, [1, 3, 1, 12, 13], 40, [point, window(5, 2, 2, 2, 1), window(4, 2, 1, 2, 1)]),
        (1, [1, 4, 3, 5, 6], 7, [window(2, 1, 1, 0, 1), window(3, 2, 0, 2, 1), window(2, 1, 0, 0, 3)]),
        (1, [3, 6, 1, 5, 7], 33, [point, point, point]),
        (1, [2, 6, 1, 5, 7], 3, [point, window(1, 2, 0, 0, 1), window(1, 3, 0, 0, 1)]),
        (2, [1, 6, 1, 7, 30], 4, [point, window(3, 1, 1, 1, 2), window(3, 1, 2, 2, 2)]),
        (9, [2, 9, 1, 6, 5], 9, [point, window(3, 1, 1, 1, 1), window(3, 2, 1, 1, 1)]),
        (70, [1, 70, 2, 3, 4], 70, [window(2, 1, 0, 1, 1), window(1, 1, 0, 0, 1), window(3, 1, 1, 1, 1)]),
        (2, [2, 4, 1, 5, 6], 6, [point, window(2, 1, 1, 0, 1), window(3, 2, 0, 0, 1)]),
        (3, [1, 3, 1, 4, 4], 6, [point, window(2, 1, 0, 0, 1), window(2, 1, 0, 0, 1)]),
        (1, [1, 2, 1, 1, 300], 2, [point, point, window(4, 1, 3, 0, 1)]),
        (1, [1, 3, 2, 5, 17], 64, [window(2, 1, 0, 0, 1), window(3, 1, 1, 1, 1), window(2, 1, 0, 1, 1)]),
        (1, [2, 0, 1, 4, 4], 3, [point, window(3, 1, 1, 1, 1), window(3, 1, 1, 1, 1)]),
        (2, [1, 38, 1, 4, 3], 64, [point, window(2, 1, 0, 0, 1), window(3, 1, 1, 1, 1)]),
        // Winograd's algorithm, if there are enough channels.
        (1, [2, 17, 1, 7, 6], 20, [point, window(3, 1, 1, 1, 1), window(3, 1, 1, 1, 1)]),
        (1, [1, 17, 1, 4, 33], 33, [point, window(3, 1, 0, 0, 1), window(3, 1, 2, 5, 1)]),
        (1, [3, 70, 1, 3, 7], 16, [point, window(3, 1, 1, 0, 1), window(3, 1, 0, 2, 1)]),
        (1, [1, 16, 2, 3, 5], 16, [point, window(3, 1, 1, 1, 1), window(3, 1, 1, 1, 1)]),
        (1, [1, 16, 1, 0, 5], 16, [point, window(3, 1, 2, 2, 1), window(3, 1, 1, 1, 1)]),
        (1, [1, 16, 1, 40, 2], 18, [point, window(3, 1, 1, 1, 1), window(3, 1, 1, 1, 1)]),
        (1, [2, 17, 1, 9, 12], 20, [point, window(3, 2, 1, 1, 1), window(3, 2, 1, 1, 1)]),
        (1, [1, 33, 1, 25, 29], 32, [point, window(3, 2, 0, 0, 1), window(3, 2, 2, 5, 1)]),
        (1, [2, 40, 1, 4, 11], 19, [point, window(3, 2, 1, 0, 1), window(3, 2, 0, 2, 1)]),
        // (Not these: strides that neither algorithm supports.)
        (1, [1, 16, 1, 9, 9], 16, [point, window(3, 1, 1, 1, 1), window(3, 2, 1, 1, 1)]),
        (1, [1, 16, 1, 9, 12], 16, [point, window(3, 3, 1, 1, 1), window(3, 3, 1, 1, 1)]),
        // The algorithm with fewer products along rows; the first one in release builds, too.
        (1, [2, 3, 1, 9, 33], 33, [point, window(7, 2, 3, 3, 1), window(7, 2, 3, 3, 1)]),
        (1, [1, 4, 3, 5, 40], 5, [window(2, 2, 1, 1, 2), window(3, 3, 1, 2, 1), window(7, 2, 0, 4, 1)]),
        // (Not these: rows of the input are in no window, or windows have too many rows.)
        (1, [1, 4, 1, 5, 40], 5, [point, window(3, 1, 0, 2, 2), window(7, 2, 0, 4, 1)]),
        (1, [1, 1, 1, 9, 9], 3, [point, window(2, 4, 0, 0, 1), window(7, 2, 1, 1, 1)]),
        (1, [1, 1, 1, 260, 7], 2, [point, window(257, 1, 0, 0, 1), window(7, 2, 1, 1, 1)]),
        (1, [3, 1, 1, 1, 30], 16, [point, point, window(7, 2, 3, 2, 1)]),
        (1, [1, 2, 1, 12, 7], 2, [point, window(5, 3, 2, 1, 1), window(7, 2, 0, 0, 1)]),
    ];
    kinds.into_iter().map(|(groups, x_sizes, outputs, windows)| {
        let convolution = Convolution { windows, groups };
        let w_sizes = [outputs, x_sizes[1] / groups, windows[0].kernel, windows[1].kernel, windows[2].kernel];
        let mut sizes = [x_sizes[0], outputs, 0, 0, 0];
        (0..3).for_each(|axis| sizes[axis + 2] = windows[axis].places(x_sizes[axis + 2]).unwrap());
        let x = numbers::<f64>(x_sizes.iter().product(), 0);
        // Multiples of six, because the algorithms divide weights by two and by six exactly.
        let w: Vec<f64> = numbers::<f64>(w_sizes.iter().product(), 3).into_iter().map(|w| 6.0 * w).collect();
        let expected = naive(&convolution, &x, &x_sizes, &w, &w_sizes, &sizes);
        Kind { convolution, x_sizes, w_sizes, sizes, x, w, expected }
    })
}

/// Checks a convolution for a dtype with all kernels of the machine, in both layouts of each operand and of the result.
fn check<E: Dtype + Castable>(kind: &Kind) {
    let Kind { convolution, x_sizes, w_sizes, sizes, .. } = kind;
    let rounded = |list: &[f64]| -> Vec<E> { list.iter().map(|x| x.cast::<E>()).collect() };
    let (x, w) = (rounded(&kind.x), rounded(&kind.w));
    let expected: Vec<f64> = rounded(&kind.expected).into_iter().map(|x| x.cast::<f64>()).collect();
    let bias = HostBuffer::from_vec((0..sizes[1]).map(|at| E::from_i32(at as i32)).collect()).unwrap();
    // Channels last: in the operand, in the result; output channels last in weights.
    for last in
        [[false, false, false], [true, true, false], [true, false, true], [false, true, true], [true, true, true]]
    {
        let strides = |sizes: &[usize], last: bool| if last { channels_last(sizes) } else { row_major(sizes) };
        let (x_strides, own) = (strides(x_sizes, last[0]), strides(sizes, last[1]));
        let w_strides = if last[2] { output_channels_last(w_sizes) } else { row_major(w_sizes) };
        let x = HostBuffer::from_vec(laid_out(&x, x_sizes, &x_strides)).unwrap();
        let w = HostBuffer::from_vec(laid_out(&w, w_sizes, &w_strides)).unwrap();
        let x = View::new(&x, 0, x_sizes, &x_strides);
        let w = View::new(&w, 0, w_sizes, &w_strides);
        let bias = View::new(&bias, 0, &sizes[1..2], &[1]);
        for &kernels in tile::kernels::<E::Compute>() {
            let packed = pack_by(kernels, w, convolution.groups).unwrap();
            for weight in [Weight::Tensor(w), Weight::Packed { buffer: &packed, sizes: w_sizes }] {
                let result = [&sizes[..], &own];
                let out = convolve_by::<E>(kernels, convolution, x, weight, Some(bias), result, None).unwrap();
                let found = crate::cpu::read::download(View::<_, E>::new(&out, 0, sizes, &own)).unwrap();
                let found: Vec<f64> = found.into_iter().map(|x| x.cast::<f64>()).collect();
                assert_eq!(found, expected, "{x_sizes:?} {w_sizes:?} {convolution:?} {last:?}");
            }
        }
    }
}

#[test]
fn sums_are_those_of_the_definition_in_every_layout_and_by_every_kernel() {
    for kind in kinds() {
        check::<f32>(&kind);
        check::<f64>(&kind);
        check::<bf16>(&kind);
    }
}

/// A convolution of one image with a fast algorithm.
struct Fewer {
    windows: [Window; 3],
    x_sizes: [usize; 5],
    w_sizes: [usize; 5],
    sizes: [usize; 5],
}
const FEWER: [Fewer; 3] = [
    Fewer {
        windows: [Window::POINT, window(3, 1, 1, 1, 1), window(3, 1, 1, 1, 1)],
        x_sizes: [1, 16, 1, 5, 7],
        w_sizes: [17, 16, 1, 3, 3],
        sizes: [1, 17, 1, 5, 7],
    },
    Fewer {
        windows: [Window::POINT, window(3, 2, 1, 1, 1), window(3, 2, 1, 1, 1)],
        x_sizes: [1, 16, 1, 9, 10],
        w_sizes: [17, 16, 1, 3, 3],
        sizes: [1, 17, 1, 5, 5],
    },
    Fewer {
        windows: [Window::POINT, window(7, 2, 3, 3, 1), window(7, 2, 3, 3, 1)],
        x_sizes: [1, 3, 1, 9, 15],
        w_sizes: [17, 3, 1, 7, 7],
        sizes: [1, 17, 1, 5, 8],
    },
];
impl Fewer {
    fn lens(&self) -> [usize; 2] {
        [self.x_sizes.iter().product(), self.w_sizes.iter().product()]
    }

    /// The results by the definition, and by each kernel of the machine.
    fn results(&self, x: Vec<f32>, w: Vec<f32>) -> (Vec<f64>, Vec<Vec<f32>>) {
        let &Fewer { windows, x_sizes, w_sizes, sizes } = self;
        let convolution = Convolution { windows, groups: 1 };
        let doubles = |list: &[f32]| -> Vec<f64> { list.iter().map(|&x| x.into()).collect() };
        let expected = naive(&convolution, &doubles(&x), &x_sizes, &doubles(&w), &w_sizes, &sizes);
        let bias: Vec<f32> = (0..sizes[1]).map(|at| at as f32).collect();
        let storages = [x, w, bias].map(|list| HostBuffer::from_vec(list).unwrap());
        let strides = [&x_sizes[..], &w_sizes, &sizes].map(row_major);
        let x = View::<_, f32>::new(&storages[0], 0, &x_sizes, &strides[0]);
        let w = View::new(&storages[1], 0, &w_sizes, &strides[1]);
        let bias = View::new(&storages[2], 0, &sizes[1..2], &[1]);
        let found = tile::kernels::<f32>().iter().map(|&kernels| {
            let result = [&sizes[..], &strides[2]];
            let out = convolve_by(kernels, &convolution, x, Weight::Tensor(w), Some(bias), result, None).unwrap();
            crate::cpu::read::download(View::<_, f32>::new(&out, 0, &sizes, &strides[2])).unwrap()
        });
        (expected, found.collect())
    }
}

/// A non-finite number reaches the results whose windows contain it, unchanged, and no others; so does one whose sums overflow.
#[test]
fn numbers_that_are_not_finite_stay_in_their_windows() {
    for case in FEWER {
        let [len, weights] = case.lens();
        // (No weight is zero; all are exactly divisible by two and by six.)
        let w: Vec<f32> = (0..weights).map(|at| (6 * (1 + at % 3)) as f32 / 128.0).collect();
        for special in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
            for at in [0, 9, 16, len / 4, len - 1] {
                let mut x = numbers::<f32>(len, 0);
                x[at] = special;
                let (expected, found) = case.results(x, w.clone());
                for (at, found) in found.iter().flat_map(|list| list.iter().enumerate()) {
                    let (found, expected) = (f64::from(*found), expected[at]);
                    let is_same = found == expected || found.is_nan() && expected.is_nan();
                    let is_near = (found - expected).abs() <= 1e-6 * expected.abs();
                    assert!(is_same || is_near, "{special} at {at}: {found}, not {expected}");
                }
            }
        }
    }
}

/// The error is within the bound of a direct convolution, per result: other windows' numbers do not affect it.
#[test]
fn errors_are_in_proportion_to_the_products_of_a_window() {
    for case in FEWER {
        let [len, weights] = case.lens();
        // Numbers of very different magnitudes next to each other.
        let number = |at: usize| ((at * 7919) % 997) as f32 / 331.0 - 1.5;
        let x: Vec<f32> = (0..len).map(|at| number(at) * 10_f32.powi((at * 31 % 13) as i32 - 6)).collect();
        let w: Vec<f32> = (0..weights).map(|at| number(at + 5)).collect();
        let absolute = |list: &[f32]| list.iter().map(|x| x.abs()).collect();
        let (sizes, _) = case.results(absolute(&x), absolute(&w));
        let (expected, found) = case.results(x, w);
        let products = case.w_sizes[1..].iter().product::<usize>() as f64;
        for (at, found) in found.iter().flat_map(|list| list.iter().enumerate()) {
            let error = (f64::from(*found) - expected[at]).abs() / sizes[at];
            assert!(error <= products * f64::from(f32::EPSILON), "at {at}: {error:e}");
        }
    }
}

/// Dtypes without a kernel are convolved by products of patches; here both are compared.
#[test]
fn products_of_patches_give_the_same_sums() {
    use crate::device::{Backend, Cpu};
    let convolution = Convolution { windows: [Window::POINT, window(3, 2, 1, 1, 1), window(2, 1, 0, 1, 2)], groups: 2 };
    let (x_sizes, w_sizes, sizes) = ([5, 4, 1, 9, 8], [6, 2, 1, 3, 2], [5, 6, 1, 5, 7]);
    let (x, w) = (numbers::<i64>(5 * 4 * 72, 0), numbers::<i64>(72, 3));
    let bias: Vec<i64> = (0..6).collect();
    let storages = [&x, &w, &bias].map(|list| HostBuffer::from_vec(list.clone()).unwrap());
    let doubles = |list: &[i64]| -> Vec<f64> { list.iter().map(|&x| x as f64).collect() };
    let expected = naive(&convolution, &doubles(&x), &x_sizes, &doubles(&w), &w_sizes, &sizes);
    for own in [row_major(&sizes), channels_last(&sizes)] {
        let (x_strides, w_strides) = (row_major(&x_sizes), row_major(&w_sizes));
        let x = View::<_, i64>::new(&storages[0], 0, &x_sizes, &x_strides);
        let w = View::new(&storages[1], 0, &w_sizes, &w_strides);
        let bias = View::new(&storages[2], 0, &sizes[1..2], &[1]);
        let out = Cpu::convolve(&convolution, x, w, Some(bias), &sizes, &own).unwrap();
        let found = crate::cpu::read::download(View::<_, i64>::new(&out, 0, &sizes, &own)).unwrap();
        assert_eq!(doubles(&found), expected);
    }
}
