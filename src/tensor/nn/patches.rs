//! `im2col` and `col2im`: patches of images, and images as sums of patches.
//!
//! Source: `torch.nn.functional.unfold`, `torch.nn.functional.fold`; `aten/src/ATen/native/im2col.h`.

use crate::composite::nn::conv::{Laid, expect_room};
use crate::cpu::resample::patches;
use crate::device::{Device, on_host};
use crate::dtype::{Complex, Dtype, Element};
use crate::error::{Error, Result, invalid};
use crate::layout::strides;
use crate::ops::kernel::Copying;
use crate::ops::segment::Segment;
use crate::ops::window::Window;
use crate::shape::{Folded, KnownShape, MovingWindow, Shape, Unfolded, numel};
use crate::storage::View;
use crate::tensor::nn::laid;
use crate::tensor::{Tensor, checked_numel};
use crate::{bf16, f16};
use castiron_macros::fallible;

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
pub(crate) fn cut<E: Element, D: Device>(
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
    let mut sizes = x.sizes[..lead].to_vec();
    sizes.extend([rows, numel(&places).ok_or_else(too_large)?]);
    checked_numel::<E>(op, &sizes)?;
    let (mut own, mut steps, mut is_padded) = (x.sizes.to_vec(), x.strides.to_vec(), false);
    let mut list: Vec<Vec<Segment>> = x.sizes.iter().map(|&size| vec![Segment::whole(size)]).collect();
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
    let (mut of, mut from) = (x.sizes[..lead + 1].to_vec(), steps[..lead + 1].to_vec());
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
pub(crate) fn sum_of<E: Dtype, D: Device>(
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
    let mut sizes = x.sizes[..lead].to_vec();
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

impl<E: Element, T: Shape, D: Device> Tensor<E, T, D> {
    /// The patches of images under a sliding window, as columns: `(N, C, H, W)` or `(C, H, W)` becomes `(N, C * kernel positions, window
    /// positions)`, with sizes that the compiler knows if it knows those of the operand. Window, stride, padding and dilation are those of
    /// [`Patches`](crate::nn::Patches).
    ///
    /// The dtype is bool, floating or complex. PyTorch: `torch.nn.functional.unfold`. (`unfold` is a view along one axis.)
    ///
    /// # Panics
    /// If the window does not fit, an axis other than the batch is empty, or memory runs out.
    ///
    /// ```
    /// use castiron::{dim, nn::Patches, shape, tensor, Tensor};
    /// let x = tensor![[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]];
    /// let y: Tensor<f32, shape![4, 2]> = x.im2col(Patches::<dim!(2)>::new());
    /// assert_eq!(y.to_vec(), [1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 5.0, 6.0]);
    /// ```
    #[fallible]
    pub fn im2col<P: MovingWindow>(&self, patches: P) -> Result<Tensor<E, <T as Unfolded<P>>::Output, D>>
    where
        E: PatchDtype,
        T: Unfolded<P>,
    {
        let _ = patches;
        laid("im2col", cut::<E, D>("im2col", self.elements(), &P::windows())?)
    }

    /// Images of the sizes `R` from patches as columns, summed where they overlap: `(N, C * kernel positions, window positions)` or the
    /// same without a batch becomes `(N, C, H, W)`. The inverse operation of [`im2col`](Self::im2col).
    ///
    /// The dtype is bool, floating or complex. PyTorch: `torch.nn.functional.fold`.
    ///
    /// # Panics
    /// If the number of columns is not that of window positions or memory runs out.
    ///
    /// ```
    /// use castiron::{dim, nn::Patches, shape, tensor, Tensor};
    /// let y = tensor![[1.0, 2.0], [2.0, 3.0], [4.0, 5.0], [5.0, 6.0]];
    /// let x: Tensor<f32, shape![1, 2, 3]> = y.col2im::<shape![2, 3], _>(Patches::<dim!(2)>::new());
    /// assert_eq!(x.to_vec(), [1.0, 4.0, 3.0, 4.0, 10.0, 6.0]);
    /// ```
    #[fallible]
    pub fn col2im<R: KnownShape, P: MovingWindow>(
        &self,
        patches: P,
    ) -> Result<Tensor<E, <T as Folded<P, R>>::Output, D>>
    where
        E: PatchDtype,
        T: Folded<P, R>,
    {
        let _ = patches;
        laid("col2im", sum_of::<E, D>("col2im", self.elements(), &P::windows(), R::SIZES.as_ref())?)
    }
}
