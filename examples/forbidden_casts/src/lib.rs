//! A library whose rules are types, and whose forbidden programs are tests.
//!
//! It keeps accounts: amounts of money are whole cents, in integers, because floats lose them. castiron refuses the casts that would
//! lose a cent (`balance /= 2`), and the library refuses in its own words what castiron allows (amounts in floats).
//!
//! What does not compile is listed in `FORBIDDEN.md` with what the compiler says, and `tests/forbidden.rs` holds every line of it: each
//! program of `tests/forbidden` must be refused in these words, and must compile with what is written `instead`.

use castiron::{Dim, Dtype, Tensor, assert_dtype, axis, shape};

castiron::dims! {
    /// The accounts, known at run time.
    pub Account,
}

/// A dtype that counts cents: none is lost.
#[diagnostic::on_unimplemented(
    message = "amounts of `{Self}` lose cents",
    label = "expected whole cents: `i32` or `i64`",
    note = "count cents: `(euros * 100).round().to::<i64>()`"
)]
pub trait Cents: Dtype {}
impl Cents for i32 {}
impl Cents for i64 {}

/// What each account holds after its bookings, a column for each.
///
/// ```
/// use castiron::tensor;
/// let after = forbidden_casts::booked(&tensor![100, 250], &tensor![[10, -20], [0, 5]]);
/// assert_eq!(after.to_vec(), [90, 255]);
/// ```
pub fn booked<E: Cents, N: Dim, B: Dim>(
    balance: &Tensor<E, shape![N]>,
    bookings: &Tensor<E, shape![N, B]>,
) -> Tensor<E, shape![N]> {
    let mut after = balance.clone();
    // Sums of integers are `i64`.
    after += bookings.sum_axis(axis![1]).to::<E>();
    after
}

/// Splits each balance among heirs: what each gets, and the cents that are left.
///
/// ```
/// use castiron::tensor;
/// let (each, left) = forbidden_casts::split(&tensor![100, 251], 3);
/// assert_eq!((each.to_vec(), left.to_vec()), (vec![33, 83], vec![1, 2]));
/// ```
pub fn split<N: Dim>(balance: &Tensor<i64, shape![N]>, heirs: i64) -> (Tensor<i64, shape![N]>, Tensor<i64, shape![N]>) {
    // A quotient is a float, and a whole quotient is not.
    assert_dtype!(balance / heirs, f32);
    assert_dtype!(balance.floor_divide(heirs), i64);
    (balance.floor_divide(heirs), balance % heirs)
}
