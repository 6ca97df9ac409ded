//! JPEGs in, PNGs out.

use castiron::{Dim, Tensor, axis, shape};
use std::error::Error;
use std::path::Path;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;
use zune_jpeg::{JpegDecoder, errors::DecodeErrors};

/// A JPEG in colour: rows of pixels of red, green and blue.
pub fn read_jpeg<H: Dim, W: Dim>(path: &Path) -> Result<Tensor<u8, shape![H, W, 3]>, Box<dyn Error>> {
    let named = |reason: String| format!("{}: {reason}", path.display());
    let damaged = |error: DecodeErrors| named(format!("a damaged JPEG: {}", error.to_string().trim()));
    let file = std::fs::read(path).map_err(|error| named(error.to_string()))?;
    if !file.starts_with(&[0xff, 0xd8]) {
        return Err(named("not a JPEG".to_owned()).into());
    }
    // Strict: a file that ends early is an error, not a picture that ends in grey.
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
    // Here the sizes get their names, and the number of bytes is compared with them.
    Ok(Tensor::try_from_vec_sized(bytes, [usize::from(info.height), usize::from(info.width), 3])?)
}

/// A PNG of a picture of one channel (grey) or three (red, green and blue).
pub fn png<C: Dim, H: Dim, W: Dim>(picture: &Tensor<u8, (C, H, W)>) -> Result<Vec<u8>, Box<dyn Error>> {
    let [_, height, width] = picture.shape();
    animated_png([height, width], 1, [Ok(picture.clone())])
}

/// A PNG of `count` pictures, one after another.
pub fn animated_png<C: Dim, H: Dim, W: Dim>(
    [height, width]: [usize; 2],
    count: u32,
    pictures: impl IntoIterator<Item = castiron::Result<Tensor<u8, (C, H, W)>>>,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, u32::try_from(width)?, u32::try_from(height)?);
    encoder.set_color(match C::SIZE {
        Some(1) => png::ColorType::Grayscale,
        Some(3) => png::ColorType::Rgb,
        other => return Err(format!("a PNG has one channel or three, not {other:?}").into()),
    });
    encoder.set_compression(png::Compression::Fast);
    if count > 1 {
        encoder.set_animated(count, 0)?;
        encoder.set_frame_delay(1, 15)?;
    }
    let mut writer = encoder.write_header()?;
    for picture in pictures {
        // Channels last again, as a PNG has them. (No byte moves if the picture has been channels_last all along.)
        let pixels = picture?.permute(axis![1, 2, 0]).try_contiguous()?;
        writer.write_image_data(pixels.as_slice().unwrap_or_default())?;
    }
    writer.finish()?;
    Ok(bytes)
}

/// Writes a whole file or none.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    let part = path.with_extension("part");
    std::fs::write(&part, bytes).and_then(|()| std::fs::rename(&part, path)).map_err(|error| {
        // What is left of it, if anything.
        let _ = std::fs::remove_file(&part);
        format!("{}: {error}", path.display()).into()
    })
}
