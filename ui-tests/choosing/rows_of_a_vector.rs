//! `embedding` takes rows from a table of two axes.
//!
//! Instead: give a vector its second axis.
//!
//! names: D3
//! says: unsqueeze

use castiron::tensor;

fn main() {
    let table = tensor![0.5, 1.5, 2.5];
    let _ = table.embedding(tensor![2, 0]);
    // instead: let _ = table.unsqueeze(castiron::axis![1]).embedding(tensor![2, 0]);
}
