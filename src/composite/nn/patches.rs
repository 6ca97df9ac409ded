//! `im2col` and `col2im`: patches of images, and images as sums of patches.
//!
//! Source: `torch.nn.functional.unfold`, `torch.nn.functional.fold`; `aten/src/ATen/native/im2col.h`.

use super::laid;
use super::{Laid, expect_room};
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Erased, Owned};
use crate::cpu::resample::patches;
use crate::device::{Device, on_host};
use crate::dtype::{Complex, Dtype, Element};
use crate::error::{Error, Result, invalid, listed};
use crate::layout::strides;
use crate::ops::kernel::Copying;
use crate::ops::segment::Segment;
use crate::ops::window::Window;
use crate::shape::{Folded, KnownShape, MovingWindow, Unfolded, numel};
use crate::storage::View;
use crate::tensor::{Tensor, checked_numel};
use crate::{bf16, f16};
use castiron_macros::composites;
use core::marker::PhantomData;

/// The dtypes of patches: bools, floats and complex numbers.
#[diagnostic::on_unimplemented(
    message = "patches of `{Self}` are not defined",
    label = "expected `bool`, a floating-point or a complex dtype",
    note = "as in PyTorch; cast first, for example `.to::<f32>()`"
)]
pub trait PatchDtype: Dtype {}
macro_rules! dtypes {
    ($($ty:ty)*) => {$( impl PatchDtype for $ty {} )*};
}
dtypes!(bool f16 bf16 f32 f64 Complex<f16> Complex<f32> Complex<f64>);

/// The number of window positions on an image.
fn places(op: &'static str, windows: &[Window], image: &[usize]) -> Result<[usize; 2]> {
    Ok([windows[0].expect_places(op, image[0])?, windows[1].expect_places(op, image[1])?])
}

/// Patches of images as columns: `(…, C, H, W)` becomes `(…, C * kernel positions, window positions)`.
fn cut<E: Element, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    windows: &[Window],
) -> Result<Laid<D::Storage>> {
    let Some(lead) = x.sizes.len().checked_sub(3).filter(|lead| *lead < 2) else {
        return invalid(
            op,
            format!("expected (channels, height, width), or the same with a batch, got shape {:?}", x.sizes),
        );
    };
    if x.sizes[lead..].contains(&0) {
        return invalid(op, format!("a tensor of shape {:?} has no patches: only the batch may be empty", x.sizes));
    }
    let image = &x.sizes[lead + 1..];
    let places = places(op, windows, image)?;
    let too_large = || Error::TooLarge { op, sizes: x.sizes.into() };
    let rows = numel(&[x.sizes[lead], windows[0].kernel, windows[1].kernel]).ok_or_else(too_large)?;
    let mut sizes = x.sizes[..lead].to_owned();
    sizes.extend([rows, numel(&places).ok_or_else(too_large)?]);
    checked_numel::<E>(op, &sizes)?;
    let (mut own, mut steps, mut is_padded) = (x.sizes.to_owned(), x.strides.to_owned(), false);
    let mut list = listed(x.sizes.iter().map(|&size| vec![Segment::whole(size)]))?;
    let mut windows = [windows[0], windows[1]];
    for (at, window) in windows.iter_mut().enumerate() {
        let axis = lead + 1 + at;
        let copy = window.with_padding(op, image[at], places[at], D::has_data(x.buffer))?;
        is_padded |= copy.parts != list[axis];
        (list[axis], own[axis], *window) = (copy.parts, copy.len, copy.window);
    }
    checked_numel::<E>(op, &own)?;
    let padded = if is_padded {
        expect_room::<E, D>(x.buffer, &own)?;
        steps = strides::row_major(&own);
        Some(D::pick::<E>(x, &list, E::default())?)
    } else {
        None
    };
    // (…, channels, kernel rows, kernel columns, window rows, window columns)
    let (mut of, mut from) = (x.sizes[..lead + 1].to_owned(), steps[..lead + 1].to_owned());
    of.extend([windows[0].kernel, windows[1].kernel, places[0], places[1]]);
    // With a single position the stride does not matter.
    let step = |at: usize, count: usize, by: usize| if count == 1 { 0 } else { by * steps[lead + 1 + at] };
    from.extend((0..2).map(|at| step(at, windows[at].kernel, windows[at].dilation)));
    from.extend((0..2).map(|at| step(at, places[at], windows[at].stride)));
    let view = match &padded {
        Some(storage) => View::new(storage, 0, &of, &from),
        None => View::new(x.buffer, x.offset, &of, &from),
    };
    let storage = D::map1::<E, E>(Copying, view, &strides::row_major(&of))?;
    let own = strides::row_major(&sizes);
    Ok((storage, sizes, own))
}

/// Images of these sizes as sums of patches: the inverse operation.
fn sum_of<E: Dtype, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    windows: &[Window],
    image: &[usize],
) -> Result<Laid<D::Storage>> {
    let Some(lead) = x.sizes.len().checked_sub(2).filter(|lead| *lead < 2) else {
        return invalid(op, format!("expected (rows, columns), or the same with a batch, got shape {:?}", x.sizes));
    };
    if x.sizes[lead..].contains(&0) {
        return invalid(op, format!("a tensor of shape {:?} has no patches: only the batch may be empty", x.sizes));
    }
    let places = places(op, windows, image)?;
    let (rows, columns) = (x.sizes[lead], x.sizes[lead + 1]);
    let area = windows[0].kernel.saturating_mul(windows[1].kernel);
    if rows % area != 0 {
        return invalid(op, format!("{rows} rows are not those of patches of {area} positions"));
    }
    if places[0].checked_mul(places[1]) != Some(columns) {
        let reason = format!(
            "there are {columns} columns, and the window has {} x {} places on an image of {image:?}",
            places[0], places[1]
        );
        return invalid(op, reason);
    }
    let mut sizes = x.sizes[..lead].to_owned();
    sizes.extend([rows / area, image[0], image[1]]);
    checked_numel::<E>(op, &sizes)?;
    let storage = on_host::<D, _, Vec<E>>(op, x, |elements: Vec<E>| {
        if sizes.contains(&0) {
            return Ok(vec![]);
        }
        patches(&elements, [windows[0], windows[1]], places, [image[0], image[1]])
    })?;
    let own = strides::row_major(&sizes);
    Ok((storage, sizes, own))
}

#[composites]
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// The patches of images under a sliding window, as columns: `(N, C, H, W)` or `(C, H, W)` becomes `(N, C * kernel positions, window
    /// positions)`; of a `Tensor` with sizes that the compiler knows if it knows those of the operand. Its window, stride, padding and
    /// dilation are those of [`Patches`](crate::nn::Patches).
    ///
    /// (`unfold` is a view along one axis.)
    ///
    /// # Errors
    /// If the window does not fit, or an axis other than the batch is empty.
    #[op(nn.functional.unfold, dtypes = "bool, floating-point and complex", over = [bool, crate::f16, crate::bf16, f32, f64, crate::Complex<crate::f16>, crate::Complex<f32>, crate::Complex<f64>])]
    #[any(windows(options: &crate::any::PoolOptions) = &options.windows("im2col", 2)?)]
    #[typed(<P: MovingWindow>(&self, patches: P) -> Tensor<E, <S as Unfolded<P>>::Output, D>
        where
            E: PatchDtype,
            S: Unfolded<P>;
        windows = &{ let _ = patches; P::windows() })]
    #[example(let x = tensor![[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]; x.im2col(Patches::<dim!(2)>::new()), x.im2col(&PoolOptions::new(&[2]).stride(&[1])), tensor![[1.0, 2.0], [2.0, 3.0], [4.0, 5.0], [5.0, 6.0]])]
    pub(crate) fn im2col(&self, windows: &[Window]) -> Result<Owned<E, D>> {
        let op = "im2col";
        cut::<E, D>(op, self.view(), windows).map(laid)
    }

    /// Images from patches as columns, summed where they overlap: `(N, C * kernel positions, window positions)` or the same without a batch
    /// becomes `(N, C, H, W)`; for a `Tensor` the shape `R` is `(H, W)`. The inverse operation of [`im2col`](Self::im2col).
    ///
    /// # Errors
    /// If the number of columns is not that of window positions.
    #[op(nn.functional.fold, dtypes = "bool, floating-point and complex", over = [bool, crate::f16, crate::bf16, f32, f64, crate::Complex<crate::f16>, crate::Complex<f32>, crate::Complex<f64>])]
    #[any(
        image(sizes: &[i64]) = &options.image("col2im", sizes)?,
        windows(options: &crate::any::PoolOptions) = &options.windows("col2im", 2)?
    )]
    #[typed(<R: KnownShape, P: MovingWindow>(&self, patches: P) -> Tensor<E, <S as Folded<P, R>>::Output, D>
        where
            E: PatchDtype,
            S: Folded<P, R>;
        image = R::SIZES.as_ref(), windows = &{ let _ = patches; P::windows() })]
    #[example(let y = tensor![[1.0, 2.0], [2.0, 3.0], [4.0, 5.0], [5.0, 6.0]]; y.col2im::<shape![2, 3], _>(Patches::<dim!(2)>::new()), y.col2im(&[2, 3], &PoolOptions::new(&[2]).stride(&[1])), tensor![[[1.0, 4.0, 3.0], [4.0, 10.0, 6.0]]])]
    pub(crate) fn col2im(&self, image: &[usize], windows: &[Window]) -> Result<Owned<E, D>> {
        let op = "col2im";
        let (windows, image) = (listed(windows.iter().copied())?, listed(image.iter().copied())?);
        let folding = Folding::<E> { op, windows, image, dtype: PhantomData };
        Ok(D::primitive(&folding, (Erased::of(self.view()),))?.0)
    }
}

/// Sums of overlapping patches.
#[derive(Clone)]
struct Folding<E> {
    op: &'static str,
    windows: Vec<Window>,
    image: Vec<usize>,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Dtype> Primitive for Folding<E> {
    type Operands = (E,);
    type Results = (E,);
    fn op(&self) -> &'static str {
        self.op
    }
    fn run<D: Device>(&self, (x,): On<'_, (E,), D>) -> Result<On<'static, (E,), D>> {
        Ok((laid(sum_of::<E, D>(self.op, x.view(), &self.windows, &self.image)?),))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0, 0];
    /// The patches of the gradient.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let (Some(g),) = &back.g else { return Ok((None,)) };
        Ok((Some(g.im2col(&self.windows)?),))
    }
}
