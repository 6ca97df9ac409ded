//! What a closure fails with has room for an error of castiron.
//!
//! Instead: return `Result<_, Box<dyn Error>>`, in which `?` takes any error.
//!
//! names: TryFromIntError
//! says: Box<dyn std::error::Error>

use castiron::tensor;

fn main() {
    let x = tensor![1, 300];
    let _ = x.try_map(|v| u8::try_from(v));
    // instead: let _ = x.try_map(|v| Ok::<_, Box<dyn std::error::Error>>(u8::try_from(v)?));
}
