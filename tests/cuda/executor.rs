//! What the pretend GPU runs and detects: the device library of recorded formulas, and kernels with mistakes.

use crate::on_gpu;
use crate::pretend::{self, Installed};
use castiron::cuda_test_hooks::{Arguments, address, cubin, run};
use castiron::{Cuda, Tensor, shape, tensor};

/// The device library and a kernel of it: `out = bf16(f16(exp(a) * b + 1))`.
fn with_library() -> String {
    let kernel = r#"
CI_KERNEL void formula(const float* __restrict__ a, const double* __restrict__ b, ci_bf16* __restrict__ out, const ci_u64 n) {
  CI_EACH(i, n) { out[i] = ci_cast<ci_bf16>(ci_cast<ci_f16>(ci_exp(a[i]) * ci_cast<float>(b[i]) + 1.0f)); }
}
"#;
    include_str!("../../src/ops/record/cuda/prelude.h").to_owned() + kernel
}

#[test]
fn the_device_library() {
    on_gpu!("executor::the_device_library", {
        use castiron::{bf16, f16};
        let a = tensor![0.0, 1.0, -2.0].to_device::<Cuda<0>>().unwrap();
        let b = tensor![1.0, 2.0, 3.0; f64].to_device::<Cuda<0>>().unwrap();
        let out: Tensor<bf16, shape![3], Cuda<0>> = Tensor::zeros();
        let mut arguments = Arguments::new();
        [address(&a), address(&b), address(&out), 3].into_iter().for_each(|argument| arguments.push(argument));
        // SAFETY: the kernel's parameters, of three elements each.
        unsafe { run(0, ("formula", &with_library()), Ok(3), &arguments).unwrap() };
        let expected = [(0.0_f32, 1.0), (1.0, 2.0), (-2.0, 3.0)]
            .map(|(a, b)| bf16::from_f32(f16::from_f32(a.exp() * b + 1.0).to_f32()));
        assert_eq!(out.cpu().unwrap().to_vec(), expected);
    });
}

#[test]
#[ignore = "needs NVRTC"]
fn the_device_library_by_nvrtc_itself() {
    for capability in [(7, 5), (8, 0), (9, 0)] {
        cubin(("formula", &with_library()), capability).unwrap();
    }
}

/// Kernels over `float* x` of 256 elements, `float* far` of 65,536 and 64 threads in two blocks, and what is said of them.
const WRONG: &[(&str, &str)] = &[
    ("x[256] = 0;", "wrote behind the end of an allocation of 1024 bytes"),
    ("x[threadIdx.x] = x[100000];", "illegal access to"),
    ("x[-1 - (int)threadIdx.x] = 0;", "illegal access to"),
    ("float* p = (float*)8; *p = 0;", "illegal access to 0x8 (no address of a device)"),
    ("int zero = (int)(x[0] - x[0]); x[1] = 7 / zero;", "an integer divided by zero"),
    ("x[0] = threadIdx.x;", "the result depends on the order of threads"),
    ("x[0] = blockIdx.x;", "the result depends on the order of threads"),
    ("x[threadIdx.x] = x[threadIdx.x ^ 1] + 1;", "the result depends on the order of threads"),
    (
        "__shared__ float s[64]; s[threadIdx.x] = x[threadIdx.x]; if (blockIdx.x == 0) x[threadIdx.x] = s[63 - threadIdx.x];",
        "the result depends on the order of threads",
    ),
    // One of the two runs writes to memory that the other leaves as it is.
    (
        "if (atomicExch(&far[0], 2.0f) == 1 && blockIdx.x == 1) far[32768] = 5;",
        "the result depends on the order of threads",
    ),
    (
        "if (atomicExch(&far[0], 2.0f) == 1 && blockIdx.x == 0) far[32768] = 5;",
        "the result depends on the order of threads",
    ),
    ("if (threadIdx.x < 16) x[threadIdx.x] = __shfl_xor_sync(~0u, 1.0f, 1);", "a lane waits for lanes that never come"),
];
const RIGHT: &[&str] = &[
    "if (blockIdx.x == 0) x[threadIdx.x] = 1;",
    "atomicAdd(&x[0], 1.0f);",
    "float y = x[threadIdx.x ^ 1]; __syncthreads(); if (blockIdx.x == 0) x[threadIdx.x] = y;",
    "if (threadIdx.x < 16) { float y = __shfl_xor_sync(0xffffu, x[threadIdx.x], 1); if (blockIdx.x == 0) x[threadIdx.x] = y; }",
    "extern __shared__ float s[]; __shared__ double t[4]; s[threadIdx.x] = threadIdx.x; t[threadIdx.x & 3] = 1; __syncthreads(); x[threadIdx.x] = s[63 - threadIdx.x] + t[0];",
    "unsigned b = __ballot_sync(~0u, threadIdx.x & 1); int c = __syncthreads_count(threadIdx.x < 3); x[threadIdx.x] = b + c;",
];

fn run_case(body: &str) -> castiron::Result<()> {
    let x: Tensor<f32, shape![256], Cuda<0>> = Tensor::ones();
    let far: Tensor<f32, shape![65_536], Cuda<0>> = Tensor::ones();
    let text = format!("extern \"C\" __global__ void k(float* x, float* far) {{ {body} }}\n");
    let mut arguments = Arguments::new();
    [address(&x), address(&far)].into_iter().for_each(|argument| arguments.push(argument));
    // SAFETY: the kernel's parameters; what it does wrong, the pretend GPU stops.
    unsafe { run(0, ("k", &text), Err((2, 64)), &arguments)? };
    x.cpu().map(|_| ())
}

#[test]
fn wrong_kernels_are_found() {
    if pretend::is_inside() {
        let case: usize = std::env::var("CASE").unwrap().parse().unwrap();
        return run_case(WRONG[case].0).unwrap();
    }
    for (case, (body, said)) in WRONG.iter().enumerate() {
        let variables = [("CASE", &*case.to_string()), ("CASTIRON_CUDA_CACHE", &*pretend::shared_cache())];
        let Some(output) = pretend::again("executor::wrong_kernels_are_found", Installed::Both, &variables) else {
            return;
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(said), "{body}\n{errors}");
    }
}

#[test]
fn right_kernels_run() {
    let cache = [("CASTIRON_CUDA_CACHE", &*pretend::shared_cache())];
    pretend::within("executor::right_kernels_run", Installed::Both, &cache, || {
        for body in RIGHT {
            run_case(body).unwrap_or_else(|error| panic!("{body}: {error}"));
        }
    });
}
