//! Reads photographs.

use castiron::{Dim, Tensor, shape};
use std::error::Error;
use std::path::Path;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;
use zune_jpeg::{JpegDecoder, errors::DecodeErrors};

/// A JPEG in colour: rows of pixels of red, green and blue.
pub fn read<H: Dim, W: Dim>(path: &Path) -> Result<Tensor<u8, shape![H, W, 3]>, Box<dyn Error>> {
    let named = |reason: String| format!("{}: {reason}", path.display());
    let damaged = |error: DecodeErrors| named(format!("a damaged JPEG: {}", error.to_string().trim()));
    let file = std::fs::read(path).map_err(|error| named(error.to_string()))?;
    if !file.starts_with(&[0xff, 0xd8]) {
        return Err(named("not a JPEG".to_owned()).into());
    }
    // Strict: a file that ends early is an error, not a picture with a grey rest.
    let options = DecoderOptions::default().set_strict_mode(true).jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(file), options);
    decoder.decode_headers().map_err(damaged)?;
    match decoder.input_colorspace() {
        Some(ColorSpace::RGB | ColorSpace::YCbCr) => {}
        Some(other) => return Err(named(format!("a JPEG in {other:?}; RGB or YCbCr is needed")).into()),
        None => return Err(named("a JPEG without colours".to_owned()).into()),
    }
    let bytes = decoder.decode().map_err(damaged)?;
    let info = decoder.info().ok_or_else(|| named("a JPEG without a size".to_owned()))?;
    // Here the sizes get their names, and the number of bytes is checked against them.
    Ok(Tensor::try_from_vec_sized(bytes, [usize::from(info.height), usize::from(info.width), 3])?)
}
