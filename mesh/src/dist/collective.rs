//! What ranks do together: sums put together, axes gathered, cut, exchanged.

use super::{Dist, tensor_of};
use crate::block::{Edge, Step, plan};
use crate::buckets::{Buckets, Over};
use crate::engine::{Reduce, Request};
use crate::error::Result;
use crate::mesh::{Mesh, block};
use crate::place::{
    At, Debt, IsSettled, MeshAxes, MeshAxis, OnMesh, OwesOver, Pending, Reduction, ReductionKind, Settled, WellPlaced,
    Whole,
};
use castiron::shape::{ConvertTo, SizeArray};
use castiron::{Axis, Cpu, Device, Dim, Dyn, Element, HasAxis, Shape, Tensor};
use core::marker::PhantomData;
use core::panic::Location;

impl From<ReductionKind> for Reduce {
    fn from(kind: ReductionKind) -> Self {
        match kind {
            ReductionKind::Sum => Reduce::Sum,
            ReductionKind::Product => Reduce::Product,
            ReductionKind::Max => Reduce::Max,
            ReductionKind::Min => Reduce::Min,
            ReductionKind::All => Reduce::And,
            ReductionKind::Any => Reduce::Or,
        }
    }
}

/// A tensor of the host whose elements this rank alone has, row by row.
pub(super) fn owned<E: Element, S: Shape, D: Device>(local: Tensor<E, S, D>) -> Result<Tensor<E, S>> {
    let host = local.to_device::<Cpu>()?;
    drop(local);
    Ok(host.try_contiguous()?)
}

impl<E: Element, S: Shape, U: Debt, D: Device> Dist<E, S, U, D> {
    /// Puts together what the ranks along `M` have parts of: all of them get the whole.
    ///
    /// `M` is found by the compiler where one reduction is pending; of several it is named: `all_reduce::<Data, _, _>(&mesh)`.
    ///
    /// PyTorch: `redistribute` from `Partial` to `Replicate`, `torch.distributed.all_reduce`.
    ///
    /// # Errors
    /// If MPI reports one, or the ranks do different things.
    ///
    /// ```
    /// use castiron::dims;
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let sums = simulate::<Ranks, _>(3, &[0], |mesh| {
    ///     let x = Dist::<i64, (At<Rows, Data>,)>::from_fn(mesh, [10], |[row]| row as i64).unwrap();
    ///     x.sum().all_reduce(mesh).unwrap().item()
    /// });
    /// assert_eq!(sums, [45; 3]);
    /// ```
    #[track_caller]
    pub fn all_reduce<M: MeshAxis, P, R: Debt>(self, mesh: &Mesh<M::Mesh>) -> Result<Dist<E, S, R, D>>
    where
        U: OwesOver<M, P, Rest = R>,
    {
        self.reduced(&[(M::INDEX, <U::Op as Reduction>::KIND.into())], mesh)
    }

    /// Puts together whatever is pending, over all axes of the mesh: for generic code, which does not know what is. A value that is there
    /// stays.
    ///
    /// # Errors
    /// If MPI reports one, or the ranks do different things.
    ///
    /// ```
    /// use castiron::{Dim, Float, axis, dim, dims};
    /// use castiron_mesh::{At, Dist, Mesh, MeshAxes, Result, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// fn centered<E: Float, N: Dim, M: Dim, X: MeshAxes>(x: &Dist<E, (N, M)>, mesh: &Mesh<X>) -> Result<Dist<E, (N, M)>> {
    ///     let mean = x.mean_axis(axis![0].keepdim()).settled(mesh)?;
    ///     Ok(x.map_block(|x| x - mean.block()))
    /// }
    /// let means = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let x = Dist::<f32, (At<Rows, Data>, dim!(2))>::from_fn(mesh, [4, 2], |[row, _]| row as f32).unwrap();
    ///     centered(&x, mesh).unwrap().sum().all_reduce(mesh).unwrap().item()
    /// });
    /// assert_eq!(means, [0.0, 0.0]);
    /// ```
    #[track_caller]
    pub fn settled<X: MeshAxes>(self, mesh: &Mesh<X>) -> Result<Dist<E, S, Settled, D>> {
        let mut over = Vec::new();
        U::each(&mut |kind, along, _| over.push((along, kind.into())));
        self.reduced(&over, mesh)
    }

    /// Puts together what the ranks along axes of the mesh have parts of.
    #[track_caller]
    pub(super) fn reduced<V: Debt, X: MeshAxes>(
        self,
        over: &[(usize, Reduce)],
        mesh: &Mesh<X>,
    ) -> Result<Dist<E, S, V, D>> {
        let sizes = self.sizes;
        if over.is_empty() {
            return Ok(Dist::new(self.local, sizes));
        }
        #[cfg(feature = "grad")]
        if const { D::RECORDS } {
            return self.moved(over.iter().map(|&(along, op)| Step::Reduce { along, op }).collect(), mesh);
        }
        // (Where they are: nothing is copied.)
        let mut host = owned(self.local)?;
        for &(along, op) in over {
            mesh.reduce_in_place(mesh.line_at(along), "all_reduce", host.as_mut_slice(), op)?;
        }
        Ok(Dist::new(host.to_device::<D>()?, sizes))
    }

    /// Moves elements between ranks, one step after another.
    #[track_caller]
    fn moved<T: Shape, V: Debt, X: MeshAxes>(&self, steps: Vec<Step>, mesh: &Mesh<X>) -> Result<Dist<E, T, V, D>> {
        let local = super::moved(&self.local, self.place(), steps, mesh)?;
        Ok(Dist::new(local, T::Sizes::copied(self.sizes.as_ref())))
    }

    /// Begins [`all_reduce`](Self::all_reduce): the ranks go on with other work, and wait for the result where they need it.
    ///
    /// PyTorch: `torch.distributed.all_reduce(async_op=True)`, whose result may be used too early.
    ///
    /// # Errors
    /// If MPI reports one, the ranks do different things, or a gradient is to go back: through `all_reduce` it does.
    ///
    /// ```
    /// use castiron::dims;
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let sums = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let x = Dist::<i64, (At<Rows, Data>,)>::from_fn(mesh, [10], |[row]| row as i64).unwrap();
    ///     let sum = x.sum().begin_all_reduce(mesh).unwrap();
    ///     let other = x.square().sum();
    ///     (sum.wait(mesh).unwrap().item(), other.all_reduce(mesh).unwrap().item())
    /// });
    /// assert_eq!(sums, [(45, 285); 2]);
    /// ```
    #[track_caller]
    pub fn begin_all_reduce<M: MeshAxis, P, R: Debt>(self, mesh: &Mesh<M::Mesh>) -> Result<Arriving<E, S, R, D>>
    where
        U: OwesOver<M, P, Rest = R>,
    {
        super::expect_no_tape::<D>("begin_all_reduce", "`all_reduce` has a way back")?;
        let local = self.local.shape();
        let elements = self.local.cpu()?.to_vec();
        let request = mesh.begin_reduce(mesh.line::<M>(), "all_reduce", elements, <U::Op as Reduction>::KIND.into())?;
        Ok(Arriving { request, local, sizes: self.sizes, of: PhantomData })
    }

    /// Begins [`all_gather`](Self::all_gather) of the first axis: the ranks go on with other work, as computing with what they have already.
    ///
    /// # Errors
    /// If MPI reports one, memory runs out, the ranks do different things, or a gradient is to go back: through `all_gather` it does.
    ///
    /// ```
    /// use castiron::{axis, dims};
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let wholes = simulate::<Ranks, _>(3, &[0], |mesh| {
    ///     let x = Dist::<i64, (At<Rows, Data>,)>::from_fn(mesh, [4], |[row]| row as i64).unwrap();
    ///     let whole = x.begin_all_gather(axis![0], mesh).unwrap();
    ///     let own = x.block().square().sum();
    ///     (own.item(), whole.wait(mesh).unwrap().into_whole().to_vec())
    /// });
    /// assert_eq!(wholes[2], (13, vec![0, 1, 2, 3]));
    /// ```
    #[track_caller]
    pub fn begin_all_gather<M: MeshAxis, N: Dim>(
        &self,
        _axis: Axis<0>,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<Arriving<E, <S as HasAxis<0>>::Replace<N>, U, D>>
    where
        S: HasAxis<0, Dim = At<N, M>>,
    {
        super::expect_no_tape::<D>("begin_all_gather", "`all_gather` has a way back")?;
        let line = mesh.line::<M>();
        let mut local = self.local.shape().as_ref().to_vec();
        let each: usize = local[1..].iter().product();
        local[0] = self.sizes.as_ref()[0];
        let counts: Vec<usize> = (0..line.size).map(|rank| block(local[0], rank, line.size).len() * each).collect();
        let request = mesh.begin_gather(line, self.local.cpu()?.to_vec(), &counts)?;
        let sizes = SizeArray::copied(self.sizes.as_ref());
        Ok(Arriving { request, local: SizeArray::copied(&local), sizes, of: PhantomData })
    }

    /// Puts together what the ranks along `M` have parts of; each gets a block of axis `I`. Half of what
    /// [`all_reduce`](Self::all_reduce) sends.
    ///
    /// PyTorch: `redistribute` from `Partial` to `Shard`, `torch.distributed.reduce_scatter_tensor`.
    ///
    /// # Errors
    /// If MPI reports one, memory runs out, or the ranks do different things.
    #[track_caller]
    pub fn reduce_scatter<M: MeshAxis, const I: isize, N: Dim<Placement = Whole>, P, R: Debt>(
        self,
        _axis: Axis<I>,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<Dist<E, <S as HasAxis<I>>::Replace<At<N, M>>, R, D>>
    where
        S: HasAxis<I, Dim = N>,
        U: OwesOver<M, P, Rest = R>,
    {
        let op = <U::Op as Reduction>::KIND.into();
        self.moved(vec![Step::Scatter { axis: <S as HasAxis<I>>::INDEX, along: M::INDEX, op }], mesh)
    }

    /// Every rank along the axis of the mesh gets the whole axis `I`.
    ///
    /// PyTorch: `redistribute` from `Shard` to `Replicate`, `torch.distributed.all_gather_into_tensor`.
    ///
    /// # Errors
    /// If MPI reports one, memory runs out, or the ranks do different things.
    ///
    /// ```
    /// use castiron::{axis, dims};
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let wholes = simulate::<Ranks, _>(3, &[0], |mesh| {
    ///     let x = Dist::<i64, (At<Rows, Data>,)>::from_fn(mesh, [4], |[row]| row as i64).unwrap();
    ///     let whole: Dist<i64, (Rows,)> = x.all_gather(axis![0], mesh).unwrap();
    ///     whole.whole().to_vec()
    /// });
    /// assert_eq!(wholes[1], [0, 1, 2, 3]);
    /// ```
    #[track_caller]
    pub fn all_gather<M: MeshAxis, const I: isize, N: Dim>(
        &self,
        _axis: Axis<I>,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<Dist<E, <S as HasAxis<I>>::Replace<N>, U, D>>
    where
        S: HasAxis<I, Dim = At<N, M>>,
    {
        self.moved(vec![Step::Gather { axis: <S as HasAxis<I>>::INDEX }], mesh)
    }

    /// Each rank along `M` keeps its block of axis `I`, which it has whole: nothing is sent.
    ///
    /// PyTorch: `redistribute` from `Replicate` to `Shard`.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn split<M: MeshAxis, const I: isize, N: Dim<Placement = Whole>>(
        &self,
        _axis: Axis<I>,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<Dist<E, <S as HasAxis<I>>::Replace<At<N, M>>, U, D>>
    where
        S: HasAxis<I, Dim = N>,
        <S as HasAxis<I>>::Replace<At<N, M>>: WellPlaced<U>,
    {
        self.moved(vec![Step::Split { axis: <S as HasAxis<I>>::INDEX, along: M::INDEX }], mesh)
    }

    /// Axis `I`, which is cut, is put together, and axis `J`, which is whole, is cut in its place: each rank sends each other one a block
    /// of what it has.
    ///
    /// PyTorch: `redistribute` from `Shard(i)` to `Shard(j)`, `torch.distributed.all_to_all_single`.
    ///
    /// # Errors
    /// If MPI reports one, memory runs out, or the ranks do different things.
    ///
    /// ```
    /// use castiron::{axis, dims};
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows, Columns }
    /// let columns = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let x = Dist::<i64, (At<Rows, Data>, Columns)>::from_fn(mesh, [3, 2], |[row, column]| (10 * row + column) as i64);
    ///     let turned: Dist<i64, (Rows, At<Columns, Data>)> = x.unwrap().all_to_all(axis![0], axis![1], mesh).unwrap();
    ///     turned.block().to_vec()
    /// });
    /// assert_eq!(columns, [[0, 10, 20], [1, 11, 21]]);
    /// ```
    #[track_caller]
    pub fn all_to_all<M: MeshAxis, const I: isize, const J: isize, N: Dim, K: Dim<Placement = Whole>, T>(
        &self,
        _gathered: Axis<I>,
        _cut: Axis<J>,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<Dist<E, <T as HasAxis<J>>::Replace<At<K, M>>, U, D>>
    where
        S: HasAxis<I, Dim = At<N, M>, Replace<N> = T> + HasAxis<J, Dim = K>,
        T: Shape + HasAxis<J>,
    {
        let (gathered, cut) = (<S as HasAxis<I>>::INDEX, <S as HasAxis<J>>::INDEX);
        self.moved(vec![Step::Exchange { gathered, cut }], mesh)
    }

    /// The same tensor in the placement of the shape `T`, whatever its own is: axes that are cut anew are cut first, for which nothing is
    /// sent; a cut that moves from one axis to another is one exchange; the rest is gathered.
    ///
    /// PyTorch: `DTensor.redistribute`.
    ///
    /// # Errors
    /// If MPI reports one, memory runs out, or the ranks do different things.
    ///
    /// ```
    /// use castiron::dims;
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Grid: Data, Model }
    /// dims! { Rows, Columns }
    /// let blocks = simulate::<Grid, _>(4, &[2, 2], |mesh| {
    ///     type From = (At<Rows, Data>, At<Columns, Model>);
    ///     let x = Dist::<i64, From>::from_fn(mesh, [2, 2], |[row, column]| (10 * row + column) as i64).unwrap();
    ///     let other: Dist<i64, (At<Rows, Model>, Columns)> = x.redistribute(mesh).unwrap();
    ///     other.block().to_vec()
    /// });
    /// assert_eq!(blocks, [[0, 1], [10, 11], [0, 1], [10, 11]]);
    /// ```
    #[track_caller]
    pub fn redistribute<T, X: MeshAxes>(&self, mesh: &Mesh<X>) -> Result<Dist<E, T, U, D>>
    where
        S: OnMesh<X> + Placed<T>,
        T: Shape + OnMesh<X> + WellPlaced<U>,
    {
        self.moved(plan(&Self::cuts(), &Dist::<E, T, U, D>::cuts(), X::NAMES.len()), mesh)
    }

    /// The whole tensor as one of castiron, on every rank: what is pending is put together, and all axes are gathered. For printing, for
    /// tests, for what is small.
    ///
    /// PyTorch: `DTensor.full_tensor`.
    ///
    /// # Errors
    /// If MPI reports one, memory runs out, or the ranks do different things.
    #[track_caller]
    pub fn full_tensor<X: MeshAxes>(&self, mesh: &Mesh<X>) -> Result<Tensor<E, S::Uncut, D>>
    where
        S: OnMesh<X>,
    {
        let gathered = plan(&Self::cuts(), &vec![None; S::RANK], X::NAMES.len());
        let whole: Dist<E, S::Uncut, Settled, D> = self.clone().settled(mesh)?.moved(gathered, mesh)?;
        Ok(whole.local)
    }

    /// Runs a function on each rank's block together with elements of its neighbours along axis `I`: `width[0]` of the one before,
    /// `width[1]` of the one after; at the ends as `edge` says. The result has the sizes of the block.
    ///
    /// A convolution without padding over the wide block is what one with padding is over the whole.
    ///
    /// # Errors
    /// If a block is smaller than the halo of its neighbour, MPI reports an error, or the ranks do different things.
    ///
    /// # Panics
    /// If the result has not the sizes of the block.
    ///
    /// ```
    /// use castiron::{Tensor, axis, dims, shape};
    /// use castiron_mesh::{At, Dist, Edge, mesh, simulate};
    /// mesh! { Ranks: Space }
    /// dims! { Points }
    /// let slopes = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let x = Dist::<f32, (At<Points, Space>,)>::from_fn(mesh, [6], |[at]| (at * at) as f32).unwrap();
    ///     let slope = x.with_halo(axis![0], [1, 1], Edge::Zeros, mesh, |wide: &Tensor<f32, shape![_]>| {
    ///         let inner = wide.numel() - 2;
    ///         wide.narrow(axis![0], 2, inner) - wide.narrow(axis![0], 0, inner)
    ///     });
    ///     slope.unwrap().block().to_vec()
    /// });
    /// assert_eq!(slopes.concat(), [1.0, 4.0, 8.0, 12.0, 16.0, -16.0]);
    /// ```
    #[track_caller]
    pub fn with_halo<M: MeshAxis, const I: isize, N: Dim, F: Element, T>(
        &self,
        _axis: Axis<I>,
        width: [usize; 2],
        edge: Edge,
        mesh: &Mesh<M::Mesh>,
        run: impl FnOnce(&Tensor<E, <S as HasAxis<I>>::Replace<Dyn>, D>) -> Tensor<F, T, D>,
    ) -> Result<Dist<F, S, Settled, D>>
    where
        S: HasAxis<I, Dim = At<N, M>>,
        T: Shape + ConvertTo<S>,
        U: IsSettled,
    {
        let halo = Step::Halo { axis: <S as HasAxis<I>>::INDEX, width, edge };
        let wide: Dist<E, <S as HasAxis<I>>::Replace<Dyn>, Settled, D> = self.moved(vec![halo], mesh)?;
        let local = run(&wide.local).try_with_shape::<S>()?;
        assert_eq!(local.shape(), self.local.shape(), "with_halo: the result has the sizes of the block");
        Ok(Dist::new(local, self.sizes))
    }
}

/// The axes of `T` are those of this shape, wherever they are.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be placed as `{T}`",
    label = "the two shapes differ in more than in where axes are cut",
    note = "an axis keeps its size or its name: `At<N, M>` is placed as `N` or as `At<N, K>`"
)]
pub trait Placed<T>: Shape {}
/// An axis and where it is cut.
#[doc(hidden)]
pub trait PlacedDim<T> {}
impl<N: Dim<Placement = Whole>> PlacedDim<N> for N {}
impl<N: Dim, M: MeshAxis> PlacedDim<N> for At<N, M> {}
impl<N: Dim, M: MeshAxis, K: MeshAxis> PlacedDim<At<N, K>> for At<N, M> {}
impl<N: Dim<Placement = Whole>, M: MeshAxis> PlacedDim<At<N, M>> for N {}

impl Placed<()> for () {}
macro_rules! placed {
    ($($dim:ident $to:ident),+) => {
        #[diagnostic::do_not_recommend]
        impl<$($dim: Dim + PlacedDim<$to>, $to: Dim,)+> Placed<($($to,)+)> for ($($dim,)+) {}
    };
}
placed!(A A2);
placed!(A A2, B B2);
placed!(A A2, B B2, C C2);
placed!(A A2, B B2, C C2, D D2);
placed!(A A2, B B2, C C2, D D2, E E2);
placed!(A A2, B B2, C C2, D D2, E E2, F F2);
placed!(A A2, B B2, C C2, D D2, E E2, F F2, G G2);
placed!(A A2, B B2, C C2, D D2, E E2, F F2, G G2, H H2);

/// A tensor that is under way: [`Dist::begin_all_reduce`] gives it, and [`wait`](Self::wait) the tensor. Nothing else can be done with it;
/// dropped, it waits.
#[must_use = "a tensor that is under way is had by `wait`"]
pub struct Arriving<E: Element, S: Shape, U: Debt = Settled, D: Device = Cpu> {
    request: Request<E>,
    local: S::Sizes,
    sizes: S::Sizes,
    of: PhantomData<(U, D)>,
}

impl<E: Element, S: Shape, U: Debt, D: Device> Arriving<E, S, U, D> {
    /// The tensor, once all of it is there.
    ///
    /// # Errors
    /// If MPI reports one, or the ranks do different things.
    pub fn wait<X: MeshAxes>(self, mesh: &Mesh<X>) -> Result<Dist<E, S, U, D>> {
        Ok(Dist::new(tensor_of(self.request.wait(mesh)?, self.local.as_ref())?, self.sizes))
    }
}

/// Several tensors that are pending over one axis of the mesh: a tuple of up to eight, a `Vec` or an array, of any shapes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not several sums that are pending over `{M}`",
    label = "expected a tuple, a `Vec` or an array of tensors over ranks, each a sum that is pending over this axis alone",
    note = "one alone is `x.all_reduce(&mesh)`; what is not pending is left out"
)]
pub trait Together<M: MeshAxis>: Sized {
    /// The same, put together.
    type Output;
    /// Puts together what the ranks along `M` have parts of, for all tensors of one dtype by one call: what each call costs is paid once.
    ///
    /// PyTorch: the buckets of `DistributedDataParallel`, `torch.distributed.all_reduce_coalesced`.
    ///
    /// # Errors
    /// If MPI reports one, memory runs out, or the ranks do different things.
    ///
    /// ```
    /// use castiron::{axis, dims, dim};
    /// use castiron_mesh::{At, Dist, Together, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let sums = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let x = Dist::<i64, (At<Rows, Data>, dim!(2))>::from_fn(mesh, [3, 2], |[row, _]| row as i64).unwrap();
    ///     let (columns, all) = (x.sum_axis(axis![0]), x.sum()).all_reduce_together(mesh).unwrap();
    ///     assert_eq!(mesh.sent().calls, 1);
    ///     (columns.whole().to_vec(), all.item())
    /// });
    /// assert_eq!(sums[0], (vec![3, 3], 6));
    /// ```
    fn all_reduce_together(self, mesh: &Mesh<M::Mesh>) -> Result<Self::Output>;
}

/// One of several tensors that are put together.
#[doc(hidden)]
pub trait Part<M: MeshAxis>: Sized {
    /// On the host, in a bucket or put together already.
    type Placed;
    /// Put together.
    type Output;
    fn put(self, lists: &mut Lists<'_, M::Mesh>) -> Result<Self::Placed>;
    fn take(placed: Self::Placed, lists: &mut Lists<'_, M::Mesh>) -> Result<Self::Output>;
}
/// What tensors of several dtypes are put into.
#[doc(hidden)]
pub struct Lists<'a, X: MeshAxes>(Buckets<'a, X>);

impl<'a, X: MeshAxes> Lists<'a, X> {
    fn new(mesh: &'a Mesh<X>, at: &'static Location<'static>) -> Self {
        Lists(Buckets::new(mesh, "all_reduce_together", at))
    }
}

impl<E: Element, S: Shape, Op: Reduction, M: MeshAxis, D: Device> Part<M> for Dist<E, S, Pending<Op, M>, D> {
    type Placed = (Tensor<E, S>, S::Sizes);
    type Output = Dist<E, S, Settled, D>;
    fn put(self, Lists(buckets): &mut Lists<'_, M::Mesh>) -> Result<Self::Placed> {
        let sizes = self.sizes;
        Ok((buckets.put(over::<Op, M>(), owned(self.local)?)?, sizes))
    }
    fn take((host, sizes): Self::Placed, Lists(buckets): &mut Lists<'_, M::Mesh>) -> Result<Self::Output> {
        Ok(Dist::new(buckets.take(over::<Op, M>(), host)?.to_device::<D>()?, sizes))
    }
}

/// How the parts of `Pending<Op, M>` are put together.
fn over<Op: Reduction, M: MeshAxis>() -> Over {
    Over { reduce: Op::KIND.into(), axes: 1 << M::INDEX }
}

impl<M: MeshAxis, P: Part<M>> Together<M> for Vec<P> {
    type Output = Vec<P::Output>;
    #[track_caller]
    fn all_reduce_together(self, mesh: &Mesh<M::Mesh>) -> Result<Self::Output> {
        let mut lists = Lists::new(mesh, Location::caller());
        let placed = self.into_iter().map(|part| part.put(&mut lists)).collect::<Result<Vec<_>>>()?;
        lists.0.reduce()?;
        placed.into_iter().map(|part| P::take(part, &mut lists)).collect()
    }
}
impl<M: MeshAxis, P: Part<M>, const N: usize> Together<M> for [P; N] {
    type Output = [P::Output; N];
    #[track_caller]
    fn all_reduce_together(self, mesh: &Mesh<M::Mesh>) -> Result<Self::Output> {
        let all = Vec::from(self).all_reduce_together(mesh)?;
        Ok(all.try_into().unwrap_or_else(|_| unreachable!("as many as there were")))
    }
}

macro_rules! together {
    ($($part:ident $at:tt),+) => {
        impl<M: MeshAxis, $($part: Part<M>),+> Together<M> for ($($part,)+) {
            type Output = ($($part::Output,)+);
            #[track_caller]
            fn all_reduce_together(self, mesh: &Mesh<M::Mesh>) -> Result<Self::Output> {
                let mut lists = Lists::new(mesh, Location::caller());
                let placed = ($(self.$at.put(&mut lists)?,)+);
                lists.0.reduce()?;
                Ok(($($part::take(placed.$at, &mut lists)?,)+))
            }
        }
    };
}
together!(A 0);
together!(A 0, B 1);
together!(A 0, B 1, C 2);
together!(A 0, B 1, C 2, D 3);
together!(A 0, B 1, C 2, D 3, E 4);
together!(A 0, B 1, C 2, D 3, E 4, F 5);
together!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
together!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
