//! Memory and streams that castiron and the crate `cudarc` share. (On the pretend driver each stream runs by itself, when somebody waits for it.)

use crate::pretend;
use crate::{on_gpu, on_pretend};
use castiron::cuda_test_hooks::{address, cubin};
use castiron::gpu::cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg};
use castiron::gpu::cudarc::{context, stream};
use castiron::{Cuda, Tensor, axis, shape, tensor};

type Line<const N: usize = 0> = Tensor<f32, shape![4], Cuda<N>>;

fn line(from: f32) -> Line {
    tensor![0.0, 1.0, 2.0, 3.0].cuda().unwrap() + from
}

/// A kernel that another crate brings and launches.
#[test]
fn another_crates_kernel() {
    on_pretend!("cudarc::another_crates_kernel", {
        const DOUBLED: &str = "extern \"C\" __global__ void doubled(const float *x, float *y, unsigned n) {
            for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 2 * x[i];
        }";
        let x = line(1.0);
        let gpu = context("cuda:0").unwrap();
        let image = cubin(("doubled", DOUBLED), (9, 0)).unwrap();
        let module = gpu.load_module(castiron::gpu::cudarc::Ptx::from_binary(image)).unwrap();
        let doubled = module.load_function("doubled").unwrap();
        for stream in [stream("cuda:0").unwrap(), gpu.new_stream().unwrap()] {
            // Work of castiron's, a kernel of another crate on its result, and work of castiron's on the result of that.
            let x = &x * 3.0;
            let view = x.to_cudarc(&stream).unwrap();
            let mut y = Line::<0>::zeros().into_cudarc(&stream).unwrap();
            let mut launch = stream.launch_builder(&doubled);
            let view = view.view();
            launch.arg(&view).arg(&mut y).arg(&4_u32);
            // SAFETY: the kernel's parameters, of four elements each.
            unsafe { launch.launch(LaunchConfig::for_num_elems(4)).unwrap() };
            let y: Line = Tensor::from_cudarc(y).unwrap();
            assert_eq!((y + 1.0_f32).cpu().unwrap().to_vec(), [7.0_f32, 13.0, 19.0, 25.0]);
        }
    });
}

#[test]
fn memory_moves_without_a_copy() {
    on_gpu!("cudarc::memory_moves_without_a_copy", {
        let (x, on) = (line(0.0), stream("cuda:0").unwrap());
        let (at, used) = (address(&x), castiron::memory::cuda_usage("cuda:0").unwrap().used);
        let slice: CudaSlice<f32> = x.into_cudarc(&on).unwrap();
        assert_eq!(castiron::memory::cuda_usage("cuda:0").unwrap().used, used - 16);
        let x: Tensor<f32, shape![2, _], Cuda<0>> = Tensor::from_cudarc_sized(slice, [2, 2]).unwrap();
        assert_eq!((address(&x), x.cpu().unwrap().to_vec()), (at, vec![0.0, 1.0, 2.0, 3.0]));
        // What was allocated elsewhere, and is freed by castiron.
        let own = on.clone_htod(&[1_i64, -2, 3]).unwrap();
        let mut y: Tensor<i64, shape![3], Cuda<0>> = Tensor::from_cudarc(own).unwrap();
        y += 1;
        assert_eq!(y.cpu().unwrap().to_vec(), [2, -1, 4]);
        // A part, a transposed tensor and a shared one are copied.
        for (tensor, elements) in
            [(x.t().with_shape::<shape![2, 2]>(), [0.0, 2.0, 1.0, 3.0]), (x.clone().with_shape(), [0.0, 1.0, 2.0, 3.0])]
        {
            let mut slice = tensor.into_cudarc(&on).unwrap();
            let z: Tensor<f32, shape![2, 2], Cuda<0>> = {
                on.memset_zeros(&mut slice.slice_mut(3..)).unwrap();
                Tensor::from_cudarc(slice).unwrap()
            };
            assert_eq!(z.cpu().unwrap().to_vec(), [&elements[..3], &[0.0]].concat());
        }
        let row = x.select(axis![0], 1);
        let view = row.to_cudarc(&on).unwrap();
        assert_eq!(view.len(), 2);
        let read = on.clone_dtoh(&*view).unwrap();
        on.synchronize().unwrap();
        assert_eq!(read, [2.0, 3.0]);
        assert_eq!(x.cpu().unwrap().to_vec(), [0.0, 1.0, 2.0, 3.0]);
    });
    if pretend::is_inside() && !pretend::is_real() {
        assert_eq!(pretend::live(), 0);
    }
}

#[test]
fn streams_wait_for_each_other() {
    on_gpu!("cudarc::streams_wait_for_each_other", {
        let other = context("cuda:0").unwrap().new_stream().unwrap();
        // Another stream reads what castiron's has not computed yet; castiron writes to it afterwards.
        let mut x = line(5.0);
        let at = address(&x);
        let view = x.to_cudarc(&other).unwrap();
        let copy = other.clone_dtod(&*view).unwrap();
        drop(view);
        x *= 0.0;
        assert_eq!(address(&x), at);
        assert_eq!(x.cpu().unwrap().to_vec(), [0.0_f32; 4]);
        let copy: Line = Tensor::from_cudarc(copy).unwrap();
        assert_eq!(copy.cpu().unwrap().to_vec(), [5.0, 6.0, 7.0, 8.0]);
        // While a slice reads, castiron writes to a copy.
        let view = copy.to_cudarc(&other).unwrap();
        let mut written = copy;
        written += 1.0;
        let read = other.clone_dtoh(&*view).unwrap();
        other.synchronize().unwrap();
        assert_eq!((read, written.cpu().unwrap().to_vec()), (vec![5.0, 6.0, 7.0, 8.0], vec![6.0, 7.0, 8.0, 9.0]));
        // Castiron reads what another stream has not written yet.
        let mut slice = written.into_cudarc(&other).unwrap();
        other.memset_zeros(&mut slice).unwrap();
        let x: Line = Tensor::from_cudarc(slice).unwrap();
        assert_eq!((x + 1.0_f32).cpu().unwrap().to_vec(), [1.0_f32; 4]);
        // A use that is tracked on a third stream.
        let third = other.context().new_stream().unwrap();
        let mut slice = line(1.0).into_cudarc(&other).unwrap();
        third.memset_zeros(&mut slice).unwrap();
        let x: Line = Tensor::from_cudarc(slice).unwrap();
        assert_eq!(x.cpu().unwrap().to_vec(), [0.0_f32; 4]);
    });
}

#[test]
fn what_is_refused() {
    on_pretend!("cudarc::what_is_refused", {
        let on = stream("cuda:0").unwrap();
        let second = stream("cuda:1").unwrap();
        let said = line(0.0).to_cudarc(&second).unwrap_err().to_string();
        assert!(said.contains("the stream is one of device 1") && said.contains("`cuda:0`"), "{said}");
        let slice = line(0.0).into_cudarc(&on).unwrap();
        let said = Tensor::<f32, shape![3], Cuda<0>>::from_cudarc(slice).unwrap_err().to_string();
        assert!(said.starts_with("from_cudarc: ") && said.contains('4'), "{said}");
        let slice = line(0.0).into_cudarc(&on).unwrap();
        let said = Line::<1>::from_cudarc(slice).unwrap_err().to_string();
        assert!(said.contains("`cuda:1`"), "{said}");
        let empty: Tensor<f32, shape![0], Cuda<0>> = Tensor::zeros();
        assert!(empty.to_cudarc(&on).unwrap_err().to_string().contains("without elements"));
        assert!(stream("cpu").is_err() && stream("cuda:7").is_err());
        // Slices that were refused have freed their memory.
        assert_eq!(pretend::live(), 0);
    });
}
