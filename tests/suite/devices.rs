//! Devices in the type: CUDA type-checks everywhere, and is an error at run time if it is missing. (Layouts of results on every device:
//! `each_device/layouts.rs`.)

use castiron::{Cpu, Cuda, Device, Dyn, Error, F8E4M3FN, Float, Generator, Meta, Shape, Tensor, axis, shape, tensor};
use static_assertions::{assert_impl_all, assert_not_impl_any};

assert_impl_all!(Tensor<f32, shape![2, _]>: Send, Sync, Clone, std::panic::UnwindSafe);
assert_impl_all!(Tensor<bool, (), Cuda<3>>: Send, Sync);
assert_impl_all!(Tensor<F8E4M3FN, shape![_], Meta>: Send, Sync);
assert_impl_all!(Error: Send, Sync, std::error::Error);
assert_impl_all!(Generator: Send, Sync);
assert_not_impl_any!(Tensor<f32, ()>: Copy);

#[test]
fn meta_finds_mistakes_in_shapes_and_has_no_elements() {
    let x: Tensor<f32, shape![_, _], Meta> = Tensor::zeros_sized([1 << 20, 1 << 18]);
    let product = x.matmul(&x.t());
    assert_eq!(product.shape(), [1 << 20, 1 << 20]);
    assert!(
        matches!(x.try_matmul(&x), Err(Error::MatMul { columns, rows, .. }) if columns == 1 << 18 && rows == 1 << 20)
    );
    assert!(matches!(x.try_reshape::<shape![7]>(), Err(Error::Reshape { .. })));
    let error = x.to_device::<Cpu>().unwrap_err();
    assert_eq!(error.to_string(), "to_device: a meta tensor has a shape, a dtype and strides but no data");
}

/// CUDA code, as it will run where there is a GPU: all of it type-checks.
fn on_cuda<const N: usize>(
    x: Tensor<f32, shape![8, 4], Cuda<N>>,
    host_scale: Tensor<f64, ()>,
) -> castiron::Result<Tensor<f32, shape![8], Cuda<N>>> {
    // A zero-dim CPU tensor is moved automatically when combined with a CUDA tensor, on either side and in place.
    let mut scaled: Tensor<f32, shape![8, 4], Cuda<N>> = x.try_mul(&host_scale)?;
    let scaled_too: Tensor<f32, shape![8, 4], Cuda<N>> = host_scale.try_mul(&scaled)?;
    scaled.try_add_(&host_scale)?;
    let both = scaled.try_add(&scaled_too)?;
    both.try_mean_axis(axis![1])
}

#[test]
fn cuda_type_checks_and_says_where_it_is_absent() {
    let run: fn(Tensor<f32, shape![8, 4], Cuda<1>>, Tensor<f64, ()>) -> _ = on_cuda::<1>;
    let made = Tensor::<f32, shape![8, 4], Cuda<1>>::try_ones();
    match made {
        Ok(x) => assert_eq!(run(x, Tensor::scalar(2.0)).unwrap().shape(), [8]),
        Err(error) => {
            assert!(matches!(&error, Error::DeviceUnavailable { device, .. } if device == "cuda:1"), "{error:?}");
            assert!(error.to_string().starts_with("cuda:1 is not available: "), "{error}");
        }
    }
    let host = tensor![1, 2, 3];
    assert!(host.to_device::<Cuda<63>>().is_err());
    assert_eq!(host.to_vec(), [1, 2, 3]);
}

#[test]
fn a_zero_dim_cpu_tensor_may_stand_beside_a_meta_tensor() {
    let x: Tensor<f32, shape![3], Meta> = Tensor::zeros();
    let sum: Tensor<f32, shape![3], Meta> = &x + Tensor::<f64, ()>::scalar(1.0);
    assert_eq!(sum.shape(), [3]);
}

#[test]
fn devices_have_pytorchs_names() {
    assert_eq!([Cpu::name(), Cuda::<0>::name(), Cuda::<7>::name(), Meta::name()], ["cpu", "cuda:0", "cuda:7", "meta"]);
    assert_eq!(tensor![1].device_name(), "cpu");
}

#[test]
fn to_the_same_device_shares_storage() {
    let x = tensor![[1, 2], [3, 4]];
    let same: Tensor<i64, shape![2, 2]> = x.to_device().unwrap();
    assert!(same.shares_storage(&x));
}

#[test]
fn threads_share_tensors_and_copy_on_write() {
    let x: Tensor<i64, (Dyn,)> = (0..1000).collect();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let mut mine = x.clone();
            let x = &x;
            scope.spawn(move || {
                for _ in 0..50 {
                    mine += thread;
                    assert_eq!(x[999], 999);
                    mine = mine.clone() - thread;
                }
                assert!(&mine == x && !mine.shares_storage(x));
            });
        }
    });
    assert_eq!(x.sum().item(), 499_500);
}

/// A loss as a number, on every device.
fn total<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> castiron::Result<E> {
    x.sum().try_item()
}

#[test]
fn code_generic_over_devices_reads_the_element_of_a_tensor_of_one() {
    assert_eq!(total(&tensor![0.5, 1.5]).unwrap(), 2.0);
    assert_eq!(total(&Tensor::<f32, ()>::scalar(3.0)).unwrap(), 3.0);
    // an element in the middle of its storage, and one behind a stride of its own
    assert_eq!(tensor![[1, 2], [3, 4]].select(axis![0], 1).select(axis![0], 0).item(), 3);
    // a meta tensor has none, as in PyTorch
    let plan = Tensor::<f32, shape![2], Meta>::zeros();
    assert!(matches!(total(&plan), Err(Error::NoData { op: "item", .. })));
    assert!(std::panic::catch_unwind(|| Tensor::<f32, (), Meta>::zeros().item()).is_err());
}

#[test]
fn a_zero_dim_tensor_is_converted_into_its_element() {
    let total: f32 = tensor![1.0, 2.5].sum().into();
    let count: i64 = tensor![true, true].sum().into();
    let any: bool = tensor![0.0, f32::NAN].any().into();
    let z: castiron::Complex<f32> = tensor![1.0 + 2.0j].sum().into();
    assert_eq!((total, count, any, z), (3.5, 2, true, castiron::Complex::new(1.0, 2.0)));
}
