//! Device memory: elements are copied there and back, shared, filled and freed, and memory runs out.

use crate::{on_pretend, pretend};
use castiron::cuda_test_hooks::{address, compilations};
use castiron::{
    Complex, Cuda, Element, Error, F4E2M1FNX2, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, Tensor, axis, bf16,
    f16, shape, tensor,
};

type OnGpu<E, const N: usize = 0> = Tensor<E, shape![_], Cuda<N>>;

#[test]
fn round_trip() {
    on_pretend!("memory::round_trip", {
        fn check<E: Element + PartialEq + core::fmt::Debug>(some: &[E]) {
            for len in [0, 1, 3, 1000, 5000] {
                let elements: Vec<E> = some.iter().copied().cycle().take(len).collect();
                let host: Tensor<E, shape![_]> = Tensor::from_vec_sized(elements.clone(), [len]);
                let first: OnGpu<E> = host.to_device::<Cuda<0>>().unwrap();
                let second = first.to_device::<Cuda<1>>().unwrap();
                assert_ne!(address(&first) == address(&second), len != 0);
                // Back by the second device, too.
                let made: OnGpu<E, 1> = up(elements.clone());
                for back in [first.cpu(), second.cpu(), made.to_device::<Cuda<0>>().unwrap().cpu()] {
                    assert_eq!(back.unwrap().to_vec(), elements);
                }
            }
        }
        check(&[true, false, false]);
        check(&[0_u8, 255, 7]);
        check(&[-128_i8, 127, 7]);
        check(&[i16::MIN, 1, -1]);
        check(&[i32::MIN, 1, -1]);
        check(&[i64::MIN, 1, -1]);
        check(&[f16::from_f32(1.5), f16::NEG_INFINITY]);
        check(&[bf16::from_f32(1.5), bf16::MAX]);
        check(&[1.5_f32, -0.0, f32::INFINITY]);
        check(&[1.5_f64, f64::MIN_POSITIVE]);
        check(&[Complex::new(f16::from_f32(1.5), f16::from_f32(-2.0))]);
        check(&[Complex::new(1.5_f32, -2.0), Complex::new(0.0, 1.0)]);
        check(&[Complex::new(1.5_f64, -2.0), Complex::new(0.0, 1.0)]);
        check(&[u16::MAX, 1]);
        check(&[u32::MAX, 1]);
        check(&[u64::MAX, 1]);
        check(&[F8E4M3FN::from_bits(0x38), F8E4M3FN::from_bits(1)]);
        check(&[F8E4M3FNUZ::from_bits(0x38), F8E4M3FNUZ::from_bits(1)]);
        check(&[F8E5M2::from_bits(0x38), F8E5M2::from_bits(1)]);
        check(&[F8E5M2FNUZ::from_bits(0x38), F8E5M2FNUZ::from_bits(1)]);
        check(&[F8E8M0FNU::from_bits(0x38), F8E8M0FNU::from_bits(1)]);
        check(&[F4E2M1FNX2::from_bits(0x38), F4E2M1FNX2::from_bits(1)]);
        assert_eq!(pretend::live(), 0);
    });
}

/// The strides are kept; what is not contiguous is gathered on the host.
#[test]
fn views() {
    on_pretend!("memory::views", {
        let host = tensor![[1, 2, 3], [4, 5, 6]];
        let x = host.to_device::<Cuda<0>>().unwrap();
        assert_eq!(x.t().cpu().unwrap().to_vec(), [1, 4, 2, 5, 3, 6]);
        assert!(x.t().shares_storage(&x));
        let turned = host.t().to_device::<Cuda<0>>().unwrap();
        assert_eq!((turned.stride(), turned.shape()), ([1, 3], [3, 2]));
        assert_eq!(turned.cpu().unwrap(), host.t());
        let middle = x.narrow::<1>(axis![1], 1, 1);
        assert_eq!(middle.cpu().unwrap().to_vec(), [2, 5]);
        assert_eq!(middle.to_device::<Cuda<1>>().unwrap().cpu().unwrap().to_vec(), [2, 5]);
        let row = x.narrow::<0>(axis![0], 1, 1);
        assert_eq!(row.to_device::<Cuda<1>>().unwrap().cpu().unwrap().to_vec(), [4, 5, 6]);
        let wide = tensor![7.0].to_device::<Cuda<0>>().unwrap().expand::<shape![2, 3]>();
        assert_eq!(wide.cpu().unwrap().to_vec(), [7.0; 6]);
        assert_eq!(tensor![[5_i64]].to_device::<Cuda<0>>().unwrap().item(), 5);
    });
}

#[test]
fn filled() {
    on_pretend!("memory::filled", {
        fn check<E: castiron::Dtype + core::fmt::Debug>(value: E) {
            for len in [0, 1, 5, 1000] {
                let of = |x: OnGpu<E, 1>| x.cpu().unwrap().to_vec();
                let x: OnGpu<E, 1> = Tensor::zeros_sized([len]);
                assert_eq!(of(x), vec![E::default(); len]);
                let x: OnGpu<E, 1> = Tensor::full_sized([len], value);
                assert_eq!(of(x), vec![value; len]);
            }
        }
        check(true);
        check(7_u8);
        check(-7_i8);
        check(-300_i16);
        check(70_000_i32);
        check(f16::from_f32(1.5));
        check(bf16::from_f32(-1.5));
        check(0.1_f32);
        check(Complex::new(f16::from_f32(0.1), f16::from_f32(2.0)));
        // Words that are all the same need no kernel.
        check(-1_i64);
        check(Complex::new(0.25_f32, 0.25));
        assert_eq!(compilations(), 0);
        check(1_i64 << 40);
        check(0.1_f64);
        check(Complex::new(0.1_f32, 0.2));
        check(Complex::new(0.1_f64, 0.2));
        check(Complex::new(0.1_f64, 0.1));
        assert_eq!(compilations(), 1);
        assert_eq!(pretend::live(), 0);
    });
}

/// Elements on a device, copied from the host.
fn up<E: Element, const N: usize>(elements: Vec<E>) -> OnGpu<E, N> {
    let len = elements.len();
    Tensor::<E, shape![_]>::from_vec_sized(elements, [len]).to_device().unwrap()
}

#[test]
fn shared_and_freed() {
    on_pretend!("memory::shared_and_freed", {
        let x: OnGpu<f32> = up(vec![1.0; 100]);
        let before = pretend::count("alloc");
        let copies: Vec<OnGpu<f32>> = (0..10).map(|_| x.clone()).collect();
        assert!(copies.iter().all(|copy| copy.shares_storage(&x) && address(copy) == address(&x)));
        assert_eq!((pretend::count("alloc"), pretend::live()), (before, 1));
        drop(x);
        assert_eq!((copies[9].cpu().unwrap().to_vec(), pretend::live()), (vec![1.0; 100], 1));
        drop(copies);
        assert_eq!(pretend::live(), 0);
        // Nothing is allocated for no elements.
        let none: OnGpu<f32> = Tensor::zeros_sized([0]);
        assert_eq!((address(&none), none.cpu().unwrap().numel(), pretend::live()), (0, 0, 0));
        // Threads make, hand over and free.
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    for round in 0..20 {
                        let x: OnGpu<i64> = up(vec![thread * 100 + round; 50]);
                        let y = x.to_device::<Cuda<1>>().unwrap();
                        drop(x);
                        let read = std::thread::spawn(move || y.cpu().unwrap().to_vec()).join().unwrap();
                        assert_eq!(read, vec![thread * 100 + round; 50]);
                    }
                });
            }
        });
        assert_eq!(pretend::live(), 0);
    });
}

fn out_of_memory(result: castiron::Result<OnGpu<u8>>, asked: usize) {
    let error = result.unwrap_err();
    let Error::CudaOutOfMemory { ref device, bytes, free, total, .. } = error else { panic!("{error:?}") };
    assert_eq!((device.as_str(), bytes, total), ("cuda:0", asked, 1 << 24));
    assert!(free <= total, "{error}");
}

#[test]
fn memory_runs_out() {
    on_pretend!("memory::memory_runs_out", ["PRETEND_MEMORY" = "0x1000000"], {
        let of = |len: usize| Tensor::<u8, shape![_], Cuda<0>>::try_zeros_sized([len]);
        out_of_memory(of(1 << 25), 1 << 25);
        let half = of(1 << 23).unwrap();
        out_of_memory(of((1 << 23) + 1), (1 << 23) + 1);
        // What was freed is there again, in blocks of another size, too: the pool gives up what it keeps.
        drop(half);
        let trims = pretend::count("trim");
        let most = of(3 << 22).unwrap();
        assert_eq!(pretend::count("trim"), trims + 1);
        assert_eq!(most.cpu().unwrap().to_vec(), vec![0; 3 << 22]);
        drop(most);
        // Freed and asked for again, it needs no more than the pool.
        for _ in 0..10 {
            drop(of(3 << 22).unwrap());
        }
        assert_eq!(pretend::live(), 0);
        let wide = Tensor::<f64, shape![_, _], Cuda<0>>::try_zeros_sized([1 << 40, 1 << 40]);
        assert!(matches!(wide, Err(Error::TooLarge { .. })));
    });
}

#[test]
fn calls_that_fail() {
    on_pretend!("memory::calls_that_fail", ["PRETEND_MEMORY" = "0x1000000"], {
        let host = tensor![1.0, 2.0, 3.0];
        let up = || host.to_device::<Cuda<0>>();
        let x = up().unwrap();
        // Allocation is tried twice.
        pretend::fault("alloc", 1, 1, 2);
        assert_eq!(up().unwrap().cpu().unwrap(), host);
        pretend::fault("alloc", 1, 2, 2);
        assert!(matches!(up(), Err(Error::CudaOutOfMemory { .. })));
        assert_eq!(up().unwrap().cpu().unwrap(), host);
        // Other failures are told as they are, and the device goes on.
        for what in ["alloc", "upload", "sync"] {
            pretend::fault(what, 1, 1, 999);
            let error = up().unwrap_err();
            assert!(error.to_string().contains("CUDA_ERROR_UNKNOWN (999): unknown error"), "{error}");
            assert_eq!(up().unwrap().cpu().unwrap(), host);
        }
        for what in ["download", "sync"] {
            pretend::fault(what, 1, 1, 999);
            assert!(matches!(x.cpu(), Err(Error::CudaFailure { op: "download", .. })), "{what}");
            assert_eq!(x.cpu().unwrap(), host);
        }
        for what in ["peer", "alloc", "sync"] {
            pretend::fault(what, 1, 1, 999);
            assert!(x.to_device::<Cuda<1>>().is_err(), "{what}");
            assert_eq!(x.to_device::<Cuda<1>>().unwrap().cpu().unwrap(), host);
        }
        pretend::fault("fill", 1, 1, 12345);
        let error = Tensor::<f32, shape![2], Cuda<0>>::try_zeros().unwrap_err();
        assert!(error.to_string().contains("an error that it has no name for (12345)"), "{error}");
        drop(x);
        assert_eq!(pretend::live(), 0);
    });
}

/// An `AnyTensor` tells of what the driver answers, writes nothing then, and frees what it had.
#[test]
fn any_tensors_tell_of_faults() {
    on_pretend!("memory::any_tensors_tell_of_faults", {
        use castiron::AnyTensor;
        let host = AnyTensor::from(tensor![[1.0, 2.0], [3.0, 4.0]]);
        let mut x = host.to_device("cuda:0").unwrap();
        let text = x.to_string();
        pretend::fault("alloc", 1, 1, 999);
        assert!(x.add(&x).is_err());
        pretend::fault("launch", 1, 1, 999);
        assert!(x.add_(1).is_err());
        pretend::fault("launch", 1, 1, 999);
        assert!(x.t().unwrap().contiguous().is_err());
        for what in ["alloc", "upload"] {
            pretend::fault(what, 1, 1, 999);
            assert!(host.to_device("cuda:0").is_err(), "{what}");
        }
        pretend::fault("download", 1, 1, 999);
        assert!(x.cpu().is_err());
        pretend::fault("download", 1, 9, 999);
        assert_eq!(x.to_string(), "tensor(..., device='cuda:0', size=(2, 2))");
        pretend::fault("download", 1, 0, 0);
        assert_eq!(x.to_string(), text);
        assert!(x.add(1).is_ok() && x.sum(None, false, None).is_ok());
        drop(x);
        assert_eq!(pretend::live(), 0);
    });
}

#[test]
fn figures() {
    on_pretend!("memory::figures", {
        use castiron::{device, memory};
        assert_eq!(device::cuda_device_count(), 2);
        let x: OnGpu<u8, 1> = up(vec![1; 5000]);
        let of = |device| memory::cuda_usage(device).unwrap();
        assert_eq!((of("cuda:0").used, of("cuda:1").used, of("cuda:1").held), (0, 5000, 8192));
        drop(x);
        assert_eq!(of("cuda:1").used, 0);
        // Freed memory is kept until it is asked back.
        device::synchronize("cuda:1").unwrap();
        assert_eq!(of("cuda:1").held, 8192);
        memory::empty_cuda_cache("cuda:1").unwrap();
        assert_eq!(of("cuda:1").held, 0);
        // What tensors may use, and what is kept.
        memory::set_cuda_limit("cuda:1", 6000).unwrap();
        let x: OnGpu<u8, 1> = up(vec![1; 5000]);
        match Tensor::<u8, shape![_], Cuda<1>>::try_zeros_sized([1001]) {
            Err(Error::CudaOutOfMemory { bytes: 1001, free: 1000, total: 6000, .. }) => {}
            other => panic!("{other:?}"),
        }
        assert_eq!(Tensor::<u8, shape![_], Cuda<1>>::zeros_sized([1000]).numel(), 1000);
        assert_eq!(of("cuda:1").used, 5000);
        memory::set_cuda_limit("cuda:1", usize::MAX).unwrap();
        memory::set_cuda_cache_limit("cuda:1", 0).unwrap();
        drop(x);
        device::synchronize("cuda:1").unwrap();
        assert_eq!((of("cuda:1").used, of("cuda:1").held), (0, 0));
        assert!(device::synchronize("cpu").is_err() && memory::cuda_usage("cuda:2").is_err());
        // `cuda` is the current device.
        let _second = device::scoped_current_device("cuda:1").unwrap();
        let y: OnGpu<u8, 1> = up(vec![1; 5]);
        assert_eq!((of("cuda").used, y.numel()), (5, 5));
    });
}
