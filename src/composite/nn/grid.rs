//! `affine_grid` and `grid_sample`: operands sampled at the positions of a grid.
//!
//! Source: `torch.nn.functional.affine_grid`, `grid_sample`; `aten/src/ATen/native/AffineGridGenerator.cpp`, `GridSampler.h`.

use super::laid;
use super::{Laid, expect_room};
use crate::composite::nn::modes::{Bicubic, Bilinear, Nearest};
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Erased, Owned};
use crate::cpu::resample::parts;
use crate::device::{Device, on_host};
use crate::dtype::{Compute, DType, Dtype, Element};
use crate::error::{Error, Result, filled, invalid, listed};
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::grid::{GridMode, GridPadding, Sampling, Tap};
use crate::shape::{AffineMaps, Images, KnownShape, SampledBy, Shape, Volumes, numel};
use crate::storage::View;
use crate::tensor::{SameDevice, SameDtype, Tensor, checked_numel};
use castiron_macros::composites;
use core::marker::PhantomData;

/// The sampling positions of images of the last sizes, by affine maps: `(N, axes, axes + 1)` becomes `(N, sizes…, axes)`.
fn affine<E: Dtype, D: Device>(
    op: &'static str,
    maps: View<'_, D::Storage, E>,
    places: &[usize],
    align_corners: bool,
) -> Result<Laid<D::Storage>> {
    let axes = places.len();
    if !matches!(axes, 2 | 3) || maps.sizes.len() != 3 || maps.sizes[1..] != [axes, axes + 1] {
        let reason = format!(
            "expected affine maps (batch, {axes}, {}) for {axes} axes, 2 or 3, got shape {:?}",
            axes + 1,
            maps.sizes
        );
        return invalid(op, reason);
    }
    if places.contains(&0) || maps.sizes[0] == 0 {
        return invalid(op, format!("{} grids of sizes {places:?}: expected numbers from 1 up", maps.sizes[0]));
    }
    let sizes = [&maps.sizes[..1], places, &[axes]].concat();
    checked_numel::<E>(op, &sizes)?;
    let too_large = || Error::TooLarge { op, sizes: sizes[..].into() };
    let area = numel(places).ok_or_else(too_large)?;
    expect_room::<E, D>(maps.buffer, &[area, axes + 1])?;
    checked_numel::<E>(op, &[area, axes + 1])?;
    let steps = strides::row_major(places);
    let is_single = E::DTYPE != DType::F64;
    let round = |x: f64| if is_single { f64::from(x as f32) } else { x };
    // The centers of pixels between -1 and 1, counted from the nearer end.
    let number = |at: usize, count: usize| {
        if count <= 1 {
            return 0.0;
        }
        let step = round(2.0 / (count - 1) as f64);
        let x = if at < count / 2 {
            round(-1.0 + round(step * at as f64))
        } else {
            round(1.0 - round(step * (count - 1 - at) as f64))
        };
        if align_corners { x } else { round(round(x * (count - 1) as f64) / count as f64) }
    };
    let base = D::build::<E>(Some(maps.buffer), || {
        let element = |at: usize| {
            let (place, column) = (at / (axes + 1), at % (axes + 1));
            // x, the coordinate along the last axis, comes first.
            let value = match axes.checked_sub(column + 1) {
                Some(axis) => number(place / steps[axis] % places[axis], places[axis]),
                None => 1.0,
            };
            E::from_compute(E::Compute::number(value))
        };
        listed((0..area * (axes + 1)).map(element))
    })?;
    let (left, left_strides) = ([maps.sizes[0], area, axes + 1], [0, axes + 1, 1]);
    let (right, right_strides) = ([maps.sizes[0], axes + 1, axes], [maps.strides[0], maps.strides[2], maps.strides[1]]);
    let storage =
        D::matmul::<E>(View::new(&base, 0, &left, &left_strides), maps.restrided(&right, &right_strides), None)?;
    let own = strides::row_major(&sizes);
    Ok((storage, sizes, own))
}

/// The elements of `(N, C, …)` at the positions of a grid `(N, …, axes)`.
fn sample<E: Dtype, D: Device>(
    op: &'static str,
    [x, grid]: [View<'_, D::Storage, E>; 2],
    sampling: Sampling,
) -> Result<Laid<D::Storage>> {
    let axes = x.sizes.len().saturating_sub(2);
    if !matches!(axes, 2 | 3)
        || grid.sizes.len() != axes + 2
        || grid.sizes[axes + 1] != axes
        || grid.sizes[0] != x.sizes[0]
    {
        let reason = format!(
            "expected (batch, channels, …) with two or three axes behind and a grid of one position for each place, as long as there are \
             axes, got shapes {:?} and {:?}",
            x.sizes, grid.sizes
        );
        return invalid(op, reason);
    }
    if sampling.mode == GridMode::Bicubic && axes != 2 {
        return invalid(op, "mode bicubic samples images only".to_owned());
    }
    if x.sizes[2..].contains(&0) {
        return invalid(op, format!("a tensor of shape {:?} has nothing to sample", x.sizes));
    }
    let sizes = [&x.sizes[..2], &grid.sizes[1..axes + 1]].concat();
    checked_numel::<E>(op, &sizes)?;
    let storage = on_host::<D, _, Vec<E>>(op, (x, grid), |(elements, positions): (Vec<E>, Vec<E>)| {
        if sizes.contains(&0) {
            return Ok(vec![]);
        }
        let (of, count) = (&x.sizes[2..], sampling.taps(axes));
        let (area, places) = (of.iter().product::<usize>(), sizes[2..].iter().product::<usize>());
        let channels = sizes[1];
        let mut result = filled(E::default(), sizes.iter().product())?;
        let mut taps: Vec<Tap> = filled((0, 0.0), places.saturating_mul(count))?;
        let images = result.chunks_exact_mut(channels * places).enumerate();
        for (image, to) in images {
            let positions = &positions[image * places * axes..][..places * axes];
            parts(&mut taps, count, 8, &|place, taps| {
                let mut at = [0.0; 3];
                for (to, from) in at.iter_mut().zip(&positions[place * axes..][..axes]) {
                    *to = from.to_scalar().real_part();
                }
                sampling.place(&at[..axes], of, taps);
                Ok(())
            })?;
            let elements = &elements[image * channels * area..][..channels * area];
            parts(to, places, count, &|channel, to| {
                let plane = &elements[channel * area..][..area];
                for (to, taps) in to.iter_mut().zip(taps.chunks_exact(count)) {
                    *to = weighted::<E>(plane, taps, axes == 3);
                }
                Ok(())
            })?;
        }
        Ok(result)
    })?;
    let own = strides::row_major(&sizes);
    Ok((storage, sizes, own))
}

/// The weighted sum. (For images, elements outside are zeros, whose product with a NaN weight is NaN; for volumes they are skipped.)
fn weighted<E: Dtype>(plane: &[E], taps: &[Tap], skips: bool) -> E {
    if let [(at, _)] = taps {
        return plane.get(*at).copied().unwrap_or_default();
    }
    let mut sum = E::Compute::default();
    for &(at, weight) in taps {
        let element = match plane.get(at) {
            Some(element) => element.to_compute(),
            None if skips => continue,
            None => E::Compute::default(),
        };
        sum = sum.binary::<ops::add>(element.binary::<ops::mul>(E::Compute::number(weight)));
    }
    E::from_compute(sum)
}

mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be made a way to sample",
        label = "this trait is castiron's alone",
        note = "sample by `Bilinear`, `Nearest` or `Bicubic`"
    )]
    pub trait Samples {}
}

/// The interpolation of a sampled grid: [`Bilinear`], [`Nearest`] or, of images only, [`Bicubic`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not sample `{What}` at the positions of a grid",
    label = "expected `Bilinear` or `Nearest`, or of images `Bicubic`"
)]
pub trait Samples<What>: sealed::Samples {
    #[doc(hidden)]
    const MODE: GridMode;
}
macro_rules! samples {
    ($($name:ident [$($what:ident)*];)*) => {$(
        impl sealed::Samples for $name {}
        $(
            #[diagnostic::do_not_recommend]
            impl Samples<$what> for $name {
                const MODE: GridMode = GridMode::$name;
            }
        )*
    )*};
}
samples! {
    Bilinear [Images Volumes];
    Nearest [Images Volumes];
    Bicubic [Images];
}

fn mode_of<What, M: Samples<What>>(_: M) -> GridMode {
    M::MODE
}

#[composites]
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// A grid of sampling positions by affine maps: `(N, 2, 3)` becomes `(N, H, W, 2)`, `(N, 3, 4)` becomes `(N, D, H, W, 3)`. Positions are
    /// between -1 and 1, x first.
    ///
    /// For a `Tensor` the shape `R` has the sizes of the images or volumes; an `AnyTensor` takes them with the batch and the channels, as
    /// does PyTorch.
    ///
    /// # Errors
    /// If sizes do not match, or one is 0.
    #[op(nn.functional.affine_grid(theta, size, align_corners = false), dtypes = float)]
    #[any(places(sizes: Vec<i64>) = &self.places_of_maps(&sizes)?)]
    #[typed(<R: KnownShape>(&self, align_corners: bool) -> Tensor<E, <S as AffineMaps<R>>::Output, D>
        where
            E: FloatFor<ops::reduce::affine_grid>,
            S: AffineMaps<R>;
        places = R::SIZES.as_ref())]
    #[example(let mirror = tensor![[[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]; mirror.affine_grid::<shape![1, 2]>(false), mirror.affine_grid(vec![1, 1, 1, 2], false), tensor![[[[0.5, 0.0], [-0.5, 0.0]]]])]
    pub(crate) fn affine_grid(&self, places: &[usize], align_corners: bool) -> Result<Owned<E, D>> {
        affine::<E, D>("affine_grid", self.view(), places, align_corners).map(laid)
    }

    /// The elements at the positions of a grid: images `(N, C, H, W)` at `(N, H', W', 2)` give `(N, C, H', W')`, volumes have one more axis.
    /// -1 and 1 are the ends of an axis, or with `align_corners` the centers of its first and last pixel. Volumes have no bicubic mode. All
    /// have one dtype.
    ///
    /// # Errors
    /// If sizes do not match, or the operand is empty.
    #[op(nn.functional.grid_sample, dtypes = float)]
    #[any(let () = self.expect_one_dtype("grid_sample", [Some(grid)])?)]
    #[typed(<G, F: Element, X: Device>(&self, grid: &Tensor<F, G, X>, mode: impl Samples<<S as SampledBy<G>>::What>, padding: GridPadding, align_corners: bool) -> Tensor<E, <S as SampledBy<G>>::Output, D>
        where
            E: FloatFor<ops::reduce::grid_sample>,
            S: SampledBy<G>,
            G: Shape + SameDevice<D, X> + SameDtype<E, F, ops::reduce::grid_sample>;
        mode = mode_of(mode))]
    #[example(let x = tensor![[[[1.0, 2.0, 3.0]]]]; let grid = tensor![[[[0.5, 0.0], [-2.0, 0.0]]]]; x.grid_sample(&grid, Bilinear::new(), GridPadding::Border, true), x.grid_sample(&grid, GridMode::Bilinear, GridPadding::Border, true), tensor![[[[2.5, 1.0]]]])]
    pub(crate) fn grid_sample(
        &self,
        grid: &Erased<'_, E, D>,
        mode: GridMode,
        padding: GridPadding,
        align_corners: bool,
    ) -> Result<Owned<E, D>> {
        let sampling = Sampling { mode, padding, align_corners, is_single: E::DTYPE != DType::F64 };
        let operands = (Erased::of(self.view()), Erased::of(grid.view()));
        Ok(D::primitive(&GridSampling::<E> { sampling, dtype: PhantomData }, operands)?.0)
    }
}

/// Elements sampled at the positions of a grid.
#[derive(Clone)]
struct GridSampling<E> {
    sampling: Sampling,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Dtype> Primitive for GridSampling<E> {
    type Operands = (E, E);
    type Results = (E,);
    fn op(&self) -> &'static str {
        "grid_sample"
    }
    fn run<D: Device>(&self, (x, grid): On<'_, (E, E), D>) -> Result<On<'static, (E,), D>> {
        Ok((laid(sample::<E, D>(self.op(), [x.view(), grid.view()], self.sampling)?),))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0b11, 0];
    /// The gradient times the weights of the taps, and times what these change by with the positions. Computed on the host. Source:
    /// `grid_sampler_2d_backward`.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E, E), D>> {
        let (Some(g),) = &back.g else { return Ok((None, None)) };
        let (x, grid, sampling) = (read(&back.x.0)?, read(&back.x.1)?, self.sampling);
        let (axes, sizes) = (x.rank() - 2, x.dims());
        let (of, count) = (&sizes[2..], sampling.taps(axes));
        let (area, places) = (of.iter().product::<usize>(), g.sizes()[2..].iter().product::<usize>());
        let (batch, channels) = (sizes[0], sizes[1]);
        let operands = ((x.view(), grid.view()), g.view());
        let lists = on_host::<D, _, (Vec<E>, Vec<E>)>(self.op(), operands, |((elements, positions), g)| {
            let number = |x: E| x.to_scalar().real_part();
            let mut of_x = filled(0.0_f64, elements.len())?;
            let mut of_grid = filled(0.0_f64, positions.len())?;
            let mut taps: Vec<Tap> = filled((0, 0.0), count)?;
            for (image, place) in (0..batch).flat_map(|image| (0..places).map(move |place| (image, place))) {
                let own = (image * places + place) * axes;
                let mut at = [0.0; 3];
                for (to, from) in at.iter_mut().zip(&positions[own..own + axes]) {
                    *to = number(*from);
                }
                sampling.place(&at[..axes], of, &mut taps);
                // The sum over channels for each tap.
                let of_weight = |tap: usize| -> f64 {
                    let (position, _) = taps[tap];
                    let plane = |channel: usize| image * channels + channel;
                    if position == usize::MAX {
                        return 0.0;
                    }
                    (0..channels)
                        .map(|c| number(elements[plane(c) * area + position]) * number(g[plane(c) * places + place]))
                        .sum()
                };
                sampling.place_slopes(&at[..axes], of, &mut |tap, slopes| {
                    let by_weight = of_weight(tap);
                    for (to, slope) in of_grid[own..own + axes].iter_mut().zip(slopes) {
                        *to += slope * by_weight;
                    }
                });
                for &(position, weight) in taps.iter().filter(|(position, _)| *position != usize::MAX) {
                    for plane in image * channels..(image + 1) * channels {
                        of_x[plane * area + position] += weight * number(g[plane * places + place]);
                    }
                }
            }
            let rounded = |list: Vec<f64>| listed(list.into_iter().map(|x| E::from_compute(E::Compute::number(x))));
            Ok((rounded(of_x)?, rounded(of_grid)?))
        })?;
        Ok((Some(Erased::dense(lists.0, sizes)), Some(Erased::dense(lists.1, grid.dims()))))
    }
}
