//! Sorting, selection and searches on a GPU: `order.cuh`. Lanes are sorted by merging, whatever is selected of them.
//!
//! Uses `cuda` to compile and launch; used by the operations of `Cuda`.

use super::elementwise::{count, start};
use super::reduce::{BLOCK, uninitialised};
use crate::cuda::compile::{KernelKey, Source};
use crate::cuda::launch::{Arguments, Grid, THREADS};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops::arguments::Order;
use crate::ops::text::PRELUDE;
use crate::ops::text::kernel::c_type;
use crate::storage::View;
use core::any::TypeId;

const OP: &str = "sort";
const TEXT: &str = include_str!("order.cuh");

/// The sections of `order.cuh`.
#[derive(Clone, Copy)]
enum Form {
    Gather,
    Merge,
    Take,
    Median,
    Mode,
    Search,
}

/// The struct `ci_order`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Lanes {
    lanes: u64,
    len: u64,
    step: u64,
    results: u64,
    to_step: u64,
    sizes: [u64; 8],
    strides: [u64; 8],
    to_strides: [u64; 8],
    rank: u64,
    k: u64,
    descending: u64,
}

impl Lanes {
    /// The lanes of a view along an axis; those of the results have these strides.
    fn along<E>(a: &View<'_, CudaBuffer, E>, axis: usize, to: (&[usize], &[usize])) -> Lanes {
        let mut lanes = Lanes {
            lanes: 1,
            len: a.sizes[axis] as u64,
            step: a.strides[axis] as u64,
            results: to.0[axis] as u64,
            to_step: to.1[axis] as u64,
            sizes: [1; 8],
            strides: [0; 8],
            to_strides: [0; 8],
            rank: a.sizes.len() as u64 - 1,
            k: 0,
            descending: 0,
        };
        for (at, other) in (0..a.sizes.len()).filter(|&other| other != axis).enumerate() {
            lanes.lanes *= a.sizes[other] as u64;
            lanes.sizes[at] = a.sizes[other] as u64;
            lanes.strides[at] = a.strides[other] as u64;
            lanes.to_strides[at] = to.1[other] as u64;
        }
        lanes
    }
}

/// What the kernels are known by.
struct Ordering;

/// Launches a section over elements `E`.
///
/// # Safety
/// The addresses are those of the section's parameters, with as many elements as the lanes say.
unsafe fn launch<E: Element>(
    device: &'static CudaDevice,
    form: Form,
    addresses: &[u64],
    lanes: Lanes,
    width: Option<usize>,
    threads: u64,
) -> Result<()> {
    let kernel = device.kernel(KernelKey::Type(TypeId::of::<(Ordering, E)>(), form as u64), || {
        let mut sections = TEXT.split("// ---\n");
        let (common, own) = (sections.next().unwrap_or_default(), sections.nth(form as usize).unwrap_or_default());
        let ty = c_type(E::DTYPE);
        let text = format!("{PRELUDE}#define CI_THREADS {THREADS}\n{BLOCK}typedef {ty} T;\n{common}{own}");
        Ok(Source { name: "order".to_owned(), text })
    })?;
    let mut arguments = Arguments::new();
    addresses.iter().for_each(|&address| arguments.push(address));
    arguments.push(lanes);
    if let Some(width) = width {
        arguments.push(width as u64);
    }
    // SAFETY: the caller's promise.
    unsafe { kernel.launch(OP, Grid::over(threads as usize), &arguments) }
}

/// The values that an order selects along an axis, and their positions; row-major.
pub(super) fn order<E: Element>(
    device: &'static CudaDevice,
    order: Order,
    a: &View<'_, CudaBuffer, E>,
    axis: usize,
) -> Result<[CudaBuffer; 2]> {
    let len = a.sizes[axis];
    let mut sizes = a.sizes.to_vec();
    sizes[axis] = order.len(len);
    assert!(order.admits(len) || sizes.contains(&0), "lanes have as many elements as are selected");
    let both = [size_of::<E>(), size_of::<i64>()];
    // SAFETY: the last kernel writes every result.
    let results = unsafe { uninitialised(device, count(OP, &sizes)?, both)? };
    if sizes.contains(&0) {
        return Ok(results);
    }
    let to = strides::row_major(&sizes);
    let mut lanes = Lanes::along(a, axis, (&sizes, &to));
    lanes.descending = u64::from(order.is_descending());
    let elements = count(OP, a.sizes)?;
    // SAFETY: each pass writes all of one pair of buffers.
    let (mut from, mut spare) =
        unsafe { (uninitialised(device, elements, both)?, uninitialised(device, elements, both)?) };
    let addresses = |[keys, positions]: &[CudaBuffer; 2]| [keys.address(), positions.address()];
    let [keys, positions] = addresses(&from);
    // SAFETY: what a view reaches is valid; the buffers hold all elements, and the results those that are selected.
    unsafe {
        let all = elements as u64;
        launch::<E>(device, Form::Gather, &[start::<E>(a.buffer, a.offset), keys, positions], lanes, None, all)?;
        let mut width = 1;
        while width < len {
            launch::<E>(device, Form::Merge, &[addresses(&from), addresses(&spare)].concat(), lanes, Some(width), all)?;
            core::mem::swap(&mut from, &mut spare);
            width *= 2;
        }
        let (form, k) = match order {
            Order::Sort { .. } | Order::Top { .. } => (Form::Take, 0),
            Order::Kth { k } => (Form::Take, k),
            Order::Median { ignores_nan } => (Form::Median, usize::from(ignores_nan)),
            Order::Mode => (Form::Mode, 0),
        };
        lanes.k = k as u64;
        let threads = lanes.lanes * lanes.results;
        launch::<E>(device, form, &[addresses(&from), addresses(&results)].concat(), lanes, None, threads)?;
    }
    Ok(results)
}

/// The positions at which values would be inserted into sorted lanes along the last axis; row-major.
pub(super) fn search<E: Element>(
    device: &'static CudaDevice,
    sorted: &View<'_, CudaBuffer, E>,
    values: &View<'_, CudaBuffer, E>,
    right: bool,
) -> Result<CudaBuffer> {
    let last = sorted.sizes.len().checked_sub(1).ok_or(Error::NoData { op: "searchsorted" })?;
    assert!(values.sizes.len() == last + 1 && values.sizes[..last] == sorted.sizes[..last], "lanes are the same");
    let elements = count(OP, values.sizes)?;
    // SAFETY: the kernel writes every result.
    let [result] = unsafe { uninitialised(device, elements, [size_of::<i64>()])? };
    let mut lanes = Lanes::along(sorted, last, (values.sizes, values.strides));
    lanes.k = u64::from(right);
    let addresses =
        [start::<E>(sorted.buffer, sorted.offset), start::<E>(values.buffer, values.offset), result.address()];
    // SAFETY: what views reach is valid; the result has the sizes of the values.
    unsafe { launch::<E>(device, Form::Search, &addresses, lanes, None, elements as u64)? };
    Ok(result)
}
