//! An imaginary part is not dropped in silence.
//!
//! error: result type `castiron::Complex<f32>` can't be cast to the desired output type `f32`
fn main() {
    let mut x = castiron::tensor![1.0, 2.0];
    x *= castiron::tensor![1.0j, 2.0];
    // instead: let z = x * castiron::tensor![1.0j, 2.0];
    // instead: assert_eq!(z.imag().to_vec(), [1.0, 0.0]);
}
