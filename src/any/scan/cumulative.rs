//! Operations along one axis that keep it: `cumsum` and other scans, `softmax`; and `diff`.

use crate::any::base::dispatch::{dispatch_dtype, refused};
use crate::any::view::views::axis;
use crate::any::{AnyTensor, checked_numel};
use crate::device::{Backend as _, Dynamic, DynamicBuffer, erased};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops::kernel::LaneKernel;
use crate::ops::rules::admit::{Admits, admits_in_words, set_of_one};
use crate::ops::scan::kernels::*;
use crate::ops::scan::scan_table;
use crate::storage::View;
use castiron_macros::operations;

/// Writes the method of each row of the table of scans.
macro_rules! scans {
    ($($op:ident { $admits:ident $result:ident, $kernel:expr, $doc:literal, $torch:literal, $operand:literal axis $at:literal = $elements:literal,
       $(#[op $called:tt])* $(#[in_place $($none:tt)?])? fn $dim:ident [$($dtype:ident)?] $call:literal [$($empty:ident)?] })*) => {
        /// Operations along one axis that keep it.
        #[operations(SCANS)]
        impl AnyTensor {$(
            #[doc = $doc]
            ///
            #[doc = concat!("Along one axis (`", $torch, "`).")]
            ///
            /// # Errors
            #[doc = concat!("If the axis is out of range, or the dtype is not among ", admits_in_words!($admits), ".")]
            ///
            /// ```
            /// use castiron::{AnyTensor, tensor};
            #[doc = concat!("let x = AnyTensor::from(", $operand, ");")]
            #[doc = concat!("assert_eq!(x.", stringify!($op), "(", $call, ")?.to_string(), tensor!", $elements, ".to_string());")]
            /// # Ok::<(), castiron::Error>(())
            /// ```
            $(#[op $called])*
            $(#[in_place($operand $call = $elements)] $($none)?)?
            pub fn $op(&self, $dim: i64 $(, $dtype: Option<DType>)?) -> Result<AnyTensor> {
                let (x, op) = (self, stringify!($op));
                $(let x = &x.converted(op, $dtype)?;)?
                $(scans!(@$empty x op $dim $admits);)?
                let at = axis(op, $dim, x.rank())?;
                let result = set_of_one!($admits, scans { @along x op at [$kernel] })?;
                $(let result = result.in_dtype($dtype)?;)?
                Ok(result)
            }
        )*}
    };
    (@empty $x:ident $op:ident $dim:ident $admits:ident) => {
        if let Some(nothing) = $x.nothing($op, $dim, !Admits::$admits.one($x.dtype))? {
            return Ok(nothing);
        }
    };
    (@along $x:ident $op:ident $at:ident [$kernel:expr] $set:ident $inexact:ident) => {
        dispatch_dtype!($op, $x.dtype, E: $set => along::<E, _>($kernel, $x, $at))
    };
}
scan_table!(scans);

/// The result of a scan, row-major with the sizes of the tensor.
fn scanned(x: &AnyTensor, buffer: DynamicBuffer, dtype: DType) -> AnyTensor {
    AnyTensor::fresh(buffer, dtype, &x.sizes, &strides::row_major(&x.sizes))
}

/// The elements as this type. (A zero-dim tensor counts as having one axis.)
fn elements<E>(x: &AnyTensor) -> Result<View<'_, DynamicBuffer, E>> {
    let elements = x.elements_as()?;
    Ok(if x.rank() == 0 { elements.restrided(&[1], &[1]) } else { elements })
}

/// Runs a kernel of lanes along an axis.
fn along<E: Element, O: Element>(kernel: impl LaneKernel<E, O>, x: &AnyTensor, at: usize) -> Result<AnyTensor> {
    checked_numel("scan", &x.sizes, O::DTYPE)?;
    Ok(scanned(x, Dynamic::lanes(kernel, elements::<E>(x)?, at)?, O::DTYPE))
}

#[operations]
impl AnyTensor {
    /// The result for an empty tensor: as in PyTorch, it may have dtypes that are refused otherwise.
    fn nothing(&self, op: &'static str, dim: i64, is_refused: bool) -> Result<Option<AnyTensor>> {
        if !is_refused || !self.is_empty() || self.dtype.is_shell() {
            return Ok(None);
        }
        axis(op, dim, self.rank())?;
        self.zeros_like_device(&self.sizes, self.dtype).map(Some)
    }

    /// Converted to a given dtype, which must not be `bool`.
    fn converted(&self, op: &'static str, dtype: Option<DType>) -> Result<AnyTensor> {
        if dtype == Some(DType::Bool) {
            return Err(refused(op, DType::Bool));
        }
        self.in_dtype(dtype)
    }

    /// The largest element up to each position along an axis, and its index (`torch.cummax`).
    ///
    /// # Errors
    /// If the axis is out of range or the dtype has no order.
    #[op(cummax(input, dim), dtypes = ordered)]
    pub fn cummax(&self, dim: i64) -> Result<(AnyTensor, AnyTensor)> {
        self.running_extreme::<true>("cummax", dim)
    }

    /// The smallest element up to each position along an axis, and its index (`torch.cummin`).
    ///
    /// # Errors
    /// As [`cummax`](Self::cummax).
    #[op(cummin(input, dim), dtypes = ordered)]
    pub fn cummin(&self, dim: i64) -> Result<(AnyTensor, AnyTensor)> {
        self.running_extreme::<false>("cummin", dim)
    }

    fn running_extreme<const MAX: bool>(&self, op: &'static str, dim: i64) -> Result<(AnyTensor, AnyTensor)> {
        if let Some(nothing) = self.nothing(op, dim, self.dtype.is_complex())? {
            return Ok((nothing, self.zeros_like_device(&self.sizes, DType::I64)?));
        }
        let at = axis(op, dim, self.rank())?;
        checked_numel(op, &self.sizes, DType::I64)?;
        let [values, places] = dispatch_dtype!(op, self.dtype, E: Ordered => {
            Dynamic::lanes_both(RunningExtreme::<MAX>, elements::<E>(self)?, at)
        })?;
        Ok((scanned(self, values, self.dtype), scanned(self, places, DType::I64)))
    }

    #[op(nn.functional.softmin(input, dim, dtype = None), dtypes = float)]
    fn softmin(&self, dim: i64, dtype: Option<DType>) -> Result<AnyTensor> {
        self.neg()?.softmax(dim, dtype)
    }

    #[op(diff(input, n = 1, dim = -1, prepend = None, append = None), dtypes = any)]
    fn diff_between(
        &self,
        n: usize,
        dim: i64,
        prepend: Option<&AnyTensor>,
        append: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        let op = "diff";
        let pieces: Vec<&AnyTensor> = [prepend, Some(self), append].into_iter().flatten().collect();
        if pieces.len() == 1 || n == 0 || self.rank() == 0 {
            return self.diff(n, dim);
        }
        let mut dtype = self.dtype;
        for piece in &pieces {
            if piece.rank() != self.rank() {
                let (axes, found) = (self.rank(), piece.shape());
                let reason = format!("`prepend` and `append` must have {axes} axes, as the input, got shape {found:?}");
                return Err(Error::InvalidArgument { op, reason });
            }
            dtype = dtype.promote(piece.dtype).ok_or_else(|| refused(op, piece.dtype))?;
        }
        let pieces = pieces.into_iter().map(|piece| piece.to(dtype)).collect::<Result<Vec<_>>>()?;
        let at = axis(op, dim, self.rank())?;
        end_to_end(op, &pieces.iter().collect::<Vec<_>>(), at)?.diff(n, dim)
    }
}

/// Tensors of one dtype concatenated along an axis; their other sizes are the same.
pub(crate) fn end_to_end(op: &'static str, pieces: &[&AnyTensor], at: usize) -> Result<AnyTensor> {
    let Some(first) = pieces.first() else {
        return Err(Error::InvalidArgument { op, reason: "there is no tensor to join".to_owned() });
    };
    let mut sizes = first.sizes;
    let mut size = Some(0_usize);
    for piece in pieces {
        let alike = piece.rank() == first.rank() && piece.dtype == first.dtype;
        if !alike || (0..first.rank()).any(|axis| axis != at && piece.sizes[axis] != first.sizes[axis]) {
            let (expected, found) = (format!("{:?}", first.shape()), piece.shape().into());
            return Err(Error::Shape { op, expected, found });
        }
        crate::any::base::operand::same_device(op, first, piece)?;
        size = size.and_then(|size| size.checked_add(piece.sizes[at]));
    }
    sizes[at] = size.ok_or_else(|| Error::TooLarge { op, sizes: first.shape().into() })?;
    crate::any::checked_numel(op, &sizes, first.dtype)?;
    let own = strides::row_major(&sizes);
    let pieces = pieces.iter().map(|piece| piece.erased()).collect::<Result<Vec<_>>>()?;
    let buffer = erased::join(&pieces, at, &sizes, &own)?;
    Ok(AnyTensor::fresh(buffer, first.dtype, &sizes, &own))
}
