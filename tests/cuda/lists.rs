//! Lists made on the GPU from counts, sizes, weights or slices: `repeat_interleave` by counts, triangle indices, `combinations`, `unique`
//! along an axis, `multinomial`. All but the last equal the host's.

use crate::{on_gpu, on_pretend};
use castiron::any::{Args, call};
use castiron::{
    AnyTensor, Complex, Cpu, Cuda, DType, Device, Element, Error, Float, Generator, ScalarValue, Shape, Tensor, axis,
    bf16, f16, shape, tensor,
};

type Line<E, D> = Tensor<E, shape![_], D>;
type Cube<E, D> = Tensor<E, shape![_, _, _], D>;
type Places<E, D> = Tensor<E, shape![2, _], D>;

fn host<E: Element, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> String {
    let host = x.to_device::<Cpu>().unwrap();
    format!("{:?} {}", host.shape().as_ref(), crate::listed(&host.to_vec()))
}

fn line<E: Element, D: Device>(elements: Vec<E>) -> Line<E, D> {
    let len = elements.len();
    Line::<E, Cpu>::from_vec_sized(elements, [len]).to_device::<D>().unwrap()
}

fn cube<E: Element, D: Device>(sizes: [usize; 3], number: impl Fn(usize) -> E) -> Cube<E, D> {
    let elements = (0..sizes.iter().product()).map(|at| number((at * 7 + at / 5) % 11)).collect();
    Cube::<E, Cpu>::from_vec_sized(elements, sizes).to_device::<D>().unwrap()
}

/// Evaluates an expression with `D` as the host and as the GPU, and compares the lists of strings.
macro_rules! same {
    ($D:ident: $run:block) => {
        let on_host: Vec<String> = {
            type $D = Cpu;
            $run
        };
        let on_gpu: Vec<String> = {
            type $D = Cuda<0>;
            $run
        };
        assert_eq!(on_host.len(), on_gpu.len());
        for (at, (host, gpu)) in on_host.iter().zip(&on_gpu).enumerate() {
            assert_eq!(host, gpu, "result {at}");
        }
    };
}

#[test]
fn positions_come_as_often_as_counts_say() {
    on_gpu!("lists::positions_come_as_often_as_counts_say", {
        same!(D: {
            let x: Cube<f32, D> = cube([3, 4, 5], |at| at as f32);
            let complex: Cube<Complex<f64>, D> = cube([3, 4, 5], |at| Complex { re: at as f64, im: 1.0 });
            let (three, four, five) = (line(vec![2, 0, 7]), line(vec![0, 0, 0, 0]), line(vec![1, 300, 0, 0, 4]));
            let long: Line<i64, D> = line((0..5000).map(|at| at * at % 7).collect());
            let none: Cube<f32, D> = cube([3, 0, 5], |at| at as f32);
            let sums = |x: Line<i64, D>| host(&x.cumsum(axis![0]));
            vec![
                host(&x.repeat_interleave_by(axis![0], &three)),
                host(&x.repeat_interleave_by(axis![1], &four)),
                host(&x.repeat_interleave_by(axis![2], &five)),
                host(&complex.repeat_interleave_by(axis![0], &three)),
                host(&none.repeat_interleave_by(axis![2], &five)),
                host(&none.repeat_interleave_by(axis![1], &line(vec![]))),
                sums(long.repeat_interleave_by(axis![0], &long)),
                host(&line::<bool, D>(vec![true, false]).repeat_interleave_by(axis![0], &line(vec![3, 2]))),
            ]
        });
    });
}

#[test]
fn wrong_counts_are_the_errors_of_the_host() {
    on_gpu!("lists::wrong_counts_are_the_errors_of_the_host", {
        same!(D: {
            let x: Line<u8, D> = line(vec![1, 2, 3]);
            let said = |counts: Vec<i64>| {
                format!("{:?}", x.try_repeat_interleave_by(axis![0], &line(counts)).map(|x| x.numel()))
            };
            vec![said(vec![1, -2, -1]), said(vec![1, 2]), said(vec![i64::MIN, 0, 0]), said(vec![0, 0, 0])]
        });
        let x: Line<u8, Cuda<0>> = line(vec![1, 2, 3]);
        for counts in [vec![i64::MAX, i64::MAX, 5], vec![i64::MAX, 1, 0], vec![i64::MAX, i64::MAX, i64::MAX]] {
            let refused = x.try_repeat_interleave_by(axis![0], &line(counts)).unwrap_err();
            assert!(
                matches!(refused, Error::TooLarge { .. } | Error::CudaOutOfMemory { .. } | Error::OutOfMemory { .. }),
                "{refused}"
            );
        }
    });
}

#[test]
fn places_of_triangles_are_those_of_the_host() {
    on_gpu!("lists::places_of_triangles_are_those_of_the_host", {
        same!(D: {
            let mut all = Vec::new();
            for (rows, columns) in [(1, 1), (5, 5), (3, 8), (8, 3), (0, 4), (4, 0), (300, 200)] {
                for offset in [-300, -4, -1, 0, 1, 3, 7, 250] {
                    all.push(host(&Places::<i64, D>::tril_indices(rows, columns, offset)));
                    all.push(host(&Places::<i32, D>::triu_indices(rows, columns, offset)));
                }
            }
            all.push(format!("{:?}", Places::<i32, D>::try_tril_indices(1 << 40, 0, 0).map(|_| ())));
            all.push(format!("{:?}", Places::<i64, D>::try_triu_indices(1 << 40, 1 << 40, 0).map(|_| ())));
            all
        });
        for name in ["tril_indices", "triu_indices"] {
            let of = |device: &str| {
                let arguments = Args::new().arg(5_i64).arg(7_i64).arg(-1_i64).named("device", device);
                call(name, &arguments).unwrap().tensor().unwrap()
            };
            assert_eq!(of("cuda:0").device_name(), "cuda:0");
            assert_eq!(of("cuda:0").cpu().unwrap().to_string(), of("cpu").to_string());
        }
    });
}

#[test]
fn combinations_are_those_of_the_host() {
    on_gpu!("lists::combinations_are_those_of_the_host", {
        let x = AnyTensor::from(tensor![7.0, 1.0, -3.0, 4.0, 0.5, 2.0]);
        let there = x.to_device("cuda:0").unwrap();
        for r in 0..8 {
            for with_replacement in [false, true] {
                let [host, gpu] = [&x, &there].map(|x| x.combinations(r, with_replacement).unwrap());
                assert_eq!(gpu.device_name(), "cuda:0");
                assert_eq!(gpu.shape(), host.shape());
                assert_eq!(gpu.cpu().unwrap().to_bytes().unwrap(), host.to_bytes().unwrap(), "{r} {with_replacement}");
            }
        }
        let one = AnyTensor::from(tensor![7]).to_device("cuda:0").unwrap();
        assert_eq!(one.combinations(3, true).unwrap().to_string(), "tensor([[7, 7, 7]], device='cuda:0')");
    });
}

#[test]
fn distinct_slices_are_those_of_the_host() {
    on_gpu!("lists::distinct_slices_are_those_of_the_host", {
        macro_rules! of {
            ($E:ty, $number:expr) => {
                same!(D: {
                    let mut all = Vec::new();
                    let mut push = |(values, inverse, counts): (String, String, String)| {
                        all.extend([values, inverse, counts]);
                    };
                    macro_rules! along {
                        ($x:expr, $axis:tt) => {{
                            let (values, inverse, counts) = $x.unique_axis(axis![$axis]);
                            push((host(&values), host(&inverse), host(&counts)));
                        }};
                    }
                    let x: Cube<$E, D> = cube([3, 40, 2], $number);
                    let few: Cube<$E, D> = cube([50, 1, 1], $number);
                    let odd: Cube<$E, D> = cube([7, 3, 5], |at| $number(at % 2));
                    along!(x, 0);
                    along!(x, 1);
                    along!(x, 2);
                    along!(few, 0);
                    along!(few, 1);
                    along!(odd, 0);
                    along!(odd, 1);
                    along!(odd.repeat::<shape![2, 3, 1]>(), 1);
                    along!(odd.repeat::<shape![2, 3, 1]>(), 0);
                    along!(cube::<$E, D>([0, 2, 2], $number), 0);
                    all
                });
            };
        }
        of!(i16, |at: usize| at as i16 % 3 - 1);
        of!(bool, |at: usize| at.is_multiple_of(3));
        of!(bf16, |at: usize| bf16::from_f32([1.0, -0.0, 0.0, f32::INFINITY, -2.0][at % 5]));
        // No NaN equals another, but one stands behind all numbers like the other.
        of!(f32, |at: usize| [f32::NAN, 0.0, -0.0, 2.0][at % 4]);
        of!(f64, |at: usize| if at == 3 { f64::NAN } else { (at % 2) as f64 });
        same!(D: {
            let rows: Tensor<f32, shape![6, 2], Cpu> = tensor![[1.0, f32::NAN], [2.0, 1.0], [1.0, f32::NAN], [2.0, 1.0], [1.0, 0.0], [f32::NAN, -1.0]];
            let (values, inverse, counts) = rows.to_device::<D>().unwrap().unique_axis(axis![0]);
            let single: Tensor<f32, shape![1, 3], Cpu> = tensor![[3.0, 1.0, 2.0]];
            let (alone, _, _) = single.to_device::<D>().unwrap().unique_axis(axis![0]);
            let (zero, place, count) = Tensor::<f32, shape![], D>::full(4.0).unique_axis(axis![0]);
            vec![host(&values), host(&inverse), host(&counts), host(&alone), host(&zero), host(&place), host(&count)]
        });
    });
}

/// How often each position is drawn from rows of weights, and whether those of a row are different.
fn drawn<E: Float>(weights: &[f64], rows: usize, samples: usize, replacement: bool) -> (Vec<usize>, bool) {
    let generator = &mut Generator::seeded(11);
    let all: Vec<E> = (0..rows).flat_map(|_| weights.iter().map(|&weight| E::from_f64(weight))).collect();
    let len = weights.len();
    let there = Tensor::<E, shape![_, _]>::from_vec_sized(all, [rows, len]).to_device::<Cuda<0>>().unwrap();
    let positions = there.multinomial(samples, replacement, generator).to_device::<Cpu>().unwrap().to_vec();
    let (mut counts, mut differ) = (vec![0; len], true);
    for row in positions.chunks(samples) {
        row.iter().for_each(|&at| counts[at as usize] += 1);
        differ &= (1..row.len()).all(|at| !row[..at].contains(&row[at]));
    }
    assert_eq!(positions.len(), rows * samples);
    (counts, differ)
}

#[test]
fn positions_are_drawn_in_proportion_to_their_weights() {
    on_gpu!("lists::positions_are_drawn_in_proportion_to_their_weights", {
        let weights = [0.0, 3.0, 1.0, 0.0, 4.0, 0.0];
        for (counts, _) in [drawn::<f32>(&weights, 1, 8000, true), drawn::<f64>(&weights, 40, 200, true)] {
            assert_eq!((counts[0], counts[3], counts[5]), (0, 0, 0));
            for (at, expected) in [(1, 3000), (2, 1000), (4, 4000)] {
                assert!(counts[at].abs_diff(expected) < 200, "{counts:?}");
            }
        }
        let (counts, differ) = drawn::<f16>(&weights, 4000, 1, false);
        assert!(differ && counts[0] + counts[3] + counts[5] == 0 && counts[1].abs_diff(1500) < 150, "{counts:?}");
        // The second one is drawn from those that are left: 1 after 4 with 3/4, after 2 with 3/7.
        let (counts, differ) = drawn::<bf16>(&weights, 4000, 2, false);
        let expected = 4000.0 * (3.0 / 8.0 + 4.0 / 8.0 * 3.0 / 4.0 + 1.0 / 8.0 * 3.0 / 7.0);
        assert!(differ && (counts[1] as f64 - expected).abs() < 150.0, "{counts:?} {expected}");
        let (counts, _) = drawn::<f32>(&[1.0, 1.0, 9.0, 1.0], 4000, 1, false);
        assert!(counts[2].abs_diff(3000) < 120, "{counts:?}");
        // All of them: those without a weight come last.
        let x = line::<f32, Cuda<0>>(weights.iter().map(|&x| x as f32).collect());
        let all = x.multinomial(6, false, &mut Generator::seeded(3)).to_device::<Cpu>().unwrap().to_vec();
        assert_eq!(all[3..], [0, 3, 5]);
        // Weights whose sum is beyond all numbers, or none of them.
        let (counts, _) = drawn::<f64>(&[1e308, 0.0, 1e308], 1, 1000, true);
        assert!(counts[1] == 0 && counts[0].abs_diff(500) < 100);
        let (counts, _) = drawn::<f64>(&[0.0, 5e-324, 5e-324], 1, 1000, true);
        assert!(counts[0] == 0 && counts[1].abs_diff(500) < 100);
        // One seed, one draw.
        let draw = |seed| host(&x.multinomial(9, true, &mut Generator::seeded(seed)));
        assert!(draw(1) == draw(1) && draw(1) != draw(2));
    });
}

#[test]
fn wrong_weights_are_the_errors_of_the_host() {
    on_gpu!("lists::wrong_weights_are_the_errors_of_the_host", {
        same!(D: {
            let said = |weights: Vec<f32>, samples, replacement| {
                let x: Line<f32, D> = line(weights);
                x.try_multinomial(samples, replacement, &mut Generator::seeded(0)).map(|_| ()).unwrap_err().to_string()
            };
            let mut all = Vec::new();
            for replacement in [false, true] {
                all.push(said(vec![0.5, -1.0, f32::NAN], 1, replacement));
                all.push(said(vec![0.5, f32::NAN, -1.0], 1, replacement));
                all.push(said(vec![0.5, f32::INFINITY], 1, replacement));
                all.push(said(vec![0.0, 0.0], 1, replacement));
                all.push(said(vec![1.0, 0.0], 0, replacement));
            }
            all.push(said(vec![1.0, 1.0], 3, false));
            all.push(said(vec![], 1, true));
            all
        });
        let rows = AnyTensor::from(tensor![[1.0, 0.0], [0.0, 0.0]]).to_device("cuda:0").unwrap();
        let refused = rows.multinomial(1, true, &mut Generator::seeded(0)).unwrap_err().to_string();
        assert!(refused.contains("add up to zero"), "{refused}");
        assert!(rows.reshape(&[1, 2, 2]).unwrap().multinomial(1, true, &mut Generator::seeded(0)).is_err());
        let none = Tensor::<f32, shape![0, 3]>::from_vec_sized(vec![], [0, 3]).to_device::<Cuda<0>>().unwrap();
        assert_eq!(none.multinomial(2, true, &mut Generator::seeded(0)).shape(), [0, 2]);
    });
}

/// What goes to the host is a few numbers, however long the lists are.
#[test]
fn lists_stay_on_the_gpu() {
    on_pretend!("lists::lists_stay_on_the_gpu", {
        let numbers: Vec<ScalarValue> = (0..20_000).map(|at| ScalarValue::Int(at * 31 % 5)).collect();
        let counts = AnyTensor::from_scalars(&numbers, &[20_000], DType::I64).unwrap().to_device("cuda:0").unwrap();
        let weights = counts.to(DType::F32).unwrap();
        let before = crate::pretend::count("bytes to the host");
        counts.repeat_interleave_by(&counts, None).unwrap();
        counts.reshape(&[200, 100]).unwrap().unique_axis(0).unwrap();
        counts.narrow(0, 0, 60).unwrap().combinations(2, false).unwrap();
        weights.multinomial(500, true, &mut Generator::seeded(0)).unwrap();
        weights.multinomial(500, false, &mut Generator::seeded(0)).unwrap();
        let moved = crate::pretend::count("bytes to the host") - before;
        assert!(moved < 2_000, "{moved} bytes went to the host");
    });
}
