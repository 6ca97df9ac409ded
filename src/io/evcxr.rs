//! Tensors in notebooks: how evcxr, Rust's kernel for Jupyter, shows what a cell ends with. (Feature `evcxr`.)
//!
//! ```text
//! :dep castiron = { version = "0.1", features = ["evcxr"] }
//! use castiron::{tensor, Tensor};
//! tensor![[1.0, 2.0], [3.0, 4.0]]
//! ```
//!
//! | tensor | shown as |
//! |---|---|
//! | bytes of shape (height, width, 3) or (height, width, 4), of at least 8 times 8 pixels | a picture: red, green, blue and opacity |
//! | at most two axes | a table, with dtype, shape and device below |
//! | others | the text that `{}` prints |
//!
//! evcxr calls `evcxr_display`, a method of [`Tensor`](crate::Tensor), its view and `AnyTensor` with this feature, which writes [`content`] to the
//! standard output. Of large tensors the first and last three positions of each axis are shown, as in print.

use crate::describe::{Describe, Description};
use crate::dtype::DType;
use core::fmt::Display;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use std::io::Write as _;

/// The side of the smallest picture. What is smaller is a table of numbers.
const SMALLEST: usize = 8;
/// The side of the largest picture.
const LARGEST: usize = 1 << 13;

/// What a notebook is given to show: evcxr's `EVCXR_BEGIN_CONTENT`, the kind of content (`text/html` or `image/png`), the content, and the end.
///
/// ```
/// use castiron::{io::evcxr, tensor};
/// let text = evcxr::content(&tensor![[1, 2], [3, 4]]);
/// assert!(text.starts_with("EVCXR_BEGIN_CONTENT text/html\n<table>"));
/// assert!(text.contains("<td>3</td><td>4</td>") && text.ends_with("\nEVCXR_END_CONTENT"));
/// ```
pub fn content<T: Describe + Display>(x: &T) -> String {
    let about = x.about();
    let picture = if is_picture(&about) { x.bytes().and_then(|bytes| png(&about.shape, &bytes)) } else { None };
    let (kind, shown) = match picture {
        Some(png) => ("image/png", base64(&png)),
        None => ("text/html", html(&about, &x.to_string())),
    };
    format!("EVCXR_BEGIN_CONTENT {kind}\n{shown}\nEVCXR_END_CONTENT")
}

/// For a type it writes the method that evcxr calls. (It is hidden: nobody else calls it.)
macro_rules! shown {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> $type {
            /// Writes [`content`] to the standard output.
            #[doc(hidden)]
            pub fn evcxr_display(&self) {
                println!("{}", content(self));
            }
        }
    )*};
}
shown! {
    [E: crate::Element, S: crate::Shape, D: crate::Device] crate::Tensor<E, S, D>;
    [E: crate::Element, S: crate::Shape, D: crate::Device] crate::TensorView<'_, E, S, D>;
}
#[cfg(feature = "any")]
shown! { [] crate::AnyTensor; }

/// Whether a tensor is shown as a picture.
fn is_picture(about: &Description) -> bool {
    let sides = SMALLEST..=LARGEST;
    about.dtype == DType::U8
        && matches!(about.shape[..], [height, width, 3 | 4] if sides.contains(&height) && sides.contains(&width))
}

/// A table of what is printed, or the printed text if there are more than two axes.
fn html(about: &Description, printed: &str) -> String {
    let Description { dtype, shape, device, .. } = about;
    let caption = format!("{dtype}, {shape:?}, {device}");
    let inside = printed.find('[').zip(printed.rfind(']')).map(|(first, last)| &printed[first + 1..last]);
    let (Some(inside), 1 | 2) = (inside.filter(|_| !shape.contains(&0)), shape.len()) else {
        // (Nothing that is printed has a meaning in HTML.)
        return format!("<pre>{printed}</pre><small>{caption}</small>");
    };
    let mut table = String::from("<table>");
    // Rows end with `],`; a row that stands for those left out has no brackets.
    for row in inside.split("],").flat_map(|row| row.split_inclusive("...,\n")) {
        let cells = row.trim_matches(|letter: char| letter.is_whitespace() || "[],".contains(letter)).split(',');
        let cells: String = cells.map(|cell| format!("<td>{}</td>", cell.trim())).collect();
        table += &format!("<tr>{cells}</tr>");
    }
    format!("{table}</table><small>{caption}</small>")
}

/// A picture of (height, width, channels) as a PNG (ISO/IEC 15948).
fn png(shape: &[usize], bytes: &[u8]) -> Option<Vec<u8>> {
    let &[height, width, channels] = shape else { return None };
    let mut zipped = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in bytes.chunks_exact(width * channels) {
        // Each row begins with its filter: none.
        zipped.write_all(&[0]).and_then(|()| zipped.write_all(row)).ok()?;
    }
    // 8 bits for each channel; 2 is colour, 6 colour with opacity.
    let kind = if channels == 3 { 2 } else { 6 };
    let mut header = Vec::new();
    for side in [width, height] {
        header.extend(u32::try_from(side).ok()?.to_be_bytes());
    }
    header.extend([8, kind, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, data) in [(b"IHDR", header), (b"IDAT", zipped.finish().ok()?), (b"IEND", Vec::new())] {
        let mut sum = Crc::new();
        sum.update(name);
        sum.update(&data);
        file.extend(u32::try_from(data.len()).ok()?.to_be_bytes());
        file.extend(name);
        file.extend(data);
        file.extend(sum.sum().to_be_bytes());
    }
    Some(file)
}

/// The letters of RFC 4648.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number = (0..3).fold(0_usize, |number, at| number << 8 | usize::from(*three.get(at).unwrap_or(&0)));
        for at in 0..4 {
            let letter = LETTERS[number >> (18 - 6 * at) & 63];
            text.push(if at <= three.len() { letter.into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_letters() {
        for (bytes, letters) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), letters);
        }
    }
}
