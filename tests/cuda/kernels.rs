//! Kernels are compiled, cached and launched; and the errors when that fails.

use crate::pretend::{self, Installed};
use crate::{on_gpu, on_pretend};
use castiron::cuda_test_hooks::{Arguments, address, compilations, cubin, run};
use castiron::{Cuda, Error, Tensor, shape, tensor};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const SAXPY: (&str, &str) = (
    "saxpy",
    r#"extern "C" __global__ void saxpy(const float a, const float* __restrict__ x, float* y, const unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}
"#,
);

/// One sum for each block: by warps, then across them.
const BLOCK_SUM: (&str, &str) = (
    "block_sum",
    r#"extern "C" __global__ void block_sum(const float* __restrict__ x, float* out, const unsigned n) {
  __shared__ float part[32];
  float sum = 0;
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) sum += x[blockIdx.x * n + i];
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < (blockDim.x >> 5) ? part[threadIdx.x] : 0.0f;
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}
"#,
);

type Line<const N: usize = 0> = Tensor<f32, shape![_], Cuda<N>>;

fn line<const N: usize>(elements: Vec<f32>) -> Line<N> {
    let len = elements.len();
    Tensor::<f32, shape![_]>::from_vec_sized(elements, [len]).to_device().unwrap()
}

fn read<const N: usize>(x: &Line<N>) -> Vec<f32> {
    x.cpu().unwrap().to_vec()
}

fn saxpy<const N: usize>(a: f32, x: &Line<N>, y: &Line<N>) -> castiron::Result<()> {
    let mut arguments = Arguments::new();
    arguments.push(a);
    arguments.push(address(x));
    arguments.push(address(y));
    arguments.push(x.numel() as u32);
    // SAFETY: the arguments match the kernel's parameters, and the tensors have enough elements.
    unsafe { run(N, SAXPY, Ok(x.numel()), &arguments) }
}

fn block_sum(x: &Line, out: &Line, threads: u32) -> castiron::Result<()> {
    let blocks = out.numel() as u32;
    let mut arguments = Arguments::new();
    arguments.push(address(x));
    arguments.push(address(out));
    arguments.push(x.numel() as u32 / blocks);
    // SAFETY: as above.
    unsafe { run(0, BLOCK_SUM, Err((blocks, threads)), &arguments) }
}

/// A kernel of other text over one tensor.
fn run_on(x: &Line, (name, text): (&str, &str)) -> castiron::Result<()> {
    let mut arguments = Arguments::new();
    arguments.push(address(x));
    // SAFETY: the kernel of each test takes the address alone.
    unsafe { run(0, (name, text), Err((1, 64)), &arguments) }
}

#[test]
fn elements_of_every_thread() {
    on_pretend!("kernels::elements_of_every_thread", {
        for len in [0, 1, 255, 256, 257, 10_000] {
            let x: Line = line((0..len).map(|i| i as f32).collect());
            let y: Line = line(vec![1.0; len]);
            saxpy(2.0, &x, &y).unwrap();
            assert_eq!(read(&y), (0..len).map(|i| 2.0 * i as f32 + 1.0).collect::<Vec<f32>>());
        }
        // Nothing is launched over no elements.
        assert_eq!((pretend::count("launch"), compilations()), (5, 1));
        // The other device has its own.
        let (x, y) = (line::<1>(vec![3.0]), line::<1>(vec![4.0]));
        saxpy(0.5, &x, &y).unwrap();
        assert_eq!((read(&y), compilations()), (vec![5.5], 2));
        drop((x, y));
        assert_eq!((pretend::live(), pretend::programs()), (0, 0));
    });
}

#[test]
fn barriers() {
    on_gpu!("kernels::barriers", {
        for threads in [32, 64, 256, 1024] {
            let x: Line = line((0..3000).map(|i| (i % 7) as f32).collect());
            let out: Line = line(vec![-1.0; 3]);
            block_sum(&x, &out, threads).unwrap();
            let sums = |at: usize| (at * 1000..at * 1000 + 1000).map(|i| (i % 7) as f32).sum::<f32>();
            assert_eq!(read(&out), [sums(0), sums(1), sums(2)]);
        }
    });
}

/// The executor sees it: without the barrier, one of two orders of warps reads what is not written yet.
#[test]
fn a_barrier_left_out() {
    on_pretend!("kernels::a_barrier_left_out", {
        let text = BLOCK_SUM.1.replace("  __syncthreads();\n", "");
        let (x, out): (Line, Line) = (line(vec![1.0; 1000]), line(vec![0.0; 1]));
        let mut arguments = Arguments::new();
        arguments.push(address(&x));
        arguments.push(address(&out));
        arguments.push(1000_u32);
        // SAFETY: the kernel's parameters.
        unsafe { run(0, ("block_sum", &text), Err((1, 256)), &arguments).unwrap() };
        assert!(out.cpu().unwrap_err().to_string().contains("CUDA_ERROR_LAUNCH_FAILED"));
    });
}

#[test]
fn text_that_does_not_compile() {
    on_pretend!("kernels::text_that_does_not_compile", {
        let x: Line = line(vec![1.0]);
        let text = "extern \"C\" __global__ void wrong(float* x) {\n  x[0] = nonsense;\n}\n";
        for _ in 0..2 {
            let error = run_on(&x, ("wrong", text)).unwrap_err();
            assert!(matches!(error, Error::CudaFailure { op: "compile", .. }), "{error:?}");
            let said = error.to_string();
            assert!(said.contains("kernel.cu:2") && said.contains("nonsense"), "{said}");
            assert!(said.contains("\n    2   x[0] = nonsense;\n"), "{said}");
        }
        // Of a long text, the lines around it are shown.
        let long = format!("{}{text}", "// nothing\n".repeat(100));
        let said = run_on(&x, ("wrong", &long)).unwrap_err().to_string();
        assert!(said.contains("\n  102   x[0] = nonsense;\n") && said.matches("// nothing").count() < 5, "{said}");
        // The error is not kept, and the device goes on.
        assert_eq!((compilations(), pretend::programs()), (3, 0));
        saxpy(1.0, &x, &x).unwrap();
        assert_eq!(read(&x), [2.0]);
        // Kernels include nothing.
        assert!(run_on(&x, ("k", "#include <math.h>\nextern \"C\" __global__ void k(float* x) {}")).is_err());
        pretend::compile_fault(1);
        assert!(run_on(&x, ("k", "extern \"C\" __global__ void k(float* x) {}")).is_err());
        run_on(&x, ("k", "extern \"C\" __global__ void k(float* x) {}")).unwrap();
    });
}

#[test]
fn a_kernel_that_is_not_in_its_text() {
    on_gpu!("kernels::a_kernel_that_is_not_in_its_text", {
        let x: Line = line(vec![1.0]);
        let error = run_on(&x, ("other", SAXPY.1)).unwrap_err();
        assert!(error.to_string().contains("CUDA_ERROR_NOT_FOUND"), "{error}");
    });
}

/// The next process finds what this one has compiled; what is broken is compiled anew; a folder that can't be written is no error.
#[test]
fn the_cache_on_disk() {
    if pretend::is_inside() {
        let (x, y): (Line, Line) = (line(vec![1.0, 2.0]), line(vec![10.0, 20.0]));
        if std::env::var_os("REFUSED").is_some() {
            pretend::fault("load", 1, 1, 209);
        }
        saxpy(2.0, &x, &y).unwrap();
        assert_eq!(read(&y), [12.0, 24.0]);
        let expected: usize = std::env::var("EXPECTED").unwrap().parse().unwrap();
        return assert_eq!(compilations(), expected);
    }
    let cache = pretend::fresh_folder("cache");
    let with = |expected: &str, cache: &str, more: &[(&str, &str)]| {
        let variables = [&[("EXPECTED", expected), ("CASTIRON_CUDA_CACHE", cache)], more].concat();
        let output = pretend::again("kernels::the_cache_on_disk", Installed::Both, &variables);
        let success = |output: &std::process::Output| output.status.success();
        assert!(output.as_ref().is_none_or(success), "{}", String::from_utf8_lossy(&output.unwrap().stdout));
        output.is_some()
    };
    let within = |expected: &str, cache: &str| with(expected, cache, &[]);
    let kernels = cache.join("deeper/kernels");
    let at = kernels.to_str().unwrap();
    if !within("1", at) {
        return;
    }
    let entry = || {
        let mut entries: Vec<_> = fs::read_dir(&kernels).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        let [entry, key] = <[_; 2]>::try_from(entries).unwrap();
        assert!(entry.extension().is_some_and(|end| end == "cubin") && key.ends_with("key"));
        entry
    };
    within("0", at);
    let whole = fs::read(entry()).unwrap();
    let damaged = [
        whole[..whole.len() / 2].to_vec(),
        whole[..20].to_vec(),
        Vec::new(),
        b"nothing of the kind".to_vec(),
        whole.iter().enumerate().map(|(at, &byte)| if at + 1 == whole.len() { !byte } else { byte }).collect(),
    ];
    for bytes in damaged {
        fs::write(entry(), bytes).unwrap();
        within("1", at);
        assert_eq!(fs::read(entry()).unwrap()[..50], whole[..50]);
        within("0", at);
    }
    // What the driver does not take is compiled anew, too.
    with("1", at, &[("REFUSED", "1")]);
    within("0", at);
    // What another user could have written, read or made is not used: another key's entries, a key that others see, their folder.
    let (key, mode) = (kernels.join("key"), |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777);
    assert_eq!([mode(&kernels), mode(&entry()), mode(&key)], [0o700, 0o600, 0o600]);
    fs::write(&key, [7; 32]).unwrap();
    within("1", at);
    within("0", at);
    assert_ne!(fs::read(entry()).unwrap()[..50], whole[..50]);
    fs::set_permissions(&key, PermissionsExt::from_mode(0o640)).unwrap();
    within("1", at);
    within("0", at);
    assert_eq!(mode(&key), 0o600);
    fs::set_permissions(&kernels, PermissionsExt::from_mode(0o770)).unwrap();
    within("1", at);
    within("1", at);
    // A relative path, a file where the folder should be; no folder at all.
    within("1", "target");
    let file = cache.join("file");
    fs::write(&file, "").unwrap();
    within("1", file.to_str().unwrap());
    within("1", "");
    fs::remove_dir_all(cache).unwrap();
}

fn is_lost(result: castiron::Result<()>) {
    let error = result.unwrap_err();
    assert!(matches!(error, Error::CudaFailure { .. }) && error.to_string().contains("the device was lost"), "{error}");
}

/// A fault shows later, and every call after it says that the device is lost; the other device goes on.
#[test]
fn a_fault_in_a_kernel() {
    on_pretend!("kernels::a_fault_in_a_kernel", {
        let x: Line = line(vec![1.0; 64]);
        let far = "extern \"C\" __global__ void far(float* x) { x[1000000 + threadIdx.x] = 1; }";
        // It has only been begun.
        run_on(&x, ("far", far)).unwrap();
        let error = x.cpu().unwrap_err();
        assert!(error.to_string().contains("CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access"), "{error}");
        is_lost(x.cpu().map(|_| ()));
        is_lost(tensor![1.0, 2.0].to_device::<Cuda<0>>().map(|_| ()));
        is_lost(saxpy(1.0, &x, &x));
        is_lost(Tensor::<f32, shape![2], Cuda<0>>::try_zeros().map(|_| ()));
        let other = tensor![1.0, 2.0].to_device::<Cuda<1>>().unwrap();
        assert_eq!(other.cpu().unwrap().to_vec(), [1.0, 2.0]);
        is_lost(other.to_device::<Cuda<0>>().map(|_| ()));
    });
}

#[test]
fn a_fault_is_reported_where_it_was_made() {
    on_pretend!("kernels::a_fault_is_reported_where_it_was_made", ["CASTIRON_CUDA_SYNC" = "1"], {
        let x: Line = line(vec![1.0; 64]);
        let behind = "extern \"C\" __global__ void behind(float* x) { x[64 + threadIdx.x] = 1; }";
        let error = run_on(&x, ("behind", behind)).unwrap_err();
        assert!(error.to_string().starts_with("run on cuda:0: CUDA_ERROR_ILLEGAL_ADDRESS"), "{error}");
        is_lost(x.cpu().map(|_| ()));
    });
}

/// A launch that the driver refuses is an error, and nothing else.
#[test]
fn a_launch_that_is_refused() {
    on_pretend!("kernels::a_launch_that_is_refused", {
        let x: Line = line(vec![1.0; 64]);
        assert!(block_sum(&x, &x, 2048).unwrap_err().to_string().contains("CUDA_ERROR_INVALID_VALUE"));
        pretend::fault("launch", 2, 1, 1);
        saxpy(0.0, &x, &x).unwrap();
        assert!(saxpy(0.0, &x, &x).is_err());
        saxpy(0.0, &x, &x).unwrap();
        assert_eq!(read(&x), [1.0; 64]);
        // An address of the host is no address of the device.
        let mut arguments = Arguments::new();
        let host = [0.0_f32; 4];
        arguments.push(host.as_ptr());
        let text = "extern \"C\" __global__ void k(float* x) { x[0] = 1; }";
        // SAFETY: the pretend device looks at addresses before it runs a kernel.
        unsafe { run(0, ("k", text), Ok(1), &arguments).unwrap() };
        assert!(x.cpu().is_err());
    });
}

#[test]
fn arguments_of_every_size() {
    on_gpu!("kernels::arguments_of_every_size", {
        #[derive(Clone, Copy)]
        #[repr(C)]
        struct Pair(i64, i32);
        let out = Tensor::<f64, shape![6], Cuda<0>>::zeros();
        let text = r#"struct pair { long long a; int b; };
extern "C" __global__ void sizes(const signed char a, const double b, const short c, const pair d, double* out, const float e) {
  if (threadIdx.x == 0) { out[0] = a; out[1] = b; out[2] = c; out[3] = d.a; out[4] = d.b; out[5] = e; }
}"#;
        let mut arguments = Arguments::new();
        arguments.push(-3_i8);
        arguments.push(0.1_f64);
        arguments.push_bytes(&(-300_i16).to_ne_bytes());
        arguments.push(Pair(1 << 40, -7));
        arguments.push(address(&out));
        arguments.push(0.5_f32);
        // SAFETY: the kernel's parameters.
        unsafe { run(0, ("sizes", text), Ok(1), &arguments).unwrap() };
        assert_eq!(out.cpu().unwrap().to_vec(), [-3.0, 0.1, -300.0, (1_u64 << 40) as f64, -7.0, 0.5]);
        let mut many = Arguments::new();
        (0..200).for_each(|i| many.push(i as u64));
        // SAFETY: it is refused.
        let error = unsafe { run(0, ("sizes", text), Ok(1), &many).unwrap_err() };
        assert!(error.to_string().contains("at most 128 arguments"), "{error}");
    });
}

/// Threads that ask for one kernel at once have it compiled once.
#[test]
fn threads_that_want_one_kernel() {
    on_pretend!("kernels::threads_that_want_one_kernel", {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let (x, y): (Line, Line) = (line(vec![1.0; 300]), line(vec![2.0; 300]));
                    saxpy(3.0, &x, &y).unwrap();
                    assert_eq!(read(&y), [5.0; 300]);
                });
            }
        });
        assert_eq!((compilations(), pretend::live()), (1, 0));
    });
}

/// Memory is freed behind what reads it, though the tensor is gone before the kernel runs.
#[test]
fn operands_freed_before_the_kernel_runs() {
    on_pretend!("kernels::operands_freed_before_the_kernel_runs", {
        let y: Line = line(vec![0.0; 100]);
        for round in 0..3 {
            let x: Line = line(vec![round as f32; 100]);
            saxpy(1.0, &x, &y).unwrap();
        }
        assert_eq!((read(&y), pretend::live()), (vec![3.0; 100], 1));
    });
}

/// Copies between devices wait for the kernel that writes, and are done before the memory that they read is freed.
#[test]
fn copies_between_devices_are_in_order() {
    on_pretend!("kernels::copies_between_devices_are_in_order", {
        let (x, y): (Line, Line) = (line(vec![1.0; 100]), line(vec![2.0; 100]));
        saxpy(3.0, &x, &y).unwrap();
        let other = y.to_device::<Cuda<1>>().unwrap();
        drop((x, y));
        // The first device comes to what was freed before anybody waits for the second.
        castiron::device::synchronize("cuda:0").unwrap();
        assert_eq!((read(&other), pretend::live()), (vec![5.0; 100], 1));
        // A copy on one device is a copy of what the stream has come to.
        let mut z = line::<0>(vec![1.0; 100]);
        saxpy(1.0, &z, &z).unwrap();
        let written = z.view_mut().to_tensor();
        saxpy(1.0, &z, &z).unwrap();
        assert_ne!(address(&written), address(&z));
        assert_eq!((read(&written), read(&z)), (vec![2.0; 100], vec![4.0; 100]));
    });
}

/// Whichever call of the driver fails: the error comes back, and neither memory nor the device is lost.
#[test]
fn every_call_may_fail() {
    on_pretend!("kernels::every_call_may_fail", {
        let scene = || -> castiron::Result<Vec<f32>> {
            let x = tensor![1.0, 2.0, 3.0].to_device::<Cuda<0>>()?;
            let x: Line = x.with_shape();
            let y: Line = Tensor::try_full_sized([3], 10.0)?;
            saxpy(2.0, &x, &y)?;
            let z = y.clone().to_device::<Cuda<1>>()?;
            let wide = Tensor::<f64, shape![3], Cuda<1>>::try_full(0.1)?;
            assert_eq!(wide.cpu()?.to_vec(), [0.1; 3]);
            Ok(z.to_device::<Cuda<0>>()?.cpu()?.to_vec())
        };
        assert_eq!(scene().unwrap(), [12.0, 14.0, 16.0]);
        let mut failed = 0;
        for at in 1.. {
            let before = pretend::count("any");
            pretend::fault("any", at, 1, 999);
            let result = scene();
            let calls = pretend::count("any") - before;
            pretend::fault("any", 1, 0, 0);
            match result {
                Err(error) => assert!(error.to_string().contains("CUDA_ERROR_UNKNOWN"), "{error}"),
                Ok(read) => assert_eq!(read, [12.0, 14.0, 16.0]),
            }
            assert_eq!((scene().unwrap(), pretend::live()), (vec![12.0, 14.0, 16.0], 0));
            if calls < at {
                break;
            }
            failed += 1;
        }
        assert!(failed > 15, "{failed}");
    });
}

/// NVRTC itself, where it is installed (`REQUIRE_NVRTC=1`: it must be): `cargo test --features cuda,any --test cuda nvrtc_itself`, with `$VIRTUAL_ENV`, `$CUDA_HOME` or
/// `$CASTIRON_CUDA_LIB` set. It needs no GPU.
#[test]
fn nvrtc_itself() {
    let is_required = std::env::var("REQUIRE_NVRTC").is_ok_and(|value| value == "1");
    match cubin(SAXPY, (8, 0)) {
        Err(reason) if reason.contains("was not found") && !is_required => {
            return println!("NOTICE: not run: {reason}");
        }
        compiled => drop(compiled.unwrap()),
    }
    for capability in [(7, 5), (8, 0), (9, 0)] {
        for source in [SAXPY, BLOCK_SUM] {
            let image = cubin(source, capability).unwrap();
            assert!(image.starts_with(b"\x7fELF"));
        }
    }
    let error = cubin(("wrong", "extern \"C\" __global__ void wrong(float* x) {\n  x[0] = nonsense;\n}\n"), (9, 0))
        .unwrap_err();
    assert!(error.contains("kernel.cu(2): error: identifier \"nonsense\" is undefined"), "{error}");
    assert!(cubin(SAXPY, (1, 0)).unwrap_err().contains("--gpu-architecture"));
}
