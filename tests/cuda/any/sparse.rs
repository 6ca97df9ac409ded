//! Sparse tensors with indices and values on a GPU: operations compute there, and give what the host gives.

use crate::{on_gpu, on_pretend};
use castiron::any::AnySparse;
use castiron::{AnyTensor, DType, ScalarValue, tensor};

/// Small integers of no pattern.
fn numbers(seed: u64, len: usize, below: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    (0..len).map(|_| next()).collect()
}

fn any(numbers: &[u64], sizes: &[usize], dtype: DType) -> AnyTensor {
    let scalars: Vec<ScalarValue> = numbers.iter().map(|&number| ScalarValue::Int(number.into())).collect();
    AnyTensor::from_scalars(&scalars, sizes, dtype).unwrap()
}

/// A sparse tensor with some places several times, made where `to` puts its parts.
fn scattered(seed: u64, sizes: &[usize], dense: usize, nnz: usize, dtype: DType, to: &To) -> AnySparse {
    let (sparse, blocks) = sizes.split_at(sizes.len() - dense);
    let rows: Vec<u64> =
        sparse.iter().zip(seed..).flat_map(|(&size, seed)| numbers(seed * 7919, nnz, size as u64)).collect();
    let shape = [&[nnz], blocks].concat();
    let values = any(&numbers(seed * 31 + 5, shape.iter().product(), 7), &shape, DType::I64).sub(3).unwrap();
    let values = values.to(dtype).unwrap();
    AnySparse::new(&to(&any(&rows, &[sparse.len(), nnz], DType::I64)), &to(&values), Some(sizes)).unwrap()
}

type To<'a> = dyn Fn(&AnyTensor) -> AnyTensor + 'a;

/// Runs what gives sparse and strided tensors on the host and on the GPU, and compares.
fn same(what: &str, of: impl Fn(&To) -> (Vec<AnySparse>, Vec<AnyTensor>)) {
    let (host, gpu) = (of(&AnyTensor::clone), of(&|x| x.to_device("cuda:0").unwrap()));
    assert_eq!((host.0.len(), host.1.len()), (gpu.0.len(), gpu.1.len()));
    for (at, (host, gpu)) in host.0.iter().zip(&gpu.0).enumerate() {
        assert_eq!(gpu.device().to_string(), "cuda:0", "{what}: sparse result {at}");
        assert_eq!(gpu.raw_indices().unwrap().device_name(), "cuda:0");
        assert_eq!(gpu.is_coalesced(), host.is_coalesced(), "{what}: sparse result {at}");
        assert_eq!(gpu.to_device("cpu").unwrap().to_string(), host.to_string(), "{what}: sparse result {at}");
    }
    for (at, (host, gpu)) in host.1.iter().zip(&gpu.1).enumerate() {
        assert_eq!(gpu.device_name(), "cuda:0", "{what}: strided result {at}");
        assert_eq!(gpu.cpu().unwrap().to_bytes().unwrap(), host.to_bytes().unwrap(), "{what}: strided result {at}");
        assert_eq!((gpu.shape(), gpu.dtype()), (host.shape(), host.dtype()), "{what}: strided result {at}");
    }
}

#[test]
fn sums_and_products_of_sparse_tensors_equal_the_hosts() {
    on_gpu!("any::sparse::sums_and_products_of_sparse_tensors_equal_the_hosts", {
        for (sizes, dense) in [(&[40][..], 0), (&[5, 1, 7], 0), (&[6, 3, 2], 2)] {
            for dtype in [DType::F32, DType::I8, DType::F16] {
                same(&format!("{sizes:?} {dtype}"), |to| {
                    let (a, b) = (scattered(3, sizes, dense, 19, dtype, to), scattered(9, sizes, dense, 30, dtype, to));
                    let (c, d) = (a.coalesce().unwrap(), b.coalesce().unwrap());
                    let none = AnySparse::new(
                        &to(&AnyTensor::zeros(&[sizes.len() - dense, 0], DType::I64).unwrap()),
                        &to(&AnyTensor::zeros(&[&[0], &sizes[sizes.len() - dense..]].concat(), dtype).unwrap()),
                        Some(sizes),
                    )
                    .unwrap();
                    let sparse = vec![
                        (&c + &d).unwrap(),
                        c.sub(&d).unwrap(),
                        (&c + &none).unwrap(),
                        (&c * &d).unwrap(),
                        (&a * &d).unwrap(),
                        (&c * &b).unwrap(),
                        (&a * &b).unwrap(),
                        (&a * &none).unwrap(),
                        c.to(DType::F64).unwrap().add(&d).unwrap(),
                        // Those that are not coalesced: their places stand in another order than on the host.
                        (&a + &b).unwrap().coalesce().unwrap(),
                        a.sub(&d).unwrap().coalesce().unwrap(),
                        none.coalesce().unwrap(),
                        none.add(&none).unwrap(),
                        c,
                        d,
                        a.clone(),
                        none,
                    ];
                    let whole = to(&AnyTensor::ones(sizes, dtype).unwrap());
                    let strided = vec![
                        a.to_dense().unwrap(),
                        a.add_dense(&whole).unwrap(),
                        a.raw_indices().unwrap(),
                        a.raw_values().unwrap(),
                        a.sum().unwrap(),
                    ];
                    (sparse, strided)
                });
            }
        }
    });
}

#[test]
fn coalesced_sums_are_formed_in_order() {
    on_gpu!("any::sparse::coalesced_sums_are_formed_in_order", {
        // In another order 1e8 + 1 - 1e8 is not 0; and -0.0 stays.
        same("order", |to| {
            let indices = to(&AnyTensor::from(tensor![[4, 2, 4, 0, 4, 2]]));
            let values = to(&AnyTensor::from(tensor![1e8_f32, -0.0, 1.0, -0.0, -1e8, -0.0]));
            let s = AnySparse::new(&indices, &values, None).unwrap();
            let truth = AnySparse::new(&indices, &values.to(DType::Bool).unwrap(), Some(&[9])).unwrap();
            (vec![s.coalesce().unwrap(), truth.coalesce().unwrap()], vec![s.coalesce().unwrap().values().unwrap()])
        });
    });
}

#[test]
fn sparse_matrices_are_multiplied_on_the_gpu() {
    on_gpu!("any::sparse::sparse_matrices_are_multiplied_on_the_gpu", {
        for dtype in [DType::F32, DType::BF16, DType::C64] {
            same(&dtype.to_string(), |to| {
                let (a, b) = (scattered(2, &[8, 11], 0, 30, dtype, to), scattered(5, &[11, 6], 0, 25, dtype, to));
                let empty = AnyTensor::zeros(&[11, 0], dtype).unwrap();
                let far = scattered(4, &[11, 4], 0, 1, dtype, to);
                let matrix = to(&any(&numbers(8, 55, 9), &[5, 11], DType::I64).to(dtype).unwrap());
                let sparse = vec![
                    a.matmul_sparse(&b).unwrap(),
                    a.coalesce().unwrap().matmul_sparse(&far).unwrap(),
                    a.t().unwrap(),
                    a.t().unwrap().coalesce().unwrap(),
                ];
                let strided = vec![
                    a.matmul(&matrix.t().unwrap()).unwrap(),
                    a.matmul(&matrix.select(0, 3).unwrap()).unwrap(),
                    a.matmul(&to(&empty)).unwrap(),
                ];
                (sparse, strided)
            });
        }
        same("integers", |to| {
            let a = scattered(2, &[8, 11], 0, 30, DType::I16, to);
            let matrix = to(&any(&numbers(8, 55, 900), &[11, 5], DType::I16));
            (vec![], vec![a.matmul(&matrix).unwrap()])
        });
        let there: &To = &|x| x.to_device("cuda:0").unwrap();
        let (a, host) = (scattered(2, &[8, 11], 0, 30, DType::F32, there), &AnyTensor::clone);
        let said = |x: &AnySparse, to: &To| {
            [
                x.matmul(&to(&AnyTensor::zeros(&[3, 2], DType::F32).unwrap())).unwrap_err().to_string(),
                x.matmul(&to(&AnyTensor::zeros(&[1, 11, 2], DType::F32).unwrap())).unwrap_err().to_string(),
                x.matmul_sparse(x).unwrap_err().to_string(),
            ]
        };
        assert_eq!(said(&a, there), said(&a.to_device("cpu").unwrap(), host));
    });
}

#[test]
fn strided_tensors_become_sparse_on_the_gpu() {
    on_gpu!("any::sparse::strided_tensors_become_sparse_on_the_gpu", {
        for dtype in [DType::F32, DType::Bool, DType::C64, DType::I64] {
            same(&dtype.to_string(), |to| {
                let x = to(&any(&numbers(6, 60, 3), &[5, 4, 3], DType::I64).to(dtype).unwrap());
                let none = to(&AnyTensor::zeros(&[3, 0], dtype).unwrap());
                let zeros = to(&AnyTensor::zeros(&[3, 2], dtype).unwrap());
                let one = to(&AnyTensor::ones(&[], dtype).unwrap());
                let sparse = vec![
                    x.to_sparse(0).unwrap(),
                    x.transpose(0, 2).unwrap().to_sparse(0).unwrap(),
                    x.to_sparse(1).unwrap(),
                    x.to_sparse(3).unwrap(),
                    none.to_sparse(0).unwrap(),
                    none.to_sparse(1).unwrap(),
                    zeros.to_sparse(0).unwrap(),
                    one.to_sparse(0).unwrap(),
                ];
                let strided = sparse.iter().map(|s| s.to_dense().unwrap()).collect();
                (sparse, strided)
            });
        }
    });
}

#[test]
fn axes_of_sparse_tensors_are_moved_on_the_gpu() {
    on_gpu!("any::sparse::axes_of_sparse_tensors_are_moved_on_the_gpu", {
        same("axes", |to| {
            let (a, b) =
                (scattered(3, &[4, 5, 6], 1, 17, DType::F32, to), scattered(4, &[4, 5, 6], 1, 9, DType::F32, to));
            let wide = to(&any(&numbers(8, 30, 9), &[5, 6], DType::F32));
            let column = to(&any(&numbers(8, 4, 9), &[4, 1, 1], DType::F32));
            let sparse = vec![
                a.permute(&[1, 0, 2]).unwrap(),
                a.unsqueeze(1).unwrap(),
                a.narrow(0, 1, 2).unwrap(),
                a.select(1, 3).unwrap(),
                a.sum_axis(0).unwrap(),
                a.sum_axis(1).unwrap(),
                a.sum_axis(2).unwrap(),
                a.mul_dense(&wide).unwrap(),
                a.mul_dense(&column).unwrap(),
                a.sin().unwrap().abs().unwrap(),
                AnySparse::cat(&[&a, &b], 0).unwrap(),
                AnySparse::cat(&[&a, &b], 2).unwrap(),
                AnySparse::stack(&[&a, &b], 1).unwrap(),
            ];
            (sparse, vec![])
        });
    });
}

#[test]
fn indices_out_of_range_are_named() {
    on_gpu!("any::sparse::indices_out_of_range_are_named", {
        let values = AnyTensor::from(tensor![1.0, 2.0, 3.0]);
        for (indices, sizes) in [
            (tensor![[0, 1, 2], [4, 0, 5]], Some(&[3, 5][..])),
            (tensor![[0, 1, 3], [4, 0, 4]], Some(&[3, 5])),
            (tensor![[0, -1, 2], [4, 0, 1]], Some(&[3, 5])),
            (tensor![[0, -1, 2], [4, 0, 1]], None),
            (tensor![[0, 1, 2], [4, i64::MAX, 1]], None),
            (tensor![[0, 1, 2], [4, 0, 1]], None),
        ] {
            let of = |to: &To| match AnySparse::new(&to(&AnyTensor::from(&indices)), &to(&values), sizes) {
                Ok(sparse) => sparse.to_device("cpu").unwrap().to_string(),
                Err(error) => error.to_string(),
            };
            assert_eq!(of(&AnyTensor::clone), of(&|x| x.to_device("cuda:0").unwrap()));
        }
    });
}

/// Lists as long as the tensor's elements do not go to the host.
#[test]
fn places_stay_on_the_gpu() {
    on_pretend!("any::sparse::places_stay_on_the_gpu", {
        let there: &To = &|x| x.to_device("cuda:0").unwrap();
        let a = scattered(3, &[100, 100], 0, 8_000, DType::F32, there);
        let dense = there(&AnyTensor::ones(&[100, 2], DType::F32).unwrap());
        let before = crate::pretend::count("bytes to the host");
        let sum = a.coalesce().unwrap();
        let _ = (&sum + &a.t().unwrap().coalesce().unwrap()).unwrap();
        let _ = (&sum * &sum).unwrap();
        let _ = a.matmul(&dense).unwrap();
        let _ = a.to_dense().unwrap().to_sparse(0).unwrap();
        let moved = crate::pretend::count("bytes to the host") - before;
        assert!(moved < 5_000, "{moved} bytes went to the host");
    });
}
