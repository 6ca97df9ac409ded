//! Matrix products on a GPU: by cublasLt if supported (`gemm`), else by our own kernels, for every dtype (`tiles.cuh`, `sums.cuh`).

use super::elementwise::{Target, count, operand, run, start, unreadable};
use super::gemm::{self, gemm};
use super::reduce::{BLOCK, uninitialised};
use crate::cuda::blas::multiplies;
use crate::cuda::compile::{KernelKey, Source};
use crate::cuda::launch::{Arguments, Grid, THREADS};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::ops::arguments::Added;
use crate::ops::kernel::{Copying, Map1};
use crate::ops::record::cuda::{self, with_prelude};
use crate::ops::record::describe;
use crate::ops::record::kernel::Kernel;
use crate::ops::record::product::{Factors, Product};
use crate::storage::View;
use core::any::TypeId;

pub(super) const OP: &str = "matmul";
const TEXT: &str = include_str!("product.cuh");
const TILES: &str = include_str!("tiles.cuh");
const SUMS: &str = include_str!("sums.cuh");

/// The struct `ci_product`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Sizes {
    batch: u64,
    matrix: [u64; 3],
    rank: u64,
    sizes: [u64; 8],
    batches: [[u64; 8]; 3],
    steps: [[u64; 2]; 3],
}

/// Strides of the leading axes, and of the last two.
fn split(strides: &[usize]) -> ([u64; 8], [u64; 2]) {
    let (mut leading, mut last) = ([0; 8], [0; 2]);
    let first = strides.len().saturating_sub(2);
    strides[..first].iter().zip(&mut leading).for_each(|(&stride, to)| *to = stride as u64);
    strides[first..].iter().zip(&mut last).for_each(|(&stride, to)| *to = stride as u64);
    (leading, last)
}

/// The key of this file's kernels.
struct Products;

/// Number of tiles that keeps a GPU busy.
const ENOUGH: usize = 256;

/// Number of tiles of a result: 16 by 16 threads, with `each` by `each` elements per thread.
fn tiles(batch: usize, sizes: [usize; 2], each: usize) -> usize {
    sizes.iter().fold(batch, |tiles, size| tiles.saturating_mul(size.div_ceil(16 * each)))
}

/// The method of our own kernels.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// By tiles, in the order of `k`.
    Tiles,
    /// Long sums in pieces; the value is the size of a sum in bytes.
    Pieces(usize),
}

/// Minimum terms for dividing a sum among threads.
const LONG: usize = 1024;
/// Minimum terms per piece.
const PIECE: usize = 4096;

/// Whether a product has few, long sums: of two vectors, or (unless cublasLt supports it) of a vector and a matrix that is contiguous along
/// the sums.
fn is_long(a: (&[usize], &[usize]), b: (&[usize], &[usize]), has_library: bool) -> bool {
    let last = a.0.len() - 1;
    let (m, k, n) = (a.0[last - 1], a.0[last], b.0[last]);
    let runs = (n == 1 && a.1[last] == 1) || (m == 1 && b.1[last - 1] == 1);
    k >= LONG && ((m == 1 && n == 1) || (runs && !has_library))
}

/// The text of a product's kernels: for tiles with `each` by `each` elements per thread, or for pieces (0).
fn text(device: &CudaDevice, product: &Product, adds: bool, each: usize) -> Result<String> {
    let own = cuda::product(product).map_err(|why| unreadable(OP, device, &why))?;
    let parameters = cuda::product_values(product);
    let values: String = parameters.iter().enumerate().map(|(at, ty)| format!(", const {ty} s{at}")).collect();
    let given: String = (0..parameters.len()).map(|at| format!("s{at}, ")).collect();
    let (input, own_input, added) = match adds {
        true => (
            ", const OUT *input",
            "const OUT *from_input = input + ci_place(matrix, w.rank, w.sizes, w.input_batch);",
            "from_input[row * w.input_row + column * w.input_column],",
        ),
        false => ("", "", ""),
    };
    Ok(with_prelude(&format!(
        "#define CI_THREADS {THREADS}\n{BLOCK}{own}#define CI_EACH {each}\n#define CI_INPUT {input}\n\
         #define CI_FROM_INPUT {own_input}\n#define CI_ADDED {added}\n#define CI_VALUES {values}\n#define CI_GIVEN {given}\n{TEXT}{}",
        if each == 0 { SUMS } else { TILES }
    )))
}

/// The product of `(…, m, k)` and `(…, k, n)`; `input` has the sizes of the result. `product` has the functions of its elements.
fn product<O: Element>(
    device: &'static CudaDevice,
    (key, way): ((TypeId, u64), Way),
    describe: impl Fn(fn() -> Kernel) -> Product,
    [a, b]: [(u64, &[usize], &[usize]); 2],
    (input, multiplies): (Option<(u64, &[usize])>, bool),
) -> Result<CudaBuffer> {
    let last = a.1.len() - 1;
    let (m, k, n) = (a.1[last - 1], a.1[last], b.1[last]);
    let leading = &a.1[..last - 1];
    let sizes: Vec<usize> = leading.iter().copied().chain([m, n]).collect();
    let results = count(OP, &sizes)?;
    // SAFETY: the kernel writes every element.
    let [result] = unsafe { uninitialised(device, results, [size_of::<O>()])? };
    let [left, right, added] = [a.2, b.2, input.map_or(&[][..], |(_, strides)| strides)].map(split);
    let mut own = [1; 8];
    leading.iter().zip(&mut own).for_each(|(&size, to)| *to = size as u64);
    let batch: usize = leading.iter().product();
    let sizes = Sizes {
        batch: batch as u64,
        matrix: [m as u64, n as u64, if multiplies { k as u64 } else { 0 }],
        rank: leading.len() as u64,
        sizes: own,
        batches: [left.0, right.0, added.0],
        steps: [left.1, right.1, added.1],
    };
    // As many elements per thread as leave enough tiles for all processors.
    let each = match way {
        Way::Tiles => [4, 2].into_iter().find(|&each| tiles(batch, [m, n], each) >= ENOUGH).unwrap_or(1),
        Way::Pieces(_) => 0,
    };
    let class = 8 * (2 * key.1 + u64::from(input.is_some())) + each as u64;
    let compiled = |name: &'static str, class: u64| {
        device.kernel(KernelKey::Type(key.0, class), &|| {
            let text = text(device, &describe(Kernel::written), input.is_some(), each)?;
            Ok(Source { name: name.to_owned(), text })
        })
    };
    let grid = |blocks: usize| Grid::blocks(blocks.min(i32::MAX as usize) as u32, THREADS);
    let mut arguments = Arguments::new();
    let mut finish = |first: &[u64], pieces: Option<u64>, blocks: usize| {
        first.iter().for_each(|&address| arguments.push(address));
        arguments.push(result.address());
        if let Some((address, _)) = input {
            arguments.push(address);
        }
        arguments.push(sizes);
        if let Some(pieces) = pieces {
            arguments.push(pieces);
        }
        arguments.append(describe(Kernel::launched).values());
        // SAFETY: these are the parameters of the text; what views reach is valid, and the result has the product's sizes.
        unsafe { compiled("product", class)?.launch(OP, grid(blocks), &arguments) }
    };
    let Way::Pieces(width) = way else {
        finish(&[a.0, b.0], None, tiles(batch, [m, n], each))?;
        return Ok(result);
    };
    let pieces = (8 * ENOUGH / results.max(1)).min(k / PIECE).max(1);
    // SAFETY: the first kernel writes all of them before the second reads them.
    let [parts] = unsafe { uninitialised(device, results.saturating_mul(pieces), [width])? };
    let mut first = Arguments::new();
    [a.0, b.0, parts.address()].into_iter().for_each(|address| first.push(address));
    first.push(sizes);
    first.push(pieces as u64);
    // (`each` is at most 4, so no other kernel uses class 7.)
    // SAFETY: as above.
    unsafe { compiled("sums", class + 7)?.launch(OP, grid(results.saturating_mul(pieces)), &first)? };
    finish(&[parts.address()], Some(pieces as u64), results)?;
    Ok(result)
}

/// A view as a factor: address, sizes and strides.
fn factor<'a, E: Element>(view: &View<'a, CudaBuffer, E>) -> (u64, &'a [usize], &'a [usize]) {
    (start::<E>(view.buffer, view.offset), view.sizes, view.strides)
}

/// A product, its input, and a kernel applied to each element.
pub(super) fn matmul<E: Dtype, K: Map1<E, E>>(
    device: &'static CudaDevice,
    then: &K,
    a: &View<'_, CudaBuffer, E>,
    b: &View<'_, CudaBuffer, E>,
    added: Option<Added<'_, CudaBuffer, E>>,
) -> Result<CudaBuffer> {
    let long = is_long((a.sizes, a.strides), (b.sizes, b.strides), multiplies(E::DTYPE, E::DTYPE));
    let by_library = if long { None } else { gemm::<E>(device, a, b, added.as_ref())? };
    if let Some(result) = by_library {
        if TypeId::of::<K>() != TypeId::of::<Copying>() {
            // The kernel is applied to rounded elements, as on the host.
            let len = [result.len::<E>()];
            let target = Target { to: operand(result.address(), &[1]), sizes: &len, in_place: true };
            // SAFETY: the operand is the target itself, which has that many elements.
            unsafe { run(E::DTYPE, OP, device, &target, &|to| describe::map1::<_, E, E>(to, then, target.to))? };
        }
        return Ok(result);
    }
    let one = E::from_f64(1.0).to_compute();
    let (input, beta, alpha) = match &added {
        Some(added) => (added.input.as_ref(), added.beta, added.alpha),
        None => (None, one, one),
    };
    // A factor of 0 ignores its operand, even NaN.
    let counts = alpha != E::Compute::default();
    let other_than_one = |factor: E::Compute| (factor != one).then_some(factor);
    let factors = Factors::<E> {
        adds: input.is_some(),
        alpha: other_than_one(alpha).filter(|_| counts),
        beta: other_than_one(beta),
    };
    let class = u64::from(factors.alpha.is_some()) + 2 * u64::from(factors.beta.is_some());
    let input = input.map(|input| (start::<E>(input.buffer, input.offset), input.strides));
    let key = (TypeId::of::<(Products, E, K)>(), class);
    let way = if long && counts { Way::Pieces(size_of::<E::Compute>()) } else { Way::Tiles };
    product::<E>(device, (key, way), |new| Product::new(new, &factors, then), [factor(a), factor(b)], (input, counts))
}

/// The product of bytes in `i32`.
pub(super) fn int_mm<E: Element>(
    device: &'static CudaDevice,
    a: &View<'_, CudaBuffer, E>,
    b: &View<'_, CudaBuffer, i8>,
) -> Result<CudaBuffer> {
    if let Some(result) = gemm::bytes(device, a, b)? {
        return Ok(result);
    }
    let key = (TypeId::of::<(Products, E)>(), 0);
    let long = is_long((a.sizes, a.strides), (b.sizes, b.strides), false);
    let way = if long { Way::Pieces(size_of::<i32>()) } else { Way::Tiles };
    product::<i32>(device, (key, way), Product::of_bytes::<E>, [factor(a), factor(b)], (None, true))
}
