//! Kernels of `cuda_kernel!`, beside castiron's operations.

use crate::pretend::{self, Installed};
use crate::{on_gpu, on_pretend};
use castiron::cuda_test_hooks::compilations;
use castiron::gpu::Launch;
use castiron::{
    Complex, Cuda, Dim, Element, Error, Float, Known, Shape, Tensor, axis, bf16, cuda_kernel, f16, s, shape, tensor,
};

cuda_kernel! {
    /// `y = a * x + y`
    fn axpy<S: Shape>(a: f32, x: &Tensor<f32, S>, y: &mut Tensor<f32, S>) {
        // SAFETY: no index is past the number of elements.
        unsafe { r#"
            for (i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; i < S; i += gridDim.x * (i64)blockDim.x) y[i] = a * x[i] + y[i];
        "# }
    }
}

cuda_kernel! {
    r#"
    template<class T> __device__ T larger(T a, T b) { return a < b ? b : a; }
    "#;

    /// The largest element of each row, by a block for each.
    ///
    /// # Safety
    /// Blocks have 64 threads along x.
    unsafe fn row_max<M: Dim, N: Known, E: Float>(x: &Tensor<E, shape![M, N]>, y: &mut Tensor<E, shape![M]>) {
        r#"
            __shared__ float row[N], part[64];
            for (i64 m = blockIdx.x; m < M; m += gridDim.x) {
                for (i64 n = threadIdx.x; n < N; n += 64) row[n] = x[m * N + n];
                __syncthreads();
                float most = row[0];
                for (i64 n = threadIdx.x; n < N; n += 64) most = larger(most, row[n]);
                part[threadIdx.x] = most;
                __syncthreads();
                for (int half = 32; half; half >>= 1) {
                    if (threadIdx.x < half) part[threadIdx.x] = larger(part[threadIdx.x], part[threadIdx.x + half]);
                    __syncthreads();
                }
                if (threadIdx.x == 0) y[m] = (E)part[0];
            }
        "#
    }

    /// Real and imaginary parts, by a grid of two axes.
    fn parts<M: Dim, N: Dim>(z: &Tensor<Complex<f32>, (M, N)>, re: &mut Tensor<f32, (M, N)>, im: &mut Tensor<f32, (M, N)>) {
        // SAFETY: no index is past the number of elements.
        unsafe { r#"
            extern __shared__ float unused[];
            for (i64 m = blockIdx.y * (i64)blockDim.y + threadIdx.y; m < M; m += gridDim.y * (i64)blockDim.y)
                for (i64 n = blockIdx.x * (i64)blockDim.x + threadIdx.x; n < N; n += gridDim.x * (i64)blockDim.x) {
                    re[m * N + n] = z[m * N + n].re;
                    im[m * N + n] = z[m * N + n].im;
                }
        "# }
    }

    /// `y = x`, whatever the dtype.
    fn copied<E: Element, N: Dim>(x: &Tensor<E, shape![N]>, also: E, y: &mut Tensor<E, shape![N]>) {
        // SAFETY: as above.
        unsafe { r#"
            for (i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; i < N; i += gridDim.x * (i64)blockDim.x) {
                E one = x[i];
                y[i] = i == 0 ? also : one;
            }
        "# }
    }

    fn wrong(y: &mut Tensor<f32, shape![3]>) {
        // SAFETY: it does not compile.
        unsafe { "y[0] = nonsense;" }
    }
}

type Line<const N: usize = 0> = Tensor<f32, shape![_], Cuda<N>>;

fn line<const N: usize>(elements: Vec<f32>) -> Line<N> {
    let len = elements.len();
    Tensor::<f32, shape![_]>::from_vec_sized(elements, [len]).to_device().unwrap()
}

#[test]
fn beside_an_operation() {
    on_gpu!("own_kernels::beside_an_operation", {
        for len in [0, 1, 255, 256, 1000] {
            let x: Line = line((0..len).map(|i| i as f32).collect());
            let mut y: Line = line(vec![1.0; len]);
            let kept = y.clone();
            let expected = &x * 2.0 + &y;
            axpy(Launch::over(len), 2.0, &x, &mut y).unwrap();
            assert_eq!(y.cpu().unwrap(), expected.cpu().unwrap());
            // The tensor that shared its storage keeps its elements.
            assert_eq!(kept.cpu().unwrap().to_vec(), vec![1.0; len]);
            // Fewer threads than elements.
            axpy(Launch::new(1, 32), -2.0, &x, &mut y).unwrap();
            assert_eq!(y.cpu().unwrap().to_vec(), vec![1.0; len]);
        }
        // An operand that is a view with other strides.
        let x = tensor![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]].cuda().unwrap();
        let mut y = Tensor::<f32, shape![3, 2], Cuda<0>>::ones();
        axpy(Launch::over(6), 1.0, &x.t(), &mut y).unwrap();
        assert_eq!(y.cpu().unwrap().to_vec(), [2.0, 5.0, 3.0, 6.0, 4.0, 7.0]);
        // Of the same storage as what is written, which becomes its own.
        let x = y.clone();
        axpy(Launch::over(6), 1.0, &x, &mut y).unwrap();
        assert_eq!(y.cpu().unwrap(), (&x * 2.0).cpu().unwrap());
    });
}

#[test]
fn sizes_dtypes_and_shared_memory() {
    on_gpu!("own_kernels::sizes_dtypes_and_shared_memory", {
        fn compare<M: Dim, E: Float>(x: Tensor<f32, (M, castiron::dim!(70))>) {
            let x = x.to::<E>().cuda().unwrap();
            let mut y = x.select(axis![1], 0).contiguous();
            // SAFETY: 64 threads.
            unsafe { row_max(Launch::new(2, 64), &x, &mut y).unwrap() };
            let expected = x.amax_axis(axis![1]);
            assert_eq!(y.cpu().unwrap().to_vec(), expected.cpu().unwrap().to_vec());
        }
        let elements = || (0..350).map(|i| ((i * 37) % 101) as f32 - 50.0).collect::<Vec<f32>>();
        compare::<_, f32>(Tensor::<f32, shape![5, 70]>::from_vec(elements()));
        compare::<_, f64>(Tensor::<f32, shape![_, 70]>::from_vec_sized(elements(), [5, 70]));
        compare::<_, f16>(Tensor::<f32, shape![5, 70]>::from_vec(elements()));
        compare::<_, bf16>(Tensor::<f32, shape![5, 70]>::from_vec(elements()));

        let z = tensor![[1.0 + 2.0j, 3.0 - 4.0j], [0.5j, 7.0]].cuda().unwrap();
        let (mut re, mut im) = (Tensor::zeros(), Tensor::zeros());
        parts(Launch::new([2, 1], [1, 2]).shared_memory(64), &z, &mut re, &mut im).unwrap();
        assert_eq!((re.cpu().unwrap(), im.cpu().unwrap()), (z.real().cpu().unwrap(), z.imag().cpu().unwrap()));
    });
}

#[test]
fn every_dtype_is_passed() {
    on_gpu!("own_kernels::every_dtype_is_passed", {
        fn pass<E: Element>(elements: [E; 2], also: E) {
            let x = Tensor::<E, shape![2]>::from_vec(elements.to_vec()).cuda().unwrap();
            let mut y = x.clone();
            copied(Launch::over(2), &x, also, &mut y).unwrap();
            assert_eq!(y.cpu().unwrap().to_vec(), [also, elements[1]]);
        }
        pass([true, false], false);
        pass([1_u8, 255], 7);
        pass([1_i8, -128], -7);
        pass([1_i16, -30_000], -7);
        pass([1, -2_000_000_000], -7);
        pass([1_i64, i64::MIN], -7);
        pass([1_u16, 60_000], 7);
        pass([1_u32, 4_000_000_000], 7);
        pass([1_u64, u64::MAX], 7);
        pass([1.5_f32, -2.5], 0.1);
        pass([1.5_f64, -2.5], 0.1);
        pass([1.5, -2.5].map(f16::from_f32), f16::from_f32(0.1));
        pass([1.5, -2.5].map(bf16::from_f32), bf16::from_f32(0.1));
        pass([Complex::new(1.5_f64, -2.5), Complex::new(0.1, 0.2)], Complex::new(-0.1, 3.0));
        pass([1.5, -2.5].map(castiron::F8E5M2::from_f32), castiron::F8E5M2::from_f32(0.25));
    });
}

#[test]
fn disjoint_parts_are_written() {
    on_gpu!("own_kernels::disjoint_parts_are_written", {
        let z = tensor![[1.0 + 2.0j, 3.0 - 4.0j]].cuda().unwrap();
        let mut both: Tensor<f32, shape![2, 1, 2], Cuda<0>> = Tensor::zeros();
        let [re, im] = both.unbind_array_mut(axis![0]);
        parts(Launch::new([1, 1], [2, 1]), &z, re, im).unwrap();
        assert_eq!(both.cpu().unwrap().to_vec(), [1.0, 3.0, 2.0, -4.0]);
        // A view that is borrowed again, and read.
        let mut x = tensor![[1.0, 2.0], [3.0, 4.0]].cuda().unwrap();
        let [mut first, second] = x.split_at_mut(axis![0], 1);
        axpy(Launch::over(2), 10.0, &second, &mut first).unwrap();
        axpy(Launch::over(2), 10.0, &second, &mut first).unwrap();
        assert_eq!(x.cpu().unwrap().to_vec(), [61.0, 82.0, 3.0, 4.0]);
    });
}

#[test]
fn what_is_refused() {
    on_pretend!("own_kernels::what_is_refused", {
        let (x, mut y): (Line, Line) = (line(vec![1.0; 3]), line(vec![1.0; 4]));
        let said = |result: castiron::Result<()>| result.unwrap_err().to_string();
        assert_eq!(said(axpy(Launch::over(3), 1.0, &x, &mut y)), "axpy: `S` is 3 in `x` and 4 in `y`");
        let z = tensor![[1.0j, 2.0]].cuda().unwrap();
        let mut square: Tensor<f32, shape![2, 2], Cuda<0>> = Tensor::zeros();
        let mut wide: Tensor<f32, shape![2, 1, 2], Cuda<0>> = Tensor::zeros();
        let column = square.t_mut();
        let mut re = Tensor::zeros();
        let strided = wide.slice_mut(s![.., .., 0]);
        let error = said(axpy(Launch::over(2), 1.0, &Tensor::zeros(), strided));
        assert!(error.starts_with("axpy: `y` is written, and its elements are not in row-major order"), "{error}");
        let error = said(axpy(Launch::over(4), 1.0, &Tensor::zeros(), column));
        assert!(error.contains("sizes [2, 2], strides [1, 2]"), "{error}");
        for (launch, wrong) in [
            (Launch::new(1, 1025), "a block of [1025, 1, 1] threads is too large"),
            (Launch::new(1, [32, 64]), "a block of [32, 64, 1] threads is too large"),
            (Launch::new(1, [1, 1, 65]), "a block of [1, 1, 65] threads is too large"),
            (Launch::new(1, 0), "a block of [0, 1, 1] threads is empty"),
            (Launch::new(1 << 31, 1), "a grid of [2147483648, 1, 1] blocks is too large"),
            (Launch::new([1, 65_536], 1), "a grid of [1, 65536, 1] blocks is too large"),
            (Launch::new(1, 1).shared_memory(49_153), "49153 are asked for"),
        ] {
            let error = said(parts(launch, &z, &mut Tensor::zeros(), &mut re));
            assert!(error.starts_with("parts: ") && error.contains(wrong), "{error}");
        }
        assert_eq!((pretend::count("launch"), compilations()), (0, 0));
        // The log of the compiler, and the text around it.
        let error = wrong(Launch::new(1, 1), &mut Tensor::<f32, shape![3], Cuda<0>>::zeros()).unwrap_err();
        assert!(matches!(error, Error::CudaFailure { op: "compile", .. }), "{error:?}");
        let error = error.to_string();
        assert!(
            error.contains("NVRTC does not take the kernel `wrong`") && error.contains(" y[0] = nonsense;"),
            "{error}"
        );
    });
}

/// Once for each set of types; sizes that are known at run time are parameters.
#[test]
fn compiled_once() {
    on_pretend!("own_kernels::compiled_once", {
        for len in [3, 4, 5] {
            let x: Line = line(vec![1.0; len]);
            axpy(Launch::over(len), 1.0, &x, &mut line(vec![1.0; len])).unwrap();
        }
        assert_eq!((compilations(), pretend::count("launch")), (1, 3));
        let x = tensor![1.0, 2.0].cuda().unwrap();
        axpy(Launch::over(2), 1.0, &x, &mut Tensor::ones()).unwrap();
        assert_eq!(compilations(), 2);
        // Without blocks nothing is launched.
        axpy(Launch::over(0), 1.0, &x, &mut Tensor::ones()).unwrap();
        drop(x);
        assert_eq!((pretend::count("launch"), pretend::live()), (4, 0));
    });
}

#[test]
fn without_nvrtc() {
    pretend::within("own_kernels::without_nvrtc", Installed::DriverOnly, &[], || {
        let x = tensor![1.0, 2.0].cuda().unwrap();
        let error = axpy(Launch::over(2), 1.0, &x, &mut Tensor::zeros()).unwrap_err().to_string();
        assert!(error.contains("NVRTC, the compiler of kernels, was not found"), "{error}");
    });
}

#[cfg(feature = "profile")]
#[test]
fn in_a_profile() {
    on_gpu!("own_kernels::in_a_profile", {
        let x = tensor![1.0, 2.0].cuda().unwrap();
        let mut y = Tensor::zeros();
        let (result, profile) = castiron::profile(|| axpy(Launch::over(2), 1.0, &x, &mut y));
        result.unwrap();
        let record = profile.records().iter().find(|record| record.name() == "axpy").unwrap();
        assert_eq!((record.device(), record.bytes_read(), record.bytes_written()), ("cuda:0", 8, 8));
    });
}

/// A gradient of one's own around kernels of one's own.
#[cfg(feature = "grad")]
#[test]
fn in_a_custom_gradient() {
    use castiron::grad::{self, Grad, Taped};
    on_gpu!("own_kernels::in_a_custom_gradient", {
        type On = Cuda<0>;
        /// `3 x`
        fn tripled(x: &Tensor<f32, shape![2], Taped<On>>) -> Tensor<f32, shape![2], Taped<On>> {
            let launched = |x: &Tensor<f32, shape![2], On>| {
                let mut y = x.clone();
                axpy(Launch::over(2), 2.0, x, &mut y).map(|()| y)
            };
            let back = move |g: Tensor<f32, shape![2], On>| (launched(&g).unwrap(),);
            grad::custom((x,), |(x,)| (launched(&x).unwrap(), back))
        }
        let x = tensor![1.0, -2.0].cuda().unwrap();
        let (value, grads) = x.value_and_grad((), |x, ()| tripled(x).sum());
        assert_eq!((value.item(), grads.cpu().unwrap().to_vec()), (-3.0, vec![3.0, 3.0]));
    });
}
