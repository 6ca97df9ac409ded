//! The types and constants of the driver, NVRTC and cublasLt that castiron uses, under the names of NVIDIA's headers: those that functions of
//! `driver.rs` take, and no others.
//!
//! They are the same in all versions from CUDA 12 on. So castiron needs no toolkit to be built, and does not care which one is installed.
//! Unit tests with the feature `cudarc` compare each with the bindings that this crate has, which are generated from the headers.

#![allow(non_camel_case_types)]

/// Writes the types of a library, and compares them with those of a module of `cudarc`.
///
/// `handles` are addresses of what the library alone knows: `CUcontext = CUctx_st` becomes `type CUcontext = *mut CUctx_st`. `numbers` are
/// enumerations of 32 bits, of which castiron names what it asks for; libraries are only given them. `codes` are results, any number.
macro_rules! bindings {
    ($(#[$doc:meta])* mod $module:ident of $($sys:ident)::+ {
        handles { $($handle:ident = $opaque:ident,)* }
        numbers { $($name:ident { $($constant:ident = $value:literal,)+ })* }
        codes { $($code:ident,)* }
    }) => {
        $(#[$doc])*
        pub(super) mod $module {
            $(
                #[repr(C)]
                pub(crate) struct $opaque([u8; 0]);
                pub(crate) type $handle = *mut $opaque;
            )*
            $(
                #[repr(u32)]
                #[derive(Clone, Copy)]
                pub(crate) enum $name { $($constant = $value,)+ }
            )*
            $(
                #[repr(transparent)]
                #[derive(Clone, Copy)]
                pub(crate) struct $code(pub(crate) u32);
            )*
        }
        #[cfg(all(test, feature = "cudarc"))]
        const _: () = {
            use super::driver::Theirs;
            use $($sys)::+ as theirs;
            $(impl Theirs for $module::$opaque { type Type = theirs::$opaque; })*
            $(
                impl Theirs for $module::$name { type Type = theirs::$name; }
                assert!(size_of::<$module::$name>() == size_of::<theirs::$name>());
                $(assert!($module::$name::$constant as u32 == theirs::$name::$constant as u32);)+
            )*
            $(
                impl Theirs for $module::$code { type Type = theirs::$code; }
                assert!(size_of::<$module::$code>() == size_of::<theirs::$code>());
            )*
        };
    };
}

bindings! {
    /// The driver (`cuda.h`).
    mod cu of cudarc::driver::sys {
        handles {
            CUcontext = CUctx_st,
            CUevent = CUevent_st,
            CUfunction = CUfunc_st,
            CUgraph = CUgraph_st,
            CUgraphExec = CUgraphExec_st,
            CUmemoryPool = CUmemPoolHandle_st,
            CUmodule = CUmod_st,
            CUstream = CUstream_st,
        }
        numbers {
            CUdevice_attribute {
                CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
                CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
                CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
            }
            CUevent_flags { CU_EVENT_DISABLE_TIMING = 2, }
            CUmemPool_attribute {
                CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
                CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,
            }
            CUstreamCaptureMode { CU_STREAM_CAPTURE_MODE_RELAXED = 2, }
            CUstream_flags { CU_STREAM_NON_BLOCKING = 1, }
        }
        codes { CUresult, }
    }
}
/// The ordinal of a device.
pub(super) type CUdevice = core::ffi::c_int;
/// An address in a device's memory.
pub(super) type CUdeviceptr = u64;

bindings! {
    /// NVRTC (`nvrtc.h`).
    mod rtc of cudarc::nvrtc::sys {
        handles { nvrtcProgram = _nvrtcProgram, }
        numbers {}
        codes {}
    }
}

bindings! {
    /// cublasLt (`cublasLt.h`, `cublas_api.h`, `library_types.h`).
    mod lt of cudarc::cublaslt::sys {
        handles {
            cublasLtHandle_t = cublasLtContext,
            cublasLtMatmulDesc_t = cublasLtMatmulDescOpaque_t,
            cublasLtMatmulPreference_t = cublasLtMatmulPreferenceOpaque_t,
            cublasLtMatrixLayout_t = cublasLtMatrixLayoutOpaque_t,
            cudaStream_t = CUstream_st,
        }
        numbers {
            cublasComputeType_t {
                CUBLAS_COMPUTE_32F = 68,
                CUBLAS_COMPUTE_64F = 70,
                CUBLAS_COMPUTE_32I = 72,
            }
            cublasLtEpilogue_t { CUBLASLT_EPILOGUE_BIAS = 4, }
            cublasLtMatmulDescAttributes_t {
                CUBLASLT_MATMUL_DESC_TRANSA = 3,
                CUBLASLT_MATMUL_DESC_TRANSB = 4,
                CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
                CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
            }
            cublasLtMatmulPreferenceAttributes_t {
                CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
                CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,
                CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
                CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
                CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
                CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8,
            }
            cublasLtMatrixLayoutAttribute_t {
                CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
                CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,
            }
            cublasLtReductionScheme_t { CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2, }
            cudaDataType {
                CUDA_R_32F = 0,
                CUDA_R_64F = 1,
                CUDA_R_16F = 2,
                CUDA_R_8I = 3,
                CUDA_C_32F = 4,
                CUDA_C_64F = 5,
                CUDA_R_32I = 10,
                CUDA_R_16BF = 14,
            }
            libraryPropertyType {
                MAJOR_VERSION = 0,
                MINOR_VERSION = 1,
                PATCH_LEVEL = 2,
            }
        }
        codes {}
    }
}

/// How a product is computed, in cublasLt's own words.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct cublasLtMatmulAlgo_t {
    pub(super) data: [u64; 8],
}

/// An algorithm that cublasLt proposes.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(non_snake_case)]
pub(super) struct cublasLtMatmulHeuristicResult_t {
    pub(super) algo: cublasLtMatmulAlgo_t,
    pub(super) workspaceSize: usize,
    /// A `cublasStatus_t`: a newer library may have more of them.
    pub(super) state: u32,
    wavesCount: f32,
    reserved: [core::ffi::c_int; 4],
}

#[cfg(all(test, feature = "cudarc"))]
const _: () = {
    use super::driver::Theirs;
    use core::mem::offset_of;
    use cudarc::cublaslt::sys as theirs;
    /// Whether the structures have the same fields at the same places.
    macro_rules! alike {
        ($name:ident { $($field:ident),+ }) => {
            impl Theirs for $name { type Type = theirs::$name; }
            assert!(size_of::<$name>() == size_of::<theirs::$name>());
            assert!(align_of::<$name>() == align_of::<theirs::$name>());
            $(assert!(offset_of!($name, $field) == offset_of!(theirs::$name, $field));)+
        };
    }
    alike!(cublasLtMatmulAlgo_t { data });
    alike!(cublasLtMatmulHeuristicResult_t { algo, workspaceSize, state, wavesCount, reserved });
};
