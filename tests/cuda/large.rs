//! Tests that need a GPU's memory or speed: more than 2^31 elements, and every `f32` through the elementary functions. Ignored by default,
//! since the pretend GPU takes minutes for them: `CASTIRON_TEST_GPU=1 cargo test --release --features cuda,any --test cuda -- --ignored
//! large`.

use crate::on_gpu;
use crate::pretend::is_real;
use castiron::{Cpu, Cuda, Tensor, axis, s, shape, tensor};

type Line<E, D> = Tensor<E, shape![_], D>;

/// How many floats are between two, NaN being one value.
fn apart(a: f32, b: f32) -> u32 {
    if a.is_nan() || b.is_nan() {
        return if a.is_nan() == b.is_nan() { 0 } else { u32::MAX };
    }
    // In the order of the numbers, with one zero.
    let at = |x: f32| if x.is_sign_negative() { -i64::from(x.to_bits() & 0x7fff_ffff) } else { i64::from(x.to_bits()) };
    at(a).abs_diff(at(b)) as u32
}

/// The functions of a line, each with how far a GPU's may be from the host's: the sum of both errors.
macro_rules! functions {
    ($($name:ident $most:literal),*) => {
        [$((stringify!($name), $most, |x: &Line<f32, Cpu>| x.$name(), |x: &Line<f32, Cuda<0>>| x.$name())),*]
    };
}
type Function<D> = fn(&Line<f32, D>) -> Line<f32, D>;

#[test]
#[ignore = "all 2^32 floats; minutes where the GPU is pretended, of 2^16 of them"]
fn every_f32_through_the_elementary_functions() {
    on_gpu!("large::every_f32_through_the_elementary_functions", {
        const CHUNK: usize = 1 << 16;
        let functions: [(&str, u32, Function<Cpu>, Function<Cuda<0>>); 27] = functions![
            exp 3, exp2 3, expm1 3, log 3, log2 3, log10 4, log1p 3, sqrt 0, rsqrt 3, sin 3, cos 3, tan 6, asin 4, acos 4,
            atan 3, sinh 5, cosh 4, tanh 4, asinh 5, acosh 5, atanh 5, erf 4, erfc 6, sigmoid 4, softsign 0, reciprocal 0, square 0
        ];
        // On a real GPU all of them, a slice of consecutive bits at a time; else one slice of bits that are far apart.
        let (slices, len, step): (u32, usize, u64) =
            if is_real() { (256, 1 << 24, 1) } else { (1, CHUNK, (1_u64 << 32) / CHUNK as u64 + 3) };
        // `CASTIRON_SLICES=32` compares every eighth slice.
        let wanted = std::env::var("CASTIRON_SLICES").ok().and_then(|text| text.parse().ok()).unwrap_or(slices);
        let mut worst = [(0, 0.0_f32); 27];
        for slice in (0..slices).step_by(slices.div_ceil(wanted.max(1)) as usize) {
            let bits = |at: usize| (u64::from(slice) * len as u64 + at as u64 * step) as u32;
            let host: Line<f32, Cpu> =
                Tensor::from_vec_sized((0..len).map(|at| f32::from_bits(bits(at))).collect(), [len]);
            let gpu = host.to_device::<Cuda<0>>().unwrap();
            for ((_, _, on_host, on_gpu), worst) in functions.iter().zip(&mut worst) {
                let (ours, theirs) = (on_host(&host), on_gpu(&gpu).to_device::<Cpu>().unwrap());
                for ((&x, &a), &b) in
                    host.as_slice().unwrap().iter().zip(ours.as_slice().unwrap()).zip(theirs.as_slice().unwrap())
                {
                    if a.to_bits() == b.to_bits() {
                        continue;
                    }
                    let distance = apart(a, b);
                    if distance > worst.0 {
                        *worst = (distance, x);
                    }
                }
            }
        }
        for ((name, most, ..), (distance, x)) in functions.iter().zip(worst) {
            println!("{name}: {distance} floats apart at {x:e}");
            assert!(distance <= *most, "{name} of {x:e}: {distance} floats apart");
        }
    });
}

#[test]
#[ignore = "takes 8 GB of a GPU's memory; where it is pretended, of 2^15 elements"]
fn more_elements_than_32_bits_count() {
    on_gpu!("large::more_elements_than_32_bits_count", {
        let half = if is_real() { 15 } else { 7 };
        let len = (2 << (2 * half)) + 7;
        let mut x: Line<u8, Cuda<0>> = Tensor::zeros_sized([len]);
        // Contiguous, and through views behind 2^31.
        x += 1;
        x.narrow_mut(axis![0], len - 3, 3).assign(7_u8);
        let tail =
            |x: &Line<u8, Cuda<0>>| x.narrow(axis![0], len - 5, 5).contiguous().to_device::<Cpu>().unwrap().to_vec();
        assert_eq!(tail(&x), [1, 1, 7, 7, 7]);
        assert_eq!(x.sum().to_device::<Cpu>().unwrap().item(), len as i64 + 18);
        assert_eq!(x.argmax().to_device::<Cpu>().unwrap().item(), len as i64 - 3);
        // Every second element, from the end's: strided positions of 64 bits.
        let odd: Line<u8, Cuda<0>> = x.slice(s![..;2]).contiguous();
        assert_eq!(odd.sum().to_device::<Cpu>().unwrap().item(), len.div_ceil(2) as i64 + 12);
        drop(odd);
        // Columns of a matrix, in tiles.
        let matrix =
            x.narrow(axis![0], 7, 2 << (2 * half)).contiguous().reshape_sized::<shape![_, _]>([2 << half, 1 << half]);
        let turned = matrix.t().contiguous();
        let corner = |x: &Tensor<u8, shape![_, _], Cuda<0>>, at: [usize; 2]| {
            x.narrow(axis![0], at[0], 1).narrow(axis![1], at[1], 1).contiguous().to_device::<Cpu>().unwrap().to_vec()[0]
        };
        assert_eq!(corner(&turned, [(1 << half) - 1, (2 << half) - 1]), 7);
        assert_eq!(corner(&turned, [(1 << half) - 1, (2 << half) - 2]), 1);
        drop((matrix, turned));
        let index = tensor![0_i64, len as i64 - 1, len as i64 - 4].to_device::<Cuda<0>>().unwrap();
        assert_eq!(x.index_select(axis![0], &index).to_device::<Cpu>().unwrap().to_vec(), [1, 7, 1]);
        let last = x.flip(axis![0]).narrow(axis![0], 0, 4).contiguous();
        assert_eq!(last.to_device::<Cpu>().unwrap().to_vec(), [7, 7, 7, 1]);
    });
}
