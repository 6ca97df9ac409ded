//! Conversion between images of the crate `image` and tensors, without a copy.

use crate::dtype::Element;
use crate::error::{Result, invalid};
use crate::shape::{Dim, Shape, SizeArray};
use crate::tensor::Tensor;
use image::{DynamicImage, ImageBuffer, Pixel};

/// The shape of an image: (height, width, channels), or (height, width) for one channel.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` is not an image",
    label = "expected height, width and channels, or height and width",
    note = "of a batch `x.select(axis![0], 0)` is one image; channels first are moved by `x.permute(axis![1, 2, 0])`"
)]
pub trait ImageShape: Shape {}
impl<H: Dim, W: Dim> ImageShape for (H, W) {}
impl<H: Dim, W: Dim, C: Dim> ImageShape for (H, W, C) {}

impl<E: Element + image::Primitive, S: Shape> Tensor<E, S> {
    /// An image as a tensor of shape (height, width, channels), or (height, width) for one channel, with the image's memory. (Feature
    /// `image`.)
    ///
    /// Channels first, as models expect, is a view: `x.permute(axis![2, 0, 1])`; with a batch axis in front it is in `channels_last` format
    /// without copying.
    ///
    /// # Errors
    /// If the sizes differ from the type's.
    ///
    /// ```
    /// use castiron::{ChannelsLast, Tensor, axis, shape};
    /// let image = image::RgbImage::from_pixel(4, 2, image::Rgb([255, 128, 0]));
    /// let x: Tensor<u8, shape![_, _, 3]> = Tensor::from_image(image)?;
    /// assert_eq!(x.shape(), [2, 4, 3]);
    /// let batch: Tensor<u8, shape![1, 3, _, _]> = x.permute(axis![2, 0, 1]).unsqueeze(axis![0]);
    /// assert!(batch.shares_storage(&x) && batch.is_contiguous_in(ChannelsLast));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn from_image<P: Pixel<Subpixel = E>>(image: ImageBuffer<P, Vec<E>>) -> Result<Self>
    where
        S: ImageShape,
    {
        let (width, height) = image.dimensions();
        let sizes = [height as usize, width as usize, usize::from(P::CHANNEL_COUNT)];
        if S::RANK == 2 && sizes[2] != 1 {
            return invalid(
                "from_image",
                format!("the pixels have {} channels, and the type has no axis for them", sizes[2]),
            );
        }
        let mut elements = image.into_raw();
        // The vector may be longer than the image.
        elements.truncate(sizes.iter().product());
        Self::try_from_vec_sized(elements, S::Sizes::copied(&sizes[..S::RANK]))
    }

    /// A tensor of shape (height, width, channels), or (height, width) for one channel, as an image. Reuses the memory of the vector that
    /// the tensor was made from if [`into_vec`](Self::into_vec) returns it, else copies the elements. (Feature `image`.)
    ///
    /// # Errors
    /// If the number of channels differs from the pixel's, or the image would be too large.
    ///
    /// ```
    /// use castiron::{Tensor, axis, shape, tensor};
    /// let x = tensor![[[255, 128, 0], [0, 0, 0]]; u8];
    /// let image: image::RgbImage = x.into_image()?;
    /// assert_eq!((image.dimensions(), image.get_pixel(0, 0).0), ((2, 1), [255, 128, 0]));
    /// assert!(tensor![[[255, 128]]; u8].into_image::<image::Rgb<u8>>().is_err());
    /// let gray: image::GrayImage = tensor![[0, 255]; u8].into_image()?;
    /// assert_eq!(gray.dimensions(), (2, 1));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn into_image<P: Pixel<Subpixel = E>>(self) -> Result<ImageBuffer<P, Vec<E>>>
    where
        S: ImageShape,
    {
        let op = "into_image";
        let (height, width, channels) = match *self.shape().as_ref() {
            [height, width] => (height, width, 1),
            [height, width, channels] => (height, width, channels),
            _ => unreachable!("the shape is that of an image"),
        };
        if channels != usize::from(P::CHANNEL_COUNT) {
            return invalid(op, format!("the pixels have {} channels, the last axis {channels}", P::CHANNEL_COUNT));
        }
        let (Ok(wide), Ok(high)) = (u32::try_from(width), u32::try_from(height)) else {
            return invalid(op, format!("images have no {width} times {height} pixels"));
        };
        match ImageBuffer::from_raw(wide, high, self.into_vec()) {
            Some(image) => Ok(image),
            None => invalid(op, format!("images have no {width} times {height} pixels")),
        }
    }
}

impl<S: Shape> Tensor<u8, S> {
    /// An image of any kind as a tensor of bytes of shape (height, width, 3): red, green and blue. An RGB image keeps its memory, others
    /// are converted. (Feature `image`.)
    ///
    /// # Errors
    /// If the sizes differ from the type's.
    ///
    /// ```
    /// use castiron::{Tensor, shape};
    /// let image = image::DynamicImage::new_luma8(4, 2); // or image::open("photo.jpg")?
    /// let x: Tensor<u8, shape![_, _, 3]> = Tensor::from_rgb(image)?;
    /// assert_eq!(x.shape(), [2, 4, 3]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn from_rgb(image: DynamicImage) -> Result<Self>
    where
        S: ImageShape,
    {
        Self::from_image(image.into_rgb8())
    }
}
