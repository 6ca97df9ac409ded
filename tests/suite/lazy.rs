//! Lazy expressions on the host: large ones, computed in pieces by several threads, and refusals. (On every device: `each_device/lazy.rs`.)

use castiron::{Element, Error, Meta, Shape, Tensor, axis, dims, f16, shape, tensor};

/// Elements, sizes and strides; NaN equals NaN.
#[track_caller]
fn same<E: Element, S: Shape>(lazily: &Tensor<E, S>, eagerly: &Tensor<E, S>) {
    assert_eq!((lazily.shape(), lazily.stride()), (eagerly.shape(), eagerly.stride()));
    assert_eq!(format!("{:?}", lazily.to_vec()), format!("{:?}", eagerly.to_vec()));
}

/// Several tensors of a million elements, in pieces by several threads.
#[test]
fn large_expressions() {
    let x = Tensor::<f32, shape![_]>::from_fn_sized([1_000_003], |[i]| (i % 1013) as f32 * 0.01);
    let y = Tensor::<f32, shape![_, _]>::from_fn_sized([1013, 991], |[i, j]| (i * 3 + j) as f32);
    same(&((x.lazy() + 1.0).log() * &x).eval(), &((&x + 1.0).log() * &x));
    same(&(x.lazy() * &x).sum(), &(&x * &x).sum());
    same(
        &(y.lazy() - y.narrow(axis![0], 5, 1)).sum_axis(axis![0]),
        &(&y - y.narrow(axis![0], 5, 1)).sum_axis(axis![0]),
    );
    same(&((x.lazy() * 1e3).sin() - &x).eval(), &((&x * 1e3).sin() - &x));
    same(&x.lazy().sin().max(), &x.sin().max());
    let (halves, others) = (x.to::<f16>(), (&x * 0.5).to::<f16>());
    same(&(halves.lazy() * &others + 0.5).exp().eval(), &(&halves * &others + 0.5).exp());
    same(&(halves.lazy() * &others).amin(), &(&halves * &others).amin());
    let square = y.narrow(axis![0], 0, 991);
    same(&(square.lazy().sin() + square.t()).eval(), &(square.sin() + square.t()));
    same(&(square.lazy() + square.t()).eval(), &(&square + square.t()));
    same(&(square.lazy() * square.t()).mean_axis(axis![1]), &(&square * square.t()).mean_axis(axis![1]));
}

/// Results larger than the caches are written another way.
#[test]
fn results_larger_than_the_caches() {
    let x = Tensor::<f32, shape![_]>::from_fn_sized([(8 << 20) + 5], |[i]| i as f32);
    let halves = &x * 0.5;
    assert!(halves.iter().enumerate().all(|(i, half)| *half == i as f32 * 0.5));
    same(&(x.lazy() * 0.5).eval(), &halves);
    let wide = x.narrow(axis![0], 3, 8 << 20).to::<f64>();
    assert!(wide.iter().enumerate().all(|(i, x)| *x == (i + 3) as f64));
}

#[test]
fn errors_come_out_of_what_consumes_the_expression() {
    let (x, y) = (Tensor::<f32, shape![_]>::zeros_sized([3]), Tensor::<f32, shape![_]>::zeros_sized([4]));
    let sum = (x.lazy() + &y).exp() * 2.0;
    assert!(matches!(sum.clone().try_eval(), Err(Error::Broadcast { op: "add", .. })));
    assert!(matches!(sum.try_sum(), Err(Error::Broadcast { op: "add", .. })));
    let counts = tensor![6, 7];
    assert!(matches!((counts.lazy() % &tensor![2, 0]).try_eval(), Err(Error::DivisionByZero { .. })));
    assert!(matches!((7_i64 % tensor![2, 0].lazy()).try_eval(), Err(Error::DivisionByZero { .. })));
    assert!(matches!((counts.lazy() % 0).try_eval(), Err(Error::DivisionByZero { .. })));
    let mut remainders = counts.clone();
    assert!(remainders.try_remainder_(&tensor![4, 0]).is_err());
    assert!(std::panic::catch_unwind(move || remainders %= tensor![4, 0].lazy()).is_err());
    assert!(matches!((tensor![1; u8].lazy() + 300).try_eval(), Err(Error::ScalarOutOfRange { .. })));
    assert!(matches!(counts.lazy().pow(-1).try_eval(), Err(Error::NegativePower { .. })));
}

#[test]
fn devices_without_data_compute_shapes() {
    dims! { Batch }
    let x = Tensor::<f32, shape![Batch, 3], Meta>::zeros_sized([2, 3]);
    let y: Tensor<f32, shape![Batch, 3], Meta> = (x.lazy() * &tensor![2.0].sum() + 1.0).eval();
    assert_eq!(y.shape(), [2, 3]);
    assert_eq!((x.lazy() - &y).sum_axis(axis![1]).shape(), [2]);
    assert!(
        (tensor![1, 2].to_device::<Meta>().unwrap().lazy() % &tensor![0, 0].to_device::<Meta>().unwrap())
            .try_eval()
            .is_ok()
    );
}
