//! `AnySparse` compared with the typed sparse tensors.

use castiron::any::{AnySparse, cat, stack};
use castiron::{AnyTensor, Cpu, DType, Error, SparseTensor, Tensor, shape, tensor};

fn s() -> AnySparse {
    let s: SparseTensor<f32, shape![2, 3]> =
        Tensor::sparse_coo(&tensor![[1, 0, 1, 1], [2, 1, 2, 0]], &tensor![1.0, 2.0, 3.0, 4.0]);
    s.into()
}

#[test]
fn there_and_back() {
    let typed: SparseTensor<f32, shape![2, 3]> = s().typed().unwrap();
    assert_eq!(typed.raw_indices(), tensor![[1, 0, 1, 1], [2, 1, 2, 0]].with_shape::<shape![_, _]>());
    assert_eq!(typed.to_dense(), tensor![[0.0, 2.0, 0.0], [4.0, 0.0, 4.0]]);
    assert!(s().typed::<f32, shape![2, 4], 0>().is_err() && s().typed::<f32, shape![2, 3], 1>().is_err());
    assert!(s().typed::<f64, shape![2, 3], 0>().is_err() && s().typed::<f32, shape![6], 0>().is_err());
    let hybrid = AnyTensor::from(tensor![[1.0, 2.0], [0.0, 0.0]]).to_sparse(1).unwrap();
    assert_eq!((hybrid.sparse_dim(), hybrid.dense_dim(), hybrid.nnz()), (1, 1, 1));
    assert_eq!(hybrid.to_string(), tensor![[1.0, 2.0], [0.0, 0.0]].to_sparse_hybrid::<1>().to_string());
    assert_eq!(s().to_string(), typed.to_string());
    assert!(AnyTensor::from(tensor![1.0]).to_sparse(2).is_err());
    assert!(AnyTensor::from(tensor![1.0]).to_device("meta").unwrap().to_sparse(0).is_err());
}

#[test]
fn made_of_indices_and_values() {
    let indices = AnyTensor::from(tensor![[1, 0, 1, 1], [2, 1, 2, 0]; i32]);
    let values = AnyTensor::from(tensor![1.0, 2.0, 3.0, 4.0]);
    for sizes in [Some(&[2, 3][..]), None] {
        let made = AnySparse::new(&indices, &values, sizes).unwrap();
        assert_eq!((made.to_string(), made.is_coalesced()), (s().to_string(), false));
    }
    let blocks = AnyTensor::from(tensor![[1.0, 2.0], [3.0, 4.0]]);
    let hybrid = AnySparse::new(&AnyTensor::from(tensor![[2, 0]]), &blocks, None).unwrap();
    assert_eq!((hybrid.shape(), hybrid.dense_dim()), (&[3, 2][..], 1));
    assert_eq!(hybrid.to_dense().unwrap().to_string(), "tensor([[3., 4.],\n        [0., 0.],\n        [1., 2.]])");
    let transposed = AnySparse::new(&AnyTensor::from(tensor![[2, 0]]), &blocks.t().unwrap(), None).unwrap();
    assert_eq!(transposed.raw_values().unwrap().to_string(), "tensor([[1., 3.],\n        [2., 4.]])");
    let none = AnyTensor::from(Tensor::<f32, shape![0]>::zeros());
    let empty = AnySparse::new(&AnyTensor::from(Tensor::<i64, shape![2, 0]>::zeros()), &none, None).unwrap();
    assert_eq!((empty.shape(), empty.nnz(), empty.is_coalesced()), (&[0, 0][..], 0, true));
    let refused = |indices: AnyTensor, values: &AnyTensor, sizes| AnySparse::new(&indices, values, sizes).unwrap_err();
    let one = AnyTensor::from(tensor![7.0]);
    assert!(matches!(refused(tensor![[2]].into(), &one, Some(&[2])), Error::IndexValue { index: 2, size: 2, .. }));
    assert!(matches!(refused(tensor![[-1]].into(), &one, Some(&[2])), Error::IndexValue { index: -1, .. }));
    let huge = Some(&[usize::MAX, 2][..]);
    assert!(matches!(refused(tensor![[0], [0]].into(), &one, huge), Error::TooLarge { .. }));
    for (indices, values, sizes) in [
        (tensor![[-1]].into(), &one, None),
        (tensor![[i64::MAX]].into(), &one, None),
        (AnyTensor::from(tensor![0]), &one, None),
        (tensor![[0]].into(), &AnyTensor::from(tensor![7.0]).select(0, 0).unwrap(), None),
        (tensor![[0, 0]].into(), &one, None),
        (tensor![[0]].into(), &blocks.narrow(0, 0, 1).unwrap(), Some(&[2][..])),
        (tensor![[0]].into(), &blocks.narrow(0, 0, 1).unwrap(), Some(&[][..])),
        (tensor![[0]].into(), &blocks.narrow(0, 0, 1).unwrap(), Some(&[2, 3][..])),
        (AnyTensor::from(Tensor::<i64, shape![9, 1]>::zeros()), &one, None),
    ] {
        refused(indices, values, sizes);
    }
}

#[test]
fn the_same_results() {
    let typed: SparseTensor<f32, shape![2, 3]> = s().typed().unwrap();
    let sums = s().coalesce().unwrap();
    assert!(sums.is_coalesced() && s().indices().is_err() && s().values().is_err());
    assert_eq!(sums.indices().unwrap().to_string(), typed.coalesce().indices().to_string());
    let integers = s().to(DType::I64).unwrap();
    let dense = AnyTensor::from(tensor![[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]);
    let strided: Tensor<f32, shape![2, 3]> = dense.typed::<_, _, Cpu>().unwrap();
    let both = |any: castiron::Result<AnySparse>, typed: SparseTensor<f32, shape![2, 3]>| {
        assert_eq!(any.unwrap().to_string(), typed.to_string());
    };
    both(&s() + &integers, &typed + &typed.to::<i64>());
    both(&s() - &integers, &typed - &typed.to::<i64>());
    both(&s() * &integers, &typed * &typed.to::<i64>());
    both(s().mul_dense(&dense), &typed * &strided);
    both(&s() * &dense, &typed * &strided);
    both(&s() * 2, &typed * 2);
    both(&s() / 2, &typed / 2);
    assert_eq!((&s() + &dense).unwrap().to_string(), (&typed + &strided).to_string());
    both(s().mul_dense(tensor![1.0, 2.0, 3.0]), &typed * tensor![1.0, 2.0, 3.0]);
    both(integers.mul_dense(2.5), &typed * 2.5);
    both(integers.div(2), &typed / 2);
    both(s().sqrt(), typed.sqrt());
    both(-&s(), -&typed);
    assert_eq!(s().add_dense(&dense).unwrap().to_string(), (&typed + &strided).to_string());
    assert_eq!(s().sum().unwrap().to_string(), "tensor(10.)");
    let transposed = AnyTensor::from(strided.t::<shape![3, 2]>());
    assert_eq!(s().matmul(&transposed).unwrap().to_string(), typed.matmul(strided.t::<shape![3, 2]>()).to_string());
    assert_eq!(
        s().matmul_sparse(&s().t().unwrap()).unwrap().to_dense().unwrap().to_string(),
        typed.matmul(typed.t()).to_dense().to_string()
    );
    let number = AnyTensor::from(Tensor::<u8, shape![]>::full(3)).to_sparse(0).unwrap();
    let wide = number.mul_dense(Tensor::<i64, shape![]>::full(2)).unwrap();
    assert_eq!((wide.dtype(), wide.to_dense().unwrap().to_string()), (DType::I64, "tensor(6)".to_owned()));
}

#[test]
fn what_does_not_compile_is_an_error() {
    let other = AnyTensor::from(tensor![[1.0, 0.0]]).to_sparse(0).unwrap();
    assert!((&s() + &other).is_err() && (&s() * &other).is_err());
    assert!(s().add_dense(&AnyTensor::from(tensor![1.0, 2.0, 3.0])).is_err());
    assert!(matches!(s().mul_dense(tensor![1.0, 2.0]), Err(Error::Output { op: "mul", .. })));
    assert!(s().div(tensor![1.0, 2.0, 3.0]).is_err());
    let masks = s().to(DType::Bool).unwrap();
    assert!(matches!(&masks + &masks, Err(Error::NotAdmitted { dtype: DType::Bool, .. })));
    assert!((&masks - &s()).is_err() && (&masks + &s()).is_ok());
    let shell = s().to(DType::U16).unwrap();
    assert!((&shell + &shell).is_err() && shell.coalesce().is_err() && shell.to_dense().is_err());
    assert!(s().matmul(&AnyTensor::from(tensor![1, 2, 3])).is_err());
    assert!(s().matmul(&AnyTensor::from(tensor![1.0, 2.0])).is_err());
    let integers = s().to(DType::I64).unwrap();
    assert!(integers.matmul_sparse(&integers.t().unwrap()).is_err());
    let hybrid = AnyTensor::from(tensor![[1.0, 2.0], [0.0, 0.0]]).to_sparse(1).unwrap();
    assert!(hybrid.t().is_err() && hybrid.matmul(&AnyTensor::from(tensor![1.0, 2.0])).is_err());
}

/// A hybrid tensor: two sparse axes and one dense one, with a place named twice.
fn hybrid() -> AnySparse {
    let indices = AnyTensor::from(tensor![[0, 2, 0, 1], [3, 1, 3, 0]]);
    let values = AnyTensor::from(tensor![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]);
    AnySparse::new(&indices, &values, Some(&[3, 4, 2])).unwrap()
}

#[track_caller]
fn assert_dense(sparse: castiron::Result<AnySparse>, dense: castiron::Result<AnyTensor>) {
    let (sparse, dense) = (sparse.unwrap(), dense.unwrap());
    assert_eq!(sparse.to_dense().unwrap().to_string(), dense.to_string());
    assert_eq!(sparse.to_dense().unwrap().dtype(), dense.dtype());
    // What claims to be coalesced is sorted, with no place twice.
    if sparse.is_coalesced() {
        assert_eq!(
            sparse.coalesce().unwrap().raw_indices().unwrap().to_string(),
            sparse.raw_indices().unwrap().to_string()
        );
        assert_eq!(sparse.coalesce().unwrap().nnz(), sparse.nnz());
    }
}

#[test]
fn moves_of_a_sparse_tensor_are_those_of_its_strided_twin() {
    for s in [hybrid(), hybrid().coalesce().unwrap()] {
        let d = s.to_dense().unwrap();
        assert_dense(s.permute(&[1, 0, 2]), d.permute(&[1, 0, 2]));
        assert_dense(s.permute(&[0, 1, 2]), d.permute(&[0, 1, 2]));
        assert_dense(s.transpose(0, 1), d.transpose(0, 1));
        for dim in -4..4 {
            assert_dense(s.unsqueeze(dim), d.unsqueeze(dim));
        }
        for dim in -3..3 {
            let size = d.shape()[(dim + 3) as usize % 3];
            for start in 0..=size {
                for length in 0..=size - start {
                    assert_dense(s.narrow(dim, start as i64, length), d.narrow(dim, start as i64, length));
                }
                if start < size {
                    assert_dense(s.select(dim, start as i64), d.select(dim, start as i64));
                    assert_dense(s.select(dim, start as i64 - size as i64), d.select(dim, start as i64));
                }
            }
            assert_dense(s.sum_axis(dim), d.sum(Some(&[dim]), false, None));
        }
        assert_eq!(s.unsqueeze(2).unwrap().sparse_dim(), 3);
        assert_eq!(s.unsqueeze(3).unwrap().dense_dim(), 2);
        assert!(s.permute(&[2, 0, 1]).is_err());
        assert!(s.permute(&[0, 0, 1]).is_err());
        assert!(s.transpose(0, 2).is_err());
        assert!(s.narrow(0, 2, 2).is_err());
        assert!(s.select(0, 3).is_err());
        assert!(s.select(3, 0).is_err());
        assert!(s.unsqueeze(4).is_err());
    }
}

#[test]
fn sparse_tensors_are_joined_as_their_strided_twins_are() {
    let (s, t) = (hybrid(), hybrid().to(DType::F64).unwrap());
    let (d, e) = (s.to_dense().unwrap(), t.to_dense().unwrap());
    for dim in -3..3 {
        assert_dense(AnySparse::cat(&[&s, &t, &s], dim), cat(&[d.clone(), e.clone(), d.clone()], dim));
    }
    for dim in [0, 1, 2, -4] {
        assert_dense(AnySparse::stack(&[&s, &t], dim), stack(&[d.clone(), e.clone()], dim));
    }
    let part = s.narrow(1, 0, 2).unwrap();
    assert_dense(AnySparse::cat(&[&s, &part], 1), cat(&[d.clone(), d.narrow(1, 0, 2).unwrap()], 1));
    assert!(AnySparse::cat(&[&s, &part], 0).is_err());
    assert!(AnySparse::cat(&[], 0).is_err());
    assert!(AnySparse::cat(&[&s, &d.to_sparse(0).unwrap()], 0).is_err());
}

#[test]
fn sums_of_integers_and_bools_along_an_axis_are_int64() {
    for dtype in [DType::I32, DType::U8, DType::Bool] {
        let d = AnyTensor::from(tensor![[1, 0, 1], [1, 1, 0]]).to(dtype).unwrap();
        for dim in [0, 1] {
            assert_dense(d.to_sparse(0).unwrap().sum_axis(dim), d.sum(Some(&[dim]), false, None));
        }
    }
}

#[test]
fn a_sparse_tensor_is_multiplied_by_a_zero_dim_one() {
    let s = hybrid();
    let two = AnyTensor::from(tensor![2.0; f64]).select(0, 0).unwrap();
    let product = s.mul(&two.to_sparse(0).unwrap()).unwrap();
    assert_eq!(product.dtype(), DType::F32);
    assert_eq!(product.to_dense().unwrap().to_string(), (s.to_dense().unwrap() * 2).unwrap().to_string());
}
