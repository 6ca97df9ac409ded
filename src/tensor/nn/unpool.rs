//! `max_unpool`, which writes pooled maxima back to their positions, and `lp_pool`, norms of windows.
//!
//! Source: `torch.nn.functional.max_unpool2d`, `lp_pool2d` and their kin; `aten/src/ATen/native/cpu/MaxUnpoolKernel.cpp`.

use crate::device::{Device, on_host};
use crate::dtype::{Compute, Element, Float};
use crate::error::{Error, Result, filled, invalid};
use crate::layout::memory_format::MemoryFormat;
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::kernel::{Applying, Combining};
use crate::ops::window::Window;
use crate::shape::{
    EachAxis, KnownShape, Moves, MovingWindow, PlacesOf, Pool, Pooled, Resized, Shape, SizesBefore, Unpooled,
};
use crate::storage::View;
use crate::tensor::nn::conv::{Laid, laid};
use crate::tensor::nn::pool::Kernel;
use crate::tensor::nn::pooling::Pooling;
use crate::tensor::{SameDevice, Tensor, checked_numel};
use castiron_macros::fallible;

/// The sizes before pooling: those that follow from the windows, or those given if pooling rounded the size.
pub(crate) fn sizes_before(
    op: &'static str,
    sizes: &[usize],
    windows: &[Window],
    given: Option<&[usize]>,
) -> Result<Vec<usize>> {
    let axes = windows.len();
    let Some(lead) = sizes.len().checked_sub(axes).filter(|lead| matches!(lead, 1 | 2)) else {
        return invalid(op, format!("expected {} axes, or {} with a batch, got shape {sizes:?}", axes + 1, axes + 2));
    };
    let before = |(at, window): (usize, &Window)| {
        let (size, stride) = (sizes[lead + at] as i128, window.stride as i128);
        let own = (size - 1) * stride + window.kernel as i128 - window.before as i128 - window.after as i128;
        let size = given.map_or(own, |given| given[at] as i128);
        if given.is_some() && (size <= own - stride || size >= own + stride) {
            return invalid(
                op,
                format!("an axis of size {size}: expected one between {} and {}", own - stride, own + stride),
            );
        }
        usize::try_from(size).or_else(|_| invalid(op, format!("nothing is left of an axis: its size would be {size}")))
    };
    windows.iter().enumerate().map(before).collect()
}

/// Zeros, with the elements at their positions: `index` counts the positions of the last axes, which become `places`.
pub(crate) fn unpooled<E: Element, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    index: View<'_, D::Storage, i64>,
    places: &[usize],
) -> Result<Laid<D::Storage>> {
    let lead = x.sizes.len() - places.len();
    if index.sizes != x.sizes {
        return Err(Error::Shape { op, expected: format!("{:?}", x.sizes), found: index.sizes.into() });
    }
    if x.sizes[lead - 1..].contains(&0) {
        return invalid(
            op,
            format!("a tensor of shape {:?} has nothing to put back: only the batch may be empty", x.sizes),
        );
    }
    let sizes = [&x.sizes[..lead], places].concat();
    let count = checked_numel::<E>(op, &sizes)?;
    // Channels-last stays channels-last.
    let format = MemoryFormat::suggested(x.sizes, x.strides);
    let own = strides::row_major(&sizes);
    let own = if lead == 2 && format != MemoryFormat::CONTIGUOUS { format.copied(op, &sizes, &own)? } else { own };
    let storage = on_host::<D, _, Vec<E>>(op, (x, index), |(elements, index): (Vec<E>, Vec<i64>)| {
        let mut list = filled(E::default(), count)?;
        if x.sizes.contains(&0) {
            return Ok(list);
        }
        let each = x.sizes[lead..].iter().product::<usize>();
        let area = places.iter().product::<usize>();
        let steps = strides::row_major(places);
        for (at, (element, index)) in elements.into_iter().zip(index).enumerate() {
            let Some(position) = usize::try_from(index).ok().filter(|&position| position < area) else {
                return invalid(op, format!("index {index} is none of a part of sizes {places:?}"));
            };
            let plane = at / each;
            let (batch, channel) = if lead == 2 { (plane / sizes[1], plane % sizes[1]) } else { (0, plane) };
            let mut to = channel * own[lead - 1] + if lead == 2 { batch * own[0] } else { 0 };
            for axis in 0..places.len() {
                to += position / steps[axis] % places[axis] * own[lead + axis];
            }
            list[to] = element;
        }
        Ok(list)
    })?;
    Ok((storage, sizes, own))
}

/// The `p`-norm of each window, with `p` = `norm`. (PyTorch multiplies the mean by the size of the window: windows that extend beyond the
/// axis weigh more.)
pub(crate) fn norms<E: Float, D: Device>(
    pooling: Pooling<'_>,
    x: View<'_, D::Storage, E>,
    norm: f64,
) -> Result<Laid<D::Storage>> {
    if norm == 0.0 || norm.is_nan() {
        return invalid(pooling.op, format!("a norm of order {norm}: expected another number"));
    }
    let own = strides::row_major(x.sizes);
    let zeros = vec![0; x.sizes.len()];
    let negative = |(storage, sizes, steps): Laid<D::Storage>| {
        let storage = D::map1::<E, E>(Applying::<ops::neg>::new(), View::new(&storage, 0, &sizes, &steps), &steps)?;
        Ok((storage, sizes, steps))
    };
    if norm.is_infinite() {
        let storage = D::map1::<E, E>(Applying::<ops::abs>::new(), x, &own)?;
        let sizes = x.sizes.to_vec();
        if norm > 0.0 {
            return pooling.largest::<E, D>(View::new(&storage, 0, &sizes, &own));
        }
        let (storage, sizes, own) = negative((storage, sizes, own))?;
        return negative(pooling.largest::<E, D>(View::new(&storage, 0, &sizes, &own))?);
    }
    let number = |value: f64| D::fill::<E>(Some(x.buffer), E::from_compute(E::Compute::number(value)), 1);
    let power = |x: View<'_, D::Storage, E>, exponent: f64, own: &[usize]| {
        let exponent = number(exponent)?;
        let exponent = View::<_, E>::new(&exponent, 0, x.sizes, &zeros);
        D::map2::<E, E, E>(Combining::<ops::pow, E>::new(), x, exponent, own)
    };
    let powers = power(x, norm, &own)?;
    let (mean, sizes, steps) = pooling.mean::<E, D>(View::new(&powers, 0, x.sizes, &own), true, None)?;
    let view = |storage| View::<_, E>::new(storage, 0, &sizes, &steps);
    // PyTorch's formula is `sign(mean) * relu(abs(mean))`.
    let sign = D::map1::<E, E>(Applying::<ops::sign>::new(), view(&mean), &steps)?;
    let size = D::map1::<E, E>(Applying::<ops::abs>::new(), view(&mean), &steps)?;
    let size = D::map1::<E, E>(Applying::<ops::relu>::new(), view(&size), &steps)?;
    let mean = D::map2::<E, E, E>(Combining::<ops::mul, E>::new(), view(&sign), view(&size), &steps)?;
    let area = number(pooling.windows.iter().map(|window| window.kernel as f64).product())?;
    let sum =
        D::map2::<E, E, E>(Combining::<ops::mul, E>::new(), view(&mean), View::new(&area, 0, &sizes, &zeros), &steps)?;
    let storage = power(view(&sum), 1.0 / norm, &steps)?;
    Ok((storage, sizes, steps))
}

/// The indices that pooling returns with values of shape `T`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no indices of pooled values of shape `{T}`",
    label = "expected `&index`, a tensor of dtype `i64`",
    note = "`max_pool2d_with_indices` and its kin give values and indices together; others are cast by `.to::<i64>()`"
)]
pub trait PooledIndices<T, D: Device> {
    #[doc(hidden)]
    fn given(&self) -> View<'_, D::Storage, i64>;
}
impl<T, I: Shape + PlacesOf<T> + SameDevice<D, X>, X: Device, D: Device> PooledIndices<T, D> for &Tensor<i64, I, X> {
    fn given(&self) -> View<'_, D::Storage, i64> {
        I::here(self).elements()
    }
}

macro_rules! poolings {
    ($($rank:literal $norm:ident $unpool:ident $to:ident $pooled:ident $x:literal $window:literal $most:literal $odd:literal $to_odd:literal;)*) => {
        impl<E: Element, T: Shape, D: Device> Tensor<E, T, D> {$(
            #[doc = concat!("The norm of what a window sees at each of its places along the last axes, ", $rank, " of them: \
                `(sum of x ** norm) ** (1 / norm)`; the largest absolute value where `norm` is infinite.")]
            ///
            /// `(N, C, …)` or `(C, …)`; the compiler knows the further sizes if it knows those of the operand. Floating dtypes.
            ///
            #[doc = concat!("PyTorch: `torch.nn.functional.", stringify!($norm), "`.")]
            ///
            /// # Panics
            /// If a window does not fit, an axis other than the batch is empty, `norm` is 0, or memory runs out.
            ///
            /// ```
            /// use castiron::{dim, nn::Pool, shape, Tensor};
            #[doc = concat!("let x = Tensor::<f32, shape!", $x, ">::ones();")]
            #[doc = concat!("let y: Tensor<f32, shape!", $window, "> = x.", stringify!($norm), "(2.0, Pool::<dim!(2)>::new());")]
            #[doc = concat!("assert!((y.amax().item() - ", $most, ").abs() < 1e-6);")]
            /// ```
            #[fallible]
            pub fn $norm<K: EachAxis + Kernel, S: EachAxis>(
                &self,
                norm: f64,
                pool: Pool<K, S>,
            ) -> Result<Tensor<E, <T as Pooled<Pool<K, S>, $rank>>::Output, D>>
            where
                E: Float,
                T: Pooled<Pool<K, S>, $rank>,
                (S, crate::dim!(0), crate::dim!(1)): Moves,
            {
                let _ = pool;
                let op = stringify!($norm);
                let windows = <(S, crate::dim!(0), crate::dim!(1))>::windows(&K::sizes($rank));
                laid(op, norms::<E, D>(Pooling { op, windows: &windows, rounds_up: false }, self.elements(), norm)?)
            }

            #[doc = concat!("The elements that [`", stringify!($pooled), "`](Self::", stringify!($pooled), ") has found, where its indices say that they \
                were, among zeros.")]
            ///
            /// `(N, C, …)` or `(C, …)`, and an index of the same shape; the further sizes are those before pooling, if the window divides
            /// them. Floating dtypes.
            ///
            #[doc = concat!("PyTorch: `torch.nn.functional.", stringify!($unpool), "`.")]
            ///
            /// # Panics
            /// If an index is out of range, an axis other than the batch is empty, or memory runs out.
            ///
            /// ```
            /// use castiron::{dim, nn::Pool, shape, Tensor};
            #[doc = concat!("let x: Tensor<f32, shape!", $x, "> = Tensor::ones();")]
            #[doc = concat!("let (values, index) = x.", stringify!($pooled), "(Pool::<dim!(2)>::new());")]
            #[doc = concat!("let y: Tensor<f32, shape!", $x, "> = values.", stringify!($unpool), "(&index, Pool::<dim!(2)>::new());")]
            /// assert_eq!(y.sum().item(), values.sum().item());
            /// ```
            #[fallible]
            pub fn $unpool<P: MovingWindow>(
                &self,
                index: impl PooledIndices<T, D>,
                pool: P,
            ) -> Result<Tensor<E, <T as Unpooled<P, $rank>>::Output, D>>
            where
                E: FloatFor<ops::reduce::max_unpool>,
                T: Unpooled<P, $rank>,
            {
                let _ = pool;
                let op = stringify!($unpool);
                let places = sizes_before(op, self.shape().as_ref(), &P::windows()[..$rank], None)?;
                laid(op, unpooled::<E, D>(op, self.elements(), index.given(), &places)?)
            }

            #[doc = concat!("[`", stringify!($unpool), "`](Self::", stringify!($unpool), ") to the sizes `R`, of those that pooling makes the same of.")]
            ///
            #[doc = concat!("PyTorch: `torch.nn.functional.", stringify!($unpool), "` with `output_size`.")]
            ///
            /// # Panics
            /// As without sizes, and if a size known at run time differs by a stride or more from the one that follows from the window.
            ///
            /// ```
            /// use castiron::{dim, nn::Pool, Tensor};
            #[doc = concat!("let x: Tensor<f32, castiron::shape!", $odd, "> = Tensor::ones();")]
            #[doc = concat!("let (values, index) = x.", stringify!($pooled), "(Pool::<dim!(2)>::new());")]
            #[doc = concat!("let y = values.", stringify!($to), "::<castiron::shape!", $to_odd, ", _>(&index, Pool::<dim!(2)>::new());")]
            /// assert_eq!(y.shape(), x.shape());
            /// ```
            #[fallible]
            pub fn $to<R, P: MovingWindow>(
                &self,
                index: impl PooledIndices<T, D>,
                pool: P,
            ) -> Result<Tensor<E, <T as Resized<R>>::Output, D>>
            where
                E: FloatFor<ops::reduce::max_unpool>,
                T: Resized<R> + Unpooled<P, $rank>,
                R: KnownShape + SizesBefore<T, P, $rank>,
            {
                let _ = pool;
                let op = stringify!($unpool);
                let places = sizes_before(op, self.shape().as_ref(), &P::windows()[..$rank], Some(R::SIZES.as_ref()))?;
                laid(op, unpooled::<E, D>(op, self.elements(), index.given(), &places)?)
            }
        )*}
    };
}
poolings! {
    1 lp_pool1d max_unpool1d max_unpool1d_to max_pool1d_with_indices "[1, 6]" "[1, 3]" "2_f32.sqrt()" "[1, 7]" "[7]";
    2 lp_pool2d max_unpool2d max_unpool2d_to max_pool2d_with_indices "[1, 4, 6]" "[1, 2, 3]" "2.0" "[1, 5, 7]" "[5, 7]";
    3 lp_pool3d max_unpool3d max_unpool3d_to max_pool3d_with_indices "[1, 2, 4, 6]" "[1, 1, 2, 3]" "8_f32.sqrt()" "[1, 3, 5, 7]" "[3, 5, 7]";
}
