//! The library's own rule: amounts are whole cents.
//!
//! error: amounts of `f32` lose cents
//! says: whole cents
//! says: (euros * 100).round().to::<i64>()
fn main() {
    let balance = castiron::tensor![1.10, 2.20];
    forbidden_casts::booked(&balance, &castiron::tensor![[0.10], [0.20]]);
    // instead: let cents = (balance * 100).round().to::<i64>();
    // instead: forbidden_casts::booked(&cents, &castiron::tensor![[10], [20]]);
}
