//! Images of the crate `image` as tensors, and the other way round, without a copy.

use crate::dtype::Element;
use crate::error::{Result, invalid};
use crate::shape::Shape;
use crate::tensor::Tensor;
use image::{DynamicImage, ImageBuffer, Pixel};

impl<E: Element + image::Primitive, S: Shape<Sizes = [usize; 3]>> Tensor<E, S> {
    /// An image as a tensor of shape (height, width, channels), with the image's memory. (Feature `image`.)
    ///
    /// Channels first, as models take them, is a view: `x.permute(axis![2, 0, 1])`; with a batch axis in front it is in `channels_last`
    /// order, and nothing is moved.
    ///
    /// # Errors
    /// If the sizes are not those of the type.
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
    pub fn from_image<P: Pixel<Subpixel = E>>(image: ImageBuffer<P, Vec<E>>) -> Result<Self> {
        let (width, height) = image.dimensions();
        let sizes = [height as usize, width as usize, usize::from(P::CHANNEL_COUNT)];
        let mut elements = image.into_raw();
        // There may be more than the image takes.
        elements.truncate(sizes.iter().product());
        Self::try_from_vec_sized(elements, sizes)
    }

    /// A tensor of shape (height, width, channels) as an image, with the memory of the vector that the tensor was made of, where
    /// [`into_vec`](Self::into_vec) gives it back, else of copied elements. (Feature `image`.)
    ///
    /// # Errors
    /// If the channels are not those of the pixel, or the image would be larger than images are.
    ///
    /// ```
    /// use castiron::{Tensor, axis, shape, tensor};
    /// let x = tensor![[[255, 128, 0], [0, 0, 0]]; u8];
    /// let image: image::RgbImage = x.into_image()?;
    /// assert_eq!((image.dimensions(), image.get_pixel(0, 0).0), ((2, 1), [255, 128, 0]));
    /// assert!(tensor![[[255, 128]]; u8].into_image::<image::Rgb<u8>>().is_err());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn into_image<P: Pixel<Subpixel = E>>(self) -> Result<ImageBuffer<P, Vec<E>>> {
        let [height, width, channels] = self.shape();
        let op = "into_image";
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

impl<S: Shape<Sizes = [usize; 3]>> Tensor<u8, S> {
    /// An image of any kind as a tensor of bytes of shape (height, width, 3): red, green and blue. One that is stored so gives its memory,
    /// others are converted. (Feature `image`.)
    ///
    /// # Errors
    /// If the sizes are not those of the type.
    ///
    /// ```
    /// use castiron::{Tensor, shape};
    /// let image = image::DynamicImage::new_luma8(4, 2); // or image::open("photo.jpg")?
    /// let x: Tensor<u8, shape![_, _, 3]> = Tensor::from_rgb(image)?;
    /// assert_eq!(x.shape(), [2, 4, 3]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn from_rgb(image: DynamicImage) -> Result<Self> {
        Self::from_image(image.into_rgb8())
    }
}
