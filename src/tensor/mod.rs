//! `Tensor`: typed elements, shape, device and layout over shared storage.
//!
//! A tensor consists of storage, offset, sizes and strides. Cloning and views share storage; writing first makes it unique (copy on write).

// rustdoc lists methods in the order of these modules: the most frequent ones come first.

// The basics of tensors: attributes, layouts, operands, conversion, assignment, access to single elements, printing.
mod base;

// Constructors of tensors: filled, from elements, ranges, random, with the shape of another.
mod create;

// Operations on each element by itself: methods and operators written from the tables of `ops`, comparison, `where_`, `clamp`, `lerp`.
mod elementwise;
mod refused;

// Closures over elements: `map`, `zip_map`, `map_lanes`, `fold`.
pub(crate) mod closures;

// Reductions of all elements or along axes: sums, extremes, variance, quantiles, histograms.
mod reduce;

// Operations along one axis that keep it: cumulative sums, `softmax`, differences, integration.
mod scan;

// Views, which share storage and copy nothing, and `TensorView`/`TensorViewMut`, which borrow it.
mod view;

// Several tensors joined into one: `cat`, `stack`, `hstack` and so on, `meshgrid`, `block_diag`.
mod join;

// Elements selected by index tensors and masks: gather, scatter, masked operations, `index_put`.
mod index;

// Products of vectors and matrices: `matmul`, `addmm`, `tensordot`, `linear`, distances.
mod linalg;

// Losses of predictions and targets, distances and angles.
mod loss;

// Layers of networks: convolutions and pooling.
pub(crate) mod nn;

// Fourier transforms of axes and of overlapping frames, and windows.
#[cfg(feature = "fft")]
pub(crate) mod fourier;

#[cfg(all(test, unix, debug_assertions))]
mod texts;

// Methods of disabled features.
#[cfg(not(all(
    feature = "npy",
    feature = "image",
    feature = "safetensors",
    feature = "bytemuck",
    feature = "ndarray",
    feature = "dlpack",
    feature = "cudarc",
    feature = "linalg",
    feature = "fft"
)))]
mod absent;

// Elementwise expressions that run in one pass.
pub mod lazy;

#[doc(hidden)]
pub use base::assign::AssignedFrom;
#[doc(hidden)]
pub use base::elements::PositionIn;
pub use base::elements::{Iter, OnHost, Position};
pub use base::layout::{AnyLayout, Layout, Strided};
pub use base::operand::{Operand, TensorOperand};
pub use base::same_device::{Optional, SameDevice, SameDtype};
pub use closures::zip::{ZipOperand, ZipOperands};
pub use closures::{ClosureError, HostClosures};
pub use create::random::Generator;
#[cfg(feature = "any")]
pub(crate) use create::triangle_indices::places as places_of_triangle;
pub use elementwise::apply::{Outcome, OutcomeDevice, OutcomeShape};
#[doc(hidden)]
pub use elementwise::compare::{EqualTo, OrderedWith, Whole};
pub use elementwise::lerp::WeightOf;
#[doc(hidden)]
pub use elementwise::methods::{Admits, InPlace, Writes};
#[doc(hidden)]
pub use elementwise::operators::{AssignedTo, RightOf};
#[doc(hidden)]
pub use elementwise::parametric::TunedWrites;
pub use elementwise::scalar_first::{
    float_power, floor_divide, pow, try_float_power, try_floor_divide, try_pow, try_xlog1py, try_xlogy, try_zeta,
    xlog1py, xlogy, zeta,
};
pub use elementwise::shell_dtypes as shells;
pub use elementwise::where_clamp::{try_where_, where_};
pub use index::embedding_bag::BagMode;
pub use index::scatter_reduce::ScatterReduce;
pub use join::cat_stack::{Joined, Stacked, cat, stack, try_cat, try_stack};
pub use join::hstack::{
    Reshaped, column_stack, dstack, hstack, try_column_stack, try_dstack, try_hstack, try_vstack, vstack,
};
pub use join::meshgrid::{
    BlockDiag, Broadcasted, Grid, block_diag, broadcast_tensors, cartesian_prod, meshgrid, meshgrid_xy, try_block_diag,
    try_broadcast_tensors, try_cartesian_prod,
};
pub use join::pieces::{JoinDtype, Piece};
#[doc(hidden)]
pub use linalg::einsum::calls as einsum_calls;
pub use linalg::int_mm::ByteNumber;
pub use linalg::linear::Activation;
pub use linalg::multi_dot::{FollowedBy, multi_dot, try_multi_dot};
pub use loss::per_channel::{LossWeight, PerChannel};
pub use loss::reduction::{BatchMean, DivergenceReduction, Mean, Reduction, Sum, Unreduced};
pub use reduce::channels::RunningStatistics;
pub use reduce::histogram::BinCounts;
pub use reduce::own::ReducedBeside;
pub use reduce::quantile::Interpolation;
pub use view::axis_iter::AxisIter;
pub use view::disjoint_parts::MultiSlice;
pub use view::tensor_view::{AsTensor, TensorView};
pub use view::tensor_view_mut::TensorViewMut;

pub(crate) use crate::composite::index::nonzero::true_positions;
pub use crate::composite::index::rope::RotaryLayout;
pub use crate::composite::statistics::counting::BinWeight;
use crate::device::{Cpu, Device};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::shape::{AxisArg, HasAxis, Shape, numel};
pub(crate) use base::assign::Inside;
pub(crate) use base::display::{Options, Printed, python_tuple};
pub(crate) use base::layout::sealed;
pub(crate) use base::operand::elements_of;
pub(crate) use create::constructors::fill_value;
pub(crate) use create::ranges::Spaced;
pub(crate) use elementwise::apply::{PromotedWith, combine_as, map2};
#[cfg(feature = "any")]
pub(crate) use elementwise::apply::{check_exponent, fitted_scalar, refuses_zeros};
#[cfg(feature = "any")]
pub(crate) use elementwise::parametric::{Given, parameters};
pub(crate) use index::accumulate::combine_at;
pub(crate) use index::gather::{at_axis, selected};
pub(crate) use index::masked::first as first_of;
#[cfg(feature = "any")]
pub(crate) use linalg::addmm::expect_whole_factor;
#[cfg(any(feature = "any", feature = "mmap", feature = "dlpack"))]
pub(crate) use view::reinterpret::expect_bools;
#[cfg(feature = "any")]
pub(crate) use view::reinterpret::expect_widened;
#[cfg(feature = "any")]
pub(crate) use {
    create::dropout::{DroppedAsOne, Dropping, dropped},
    index::embedding_bag::{Bags, bags},
    index::index_put::places,
    index::scatter_reduce::reduce_into,
    linalg::einsum::{Factor, contract},
};

/// A tensor whose element type, shape, device and layout are in its type.
///
/// ```
/// use castiron::{shape, tensor, Tensor};
/// let pixels: Tensor<u8, shape![2, 3]> = tensor![[0, 51, 102], [153, 204, 255]; u8];
/// let scaled: Tensor<f32, shape![2, 3]> = &pixels / 255.0;     // u8 and a float: f32, as in PyTorch
/// let weights = tensor![0.5, 1.0, 2.0];                        // f32, shape (3)
/// let weighted: Tensor<f32, shape![2, 3]> = scaled * weights;  // broadcast, checked by the compiler
/// assert_eq!(weighted.sum_axis(castiron::axis![1]).to_vec(), [1.0, 3.1]);
/// ```
///
/// # Type parameters
///
/// | parameter | is | for example |
/// |---|---|---|
/// | `E` | the dtype: the Rust element type itself | `f32`, `i64`, `bool`, [`bf16`](crate::bf16), `Complex<f32>` |
/// | `S` | the shape: a tuple of dimensions, written with [`shape!`](crate::shape!) | `shape![_, 384]`, `shape![Batch, 3]`, `()` |
/// | `D` | the device | [`Cpu`], [`Cuda<0>`](crate::Cuda), [`Meta`](crate::Meta) |
/// | `L` | the layout | [`Strided`], [`SparseCoo`](crate::SparseCoo) |
///
/// Cloning is O(1) and shares storage; a tensor is never changed through another, because writing to shared storage copies it first.
/// Operators consume tensors (`x + y`) unless they are given references (`&x + &y`): where rustc says "use of moved value", write `&x`, or
/// clone as it advises, which copies no element.
///
/// `for row in &x` iterates over the first axis, as in PyTorch; [`iter`](Tensor::iter) over the elements.
///
/// # Methods by topic
///
/// An operation has these forms besides its own name, and the page leaves most of them out:
///
/// | form | is |
/// |---|---|
/// | `try_add` | for every method that can panic: returns the [`Error`](crate::Error) instead |
/// | `add_`, `add_into` | in place; written into an existing tensor of the result's shape, converted to its dtype (`out=`) |
/// | `par_map`, `try_par_map` | of methods with a closure: on several threads. (There `try_map` takes a closure that returns a `Result`.) |
/// | `sum_axis`, `squeeze_axes` | along one or several axes |
/// | `zeros_sized` | takes the sizes as an argument, where the compiler does not know all of them |
/// | `zeros_like_in` | in another memory format |
/// | `conv2d_with` | with an activation, or other settings |
/// | `select_mut`, `chunk_array`, `diagonal_at` | a view to be written; an array in place of a list; other axes than the first |
///
/// | to | see |
/// |---|---|
/// | **make a tensor** from numbers | [`tensor!`](crate::tensor!), [`scalar`](Tensor::scalar), [`from_vec`](Tensor::from_vec), [`from_vec_sized`](Tensor::from_vec_sized), [`from_fn`](Tensor::from_fn), [`full`](Tensor::full), [`zeros`](Tensor::zeros), [`ones`](Tensor::ones), [`eye`](Tensor::eye), [`empty`](Tensor::empty), [`tri`](Tensor::tri) |
/// | from ranges | [`arange`](Tensor::arange), [`linspace`](Tensor::linspace), [`logspace`](Tensor::logspace), [`tril_indices`](Tensor::tril_indices), [`triu_indices`](Tensor::triu_indices) |
/// | at random ([`Generator`](crate::Generator)) | [`rand`](Tensor::rand), [`randn`](Tensor::randn), [`randint`](Tensor::randint), [`randperm`](Tensor::randperm), [`uniform`](Tensor::uniform), [`normal`](Tensor::normal), [`bernoulli`](Tensor::bernoulli), [`multinomial`](Tensor::multinomial), [`cauchy`](Tensor::cauchy), [`exponential`](Tensor::exponential), [`geometric`](Tensor::geometric), [`log_normal`](Tensor::log_normal), [`poisson`](Tensor::poisson), [`binomial`](Tensor::binomial) |
/// | from a file that is mapped into memory (feature `mmap`) | `from_file` |
/// | from a checkpoint (feature `safetensors`), a file of NumPy (`npy`) | `load`, `Checkpoint`, `Module`; `load_npy`, `map_npy`, `save_npy`, `from_npy` |
/// | from values of other crates (features of their names) | `from_ndarray`, `as_ndarray`, `from_image`, `into_image`, `from_pod`, `from_dlpack`, `serde`, `into_ndarray`, `as_pod`, `to_dlpack`, `from_rgb`, `from_cudarc`, `to_cudarc`, `into_cudarc` |
/// | in the shape of another | [`zeros_like`](Tensor::zeros_like), [`ones_like`](Tensor::ones_like), [`full_like`](Tensor::full_like), [`eye_like`](Tensor::eye_like), [`empty_like`](Tensor::empty_like), [`rand_like`](Tensor::rand_like), [`randn_like`](Tensor::randn_like), [`randint_like`](Tensor::randint_like) |
/// | over memory that is there | [`TensorView`](crate::TensorView), [`TensorViewMut`](crate::TensorViewMut), [`AsTensor`](crate::AsTensor), [`as_view`](Tensor::as_view), [`view_mut`](Tensor::view_mut) |
/// | **ask** what it is | [`shape`](Tensor::shape), [`size`](Tensor::size), [`numel`](Tensor::numel), [`rank`](Tensor::rank), [`dtype`](Tensor::dtype), [`device`](Tensor::device), [`layout`](Tensor::layout), [`stride`](Tensor::stride), [`storage_offset`](Tensor::storage_offset), [`is_contiguous`](Tensor::is_contiguous), [`is_empty`](Tensor::is_empty), [`shares_storage`](Tensor::shares_storage), [`device_name`](Tensor::device_name), [`is_sparse`](Tensor::is_sparse), [`suggest_memory_format`](Tensor::suggest_memory_format) |
/// | **take elements out** | [`item`](Tensor::item), [`to_vec`](Tensor::to_vec), [`into_vec`](Tensor::into_vec), [`as_slice`](Tensor::as_slice), [`get`](Tensor::get), [`iter`](Tensor::iter), [`iter_axis`](Tensor::iter_axis), [`iter_mut`](Tensor::iter_mut) |
/// | **convert** dtype, device, shape type or layout | [`to`](Tensor::to), [`to_device`](Tensor::to_device), [`cpu`](Tensor::cpu), [`cuda`](Tensor::cuda), [`with_shape`](Tensor::with_shape), [`contiguous`](Tensor::contiguous), [`to_memory_format`](Tensor::to_memory_format), [`to_sparse`](Tensor::to_sparse), [`clone_in`](Tensor::clone_in), [`to_in`](Tensor::to_in) |
/// | **elementwise** arithmetic (operators do the same) | [`add`](Tensor::add), [`sub`](Tensor::sub), [`mul`](Tensor::mul), [`div`](Tensor::div), [`floor_divide`](Tensor::floor_divide), [`remainder`](Tensor::remainder), [`fmod`](Tensor::fmod), [`pow`](Tensor::pow), [`float_power`](Tensor::float_power), [`neg`](Tensor::neg), [`abs`](Tensor::abs), [`reciprocal`](Tensor::reciprocal), [`true_divide`](Tensor::true_divide), [`trunc_divide`](Tensor::trunc_divide), [`positive`](Tensor::positive), [`rsub`](Tensor::rsub), [`rpow`](Tensor::rpow), [`rfloor_divide`](Tensor::rfloor_divide), [`ldexp`](Tensor::ldexp), [`gcd`](Tensor::gcd), [`lcm`](Tensor::lcm) |
/// | exponentials, roots, trigonometry | [`exp`](Tensor::exp), [`exp2`](Tensor::exp2), [`expm1`](Tensor::expm1), [`log`](Tensor::log), [`log2`](Tensor::log2), [`log10`](Tensor::log10), [`log1p`](Tensor::log1p), [`sqrt`](Tensor::sqrt), [`rsqrt`](Tensor::rsqrt), [`square`](Tensor::square), [`sin`](Tensor::sin), [`cos`](Tensor::cos), [`tan`](Tensor::tan), [`asin`](Tensor::asin), [`acos`](Tensor::acos), [`atan`](Tensor::atan), [`atan2`](Tensor::atan2), [`sinh`](Tensor::sinh), [`cosh`](Tensor::cosh), [`tanh`](Tensor::tanh), [`hypot`](Tensor::hypot), [`acosh`](Tensor::acosh), [`asinh`](Tensor::asinh), [`atanh`](Tensor::atanh), [`deg2rad`](Tensor::deg2rad), [`rad2deg`](Tensor::rad2deg), [`logaddexp`](Tensor::logaddexp), [`logaddexp2`](Tensor::logaddexp2) |
/// | rounding and signs | [`floor`](Tensor::floor), [`ceil`](Tensor::ceil), [`round`](Tensor::round), [`round_decimals`](Tensor::round_decimals), [`trunc`](Tensor::trunc), [`frac`](Tensor::frac), [`sign`](Tensor::sign), [`sgn`](Tensor::sgn), [`copysign`](Tensor::copysign), [`fix`](Tensor::fix), [`signbit`](Tensor::signbit), [`frexp`](Tensor::frexp), [`nextafter`](Tensor::nextafter), [`heaviside`](Tensor::heaviside) |
/// | activations | [`relu`](Tensor::relu), [`relu6`](Tensor::relu6), [`gelu`](Tensor::gelu), [`silu`](Tensor::silu), [`sigmoid`](Tensor::sigmoid), [`logsigmoid`](Tensor::logsigmoid), [`softplus`](Tensor::softplus), [`elu`](Tensor::elu), [`selu`](Tensor::selu), [`celu`](Tensor::celu), [`leaky_relu`](Tensor::leaky_relu), [`prelu`](Tensor::prelu), [`mish`](Tensor::mish), [`hardswish`](Tensor::hardswish), [`hardtanh`](Tensor::hardtanh), [`threshold`](Tensor::threshold), [`softsign`](Tensor::softsign), [`softshrink`](Tensor::softshrink), [`hardshrink`](Tensor::hardshrink), [`hardsigmoid`](Tensor::hardsigmoid), [`tanhshrink`](Tensor::tanhshrink), [`gelu_tanh`](Tensor::gelu_tanh), [`glu`](Tensor::glu) |
/// | comparison, logic and bits | [`eq`](Tensor::eq), [`ne`](Tensor::ne), [`lt`](Tensor::lt), [`le`](Tensor::le), [`gt`](Tensor::gt), [`ge`](Tensor::ge), [`logical_and`](Tensor::logical_and), [`logical_or`](Tensor::logical_or), [`logical_not`](Tensor::logical_not), [`bitwise_and`](Tensor::bitwise_and), [`bitwise_or`](Tensor::bitwise_or), [`bitwise_xor`](Tensor::bitwise_xor), [`isnan`](Tensor::isnan), [`isinf`](Tensor::isinf), [`isfinite`](Tensor::isfinite), [`isclose`](Tensor::isclose), [`allclose`](Tensor::allclose), [`equal`](Tensor::equal), [`logical_xor`](Tensor::logical_xor), [`bitwise_not`](Tensor::bitwise_not), [`bitwise_left_shift`](Tensor::bitwise_left_shift), [`bitwise_right_shift`](Tensor::bitwise_right_shift), [`isneginf`](Tensor::isneginf), [`isposinf`](Tensor::isposinf), [`isreal`](Tensor::isreal) |
/// | choice and bounds | [`where_`](crate::where_()), [`clamp`](Tensor::clamp), [`clamp_min`](Tensor::clamp_min), [`clamp_max`](Tensor::clamp_max), [`maximum`](Tensor::maximum), [`minimum`](Tensor::minimum), [`fmax`](Tensor::fmax), [`fmin`](Tensor::fmin), [`lerp`](Tensor::lerp), [`nan_to_num`](Tensor::nan_to_num) |
/// | special functions | [`erf`](Tensor::erf), [`erfinv`](Tensor::erfinv), [`lgamma`](Tensor::lgamma), [`digamma`](Tensor::digamma), [`polygamma`](Tensor::polygamma), [`sinc`](Tensor::sinc), [`i0`](Tensor::i0), [`bessel_j0`](Tensor::bessel_j0), [`airy_ai`](Tensor::airy_ai), [`zeta`](Tensor::zeta), [`igamma`](Tensor::igamma), [`igammac`](Tensor::igammac), [`xlogy`](Tensor::xlogy), [`entr`](Tensor::entr), [`logit`](Tensor::logit), [`erfc`](Tensor::erfc), [`erfcx`](Tensor::erfcx), [`i0e`](Tensor::i0e), [`i1`](Tensor::i1), [`i1e`](Tensor::i1e), [`bessel_j1`](Tensor::bessel_j1), [`bessel_y0`](Tensor::bessel_y0), [`bessel_y1`](Tensor::bessel_y1), [`modified_bessel_i0`](Tensor::modified_bessel_i0), [`modified_bessel_i1`](Tensor::modified_bessel_i1), [`modified_bessel_k0`](Tensor::modified_bessel_k0), [`modified_bessel_k1`](Tensor::modified_bessel_k1), [`scaled_modified_bessel_k0`](Tensor::scaled_modified_bessel_k0), [`scaled_modified_bessel_k1`](Tensor::scaled_modified_bessel_k1), [`spherical_bessel_j0`](Tensor::spherical_bessel_j0), [`mvlgamma`](Tensor::mvlgamma), [`ndtr`](Tensor::ndtr), [`ndtri`](Tensor::ndtri), [`log_ndtr`](Tensor::log_ndtr), [`xlog1py`](Tensor::xlog1py) |
/// | complex numbers | [`complex`](Tensor::complex), [`polar`](Tensor::polar), [`real`](Tensor::real), [`imag`](Tensor::imag), [`conj`](Tensor::conj), [`angle`](Tensor::angle), [`view_as_real`](Tensor::view_as_real), [`view_as_complex`](Tensor::view_as_complex), [`adjoint`](Tensor::adjoint), [`conj_physical`](Tensor::conj_physical), [`mH`](Tensor::mH) |
/// | **reduce** (each also along axes: `sum_axis`) | [`sum`](Tensor::sum), [`mean`](Tensor::mean), [`prod`](Tensor::prod), [`max`](Tensor::max), [`min`](Tensor::min), [`amax`](Tensor::amax), [`amin`](Tensor::amin), [`argmax`](Tensor::argmax), [`argmin`](Tensor::argmin), [`any`](Tensor::any), [`all`](Tensor::all), [`count_nonzero`](Tensor::count_nonzero), [`norm`](Tensor::norm), [`logsumexp`](Tensor::logsumexp), [`aminmax`](Tensor::aminmax), [`nansum`](Tensor::nansum), [`nanmean`](Tensor::nanmean), [`vector_norm`](Tensor::vector_norm) |
/// | statistics | [`var`](Tensor::var), [`std`](Tensor::std), [`var_mean`](Tensor::var_mean), [`std_mean`](Tensor::std_mean), [`median`](Tensor::median), [`nanmedian`](Tensor::nanmedian), [`quantile`](Tensor::quantile), [`nanquantile`](Tensor::nanquantile), [`cov`](Tensor::cov), [`corrcoef`](Tensor::corrcoef), [`bincount`](Tensor::bincount), [`histc`](Tensor::histc), [`histogram`](Tensor::histogram), [`histogramdd`](Tensor::histogramdd), [`bincount_weighted`](Tensor::bincount_weighted), [`histogram_between`](Tensor::histogram_between), [`quantiles`](Tensor::quantiles), [`nanquantiles`](Tensor::nanquantiles) |
/// | normalise | [`softmax`](Tensor::softmax), [`log_softmax`](Tensor::log_softmax), [`layer_norm`](Tensor::layer_norm), [`rms_norm`](Tensor::rms_norm), [`normalize`](Tensor::normalize), [`batch_norm`](Tensor::batch_norm), [`batch_norm_training`](Tensor::batch_norm_training), [`group_norm`](Tensor::group_norm), [`instance_norm`](Tensor::instance_norm), [`local_response_norm`](Tensor::local_response_norm), [`renorm`](Tensor::renorm) |
/// | **scan** along an axis | [`cumsum`](Tensor::cumsum), [`cumprod`](Tensor::cumprod), [`cummax`](Tensor::cummax), [`cummin`](Tensor::cummin), [`logcumsumexp`](Tensor::logcumsumexp), [`diff`](Tensor::diff), [`trapezoid`](Tensor::trapezoid), [`cumulative_trapezoid`](Tensor::cumulative_trapezoid), [`trapezoid_over`](Tensor::trapezoid_over), [`cumulative_trapezoid_over`](Tensor::cumulative_trapezoid_over) |
/// | **sort and search** | [`sort`](Tensor::sort), [`argsort`](Tensor::argsort), [`topk`](Tensor::topk), [`kthvalue`](Tensor::kthvalue), [`mode`](Tensor::mode), [`unique`](Tensor::unique), [`unique_consecutive`](Tensor::unique_consecutive), [`searchsorted`](Tensor::searchsorted), [`bucketize`](Tensor::bucketize), [`isin`](Tensor::isin), [`one_hot`](Tensor::one_hot), [`msort`](Tensor::msort), [`searchsorted_scalar`](Tensor::searchsorted_scalar), [`unique_axis`](Tensor::unique_axis) |
/// | **view**: other axes | [`reshape`](Tensor::reshape), [`view`](Tensor::view), [`flatten`](Tensor::flatten), [`unflatten`](Tensor::unflatten), [`t`](Tensor::t), [`transpose`](Tensor::transpose), [`permute`](Tensor::permute), [`movedim`](Tensor::movedim), [`swapaxes`](Tensor::swapaxes), [`squeeze`](Tensor::squeeze), [`unsqueeze`](Tensor::unsqueeze), [`expand`](Tensor::expand), [`mT`](Tensor::mT), [`atleast_1d`](Tensor::atleast_1d), [`atleast_2d`](Tensor::atleast_2d), [`atleast_3d`](Tensor::atleast_3d), [`view_as`](Tensor::view_as), [`reshape_as`](Tensor::reshape_as), [`expand_as`](Tensor::expand_as) |
/// | view: a part | [`slice`](Tensor::slice), [`select`](Tensor::select), [`narrow`](Tensor::narrow), [`diagonal`](Tensor::diagonal), [`as_strided`](Tensor::as_strided) |
/// | view: several parts | [`chunk`](Tensor::chunk), [`split`](Tensor::split), [`split_sizes`](Tensor::split_sizes), [`tensor_split`](Tensor::tensor_split), [`unbind`](Tensor::unbind), [`unfold`](Tensor::unfold), [`iter_axis`](Tensor::iter_axis), [`split_into`](Tensor::split_into), [`tensor_split_at`](Tensor::tensor_split_at) |
/// | view to be **written** | [`slice_mut`](Tensor::slice_mut), [`select_mut`](Tensor::select_mut), [`split_at_mut`](Tensor::split_at_mut), [`iter_axis_mut`](Tensor::iter_axis_mut), [`multi_slice_mut`](Tensor::multi_slice_mut), [`view_mut`](Tensor::view_mut) |
/// | view the bytes as another dtype | [`view_dtype`](Tensor::view_dtype) |
/// | **index** by tensors | [`index_select`](Tensor::index_select), [`gather`](Tensor::gather), [`take`](Tensor::take), [`take_along_dim`](Tensor::take_along_dim), [`embedding`](Tensor::embedding), [`scatter`](Tensor::scatter), [`scatter_add`](Tensor::scatter_add), [`scatter_reduce`](Tensor::scatter_reduce), [`index_add`](Tensor::index_add), [`index_copy`](Tensor::index_copy), [`index_fill`](Tensor::index_fill), [`index_put`](Tensor::index_put), [`embedding_bag`](Tensor::embedding_bag), [`scatter_value`](Tensor::scatter_value) |
/// | index by masks | [`masked_select`](Tensor::masked_select), [`masked_fill`](Tensor::masked_fill), [`masked_scatter`](Tensor::masked_scatter), [`nonzero`](Tensor::nonzero), [`argwhere`](Tensor::argwhere) |
/// | **join** | [`cat`](crate::cat()), [`stack`](crate::stack()), [`hstack`](crate::hstack()), [`vstack`](crate::vstack()), [`dstack`](crate::dstack()), [`column_stack`](crate::column_stack()), [`meshgrid`](crate::meshgrid()), [`cartesian_prod`](crate::cartesian_prod()), [`block_diag`](crate::block_diag()), [`broadcast_tensors`](crate::broadcast_tensors()) |
/// | **rearrange** (copies) | [`flip`](Tensor::flip), [`roll`](Tensor::roll), [`rot90`](Tensor::rot90), [`repeat`](Tensor::repeat), [`tile`](Tensor::tile), [`repeat_interleave`](Tensor::repeat_interleave), [`pad`](Tensor::pad), [`tril`](Tensor::tril), [`triu`](Tensor::triu), [`diag`](Tensor::diag), [`diag_embed`](Tensor::diag_embed), [`fliplr`](Tensor::fliplr), [`flipud`](Tensor::flipud), [`repeat_interleave_by`](Tensor::repeat_interleave_by), [`channel_shuffle`](Tensor::channel_shuffle), [`pixel_shuffle`](Tensor::pixel_shuffle), [`pixel_unshuffle`](Tensor::pixel_unshuffle) |
/// | **linear algebra** | [`matmul`](Tensor::matmul), [`mm`](Tensor::mm), [`bmm`](Tensor::bmm), [`mv`](Tensor::mv), [`dot`](Tensor::dot), [`vdot`](Tensor::vdot), [`vecdot`](Tensor::vecdot), [`outer`](Tensor::outer), [`inner`](Tensor::inner), [`tensordot`](Tensor::tensordot), [`kron`](Tensor::kron), [`multi_dot`](crate::multi_dot()), [`linear`](Tensor::linear), [`addmm`](Tensor::addmm), [`baddbmm`](Tensor::baddbmm), [`trace`](Tensor::trace), [`cross`](Tensor::cross), [`cdist`](Tensor::cdist), [`dist`](Tensor::dist), [`addbmm`](Tensor::addbmm), [`addmv`](Tensor::addmv), [`addr`](Tensor::addr), [`rmatmul`](Tensor::rmatmul), [`bilinear`](Tensor::bilinear), [`int_mm`](Tensor::int_mm), [`pack_linear`](Tensor::pack_linear), [`cosine_similarity`](Tensor::cosine_similarity), [`pairwise_distance`](Tensor::pairwise_distance), [`pdist`](Tensor::pdist) |
/// | solve, factor (feature `linalg`) | `solve`, `solve_triangular`, `lstsq`, `inv`, `pinv`, `det`, `slogdet`, `cholesky`, `qr`, `lu`, `ldl_factor`, `svd`, `svdvals`, `eigh`, `eig`, `matrix_rank`, `matrix_exp`, `cond`, `solve_ex`, `rsolve`, `rsolve_triangular`, `inv_ex`, `tensorinv`, `cholesky_ex`, `cholesky_solve`, `cholesky_inverse`, `geqrf`, `householder_product`, `ormqr`, `rormqr`, `lu_factor`, `lu_factor_ex`, `lu_solve`, `lu_unpack`, `ldl_solve`, `eigvals`, `eigvalsh`, `svd_lowrank`, `pca_lowrank`, `nuclear_norm`, `spectral_norm` |
/// | **transform** (feature `fft`) | `fft`, `ifft`, `rfft`, `irfft`, `hfft`, `ihfft`, `fftn`, `rfftn`, `fftshift`, `fftfreq`, `stft`, `istft`, `window`, `fft_n`, `ifft_n`, `ifftn`, `irfftn`, `ifftshift`, `rfftfreq` |
/// | **layers of networks**: convolution | [`conv1d`](Tensor::conv1d), [`conv2d`](Tensor::conv2d), [`conv3d`](Tensor::conv3d), [`conv_transpose1d`](Tensor::conv_transpose1d), [`conv_transpose2d`](Tensor::conv_transpose2d), [`conv_transpose3d`](Tensor::conv_transpose3d), [`pack_conv1d`](Tensor::pack_conv1d), [`pack_conv2d`](Tensor::pack_conv2d), [`pack_conv3d`](Tensor::pack_conv3d), [`im2col`](Tensor::im2col), [`col2im`](Tensor::col2im) |
/// | pooling | [`max_pool1d`](Tensor::max_pool1d), [`max_pool2d`](Tensor::max_pool2d), [`max_pool3d`](Tensor::max_pool3d), [`avg_pool1d`](Tensor::avg_pool1d), [`avg_pool2d`](Tensor::avg_pool2d), [`avg_pool3d`](Tensor::avg_pool3d), [`lp_pool1d`](Tensor::lp_pool1d), [`lp_pool2d`](Tensor::lp_pool2d), [`lp_pool3d`](Tensor::lp_pool3d), [`adaptive_max_pool1d`](Tensor::adaptive_max_pool1d), [`adaptive_max_pool2d`](Tensor::adaptive_max_pool2d), [`adaptive_max_pool3d`](Tensor::adaptive_max_pool3d), [`adaptive_avg_pool1d`](Tensor::adaptive_avg_pool1d), [`adaptive_avg_pool2d`](Tensor::adaptive_avg_pool2d), [`adaptive_avg_pool3d`](Tensor::adaptive_avg_pool3d), [`max_pool1d_with_indices`](Tensor::max_pool1d_with_indices), [`max_pool2d_with_indices`](Tensor::max_pool2d_with_indices), [`max_pool3d_with_indices`](Tensor::max_pool3d_with_indices), [`max_unpool1d`](Tensor::max_unpool1d), [`max_unpool1d_to`](Tensor::max_unpool1d_to), [`max_unpool2d`](Tensor::max_unpool2d), [`max_unpool2d_to`](Tensor::max_unpool2d_to), [`max_unpool3d`](Tensor::max_unpool3d), [`max_unpool3d_to`](Tensor::max_unpool3d_to), [`fractional_max_pool2d`](Tensor::fractional_max_pool2d), [`fractional_max_pool2d_with_indices`](Tensor::fractional_max_pool2d_with_indices), [`fractional_max_pool3d`](Tensor::fractional_max_pool3d), [`fractional_max_pool3d_with_indices`](Tensor::fractional_max_pool3d_with_indices) |
/// | images | [`interpolate`](Tensor::interpolate), [`interpolate_scaled`](Tensor::interpolate_scaled), [`upsample`](Tensor::upsample), [`grid_sample`](Tensor::grid_sample), [`affine_grid`](Tensor::affine_grid) |
/// | attention | [`scaled_dot_product_attention`](Tensor::scaled_dot_product_attention), [`rope`](Tensor::rope) |
/// | dropout | [`dropout`](Tensor::dropout), [`dropout1d`](Tensor::dropout1d), [`dropout2d`](Tensor::dropout2d), [`dropout3d`](Tensor::dropout3d), [`alpha_dropout`](Tensor::alpha_dropout), [`feature_alpha_dropout`](Tensor::feature_alpha_dropout) |
/// | losses | [`cross_entropy`](Tensor::cross_entropy), [`cross_entropy_probabilities`](Tensor::cross_entropy_probabilities), [`nll_loss`](Tensor::nll_loss), [`mse_loss`](Tensor::mse_loss), [`l1_loss`](Tensor::l1_loss), [`smooth_l1_loss`](Tensor::smooth_l1_loss), [`huber_loss`](Tensor::huber_loss), [`binary_cross_entropy`](Tensor::binary_cross_entropy), [`binary_cross_entropy_with_logits`](Tensor::binary_cross_entropy_with_logits), [`kl_div`](Tensor::kl_div), [`gaussian_nll_loss`](Tensor::gaussian_nll_loss), [`poisson_nll_loss`](Tensor::poisson_nll_loss), [`ctc_loss`](Tensor::ctc_loss), [`hinge_embedding_loss`](Tensor::hinge_embedding_loss), [`soft_margin_loss`](Tensor::soft_margin_loss), [`cosine_embedding_loss`](Tensor::cosine_embedding_loss), [`margin_ranking_loss`](Tensor::margin_ranking_loss), [`triplet_margin_loss`](Tensor::triplet_margin_loss), [`triplet_margin_with_distance_loss`](Tensor::triplet_margin_with_distance_loss), [`multi_margin_loss`](Tensor::multi_margin_loss), [`multilabel_margin_loss`](Tensor::multilabel_margin_loss), [`multilabel_soft_margin_loss`](Tensor::multilabel_soft_margin_loss) |
/// | **write in place** | [`assign`](Tensor::assign), [`copy_from`](Tensor::copy_from), [`fill`](Tensor::fill), [`zero_`](Tensor::zero_), `add_`, `mul_`, `exp_`, [`clamp_`](Tensor::clamp_), [`masked_fill_`](Tensor::masked_fill_), [`index_put_`](Tensor::index_put_), [`get_mut`](Tensor::get_mut), [`as_mut_slice`](Tensor::as_mut_slice) |
/// | write into a tensor that is there | `add_into`, `exp_into` |
/// | call a **closure** with elements or lanes, on the host | [`map`](Tensor::map), [`zip_map`](Tensor::zip_map), [`map_indexed`](Tensor::map_indexed), [`map_lanes`](Tensor::map_lanes), [`map_windows`](Tensor::map_windows), [`for_each`](Tensor::for_each), [`fold`](Tensor::fold), [`fold_axis`](Tensor::fold_axis), [`par_fold`](Tensor::par_fold), [`par_fold_axis`](Tensor::par_fold_axis), [`reduce`](Tensor::reduce), [`reduce_axis`](Tensor::reduce_axis); in place [`map_`](Tensor::map_), [`zip_map_`](Tensor::zip_map_), [`map_lanes_`](Tensor::map_lanes_); [`indexed_iter`](Tensor::indexed_iter) |
/// | apply a **formula** of one's own, on every device, with its gradient | [`apply`](Tensor::apply), [`apply_into`](Tensor::apply_into), in place [`apply_`](Tensor::apply_), [`#[formula]`](macro@crate::formula) |
/// | reduce or scan by **steps** of one's own | [`reduce_by`](Tensor::reduce_by), [`reduce_axis_by`](Tensor::reduce_axis_by), [`scan_by`](Tensor::scan_by), [`#[reducer]`](macro@crate::reducer) |
/// | **run several operations in one pass** | [`lazy`](Tensor::lazy), [`fused!`](crate::fused!) |
/// | take **gradients** (feature `grad`) | `Grad::value_and_grad`, `Grad::vjp`; in the closure `detach`, `stop`; of gradients `Grad::hvp`, `Grad::jvp`, [`jacobian`](#method.jacobian), [`hessian`](#method.hessian) |
/// | keep only what is not zero ([`SparseTensor`](crate::SparseTensor)) | [`sparse_coo`](Tensor::sparse_coo), [`to_sparse`](Tensor::to_sparse), [`to_sparse_hybrid`](Tensor::to_sparse_hybrid), [`sparse_zeros`](Tensor::sparse_zeros), [`sparse_coo_inferred`](Tensor::sparse_coo_inferred), [`sparse_coo_unchecked`](Tensor::sparse_coo_unchecked), [`indices`](Tensor::indices), [`values`](Tensor::values), [`nnz`](Tensor::nnz), [`coalesce`](Tensor::coalesce), [`is_coalesced`](Tensor::is_coalesced), [`sparse_dim`](Tensor::sparse_dim), [`dense_dim`](Tensor::dense_dim), [`raw_indices`](Tensor::raw_indices), [`raw_values`](Tensor::raw_values), [`to_dense`](Tensor::to_dense) |
///
/// # Reading the compiler's messages
///
/// A number in a shape is printed by its digits: `(D3<D8<D4>>, D2)` is `shape![384, 2]`. Frequent messages of rustc about tensors:
///
/// | rustc | what to write |
/// |---|---|
/// | expected `f32`, found `Tensor<f32, ()>` | a sum is a tensor of one element: `x.sum().item()`, or `.into()` |
/// | expected `bool`, found `Tensor<bool, …>` | a comparison gives a mask, an answer for each element: `x.gt(0).any().item()`, `.all().item()` |
/// | expected `Tensor<A, S>`, found `Tensor<<A as Promotable>::With<B>, S>` | dtypes promote: return `Tensor<Promoted<A, B>, S>` ([`Promoted`](crate::Promoted)), or convert with `.to::<A>()` |
/// | cannot apply unary operator `-` to type `Tensor<bool, …>` | a mask has no negative: `!mask` inverts it, `-mask.to::<i64>()` counts down |
/// | cannot apply unary operator `!` to type `Tensor<f32, …>` | `!` is for bools and integers: `x.logical_not()` says where an element is 0 |
/// | use of moved value | operators take their operands, to write the result in their place: borrow (`&x + 1`), or `x.clone()`, which is O(1) and copies no element |
/// | expected type, found `2` | a shape is written `Tensor<f32, shape![2, 3]>` |
/// | expected type, found const parameter `N` | dimensions are types: `fn f<N: Dim>(x: &Tensor<f32, shape![N]>)` |
/// | no method named `…` found | the device, dtype or layout may lack it: the table above says what the parameters are |
pub struct Tensor<E: Element, S: Shape, D: Device = Cpu, L: Layout = Strided> {
    pub(crate) parts: L::Parts<E, S, D>,
}

// Defined here, so that compiler messages name it `Tensor::size`.
impl<E: Element, S: Shape, D: Device, L: Layout> Tensor<E, S, D, L> {
    /// The size of one axis (`torch.Tensor.size(dim)`).
    ///
    /// ```
    /// use castiron::axis;
    /// assert_eq!(castiron::tensor![[1, 2, 3], [4, 5, 6]].size(axis![-1]), 3);
    /// ```
    pub fn size<const I: isize>(&self, _axis: impl AxisArg<I>) -> usize
    where
        S: HasAxis<I>,
    {
        self.shape().as_ref().get(<S as HasAxis<I>>::INDEX).copied().unwrap_or(1)
    }
}

impl<E: Element, S: Shape, D: Device, L: Layout> Clone for Tensor<E, S, D, L> {
    /// Shares storage: O(1).
    #[inline]
    fn clone(&self) -> Self {
        Tensor { parts: self.parts.clone() }
    }
}

/// The number of elements, or an error if memory cannot address them.
pub(crate) fn checked_numel<E: Element>(op: &'static str, sizes: &[usize]) -> Result<usize> {
    checked_numel_of(op, sizes, size_of::<E>())
}
/// [`checked_numel`] of elements of this many bytes.
pub(crate) fn checked_numel_of(op: &'static str, sizes: &[usize], width: usize) -> Result<usize> {
    numel(sizes)
        .filter(|numel| numel.checked_mul(width).is_some_and(|bytes| bytes <= isize::MAX as usize))
        .ok_or_else(|| Error::TooLarge { op, sizes: sizes.into() })
}

/// A shape type as text, with sizes not known as `_` or by name: `[_, 384]`.
pub(crate) fn shape_text<S: Shape>() -> String {
    axes_text(S::KNOWN, S::NAMES)
}
fn axes_text(known: &[Option<usize>], names: &[Option<&str>]) -> String {
    let axes: Vec<String> = known
        .iter()
        .zip(names)
        .map(|(known, name)| match (known, name) {
            (Some(size), _) => size.to_string(),
            (None, Some(name)) => (*name).to_owned(),
            (None, None) => "_".to_owned(),
        })
        .collect();
    format!("[{}]", axes.join(", "))
}

/// Whether sizes agree with those known by a shape type.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn fits<S: Shape>(sizes: &[usize]) -> bool {
    S::KNOWN.iter().zip(sizes).all(|(known, size)| known.is_none_or(|known| known == *size))
}

/// Checks that sizes agree with those known by a shape type.
pub(crate) fn expect_fit<S: Shape>(op: &'static str, sizes: &[usize]) -> Result<()> {
    if fits::<S>(sizes) { Ok(()) } else { Err(Error::Shape { op, expected: shape_text::<S>(), found: sizes.into() }) }
}
