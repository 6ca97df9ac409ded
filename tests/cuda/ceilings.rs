//! How long kernel texts are and how long NVRTC takes to compile them, as limited by `pretend/ceilings.h`. The pretend NVRTC refuses longer
//! texts, so that any test would notice; `pretend/nvrtc.py` measures the real one.
//!
//! `REQUIRE_NVRTC=1` makes the absence of NVRTC a failure; `PRETEND_BESIDE` and `NVRTC` say where it is (`docs/gpu.md`).

use crate::pretend;
use crate::{on_gpu, on_pretend};
use castiron::cuda_test_hooks::{Arguments, address, run};
use castiron::{Cuda, Tensor, axis, shape};
use std::process::Command;

/// A text as long as one allows is compiled, and a longer one refused.
#[test]
fn longer_texts_are_refused() {
    on_pretend!("ceilings::longer_texts_are_refused", {
        let x = Tensor::<f32, shape![4], Cuda<0>>::zeros();
        let of = |length: usize| {
            let kernel = "extern \"C\" __global__ void fill(float* x) { x[0] = 1; }";
            let text = format!("{}{kernel}", "\n".repeat(length - kernel.len()));
            let mut arguments = Arguments::new();
            arguments.push(address(&x));
            // SAFETY: the kernel's parameter.
            unsafe { run(0, ("fill", &text), Ok(1), &arguments) }
        };
        of(2000).unwrap();
        let error = of(2001).unwrap_err().to_string();
        assert!(error.contains("has 2001 bytes, and `ceilings.h` allows 2000"), "{error}");
        assert_eq!(pretend::programs(), 0);
    });
}

/// The slowest of kernels, by NVRTC itself where it is there.
#[test]
fn nvrtc_compiles_in_time() {
    let is_required = std::env::var("REQUIRE_NVRTC").is_ok_and(|value| value == "1");
    let set = |name: &str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    if !(set("PRETEND_BESIDE") && set("NVRTC")) {
        assert!(!is_required, "REQUIRE_NVRTC=1, and `PRETEND_BESIDE` and `NVRTC` do not say where NVRTC is");
        return println!("NOTICE: not run: NVRTC itself is not there");
    }
    let asked = Command::new("sh").args(["-c", "test -e \"$NVRTC\""]).status().unwrap();
    assert!(asked.success(), "there is no library $NVRTC");
    // (Not from the cache that tests share.)
    on_gpu!("ceilings::nvrtc_compiles_in_time", ["CASTIRON_CUDA_CACHE" = ""], {
        let x = Tensor::<castiron::Complex<f64>, shape![3, 70], Cuda<0>>::zeros();
        let sums = x.logsumexp(axis![1]).to_device::<castiron::Cpu>().unwrap();
        assert!((sums.to_vec()[0].re - 70.0_f64.ln()).abs() < 1e-12);
    });
}
