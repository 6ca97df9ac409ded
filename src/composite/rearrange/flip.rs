//! Axes in reverse order: `flip`, `fliplr`, `flipud`, `rot90`.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::exchanged;
use crate::layout::strides;
use crate::ops::kernel::Copying;
use crate::ops::segment::Segment;
use crate::shape::{self, AxisList, Dimensional, DistinctAxes, HasAxis, Rotate, Shape};
use crate::tensor::Tensor;
use castiron_macros::composites;

/// The axes in a type.
pub(super) fn indices<S: Shape, A: AxisList<S>>(_: A) -> &'static [usize] {
    A::INDICES
}

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The elements in reverse order along axes.
    ///
    /// Shape: that of `self`.
    ///
    /// # Errors
    /// If an axis is out of range or named twice.
    #[doc(alias = "reverse")]
    #[doc(alias = "flipud")]
    #[op(flip(input, *dims))]
    #[any(by_width, dims: &[i64] = &self.axes_from_end("flip", dims)?)]
    #[typed(<A: AxisList<S>>(&self, axes: A) -> Self; dims = indices::<S, A>(axes))]
    #[example(let x = tensor![[1, 2, 3], [4, 5, 6]]; x.flip(axis![1]), x.flip(&[1]), tensor![[3, 2, 1], [6, 5, 4]])]
    pub(crate) fn flip(&self, dims: &[usize]) -> Result<Owned<E, D>> {
        self.flipped("flip", dims)
    }

    /// Columns in reverse order: [`flip`](Self::flip) along axis 1.
    ///
    /// # Errors
    /// If there are fewer than two axes.
    #[op(fliplr(input))]
    #[any(by_width)]
    #[typed((&self) -> Self
        where
            S: HasAxis<1>)]
    #[example(let x = tensor![[1, 2, 3], [4, 5, 6]]; x.fliplr(), x.fliplr(), tensor![[3, 2, 1], [6, 5, 4]])]
    pub(crate) fn fliplr(&self) -> Result<Owned<E, D>> {
        self.expect_axes("fliplr", 2)?;
        self.flipped("fliplr", &[1])
    }

    /// Rows in reverse order: [`flip`](Self::flip) along axis 0.
    ///
    /// # Errors
    /// If there is no axis.
    #[op(flipud(input))]
    #[any(by_width)]
    #[typed((&self) -> Self
        where
            S: Dimensional)]
    #[example(let x = tensor![[1, 2, 3], [4, 5, 6]]; x.flipud(), x.flipud(), tensor![[4, 5, 6], [1, 2, 3]])]
    pub(crate) fn flipud(&self) -> Result<Owned<E, D>> {
        self.expect_axes("flipud", 1)?;
        self.flipped("flipud", &[0])
    }

    /// The plane of two axes rotated by `k` right angles, from the first axis towards the second, or back if `k` is negative. For a
    /// `Tensor` `K` is a type, from -4 to 4.
    ///
    /// # Errors
    /// If the axes are out of range or the same.
    #[op(rot90(input, k = 1, dims = [0, 1]))]
    #[any(by_width, let () = self.expect_rank("rot90", 2)?, dims: [i64; 2] = strides::of_matrix(&self.axes_from_end("rot90", &dims)?))]
    #[typed(<const K: isize, const I: isize, const J: isize>(&self, plane: DistinctAxes<(shape::Axis<I>, shape::Axis<J>)>) -> Tensor<E, <S as Rotate<K, I, J>>::Output, D>
        where
            S: Rotate<K, I, J> + HasAxis<I> + HasAxis<J>;
        k = { let _ = plane; K as i64 }, dims = [<S as HasAxis<I>>::INDEX, <S as HasAxis<J>>::INDEX])]
    #[example(let x = tensor![[1, 2, 3], [4, 5, 6]]; x.rot90::<1, _, _>(axis![0, 1]), x.rot90(1, [0, 1]), tensor![[3, 6], [2, 5], [1, 4]])]
    pub(crate) fn rot90(&self, k: i64, dims: [usize; 2]) -> Result<Owned<E, D>> {
        let (op, [first, second]) = ("rot90", dims);
        let turned = |x: Owned<E, D>| {
            let mut order = x.dims();
            order.iter_mut().zip(exchanged(x.rank(), first, second)).for_each(|(to, from)| *to = from);
            Ok(x.permute(op, &order)?.share())
        };
        match k.rem_euclid(4) {
            0 => self.map1_dense(op, Copying),
            1 => turned(self.flipped(op, &[second])?),
            2 => self.flipped(op, &dims),
            _ => turned(self.flipped(op, &[first])?),
        }
    }

    fn flipped(&self, op: &'static str, dims: &[usize]) -> Result<Owned<E, D>> {
        let mut axes = self.whole_axes()?;
        for &at in dims {
            // A zero-dim tensor counts as one axis of size 1.
            if let Some(&size) = self.sizes().get(at) {
                axes[at] = vec![Segment::Backward { start: size.saturating_sub(1), len: size }];
            }
        }
        let mut strides = self.dims();
        strides::write_preserved(self.sizes(), self.strides(), &mut strides);
        self.assembled_to(op, &axes, self.dims(), strides, E::default())
    }
}
