//! Which function goes back through a step. It is chosen where the step is recorded, by the kind of the step and its dtypes, so that a program
//! compiles the ways back of what it records. With the feature `precompiled` those of `Cpu` are compiled in castiron.

use super::{Cotangents, Gradients, OP, cast, class, elementwise, lanes, moves, no_gradient, product, reduce, rows};
use crate::composite::Erased;
#[cfg(feature = "precompiled")]
use crate::device::Backend;
use crate::device::Device;
#[cfg(feature = "any")]
use crate::device::Dynamic;
use crate::dtype::{Complex, DType, Dtype, Element, bf16, f16};
use crate::error::{Result, invalid};
use crate::grad::record::has_gradients;
use crate::grad::rule::Rule;
use crate::grad::tape::{Kept, Operand};
use crate::layout::dims::Dims;
use crate::ops::kernel::{Casting, LaneKernel, LaneSlope, Slope};
use crate::ops::reduce::{ReduceSlope, Reducer};

/// Goes back through a step, from the gradients of its results.
pub type Pull<B> = fn(&Rule<B>, Cotangents<B>, &mut Gradients<B>) -> Result<()>;
/// What the dtype of an operand is able to do, as one pointer: each step has several. Elements that are read are given, with their strides.
pub type OfDtype<B> = fn(Asked<'_, B>) -> Result<Option<(B, Dims)>>;
/// What is asked of a dtype.
pub enum Asked<'a, B> {
    /// To add the elements of a storage to the gradient of an operand.
    Add(&'a mut Gradients<B>, &'a Operand<B>, Elements<'a, B>),
    /// To read elements with these sizes and strides in a dtype that steps go back in.
    Read(&'a Kept<B>, [&'a Dims; 2], DType),
}
/// The elements of a storage.
pub struct Elements<'a, B> {
    pub(super) dtype: DType,
    pub(super) storage: &'a B,
    pub(super) offset: usize,
    pub(super) sizes: Dims,
    pub(super) strides: Dims,
}

/// `by_type!(const E::DTYPE, D, dtype, T in [F32 f32, …] => run, none)`: runs code for the type `T` of the list that has this dtype, and
/// compiles it for that alone. On devices that are known at run time a type may stand for the width of elements, whose dtype is looked at.
macro_rules! by_type {
    (const $of:expr, $D:ident, $dtype:expr, $T:ident in [$($name:ident $ty:ty),* $(,)?] => $run:expr, $none:expr) => {
        if const { $D::IS_DYNAMIC } {
            match $dtype {
                $($crate::DType::$name => {
                    type $T = $ty;
                    $run
                })*
                _ => $none,
            }
        } else {
            $crate::grad::pull::ways::by_type!(@ $of, $T, $run, $none, $($name $ty),*)
        }
    };
    (@ $of:expr, $T:ident, $run:expr, $none:expr, $name:ident $ty:ty $(, $names:ident $tys:ty)*) => {
        if const { $of as u8 == $crate::DType::$name as u8 } {
            type $T = $ty;
            $run
        } else {
            $crate::grad::pull::ways::by_type!(@ $of, $T, $run, $none $(, $names $tys)*)
        }
    };
    (@ $of:expr, $T:ident, $run:expr, $none:expr) => {
        $none
    };
}
/// `by_type!` for dtypes with gradients.
macro_rules! by_exact_type {
    (const $of:expr, $D:ident, $dtype:expr, $T:ident => $run:expr, $none:expr) => {
        $crate::grad::pull::ways::by_type!(const $of, $D, $dtype, $T in [
            F32 f32, F64 f64, BF16 $crate::dtype::bf16, F16 $crate::dtype::f16, C64 $crate::dtype::Complex<f32>,
            C128 $crate::dtype::Complex<f64>, C32 $crate::dtype::Complex<$crate::dtype::f16>,
        ] => $run, $none)
    };
}
/// `by_type!` for the dtype that steps of a dtype go back in: half precision goes back in `f32`, complex numbers in `Complex<f64>`.
macro_rules! by_class_type {
    (const $of:expr, $D:ident, $dtype:expr, $T:ident => $run:expr, $none:expr) => {
        $crate::grad::pull::ways::by_type!(const $of, $D, $dtype, $T in [
            F32 f32, BF16 f32, F16 f32, F64 f64, C64 $crate::dtype::Complex<f64>, C128 $crate::dtype::Complex<f64>,
            C32 $crate::dtype::Complex<f64>,
        ] => $run, $none)
    };
}
pub(crate) use {by_class_type, by_exact_type, by_type};

/// A kind of step.
pub trait Way {
    /// Goes back through a step of this kind in the dtype `E`.
    fn pull<E: Dtype, D: Device>(
        rule: &Rule<D::Storage>,
        given: Cotangents<D::Storage>,
        gradients: &mut Gradients<D::Storage>,
    ) -> Result<()>;
    /// The same on the host, compiled here.
    #[cfg(feature = "precompiled")]
    fn on_host<E: Dtype>() -> Pull<<crate::Cpu as Backend>::Storage>;
}
macro_rules! ways {
    ($($(#[$doc:meta])* $Way:ident: $module:ident::$function:ident, $compiled:ident;)*) => {$(
        $(#[$doc])*
        pub(in crate::grad) struct $Way;
        impl Way for $Way {
            fn pull<E: Dtype, D: Device>(
                rule: &Rule<D::Storage>,
                given: Cotangents<D::Storage>,
                gradients: &mut Gradients<D::Storage>,
            ) -> Result<()> {
                $module::$function::<E, D>(rule, given, gradients)
            }
            #[cfg(feature = "precompiled")]
            fn on_host<E: Dtype>() -> Pull<<crate::Cpu as Backend>::Storage> {
                ways!(@$compiled $module $function E)
            }
        }
    )*};
    (@classes $module:ident $function:ident $E:ident) => {
        ways!(@compiled $module $function $E, F32 single f32, F64 double f64, C128 complex Complex<f64>)
    };
    (@real $module:ident $function:ident $E:ident) => {
        ways!(@compiled $module $function $E, F32 single f32, F64 double f64)
    };
    (@complex $module:ident $function:ident $E:ident) => {
        ways!(@compiled $module $function $E, C128 complex Complex<f64>)
    };
    (@all_complex $module:ident $function:ident $E:ident) => {
        ways!(@compiled $module $function $E, C32 half_complex Complex<f16>, C64 single_complex Complex<f32>, C128 complex Complex<f64>)
    };
    (@products $module:ident $function:ident $E:ident) => {
        ways!(@compiled $module $function $E, F16 half f16, BF16 brain bf16, F32 single f32, F64 double f64, C128 complex Complex<f64>)
    };
    (@all $module:ident $function:ident $E:ident) => {
        ways!(@compiled $module $function $E, F16 half f16, BF16 brain bf16, F32 single f32, F64 double f64,
            C32 half_complex Complex<f16>, C64 single_complex Complex<f32>, C128 complex Complex<f64>)
    };
    (@compiled $module:ident $function:ident $E:ident, $($dtype:ident $name:ident $ty:ty),*) => {{
        type Buffer = <crate::Cpu as Backend>::Storage;
        $(
            fn $name(rule: &Rule<Buffer>, given: Cotangents<Buffer>, gradients: &mut Gradients<Buffer>) -> Result<()> {
                $module::$function::<$ty, crate::Cpu>(rule, given, gradients)
            }
        )*
        match $E::DTYPE {
            $(DType::$dtype => $name,)*
            _ => none::<Buffer>,
        }
    }};
}
ways! {
    /// A formula.
    OfFormula: elementwise::formula, classes;
    /// A formula whose result is of another kind than what it is computed in.
    OfFormulaAcross: elementwise::formula_across, classes;
    /// A choice between elements.
    OfChoice: elementwise::chooses, classes;
    /// A complex number of two parts.
    OfParts: elementwise::parts, all_complex;
    /// A complex number of magnitude and angle.
    OfPolar: elementwise::polar, complex;
    /// Elements that are an operand's.
    OfMove: moves::moved, all;
    /// An axis assembled from segments.
    OfPick: moves::pick, classes;
    /// Pieces end to end.
    OfJoin: moves::join, all;
    /// A band of matrices.
    OfBand: moves::band, all;
    /// Elements at indices.
    OfGather: moves::gather, classes;
    /// Elements selected by a mask.
    OfCompress: moves::compress, classes;
    /// A part of a storage that was written.
    OfPatch: moves::patch, all;
    /// Elements written at indices.
    OfScatter: moves::scatter, classes;
    /// Elements merged at indices.
    OfMerge: moves::merge, real;
    /// A matrix product.
    OfProduct: product::pull, products;
    /// A sum or a mean.
    OfSum: reduce::sum, classes;
    /// A sum or a mean of what is no NaN.
    OfNanSum: reduce::nan_sum, classes;
    /// A product of elements.
    OfProd: reduce::prod, classes;
    /// The logarithm of a sum of exponentials.
    OfLogSumExp: reduce::logsumexp, classes;
    /// The largest or smallest, or both.
    OfExtreme: reduce::extremes, classes;
    /// The largest or smallest, and its position.
    OfArgExtreme: reduce::arg_extreme, classes;
    /// The variance or the standard deviation.
    OfVariance: reduce::variance, classes;
    /// A norm.
    OfNorm: reduce::norm, classes;
    /// Softmax or its logarithm.
    OfSoftmax: lanes::softmax, classes;
    /// Running sums.
    OfSums: lanes::sums, classes;
    /// Running products.
    OfProducts: lanes::products, classes;
    /// Running logarithms of sums of exponentials.
    OfLogSumExps: lanes::logsumexps, classes;
    /// Running extremes.
    OfExtremes: lanes::extremes, classes;
    /// A function of rows.
    OfRows: rows::pull, real;
}

/// The way back through a step of a kind in the dtype that steps of a dtype go back in.
pub(in crate::grad) fn way<W: Way, E: Element, D: Device>(dtype: DType) -> Pull<D::Storage> {
    by_class_type!(const E::DTYPE, D, dtype, T => D::way::<W, T>(), none::<D::Storage>)
}
/// The same in the dtype itself.
pub(in crate::grad) fn exact_way<W: Way, E: Element, D: Device>(dtype: DType) -> Pull<D::Storage> {
    by_exact_type!(const E::DTYPE, D, dtype, T => D::way::<W, T>(), none::<D::Storage>)
}
/// The way back through a product: half precision goes back in itself, since its terms are added in `f32`, and hosts multiply pairs of `bf16`
/// at once.
pub(in crate::grad) fn way_of_product<E: Element, D: Device>(dtype: DType) -> Pull<D::Storage> {
    by_type!(const E::DTYPE, D, dtype, T in [
        F32 f32, F64 f64, BF16 bf16, F16 f16, C64 Complex<f64>, C128 Complex<f64>, C32 Complex<f64>,
    ] => D::way::<OfProduct, T>(), none::<D::Storage>)
}
/// `by_slope!(const SLOPE, E, D, dtype; pattern => Way, …)`: the way back for a slope that is known when the program is compiled;
/// `by_slope!(slope, …)` for one that is not.
macro_rules! by_slope {
    (const $slope:expr, $E:ident, $D:ident, $dtype:expr; $($pattern:pat => $way:ident::<$Way:ident>),* $(,)?) => {{
        $(if const { matches!($slope, $pattern) } {
            return $way::<$Way, $E, $D>($dtype);
        })*
        none::<$D::Storage>
    }};
    ($slope:expr, $E:ident, $D:ident, $dtype:expr; $($pattern:pat => $way:ident::<$Way:ident>),* $(,)?) => {
        match $slope {
            $($pattern => $way::<$Way, $E, $D>($dtype),)*
            _ => none::<<$D as Backend>::Storage>,
        }
    };
}
macro_rules! by_reduction {
    ($($slope:tt)*) => {
        by_slope! { $($slope)*;
            ReduceSlope::Sum | ReduceSlope::Mean => way::<OfSum>,
            ReduceSlope::NanSum | ReduceSlope::NanMean => way::<OfNanSum>,
            ReduceSlope::Prod => way::<OfProd>,
            ReduceSlope::LogSumExp => way::<OfLogSumExp>,
            ReduceSlope::Extreme | ReduceSlope::MinMax => way::<OfExtreme>,
            ReduceSlope::ArgExtreme => way::<OfArgExtreme>,
            ReduceSlope::Variance => way::<OfVariance>,
            ReduceSlope::Norm => way::<OfNorm>,
        }
    };
}
/// An elementwise call.
pub(in crate::grad) trait HasSlope {
    const SLOPE: Slope;
    /// The dtype of its result.
    const TO: DType;
    /// That in which its derivative is computed.
    const COMPUTES: DType = match Self::SLOPE {
        Slope::Formula(_, computes) => computes,
        _ => Self::TO,
    };
}
/// The way back through an elementwise call; `dtype` is that of its result, where types stand for widths.
pub(in crate::grad) fn of_elementwise<K: HasSlope, D: Device>(dtype: DType) -> Pull<D::Storage> {
    if const { matches!(K::SLOPE, Slope::Formula(..)) } {
        if const { class(K::TO) as u8 == class(K::COMPUTES) as u8 } {
            by_class_type!(const K::COMPUTES, D, K::COMPUTES, T => D::way::<OfFormula, T>(), none::<D::Storage>)
        } else {
            by_class_type!(const K::COMPUTES, D, K::COMPUTES, T => D::way::<OfFormulaAcross, T>(), none::<D::Storage>)
        }
    } else if const { matches!(K::SLOPE, Slope::Moves(_)) } {
        by_exact_type!(const K::TO, D, dtype, T => D::way::<OfMove, T>(), none::<D::Storage>)
    } else if const { matches!(K::SLOPE, Slope::Chooses | Slope::Masked { .. }) } {
        by_class_type!(const K::TO, D, dtype, T => D::way::<OfChoice, T>(), none::<D::Storage>)
    } else if const { matches!(K::SLOPE, Slope::Parts) } {
        by_type!(const K::TO, D, dtype, T in [C64 Complex<f32>, C128 Complex<f64>, C32 Complex<f16>] => D::way::<OfParts, T>(), none::<D::Storage>)
    } else if const { matches!(K::SLOPE, Slope::Polar) } {
        D::way::<OfPolar, Complex<f64>>()
    } else {
        none::<D::Storage>
    }
}
/// The way back through a formula that is found at run time, by the dtypes that it computes in and of its result.
#[cfg(feature = "any")]
pub(crate) fn formula_of(computes: DType, to: DType) -> Pull<<Dynamic as Backend>::Storage> {
    if class(to) == class(computes) {
        way::<OfFormula, u8, Dynamic>(computes)
    } else {
        way::<OfFormulaAcross, u8, Dynamic>(computes)
    }
}
/// The way back through a conversion to a dtype.
#[cfg(feature = "any")]
pub(crate) fn move_of(dtype: DType) -> Pull<<Dynamic as Backend>::Storage> {
    exact_way::<OfMove, u8, Dynamic>(dtype)
}
/// The way back through a reduction of elements `A`.
pub(in crate::grad) fn of_reduction<A: Element, R: Reducer<A>, D: Device>() -> Pull<D::Storage> {
    by_reduction!(const R::SLOPE, A, D, A::DTYPE)
}
/// The same of a reduction and a dtype that are known at run time.
#[cfg(feature = "any")]
pub(crate) fn reduction_of(slope: ReduceSlope, dtype: DType) -> Pull<<Dynamic as Backend>::Storage> {
    by_reduction!(slope, u8, Dynamic, dtype)
}
/// The way back through a function of lanes of elements `A`.
pub(in crate::grad) fn of_scan<A: Element, O: Element, K: LaneKernel<A, O>, D: Device>() -> Pull<D::Storage> {
    by_slope! { const K::SLOPE, O, D, O::DTYPE;
        LaneSlope::Softmax | LaneSlope::LogSoftmax => way::<OfSoftmax>,
        LaneSlope::Sum => way::<OfSums>,
        LaneSlope::Product => way::<OfProducts>,
        LaneSlope::LogSumExp => way::<OfLogSumExps>,
        LaneSlope::Extreme => way::<OfExtremes>,
    }
}
/// The way back through a step that has a derivative of its own.
pub(crate) fn of_primitive<D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    given.whole()?;
    match rule {
        Rule::Primitive(step) => step.pull(given.of, gradients),
        _ => unlike(),
    }
}
/// Where elements have no gradient.
pub(in crate::grad) fn none<B>(rule: &Rule<B>, _: Cotangents<B>, _: &mut Gradients<B>) -> Result<()> {
    no_gradient(rule.layout().dtype)
}
/// A step of another kind.
#[cold]
pub(super) fn unlike<T>() -> Result<T> {
    invalid(OP, "a step was recorded as one of another kind".to_owned())
}

/// What an operand of this dtype is able to do.
pub(crate) fn of_dtype<E: Element, D: Device>(dtype: DType) -> OfDtype<D::Storage> {
    by_type!(const E::DTYPE, D, dtype, T in [
        F32 f32, F64 f64, BF16 bf16, F16 f16, C64 Complex<f32>, C128 Complex<f64>, C32 Complex<f16>,
        Bool bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64,
    ] => of_type::<T, D>, of_no_type::<D::Storage>)
}
fn of_type<A: Dtype, D: Device>(asked: Asked<'_, D::Storage>) -> Result<Option<(D::Storage, Dims)>> {
    match asked {
        Asked::Read(kept, layout, to) => read_converted::<A, D>(kept, layout, to).map(Some),
        Asked::Add(gradients, to, elements) if const { has_gradients(A::DTYPE) } => {
            add_converted::<A, D>(gradients, to, elements).map(|()| None)
        }
        Asked::Add(..) => no_gradient(A::DTYPE),
    }
}
/// Of positions, and of what is read in its own dtype alone.
pub(in crate::grad) fn of_no_type<B>(asked: Asked<'_, B>) -> Result<Option<(B, Dims)>> {
    match asked {
        Asked::Add(_, to, _) => no_gradient(to.dtype()),
        Asked::Read(_, _, to) => no_gradient(to),
    }
}
fn add_converted<A: Dtype, D: Device>(
    gradients: &mut Gradients<D::Storage>,
    to: &Operand<D::Storage>,
    Elements { dtype, storage, offset, sizes, strides }: Elements<'_, D::Storage>,
) -> Result<()> {
    /// Half precision is converted from `f32`, complex numbers from `Complex<f64>`, so that fewer conversions are compiled.
    fn converted<'a, E: Dtype, A: Dtype, D: Device>(x: Erased<'a, E, D>) -> Result<Erased<'a, A, D>> {
        if const { A::DTYPE.is_half() } {
            cast::<f32, A, D>(cast::<E, f32, D>(x)?)
        } else if const { A::DTYPE.is_complex() } {
            cast::<Complex<f64>, A, D>(cast::<E, Complex<f64>, D>(x)?)
        } else {
            cast::<E, A, D>(x)
        }
    }
    if const { A::DTYPE.is_half() || matches!(A::DTYPE, DType::C64) } && dtype == A::DTYPE {
        return gradients.add_alike::<A, D>(to, Erased::borrowed(storage, offset, sizes, strides));
    }
    let g = match dtype {
        DType::F32 => converted::<f32, A, D>(Erased::borrowed(storage, offset, sizes, strides))?,
        DType::F64 => converted::<f64, A, D>(Erased::borrowed(storage, offset, sizes, strides))?,
        DType::C128 => converted::<Complex<f64>, A, D>(Erased::borrowed(storage, offset, sizes, strides))?,
        dtype => return no_gradient(dtype),
    };
    gradients.add_to::<A, D>(to, g)
}
fn read_converted<A: Dtype, D: Device>(
    kept: &Kept<D::Storage>,
    [sizes, strides]: [&Dims; 2],
    to: DType,
) -> Result<(D::Storage, Dims)> {
    let x = Erased::<A, D>::borrowed(&kept.storage, kept.offset, *sizes, *strides);
    let (storage, _, _, strides) = match to {
        DType::F32 => x.map1::<f32>(OP, Casting)?.into_parts(),
        DType::F64 => x.map1::<f64>(OP, Casting)?.into_parts(),
        DType::C128 => x.map1::<Complex<f64>>(OP, Casting)?.into_parts(),
        dtype => return no_gradient(dtype),
    };
    Ok((storage, strides))
}
