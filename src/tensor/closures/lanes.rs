//! Closures of lanes, which are given as slices: `map_lanes`, `map_windows`, and in place `map_lanes_`.

use super::forms::{Failure, forms, forms_in_place};
use super::{ClosureError, HostClosures, Seen, bytes, recorded};
use crate::cpu::closures::{self, Alone, Lane, Shared};
use crate::cpu::in_order::Lanes;
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::shape::{Axes, Axis, AxisArg, Dimensional, HasAxis, Known, Shape, SizeArray, Windows};
use crate::storage::View;
use crate::tensor::reduce::reductions::keep;
use crate::tensor::{Tensor, TensorViewMut, checked_numel};

/// The sizes of a result without the axes, or with size 1 for them.
pub(super) fn kept<E: Element, S: Shape, A: Axes<S>>(
    op: &'static str,
    sizes: &S::Sizes,
    is_there_without: bool,
) -> Result<<A::Reduced as Shape>::Sizes> {
    let mut kept = <A::Reduced as Shape>::Sizes::filled(1);
    keep(op, is_there_without, sizes.as_ref(), A::MASK, A::KEEPS, kept.as_mut())?;
    checked_numel::<E>(op, kept.as_ref())?;
    Ok(kept)
}

/// The result of a closure for each lane.
pub(super) fn mapped<A: Axes<S>, O: Element, E: Element, S: Shape>(
    op: &'static str,
    x: &Tensor<E, S>,
    is_there_without: bool,
    closure: impl closures::Closure<Lane<E>, O>,
) -> Result<Tensor<O, A::Reduced>> {
    recorded(op, [Seen::of(x)], bytes, || {
        let kept = kept::<O, S, A>(op, &x.shape(), is_there_without)?;
        Ok(Tensor::dense(closures::lanes(&Lanes::new(x.elements(), A::MASK)?, closure)?, kept))
    })
}

/// Calls a closure with each lane, for writing.
fn update<A: Axes<S>, E: Element, S: Shape>(
    op: &'static str,
    x: &mut Tensor<E, S>,
    closure: impl closures::Closure<Lane<E>, ()>,
) -> Result<()> {
    let view = x.elements_mut()?;
    if view.buffer.start_mut::<E>().is_none() {
        unreachable!("`elements_mut` has made the storage unique");
    }
    let lanes = Lanes::new(View::<_, E>::new(&*view.buffer, view.offset, view.sizes, view.strides), A::MASK)?;
    let seen = Seen { dtype: E::DTYPE, sizes: view.sizes, strides: view.strides };
    // SAFETY: the elements are borrowed for writing, and no two positions are one.
    recorded(op, [seen], |()| lanes.numel() * size_of::<E>(), || unsafe { closures::update_lanes(&lanes, closure) })
}

/// Closures over lanes.
impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    forms! {
        /// A new tensor of what a closure makes of each lane: of the elements along one or several axes, which disappear, in row-major order as a
        /// slice. With [`keepdim`](crate::Axis::keepdim) they keep size 1. The forms are those of [`map`](Self::map).
        ///
        /// PyTorch: `torch.vmap`, `numpy.apply_along_axis`; `ndarray`: `map_axis`.
        ///
        /// ```
        /// # use castiron::{Tensor, axis, shape, tensor};
        /// let x = tensor![[3, 1, 2], [6, 5, 4]];
        /// let range: Tensor<i64, shape![2]> = x.map_lanes(axis![1], |row| row.iter().max().unwrap() - row.iter().min().unwrap());
        /// assert_eq!(range.to_vec(), [2, 2]);
        /// assert_eq!(x.map_lanes(axis![0], |column| column.is_sorted()).to_vec(), [true, true, true]);
        /// ```
        map_lanes try_map_lanes par_map_lanes try_par_map_lanes [A: Axes<S>, O: Element,] (_axes: A) (&[E]) -> O []
            => Tensor<O, A::Reduced, D>,
            // SAFETY: the lane is that of this call.
            |lane: Lane<E>| (unsafe { lane.elements() }), |this, op, closure|
                mapped::<A, O, E, S>(op, D::host(this), true, closure).map(D::from_host);

        /// A new tensor of what a closure makes of each window of `Size` positions along an axis, `Step` positions apart, which is given as a
        /// slice: [`unfold`](Self::unfold) and [`map_lanes`](Self::map_lanes), which also map windows along several axes. The forms are those of
        /// [`map`](Self::map).
        ///
        /// `ndarray`: `windows`.
        ///
        /// # Panics
        /// If the window does not fit an axis whose size is known at run time.
        ///
        /// ```
        /// # use castiron::{Tensor, axis, dim, shape, tensor};
        /// let x = tensor![5, 1, 4, 2, 3];
        /// let median: Tensor<i64, shape![3]> = x.map_windows::<dim!(3), dim!(1), _, _>(axis![0], |window| {
        ///     let mut window = window.to_vec();
        ///     window.sort();
        ///     window[1]
        /// });
        /// assert_eq!(median.to_vec(), [4, 2, 3]);
        /// ```
        map_windows try_map_windows par_map_windows try_par_map_windows
            [Size: Known, Step: Known, const I: isize, O: Element,] (axis: impl AxisArg<I>) (&[E]) -> O
            [S: Dimensional + Windows<I, Size, Step> + HasAxis<I>]
            => Tensor<O, <<S as Windows<I, Size, Step>>::Output as HasAxis<-1>>::Removed, D>,
            // SAFETY: the lane is that of this call.
            |lane: Lane<E>| (unsafe { lane.elements() }), |this, op, closure| {
                // SAFETY: what is made of the view is no view of it.
                unsafe { this.lend(|this| this.try_unfold::<Size, Step, I>(axis)) }.and_then(|windows| {
                    mapped::<Axis<-1>, O, E, _>(op, D::host(&windows), true, closure).map(D::from_host)
                })
            };
    }
}

forms_in_place! {
    {
        /// Calls a closure with each lane, the elements along one or several axes in row-major order, as a slice that it may change. The forms are
        /// those of [`map_`](Tensor::map_).
        ///
        /// # Panics
        /// If memory runs out.
        ///
        /// ```
        /// # use castiron::{axis, tensor};
        /// let mut x = tensor![[3, 1, 2], [6, 5, 4]];
        /// x.map_lanes_(axis![0], |column| column.reverse());
        /// x.map_lanes_(axis![1], |row| row.sort_unstable_by(|a, b| b.cmp(a)));
        /// assert_eq!(x.to_vec(), [6, 5, 4, 3, 2, 1]);
        /// ```
        map_lanes_ try_map_lanes_ par_map_lanes_ try_par_map_lanes_ [A: Axes<S>,] (_axes: A) (&mut [E]) -> () [],
            // SAFETY: the lane is that of this call, and written.
            |lane: Lane<E>| (unsafe { lane.elements_mut() }), |this, op, closure| update::<A, E, S>(op, D::host_mut(this), closure)
    }
}
