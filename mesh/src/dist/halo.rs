//! Blocks that keep room for elements of their neighbours: what a stencil reads in every step.

use super::{Dist, tensor_of};
use crate::block::{Edge, Step, across, copy_box, slab};
use crate::error::Result;
use crate::mesh::Mesh;
use crate::place::{At, Debt, IsSettled, MeshAxis};
use castiron::{Axis, Dim, Dyn, Element, HasAxis, Shape, Tensor, TensorViewMut};
use core::marker::PhantomData;

/// A tensor over ranks whose blocks have room for elements of their neighbours along axis `I`: [`Dist::halo`] makes it.
///
/// [`exchange`](Self::exchange) brings these elements up to date where they are: a step of a stencil sends the faces of its block and copies
/// nothing else. [`wide`](Self::wide) is the block with them, to be read; [`inner_mut`](Self::inner_mut) the block alone, to be written.
///
/// ```
/// use castiron::{Tensor, axis, dims, s};
/// use castiron_mesh::{At, Dist, Edge, mesh, simulate};
/// mesh! { Ranks: Space }
/// dims! { Points }
/// let after = simulate::<Ranks, _>(2, &[0], |mesh| {
///     let rod = Dist::<f32, (At<Points, Space>,)>::from_fn(mesh, [8], |[at]| if at == 3 { 1.0 } else { 0.0 })?;
///     let mut rod = rod.halo(axis![0], [1, 1], Edge::Zeros, mesh)?;
///     let mut next = rod.clone();
///     for _ in 0..2 {
///         rod.exchange(mesh)?;
///         let u = rod.wide();
///         next.inner_mut().assign(0.5 * u.slice(s![1..-1]) + 0.25 * (u.slice(s![..-2]) + u.slice(s![2..])));
///         std::mem::swap(&mut rod, &mut next);
///     }
///     castiron_mesh::Result::Ok(rod.to_dist()?.full_tensor(mesh)?.to_vec())
/// });
/// assert_eq!(after[1], Ok(vec![0.0, 0.0625, 0.25, 0.375, 0.25, 0.0625, 0.0, 0.0]));
/// ```
#[derive(Clone, Debug)]
pub struct Haloed<E: Element, S: Shape + HasAxis<I>, M: MeshAxis, const I: isize> {
    wide: Tensor<E, <S as HasAxis<I>>::Replace<Dyn>>,
    sizes: S::Sizes,
    width: [usize; 2],
    edge: Edge,
    /// How many there are before and after the block: none at an end without an edge.
    room: [usize; 2],
    along: PhantomData<M>,
}

impl<E: Element, S: Shape, U: Debt> Dist<E, S, U> {
    /// The tensor with room for elements of neighbours along axis `I`: `width[0]` of the one before, `width[1]` of the one after. They are
    /// there.
    ///
    /// # Errors
    /// If a block is smaller than the halo of its neighbour, MPI reports an error, or the ranks do different things.
    #[track_caller]
    pub fn halo<M: MeshAxis, const I: isize, N: Dim>(
        &self,
        _axis: Axis<I>,
        width: [usize; 2],
        edge: Edge,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<Haloed<E, S, M, I>>
    where
        S: HasAxis<I, Dim = At<N, M>>,
        U: IsSettled,
    {
        let halo = Step::Halo { axis: <S as HasAxis<I>>::INDEX, width, edge };
        let wide = super::moved(&self.local, self.place(), vec![halo], mesh)?;
        let line = mesh.line::<M>();
        let has = [line.rank > 0 || edge != Edge::None, line.rank + 1 < line.size || edge != Edge::None];
        let room = [0, 1].map(|side| if has[side] { width[side] } else { 0 });
        Ok(Haloed { wide, sizes: self.sizes, width, edge, room, along: PhantomData })
    }
}

impl<E: Element, S: Shape + HasAxis<I>, M: MeshAxis, const I: isize> Haloed<E, S, M, I> {
    /// The block with elements of its neighbours before and after it.
    pub fn wide(&self) -> &Tensor<E, <S as HasAxis<I>>::Replace<Dyn>> {
        &self.wide
    }

    /// The block alone, to be written. Neighbours see what is written after the next [`exchange`](Self::exchange).
    pub fn inner_mut(&mut self) -> TensorViewMut<'_, E, <<S as HasAxis<I>>::Replace<Dyn> as HasAxis<I>>::Replace<Dyn>>
    where
        <S as HasAxis<I>>::Replace<Dyn>: HasAxis<I>,
    {
        let len = self.wide.shape().as_ref()[<S as HasAxis<I>>::INDEX] - self.room[0] - self.room[1];
        self.wide.narrow_mut(Axis::<I>, self.room[0], len)
    }

    /// Brings the elements of neighbours up to date.
    ///
    /// # Errors
    /// If MPI reports one, memory runs out, or the ranks do different things.
    #[track_caller]
    pub fn exchange(&mut self, mesh: &Mesh<M::Mesh>) -> Result<()> {
        let (axis, line) = (<S as HasAxis<I>>::INDEX, mesh.line::<M>());
        let (sizes, [before, after], periodic) = (self.wide.shape(), self.width, self.edge == Edge::Periodic);
        let sizes = sizes.as_ref();
        let own = sizes[axis] - self.room[0] - self.room[1];
        let each = across(sizes, axis);
        let elements = self.wide.as_mut_slice();
        let from = [line.rank > 0 || periodic, line.rank + 1 < line.size || periodic];
        let received = mesh.neighbours(
            line,
            &slab(elements, sizes, axis, self.room[0], after)?,
            &slab(elements, sizes, axis, self.room[0] + own - before, before)?,
            if from[0] { before * each } else { 0 },
            if from[1] { after * each } else { 0 },
            periodic,
        )?;
        for (part, start) in [(&received[0], 0), (&received[1], self.room[0] + own)] {
            let (mut lens, mut at) = (sizes.to_vec(), vec![0; sizes.len()]);
            (lens[axis], at[axis]) = (part.len() / each.max(1), start);
            copy_box(&lens, part, &lens, &vec![0; lens.len()], elements, sizes, &at);
        }
        Ok(())
    }

    /// The tensor without the room.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn to_dist(&self) -> Result<Dist<E, S>> {
        let axis = <S as HasAxis<I>>::INDEX;
        let wide = self.wide.try_contiguous()?;
        let elements = wide.as_slice().expect("contiguous elements of the host are a slice");
        let mut own = wide.shape().as_ref().to_vec();
        own[axis] -= self.room[0] + self.room[1];
        let inner = slab(elements, wide.shape().as_ref(), axis, self.room[0], own[axis])?;
        Ok(Dist::new(tensor_of(inner, &own)?, self.sizes))
    }
}
