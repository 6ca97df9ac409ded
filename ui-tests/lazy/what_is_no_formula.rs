//! What `fused!` has no meaning for it refuses.
//!
//! Instead: what Rust computes before stands in braces.
//!
//! names: fused!
//! says: braces

use castiron::{fused, tensor};

fn main() {
    let (x, y) = (tensor![1.0, 4.0], tensor![1.0, 2.0]);
    let mut z = x.clone();
    let _ = fused!(match x { _ => y });
    let _ = fused!(x * vec![1.0, 2.0]);
    let _ = fused!(x * *2.0);
    let _ = fused!(*(x) + y);
    let _ = fused!(*x.exp());
    let _ = fused!(&(x + y));
    let _ = fused!(x + &mut y);
    let _ = fused!(x as f64);
    let _ = fused!(x + (0..2));
    let _ = fused!(x + "y");
    let _ = fused!(x + [1.0, 2.0]);
    let _ = fused!(x * if y > 1 { x } else { y });
    let _ = fused!(if y > 1 { x } else { y } * 2);
    let _ = fused!(x.sum_axis(axis = 0));
    let _ = fused!(x.maximum(, y));
    let _ = fused!(x.exp()? + y);
    let _ = fused!((x + y).0);
    let _ = fused!(x, y);
    let _ = fused!(+x);
    let _ = fused! { let half: f32 = x / 2; half };
    let _ = fused! { let (half, twice) = (x / 2, x * 2); half };
    let _ = fused! { let _ = x / 2; y };
    let _ = fused! { let half = x / 2; };
    let _ = fused! { x / 2; y };
    fused! { let half = x / 2; half *= y; z = half }
    fused!(z + x = y);
    fused!(z **= 2);
    fused!({ z } = y);
}
// instead of all: use castiron::{fused, tensor};
// instead of all:
// instead of all: fn main() {
// instead of all:     let (x, y) = (tensor![1.0, 4.0], tensor![1.0, 2.0]);
// instead of all:     let _ = fused!({ match x.numel() { 2 => &x, _ => &y } } + y);
// instead of all: }
