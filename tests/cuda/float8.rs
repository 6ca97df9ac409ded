//! Floats of 8 bits are converted by kernels, to the same bits as on the host; floats of 4 bits are only moved.

use crate::on_gpu;
use castiron::dtype::CastTo;
use castiron::{
    AnyTensor, Complex, Cpu, Cuda, DType, Element, F4E2M1FNX2, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU,
    Tensor, bf16, f16, shape,
};

type Line<E, D> = Tensor<E, shape![_], D>;

/// A list converted on the host and on the GPU.
fn same<A: CastTo<B>, B: Element + std::fmt::Debug>(elements: &[A]) {
    let host = Line::<A, Cpu>::from_vec_sized(elements.to_vec(), [elements.len()]);
    let gpu = host.to_device::<Cuda<0>>().unwrap();
    let (expected, found) = (host.to::<B>(), gpu.to::<B>().to_device::<Cpu>().unwrap());
    let bytes = |x: &Line<B, Cpu>| AnyTensor::from(x).to_bytes().unwrap();
    let (expected_bytes, found_bytes) = (bytes(&expected), bytes(&found));
    // (Which of the NaN of 16 bits comes out is the machine's.)
    let any_nan = matches!(B::DTYPE, DType::F16 | DType::BF16 | DType::C32);
    let width = B::DTYPE.itemsize();
    for (at, element) in elements.iter().enumerate() {
        let part = at * width..(at + 1) * width;
        if expected_bytes[part.clone()] != found_bytes[part] {
            let values = [&expected, &found].map(|x| format!("{:?}", x.to_vec()[at]));
            assert!(
                any_nan && values[0] == values[1],
                "{} {element:?} to {}: {values:?}",
                A::DTYPE.name(),
                B::DTYPE.name()
            );
        }
    }
}

/// All bytes as elements of a dtype.
fn all<E: Copy>(from_bits: impl Fn(u8) -> E) -> Vec<E> {
    (0..=255).map(from_bits).collect()
}

macro_rules! of_each {
    ($F:ident, $run:block) => {
        of_each!(@ $F $run F8E4M3FN F8E4M3FNUZ F8E5M2 F8E5M2FNUZ F8E8M0FNU)
    };
    (@ $F:ident $run:block $($ty:ident)*) => {$({
        type $F = $ty;
        $run
    })*};
}

#[test]
fn every_code_is_converted_as_on_the_host() {
    on_gpu!("float8::every_code_is_converted_as_on_the_host", {
        of_each!(F, {
            let codes = all(F::from_bits);
            same::<F, bool>(&codes);
            same::<F, u8>(&codes);
            same::<F, i64>(&codes);
            same::<F, u64>(&codes);
            same::<F, f16>(&codes);
            same::<F, bf16>(&codes);
            same::<F, f32>(&codes);
            same::<F, Complex<f64>>(&codes);
            same::<F, F8E5M2>(&codes);
            same::<F, F8E4M3FNUZ>(&codes);
        });
    });
}

#[test]
fn every_number_of_16_bits_is_rounded_as_on_the_host() {
    on_gpu!("float8::every_number_of_16_bits_is_rounded_as_on_the_host", {
        let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        let brains: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
        // Between two floats of 16 bits, and right next to them.
        let singles: Vec<f32> = (0..=u16::MAX)
            .flat_map(|high| {
                [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff].map(|low| f32::from_bits(u32::from(high) << 16 | low))
            })
            .collect();
        let doubles: Vec<f64> = halves
            .iter()
            .flat_map(|&half| {
                let number = f64::from(half.to_f32());
                [number.next_down(), number, number.next_up(), number * 1.03125, number * 1e300]
            })
            .collect();
        let shorts: Vec<i16> = (i16::MIN..=i16::MAX).collect();
        let longs: Vec<u64> = (0..64).flat_map(|bit| [1 << bit, (1 << bit) + 1, (3 << bit) - 1]).collect();
        let complex: Vec<Complex<f32>> = singles.iter().step_by(97).map(|&re| Complex { re, im: 1.0 }).collect();
        of_each!(F, {
            same::<f16, F>(&halves);
            same::<bf16, F>(&brains);
            same::<f32, F>(&singles);
            same::<f64, F>(&doubles);
            same::<i16, F>(&shorts);
            same::<u64, F>(&longs);
            same::<Complex<f32>, F>(&complex);
            same::<bool, F>(&[false, true]);
        });
    });
}

#[test]
fn any_tensors_of_small_floats_stay_on_the_gpu() {
    on_gpu!("float8::any_tensors_of_small_floats_stay_on_the_gpu", {
        let x = AnyTensor::from(castiron::tensor![[0.3, -7.0, 500.0], [1e-9, f32::NAN, 2.0]]);
        let there = x.to_device("cuda:0").unwrap();
        for dtype in [DType::F8E4M3FN, DType::F8E4M3FNUZ, DType::F8E5M2, DType::F8E5M2FNUZ, DType::F8E8M0FNU] {
            let all = |x: &AnyTensor| {
                let small = x.t().unwrap().to(dtype).unwrap();
                let mut over = AnyTensor::zeros_on(&[3, 2], dtype, x.device()).unwrap();
                over.copy_from(&x.t().unwrap()).unwrap();
                let mut wide = AnyTensor::zeros_on(&[3, 2], DType::F16, x.device()).unwrap();
                wide.copy_from(&small).unwrap();
                let text = small.cpu().unwrap().to_string();
                (vec![small.to(DType::I32).unwrap(), small.flip(&[0]).unwrap(), small, over, wide], text)
            };
            let ((host, host_text), (gpu, gpu_text)) = (all(&x), all(&there));
            assert_eq!(host_text, gpu_text);
            for (host, gpu) in host.iter().zip(&gpu) {
                assert_eq!(gpu.device_name(), "cuda:0");
                assert_eq!(gpu.cpu().unwrap().to_string(), host.to_string(), "{dtype}");
            }
        }
        let pairs: Vec<F4E2M1FNX2> = all(F4E2M1FNX2::from_bits);
        same::<F4E2M1FNX2, F4E2M1FNX2>(&pairs);
        let packed =
            AnyTensor::from(Line::<F4E2M1FNX2, Cpu>::from_vec_sized(pairs, [256])).to_device("cuda:0").unwrap();
        assert!(packed.to(DType::F32).is_err());
    });
}
