//! Sizes of methods: those of a tensor, of `i64` or `usize`, and what is no size.

use castiron::{AnyTensor, DType, Tensor, shape};

fn numbers(len: i64) -> AnyTensor {
    Tensor::<i64, shape![_]>::arange(0, len, 1).into()
}

#[test]
fn what_shape_gives_is_taken_as_sizes() {
    let (x, y) = (numbers(6), AnyTensor::zeros(&[2, 3], DType::F32).unwrap());
    let typed = Tensor::<f32, shape![_, 3]>::zeros_sized([2, 3]);
    let (signed, unsigned) = (vec![2_i64, 3], vec![2_usize, 3]);
    for sized in [
        x.reshape(y.shape()),
        x.reshape(typed.shape()),
        x.reshape(&[2, 3]),
        x.reshape(&[2, -1]),
        x.reshape(&signed),
        x.reshape(&signed[..]),
        x.reshape(&unsigned[..]),
        x.reshape(unsigned.clone()),
        x.reshape([y.shape()[0], 3]),
        x.view(y.shape()),
        x.unflatten(0, y.shape()),
        numbers(3).expand(y.shape()),
        numbers(3).expand(&[2, -1]),
        y.expand(&[1, 2, -1]).unwrap().sum_to_size(y.shape()),
        y.layer_norm(y.shape(), None, None, 1e-5),
        y.rms_norm(y.shape(), None, None),
        y.rms_norm(&[2, 3], None, None),
    ] {
        assert_eq!(sized.unwrap().shape(), [2, 3]);
    }
    assert_eq!(x.unravel_index(y.shape()).unwrap()[0].to_string(), "tensor([0, 0, 0, 1, 1, 1])");
    let mut x = x;
    assert_eq!(x.reshape_mut(y.shape()).unwrap().shape(), [2, 3]);
    assert_eq!(x.unflatten_mut(0, &[-1, 3]).unwrap().shape(), [2, 3]);
    assert_eq!(x.expand_mut(&[6]).unwrap().shape(), [6]);
    assert_eq!(numbers(1).reshape(&[]).unwrap().shape(), [0; 0]);
    assert_eq!(numbers(1).expand(&[1 << 40]).unwrap().shape(), [1 << 40]);
}

#[test]
fn sizes_that_are_none_are_errors() {
    let x = numbers(6);
    assert_eq!(x.reshape(&[-1, -1]).unwrap_err().to_string(), "reshape: only one size can be inferred");
    assert_eq!(x.reshape(&[-2, 3]).unwrap_err().to_string(), "reshape: size -2 is negative");
    assert!(
        x.expand(&[-1, 6]).is_err() && x.sum_to_size(&[-1]).is_err() && x.layer_norm(&[-1], None, None, 0.0).is_err()
    );
    assert!(x.unravel_index(&[-1]).is_err());
    for too_large in [usize::MAX, usize::MAX - 1, 1 << 63] {
        // never seen as -1
        assert!(
            x.reshape([too_large]).is_err() && x.view([too_large, 1]).is_err() && x.expand([too_large, 6]).is_err()
        );
        assert!(x.unflatten(0, [too_large]).is_err() && x.sum_to_size([too_large]).is_err());
        assert!(numbers(1).expand([too_large]).is_err());
    }
}
