//! Folds by closures: of all elements, and along axes.

use super::forms::Failure;
use super::lanes::{kept, mapped};
use super::{ClosureError, HostClosures, Seen, bytes, recorded};
use crate::cpu::closures::{self, Alone, Lane, Shared, fold_across, fold_blocks};
use crate::cpu::in_order::{Elements, Lanes};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{self, unwrap};
use crate::shape::{Axes, Shape};
use crate::storage::HostBuffer;
use crate::tensor::Tensor;
use castiron_macros::fallible;
use core::convert::Infallible;

/// Folds by closures.
impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Folds all elements, in row-major order, into a value of any type: `f(f(start, x0), x1)` and so on, as `Iterator::fold`.
    ///
    /// `try_fold` stops at the first error of its closure. On several threads: [`par_fold`](Self::par_fold).
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.fold(String::new(), |text, v| text + &v.to_string()), "1234");
    /// assert_eq!(x.try_fold(0_i8, |number, v| number.checked_mul(10).map(|number| number + v as i8).ok_or(v)), Err(4));
    /// ```
    pub fn fold<T>(&self, start: T, mut f: impl FnMut(T, E) -> T) -> T
    where
        D: HostClosures,
    {
        match self.try_fold(start, |value, element| Ok::<T, Infallible>(f(value, element))) {
            Ok(value) => value,
        }
    }

    /// [`fold`](Self::fold) by a closure that fails: stops at its first error.
    ///
    /// # Errors
    /// That of the closure.
    #[cfg_attr(doc, doc(hidden))]
    pub fn try_fold<T, X>(&self, start: T, mut f: impl FnMut(T, E) -> Result<T, X>) -> Result<T, X>
    where
        D: HostClosures,
    {
        let mut folded = Some(Ok(start));
        let run = || {
            let elements = Elements::new(D::host(self).elements())?;
            elements.visit(0..elements.len(), &mut |_, part| {
                if let Some(Ok(value)) = folded.take() {
                    folded = Some(part.iter().try_fold(value, |value, &element| f(value, element)));
                }
                matches!(folded, Some(Ok(_)))
            });
            Ok(())
        };
        // (It asks for no memory, and the elements of a tensor have been counted.)
        unwrap(recorded("fold", [Seen::of(D::host(self))], |()| 0, run));
        folded.unwrap_or_else(|| unreachable!("it is put back"))
    }

    /// [`fold`](Self::fold) on several threads: of blocks of elements, each from `start`, whose values `merge` then puts together in order. The
    /// blocks, and so the result, do not depend on the number of threads.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// let x = castiron::Tensor::<f64, castiron::shape![_]>::ones_sized([100_000]);
    /// assert_eq!(x.par_fold(0.0, |sum, v| sum + v * v, |a, b| a + b), 100_000.0);
    /// ```
    #[track_caller]
    pub fn par_fold<T: Clone + Send>(&self, start: T, f: impl Fn(T, E) -> T + Sync, merge: impl FnMut(T, T) -> T) -> T
    where
        D: HostClosures,
    {
        let folded =
            Elements::new(D::host(self).elements()).and_then(|elements| fold_blocks(&elements, 1, &start, &f, merge));
        unwrap(folded).pop().unwrap_or(start)
    }

    /// [`fold`](Self::fold) along axes, which disappear: a new tensor with the value of each lane. The forms are those of [`map`](Self::map), and
    /// [`par_fold_axis`](Self::par_fold_axis).
    ///
    /// `ndarray`: `fold_axis`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// # use castiron::{axis, tensor};
    /// let digits = tensor![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(digits.fold_axis(axis![1], 0, |number, v| 10 * number + v).to_vec(), [123, 456]);
    /// ```
    #[track_caller]
    pub fn fold_axis<A: Axes<S>, T: Element>(
        &self,
        _axes: A,
        start: T,
        mut f: impl FnMut(T, E) -> T,
    ) -> Tensor<T, A::Reduced, D>
    where
        D: HostClosures,
    {
        unwrap(self.folded_axis::<A, T>("fold_axis", start, &mut f))
    }

    /// The fold of each lane: of one after the other, or of all at once where neighbours are nearer.
    fn folded_axis<A: Axes<S>, T: Element>(
        &self,
        op: &'static str,
        start: T,
        f: &mut impl FnMut(T, E) -> T,
    ) -> error::Result<Tensor<T, A::Reduced, D>>
    where
        D: HostClosures,
    {
        let run = || {
            let kept = kept::<T, S, A>(op, &self.shape(), true)?;
            let lanes = Lanes::new(D::host(self).elements(), A::MASK)?;
            let storage = if lanes.lie_across() {
                fold_across(&lanes, start, Alone(&mut |(value, element)| f(value, element)))
            } else {
                let mut folded = |lane: Lane<E>| {
                    // SAFETY: the lane is that of this call.
                    unsafe { lane.elements() }.iter().fold(start, |value, &element| f(value, element))
                };
                closures::lanes(&lanes, Alone(&mut folded))
            };
            Ok(Tensor::dense(storage?, kept))
        };
        recorded(op, [Seen::of(D::host(self))], bytes, run).map(D::from_host)
    }

    /// [`fold_axis`](Self::fold_axis) by a closure that fails: gives its first error.
    ///
    /// # Errors
    /// That of the closure, and castiron's.
    #[cfg_attr(doc, doc(hidden))]
    pub fn try_fold_axis<A: Axes<S>, T: Element, X: ClosureError>(
        &self,
        _axes: A,
        start: T,
        mut f: impl FnMut(T, E) -> Result<T, X>,
    ) -> Result<Tensor<T, A::Reduced, D>, X>
    where
        D: HostClosures,
    {
        let failure = Failure::new();
        let folded =
            self.folded_axis::<A, T>("fold_axis", start, &mut |value, element| failure.keep(|| f(value, element)));
        failure.or(folded)
    }

    /// [`fold_axis`](Self::fold_axis) on several threads, as [`par_fold`](Self::par_fold) for each lane.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// # use castiron::{axis, tensor};
    /// let x = tensor![[1, -2, 3], [-4, 5, 6]];
    /// assert_eq!(x.par_fold_axis(axis![0], 0, |most, v| most.max(v), i64::max).to_vec(), [1, 5, 6]);
    /// ```
    #[track_caller]
    pub fn par_fold_axis<A: Axes<S>, T: Element>(
        &self,
        _axes: A,
        start: T,
        f: impl Fn(T, E) -> T + Sync,
        merge: impl FnMut(T, T) -> T,
    ) -> Tensor<T, A::Reduced, D>
    where
        D: HostClosures,
    {
        let x = D::host(self);
        let run = || {
            let kept = kept::<T, S, A>("par_fold_axis", &x.shape(), true)?;
            let lanes = Lanes::new(x.elements(), A::MASK)?;
            let values = fold_blocks(&lanes.elements(), lanes.count(), &start, &f, merge)?;
            Ok(Tensor::dense(HostBuffer::from_vec(values)?, kept))
        };
        D::from_host(unwrap(recorded("par_fold_axis", [Seen::of(x)], bytes, run)))
    }

    /// Folds all elements, in row-major order, from the first on, as `Iterator::reduce`; `None` if there is none. `par_reduce` combines them in
    /// blocks on several threads, as [`par_fold`](Self::par_fold).
    ///
    /// ```
    /// let x = castiron::tensor![[3, -7], [5, 1]];
    /// assert_eq!(x.reduce(|a, b| if a.abs() > b.abs() { a } else { b }), Some(-7));
    /// ```
    pub fn reduce(&self, mut f: impl FnMut(E, E) -> E) -> Option<E>
    where
        D: HostClosures,
    {
        self.fold(None, |value, element| Some(value.map_or(element, |value| f(value, element))))
    }

    /// [`reduce`](Self::reduce) on several threads.
    ///
    /// # Panics
    /// If memory runs out.
    #[cfg_attr(doc, doc(hidden))]
    #[track_caller]
    pub fn par_reduce(&self, f: impl Fn(E, E) -> E + Sync) -> Option<E>
    where
        D: HostClosures,
    {
        self.par_fold(
            None,
            |value, element| Some(value.map_or(element, |value| f(value, element))),
            |a, b| Some(f(a?, b?)),
        )
    }

    /// [`reduce`](Self::reduce) along axes, which disappear; `par_reduce_axis` takes several threads.
    ///
    /// # Panics
    /// If there is a result and no element for it.
    ///
    /// ```
    /// # use castiron::{axis, tensor};
    /// let x = tensor![[3, -7], [5, 1]];
    /// assert_eq!(x.reduce_axis(axis![0], |a, b| if a.abs() > b.abs() { a } else { b }).to_vec(), [5, -7]);
    /// ```
    #[fallible]
    pub fn reduce_axis<A: Axes<S>>(
        &self,
        _axes: A,
        mut f: impl FnMut(E, E) -> E,
    ) -> error::Result<Tensor<E, A::Reduced, D>>
    where
        D: HostClosures,
    {
        let mut reduced = |lane: Lane<E>| reduced(lane, &mut f);
        mapped::<A, E, E, S>("reduce_axis", D::host(self), false, Alone(&mut reduced)).map(D::from_host)
    }

    /// [`reduce_axis`](Self::reduce_axis) on several threads.
    ///
    /// # Panics
    /// As there.
    #[cfg_attr(doc, doc(hidden))]
    #[fallible]
    pub fn par_reduce_axis<A: Axes<S>>(
        &self,
        _axes: A,
        f: impl Fn(E, E) -> E + Sync,
    ) -> error::Result<Tensor<E, A::Reduced, D>>
    where
        D: HostClosures,
    {
        let reduced = |lane: Lane<E>| reduced(lane, &f);
        mapped::<A, E, E, S>("par_reduce_axis", D::host(self), false, Shared(&reduced)).map(D::from_host)
    }
}

/// A lane folded from its first element on.
#[inline(always)]
fn reduced<E: Element>(lane: Lane<E>, f: impl FnMut(E, E) -> E) -> E {
    // SAFETY: this is the call that was given the lane.
    let elements = unsafe { lane.elements() }.iter().copied();
    elements.reduce(f).unwrap_or_else(|| unreachable!("empty lanes have been refused"))
}
