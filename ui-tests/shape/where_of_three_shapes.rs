//! Condition and values broadcast with one another.
//!
//! Instead: one shape, or sizes of 1.
//!
//! names: broadcast
//! names: D3
//! names: D2
//! says: equal | unsqueeze

use castiron::{tensor, where_};

fn main() {
    let (x, y) = (tensor![1.0, 2.0, 3.0], tensor![1.0, 2.0]);
    let _ = where_(x.gt(1), &x, &y);
    // instead: let _ = where_(x.gt(1), &x, y.slice(castiron::s![..1]));
}
