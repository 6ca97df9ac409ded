//! Equal parts leave nothing over.
//!
//! Instead: 12 heads of 32.
//!
//! names: divide
//! says: multiple | parts

use castiron::{dim, shape::DivideExactly};

fn heads(_: <dim!(384) as DivideExactly<dim!(10)>>::Output) {}
// instead: fn heads(_: <dim!(384) as DivideExactly<dim!(12)>>::Output) {}

fn main() {
    heads(Default::default());
}
