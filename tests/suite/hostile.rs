//! Files made of any bytes, for fuzzing and for a property test. Each function takes bytes and panics if castiron does, or if what was read
//! differs after it is written and read again.

use castiron::io::{CheckpointWriter, Npz};
use castiron::{AnyTensor, Checkpoint, DType, Tensor, shape};

/// Bytes as a file, and as a header and data of one, whose length is right.
fn framed(data: &[u8], frame: impl Fn(&[u8], &[u8]) -> Vec<u8>, run: impl Fn(Vec<u8>)) {
    run(data.to_vec());
    // A header ends where a brace does, if there is any.
    let end = data.iter().rposition(|&byte| byte == b'}').map_or(data.len(), |at| at + 1);
    run(frame(&data[..end], &data[end..]));
}

/// A safetensors file.
pub fn safetensors(data: &[u8]) {
    let frame = |header: &[u8], data: &[u8]| [&(header.len() as u64).to_le_bytes(), header, data].concat();
    framed(data, frame, |bytes| {
        let Ok(file) = Checkpoint::from_bytes(bytes) else { return };
        for (name, info) in file.tensors() {
            let _ = Tensor::<f32, shape![_, _]>::load(&file, name);
            let Ok(x) = AnyTensor::load(&file, name) else { continue };
            assert_eq!((Some(x.dtype()), x.shape(), x.numel()), (info.dtype(), info.shape(), info.numel()));
            let again = CheckpointWriter::new().tensor(name, &x).to_bytes().unwrap();
            let again = AnyTensor::load(&Checkpoint::from_bytes(again).unwrap(), name).unwrap();
            assert_eq!(again.to_bytes(), x.to_bytes());
        }
    });
}

/// An npy file.
pub fn npy(data: &[u8]) {
    let frame = |header: &[u8], data: &[u8]| {
        [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header, data].concat()
    };
    framed(data, frame, |bytes| {
        let _ = Tensor::<f64, shape![_, _]>::from_npy(&bytes);
        if let Ok(x) = AnyTensor::from_npy(&bytes) {
            assert!(x.numel() * x.dtype().itemsize() <= bytes.len());
            assert_eq!(x.to_bytes().unwrap().len(), x.numel() * x.dtype().itemsize());
        }
    });
}

/// An npz file.
pub fn npz(data: &[u8]) {
    let Ok(mut file) = Npz::from_bytes(data.to_vec()) else { return };
    let names: Vec<String> = file.names().map(str::to_owned).collect();
    for name in names {
        let _ = file.info(&name);
        if let Ok(x) = file.load_any(&name) {
            x.to_bytes().unwrap();
        }
    }
}

/// A tensor as JSON.
pub fn json(data: &[u8]) {
    let _ = serde_json::from_slice::<Tensor<f32, shape![_, _]>>(data);
    let Ok(x) = serde_json::from_slice::<AnyTensor>(data) else { return };
    let again: AnyTensor = serde_json::from_slice(&serde_json::to_vec(&x).unwrap()).unwrap();
    // (A float8 has several codes for NaN, one of which comes back.)
    if x.dtype().itemsize() > 1 || x.dtype().category() == castiron::Category::Integral || x.dtype() == DType::Bool {
        assert_eq!((again.dtype(), again.shape(), again.to_bytes()), (x.dtype(), x.shape(), x.to_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use castiron::io::{CheckpointWriter, NpzWriter};
    use castiron::tensor;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};

    /// Files with a few bytes changed, cut off, or moved.
    fn spoiled(file: Vec<u8>, run: impl Fn(&[u8])) {
        run(&file);
        let change = (0..file.len(), any::<u8>(), 0..4_u8);
        let changes = prop::collection::vec(change, 1..6);
        let mut runner = TestRunner::new(Config { cases: 2000, failure_persistence: None, ..Config::default() });
        let outcome = runner.run(&changes, |changes| {
            let mut file = file.clone();
            for (at, byte, how) in changes {
                let at = at.min(file.len().saturating_sub(1));
                match how {
                    0 => file.truncate(at),
                    1 => file.insert(at, byte),
                    2 => drop((!file.is_empty()).then(|| file.remove(at))),
                    _ if file.is_empty() => {}
                    _ => file[at] = byte,
                }
            }
            run(&file);
            Ok(())
        });
        outcome.unwrap();
    }

    #[test]
    fn spoiled_files_are_errors_or_other_tensors() {
        let (a, b) = (tensor![[1.0, 2.0]], tensor![true, false]);
        spoiled(CheckpointWriter::new().tensor("a", &a).tensor("b", &b).to_bytes().unwrap(), super::safetensors);
        let header = r#"{"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"b":{"dtype":"F4","shape":[2],"data_offsets":[8,9]}}"#;
        spoiled([header.as_bytes(), &[7; 9]].concat(), super::safetensors);
        spoiled([b"{'descr': '>f4', 'fortran_order': True, 'shape': (1, 2), }", &[7; 8][..]].concat(), super::npy);
        for writer in [NpzWriter::new(), NpzWriter::new().compressed()] {
            spoiled(writer.tensor("a", &a).tensor("b", &b).to_bytes().unwrap(), super::npz);
        }
        for text in [
            r#"{"dtype":"float32","shape":[1,2],"data":[1.5,"NaN"]}"#,
            r#"{"dtype":"complex64","shape":[1],"data":[[1,-2.5]]}"#,
            r#"{"dtype":"uint64","shape":[2],"data":[18446744073709551615,0]}"#,
        ] {
            spoiled(text.into(), super::json);
        }
    }
}
