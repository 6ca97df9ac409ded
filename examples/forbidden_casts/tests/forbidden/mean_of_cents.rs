//! A mean of integers is asked for as a float.
//!
//! error: `mean` is not defined for dtype `i64`
//! says: .to::<f32>() | cast
fn main() {
    let mean = castiron::tensor![100, 251].mean();
    // instead: let mean = castiron::tensor![100, 251].to::<f64>().mean();
    println!("{mean}");
}
