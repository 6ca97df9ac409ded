//! How cublasLt computes a product: descriptions of the product and its matrices, and the chosen algorithm.

use super::bindings::{cublasLtMatmulAlgo_t, cublasLtMatmulHeuristicResult_t, lt};
use super::blas::{Gemm, INVALID_VALUE, Matrix, NOT_SUPPORTED, Numbers, SUCCESS, Summand, check, numbers};
use super::device::CudaDevice;
use super::driver::CublasLt;
use crate::error::Result;
use core::mem::MaybeUninit;
use core::ptr;

/// cublasLt with its handle for a device.
#[derive(Clone, Copy)]
pub(super) struct Library {
    pub(super) device: &'static CudaDevice,
    pub(super) lt: &'static CublasLt,
    pub(super) handle: lt::cublasLtHandle_t,
}

/// An object made by cublasLt, destroyed on drop.
pub(super) struct Made<T: Copy> {
    pub(super) handle: T,
    destroy: unsafe extern "C" fn(T) -> u32,
}

impl<T: Copy> Drop for Made<T> {
    fn drop(&mut self) {
        // SAFETY: it was created and is not destroyed yet; no pending work needs it.
        let _ = unsafe { (self.destroy)(self.handle) };
    }
}

/// The plan of a product.
pub(super) struct Plan {
    pub(super) product: Made<lt::cublasLtMatmulDesc_t>,
    /// The layouts of cublasLt's `A` (the right factor), `B`, `C` and `D`.
    pub(super) layouts: [Made<lt::cublasLtMatrixLayout_t>; 4],
    pub(super) algorithm: cublasLtMatmulAlgo_t,
    pub(super) workspace: usize,
}

impl Library {
    /// The plan of a product with this key and at most `most` bytes of workspace; `None` if it is not supported.
    pub(super) fn plan(&self, op: &'static str, key: &Gemm, most: usize) -> Result<Option<Plan>> {
        use lt::cublasLtMatmulDescAttributes_t as Product;
        use lt::cublasLtMatmulPreferenceAttributes_t as Preference;
        let Library { device, lt, handle } = *self;
        let Some(Numbers { factors, result, sums, scale }) = numbers(key.dtypes) else { return Ok(None) };
        let [m, k, n] = key.sizes;
        // Rows and columns as cublasLt counts them: a matrix with contiguous rows is a transposed one with contiguous columns.
        let stored = |matrix: &Matrix, rows: usize, columns: usize| match matrix.by_columns {
            true => (rows, columns, *matrix),
            false => (columns, rows, *matrix),
        };
        let summand = if let Summand::Matrix(matrix) = key.summand { matrix } else { key.out };
        let mut product = ptr::null_mut();
        // SAFETY: it writes the handle.
        let code = unsafe { (lt.cublasLtMatmulDescCreate)(&mut product, sums, scale) };
        check(device, op, "cublasLtMatmulDescCreate", code)?;
        let plan = Plan {
            product: Made { handle: product, destroy: lt.cublasLtMatmulDescDestroy },
            layouts: [
                self.layout(op, factors, key.batch, stored(&key.right, k, n))?,
                self.layout(op, factors, key.batch, stored(&key.left, m, k))?,
                self.layout(op, result, key.batch, stored(&summand, m, n))?,
                self.layout(op, result, key.batch, stored(&key.out, m, n))?,
            ],
            algorithm: cublasLtMatmulAlgo_t { data: [0; 8] },
            workspace: 0,
        };
        // CUBLAS_OP_N is 0, CUBLAS_OP_T 1.
        plan.set(self, op, Product::CUBLASLT_MATMUL_DESC_TRANSA, &i32::from(key.right.by_columns))?;
        plan.set(self, op, Product::CUBLASLT_MATMUL_DESC_TRANSB, &i32::from(key.left.by_columns))?;
        let mut aligned = [key.right.address, key.left.address, summand.address, key.out.address];
        if let Summand::Row(row) = key.summand {
            let epilogue = lt::cublasLtEpilogue_t::CUBLASLT_EPILOGUE_BIAS as u32;
            plan.set(self, op, Product::CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue)?;
            // (A summand row has no alignment attribute of its own. Like PyTorch, uses the result's for both.)
            aligned[3] = aligned[3].min(row);
        }
        let mut preference = ptr::null_mut();
        // SAFETY: it writes the handle.
        let code = unsafe { (lt.cublasLtMatmulPreferenceCreate)(&mut preference) };
        check(device, op, "cublasLtMatmulPreferenceCreate", code)?;
        let preference = Made { handle: preference, destroy: lt.cublasLtMatmulPreferenceDestroy };
        let prefer = |which, value: &[u8]| {
            // SAFETY: the attribute has that many bytes.
            let code = unsafe {
                (lt.cublasLtMatmulPreferenceSetAttribute)(preference.handle, which, value.as_ptr().cast(), value.len())
            };
            check(device, op, "cublasLtMatmulPreferenceSetAttribute", code)
        };
        let most = most as u64;
        prefer(Preference::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most.to_ne_bytes())?;
        // Split sums are combined in the compute type and in a fixed order, not in the result's dtype.
        let reductions = lt::cublasLtReductionScheme_t::CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE as u32;
        prefer(Preference::CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions.to_ne_bytes())?;
        let alignments = [
            Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
            Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
            Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
            Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
        ];
        for (which, bytes) in alignments.into_iter().zip(aligned) {
            prefer(which, &(bytes as u32).to_ne_bytes())?;
        }
        let [a, b, c, d] = plan.layouts.each_ref().map(|made| made.handle);
        let mut found = MaybeUninit::<cublasLtMatmulHeuristicResult_t>::zeroed();
        let mut count = 0;
        // SAFETY: it writes at most one result, and their number.
        let code = unsafe {
            (lt.cublasLtMatmulAlgoGetHeuristic)(
                handle,
                plan.product.handle,
                a,
                b,
                c,
                d,
                preference.handle,
                1,
                found.as_mut_ptr(),
                &mut count,
            )
        };
        // Older versions report sizes that exceed 32 bits as invalid.
        let large = [m, k, n].into_iter().any(|size| size > i32::MAX as usize);
        if code == NOT_SUPPORTED || (code == INVALID_VALUE && large) {
            return Ok(None);
        }
        check(device, op, "cublasLtMatmulAlgoGetHeuristic", code)?;
        // SAFETY: all of it was zeroed before it was written, and any bytes are numbers.
        let found = unsafe { found.assume_init() };
        let is_found = count == 1 && found.state == SUCCESS && found.workspaceSize as u64 <= most;
        Ok(is_found.then_some(Plan { algorithm: found.algo, workspace: found.workspaceSize, ..plan }))
    }

    /// The layout of matrices with these rows and columns, and contiguous columns.
    fn layout(
        &self,
        op: &'static str,
        element: lt::cudaDataType,
        batch: usize,
        (rows, columns, matrix): (usize, usize, Matrix),
    ) -> Result<Made<lt::cublasLtMatrixLayout_t>> {
        use lt::cublasLtMatrixLayoutAttribute_t as Layout;
        let mut handle = ptr::null_mut();
        // SAFETY: it writes the handle.
        let code = unsafe {
            (self.lt.cublasLtMatrixLayoutCreate)(&mut handle, element, rows as u64, columns as u64, matrix.lead as i64)
        };
        check(self.device, op, "cublasLtMatrixLayoutCreate", code)?;
        let made = Made { handle, destroy: self.lt.cublasLtMatrixLayoutDestroy };
        if batch > 1 {
            let (batch, step) = ((batch as i32).to_ne_bytes(), (matrix.step as i64).to_ne_bytes());
            for (which, value) in [
                (Layout::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch[..]),
                (Layout::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step[..]),
            ] {
                // SAFETY: the attribute has that many bytes.
                let code = unsafe {
                    (self.lt.cublasLtMatrixLayoutSetAttribute)(handle, which, value.as_ptr().cast(), value.len())
                };
                check(self.device, op, "cublasLtMatrixLayoutSetAttribute", code)?;
            }
        }
        Ok(made)
    }
}

impl Plan {
    /// Sets a numeric attribute of the product.
    pub(super) fn set<T: Copy>(
        &self,
        &Library { device, lt, .. }: &Library,
        op: &'static str,
        which: lt::cublasLtMatmulDescAttributes_t,
        value: &T,
    ) -> Result<()> {
        // SAFETY: the attribute has that many bytes.
        let code = unsafe {
            (lt.cublasLtMatmulDescSetAttribute)(self.product.handle, which, (&raw const *value).cast(), size_of::<T>())
        };
        check(device, op, "cublasLtMatmulDescSetAttribute", code)
    }
}
