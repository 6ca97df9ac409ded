//! The gradient of the weight of a convolution, channels last: the gradients of the places times the patches that the windows saw, which are
//! packed from the elements themselves.

use crate::cpu::float_gemm::{self, Gathered};
use crate::cpu::gemm::Product;
use crate::cpu::threads;
use crate::dtype::{Element, MachineFloat};
use crate::error::{Result, collected};
use crate::ops::window::Window;
use crate::storage::HostBuffer;

/// Elements `(N, D, H, W, C)` with their padding, and gradients `(N, places, O)`.
#[derive(Clone, Copy)]
pub(crate) struct Patches<'a, T> {
    pub(crate) x: &'a [T],
    pub(crate) g: &'a [T],
    pub(crate) windows: [Window; 3],
    pub(crate) images: usize,
    pub(crate) sizes: [usize; 3],
    pub(crate) places: [usize; 3],
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

/// The positions of three axes, in order, as distances between elements that are `step` positions of their axis apart.
fn distances(counts: [usize; 3], steps: [usize; 3], sizes: [usize; 3]) -> impl Iterator<Item = usize> {
    let [_, height, width] = sizes;
    let all = counts.iter().product();
    (0..all).map(move |at| {
        let [d, h, w] = [at / counts[2] / counts[1], at / counts[2] % counts[1], at % counts[2]];
        (d * steps[0] * height + h * steps[1]) * width + w * steps[2]
    })
}

/// The gradient as `(O, positions, C)`; `None` where the elements of a position do not fill whole strips.
pub(crate) fn weight<T: MachineFloat + Element>(of: Patches<'_, T>) -> Result<Option<HostBuffer>> {
    let Patches { x, g, windows, images, sizes, places, inputs, outputs } = of;
    let wide = float_gemm::strip::<T>();
    let kernel = windows.map(|window| window.kernel);
    let (positions, image): (usize, usize) = (kernel.iter().product(), sizes.iter().product());
    let (rows, width) = (g.len() / outputs.max(1), positions * inputs);
    // The loop reads without looking: the last window of each axis ends within the padding.
    let fits = (0..3).all(|axis| {
        let Window { kernel, stride, dilation, .. } = windows[axis];
        let last = places[axis].checked_sub(1).and_then(|last| last.checked_mul(stride));
        let far = kernel.checked_sub(1).and_then(|far| far.checked_mul(dilation));
        last.zip(far).and_then(|(last, far)| last.checked_add(far)).is_some_and(|end| end < sizes[axis])
    });
    if !fits
        || !inputs.is_multiple_of(wide)
        || rows == 0
        || x.len() != images * image * inputs
        || rows != images * places.iter().product::<usize>()
    {
        return Ok(None);
    }
    let of_places = collected(distances(places, windows.map(|window| window.stride), sizes).map(Ok))?;
    let of_positions = collected(distances(kernel, windows.map(|window| window.dilation), sizes).map(Ok))?;
    let all_rows = (0..images).flat_map(|at| of_places.iter().map(move |place| (at * image + place) * inputs));
    let rows_at: Vec<usize> = collected(all_rows.map(Ok))?;
    let strips = of_positions.iter().flat_map(|at| (0..inputs).step_by(wide).map(move |channel| at * inputs + channel));
    let strips: Vec<usize> = collected(strips.map(Ok))?;
    let time = outputs.saturating_mul(rows).saturating_mul(width) / 32;
    let fill = |out: *mut T| {
        let product = Product {
            sizes: [outputs, rows, width],
            out,
            out_step: width,
            left: g.as_ptr(),
            left_steps: [1, outputs],
            right: x.as_ptr(),
            right_steps: [0, 1],
            alpha: T::one(),
            adds: false,
            threads: threads::pieces(time),
        };
        float_gemm::multiply_gathered(product, Gathered { rows: &rows_at, strips: &strips })
    };
    // SAFETY: a product writes all elements of its result.
    unsafe { HostBuffer::filled_by(outputs * width, fill) }.map(Some)
}

#[cfg(test)]
mod tests {
    use super::{Patches, weight};
    use crate::cpu::float_gemm;
    use crate::dtype::{Element, MachineFloat};
    use crate::ops::window::Window;

    /// Sums of products by the definition, of whole numbers, so that they are exact.
    fn compare<T: MachineFloat + Element>(kernel: [usize; 3], stride: [usize; 3], dilation: [usize; 3], strips: usize) {
        let (images, outputs, inputs) = (2, 5, strips * float_gemm::strip::<T>());
        let places = [1, 3, 2];
        let windows: [Window; 3] = core::array::from_fn(|axis| Window {
            kernel: kernel[axis],
            stride: stride[axis],
            dilation: dilation[axis],
            before: 0,
            after: 0,
        });
        let needed = |axis: usize| (places[axis] - 1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] + 1;
        // (With an element at the end that no window sees.)
        let sizes = [needed(0), needed(1), needed(2) + 1];
        let number = |at: usize| T::lit(((at * 7919 + at / 13) % 7) as f64 - 3.0);
        let x: Vec<T> = (0..images * sizes.iter().product::<usize>() * inputs).map(number).collect();
        let rows = images * places.iter().product::<usize>();
        let g: Vec<T> = (0..rows * outputs).map(|at| number(at + 5)).collect();
        let given = weight(Patches { x: &x, g: &g, windows, images, sizes, places, inputs, outputs }).unwrap().unwrap();
        let positions: usize = kernel.iter().product();
        // SAFETY: the result has these elements.
        let given = unsafe { core::slice::from_raw_parts(given.start::<T>(), outputs * positions * inputs) };
        for (at, &found) in given.iter().enumerate() {
            let (output, position, input) = (at / inputs / positions, at / inputs % positions, at % inputs);
            let tap = [position / kernel[2] / kernel[1], position / kernel[2] % kernel[1], position % kernel[2]];
            let sum = (0..rows).fold(T::zero(), |sum, row| {
                let (image, place) = (row / 6, [0, row % 6 / 2, row % 2]);
                let [d, h, w]: [usize; 3] =
                    core::array::from_fn(|axis| place[axis] * stride[axis] + tap[axis] * dilation[axis]);
                let element = ((image * sizes[0] + d) * sizes[1] + h) * sizes[2] + w;
                sum + g[row * outputs + output] * x[element * inputs + input]
            });
            assert!(found == sum, "{at} of {kernel:?} {stride:?} {dilation:?}: {found:?}, expected {sum:?}");
        }
    }

    #[test]
    fn gradients_of_weights_are_sums_over_the_windows() {
        compare::<f32>([1, 3, 3], [1, 1, 1], [1, 1, 1], 2);
        compare::<f32>([2, 1, 2], [1, 2, 3], [3, 1, 2], 1);
        compare::<f64>([1, 3, 2], [1, 2, 1], [1, 1, 2], 3);
    }

    #[test]
    fn channels_that_fill_no_strip_are_left_to_others() {
        let windows = [Window { kernel: 1, stride: 1, dilation: 1, before: 0, after: 0 }; 3];
        let (sizes, places) = ([1; 3], [1; 3]);
        let of = Patches { x: &[1.0_f32; 3], g: &[1.0; 2], windows, images: 1, sizes, places, inputs: 3, outputs: 2 };
        assert!(weight(of).unwrap().is_none());
    }

    #[test]
    fn windows_that_reach_beyond_the_elements_are_not_read() {
        let inputs = float_gemm::strip::<f32>();
        for (kernel, stride, dilation) in [(3, 1, 1), (2, usize::MAX, 1), (2, 1, usize::MAX), (1, 2, 1)] {
            let windows = [Window { kernel: 1, stride: 1, dilation: 1, before: 0, after: 0 }; 3];
            let windows = [windows[0], windows[1], Window { kernel, stride, dilation, ..windows[2] }];
            let (sizes, places, x) = ([1, 1, 2], [1, 1, 2], vec![1.0_f32; 2 * inputs]);
            let of = Patches { x: &x, g: &[1.0; 2], windows, images: 1, sizes, places, inputs, outputs: 1 };
            assert!(weight(of).unwrap().is_none());
        }
    }
}
