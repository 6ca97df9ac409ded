//! A literal fits its dtype.
//!
//! Instead: a larger dtype.
//!
//! names: out of range
//! names: u8
//! says: 255 | out of range
//! rustc: no code

use castiron::tensor;

fn main() {
    let _ = tensor![300; u8];
    // instead: let _ = tensor![300; i64];
}
