//! Tensors whose dtype, shape, device and layout are in the type, with PyTorch's semantics.
//!
//! ```
//! use castiron::{dims, shape, tensor, Tensor};
//! dims! { Batch }
//!
//! let images: Tensor<u8, shape![Batch, 4]> = Tensor::ones_sized([2, 4]);
//! let weight: Tensor<f32, shape![3, 4]> = Tensor::ones();
//! let bias = tensor![0.0, 1.0, 2.0];
//! // Bytes and a float scalar promote to `f32`; `(Batch, 4) @ (4, 3)` is `(Batch, 3)`, to
//! // which the bias is broadcast.
//! let logits: Tensor<f32, shape![Batch, 3]> = (&images / 255.0).matmul(weight.t()) + bias;
//! assert_eq!(logits.argmax_axis(castiron::axis![1]).to_vec(), [2, 2]);
//! ```
//!
//! A wrong dtype, device, rank or known size does not compile:
//!
//! ```compile_fail,E0277
//! let mut counts = castiron::tensor![1, 2, 3];
//! counts += 0.5; // result type `f32` can't be cast to the desired output type `i64`
//! ```
//!
//! The [book] has a whole program in ten minutes, chapters on shapes, dtypes, generic code, files, training and more, tables for users of PyTorch, NumPy,
//! ndarray, nalgebra and candle, and recipes; [forbidden] programs are what does not compile, with what to write instead.
//!
//! # Where to start
//!
//! | to | see |
//! |---|---|
//! | make a tensor | [`tensor!`], [`Tensor::zeros`], [`Tensor::from_vec`], [`Tensor::arange`], [`Tensor::rand`] |
//! | write a shape | [`shape!`], [`dim!`], [`dims!`], [`Dyn`] |
//! | name axes | [`axis!`] |
//! | compute | the methods of [`Tensor`], the operators, [`cat`], [`stack`], [`where_`] |
//! | write generic code | [`Dtype`], [`Shape`], [`Device`], [`Dim`]; the sets [`Numeric`], [`Ordered`], [`Real`], [`Integer`], [`Bits`], [`Inexact`], [`Float`], [`ComplexFloat`] |
//! | state more about a shape in generic code | [`Known`] (a size that the compiler knows, as `Tensor::zeros` needs), [`KnownShape`] (all sizes known), [`Dimensional`] (at least one axis), [`HasAxis`]; the other rules in [`mod@shape`] |
//! | know a result's dtype | [`Promote`], [`Promoted`]; at run time [`dtype::result_type`], [`dtype::promote_types`], [`dtype::can_cast`] |
//! | read memory as a tensor, write part of a tensor | [`TensorView`], [`TensorViewMut`], [`AsTensor`] |
//! | convert | [`Tensor::to`], [`Tensor::with_shape`], [`Tensor::to_device`] |
//! | take elements out | [`Tensor::item`], [`Tensor::to_vec`], [`Tensor::into_vec`] (without a copy), [`Tensor::iter`], [`Tensor::iter_axis`] |
//! | keep only elements that are not zero | [`SparseTensor`], [`Tensor::sparse_coo`], [`Tensor::to_sparse`] |
//! | load weights from files, save them | [`Checkpoint`], [`Module`] and the module [`io`], with the feature `safetensors` |
//! | have gradients, move parameters along them, cut data into batches | [`grad`], [`optim`] (`Adam`, `Sgd`, `Lbfgs` and others, schedules) and [`data`] (`Batches`), with the feature `grad` |
//! | solve equations, factor matrices | [`Tensor::solve`], [`Tensor::svd`] and others, with the feature `linalg`; the bound for generic code is [`RealField`], or [`Field`], which includes complex numbers |
//! | transform signals | [`Tensor::fft`], [`Tensor::stft`], [`Tensor::window`] and others, with the feature [`fft`] |
//! | lay out images | [`ChannelsLast`], [`Tensor::to_memory_format`] |
//! | know dtype and shape at run time only | [`AnyTensor`], [`AnyViewMut`], [`any::AnySparse`] and [`visit!`], with the feature `any`; sizes are `x.shape()` or `&[2, -1]` ([`any::IntoSizes`]) |
//! | name a device at run time | [`AnyDevice`], [`device::scoped_default_device`] |
//! | assert what types results have | [`assert_dtype!`], [`assert_shape!`], [`assert_type!`]; that programs do not compile: the crate `castiron-test` |
//! | handle errors at run time | [`Error`]; each method that can fail has a `try_` twin |
//!
//! Arguments have one order: axes first, then numbers (`x.topk_sized(axis![-1], k, true)`, `x.norm_axis(axis![0], 2.0)`). The methods of
//! `AnyTensor` have PyTorch's order.
//!
//! Operators take tensors or references to them: `&x + &y` keeps both, `x + y` consumes them, and the result may reuse the memory of one.
//! To go on using a tensor write `&x`, or `x.clone()` as rustc advises: a clone shares storage and copies no element.
//!
//! Constructors and random numbers take dtype and shape from the expected type. If nothing determines it, as in `let w = Tensor::randn(g);
//! w * bound`, rustc reports E0282 or E0283, "type annotations needed": write `let w: Tensor<f32, shape![3, 4]> = Tensor::randn(g);`.
//!
//! # Printing
//!
//! | format | prints |
//! |---|---|
//! | `{}` | as PyTorch does: four decimal places, or whole numbers, or exponents, as the elements need; of more than 1,000 elements the first and last three of each axis |
//! | `{:.2}` | each float with two decimal places (`torch.set_printoptions(precision=2, sci_mode=False)`) |
//! | `{:8}`, `{:8.3}` | each element in at least 8 characters, so that the columns of several tensors are below each other |
//! | `{:#}` | all elements, however many (`torch.set_printoptions(profile="full")`); also `{:#.2}`, `{:#8.3}` |
//! | `{:?}` | dtype, shape, strides, offset and device, then as `{}` |
//! | [`describe(&x)`](describe()) | what a tensor is, and what is in it: smallest, largest, mean, how many NaNs |
//!
//! ```
//! let x = castiron::tensor![[1.5, -0.25], [100.0, 1.0e-3]];
//! assert_eq!(format!("{x:8.3}"), "tensor([[   1.500,   -0.250],\n        [ 100.000,    0.001]])");
//! ```
//!
//! # From PyTorch
//!
//! | PyTorch | castiron |
//! |---|---|
//! | `torch.float32`, `torch.int64`, `torch.bool`, `torch.complex64` | `f32`, `i64`, `bool`, `Complex<f32>` |
//! | `torch.zeros(2, 3)` | `Tensor::<f32, shape![2, 3]>::zeros()` |
//! | `torch.zeros(n, 3)` | `Tensor::<f32, shape![_, 3]>::zeros_sized([n, 3])` |
//! | `torch.tensor([[1, 2], [3, 4]])` | `tensor![[1, 2], [3, 4]]` |
//! | `for row in x`, `x.tolist()`, `x.numpy()` | `for row in &x`, `x.to_vec()`, `x.into_vec()` |
//! | `x.to(torch.float64)` | `x.to::<f64>()` |
//! | `x.to("cuda:1")`, `x.cuda()`, `x.cpu()` | `x.to_device::<Cuda<1>>()?`, `x.cuda()?`, `x.cpu()?` |
//! | `x > 0`, `x == y`, `torch.equal(x, y)`, `if x.all():` | `x.gt(0)`, `x.eq(&y)`, `x == y`, `if x.all().item()` |
//! | `x.sum()`, `x.sum(dim=(0, 2), keepdim=True)` | `x.sum()`, `x.sum_axis(axis![0, 2].keepdim())` |
//! | `x.max(dim=1)` | `x.max_axis(axis![1])` |
//! | `x.view(6)`, `x.reshape(-1, 2)` | `x.reshape::<shape![6]>()`, `x.reshape::<shape![_, 2]>()` |
//! | `x[0]`, `x[:, 1:3]`, `x[0, 1].item()` | `x.select(axis![0], 0)`, `x.narrow(axis![1], 1, 2)`, `x[(0, 1)]` |
//! | `x[1, :, None, ::2]`, `x[..., -1]` | `x.slice(s![1, .., NewAxis, ::2])`, `x.slice(s![..., -1])` |
//! | `x[:, 1] += y`, `x[mask] = 0` | `x.slice_mut(s![.., 1]).add_(y)`, `x.masked_fill_(mask, 0)` |
//! | `x.view(torch.int32)`, `torch.from_numpy(a)` | `x.view_dtype::<i32>()`, `TensorView::from_slice(&a)` |
//! | `x.chunk(3, -1)`, `x.split([2, 4], 1)`, `x.unbind()` | `let [q, k, v] = x.chunk_array(axis![-1])`, `x.split_into::<shape![2, 4], _>(axis![1])`, `x.unbind(axis![0])` |
//! | `x.flip(0, 1)`, `x.roll(1, 0)`, `x.repeat(2, 3)` | `x.flip(axis![0, 1])`, `x.roll_axis(axis![0], 1)`, `x.repeat::<shape![2, 3]>()` |
//! | `F.pad(x, (1, 2))`, `F.pad(x, (1, n), "reflect")` | `x.pad::<shape![1, 2], _>(Constant(0))`, `x.pad_sized([1, n], Reflect)` |
//! | `x.add_(y)`, `torch.add(x, y, out=z)` | `x.add_(&y)` or `x += &y`, `x.add_into(&y, &mut z)` |
//! | `torch.where(m, x, 0)` | `where_(m, &x, 0)` |
//! | `x[m]`, `x[:, i]`, `x.gather(1, i)` | `x.masked_select(m)`, `x.index_select(axis![1], i)`, `x.gather(axis![1], i)` |
//! | `x.sort(dim=-1)`, `x.topk(5)`, `x.topk(k)` | `x.sort(axis![-1], false)`, `x.topk::<dim!(5), _>(axis![-1], true)`, `x.topk_sized(axis![-1], k, true)` |
//! | `x.to(memory_format=torch.channels_last)`, `x.is_contiguous(memory_format=…)` | `x.to_memory_format(ChannelsLast)`, `x.is_contiguous_in(ChannelsLast)` |
//! | `x.device`, `torch.device("cuda:1")`, `torch.result_type(x, 0.5)` | `x.device()`, `AnyDevice::new("cuda:1")`, [`dtype::result_type(&x, 0.5)`](dtype::result_type) |
//! | `torch.sparse_coo_tensor(i, v, (2, 3))`, `(n, 3)` | `Tensor::<f32, shape![2, 3]>::sparse_coo(&i, &v)`, `Tensor::<f32, shape![_, 3]>::sparse_coo_sized(&i, &v, [n, 3])` |
//! | `x.to_sparse()`, `x.to_sparse(1)`, `s.to_dense()` | `x.to_sparse()`, `x.to_sparse_hybrid::<1>()` (of two axes one is dense), `s.to_dense()` |
//! | `s._nnz()`, `s._indices()`, `s.coalesce().values()`, `s.layout` | `s.nnz()`, `s.raw_indices()`, `s.coalesce().values()`, `s.layout()` |
//! | `s @ x`, `x @ s`, `torch.sparse.mm(s, s)` | `s.matmul(&x)`, `s.rmatmul(&x)`, `s.matmul(&s)` |
//! | `torch.linalg.solve(a, b)`, `torch.linalg.svd(x, full_matrices=False)`, `torch.linalg.eigh(x)` | `a.solve(&b)`, `x.svd(Reduced)`, `x.eigh(Uplo::Lower)` |
//! | `torch.fft.rfft(x, dim=-1)`, `torch.fft.irfft(y, n=8)`, `torch.hann_window(8)` | `x.rfft(axis![-1], Norm::Backward)`, `y.irfft::<dim!(8), _>(axis![-1], Norm::Backward)`, `Tensor::window(&Window::Hann, false)` |
//! | `x @ w.T` | `x.matmul(w.t())` |
//! | `F.linear(x, w, b)`, `F.layer_norm(x, (384,), w, b)` | `x.linear(&w, Some(&b))`, `x.layer_norm(Some(&w), Some(&b), 1e-5)` |
//! | `F.conv2d(x, w, b, stride=2, padding=1)`, `F.max_pool2d(x, 2)` | `x.conv2d(&w, Some(&b), Conv::new().stride::<dim!(2)>().padding::<dim!(1)>())`, `x.max_pool2d(Pool::<dim!(2)>::new())` |
//! | `torch.optim.AdamW(net.parameters(), lr=1e-3)`, `optimizer.step()` | `AdamW::new(&net).rate(1e-3)`, `adam.step(&mut net, &grads)` (feature `grad`) |
//! | `clip_grad_norm_(parameters, 1.0)`, `OneCycleLR(optimizer, 0.1, 1000)` | `grads.clip_norm(1.0)`, `adam.set_rate(OneCycle::new(0.1, 1000).at(step))` |
//! | `DataLoader(TensorDataset(x, y), 32, shuffle=True)` | `data::Batches::new((&x, &y), 32).shuffled(&mut generator)` |
//! | `torch.jit.freeze(module)` | `let layer = w.pack_linear(Some(&b))`, `layer.forward(&x)` ([`nn::PackedLinear`], [`nn::PackedConv`]) |
//! | `F.scaled_dot_product_attention(q, k, v, mask)`, `is_causal=True` | `q.scaled_dot_product_attention(&k, &v, Where(&mask), None)`, `… Causal …` ([`nn`]) |
//! | `F.cross_entropy(x, y)`, `F.mse_loss(x, y, reduction="none")` | `x.cross_entropy(&y, (), -100, 0.0, Mean)`, `x.mse_loss(&y, Unreduced)` ([`reduction`]) |
//! | `torch.einsum("bij,bjk->bik", a, b)` | `einsum!("bij,bjk->bik", a, b)` |
//! | `~mask`, `x ** 2`, `x // y`, `x % y` | `!mask`, `x.pow(2)`, `x.floor_divide(y)`, `x % y` |
//! | `torch.Generator().manual_seed(0)` | [`Generator::seeded(0)`](Generator::seeded) |
//!
// Links to what is behind a feature: where it is off they lead to the documentation of all features.
#![cfg_attr(feature = "safetensors", doc = "[`Module`]: trait@Module")]
#![cfg_attr(feature = "fft", doc = "[`fft`]: mod@fft")]
#![cfg_attr(
    not(feature = "safetensors"),
    doc = "[`Checkpoint`]: https://docs.rs/castiron/latest/castiron/io/struct.Checkpoint.html",
    doc = "[`Module`]: https://docs.rs/castiron/latest/castiron/io/trait.Module.html",
    doc = "[`io`]: https://docs.rs/castiron/latest/castiron/io/index.html"
)]
#![cfg_attr(
    not(feature = "grad"),
    doc = "[`grad`]: https://docs.rs/castiron/latest/castiron/grad/index.html",
    doc = "[`optim`]: https://docs.rs/castiron/latest/castiron/optim/index.html",
    doc = "[`data`]: https://docs.rs/castiron/latest/castiron/data/index.html"
)]
#![cfg_attr(
    not(feature = "linalg"),
    doc = "[`Tensor::solve`]: https://docs.rs/castiron/latest/castiron/struct.Tensor.html#method.solve",
    doc = "[`Tensor::svd`]: https://docs.rs/castiron/latest/castiron/struct.Tensor.html#method.svd",
    doc = "[`RealField`]: https://docs.rs/castiron/latest/castiron/trait.RealField.html",
    doc = "[`Field`]: https://docs.rs/castiron/latest/castiron/trait.Field.html"
)]
#![cfg_attr(
    not(feature = "fft"),
    doc = "[`fft`]: https://docs.rs/castiron/latest/castiron/fft/index.html",
    doc = "[`Tensor::fft`]: https://docs.rs/castiron/latest/castiron/struct.Tensor.html#method.fft",
    doc = "[`Tensor::stft`]: https://docs.rs/castiron/latest/castiron/struct.Tensor.html#method.stft",
    doc = "[`Tensor::window`]: https://docs.rs/castiron/latest/castiron/struct.Tensor.html#method.window"
)]
#![cfg_attr(
    not(feature = "any"),
    doc = "[`AnyTensor`]: https://docs.rs/castiron/latest/castiron/any/struct.AnyTensor.html",
    doc = "[`AnyViewMut`]: https://docs.rs/castiron/latest/castiron/any/struct.AnyViewMut.html",
    doc = "[`any::AnySparse`]: https://docs.rs/castiron/latest/castiron/any/struct.AnySparse.html",
    doc = "[`any::IntoSizes`]: https://docs.rs/castiron/latest/castiron/any/trait.IntoSizes.html",
    doc = "[`visit!`]: https://docs.rs/castiron/latest/castiron/macro.visit.html"
)]
#![cfg_attr(
    not(all(
        feature = "any",
        feature = "fft",
        feature = "grad",
        feature = "image",
        feature = "linalg",
        feature = "ndarray",
        feature = "npy",
        feature = "profile"
    )),
    doc = "[book]: https://docs.rs/castiron/latest/castiron/book/index.html"
)]
#![cfg_attr(docsrs, feature(doc_cfg))]

// Attributes and derives write `::castiron::…`, in this crate too.
extern crate self as castiron;
/// What the macros below hand their tokens to, behind `$crate`: castiron under the name that a program has for it.
#[doc(hidden)]
pub mod __macros {
    pub use castiron_macros::{cuda_kernel, dim, einsum, fused, s, shape, tensor, try_einsum};
}

#[macro_use]
mod rows;

// First, since the documentation of `Tensor` lists methods in the order of modules.
mod tensor;

mod composite;
mod sparse;

#[doc(hidden)]
#[path = "assertions.rs"]
pub mod __assertions;
#[cfg(feature = "any")]
pub mod any;
mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
#[cfg(not(feature = "cuda"))]
#[path = "cuda/absent.rs"]
mod cuda;
#[cfg(feature = "grad")]
pub mod data;
mod describe;
pub mod device;
pub mod dtype;
mod error;
#[cfg(any(feature = "mmap", feature = "cuda"))]
mod file;
pub mod gpu;
#[cfg(feature = "grad")]
pub mod grad;
#[cfg(any(
    feature = "mmap",
    feature = "serde",
    feature = "bytemuck",
    feature = "ndarray",
    feature = "image",
    feature = "dlpack",
    feature = "arrow",
    feature = "nalgebra",
    feature = "faer",
    feature = "evcxr"
))]
pub mod io;
pub mod layout;
pub mod memory;
pub mod ops;
#[cfg(feature = "grad")]
pub mod optim;
#[cfg(feature = "profile")]
mod profile;
mod refused;
mod scoped;
mod sealed;
pub mod shape;
mod storage;

/// Operations of one's own: what a [`#[formula]`](macro@formula) and a [`#[reducer]`](macro@reducer) are written with, and when something else
/// serves better.
///
/// | | runs on | gradient | in `fused!` | takes |
/// |---|---|---|---|---|
/// | operations, [`fused!`](crate::fused!) | every device | yes | | tensors, in one pass with `fused!` |
/// | [`#[formula]`](macro@formula) | every device | yes, of any order | yes | one element each of one to six tensors, expressions or scalars |
/// | [`#[reducer]`](macro@reducer) | every device | yes, computed on the host | at the end | all elements of axes, or those up to each, of one tensor or two |
/// | closures: [`map`](crate::Tensor::map), [`zip_map`](crate::Tensor::zip_map) | the host | no | no | any Rust, elements of any dtype, also of structs of bytes |
/// | closures over slices: [`map_lanes`](crate::Tensor::map_lanes), [`map_windows`](crate::Tensor::map_windows) | the host | no | no | a row, or a window of neighbours |
#[cfg_attr(
    feature = "grad",
    doc = "| [`grad::custom`](crate::grad::custom()) | every device | as it is written | no | whole tensors, with a vector-Jacobian product of one's own |"
)]
/// | [`cuda_kernel!`](crate::cuda_kernel!) | GPUs | by `grad::custom` | no | whole tensors, in CUDA C++ of one's own, which is `unsafe` |
///
/// A formula is the first choice for what is computed element by element: its function is written once, in terms of numbers, and castiron reads
/// it several times. On plain numbers it is a loop of vectors, compiled for each instruction set; on numbers that write down their steps it is a
/// kernel of a GPU; on numbers with a derivative it is its own gradient. So it has no `if` on elements, no index and no function of
/// the host; messages say what to write instead.
///
/// Neighbours are operands of their own, views that are shifted, and cost no copy: a stencil is a formula.
///
/// ```
/// use castiron::{Tensor, formula, fused, s, shape, tensor};
///
/// /// A step of the heat equation.
/// #[formula]
/// fn warmed<F: Float>(here: F, left: F, right: F, rate: F) -> F {
///     here + rate * (left - 2 * here + right)
/// }
/// let x = tensor![0.0, 0.0, 1.0, 0.0, 0.0];
/// let (here, left, right) = (x.slice(s![1..-1]), x.slice(s![..-2]), x.slice(s![2..]));
/// let y: Tensor<f32, shape![3]> = here.apply(warmed, (&left, &right, 0.25));
/// assert_eq!(y.to_vec(), [0.25, 0.5, 0.25]);
/// // In place, in one pass with what surrounds it.
/// let mut z = x.clone();
/// fused!(z.slice_mut(s![1..-1]) = warmed(here, left, right, 0.25) * 2.0);
/// assert_eq!(z.to_vec(), [0.0, 0.5, 1.0, 0.5, 0.0]);
/// ```
///
/// # The kernel, and when to use which
///
/// A [`cuda_kernel!`](crate::cuda_kernel!) is for what is no formula: threads that work together (shared memory, shuffles, atomics, tensor cores), an index
/// that is computed, a loop that ends by an element, or CUDA C++ that is there already. It runs on GPUs alone, has no gradient by itself, and can break
/// memory. What is computed element by element is a formula: it becomes a kernel of the same form, with packs of 16 bytes, for strides too, and runs in one
/// pass with what surrounds it. A row or a matrix in one kernel is often an operation already (`softmax`, `layer_norm`, `scaled_dot_product_attention`).
/// Where kernels are many and small it is the host that is slow: `gpu::capture` replays all of them by one call, whosever they are. Kernels that another crate
/// brings run on castiron's tensors by `gpu::cudarc`.
///
/// ```
/// use castiron::{Known, Tensor, Dim, cuda_kernel, shape};
///
/// cuda_kernel! {
///     /// The largest distance between neighbours of each row, by a block for each row.
///     ///
///     /// # Safety
///     /// There is a block for each row, of `N` threads.
///     pub unsafe fn largest_step<M: Dim, N: Known>(x: &Tensor<f32, shape![M, N]>, y: &mut Tensor<f32, shape![M]>) {
///         r#"
///             __shared__ f32 steps[N];
///             const int at = threadIdx.x;
///             const f32 *row = x + blockIdx.x * N;
///             steps[at] = at + 1 < N ? fabsf(row[at + 1] - row[at]) : 0;
///             __syncthreads();
///             if (at == 0) {
///                 f32 most = 0;
///                 for (int i = 0; i < N; i++) most = fmaxf(most, steps[i]);
///                 y[blockIdx.x] = most;
///             }
///         "#
///     }
/// }
/// ```
pub mod formula {
    #[doc(hidden)]
    pub use crate::dtype::numbers::{MachineBits, MachineComplex, MachineInexact, MachineNumber, MachineReal};
    #[doc(hidden)]
    pub use crate::dtype::{MachineFloat as Machine, MachineInt};
    #[doc(hidden)]
    pub use crate::ops::formula::{
        AMask, ANumber, Among, Named, NoFormula, OfTensors, Takes, callee, has_fast_path, is_side_by_side, mask, stated,
    };
    pub use crate::ops::formula::{
        BitsAndBools, Complexes, Five, Floats, Formula, Four, Inexacts, Integers, IntoNumber, Kinds, Mask, Number,
        NumberSet, Numbers, One, Plain, Reals, Results, Six, Three, Two, WithMasks, select,
    };
    pub use crate::ops::reduce::own::Reducer;
    pub use crate::tensor::ReducedBeside;
}

/// Arguments of Fourier transforms: how results are scaled, how a signal is cut into frames, windows.
#[cfg(feature = "fft")]
pub mod fft {
    pub use crate::composite::fourier::frames::{Beyond, Frames};
    pub use crate::composite::fourier::signal::{Norm, RealSignal, Spectral, Wave};
    pub use crate::tensor::fourier::{AsManyAxes, FramesOf, Frequencies, SameDtypeAsWindow, Samples, Weights, Window};
}

/// How the border of a padded tensor is filled: see [`Tensor::pad`].
pub mod pad {
    pub use crate::composite::rearrange::pad::{Circular, Constant, PadMode, Reaches, Reflect, Replicate};
}

/// How the losses of single elements are reduced: see [`Tensor::mse_loss`].
pub mod reduction {
    pub use crate::ops::losses::LossReduction;
    pub use crate::tensor::{BatchMean, DivergenceReduction, Mean, Reduction, Sum, Unreduced};
}

#[cfg(feature = "profile")]
pub use profile::{Profile, Record, profile};

#[cfg(feature = "any")]
pub use any::{AnyTensor, AnyViewMut};
#[cfg(feature = "safetensors")]
pub use castiron_macros::Module;
/// A kernel of one's own: a function whose body is CUDA C++, run on tensors of a GPU. (It runs with the feature `cuda`; types are checked in
/// every build.)
///
/// Castiron checks what the types say: dtypes, the device, sizes, that what is written is borrowed by nobody else, the bounds of the
/// grid. It compiles the text by NVRTC when it is first launched, keeps it in memory and on disk, and launches it in the order of the
/// device's other work.
///
/// ```
/// use castiron::{Dim, Tensor, cuda_kernel, gpu::Launch, shape};
///
/// cuda_kernel! {
///     /// `y = a * x + y`
///     pub fn axpy<N: Dim>(a: f32, x: &Tensor<f32, shape![N]>, y: &mut Tensor<f32, shape![N]>) {
///         // SAFETY: no index is past `N`, on any grid.
///         unsafe { r#"
///             for (i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; i < N; i += gridDim.x * (i64)blockDim.x)
///                 y[i] = a * x[i] + y[i];
///         "# }
///     }
/// }
/// # fn main() -> castiron::Result<()> {
/// let x = castiron::tensor![1.0, 2.0, 3.0];
/// # if x.cuda().is_err() { return Ok(()) }
/// let (x, mut y) = (x.cuda()?, Tensor::ones());
/// axpy(Launch::over(x.numel()), 2.0, &x, &mut y)?;
/// assert_eq!(y.cpu()?.to_vec(), [3.0, 5.0, 7.0]);
/// # Ok(())
/// # }
/// ```
///
/// # What the text sees
///
/// | parameter | in the text |
/// |---|---|
/// | a scalar, `a: f32` | `const f32 a` |
/// | a tensor that is read, `x: &Tensor<f32, …>` | `const f32 *x`: its elements in row-major order. A tensor with other strides is copied before |
/// | one that is written, `y: &mut Tensor<f32, …>` | `f32 *y`: the same, and of no other operand. The function takes `&mut Tensor` or a [`TensorViewMut`], such as a part of a tensor; other strides are an error |
/// | a size, `N` in `shape![N, 3]` | `const i64 N`: equal wherever it stands, which the launch checks. If the type knows it, as for `shape![128]`, it is a constant, so that `__shared__ f32 row[N]` compiles; `N: Known` asks for that |
/// | a shape, `S: Shape` in `Tensor<f32, S>` | `const i64 S`, the number of elements |
/// | a dtype, `E: Float` in `Tensor<E, …>` | the type `E`; the text is compiled for each |
///
/// Dtypes have Rust's names there: `f32`, `i64`, `u8`, `bool`; `f16` and `bf16` convert to `float` and from it; `Complex<f32>` has `re` and `im`. Text that ends
/// with `;` before the first kernel stands before each of them: functions, templates, `#define`. It may be `include_str!("….cu")`. There
/// are no headers to include. `a * b + c` is rounded twice, as on the host; `fmaf(a, b, c)` once.
///
/// # Unsafe
///
/// The text can do anything, so somebody promises that it reads and writes elements of its tensors alone, writes those alone that are `&mut`, and leaves
/// 0 or 1 in a `bool`. With `unsafe { "…" }` around the text its author does, for every grid that [`Launch`](gpu::Launch) can say. As `unsafe fn` each
/// caller does, for its grid: text that relies on one needs it.
///
/// # Errors
/// Of the function: if sizes that have one name differ, a tensor that is written is not contiguous, the grid is beyond the limits of CUDA
/// devices, NVRTC is missing or refuses the text (the error has its log, and the text with line numbers), or memory runs out. A fault of the kernel is
/// reported by a later call, as for castiron's own ([`Cuda`]).
///
/// A kernel has no gradient of its own: `grad::custom` gives it one. [`formula`](mod@formula) says what to use when.
///
/// [`TensorViewMut`]: crate::TensorViewMut
#[macro_export]
macro_rules! cuda_kernel {
    ($($tokens:tt)*) => { $crate::__macros::cuda_kernel! { $crate $($tokens)* } };
}
/// Writes one dimension as a type: a number, `_` for [`Dyn`], or a name.
///
/// ```
/// use castiron::{dim, Dim};
/// assert_eq!(<dim!(384) as Dim>::SIZE, Some(384));
/// ```
#[macro_export]
macro_rules! dim {
    ($($tokens:tt)*) => { $crate::__macros::dim!($crate $($tokens)*) };
}
/// The sum of products of tensors whose axes are named by letters (`torch.einsum`): `einsum!("ij,jk->ik", a, b)` is a matrix product.
/// Letters missing in the result are summed over; a letter twice in one term takes the diagonal. Without `->` the result has the letters
/// that occur once, in alphabetical order.
///
/// The compiler knows the shape of the result, and checks that every letter has one size. Operands are tensors or references to them, of
/// one dtype, which is the result's (`bool` is refused); sizes of 1 are not broadcast. Errors at run time panic; [`try_einsum!`] returns a
/// `Result`. For `...`, and equations that are strings at run time, see `any::einsum`.
///
/// ```
/// use castiron::{einsum, shape, tensor, Tensor};
/// let (a, b) = (tensor![[1, 2], [3, 4], [5, 6]], tensor![[1, 0, 1], [0, 1, 1]]);
/// let product: Tensor<i64, shape![3, 3]> = einsum!("ij,jk->ik", a, &b);
/// assert_eq!(product.to_vec(), [1, 2, 3, 3, 4, 7, 5, 6, 11]);
/// assert_eq!(einsum!("ii", &product).item(), 1 + 4 + 11);
/// assert_eq!(einsum!("ij->ji", &a).to_vec(), [1, 3, 5, 2, 4, 6]);
/// ```
#[macro_export]
macro_rules! einsum {
    ($($tokens:tt)*) => { $crate::__macros::einsum!($crate $($tokens)*) };
}
/// Runs an expression of tensors and scalars in one pass, without intermediate tensors: every name in it that is a tensor
/// becomes [`lazy`](Tensor::lazy).
///
/// Operators, methods of [`Lazy`](lazy::Lazy) and reductions work as they do for tensors; `< <= > >= == !=` give masks, and `if mask { a }
/// else { b }` and `where_(mask, a, b)` choose element by element. `let` names a subexpression, which is computed wherever it is used.
/// `place = …` and `place += …` write into a tensor. A [formula](macro@formula) of one's own is called like a function: `swish(x, 0.5) * y`.
/// Views (`x.t()`, `x.select(…)`) belong to the name before them; calls of functions of the host, `f(n)`, and expressions in braces,
/// `{ f(n + 1) }`, are evaluated before, as ordinary Rust. Nothing else of Rust's grammar compiles: closures, loops, `let mut`,
/// casts and macros have no meaning here.
///
/// ```
/// use castiron::{axis, fused, tensor};
/// let (x, y, slope) = (tensor![[-1.0, 2.0], [3.0, -4.0]], tensor![0.5, 0.5], 0.1_f32);
/// let leaky = fused!(if x > 0 { x } else { x * slope });
/// assert_eq!(leaky.to_vec(), [-0.1, 2.0, 3.0, -0.4]);
/// let distance = fused! {
///     let d = x - y;
///     (d * d).sum_axis(axis![1]).sqrt()
/// };
/// assert_eq!(distance.to_vec(), [4.5_f32.sqrt(), 26.5_f32.sqrt()]);
///
/// let mut total = tensor![1.0, 1.0];
/// fused!(total += y * 2.0 + x.select(axis![0], 0));
/// assert_eq!(total.to_vec(), [1.0, 4.0]);
/// ```
#[macro_export]
macro_rules! fused {
    ($($tokens:tt)*) => { $crate::__macros::fused!($crate $($tokens)*) };
}

/// A formula of one's own, of one to six numbers, which gives one or up to four: written once, it runs in loops of each instruction set on the host,
/// as a kernel on GPUs, inside of [`fused!`], and has a gradient.
///
/// The function becomes a value of its name, which [`Tensor::apply`], [`Tensor::apply_`] and [`Tensor::apply_into`] take, and [`fused!`] calls. `F` stands for the numbers of an element, of a kernel that is
/// recorded and of a derivative alike ([`formula::Number`]): operators, constants (`f64`, `i32`), the functions of castiron's operations
/// (`x.exp()`), loops with a known number of steps, and other formulas. `x.gt(0.0)` compares, and [`select`](formula::select) chooses;
/// `if` can't, since it asks once for all elements. Half-precision elements compute in `f32` and are rounded once.
///
/// `F: Float` are floating-point numbers. `I: Integer` are integers, with `& | ^ ! << >>`, [`gcd`](Tensor::gcd), `x.floor_divide(y)`, `%` and
/// wrapping arithmetic (divided by zero they give 0), `R: Real` both, `C: ComplexFloat` complex numbers, `X: Inexact` floating-point and
/// complex numbers, `N: Numeric` all, `B: Bits` integers and bools: each has what all of its dtypes have. `name: Mask` is an operand of
/// bools, and `-> Mask` a result.
///
/// Its derivative is read from it. Where a better one is known, such as one that does not overflow, `#[formula(derivative = (by_x, by_y))]`
/// names formulas of the same operands, or `_`; debug builds compare both where a gradient is computed, and panic if they differ.
///
/// ```
/// use castiron::{Device, Float, Shape, Tensor, formula, fused, tensor};
///
/// #[formula]
/// fn swish<F: Float>(x: F, beta: F) -> F {
///     x / (1.0 + (-(beta * x)).exp())
/// }
/// /// Linear above a limit.
/// #[formula(method)]
/// fn gentle<F: Float>(x: F, limit: F) -> F {
///     select(x.gt(limit), x, swish(x, 1.0))
/// }
/// fn layer<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
///     x.apply(swish, 0.5).gentle(2.0)
/// }
/// let x = tensor![-1.0, 0.0, 3.0];
/// assert_eq!(x.apply(swish, 1.0), x.silu());
/// assert_eq!(x.gentle(2.0).to_vec()[2], 3.0_f32);
/// // As a part of a larger expression, in one pass.
/// let y = fused!(swish(x, 1.0) * 2 + x.gentle(2.0));
/// assert_eq!(layer(&y).shape(), [3]);
///
/// #[formula(method)]
/// fn inside<R: Real>(x: R, low: R, high: R) -> Mask {
///     x.ge(low) & x.lt(high)
/// }
/// #[formula(method)]
/// fn hashed<I: Integer>(x: I, keep: Mask) -> I {
///     select(keep, (x ^ (x >> 7)) * 31, -1)
/// }
/// let x = tensor![3, 500, 70];
/// assert_eq!(x.hashed(x.inside(0, 100)).to_vec(), [93, -1, 2170]);
/// ```
///
/// A crate that has castiron under another name says where: `#[formula(crate = "::my_library::castiron")]`.
pub use castiron_macros::formula;
/// A reduction of one's own, by its steps in floating-point numbers: `start` gives a state of one number or several, `step` takes an element
/// (or two, of two tensors), `merge` puts the states of two parts together, since parts are reduced at the same time, and `finish` gives the
/// result, or several as a tuple.
///
/// It becomes a value of its type, which [`Tensor::reduce_by`], [`Tensor::reduce_axis_by`] and [`Tensor::scan_by`] take, and lazy expressions
/// as well. Its steps are read as those of a [formula](macro@formula) are: loops of each instruction set on the host, kernels of GPUs; its
/// gradient comes from dual numbers. For a scan `merge` takes the earlier part first; reductions do not promise an order.
///
/// ```
/// use castiron::{axis, reducer, tensor};
///
/// /// Mean and variance in one pass (Welford).
/// struct Moments;
/// #[reducer]
/// impl Moments {
///     fn start<F: Float>() -> [F; 3] {
///         [0.0, 0.0, 0.0]
///     }
///     fn step<F: Float>([count, mean, squares]: [F; 3], x: F) -> [F; 3] {
///         let more = count + 1;
///         let off = x - mean;
///         let new = mean + off / more;
///         [more, new, squares + off * (x - new)]
///     }
///     fn merge<F: Float>(one: [F; 3], other: [F; 3]) -> [F; 3] {
///         let count = one[0] + other[0];
///         let share = select(count.gt(0), other[0] / count, 0);
///         let off = other[1] - one[1];
///         [count, one[1] + off * share, one[2] + other[2] + off * off * one[0] * share]
///     }
///     fn finish<F: Float>([count, mean, squares]: [F; 3]) -> (F, F) {
///         (mean, squares / (count - 1))
///     }
/// }
/// let x = tensor![[1.0, 3.0], [2.0, 6.0]];
/// let (mean, variance) = x.reduce_axis_by(Moments, (), axis![1]);
/// assert_eq!((mean.to_vec(), variance.to_vec()), (vec![2.0_f32, 4.0], vec![2.0, 8.0]));
/// ```
///
/// Where castiron has another name: `#[reducer(crate = "::my_library::castiron")]`.
pub use castiron_macros::reducer;
/// Writes a slice: an item for each axis, from the first on, for [`Tensor::slice`] and related methods.
///
/// | item | does | Python |
/// |---|---|---|
/// | `2`, `-1`, `i` | one position; the axis disappears | `2`, `-1`, `i` |
/// | `1..3`, `1..`, `..-1`, `a..=b` | a range | `1:3`, `1:`, `:-1`, `a:b + 1` |
/// | `1..8;2`, `..;2`, `::2` | every second position of a range | `1:8:2`, `::2`, `::2` |
/// | `..` | the whole axis | `:` |
/// | `...` | as many whole axes as are left | `...` |
/// | `NewAxis` | a new axis of size 1 | `None` |
///
/// Negative positions count from the end, and ranges end where the axis does. Axes without an item stay whole.
///
/// The size of a range written in literals is in the type: on an axis of known size it is clamped as in PyTorch; on another axis it is
/// what the literals say (`1..3` and `-2..` are 2), which is an error at run time if the axis is shorter. Ranges of other expressions
/// have sizes known at run time. A literal position outside of a known axis does not compile.
///
/// ```
/// use castiron::{s, shape, Tensor};
/// let x: Tensor<i64, shape![_, 4, 6]> = Tensor::from_vec_sized((0..72).collect(), [3, 4, 6]);
/// let y: Tensor<i64, shape![_, 2, 3]> = x.slice(s![.., 1..3, ::2]);
/// let y: Tensor<i64, shape![1, 4]> = x.slice(s![0, NewAxis, ..., 2]);
/// assert_eq!(y.to_vec(), [2, 8, 14, 20]);
/// let n = 2;
/// let y: Tensor<i64, shape![_, 4, 6]> = x.slice(s![..n]);
/// assert_eq!(y.shape(), [2, 4, 6]);
/// ```
#[macro_export]
macro_rules! s {
    ($($tokens:tt)*) => { $crate::__macros::s!($crate $($tokens)*) };
}
/// Writes a shape as a type: numbers, `_` for sizes known at run time, names declared with [`dims!`], or types that are
/// dimensions. `shape![]` is the shape of a zero-dim tensor.
///
/// ```
/// use castiron::{dims, shape, Dyn, Shape};
/// dims! { Batch }
/// assert_eq!(<shape![Batch, _, 384] as Shape>::KNOWN, [None, None, Some(384)]);
/// assert_eq!(<shape![Batch, _, 384] as Shape>::NAMES, [Some("Batch"), None, None]);
/// assert_eq!(<shape![] as Shape>::RANK, 0);
/// ```
///
/// Dimensions are types, so neither a variable nor a `const N: usize` can be one. Code for every size takes the dimension as a type
/// parameter:
///
/// ```
/// use castiron::{shape, Dim, Tensor};
/// fn first<N: Dim>(x: &Tensor<f32, shape![N, 3]>) -> Tensor<f32, shape![3]> {
///     x.select(castiron::axis![0], 0)
/// }
/// assert_eq!(first(&Tensor::<f32, shape![5, 3]>::ones()).numel(), 3);
/// ```
#[macro_export]
macro_rules! shape {
    ($($tokens:tt)*) => { $crate::__macros::shape!($crate $($tokens)*) };
}
/// Makes a tensor from nested lists (`torch.tensor`), with the shape of the lists. Plain literals have PyTorch's dtype: `bool`, `i64`,
/// `f32`, or `Complex<f32>` (`1.0 + 2.0j`), the highest that occurs; `; dtype` at the end chooses another; other expressions keep their
/// own.
///
/// ```
/// use castiron::{shape, tensor, Complex, Tensor};
/// let a: Tensor<i64, shape![2, 2]> = tensor![[1, 2], [3, 4]];
/// let b: Tensor<f32, shape![3]> = tensor![1, 2.5, true];
/// let c: Tensor<Complex<f32>, shape![2]> = tensor![1.0 + 2.0j, 3];
/// let d: Tensor<u8, shape![2]> = tensor![0, 255; u8];
/// let x = 2.0_f64;
/// let e: Tensor<f64, shape![2]> = tensor![x, x * x];
/// assert_eq!((b.to_vec(), e.to_vec()), (vec![1.0, 2.5, 1.0], vec![2.0, 4.0]));
/// ```
#[macro_export]
macro_rules! tensor {
    ($($tokens:tt)*) => { $crate::__macros::tensor!($crate $($tokens)*) };
}
/// [`einsum!`] that returns errors at run time: sizes that only the program knows, and running out of memory.
///
/// ```
/// use castiron::{shape, try_einsum, Tensor};
/// let (a, b): (Tensor<f32, shape![_]>, Tensor<f32, shape![_]>) = (Tensor::ones_sized([2]), Tensor::ones_sized([3]));
/// let error = try_einsum!("i,i", &a, &b).unwrap_err();
/// assert_eq!(error.to_string(), "einsum: the letter 'i' names two sizes, 2 and 3");
/// ```
#[macro_export]
macro_rules! try_einsum {
    ($($tokens:tt)*) => { $crate::__macros::try_einsum!($crate $($tokens)*) };
}
#[cfg(feature = "linalg")]
pub use composite::decompose::eigen::Uplo;
#[cfg(feature = "linalg")]
pub use cpu::factor::field::{Field, RealField};
#[cfg(feature = "cuda")]
#[doc(hidden)]
pub use cuda::test_hooks as cuda_test_hooks;
#[doc(hidden)]
pub use describe::Describe;
pub use describe::{Description, Statistics, describe};
pub use device::{AnyDevice, Cpu, Cuda, Device, IntoDevice, Meta};
pub use dtype::shell::*;
pub use dtype::{
    Bits, CanCast, CastTo, Category, Complex, ComplexFloat, DType, Dtype, Element, Float, Inexact, Integer, Numeric,
    Ordered, Promote, Promoted, Real, Scalar, ScalarValue, bf16, f16,
};
pub use error::{Error, Result, Sizes};
#[cfg(feature = "safetensors")]
pub use io::{Checkpoint, Module};
pub use layout::memory_format::{ChannelsLast, ChannelsLast3d, Contiguous, MemoryFormat, Preserve};
pub use shape::slicing::NewAxis;
pub use shape::{Axis, Dim, Dimensional, Dyn, HasAxis, Known, KnownShape, Shape};
#[cfg(feature = "linalg")]
pub use shape::{Complete, Reduced};
pub use sparse::{DenseAxes, KeepsZero, SparseCoo, SparseFactor, SparseTensor, SparseValues};
#[doc(hidden)]
pub use sparse::{RightOfSparse, WrittenToSparse};
#[doc(hidden)]
pub use tensor::einsum_calls as __einsum;
pub use tensor::lazy;
pub use tensor::shells;
pub use tensor::{
    Activation, AnyLayout, AsTensor, AxisIter, BagMode, BinCounts, BinWeight, ByteNumber, Generator, Interpolation,
    Iter, JoinDtype, Joined, Layout, LossWeight, OnHost, Operand, Optional, Outcome, OutcomeDevice, OutcomeShape,
    PerChannel, Piece, Position, RotaryLayout, RunningStatistics, SameDevice, SameDtype, ScatterReduce, Stacked,
    Strided, Tensor, TensorOperand, TensorView, TensorViewMut, cat, multi_dot, stack, try_cat, try_multi_dot,
    try_stack, try_where_, where_,
};
#[doc(hidden)]
pub use tensor::{
    Admits, AssignedFrom, AssignedTo, EqualTo, FollowedBy, InPlace, MultiSlice, OrderedWith, PositionIn, RightOf,
    TunedWrites, Whole, Writes,
};
pub use tensor::{
    BlockDiag, Broadcasted, Grid, Reshaped, block_diag, broadcast_tensors, cartesian_prod, column_stack, dstack,
    hstack, meshgrid, meshgrid_xy, try_block_diag, try_broadcast_tensors, try_cartesian_prod, try_column_stack,
    try_dstack, try_hstack, try_vstack, vstack,
};
pub use tensor::{ClosureError, HostClosures, ZipOperand, ZipOperands};
pub use tensor::{
    WeightOf, float_power, floor_divide, pow, try_float_power, try_floor_divide, try_pow, try_xlog1py, try_xlogy,
    try_zeta, xlog1py, xlogy, zeta,
};

/// How the windows of convolutions and pooling move, what attention sees, and how tensors are resampled.
pub mod nn {
    pub use crate::composite::nn::attention::{Added, All, Causal, Sees, SeesAmong, Where};
    pub use crate::composite::nn::grid::Samples;
    pub use crate::composite::nn::modes::{
        Area, Bicubic, Bilinear, Lanczos, Linear, Nearest, NearestExact, Resamples, Trilinear,
    };
    pub use crate::ops::grid::GridPadding;
    pub use crate::shape::{Conv, Half, Pool, Same};
    pub use crate::shape::{Images, Lines, Patches, Volumes};
    pub use crate::tensor::nn::packed::PackedConv;
    pub use crate::tensor::nn::packed_linear::PackedLinear;
}

#[cfg(doc)]
#[doc = include_str!("../docs/forbidden.md")]
pub mod forbidden {}

// Its code uses these features.
#[cfg(all(
    doc,
    feature = "any",
    feature = "fft",
    feature = "grad",
    feature = "image",
    feature = "linalg",
    feature = "ndarray",
    feature = "npy",
    feature = "profile"
))]
#[doc = include_str!("../book/links.md")]
#[doc = include_str!("../book/src/introduction.md")]
pub mod book;

/// The README's examples.
#[cfg(all(doctest, feature = "any", feature = "grad"))]
#[doc = include_str!("../README.md")]
struct Readme;
