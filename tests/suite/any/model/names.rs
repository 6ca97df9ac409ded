//! Strings from outside: devices, dtypes, memory formats and equations of `einsum`.

use castiron::MemoryFormat;
use castiron::any::einsum;
use castiron::device::AnyDevice;
use castiron::{AnyTensor, DType};

/// A string that is accepted prints as one that parses to the same; others are errors.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match text.parse::<AnyDevice>() {
        Ok(device) => assert_eq!(device.to_string().parse::<AnyDevice>().ok(), Some(device), "{text:?}"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if let Ok(dtype) = text.parse::<DType>() {
        assert_eq!(dtype.name().parse::<DType>().ok(), Some(dtype), "{text:?}");
    }
    if let Ok(format) = text.parse::<MemoryFormat>() {
        assert_eq!(format.to_string().parse::<MemoryFormat>().ok(), Some(format), "{text:?}");
    }
    let tensors = [
        AnyTensor::ones(&[2, 3], DType::F32).unwrap(),
        AnyTensor::ones(&[3, 2], DType::F32).unwrap(),
        AnyTensor::ones(&[2, 2, 1], DType::I64).unwrap(),
    ];
    for count in 0..=tensors.len() {
        let _ = einsum(&text, &tensors[..count]);
    }
    let _ = einsum(&text, &[tensors[0].clone(), tensors[0].clone()]);
}
