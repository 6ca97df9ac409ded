//! `slice`: indices, ranges and new axes for all axes at once, as a view.

use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::positions::Kept;
use crate::layout::{Geometry, ViewAxes};
use crate::shape::Shape;
use crate::shape::slicing::{Items, Selection, Slice};
use crate::tensor::{Tensor, expect_fit};
use castiron_macros::fallible;

/// The positions that an item keeps of an axis.
fn kept(selection: Selection, axis: usize, size: usize) -> Result<Kept> {
    let op = "slice";
    match selection {
        Selection::Whole | Selection::New | Selection::Rest => Ok(Kept::whole(size)),
        Selection::At(index) => Kept::one(op, index as i64, axis, size),
        Selection::Between { start, end, step } => {
            Kept::between(op, [start.map(|at| at as i64), end.map(|at| at as i64)], step as i64, size)
        }
    }
}

/// Calls `see` for each item with the axis and the positions it keeps, or `None` for a new axis.
fn each(items: &dyn Items, sizes: &[usize], mut see: impl FnMut(usize, Option<Kept>)) -> Result<()> {
    let takes = |selection: Selection| usize::from(!matches!(selection, Selection::New | Selection::Rest));
    let mut named = 0;
    items.each(&mut |selection| named += takes(selection));
    let (mut axis, mut wrong) = (0, None);
    let whole = |axis: &mut usize, count: usize, see: &mut dyn FnMut(usize, Option<Kept>)| {
        for _ in 0..count {
            see(*axis, Some(Kept::whole(sizes[*axis])));
            *axis += 1;
        }
    };
    items.each(&mut |selection| match selection {
        Selection::New => see(axis, None),
        // The number of axes is checked by the types.
        Selection::Rest => whole(&mut axis, sizes.len() - named, &mut see),
        _ => {
            match kept(selection, axis, sizes[axis]) {
                Ok(kept) => see(axis, Some(kept)),
                Err(error) => wrong = Some(error),
            }
            axis += 1;
        }
    });
    let left = sizes.len() - axis;
    whole(&mut axis, left, &mut see);
    wrong.map_or(Ok(()), Err)
}

/// The layout rule of `slice`.
fn cut(items: &dyn Items, own: Geometry<'_>, view: &mut ViewAxes<'_>) -> Result<usize> {
    let (mut offset, mut to) = (own.offset, 0);
    each(items, own.sizes, |axis, kept| {
        let (size, stride, start) = kept.map_or((1, own.inserted_stride(axis), 0), |kept| own.kept(axis, kept));
        offset = offset.wrapping_add(start);
        if kept.is_none_or(|kept| !kept.is_one) {
            view.set(to, size, stride);
            to += 1;
        }
    })?;
    Ok(offset)
}

/// The positions that a slice keeps of each axis.
pub(crate) fn kept_of(items: &dyn Items, sizes: &[usize]) -> Result<Vec<Kept>> {
    let mut all = Vec::new();
    each(items, sizes, |_, kept| all.extend(kept))?;
    Ok(all)
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// A view by indices, ranges and new axes, written with [`s!`](crate::s!) (`x[1:3, None, ::2, 0]`).
    ///
    /// # Panics
    /// If an index is out of range, a step is not positive, or a range of literals is longer than an axis whose size is known at run time.
    ///
    /// ```
    /// # use castiron::{s, shape, tensor, Tensor};
    /// let x = tensor![[1, 2, 3, 4], [5, 6, 7, 8]];
    /// let y: Tensor<i64, shape![2, 2]> = x.slice(s![.., 1..3]);
    /// assert_eq!(y.to_vec(), [2, 3, 6, 7]);
    /// let last: Tensor<i64, shape![2]> = x.slice(s![-1, ..;2]);
    /// assert_eq!(last.to_vec(), [5, 7]);
    /// assert!(last.shares_storage(&x));
    /// ```
    #[fallible]
    pub fn slice<I: Items, T: Shape>(&self, items: I) -> Result<Tensor<E, T, D>>
    where
        S: Slice<I, Output = T>,
    {
        self.try_viewed(|own, mut view| {
            let offset = cut(&items, own, &mut view)?;
            expect_fit::<T>("slice", view.sizes)?;
            Ok(offset)
        })
    }
}
