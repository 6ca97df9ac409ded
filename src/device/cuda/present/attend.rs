//! Attention on a GPU: `attention`, then recomputation of NaN results where keys are masked (`attend.cuh`).

use super::elementwise::start;
use super::reduce::BLOCK;
use crate::cuda::CudaBuffer;
use crate::cuda::compile::{KernelKey, Source};
use crate::cuda::launch::{Arguments, Grid, THREADS};
use crate::dtype::{DType, Dtype, Element};
use crate::error::Result;
use crate::ops::arguments::{Attention, Mask};
use crate::ops::record::cuda::{c_type, with_prelude};
use crate::ops::record::rows::computes_in;
use crate::storage::View;

const OP: &str = "scaled_dot_product_attention";
const TEXT: &str = include_str!("attend.cuh");

/// The struct `ci_attended`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Attended {
    count: u64,
    queries: u64,
    keys: u64,
    width: u64,
    rank: u64,
    sizes: [u64; 8],
    batches: [[u64; 8]; 2],
    value: [u64; 2],
    mask: [u64; 2],
}

/// The key of the kernels.
struct Again<E>(core::marker::PhantomData<fn() -> E>);

/// The mask of visible keys: its C++ expression, dtype, address and strides, and a number per kind.
fn seen<E: Dtype>(attention: &Attention<'_, CudaBuffer, E>) -> Option<(&'static str, DType, u64, Vec<usize>, u64)> {
    fn of<M: Element>(
        text: &'static str,
        mask: &View<'_, CudaBuffer, M>,
        way: u64,
    ) -> (&'static str, DType, u64, Vec<usize>, u64) {
        (text, M::DTYPE, start::<M>(mask.buffer, mask.offset), mask.strides.to_vec(), way)
    }
    match &attention.mask {
        Some(Mask::Seen(mask)) => Some(of("of_query[key * w.mask_key]", mask, 0)),
        Some(Mask::Added(mask)) => Some(of(
            "!(ci_is_infinite(ci_cast<N>(of_query[key * w.mask_key])) && ci_cast<N>(of_query[key * w.mask_key]) < 0)",
            mask,
            1,
        )),
        // (The address is that of the values, but no element is read.)
        None if attention.is_causal => {
            let mut none = of("key <= query", &attention.value, 2);
            none.3.fill(0);
            Some(none)
        }
        None => None,
    }
}

/// Recomputes the NaNs in `out`, the product of these weights and the values.
pub(super) fn without_unseen<E: Dtype>(
    attention: &Attention<'_, CudaBuffer, E>,
    shares: &CudaBuffer,
    out: &CudaBuffer,
) -> Result<()> {
    let Some((sees, of_mask, mask, mask_strides, way)) = seen(attention) else { return Ok(()) };
    let (value, device) = (&attention.value, out.device());
    let lead = value.sizes.len() - 2;
    let of = |strides: &[usize]| {
        let mut batch = [0; 8];
        batch.iter_mut().zip(&strides[..lead]).for_each(|(to, &stride)| *to = stride as u64);
        (batch, [strides[lead] as u64, strides[lead + 1] as u64])
    };
    let ((value_batch, value_steps), (mask_batch, mask_steps)) = (of(value.strides), of(&mask_strides));
    let mut sizes = [1; 8];
    sizes.iter_mut().zip(&value.sizes[..lead]).for_each(|(to, &size)| *to = size as u64);
    let count = out.len::<E>();
    let where_ = Attended {
        count: count as u64,
        queries: attention.query.sizes[lead] as u64,
        keys: value.sizes[lead] as u64,
        width: value.sizes[lead + 1] as u64,
        rank: lead as u64,
        sizes,
        batches: [value_batch, mask_batch],
        value: value_steps,
        mask: mask_steps,
    };
    let kernel = device.kernel(KernelKey::of::<Again<E>>(way), &|| {
        let text = with_prelude(&format!(
            "#define CI_THREADS {THREADS}\n{BLOCK}typedef {} T; typedef {} N; typedef {} M;\n#define CI_SEES {sees}\n{TEXT}",
            c_type(E::DTYPE),
            c_type(computes_in(E::DTYPE)),
            c_type(of_mask),
        ));
        Ok(Source { name: "product".to_owned(), text })
    })?;
    let mut arguments = Arguments::new();
    [shares.address(), start::<E>(value.buffer, value.offset), mask, out.address()]
        .into_iter()
        .for_each(|address| arguments.push(address));
    arguments.push(where_);
    // SAFETY: these are the kernel's parameters; there is a weight per query and key, and what views reach is valid.
    unsafe { kernel.launch(OP, Grid::over(count), &arguments) }
}
