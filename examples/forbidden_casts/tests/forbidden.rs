//! What does not compile, and what the compiler says of it.

use castiron::{Promoted, Tensor, assert_dtype, assert_shape, assert_type, shape, tensor};

#[test]
fn forbidden_programs_do_not_compile() {
    castiron_test::Forbidden::new().folder("tests/forbidden").documented_in("FORBIDDEN.md").check();
}

/// What results are, checked when this is compiled.
#[test]
fn results_have_the_types_that_they_should() {
    let (cents, rate) = (tensor![[100, 250]], tensor![1.5, 2.0]);
    assert_dtype!(&cents * &rate, f32);
    assert_dtype!(cents.gt(100), bool);
    assert_shape!(&cents * &rate, [1, 2]);
    assert_shape!(cents.t().matmul(&cents), shape![2, 2]);
    assert_type!(&cents * &rate, Tensor<Promoted<i64, f32>, shape![1, 2]>);
    assert_type!(cents.sum().item(), i64);
    // Nothing was moved.
    assert_eq!((cents.numel(), rate.numel()), (2, 2));
}

/// An assertion computes nothing.
#[test]
fn what_is_asserted_is_not_computed() {
    fn never() -> Tensor<i64, shape![3]> {
        panic!("it was computed")
    }
    assert_dtype!(never(), i64);
    assert_shape!(never(), [3]);
    assert_type!(never(), Tensor<i64, shape![3]>);
}
