//! Products of matrices whose rows, columns, batches or inner axes are cut.

use super::Dist;
use crate::place::{Debt, MultipliesTo, Placement, Sum, WellPlaced};
use castiron::shape::{Factor, MatMul, SizeArray};
use castiron::{Device, Dim, Element, Numeric, Shape, Tensor};

/// Where the inner axis of a product is.
type Inner<S> = <<S as Factor>::Columns as Dim>::Placement;
/// What is pending of a product.
type Owed<S, U> = <Inner<S> as Placement>::After<Sum, U>;

impl<E: Element, S: Shape, U: Debt, D: Device> Dist<E, S, U, D> {
    /// The matrix product ([`Tensor::matmul`](castiron::Tensor::matmul)). Rows, columns and batches may be cut; where the inner axis is, each
    /// rank has a part of the sum, which is pending.
    ///
    /// PyTorch: `torch.matmul` of `DTensor`s.
    ///
    /// # Panics
    /// If sizes known at run time do not match, on all ranks.
    ///
    /// ```
    /// use castiron::{axis, dim, dims};
    /// use castiron_mesh::{At, Dist, Pending, Sum, mesh, simulate};
    /// mesh! { Ranks: Model }
    /// dims! { Wide }
    /// let sums = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let x = Dist::<f32, (dim!(2), At<Wide, Model>)>::from_fn(mesh, [2, 6], |[_, k]| k as f32).unwrap();
    ///     let w = Dist::<f32, (At<Wide, Model>, dim!(2))>::from_fn(mesh, [6, 2], |_| 1.0).unwrap();
    ///     let parts: Dist<f32, (dim!(2), dim!(2)), Pending<Sum, Model>> = x.matmul(&w);
    ///     parts.all_reduce(mesh).unwrap().whole()[(1, 1)]
    /// });
    /// assert_eq!(sums, [15.0, 15.0]);
    /// ```
    #[track_caller]
    pub fn matmul<T, V: Debt, O, P: Debt>(&self, right: &Dist<E, T, V, D>) -> Dist<E, O, Owed<S, P>, D>
    where
        E: Numeric,
        S: Factor + MatMul<T, Output = O>,
        T: Factor,
        U: MultipliesTo<V, Output = P>,
        O: Shape + WellPlaced<Owed<S, P>>,
    {
        let (left, other) = (self.sizes.as_ref(), right.sizes.as_ref());
        let inner = |sizes: &[usize], back: usize| sizes[sizes.len().saturating_sub(back)];
        let (k, rows) = (left[left.len() - 1], inner(other, if other.len() == 1 { 1 } else { 2 }));
        assert_eq!(k, rows, "matmul: inner sizes differ: {left:?} and {other:?}, of all ranks together");
        let lead = |sizes: &[usize]| sizes[..sizes.len().saturating_sub(2)].to_vec();
        let (a, b) = (lead(left), lead(other));
        let mut sizes = vec![1; a.len().max(b.len())];
        let fits = castiron::shape::broadcast_sizes(&a, &b, &mut sizes);
        assert!(fits, "matmul: batches differ: {left:?} and {other:?}, of all ranks together");
        if left.len() > 1 {
            sizes.push(left[left.len() - 2]);
        }
        if other.len() > 1 {
            sizes.push(other[other.len() - 1]);
        }
        let local: Tensor<E, O, D> = self.local.matmul(&right.local);
        Dist::new(local, SizeArray::copied(&sizes))
    }
}
