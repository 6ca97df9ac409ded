//! Sizes passed to methods: a tensor's, `i64` or `usize`, and values that are no size.

use castiron::{AnyTensor, DType, Tensor, axis, s, shape};

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

/// The numbers of views are computed in one place, for tensors whose shape is in the type and for others.
#[test]
fn views_are_laid_out_alike_typed_and_not() {
    let x: Tensor<f32, shape![_, _, _]> = Tensor::<f32, shape![4, 3, 4]>::zeros().with_shape();
    let any = AnyTensor::from(&x);
    macro_rules! same {
        ($($typed:expr, $any:expr;)*) => {$(
            let (typed, any) = ($typed, $any.unwrap());
            let what = stringify!($any);
            assert_eq!((&typed.shape()[..], &typed.stride()[..]), (any.shape(), any.stride()), "{what}");
            assert_eq!(typed.storage_offset(), any.storage_offset(), "{what}");
        )*};
    }
    same! {
        x.select(axis![1], 2), any.select(1, -1);
        x.narrow(axis![0], 1, 2), any.narrow(0, -3, 2);
        x.slice(s![.., .., 1..;2]), any.slice(2, Some(1), None, 2);
        x.permute(axis![2, 0, 1]), any.permute(&[2, 0, 1]);
        x.movedim(axis![0], axis![-1]), any.movedim(&[0], &[-1]);
        x.unsqueeze(axis![1]), any.unsqueeze(1);
        x.unsqueeze(axis![-1]), any.unsqueeze(-1);
        x.expand_sized::<shape![1, _, _, _]>([1, 4, 3, 4]), any.expand(&[1, 4, 3, 4]);
        x.expand_sized::<shape![_, _, _, _]>([5, 4, 3, 4]), any.expand(&[5, -1, -1, -1]);
        Tensor::<f32, ()>::zeros().expand::<shape![1, 1]>(), AnyTensor::zeros(&[], DType::F32).unwrap().expand(&[1, 1]);
        x.diagonal_at(axis![0, 2], -1), any.diagonal(-1, 0, 2);
        x.unfold_sized(axis![2], 2, 2), any.unfold(2, 2, 2);
        x.view_dtype::<i16>(), any.view_dtype(DType::I16);
        x.narrow(axis![1], 0, 0).permute(axis![2, 1, 0]).try_view_sized::<shape![_, _, _]>([4, 0, 4]).unwrap(),
            any.narrow(1, 0, 0).unwrap().permute(&[2, 1, 0]).unwrap().view(&[4, 0, 4]);
    }
    let said = |typed: Result<String, castiron::Error>, any: castiron::Result<AnyTensor>| {
        assert_eq!(typed.unwrap_err().to_string(), any.unwrap_err().to_string());
    };
    said(x.try_narrow(axis![0], 3, 2).map(|_| String::new()), any.narrow(0, 3, 2));
    said(x.try_select(axis![0], 4).map(|_| String::new()), any.select(0, 4));
    said(x.try_unfold_sized(axis![1], 4, 1).map(|_| String::new()), any.unfold(1, 4, 1));
    said(x.try_expand_sized::<shape![_, _, _]>([4, 3, 5]).map(|_| String::new()), any.expand(&[4, 3, 5]));
    said(x.try_split(axis![0], 0).map(|_| String::new()), any.split(0, 0).map(|mut parts| parts.remove(0)));
}
