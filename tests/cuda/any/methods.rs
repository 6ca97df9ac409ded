//! Everything that calls by name do not reach: conversions to and from typed tensors, operators, mutable views, operands on two devices,
//! printing.

use crate::{on_gpu, on_pretend};
use castiron::any::{AnySparse, Value, cat, where_};
use castiron::{AnyDevice, AnyTensor, Cpu, Cuda, DType, Error, Generator, Meta, ScalarValue, Tensor, shape, tensor};

/// The same as text for a tensor of the host and one of the GPU.
fn same(of: impl Fn(&dyn Fn(AnyTensor) -> AnyTensor) -> Vec<AnyTensor>) {
    let host = of(&|x| x);
    let gpu = of(&|x| x.to_device("cuda:0").unwrap());
    assert_eq!(host.len(), gpu.len());
    for (at, (host, gpu)) in host.iter().zip(&gpu).enumerate() {
        assert_eq!(gpu.device(), AnyDevice::new("cuda:0").unwrap(), "result {at}");
        let here = gpu.cpu().unwrap();
        assert_eq!(
            (host.dtype(), host.shape(), host.to_bytes().unwrap()),
            (here.dtype(), here.shape(), here.to_bytes().unwrap()),
            "result {at}: {here} and on the host {host}"
        );
    }
}

#[test]
fn a_typed_tensor_becomes_one_and_back() {
    on_gpu!("any::methods::a_typed_tensor_becomes_one_and_back", {
        let typed = tensor![[1.0, 2.0], [3.0, 4.0]].to_device::<Cuda<0>>().unwrap();
        let any = AnyTensor::from(&typed);
        assert_eq!((any.device_name(), any.device().index()), ("cuda:0", Some(0)));
        let back: Tensor<f32, shape![2, _], Cuda<0>> = any.t().unwrap().typed().unwrap();
        assert_eq!(back.to_device::<Cpu>().unwrap().to_vec(), [1.0, 3.0, 2.0, 4.0]);
        let refused = any.typed::<f32, shape![2, 2], Cpu>().unwrap_err().to_string();
        assert!(
            refused.ends_with("on cpu, got one of float32, shape [2, 2], on cuda:0: the device differs"),
            "{refused}"
        );
        assert!(any.typed::<f32, shape![2, 2], Cuda<1>>().is_err());
        assert!(any.typed::<f32, shape![2, 2], Meta>().is_err());
        // Storage is shared, and copied before it is written.
        let mut other = any.clone();
        other.add_(1).unwrap();
        assert_eq!(typed.to_device::<Cpu>().unwrap().to_vec(), [1.0, 2.0, 3.0, 4.0]);
        assert!(any.shares_storage(&AnyTensor::from(&typed)) && !other.shares_storage(&any));
    });
}

#[test]
fn tensors_move_between_all_devices() {
    on_pretend!("any::methods::tensors_move_between_all_devices", {
        let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]).t().unwrap();
        let devices = ["cuda:0", "cuda:1", "cpu", "cuda:1", "cuda:0"];
        let moved = devices.iter().fold(x.clone(), |x, device| x.to_device(*device).unwrap());
        assert_eq!(moved.device_name(), "cuda:0");
        assert_eq!((moved.shape(), moved.stride()), (&[3, 2][..], &[1, 3][..]));
        assert_eq!(moved.to_scalars().unwrap(), x.to_scalars().unwrap());
        // Every other element; a copy of it has no gaps.
        let part = moved.slice(0, None, None, 2).unwrap();
        assert_eq!(part.cpu().unwrap().to_string(), "tensor([[1, 4],\n        [3, 6]])");
        assert_eq!(part.to_device("cuda:1").unwrap().to_string(), "tensor([[1, 4],\n        [3, 6]], device='cuda:1')");
        assert_eq!(part.to_device("meta").unwrap().device(), AnyDevice::META);
        let empty = AnyTensor::zeros(&[0, 3], DType::F16).unwrap().to_device("cuda").unwrap();
        assert_eq!(empty.cpu().unwrap().shape(), [0, 3]);
        assert!(matches!(x.to_device("cuda:2"), Err(Error::DeviceUnavailable { .. })));
        // Operations run where the operands are, whatever the ordinal.
        let second = x.to_device("cuda:1").unwrap();
        let sum = (&second + &second).unwrap().sum(Some(&[0]), false, None).unwrap();
        assert_eq!(sum.to_string(), "tensor([12, 30], device='cuda:1')");
        assert_eq!(second.matmul(&second.t().unwrap()).unwrap().device_name(), "cuda:1");
        assert_eq!(second.sort(0, true).unwrap().0.device_name(), "cuda:1");
        let refused = (&second + &moved).unwrap_err();
        assert_eq!(refused.to_string(), "add: operands are on different devices: cuda:1 and cuda:0");
        assert!(second.matmul(&x).is_err() && cat(&[second.clone(), moved], 0).is_err());
        assert!(second.gather(0, &AnyTensor::zeros(&[1, 2], DType::I64).unwrap()).is_err());
    });
}

/// PyTorch: a zero-dim tensor of the host goes with every device, but not the other way round.
#[test]
fn zero_dim_tensors_of_the_host_join() {
    on_gpu!("any::methods::zero_dim_tensors_of_the_host_join", {
        let x = AnyTensor::from(tensor![1.0, 2.0, 4.0]).to_device("cuda:0").unwrap();
        let one = |value: f64| AnyTensor::full(&[], value, DType::F64).unwrap();
        assert_eq!(x.add(one(0.5)).unwrap().to_string(), "tensor([1.5000, 2.5000, 4.5000], device='cuda:0')");
        assert_eq!(one(8.0).div(&x).unwrap().to_string(), "tensor([8., 4., 2.], device='cuda:0')");
        assert_eq!(x.lerp(&one(0.0), 0.5).unwrap_or_else(|_| x.clone()).device_name(), "cuda:0");
        let mut own = x.copy().unwrap();
        own.mul_(one(3.0)).unwrap();
        assert_eq!(own.to_string(), "tensor([ 3.,  6., 12.], device='cuda:0')");
        let there = one(8.0).to_device("cuda:0").unwrap();
        assert_eq!(one(1.0).add(&there).unwrap().device_name(), "cuda:0");
        let host = AnyTensor::from(tensor![1.0, 2.0]);
        assert!(matches!(host.add(&there), Err(Error::DevicesDiffer { .. })));
        let mut zero = one(1.0);
        assert!(zero.add_(&there).is_err() && zero.to_string() == "tensor(1., dtype=torch.float64)");
        assert!(host.add(&x).is_err());
        // Copies go between devices.
        own.copy_from(&host.select(0, 1).unwrap()).unwrap();
        assert_eq!(own.to_string(), "tensor([2., 2., 2.], device='cuda:0')");
        let mut line = AnyTensor::zeros(&[3], DType::F16).unwrap();
        line.copy_from(&x).unwrap();
        assert_eq!(line.to_string(), "tensor([1., 2., 4.], dtype=torch.float16)");
    });
}

#[test]
fn operands_of_several_dtypes_meet_in_one_kernel() {
    on_gpu!("any::methods::operands_of_several_dtypes_meet_in_one_kernel", {
        same(|to| {
            let of = |dtype| to(AnyTensor::arange_of(dtype));
            let (i, h, b, f, c) = (of(DType::I16), of(DType::F16), of(DType::BF16), of(DType::F32), of(DType::C32));
            let mut all = vec![
                (&i + &h).unwrap(),
                (&h * &b).unwrap(),
                (&i / &of(DType::U8).add(1).unwrap()).unwrap(),
                (&c * &i).unwrap(),
                (&c + &h).unwrap(),
                i.lt(&f).unwrap(),
                2.0.sub_from(&i),
                i.pow(2).unwrap(),
                h.add(0.1).unwrap(),
                where_(&i.gt(3).unwrap(), &f, &h).unwrap(),
            ];
            all.push(h.to(DType::F8E4M3FN).unwrap());
            all.push(h.t().unwrap().to(DType::F8E5M2).unwrap().to(DType::I32).unwrap());
            let mut own = i.copy().unwrap();
            own.add_(of(DType::U8)).unwrap().mul_(3).unwrap();
            all.push(own);
            let mut out = to(AnyTensor::zeros(&[2, 4], DType::F16).unwrap());
            i.add_into(&b, &mut out).unwrap();
            all.push(out);
            all
        });
    });
}

/// Small helpers for the lists above.
trait Making {
    fn arange_of(dtype: DType) -> AnyTensor;
}
impl Making for AnyTensor {
    fn arange_of(dtype: DType) -> AnyTensor {
        let numbers: Vec<ScalarValue> = (0..8).map(|at| ScalarValue::Int(at * 5 % 7)).collect();
        AnyTensor::from_scalars(&numbers, &[2, 4], dtype).unwrap()
    }
}
trait SubFrom {
    fn sub_from(self, x: &AnyTensor) -> AnyTensor;
}
impl SubFrom for f64 {
    fn sub_from(self, x: &AnyTensor) -> AnyTensor {
        (self - x).unwrap()
    }
}

#[test]
fn views_are_written_through() {
    on_gpu!("any::methods::views_are_written_through", {
        same(|to| {
            let mut x = to(AnyTensor::arange_of(DType::F32));
            let before = x.clone();
            x.select_mut(1, 2).unwrap().add_(10).unwrap();
            x.slice_mut(1, None, None, 2).unwrap().select_mut(0, 0).unwrap().fill_(0.5).unwrap();
            x.set(&[Value::from(1_i64)], 7).unwrap();
            let large = x.gt(6.5).unwrap();
            x.set(&[(&large).into()], -1).unwrap();
            let rows = x.index(&[vec![1_i64, 0, 1].into()]).unwrap();
            let swapped = x.t().unwrap().conj().unwrap();
            let complex = to(AnyTensor::arange_of(DType::C64)).conj().unwrap().neg().unwrap();
            vec![x, before, rows, swapped, complex]
        });
    });
}

#[test]
fn what_is_made_or_drawn_goes_to_the_device() {
    on_gpu!("any::methods::what_is_made_or_drawn_goes_to_the_device", {
        let x = AnyTensor::full(&[4], 0.5, DType::F32).unwrap().to_device("cuda:0").unwrap();
        // By the device itself, as typed tensors are.
        let seeded = || Generator::seeded(1);
        let typed = x.typed::<f32, shape![4], Cuda<0>>().unwrap();
        let drawn = x.bernoulli(&mut seeded()).unwrap();
        assert_eq!(drawn.to_string(), AnyTensor::from(&typed.bernoulli(&mut seeded())).to_string());
        let chosen = x.multinomial(2, false, &mut seeded()).unwrap();
        assert_eq!(chosen.to_string(), AnyTensor::from(&typed.multinomial(2, false, &mut seeded())).to_string());
        let _guard = castiron::device::scoped_default_device("cuda:0").unwrap();
        assert_eq!(
            AnyTensor::ones(&[2], DType::I16).unwrap().to_string(),
            "tensor([1, 1], device='cuda:0', dtype=torch.int16)"
        );
        let drawn = AnyTensor::rand(&[5], DType::F32, &mut seeded()).unwrap();
        let typed = Tensor::<f32, shape![5], Cuda<0>>::rand(&mut seeded());
        assert_eq!(drawn.to_string(), AnyTensor::from(&typed).to_string());
        let drawn = AnyTensor::randint(&[2, 3], -5, 5, DType::I64, &mut seeded()).unwrap();
        assert_eq!((drawn.device_name(), drawn.shape()), ("cuda:0", &[2, 3][..]));
    });
}

#[test]
fn sparse_tensors_keep_values_on_the_gpu() {
    on_gpu!("any::methods::sparse_tensors_keep_values_on_the_gpu", {
        let dense = AnyTensor::from(tensor![[0.0, 2.0, 0.0], [3.0, 0.0, 0.0], [0.0, -1.0, 4.0]]);
        let made = |to: &dyn Fn(&AnyTensor) -> AnyTensor| {
            let indices = to(&AnyTensor::from(tensor![[0, 2, 0], [1, 0, 1]]));
            let values = to(&AnyTensor::from(tensor![1.5, 2.0, -4.0]));
            AnySparse::new(&indices, &values, Some(&[3, 3])).unwrap()
        };
        let all = |to: &dyn Fn(&AnyTensor) -> AnyTensor| {
            let (dense, s) = (to(&dense), made(to));
            let t = dense.to_sparse(0).unwrap();
            let one = AnyTensor::full(&[], 2.0, DType::F32).unwrap();
            let sparse: Vec<AnySparse> = vec![
                s.clone(),
                s.coalesce().unwrap(),
                (&s.coalesce().unwrap() + &t).unwrap(),
                (&s * &t).unwrap(),
                s.coalesce().unwrap().sub(&t).unwrap(),
                (-&s).unwrap(),
                s.div(2).unwrap(),
                s.mul_dense(&dense).unwrap(),
                s.mul_dense(one).unwrap(),
                s.abs().unwrap(),
                s.t().unwrap(),
                s.transpose(0, 1).unwrap(),
                s.matmul_sparse(&t).unwrap(),
                s.to(DType::F64).unwrap(),
                s.select(0, 0).unwrap(),
                s.narrow(1, 0, 2).unwrap(),
                s.unsqueeze(1).unwrap(),
                s.sum_axis(0).unwrap(),
                AnySparse::cat(&[&s, &t], 1).unwrap(),
                AnySparse::stack(&[&s, &t], 0).unwrap(),
            ];
            let strided = vec![
                s.matmul(&dense).unwrap(),
                s.matmul(&dense.select(1, 0).unwrap()).unwrap(),
                s.add_dense(&dense).unwrap(),
                s.to_dense().unwrap(),
                t.to_dense().unwrap(),
                s.sum().unwrap(),
                s.raw_indices().unwrap(),
                s.raw_values().unwrap(),
            ];
            (sparse, strided)
        };
        let (host, gpu) = (all(&AnyTensor::clone), all(&|x| x.to_device("cuda:0").unwrap()));
        for (at, (host, gpu)) in host.0.iter().zip(&gpu.0).enumerate() {
            assert_eq!(gpu.device().to_string(), "cuda:0", "sparse result {at}");
            assert_eq!(gpu.to_device("cpu").unwrap().to_string(), host.to_string(), "sparse result {at}");
        }
        for (at, (host, gpu)) in host.1.iter().zip(&gpu.1).enumerate() {
            assert_eq!(gpu.device_name(), "cuda:0", "strided result {at}");
            assert_eq!(gpu.cpu().unwrap().to_string(), host.to_string(), "strided result {at}");
        }
        let s = made(&|x| x.to_device("cuda:0").unwrap());
        assert_eq!(
            s.coalesce().unwrap().to_string(),
            "tensor(indices=tensor([[0, 2],\n                       [1, 0]]),\n       \
             values=tensor([-2.5000,  2.0000]),\n       device='cuda:0', size=(3, 3), nnz=2, layout=torch.sparse_coo)"
        );
        let other = made(&AnyTensor::clone);
        assert!((&s + &other).is_err() && s.matmul_sparse(&other).is_err() && s.matmul(&dense).is_err());
        assert!(s.add_dense(&dense).is_err());
        assert!(s.typed::<f32, shape![3, 3], 0>().is_err());
    });
}
