//! A device is named by a string, an ordinal, both, or a typed device.
//!
//! Instead: `AnyDevice::new("cuda:1")`.
//!
//! names: name a device
//! says: cuda:

use castiron::AnyDevice;

fn main() {
    let _ = AnyDevice::new(1.0);
    // instead: let _ = AnyDevice::new("cuda:1");
}
