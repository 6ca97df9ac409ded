//! Products of matrices: every dtype, any strides, batches, what is added and what follows, as on the host.

use crate::on_gpu;
use castiron::{Complex, Cpu, Cuda, Device, Dtype, Element, Numeric, Shape, Tensor, bf16, shape};

fn matrix<E: Dtype, S: Shape<Sizes = [usize; 2]>, D: Device>(rows: usize, columns: usize) -> Tensor<E, S, D> {
    let value = |at: usize| E::from_f64(((at * 5 + at / 3) % 5) as f64 - 1.0);
    let host = Tensor::<E, S, Cpu>::from_vec_sized((0..rows * columns).map(value).collect(), [rows, columns]);
    host.to_device::<D>().unwrap()
}

fn host<E: Element, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> String {
    format!("{:?}", x.to_device::<Cpu>().unwrap().to_vec())
}

/// Small integers: products are exact.
fn products<E: Numeric, D: Device>() -> Vec<String> {
    let (a, b) = (matrix::<E, shape![_, 20], D>(17, 20), matrix::<E, shape![20, _], D>(20, 33));
    let (row, none) = (matrix::<E, shape![1, _], D>(1, 33), matrix::<E, shape![_, 0], D>(17, 0));
    let empty = matrix::<E, shape![0, _], D>(0, 4);
    vec![
        host(&a.matmul(&b)),
        host(&b.t().matmul(&a.t())),
        host(&a.matmul(&a.t())),
        host(&none.matmul(&empty)),
        host(&row.addmm(&a, &b, 2, 3)),
    ]
}

macro_rules! same {
    ($run:ident: $($E:ty)*) => {$(
        assert_eq!($run::<$E, Cpu>(), $run::<$E, Cuda<0>>(), "{:?}", <$E as Element>::DTYPE);
    )*};
}

#[test]
fn products_are_those_of_the_host() {
    on_gpu!("product::products_are_those_of_the_host", {
        same!(products: i8 i64 f32 bf16 Complex<f64>);
    });
}
