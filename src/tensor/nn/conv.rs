//! Convolutions over one, two and three axes, and their transposes.
//!
//! Source: `torch.nn.functional.conv2d` and so on; `aten/src/ATen/native/Convolution.cpp`.

use crate::composite::nn::pool::Kernel;
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, room};
use crate::layout::memory_format::MemoryFormat;
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::InexactFor;
use crate::ops::kernel::{Applying, Copying};
use crate::ops::segment::Segment;
use crate::ops::window::{Convolution, Window};
use crate::shape::{Conv, Convolved, Dim, EachAxis, Known, Moves, Product, Shape, SizeArray, Transposed, numel};
use crate::storage::View;
use crate::tensor::{Activation, Optional, SameDevice, SameDtype, Tensor, checked_numel, expect_fit};
use castiron_macros::fallible;

/// A new result's storage, sizes and strides.
pub(crate) type Laid<S> = (S, Vec<usize>, Vec<usize>);

/// The operands of a convolution.
pub(crate) struct Operands<'a, B, E> {
    pub(crate) op: &'static str,
    pub(crate) x: View<'a, B, E>,
    pub(crate) weight: View<'a, B, E>,
    pub(crate) bias: Option<View<'a, B, E>>,
}

fn invalid<T>(op: &'static str, reason: String) -> Result<T> {
    Err(Error::InvalidArgument { op, reason })
}

/// Checks that memory can hold elements of these sizes, before lists as long as an axis are allocated. (On a device without data nothing is
/// allocated.)
pub(crate) fn expect_room<E: Element, D: Device>(beside: &D::Storage, sizes: &[usize]) -> Result<()> {
    if D::has_data(beside) {
        room::<E>(numel(sizes).unwrap_or(usize::MAX))?;
    }
    Ok(())
}

/// Whether there is a batch axis; checks the rank.
fn batched<B>(op: &'static str, x: &[usize], axes: usize, from: B) -> Result<(bool, B)> {
    match x.len().checked_sub(axes) {
        Some(1) => Ok((false, from)),
        Some(2) => Ok((true, from)),
        _ => invalid(op, format!("expected {} axes, or {} with a batch, got shape {x:?}", axes + 1, axes + 2)),
    }
}

/// Sizes and strides with axes of size 1 inserted before those of the window, so that there are three of these.
pub(crate) fn five_axes(sizes: &[usize], strides: &[usize], is_batched: bool) -> [[usize; 5]; 2] {
    let (mut of, mut steps) = ([1; 5], [0; 5]);
    let (lead, skip) = if is_batched { (2, 0) } else { (1, 1) };
    let behind = sizes.len() - lead;
    for at in 0..lead {
        (of[skip + at], steps[skip + at]) = (sizes[at], strides[at]);
    }
    for at in 0..behind {
        (of[5 - behind + at], steps[5 - behind + at]) = (sizes[lead + at], strides[lead + at]);
    }
    [of, steps]
}

/// One to three windows extended to three, and `groups`.
fn convolution(windows: &[Window], groups: usize) -> Convolution {
    let mut three = [Window::POINT; 3];
    three[3 - windows.len()..].copy_from_slice(windows);
    Convolution { windows: three, groups }
}

/// The axes of a copied operand as segments, and the sizes of the copy.
type Copied = Option<(Vec<Vec<Segment>>, [usize; 5])>;

/// Reduces strides, dilations and padding to those that matter for the sizes. If windows read few positions of an axis, it is copied with
/// the windows [side by side](Window::side_by_side).
#[inline]
fn side_by_side(
    convolution: &mut Convolution,
    x_sizes: &[usize; 5],
    out_sizes: &[usize; 5],
    has_data: bool,
) -> Result<Copied> {
    let mut laid: Copied = None;
    if out_sizes.contains(&0) {
        return Ok(None);
    }
    for (at, window) in convolution.windows.iter_mut().enumerate() {
        let (len, places) = (x_sizes[at + 2], out_sizes[at + 2]);
        *window = window.reduced(len, places);
        if let Some(copy) = window.axis_side_by_side(len, places, has_data)? {
            let (axes, sizes) = laid
                .get_or_insert_with(|| (x_sizes.iter().map(|&size| vec![Segment::whole(size)]).collect(), *x_sizes));
            (axes[at + 2], sizes[at + 2], *window) = (copy.parts, copy.len, copy.window);
        }
    }
    if let Some((_, sizes)) = &laid
        && numel(sizes).is_none()
    {
        return Err(Error::TooLarge { op: "convolution", sizes: sizes[..].into() });
    }
    Ok(laid)
}

/// Checks the operands of a convolution and calls `run` with the operands extended to five axes, and the result's sizes and strides.
pub(crate) fn convolve<E: Dtype, D: Device>(
    Operands { op, x, weight, bias }: Operands<'_, D::Storage, E>,
    windows: &[Window],
    groups: usize,
    run: impl FnOnce(
        &Convolution,
        [View<'_, D::Storage, E>; 2],
        Option<View<'_, D::Storage, E>>,
        [&[usize]; 2],
    ) -> Result<D::Storage>,
) -> Result<Laid<D::Storage>> {
    let axes = windows.len();
    let (is_batched, ()) = batched(op, x.sizes, axes, ())?;
    if weight.sizes.len() != axes + 2 {
        return invalid(op, format!("a weight of {} axes is wanted, got shape {:?}", axes + 2, weight.sizes));
    }
    let lead = usize::from(is_batched);
    let (channels, outputs) = (x.sizes[lead], weight.sizes[0]);
    if groups == 0 || outputs % groups != 0 {
        return invalid(op, format!("{outputs} output channels can't be divided into {groups} groups"));
    }
    if weight.sizes[1].checked_mul(groups) != Some(channels) {
        let reason = format!(
            "the input has {channels} channels, the weight takes {} in each group, of which there are {groups}",
            weight.sizes[1]
        );
        return invalid(op, reason);
    }
    if weight.sizes.contains(&0) && weight.sizes[1] != 0 {
        return invalid(op, format!("a weight of shape {:?} has no elements", weight.sizes));
    }
    if let Some(bias) = bias
        && bias.sizes != [outputs]
    {
        return Err(Error::Shape { op, expected: format!("[{outputs}]"), found: bias.sizes.into() });
    }
    let mut sizes = x.sizes.to_vec();
    sizes[lead] = outputs;
    for (at, window) in windows.iter().enumerate() {
        sizes[lead + 1 + at] = window.expect_places(op, x.sizes[lead + 1 + at])?;
    }
    checked_numel::<E>(op, &sizes)?;
    // The result is channels-last if one of the operands is.
    let suggested = |view: &View<'_, D::Storage, E>| MemoryFormat::suggested(view.sizes, view.strides);
    let format = [suggested(&x), suggested(&weight)].into_iter().find(|&format| format != MemoryFormat::CONTIGUOUS);
    let row_major = strides::row_major(&sizes);
    let own = match format {
        Some(format) if is_batched => format.copied(op, &sizes, &row_major)?,
        _ => row_major,
    };
    let [x_sizes, x_strides] = five_axes(x.sizes, x.strides, is_batched);
    let [w_sizes, w_strides] = five_axes(weight.sizes, weight.strides, true);
    let [out_sizes, mut out_strides] = five_axes(&sizes, &own, is_batched);
    // An axis of size 1 that was added gets the stride that makes the result dense.
    let len = sizes.iter().product();
    for at in 0..5 {
        if out_sizes[at] == 1 {
            out_strides[at] = len;
        }
    }
    let x = x.restrided(&x_sizes, &x_strides);
    let weight = weight.restrided(&w_sizes, &w_strides);
    let mut convolution = convolution(windows, groups);
    let laid = side_by_side(&mut convolution, &x_sizes, &out_sizes, D::has_data(x.buffer))?;
    let picked = match &laid {
        Some((axes, sizes)) => Some((D::pick::<E>(x, axes, E::default())?, sizes, strides::row_major(sizes))),
        None => None,
    };
    let x = match &picked {
        Some((storage, sizes, strides)) => View::new(storage, 0, *sizes, strides),
        None => x,
    };
    let storage = run(&convolution, [x, weight], bias, [&out_sizes, &out_strides])?;
    Ok((storage, sizes, own))
}

/// [`convolve`] by the device's own loop.
pub(crate) fn plain<E: Dtype, D: Device>(
    operands: Operands<'_, D::Storage, E>,
    windows: &[Window],
    groups: usize,
) -> Result<Laid<D::Storage>> {
    convolve::<E, D>(operands, windows, groups, |convolution, [x, weight], bias, [sizes, strides]| {
        D::convolve::<E>(convolution, x, weight, bias, sizes, strides)
    })
}

/// The segments of an axis whose positions are spread at a distance of `stride`, with zeros between, before and after them: positions `low`
/// to `high`.
fn spread(size: usize, stride: usize, low: i128, high: i128) -> Vec<Segment> {
    let mut list: Vec<Segment> = vec![];
    let (stride, last) = (stride as i128, (size as i128 - 1) * stride as i128);
    let mut at = low;
    while at < high {
        let next = match list.last_mut() {
            _ if at < 0 => Segment::Fill { len: (high.min(0) - at) as usize },
            _ if at > last => Segment::Fill { len: (high - at) as usize },
            _ if at % stride != 0 => Segment::Fill { len: (high.min(at + stride - at % stride) - at) as usize },
            // Consecutive positions are one segment.
            Some(Segment::Forward { len, .. }) => {
                *len += 1;
                at += 1;
                continue;
            }
            _ => Segment::Forward { start: (at / stride) as usize, len: 1 },
        };
        at += next.positions().unwrap_or(1) as i128;
        list.push(next);
    }
    list
}

/// The index of the element at a position, where elements are spread at a distance of `stride`; `None` for a zero.
fn spread_at(size: usize, stride: usize, at: i128) -> Option<usize> {
    let at = usize::try_from(at).ok()?;
    (at % stride == 0 && at / stride < size).then_some(at / stride)
}

/// The transposed convolution: the gradient of a convolution with respect to its input. It is computed as a convolution of the operand with
/// zeros between its positions, by the flipped kernel.
pub(crate) fn transposed<E: Dtype, D: Device>(
    Operands { op, x, weight, bias }: Operands<'_, D::Storage, E>,
    windows: &[Window],
    output_padding: &[usize],
    groups: usize,
) -> Result<Laid<D::Storage>> {
    let axes = windows.len();
    let (is_batched, ()) = batched(op, x.sizes, axes, ())?;
    if weight.sizes.len() != axes + 2 {
        return invalid(op, format!("a weight of {} axes is wanted, got shape {:?}", axes + 2, weight.sizes));
    }
    let lead = usize::from(is_batched);
    let channels = x.sizes[lead];
    if weight.sizes[0] != channels {
        return invalid(op, format!("the input has {channels} channels, the weight takes {}", weight.sizes[0]));
    }
    if groups == 0 || channels % groups != 0 {
        return invalid(op, format!("{channels} channels can't be divided into {groups} groups"));
    }
    let too_large = || Error::TooLarge { op, sizes: x.sizes.into() };
    let mut list: Vec<Vec<Segment>> = x.sizes.iter().map(|&size| vec![Segment::whole(size)]).collect();
    let mut sizes = x.sizes.to_vec();
    let mut moved = windows.to_vec();
    for (at, (window, &extra)) in windows.iter().zip(output_padding).enumerate() {
        if window.stride == 0 || window.dilation == 0 || extra >= window.stride.max(window.dilation) {
            let reason = format!(
                "stride {}, dilation {} and output padding {extra}: the last must be smaller than one of the others, which are from 1 up",
                window.stride, window.dilation
            );
            return invalid(op, reason);
        }
        let (axis, reach) = (lead + 1 + at, window.span().ok_or_else(too_large)? as i128 - 1);
        let low = window.before as i128 - reach;
        let end =
            (x.sizes[axis] as i128 - 1) * window.stride as i128 + 1 + reach - window.after as i128 + extra as i128;
        let places = end - low - reach;
        if places < 1 || x.sizes[axis] == 0 {
            return invalid(op, format!("axis {axis} of size {} is left with {places} places", x.sizes[axis]));
        }
        let places = usize::try_from(places).map_err(|_| too_large())?;
        moved[at] = Window { stride: 1, before: 0, after: 0, ..*window };
        // Windows may read few positions of a spread axis.
        let position = |at: usize| spread_at(x.sizes[axis], window.stride, low + at as i128);
        if let Some(copy) = moved[at].side_by_side(places, D::has_data(x.buffer), position)? {
            (list[axis], sizes[axis], moved[at]) = (copy.parts, copy.len, copy.window);
            checked_numel::<E>(op, &sizes)?;
            continue;
        }
        sizes[axis] = usize::try_from(end - low).map_err(|_| too_large())?;
        checked_numel::<E>(op, &sizes)?;
        expect_room::<E, D>(x.buffer, &sizes[axis..=axis])?;
        if D::has_data(x.buffer) {
            list[axis] = spread(x.sizes[axis], window.stride, low, end);
        }
    }
    let storage = D::pick::<E>(x, &list, E::default())?;
    let own = strides::row_major(&sizes);
    let x = View::<_, E>::new(&storage, 0, &sizes, &own);
    // The kernel flipped, and (groups, C, O) transposed to (groups, O, C).
    let mut turned: Vec<Vec<Segment>> = weight.sizes.iter().map(|&size| vec![Segment::whole(size)]).collect();
    for (list, &size) in turned.iter_mut().zip(weight.sizes).skip(2) {
        *list = vec![Segment::Backward { start: size.saturating_sub(1), len: size }];
    }
    let (w_sizes, own) = (weight.sizes.to_vec(), strides::row_major(weight.sizes));
    let turned = D::pick::<E>(weight, &turned, E::default())?;
    let (per_group, outputs) = (channels / groups, w_sizes[1]);
    let mut from = vec![groups, outputs, per_group];
    from.extend(&w_sizes[2..]);
    let mut steps = vec![per_group * own[0], own[1], own[0]];
    steps.extend(&own[2..]);
    let exchanged = D::map1::<E, E>(Copying, View::new(&turned, 0, &from, &steps), &strides::row_major(&from))?;
    let mut of = vec![groups.checked_mul(outputs).ok_or_else(too_large)?, per_group];
    of.extend(&w_sizes[2..]);
    let own = strides::row_major(&of);
    let weight = View::<_, E>::new(&exchanged, 0, &of, &own);
    plain::<E, D>(Operands { op, x, weight, bias }, &moved, groups)
}

/// A typed tensor from the result of an untyped function.
pub(crate) fn laid<E: Element, T: Shape, D: Device>(
    op: &'static str,
    (storage, sizes, strides): Laid<D::Storage>,
) -> Result<Tensor<E, T, D>> {
    expect_fit::<T>(op, &sizes)?;
    Ok(Tensor::from_parts(storage, 0, T::Sizes::copied(&sizes), T::Sizes::copied(&strides)))
}

macro_rules! convolutions {
    ($($name:ident $with:ident $transposed:ident [$($kernel:ident)+] $rank:literal $images:literal $window:literal $example:literal
       $transposed_example:literal;)*) => {
        impl<E: Element, T: Shape, D: Device> Tensor<E, T, D> {$(
            #[doc = concat!("The convolution over the last ", $rank, ", as PyTorch defines it: the window of the weight is moved over the ",
                $images, " and products are summed over its positions and over channels.")]
            #[doc = ""]
            #[doc = concat!("`(N, C, …)` or `(C, …)` with a weight of `(O, C / groups, ", $window, ")` gives `(N, O, …)` or `(O, …)`; the sizes behind \
                are known to the compiler where the operands' are. Stride, padding, dilation and groups are those of [`Conv`](crate::nn::Conv).")]
            #[doc = ""]
            /// All have one dtype, floating or complex, which is the result's. The result is channels-last if the input or the weight is,
            /// which is the fastest layout.
            ///
            /// On the host, 3 x 3 kernels of stride 1 or 2 are computed by Winograd's algorithm if there are many channels and positions,
            /// as are kernels of seven columns and stride 2 with at most four input channels and many output channels: there are fewer
            /// multiplications, and the error is of the order of that of the direct sum. An image's result does not depend on threads, nor
            /// on the others of its batch, unless these have results that are not finite: then all are computed directly, which rounds
            /// differently.
            ///
            #[doc = concat!("PyTorch: `torch.nn.functional.", stringify!($name), "`.")]
            ///
            /// # Panics
            /// If sizes known at run time do not match, the window does not fit, or memory runs out.
            ///
            /// ```
            #[doc = $example]
            /// ```
            #[fallible]
            pub fn $name<O: Dim, CG, $($kernel: Dim,)+ S: EachAxis, P: EachAxis, L: EachAxis, G: Known, F: Element, X: Device>(
                &self,
                weight: &Tensor<F, (O, CG, $($kernel),+), X>,
                bias: impl Optional<E, (O,), D>,
                conv: Conv<S, P, L, G>,
            ) -> Result<Tensor<E, <T as Convolved<(O, CG, $($kernel),+), Conv<S, P, L, G>>>::Output, D>>
            where
                E: InexactFor<ops::reduce::convolution>,
                T: Convolved<(O, CG, $($kernel),+), Conv<S, P, L, G>>,
                (S, P, L): Moves,
                CG: Dim + SameDevice<D, X> + SameDtype<E, F, ops::reduce::convolution>,
            {
                let (weight, bias) = (CG::alike(CG::here(weight)), bias.given());
                let _ = conv;
                let op = stringify!($name);
                let windows = <(S, P, L)>::windows(&weight.shape().as_ref()[2..]);
                let operands = Operands { op, x: self.elements(), weight: weight.elements(), bias: bias.map(Tensor::elements) };
                laid(op, plain::<E, D>(operands, &windows, G::VALUE)?)
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), "), and a function of its elements while they are in the \
                cache: one of the [operations of one operand](crate::ops) that give the dtype they take, such as `relu`. The elements are those of \
                the two steps one after the other.")]
            ///
            #[doc = concat!("PyTorch: two functions, as in `torch.nn.functional.relu(torch.nn.functional.", stringify!($name), "(x, weight, bias))`.")]
            ///
            /// # Panics
            /// If sizes known at run time do not match, the window does not fit, or memory runs out.
            ///
            /// ```
            /// // (In one axis; the others are alike.)
            /// use castiron::{nn::Conv, ops, tensor};
            /// let (x, weight) = (tensor![[1.0, -2.0, 3.0]], tensor![[[2.0]]]);
            /// assert_eq!(x.conv1d_with(&weight, None, Conv::new(), ops::relu {}).to_vec(), [2.0, 0.0, 6.0]);
            /// ```
            #[fallible]
            pub fn $with<O: Dim, CG, $($kernel: Dim,)+ S: EachAxis, P: EachAxis, L: EachAxis, G: Known, A: Activation<E>, F: Element, X: Device>(
                &self,
                weight: &Tensor<F, (O, CG, $($kernel),+), X>,
                bias: impl Optional<E, (O,), D>,
                conv: Conv<S, P, L, G>,
                activation: A,
            ) -> Result<Tensor<E, <T as Convolved<(O, CG, $($kernel),+), Conv<S, P, L, G>>>::Output, D>>
            where
                E: InexactFor<ops::reduce::convolution>,
                T: Convolved<(O, CG, $($kernel),+), Conv<S, P, L, G>>,
                (S, P, L): Moves,
                CG: Dim + SameDevice<D, X> + SameDtype<E, F, ops::reduce::convolution>,
            {
                let (weight, bias) = (CG::alike(CG::here(weight)), bias.given());
                let _ = (conv, activation);
                let op = stringify!($name);
                let windows = <(S, P, L)>::windows(&weight.shape().as_ref()[2..]);
                let operands = Operands { op, x: self.elements(), weight: weight.elements(), bias: bias.map(Tensor::elements) };
                let result = convolve::<E, D>(operands, &windows, G::VALUE, |convolution, [x, weight], bias, [sizes, strides]| {
                    D::convolve_then::<E>(Applying::<A>::new(), convolution, x, weight, bias, sizes, strides)
                })?;
                laid(op, result)
            }

            #[doc = concat!("The transposed convolution over the last ", $rank, ": the gradient of [`", stringify!($name), "`](Self::", stringify!($name), ") \
                with respect to its input, which makes axes larger where that makes them smaller.")]
            #[doc = ""]
            #[doc = concat!("`(N, C, …)` or `(C, …)` with a weight of `(C, O / groups, ", $window, ")` gives `(N, O, …)` or `(O, …)`; the sizes behind \
                are known to the compiler where the operands' are. All hold one dtype, floating or complex, which is the result's.")]
            ///
            #[doc = concat!("PyTorch: `torch.nn.functional.", stringify!($transposed), "`.")]
            ///
            /// # Panics
            /// If sizes known at run time do not match, the padding leaves no elements, or memory runs out.
            ///
            /// ```
            #[doc = $transposed_example]
            /// ```
            #[fallible]
            pub fn $transposed<CW, O: Dim, $($kernel: Dim,)+ S: EachAxis, P: EachAxis, L: EachAxis, G: Known, A: EachAxis + Kernel, F: Element, X: Device>(
                &self,
                weight: &Tensor<F, (CW, O, $($kernel),+), X>,
                bias: impl Optional<E, (Product<G, O>,), D>,
                conv: Conv<S, P, L, G, A>,
            ) -> Result<Tensor<E, <T as Transposed<(CW, O, $($kernel),+), Conv<S, P, L, G, A>>>::Output, D>>
            where
                E: InexactFor<ops::reduce::convolution>,
                T: Transposed<(CW, O, $($kernel),+), Conv<S, P, L, G, A>>,
                (S, P, L): Moves,
                CW: Dim + SameDevice<D, X> + SameDtype<E, F, ops::reduce::convolution>,
            {
                let (weight, bias) = (CW::alike(CW::here(weight)), bias.given());
                let _ = conv;
                let op = stringify!($transposed);
                let sizes = weight.shape();
                let kernel = &sizes.as_ref()[2..];
                let windows = <(S, P, L)>::windows(kernel);
                let operands = Operands { op, x: self.elements(), weight: weight.elements(), bias: bias.map(Tensor::elements) };
                laid(op, transposed::<E, D>(operands, &windows, &A::sizes(kernel.len()), G::VALUE)?)
            }
        )*}
    };
}

convolutions! {
    conv1d conv1d_with conv_transpose1d [K] "axis" "positions" "window" "use castiron::{nn::{Conv, Same}, shape, tensor, Tensor};
let x = tensor![[1.0, 2.0, 3.0, 4.0]];
let y: Tensor<f32, shape![1, 3]> = x.conv1d(&tensor![[[1.0, 10.0]]], Some(&tensor![1000.0]), Conv::new());
assert_eq!(y.to_vec(), [1021.0, 1032.0, 1043.0]);
let z: Tensor<f32, shape![1, 4]> = x.conv1d(&tensor![[[1.0, 10.0]]], None, Conv::new().padding::<Same>());
assert_eq!(z.to_vec(), [21.0, 32.0, 43.0, 4.0]);"
        "use castiron::{dim, nn::Conv, shape, tensor, Tensor};
let y: Tensor<f32, shape![1, 5]> =
    tensor![[1.0, 2.0]].conv_transpose1d(&tensor![[[1.0, 10.0, 100.0]]], None, Conv::new().stride::<dim!(2)>());
assert_eq!(y.to_vec(), [1.0, 10.0, 102.0, 20.0, 200.0]);";
    conv2d conv2d_with conv_transpose2d [KH KW] "two axes" "pixels" "height, width" "use castiron::{dim, nn::Conv, shape, Tensor};
let image = Tensor::<f32, shape![1, 3, 32, 32]>::ones();
let weight = Tensor::<f32, shape![8, 3, 3, 3]>::ones();
let y: Tensor<f32, shape![1, 8, 16, 16]> = image.conv2d(&weight, None, Conv::new().stride::<dim!(2)>().padding::<dim!(1)>());
assert_eq!((y[(0, 0, 0, 0)], y[(0, 0, 1, 1)]), (12.0, 27.0));
let depthwise: Tensor<f32, shape![1, 3, 32, 32]> =
    image.conv2d(&Tensor::<f32, shape![3, 1, 3, 3]>::ones(), None, Conv::new().padding::<dim!(1)>().groups::<dim!(3)>());
assert_eq!(depthwise[(0, 2, 1, 1)], 9.0);"
        "use castiron::{dim, nn::Conv, shape, Tensor};
let x = Tensor::<f32, shape![1, 4, 8, 8]>::ones();
let up = Conv::new().stride::<dim!(2)>().padding::<dim!(1)>().output_padding::<dim!(1)>();
let y: Tensor<f32, shape![1, 2, 16, 16]> = x.conv_transpose2d(&Tensor::<f32, shape![4, 2, 3, 3]>::ones(), None, up);
assert_eq!((y[(0, 0, 0, 0)], y[(0, 0, 1, 1)]), (4.0, 16.0));";
    conv3d conv3d_with conv_transpose3d [KD KH KW] "three axes" "voxels" "depth, height, width" "use castiron::{nn::Conv, shape, Tensor};
let volume = Tensor::<f32, shape![1, 2, 4, 5, 6]>::ones();
let y: Tensor<f32, shape![1, 3, 3, 4, 5]> = volume.conv3d(&Tensor::<f32, shape![3, 2, 2, 2, 2]>::ones(), None, Conv::new());
assert_eq!(y.amax().item(), 16.0);"
        "use castiron::{nn::Conv, shape, Tensor};
let x = Tensor::<f32, shape![2, 3, 3, 3]>::ones();
let y: Tensor<f32, shape![1, 4, 4, 4]> = x.conv_transpose3d(&Tensor::<f32, shape![2, 1, 2, 2, 2]>::ones(), None, Conv::new());
assert_eq!(y.amax().item(), 16.0);";
}
