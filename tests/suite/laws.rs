//! Laws for elements in the host's memory: which memory results take, and writing single elements. (Others: `each_device/laws.rs`.)

use castiron::{Dyn, Element, Tensor, axis};
use proptest::prelude::*;

proptest! {
    #[test]
    fn writing_through_repeated_elements_gives_each_its_own(row in prop::collection::vec(-9..9_i64, 1..5)) {
        let x: Tensor<i64, (Dyn,)> = row.clone().into();
        let mut repeated = x.unsqueeze(axis![0]).expand_sized::<(Dyn, Dyn)>([3, row.len()]);
        repeated[(1, 0)] = 100;
        prop_assert_eq!((repeated[(0, 0)], repeated[(1, 0)], repeated[(2, 0)]), (row[0], 100, row[0]));
        prop_assert_eq!(x.to_vec(), row);
    }
}

/// `a + b` is written where an `a` was that nobody will read again, if it fits there.
#[test]
fn results_take_the_place_of_operands_given_away() {
    fn place<E: Element>(x: &Tensor<E, (Dyn,)>) -> usize {
        x.as_slice().map_or(0, |elements| elements.as_ptr().addr())
    }
    let fresh = || Tensor::<f32, (Dyn,)>::from_vec_sized(vec![1.0, 2.0, 3.0], [3]) * 1.0;
    let other = fresh();
    let x = fresh();
    let at = place(&x);
    let x = 1.0 - (x + &other) * 2.0;
    assert_eq!((place(&x), x.to_vec()), (at, vec![-3.0_f32, -7.0, -11.0]));
    // Not where the dtype is another, or somebody else holds it.
    let (x, kept) = (fresh(), fresh());
    let at = place(&x);
    let greater = x.clone().gt(&kept);
    assert_ne!(place(&greater), at);
    let twice = x.clone() + &other;
    assert_ne!(place(&twice), at);
    assert_eq!(x.to_vec(), [1.0_f32, 2.0, 3.0]);
    // Nothing is lost where the operation is refused.
    let zeros = Tensor::<i64, (Dyn,)>::zeros_sized([3]);
    assert!((zeros.clone() + 1).try_floor_divide(&zeros).is_err());
}
