//! Closures of single elements: `map`, `zip_map`, `map_indexed`, `for_each`, and in place `map_`, `zip_map_`.

use super::forms::{Failure, forms, forms_in_place};
use super::zip::ZipOperands;
use super::{ClosureError, HostClosures, Seen, bytes, recorded};
use crate::cpu::closures::{self, Alone, Closure, Shared};
use crate::cpu::in_order::Elements;
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::shape::{Shape, WrittenTo};
use crate::tensor::{Tensor, TensorViewMut, checked_numel};

/// Closures over elements.
#[allow(clippy::unused_unit, reason = "what a closure returns is a column")]
impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    forms! {
        /// A new tensor of what a closure makes of each element; its dtype is what the closure returns. The layout is kept, and the order of
        /// calls is that of memory.
        ///
        /// It runs on the host. `try_map` takes a closure that returns a `Result`: after an error there is no result, and the error type has
        /// `From<castiron::Error>`. `par_map` calls a `Fn + Sync` closure on several threads, `try_par_map` does both. All methods with a
        /// closure have these forms.
        ///
        /// PyTorch: `torch.Tensor.map_`, `numpy.vectorize`; `ndarray`: `mapv`.
        ///
        /// # Panics
        /// If memory runs out.
        ///
        /// ```
        /// # use castiron::{Tensor, shape, tensor};
        /// let x = tensor![[-1.5, 0.5], [2.5, 3.5]];
        /// let y: Tensor<i32, shape![2, 2]> = x.map(|v| v.floor() as i32);
        /// assert_eq!(y.to_vec(), [-2, 0, 2, 3]);
        /// assert_eq!(x.par_map(|v| v > 1.0).to_vec(), [false, false, true, true]);
        /// let bytes = y.try_map(|v| Ok::<_, Box<dyn std::error::Error>>(u8::try_from(v)?));
        /// assert_eq!(bytes.unwrap_err().to_string(), "out of range integral type conversion attempted");
        /// ```
        map try_map par_map try_par_map [O: Element,] () (E) -> O [] => Tensor<O, S, D>,
            |item: (E,)| (item.0), |this, op, closure| ().fresh(op, this, closure);

        /// A new tensor of what a closure makes of the elements of two to four tensors, of any dtypes, which are broadcast: `a.zip_map(&b, |(x,
        /// y)| …)`, `a.zip_map((&b, &c), |(x, y, z)| …)`, `a.zip_map((&b, &c, &d), …)`. The forms are those of [`map`](Self::map).
        ///
        /// `ndarray`: `Zip::from(&a).and(&b).map_collect(|x, y| …)`.
        ///
        /// # Panics
        /// If sizes known at run time do not broadcast.
        ///
        /// ```
        /// # use castiron::{Tensor, shape, tensor};
        /// let (x, low, high) = (tensor![[-1.0, 0.5], [2.0, 9.0]], tensor![0.0, 1.0], tensor![[1], [3]]);
        /// let inside: Tensor<bool, shape![2, 2]> = x.zip_map((&low, &high), |(x, low, high)| low <= x && x <= high as f32);
        /// assert_eq!(inside.to_vec(), [false, false, true, false]);
        /// ```
        zip_map try_zip_map par_zip_map try_par_zip_map [Z: ZipOperands<E, S, D>, O: Element,] (others: Z) (Z::Items) -> O []
            => Tensor<O, Z::Output, D>,
            |items: Z::Items| (items), |this, op, closure| others.fresh(op, this, closure);

        /// [`map`](Self::map) of a closure that is given the index of each element, too, in row-major order, which is that of the result.
        ///
        /// ```
        /// let x = castiron::tensor![[1, 2], [3, 4]];
        /// assert_eq!(x.map_indexed(|[row, column], v| if row == column { v } else { 0 }).to_vec(), [1, 0, 0, 4]);
        /// ```
        map_indexed try_map_indexed par_map_indexed try_par_map_indexed [O: Element,] () (S::Sizes, E) -> O [] => Tensor<O, S, D>,
            |item: (S::Sizes, E)| (item.0, item.1), |this, op, closure| indexed(op, D::host(this), closure).map(D::from_host);

        /// Calls a closure with each element, in row-major order; `par_for_each` in any. (Of [`iter`](Self::iter) it is the faster form.)
        ///
        /// ```
        /// let mut seen = vec![];
        /// castiron::tensor![[1, 2], [3, 4]].t().for_each(|v| seen.push(v));
        /// assert_eq!(seen, [1, 3, 2, 4]);
        /// ```
        for_each try_for_each par_for_each try_par_for_each [] () (E) -> () [] => (),
            |item: E| (item), |this, op, closure| recorded(op, [Seen::of(D::host(this))], |()| 0, || {
                closures::for_each(&Elements::new(D::host(this).elements())?, closure)
            });
    }
}

/// The results for each index and element.
fn indexed<E: Element, S: Shape, O: Element>(
    op: &'static str,
    x: &Tensor<E, S>,
    closure: impl Closure<(S::Sizes, E), O>,
) -> Result<Tensor<O, S>> {
    recorded(op, [Seen::of(x)], bytes, || {
        checked_numel::<O>(op, x.shape().as_ref())?;
        Ok(Tensor::dense(closures::indexed(&Elements::new(x.elements())?, x.shape(), closure)?, x.shape()))
    })
}

forms_in_place! {
    {
        /// Replaces each element by what a closure makes of it, as [`map`](Tensor::map) with its forms. `try_map_` changes nothing if the closure
        /// fails. If a closure panics, some elements are replaced.
        ///
        /// `ndarray`: `mapv_inplace`.
        ///
        /// # Panics
        /// If storage is shared and memory for a copy runs out.
        ///
        /// ```
        /// # use castiron::{axis, tensor};
        /// let mut x = tensor![[1, 2], [3, 4]];
        /// x.map_(|v| v * v);
        /// x.select_mut(axis![0], 1).map_(|v| v + 1);
        /// assert_eq!(x.to_vec(), [1, 4, 10, 17]);
        /// ```
        map_ try_map_ par_map_ try_par_map_ [] () (E) -> E [],
            |item: (E,)| (item.0), |this, op, closure| ().update(op, this, closure)
    }
    {
        /// Replaces each element by what a closure makes of it and of those of one to three tensors, which are broadcast to this one, as
        /// [`zip_map`](Tensor::zip_map) with its forms.
        ///
        /// `ndarray`: `zip_mut_with`.
        ///
        /// # Panics
        /// If sizes known at run time do not broadcast; nothing is written then.
        ///
        /// ```
        /// use castiron::tensor;
        /// let mut x = tensor![[1, 2], [3, 4]];
        /// x.zip_map_(tensor![true, false], |(v, doubles)| if doubles { 2 * v } else { v });
        /// assert_eq!(x.to_vec(), [2, 2, 6, 4]);
        /// ```
        zip_map_ try_zip_map_ par_zip_map_ try_par_zip_map_ [Z: ZipOperands<E, S, D, Output: WrittenTo<S>>,] (others: Z) (Z::Items) -> E [],
            |items: Z::Items| (items), |this, op, closure| others.update(op, this, closure)
    }
}
