//! `Batches`: an iterator over batches.

use super::{Batch, Examples, Prefetched, prefetched};
use crate::error::{Result, invalid, unwrap};
use crate::shape::{Dim, Dyn};
use crate::tensor::{Generator, Tensor};
use castiron_macros::fallible;
use core::fmt;
use core::marker::PhantomData;

/// An iterator over the batches of one pass over the examples (`torch.utils.data.DataLoader` of a `TensorDataset`).
///
/// The last batch is smaller if the examples do not come out even, see [`drop_last`](Self::drop_last). In order, batches are views; shuffled,
/// they are copies. Tensors that are no copies share storage with the caller's.
///
/// ```
/// use castiron::{data::Batches, tensor};
/// let x = tensor![[0, 1], [2, 3], [4, 5]];
/// let batches: Vec<_> = Batches::new(&x, 2).map(|batch| batch.to_vec()).collect();
/// assert_eq!(batches, [vec![0, 1, 2, 3], vec![4, 5]]);
/// ```
///
/// What is done to a batch before it is used, such as moving it to another device, is `map`; a thread does it ahead by [`prefetched`].
#[derive(Clone, Debug)]
pub struct Batches<T, N: Dim = Batch> {
    examples: T,
    count: usize,
    size: usize,
    /// The positions in the order in which they are taken, if they are shuffled.
    order: Option<Vec<i64>>,
    keeps_last: bool,
    done: usize,
    first_axis: PhantomData<N>,
}

/// How many batches are done.
///
/// ```
/// use castiron::data::{Batches, Progress};
/// let mut batches = Batches::new(castiron::tensor![1, 2, 3], 2);
/// while let Some(batch) = batches.next() {
///     eprintln!("{}: {batch}", batches.progress());
/// }
/// assert_eq!(batches.progress(), Progress { done: 2, total: 2 });
/// assert_eq!(batches.progress().to_string(), "2/2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The batches that were given.
    pub done: usize,
    /// All batches of the pass.
    pub total: usize,
}
impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.done, self.total)
    }
}

impl<T: Examples<Kept = T>> Batches<T> {
    /// Batches of `size` examples: of a tensor, or of a tuple of tensors or references to them with the same number of examples.
    /// The first axis of a batch is [`Batch`], see [`named`](Self::named).
    ///
    /// # Panics
    /// If the size is 0, or the tensors have different numbers of examples.
    ///
    /// ```
    /// use castiron::{data::Batches, tensor};
    /// let (x, y) = (tensor![[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], tensor![0, 1, 2]);
    /// let (x, y) = Batches::new((&x, &y), 2).last().unwrap();
    /// assert_eq!((x.to_vec(), y.to_vec()), (vec![4.0, 5.0], vec![2]));
    ///
    /// let error = Batches::try_new((&x, tensor![1, 2]), 2).unwrap_err();
    /// assert_eq!(error.to_string(), "Batches: the first tensor has 1 examples, another has 2");
    /// ```
    #[fallible]
    pub fn new(examples: impl Examples<Kept = T>, size: usize) -> Result<Self> {
        if size == 0 {
            return invalid("Batches", "a batch has at least one example".to_owned());
        }
        let count = examples.count()?;
        let (order, keeps_last, done, first_axis) = (None, true, 0, PhantomData);
        Ok(Batches { examples: examples.kept(), count, size, order, keeps_last, done, first_axis })
    }
}

impl<T: Examples, N: Dim> Batches<T, N> {
    /// Takes the examples in a random order (`shuffle=True`). The same generator gives the same order.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{Generator, data::Batches, tensor};
    /// let mut all: Vec<i64> = Batches::new(tensor![1, 2, 3, 4, 5], 2)
    ///     .shuffled(&mut Generator::seeded(0))
    ///     .flat_map(|batch| batch.to_vec())
    ///     .collect();
    /// all.sort();
    /// assert_eq!(all, [1, 2, 3, 4, 5]);
    /// ```
    #[fallible]
    pub fn shuffled(mut self, generator: &mut Generator) -> Result<Self> {
        let order = Tensor::<i64, (Dyn,)>::try_randperm(self.count, generator)?;
        self.order = Some(order.to_vec());
        Ok(self)
    }

    /// Leaves out the last batch if it is smaller (`drop_last=True`).
    ///
    /// ```
    /// use castiron::{data::Batches, tensor};
    /// assert_eq!(Batches::new(tensor![1, 2, 3], 2).drop_last().len(), 1);
    /// ```
    pub fn drop_last(mut self) -> Self {
        self.keeps_last = false;
        self
    }

    /// Calls the first axis of batches by another name, of [`dims!`](crate::dims!), or gives it a size that the compiler knows.
    ///
    /// ```
    /// use castiron::{Tensor, data::Batches, dim, dims, shape, tensor};
    /// dims! { Words }
    /// let x = tensor![[0, 1], [2, 3], [4, 5]];
    /// let words: Tensor<i64, shape![Words, 2]> = Batches::new(&x, 2).named::<Words>().next().unwrap();
    /// let pairs: Tensor<i64, shape![2, 2]> = Batches::new(&x, 2).drop_last().named::<dim!(2)>().next().unwrap();
    /// assert!(words.to_vec() == pairs.to_vec());
    /// ```
    pub fn named<M: Dim>(self) -> Batches<T, M> {
        let Batches { examples, count, size, order, keeps_last, done, .. } = self;
        Batches { examples, count, size, order, keeps_last, done, first_axis: PhantomData }
    }

    /// How many batches were given, and how many there are.
    pub fn progress(&self) -> Progress {
        let total = if self.keeps_last { self.count.div_ceil(self.size) } else { self.count / self.size };
        Progress { done: self.done, total }
    }

    /// Prepares batches ahead, in a thread: see [`prefetched`].
    pub fn prefetched(self, ahead: usize) -> Prefetched<T::Batch<N>>
    where
        T: Send + 'static,
    {
        prefetched(self, ahead)
    }

    /// The next batch, with its errors: [`Iterator::next`] panics with them.
    ///
    /// # Errors
    /// If the batch has not the size that its type says, or memory runs out.
    pub fn try_next(&mut self) -> Option<Result<T::Batch<N>>> {
        let Progress { done, total } = self.progress();
        if done >= total {
            return None;
        }
        self.done += 1;
        let start = done * self.size;
        let end = self.count.min(start.saturating_add(self.size));
        Some(match &self.order {
            Some(order) => self.examples.at(&order[start..end]),
            None => self.examples.range(start..end),
        })
    }
}

impl<T: Examples, N: Dim> Iterator for Batches<T, N> {
    type Item = T::Batch<N>;

    fn next(&mut self) -> Option<T::Batch<N>> {
        self.try_next().map(unwrap)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        let Progress { done, total } = self.progress();
        (total - done, Some(total - done))
    }
}
impl<T: Examples, N: Dim> ExactSizeIterator for Batches<T, N> {}
impl<T: Examples, N: Dim> core::iter::FusedIterator for Batches<T, N> {}
