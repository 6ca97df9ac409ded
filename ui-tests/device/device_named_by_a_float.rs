//! A device is named by a string, an ordinal, both, or a typed device.
//!
//! Instead: `AnyDevice::new("cuda:1")`.

use castiron::AnyDevice;

fn main() {
    let _ = AnyDevice::new(1.0);
}
