//! `fused!` takes no `||`: masks are joined by `|`.
//!
//! Instead: `(x < 0) | (x > 1)`.
//!
//! names: masks
//! says: |

use castiron::{fused, tensor};

fn main() {
    let x = tensor![0.5, 1.5, 2.5];
    let _ = fused!(x < 0 || x > 1);
    // instead: let _ = fused!((x < 0) | (x > 1));
}
