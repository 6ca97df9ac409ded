//! A reducer has its steps in a block with `#[reducer]`.
//!
//! Instead: a reduction that there is, or a reducer.
//!
//! names: `Total` is no reducer
//! says: #[reducer]

use castiron::tensor;

struct Total;

fn main() {
    let _ = tensor![1.0, 2.0].reduce_by(Total, ());
    // instead: let _ = (tensor![1.0, 2.0].sum(), Total);
}
