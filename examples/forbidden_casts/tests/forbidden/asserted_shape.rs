//! A shape that is asserted is the shape.
//!
//! error: the shape is `(D3, D1)`, and should be `(D1, D3)`
fn main() {
    let column = castiron::tensor![[1, 2, 3]].t();
    castiron::assert_shape!(column, [1, 3]);
    // instead: castiron::assert_shape!(column, [3, 1]);
}
