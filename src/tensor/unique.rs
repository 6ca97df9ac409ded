//! Elements without repetition: `unique`, `unique_consecutive`. How many there are depends on the data.

use super::{Tensor, checked_numel};
use crate::device::{Device, Order};
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, unwrap};
use crate::ops::Op;
use crate::ops::admit::OrderedFor;
use crate::ops::choosing;
use crate::shape::{Dyn, Shape};
use crate::storage::View;

/// The elements without repetition, for each element which of them it is, and how often each was there.
type Distinct<E, S, D> = (Tensor<E, (Dyn,), D>, Tensor<i64, S, D>, Tensor<i64, (Dyn,), D>);

/// Puts neighbours together that are equal. `order` gives the element that is at a position.
fn together<E: Element, S: Shape, D: Device>(
    elements: Vec<E>,
    order: impl Fn(usize) -> usize,
    sizes: S::Sizes,
) -> Result<Distinct<E, S, D>> {
    let (mut values, mut counts): (Vec<E>, Vec<i64>) = (Vec::new(), Vec::new());
    let mut inverse = vec![0; elements.len()];
    for (at, element) in elements.into_iter().enumerate() {
        match (values.last(), counts.last_mut()) {
            (Some(last), Some(count)) if *last == element => *count += 1,
            _ => {
                values.push(element);
                counts.push(1);
            }
        }
        inverse[order(at)] = values.len() as i64 - 1;
    }
    let count = values.len();
    checked_numel::<i64>("unique", sizes.as_ref())?;
    Ok((
        Tensor::dense(D::build(|| Ok(values))?, [count]),
        Tensor::dense(D::build(|| Ok(inverse))?, sizes),
        Tensor::dense(D::build(|| Ok(counts))?, [count]),
    ))
}

/// All elements in row-major order.
fn flat<O: Op, E: Element, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Result<Tensor<E, S, D>> {
    if D::HAS_DATA { x.try_contiguous() } else { Err(Error::NoData { op: O::NAME }) }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The elements without repetition from the smallest to the largest; for each element of `self` which of them it is; and how
    /// often each is there. No NaN equals another.
    ///
    /// Shapes: one axis, whose size is known at run time; that of `self`; one axis. Dtypes: all with an order; the other two are
    /// `i64`. A tensor without data has no answer.
    ///
    /// PyTorch: `torch.unique(return_inverse=True, return_counts=True)`.
    ///
    /// # Panics
    /// If memory runs out; [`try_unique`](Self::try_unique) returns the error.
    ///
    /// ```
    /// use castiron::tensor;
    /// let (values, inverse, counts) = tensor![[7, 3], [3, 3]].unique();
    /// assert_eq!(values.to_vec(), [3, 7]);
    /// assert_eq!(inverse.to_vec(), [1, 0, 0, 0]);
    /// assert_eq!(counts.to_vec(), [3, 1]);
    /// ```
    #[track_caller]
    pub fn unique(&self) -> (Tensor<E, (Dyn,), D>, Tensor<i64, S, D>, Tensor<i64, (Dyn,), D>)
    where
        E: OrderedFor<choosing::unique>,
    {
        unwrap(self.try_unique())
    }

    /// [`unique`](Self::unique), returning the error.
    pub fn try_unique(&self) -> Result<(Tensor<E, (Dyn,), D>, Tensor<i64, S, D>, Tensor<i64, (Dyn,), D>)>
    where
        E: OrderedFor<choosing::unique>,
    {
        let flat = flat::<choosing::unique, E, S, D>(self)?;
        let sizes = [self.numel()];
        let line = View::<_, E>::new(flat.storage(), flat.storage_offset(), &sizes, &[1]);
        let [values, places] = D::order(Order::Sort { descending: false }, line, 0)?;
        let places = D::download(View::<_, i64>::new(&places, 0, &sizes, &[1]))?;
        let values = D::download(View::<_, E>::new(&values, 0, &sizes, &[1]))?;
        together(values, |at| places[at] as usize, self.shape())
    }

    /// The elements in row-major order without those that equal the one before; for each element of `self` which of them it is;
    /// and how many stood together. No NaN equals another.
    ///
    /// Shapes: one axis, whose size is known at run time; that of `self`; one axis. Dtypes: all computing dtypes; the other two
    /// are `i64`. A tensor without data has no answer.
    ///
    /// PyTorch: `torch.unique_consecutive(return_inverse=True, return_counts=True)`.
    ///
    /// # Panics
    /// If memory runs out; [`try_unique_consecutive`](Self::try_unique_consecutive) returns the error.
    ///
    /// ```
    /// use castiron::tensor;
    /// let (values, inverse, counts) = tensor![1, 1, 2, 1].unique_consecutive();
    /// assert_eq!(values.to_vec(), [1, 2, 1]);
    /// assert_eq!(inverse.to_vec(), [0, 0, 1, 2]);
    /// assert_eq!(counts.to_vec(), [2, 1, 1]);
    /// ```
    #[track_caller]
    pub fn unique_consecutive(&self) -> (Tensor<E, (Dyn,), D>, Tensor<i64, S, D>, Tensor<i64, (Dyn,), D>)
    where
        E: Dtype,
    {
        unwrap(self.try_unique_consecutive())
    }

    /// [`unique_consecutive`](Self::unique_consecutive), returning the error.
    pub fn try_unique_consecutive(&self) -> Result<(Tensor<E, (Dyn,), D>, Tensor<i64, S, D>, Tensor<i64, (Dyn,), D>)>
    where
        E: Dtype,
    {
        let flat = flat::<choosing::unique_consecutive, E, S, D>(self)?;
        together(D::download(flat.view())?, |at| at, self.shape())
    }
}
