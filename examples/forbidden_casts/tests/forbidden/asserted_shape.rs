//! A shape that is asserted is the shape.
fn main() {
    let column = castiron::tensor![[1, 2, 3]].t();
    castiron::assert_shape!(column, [1, 3]);
    // instead: castiron::assert_shape!(column, [3, 1]);
}
