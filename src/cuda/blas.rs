//! Matrix products by cublasLt: descriptions, plans, and the call.
//!
//! Matrices here are row-major, as in castiron; cublasLt's are column-major, which is the same memory transposed: `out = left @ right` is
//! requested as `outᵀ = rightᵀ @ leftᵀ`, without copying. The plan of a product (`plan`) is made once per combination of sizes and layouts.
//!
//! <https://docs.nvidia.com/cuda/cublas/#using-the-cublaslt-api>

use super::bindings::lt::{self, cublasLtMatmulDescAttributes_t as Attribute};
use super::buffer::CudaBuffer;
use super::device::CudaDevice;
use super::driver::{self, CublasLt};
use super::plan::{Library, Plan};
use crate::dtype::DType;
use crate::error::{Error, Result};
use core::ffi::c_void;
use core::ptr;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Bytes of workspace for algorithms, once per device: NVIDIA's recommendation for `sm_90`.
const WORKSPACE: usize = 32 << 20;
/// Maximum number of cached plans.
const PLANS: usize = 4096;

/// A matrix in memory: rows or columns of contiguous elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Matrix {
    pub(crate) address: u64,
    /// Stride between rows, or columns, in elements; at least their length.
    pub(crate) lead: usize,
    /// Stride between matrices of a batch, in elements.
    pub(crate) step: usize,
    /// Whether columns, rather than rows, are contiguous.
    pub(crate) by_columns: bool,
}

/// The summand of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Summand {
    /// Nothing.
    Nothing,
    /// A row at this address, added to each row. Both factors are 1.
    Row(u64),
    /// Matrices of contiguous rows, one per product; may be the result itself.
    Matrix(Matrix),
}

/// `out = alpha * left @ right + beta * summand` for `batch` matrices; rows of the result are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Gemm {
    /// The dtype of the factors, and of the result and summand.
    pub(crate) dtypes: [DType; 2],
    /// `m`, `k`, `n`, none of them 0.
    pub(crate) sizes: [usize; 3],
    pub(crate) batch: usize,
    pub(crate) left: Matrix,
    pub(crate) right: Matrix,
    pub(crate) summand: Summand,
    pub(crate) out: Matrix,
}

/// A scale factor in the dtype's compute type.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(crate) struct Factor(pub(crate) [u8; 16]);

/// The types of a product in cublasLt's terms: of the factors, of the result, of sums, and of scale factors.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    pub(super) factors: lt::cudaDataType,
    pub(super) result: lt::cudaDataType,
    pub(super) sums: lt::cublasComputeType_t,
    pub(super) scale: lt::cudaDataType,
}

/// `None` for dtypes that cublasLt does not support. Sums of `f16` and `bf16` accumulate in `f32`, and `f32` does not use TF32.
pub(super) fn numbers(dtypes: [DType; 2]) -> Option<Numbers> {
    use lt::cublasComputeType_t::{CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32I, CUBLAS_COMPUTE_64F};
    use lt::cudaDataType::{
        CUDA_C_32F, CUDA_C_64F, CUDA_R_8I, CUDA_R_16BF, CUDA_R_16F, CUDA_R_32F, CUDA_R_32I, CUDA_R_64F,
    };
    let alike = |element, sums, scale| Some(Numbers { factors: element, result: element, sums, scale });
    match dtypes {
        [DType::F16, DType::F16] => alike(CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F),
        [DType::BF16, DType::BF16] => alike(CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F),
        [DType::F32, DType::F32] => alike(CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F),
        [DType::F64, DType::F64] => alike(CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F),
        [DType::C64, DType::C64] => alike(CUDA_C_32F, CUBLAS_COMPUTE_32F, CUDA_C_32F),
        [DType::C128, DType::C128] => alike(CUDA_C_64F, CUBLAS_COMPUTE_64F, CUDA_C_64F),
        [DType::I8, DType::I32] => {
            Some(Numbers { factors: CUDA_R_8I, result: CUDA_R_32I, sums: CUBLAS_COMPUTE_32I, scale: CUDA_R_32I })
        }
        _ => None,
    }
}

/// Whether products of these dtypes are computed here: cublasLt is available and supports them.
pub(crate) fn multiplies(factors: DType, result: DType) -> bool {
    numbers([factors, result]).is_some() && driver::cublas_lt().is_ok()
}

/// The version of cublasLt, as `(13, 0, 2)`.
///
/// # Errors
/// If it is not used: the error says why.
pub(crate) fn version() -> Result<(usize, usize, usize)> {
    use lt::libraryPropertyType::{MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
    let absent = |reason| Error::DeviceUnavailable { device: "cublasLt".to_owned(), reason };
    let library = driver::cublas_lt().map_err(absent)?;
    let of = |which| {
        let mut value = 0;
        // SAFETY: it writes the number.
        match unsafe { (library.cublasLtGetProperty)(which, &mut value) } {
            SUCCESS => Ok(value as usize),
            _ => Err(absent("it does not say its version")),
        }
    };
    Ok((of(MAJOR_VERSION)?, of(MINOR_VERSION)?, of(PATCH_LEVEL)?))
}

pub(super) const SUCCESS: u32 = 0;
pub(super) const INVALID_VALUE: u32 = 7;
pub(super) const NOT_SUPPORTED: u32 = 15;

fn describe(code: u32) -> String {
    let name = match code {
        1 => "CUBLAS_STATUS_NOT_INITIALIZED",
        3 => "CUBLAS_STATUS_ALLOC_FAILED",
        INVALID_VALUE => "CUBLAS_STATUS_INVALID_VALUE",
        8 => "CUBLAS_STATUS_ARCH_MISMATCH",
        11 => "CUBLAS_STATUS_MAPPING_ERROR",
        13 => "CUBLAS_STATUS_EXECUTION_FAILED",
        14 => "CUBLAS_STATUS_INTERNAL_ERROR",
        NOT_SUPPORTED => "CUBLAS_STATUS_NOT_SUPPORTED",
        16 => "CUBLAS_STATUS_LICENSE_ERROR",
        _ => return format!("status {code}, which has no name here"),
    };
    format!("{name} ({code})")
}

/// The largest power of two, up to 256, that divides an address.
fn alignment(address: u64) -> u64 {
    1 << address.trailing_zeros().min(8)
}

impl Gemm {
    /// The key of a plan: addresses are replaced by their alignments.
    fn key(&self) -> Gemm {
        let aligned = |matrix: Matrix| Matrix { address: alignment(matrix.address), ..matrix };
        let summand = match self.summand {
            Summand::Nothing => Summand::Nothing,
            Summand::Row(address) => Summand::Row(alignment(address)),
            Summand::Matrix(matrix) => Summand::Matrix(aligned(matrix)),
        };
        let (left, right, out) = (aligned(self.left), aligned(self.right), aligned(self.out));
        Gemm { left, right, out, summand, ..*self }
    }
}

/// The workspace of algorithms.
enum Workspace {
    /// Not needed so far.
    Unasked,
    Held(CudaBuffer),
    /// Its allocation failed: algorithms without workspace are used.
    Refused,
}

/// cublasLt on a device: one call at a time, so that all share the workspace in stream order.
#[derive(Default)]
pub(super) struct Blas(Mutex<Option<State>>);

struct State {
    library: Library,
    plans: HashMap<Gemm, Option<Plan>>,
    workspace: Workspace,
}

// SAFETY: cublasLt may be called by any thread with the context current, and its objects are used only under the lock.
unsafe impl Send for State {}

impl CudaDevice {
    /// Starts a product; `false` if cublasLt is not available or does not support it.
    ///
    /// # Safety
    /// The scale factors have the dtype's compute type. All elements of the matrices are memory of this device, alive when this returns;
    /// those of the result may be written, and do not overlap the factors.
    ///
    /// # Errors
    /// If the device was lost, or cublasLt returns an error.
    pub(crate) unsafe fn gemm(
        &'static self,
        op: &'static str,
        gemm: &Gemm,
        alpha: &Factor,
        beta: &Factor,
    ) -> Result<bool> {
        let (Ok(lt), Some(_)) = (driver::cublas_lt(), numbers(gemm.dtypes)) else { return Ok(false) };
        self.enter(op)?;
        let mut state = self.blas.0.lock().unwrap_or_else(PoisonError::into_inner);
        let state = match &mut *state {
            Some(state) => state,
            none => none.insert(State::new(self, lt, op)?),
        };
        // SAFETY: the caller's promise.
        let begun = unsafe { state.multiply(op, gemm, alpha, beta)? };
        if begun && self.waits() {
            self.wait(op)?;
        }
        Ok(begun)
    }
}

impl State {
    fn new(device: &'static CudaDevice, lt: &'static CublasLt, op: &'static str) -> Result<Self> {
        let mut handle = ptr::null_mut();
        // SAFETY: it writes the handle, for the current context.
        check(device, op, "cublasLtCreate", unsafe { (lt.cublasLtCreate)(&mut handle) })?;
        Ok(State { library: Library { device, lt, handle }, plans: HashMap::new(), workspace: Workspace::Unasked })
    }

    /// # Safety
    /// As for [`CudaDevice::gemm`], which has entered the context.
    unsafe fn multiply(&mut self, op: &'static str, gemm: &Gemm, alpha: &Factor, beta: &Factor) -> Result<bool> {
        let (key, Library { device, lt, handle }) = (gemm.key(), self.library);
        self.prepare(op, &key)?;
        let needs = |plans: &HashMap<Gemm, Option<Plan>>| {
            plans.get(&key).and_then(Option::as_ref).is_some_and(|plan| plan.workspace > 0)
        };
        if matches!(self.workspace, Workspace::Unasked) && needs(&self.plans) {
            // SAFETY: only algorithms use it, and they write before they read.
            self.workspace = match unsafe { CudaBuffer::uninitialised(device, WORKSPACE) } {
                Ok(buffer) => Workspace::Held(buffer),
                Err(Error::CudaOutOfMemory { .. }) => Workspace::Refused,
                Err(error) => return Err(error),
            };
            if matches!(self.workspace, Workspace::Refused) {
                self.plans.clear();
                self.prepare(op, &key)?;
            }
        }
        let Some(Some(plan)) = self.plans.get(&key) else { return Ok(false) };
        let [right_layout, left_layout, summand_layout, out_layout] = plan.layouts.each_ref().map(|made| made.handle);
        let summand = match gemm.summand {
            Summand::Matrix(matrix) => matrix.address,
            Summand::Row(row) => {
                plan.set(&self.library, op, Attribute::CUBLASLT_MATMUL_DESC_BIAS_POINTER, &row)?;
                gemm.out.address
            }
            Summand::Nothing => gemm.out.address,
        };
        let none = Factor([0; 16]);
        let beta = if matches!(gemm.summand, Summand::Matrix(_)) { beta } else { &none };
        let workspace = match &self.workspace {
            Workspace::Held(buffer) => buffer.address(),
            _ => 0,
        };
        let at = |address: u64| ptr::without_provenance_mut::<c_void>(address as usize);
        // SAFETY: the caller's promise; layouts and algorithm match these matrices, the workspace is large enough for the algorithm, and
        // its uses are ordered by the stream.
        let code = unsafe {
            (lt.cublasLtMatmul)(
                handle,
                plan.product.handle,
                (&raw const *alpha).cast(),
                at(gemm.right.address),
                right_layout,
                at(gemm.left.address),
                left_layout,
                (&raw const *beta).cast(),
                at(summand),
                summand_layout,
                at(gemm.out.address),
                out_layout,
                &plan.algorithm,
                at(workspace),
                if workspace == 0 { 0 } else { plan.workspace },
                device.stream().cast(),
            )
        };
        if code == NOT_SUPPORTED {
            self.plans.insert(key, None);
            return Ok(false);
        }
        check(device, op, "cublasLtMatmul", code)?;
        Ok(true)
    }

    /// Makes the plan for a key, or stores `None` if it is not supported.
    fn prepare(&mut self, op: &'static str, key: &Gemm) -> Result<()> {
        if self.plans.contains_key(key) {
            return Ok(());
        }
        if self.plans.len() >= PLANS {
            self.plans.clear();
        }
        let most = if matches!(self.workspace, Workspace::Refused) { 0 } else { WORKSPACE };
        let plan = self.library.plan(op, key, most)?;
        self.plans.insert(*key, plan);
        Ok(())
    }
}

/// Converts a status to a result.
pub(super) fn check(device: &CudaDevice, op: &'static str, call: &str, code: u32) -> Result<()> {
    match code {
        SUCCESS => Ok(()),
        _ => {
            let reason =
                format!("{call} answered {} (`CASTIRON_CUBLASLT=0` multiplies without cublasLt)", describe(code));
            Err(device.error(op, reason))
        }
    }
}
