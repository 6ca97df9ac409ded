//! The file of digits.

use castiron::{Tensor, shape};
use std::error::Error;
use std::io::Read;

/// The digits: each line of a gzipped CSV file holds a row of 64 pixels from 0 to 16, and a label.
pub fn read_digits() -> Result<(Tensor<u8, shape![_, 64]>, Tensor<i64, shape![_]>), Box<dyn Error>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/digits.csv.gz");
    let file = std::fs::File::open(path).map_err(|error| format!("{path}: {error}"))?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).map_err(|error| format!("{path}: {error}"))?;

    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    for (line, row) in text.lines().enumerate() {
        let numbers = row.split(',').map(str::parse).collect::<Result<Vec<u8>, _>>();
        let numbers = numbers.map_err(|error| format!("{path}, line {}: {error}", line + 1))?;
        let [row @ .., label] = &numbers[..] else { return Err(format!("{path}, line {}: empty", line + 1).into()) };
        if row.len() != 64 || row.iter().any(|&pixel| pixel > 16) || *label > 9 {
            return Err(format!("{path}, line {}: expected 64 pixels from 0 to 16 and a digit", line + 1).into());
        }
        pixels.extend_from_slice(row);
        labels.push(i64::from(*label));
    }
    let count = labels.len();
    Ok((Tensor::try_from_vec_sized(pixels, [count, 64])?, labels.into()))
}
