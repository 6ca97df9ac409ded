//! Writes pictures.

use castiron::{Dim, Tensor, axis};
use std::error::Error;
use std::path::Path;

#[allow(dead_code, reason = "examples that make films have no stills")]
/// A PNG of a picture of one channel (grey) or three (red, green and blue).
pub fn still<C: Dim, H: Dim, W: Dim>(picture: &Tensor<u8, (C, H, W)>) -> Result<Vec<u8>, Box<dyn Error>> {
    let [_, height, width] = picture.shape();
    animated([height, width], 1, [Ok(picture.clone())])
}

/// A PNG of `count` pictures, one after another.
pub fn animated<C: Dim, H: Dim, W: Dim>(
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
        // Channels last again, as PNG needs them. (No byte moves if the picture has been channels_last all along.)
        let pixels = picture?.permute(axis![1, 2, 0]).try_contiguous()?;
        writer.write_image_data(pixels.as_slice().unwrap_or_default())?;
    }
    writer.finish()?;
    Ok(bytes)
}

/// Writes a whole file or nothing.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    let part = path.with_extension("part");
    std::fs::write(&part, bytes).and_then(|()| std::fs::rename(&part, path)).map_err(|error| {
        // Remove what may be left of it.
        let _ = std::fs::remove_file(&part);
        format!("{}: {error}", path.display()).into()
    })
}
