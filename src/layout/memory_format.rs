//! Memory formats: the orders in which PyTorch lays out axes, as values ([`MemoryFormat`]), as types ([`ChannelsLast`] and others), and the
//! rules that follow from sizes and strides.
//!
//! Source: `c10/core/MemoryFormat.h`, `aten/src/ATen/native/TensorFactories.cpp`, `TensorConversions.cpp`, `TensorShape.cpp`;
//! `tests/oracle/memory_format.json`.

use super::dims::Dims;
use super::strides::{
    CHANNELS_LAST, broadcast_list, is_contiguous, row_major, runs_along, write_along, write_broadcast,
    write_elementwise, write_preserved, write_reshaped,
};
use crate::error::{Error, Result};
use crate::shape::{Dim, Shape, SizeArray};
use core::fmt;
use core::str::FromStr;

/// A memory format as a value (`torch.memory_format`).
///
/// ```
/// use castiron::MemoryFormat;
/// assert_eq!(MemoryFormat::CHANNELS_LAST.to_string(), "torch.channels_last");
/// assert_eq!("channels_last".parse(), Ok(MemoryFormat::CHANNELS_LAST));
/// ```
///
/// (Its values are constants in capitals, because `ChannelsLast` and others are the formats as types.)
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemoryFormat(Kind);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    RowMajor,
    AsBefore,
    Images,
    Volumes,
}

/// The axes of a batch of volumes in `channels_last_3d` order, fastest first.
const CHANNELS_LAST_3D: [usize; 5] = [1, 4, 3, 2, 0];

impl MemoryFormat {
    /// `torch.contiguous_format`: row-major.
    pub const CONTIGUOUS: MemoryFormat = MemoryFormat(Kind::RowMajor);
    /// `torch.preserve_format`: the strides of the input if it is dense (non-overlapping, without gaps), else its order of axes.
    pub const PRESERVE: MemoryFormat = MemoryFormat(Kind::AsBefore);
    /// `torch.channels_last`: images (batch, channels, height, width), with the channels of a pixel contiguous.
    pub const CHANNELS_LAST: MemoryFormat = MemoryFormat(Kind::Images);
    /// `torch.channels_last_3d`: volumes (batch, channels, depth, height, width), with the channels of a voxel contiguous.
    pub const CHANNELS_LAST_3D: MemoryFormat = MemoryFormat(Kind::Volumes);

    /// Every format.
    pub const ALL: [MemoryFormat; 4] =
        [MemoryFormat::CONTIGUOUS, MemoryFormat::PRESERVE, MemoryFormat::CHANNELS_LAST, MemoryFormat::CHANNELS_LAST_3D];

    /// PyTorch's name, without `torch.`.
    pub const fn name(self) -> &'static str {
        match self.0 {
            Kind::RowMajor => "contiguous_format",
            Kind::AsBefore => "preserve_format",
            Kind::Images => "channels_last",
            Kind::Volumes => "channels_last_3d",
        }
    }

    /// The order of the axes, fastest first, for formats that fix the number of axes.
    const fn order(self) -> Option<&'static [usize]> {
        match self.0 {
            Kind::Images => Some(&CHANNELS_LAST),
            Kind::Volumes => Some(&CHANNELS_LAST_3D),
            Kind::RowMajor | Kind::AsBefore => None,
        }
    }

    /// The strides of a new copy of a tensor with these sizes and strides (`clone`, `zeros_like` and similar functions, and conversion,
    /// with `memory_format=`).
    ///
    /// # Errors
    /// If the format is for another number of axes.
    ///
    /// ```
    /// use castiron::MemoryFormat;
    /// let (sizes, strides) = ([2, 3, 4, 5], [60, 20, 5, 1]);
    /// assert_eq!(MemoryFormat::CHANNELS_LAST.copied("clone", &sizes, &strides)?, [60, 1, 15, 3]);
    /// assert_eq!(MemoryFormat::PRESERVE.copied("clone", &sizes, &strides)?, strides);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn copied(self, op: &'static str, sizes: &[usize], strides: &[usize]) -> Result<Vec<usize>> {
        let mut copied = vec![0; sizes.len()];
        self.write_copied(op, sizes, strides, &mut copied)?;
        Ok(copied)
    }

    /// [`copied`](Self::copied) into a slice as long as the sizes.
    pub(crate) fn write_copied(
        self,
        op: &'static str,
        sizes: &[usize],
        strides: &[usize],
        copied: &mut [usize],
    ) -> Result<()> {
        match self.order() {
            Some(order) if order.len() == sizes.len() => write_along(order.iter().copied(), sizes, copied),
            Some(order) => {
                let reason = format!("{self} is for tensors of {} axes, not of {}", order.len(), sizes.len());
                return Err(Error::InvalidArgument { op, reason });
            }
            None if self == MemoryFormat::PRESERVE => write_preserved(sizes, strides, copied),
            None => copied.copy_from_slice(&row_major(sizes)),
        }
        Ok(())
    }

    /// Whether elements are in this order without gaps (`is_contiguous(memory_format=…)`): never for a format that needs another number of
    /// axes.
    ///
    /// ```
    /// use castiron::MemoryFormat;
    /// assert!(MemoryFormat::CHANNELS_LAST.is_order_of(&[2, 3, 4, 5], &[60, 1, 15, 3]));
    /// // The order of axes of size 1 is ambiguous: this is both.
    /// assert!(MemoryFormat::CHANNELS_LAST.is_order_of(&[2, 1, 4, 5], &[20, 20, 5, 1]));
    /// assert!(MemoryFormat::CONTIGUOUS.is_order_of(&[2, 1, 4, 5], &[20, 20, 5, 1]));
    /// ```
    pub fn is_order_of(self, sizes: &[usize], strides: &[usize]) -> bool {
        match self.order() {
            Some(order) => order.len() == sizes.len() && runs_along(order.iter().copied(), sizes, strides),
            None => is_contiguous(sizes, strides),
        }
    }

    /// The format that strides suggest (`suggest_memory_format`): `channels_last` or `channels_last_3d` if the axes are in that order, with
    /// or without gaps, else contiguous. If axes of size 1 leave it ambiguous, their strides decide.
    ///
    /// ```
    /// use castiron::MemoryFormat;
    /// assert_eq!(MemoryFormat::suggested(&[2, 3, 1, 1], &[3, 1, 1, 1]), MemoryFormat::CONTIGUOUS);
    /// assert_eq!(MemoryFormat::suggested(&[2, 3, 1, 1], &[3, 1, 3, 3]), MemoryFormat::CHANNELS_LAST);
    /// ```
    pub fn suggested(sizes: &[usize], strides: &[usize]) -> MemoryFormat {
        [MemoryFormat::CHANNELS_LAST, MemoryFormat::CHANNELS_LAST_3D]
            .into_iter()
            .find(|format| format.order().is_some_and(|order| seems_ordered(order, sizes, strides)))
            .unwrap_or(MemoryFormat::CONTIGUOUS)
    }

    /// Whether `to(memory_format=…)` returns a tensor of these sizes and strides unchanged: the format is [suggested](Self::suggested), or
    /// is `preserve_format`.
    pub fn is_kept_by_to(self, sizes: &[usize], strides: &[usize]) -> bool {
        self == MemoryFormat::PRESERVE || self == MemoryFormat::suggested(sizes, strides)
    }

    /// The strides of `contiguous(memory_format=…)`; `None` if the tensor already has that format.
    ///
    /// # Errors
    /// If the format is for another number of axes, or is `preserve_format`, which is not an order.
    pub fn made_contiguous(self, sizes: &[usize], strides: &[usize]) -> Result<Option<Vec<usize>>> {
        let op = "contiguous";
        if self.is_order_of(sizes, strides) {
            return Ok(None);
        }
        if self == MemoryFormat::PRESERVE {
            return Err(Error::InvalidArgument { op, reason: format!("{self} is no order to bring elements into") });
        }
        self.copied(op, sizes, strides).map(Some)
    }
}

/// Whether the strides have this order, with or without gaps, from the channels to the batch.
///
/// Source: `c10/core/MemoryFormat.h`, `is_channels_last_strides_2d_s4`.
fn seems_ordered(order: &[usize], sizes: &[usize], strides: &[usize]) -> bool {
    if order.len() != sizes.len() || strides[1] == 0 {
        return false;
    }
    let mut least = 0;
    for &axis in order {
        // For sizes N111 all strides may be equal: that counts as contiguous.
        if sizes[axis] == 0 || strides[axis] < least || (axis == 0 && least == strides[1]) {
            return false;
        }
        least = strides[axis];
        if sizes[axis] > 1 {
            least = least.saturating_mul(sizes[axis]);
        }
    }
    true
}

/// Like `Display`.
impl fmt::Debug for MemoryFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `torch.channels_last`: as PyTorch prints it.
impl fmt::Display for MemoryFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "torch.{}", self.name())
    }
}

impl FromStr for MemoryFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<MemoryFormat> {
        let bare = name.strip_prefix("torch.").unwrap_or(name);
        MemoryFormat::ALL.into_iter().find(|format| format.name() == bare).ok_or_else(|| Error::InvalidArgument {
            op: "memory_format",
            reason: format!(
                "no memory format is called `{name}`: expected contiguous_format, preserve_format, channels_last or channels_last_3d"
            ),
        })
    }
}

/// The sizes and strides of an operand, and whether it is converted to another dtype first.
pub type OperandLayout<'a> = (&'a [usize], &'a [usize], bool);

/// The strides of the new result of an elementwise operation, of `sizes`, from its operands before broadcasting. Scalars count as operands
/// without axes.
///
/// ```
/// use castiron::layout::memory_format::elementwise;
/// let sizes = [2, 3, 4, 5];
/// let (rows, images) = ([60, 20, 5, 1], [60, 1, 15, 3]);
/// // The first operand whose order is not ambiguous decides.
/// assert_eq!(elementwise(&sizes, &[(&sizes, &images, false), (&sizes, &rows, false)]), images);
/// assert_eq!(elementwise(&sizes, &[(&sizes, &rows, false), (&sizes, &images, false)]), rows);
/// ```
pub fn elementwise(sizes: &[usize], operands: &[OperandLayout<'_>]) -> Vec<usize> {
    let layouts: Vec<Vec<usize>> = operands
        .iter()
        .map(|&(from, strides, is_converted)| {
            let mut kept = strides.to_vec();
            if is_converted {
                write_preserved(from, strides, &mut kept);
            }
            broadcast_list(from, &kept, sizes)
        })
        .collect();
    let alike = operands.iter().all(|&(from, _, _)| from == sizes);
    let mut strides = vec![0; sizes.len()];
    write_elementwise(sizes, &layouts, alike, &mut strides);
    strides
}

/// [`elementwise`] for a known number of operands, without memory.
pub(crate) fn elementwise_of<const N: usize>(sizes: &Dims, operands: [OperandLayout<'_>; N]) -> Dims {
    let alike = operands.iter().all(|&(from, _, _)| *from == **sizes);
    let (mut from, mut to) = ([*sizes; N], *sizes);
    write_elementwise_walk(sizes, &operands, alike, &mut from, &mut to);
    to
}

/// The strides of an elementwise result, and those of its operands broadcast to it; `alike` if no operand (including scalars) has to be
/// broadcast; of at most three. (Generic over nothing, so that it is compiled once for all operations and shapes.)
pub(crate) fn write_elementwise_walk(
    sizes: &[usize],
    operands: &[OperandLayout<'_>],
    alike: bool,
    from: &mut [Dims],
    to: &mut Dims,
) {
    let mut converts = false;
    for (&(own, strides, is_converted), from) in operands.iter().zip(&mut *from) {
        write_broadcast(own, strides, sizes, from);
        converts |= is_converted;
    }
    if !converts {
        return write_elementwise(sizes, from, alike, to);
    }
    let mut layouts = [*to; 3];
    for ((&(own, strides, is_converted), from), layout) in operands.iter().zip(from).zip(&mut layouts) {
        *layout = *from;
        if is_converted {
            let mut kept = Dims::known(strides);
            write_preserved(own, strides, &mut kept);
            write_broadcast(own, &kept, sizes, layout);
        }
    }
    write_elementwise(sizes, &layouts[..operands.len()], alike, to);
}

/// The memory format of concatenated tensors, from what each suggests: the common one, else contiguous.
///
/// Source: `aten/src/ATen/native/TensorShape.cpp`, `cat_compute_output_memory_format`.
pub fn joined(suggested: &[MemoryFormat]) -> MemoryFormat {
    match suggested {
        [first, rest @ ..] if rest.iter().all(|format| format == first) => *first,
        _ => MemoryFormat::CONTIGUOUS,
    }
}

/// The strides of tensors of one shape stacked along a new axis, from what each suggests: PyTorch concatenates them along the existing axis
/// and splits it in two; along a last axis it concatenates them with the new axis in place.
pub fn stacked(sizes: &[usize], axis: usize, suggested: &[MemoryFormat]) -> Vec<usize> {
    let order = joined(suggested).order();
    match order {
        Some(order) if axis + 1 < sizes.len() && order.len() + 1 == sizes.len() => {
            let end_to_end = [&sizes[..axis], &[sizes[axis] * sizes[axis + 1]], &sizes[axis + 2..]].concat();
            let (mut joined, mut strides) = (vec![0; end_to_end.len()], vec![0; sizes.len()]);
            write_along(order.iter().copied(), &end_to_end, &mut joined);
            // (An axis can always be split.)
            write_reshaped(&end_to_end, &joined, sizes, &mut strides);
            strides
        }
        Some(order) if order.len() == sizes.len() => {
            let mut strides = vec![0; sizes.len()];
            write_along(order.iter().copied(), sizes, &mut strides);
            strides
        }
        _ => row_major(sizes),
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A memory format as a type: [`Contiguous`], [`Preserve`], [`ChannelsLast`], [`ChannelsLast3d`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a memory format",
    label = "expected `Contiguous`, `Preserve`, `ChannelsLast` or `ChannelsLast3d`"
)]
pub trait Format: sealed::Sealed + Copy + Default + fmt::Debug + Send + Sync + 'static {
    /// The format as a value.
    const FORMAT: MemoryFormat;
}

/// A memory format for tensors of shape `S`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a memory format",
    label = "expected `Contiguous`, `Preserve`, `ChannelsLast` or `ChannelsLast3d`"
)]
pub trait FormatFor<S>: Format {}

/// A memory format that is an order of the elements, so that they can be rearranged to it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an order that elements can be brought into",
    label = "expected `Contiguous`, `ChannelsLast` or `ChannelsLast3d`"
)]
pub trait FixedOrder: Format {}

/// A shape with four axes.
#[diagnostic::on_unimplemented(
    message = "`channels_last` takes tensors of four axes, not of shape `{Self}`",
    label = "expected batch, channels, height and width",
    note = "in generic code write the shape as `(N, C, H, W)`; volumes of five axes have `ChannelsLast3d`; one image without a batch gets one by `.unsqueeze(axis![0])`"
)]
pub trait FourAxes: Shape {}
impl<A: Dim, B: Dim, C: Dim, D: Dim> FourAxes for (A, B, C, D) {}

/// A shape with five axes.
#[diagnostic::on_unimplemented(
    message = "`channels_last_3d` takes tensors of five axes, not of shape `{Self}`",
    label = "expected batch, channels, depth, height and width",
    note = "images of four axes have `ChannelsLast`"
)]
pub trait FiveAxes: Shape {}
impl<A: Dim, B: Dim, C: Dim, D: Dim, E: Dim> FiveAxes for (A, B, C, D, E) {}

macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident $value:ident for $shape:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;
        impl sealed::Sealed for $name {}
        impl Format for $name {
            const FORMAT: MemoryFormat = MemoryFormat::$value;
        }
        impl<S: $shape> FormatFor<S> for $name {}
    )*};
}
formats! {
    /// Row-major (`torch.contiguous_format`).
    Contiguous CONTIGUOUS for Shape;
    /// The strides of the input if it is dense (without gaps), else its order of axes (`torch.preserve_format`).
    Preserve PRESERVE for Shape;
    /// Images (batch, channels, height, width) with the channels of a pixel contiguous (`torch.channels_last`).
    ChannelsLast CHANNELS_LAST for FourAxes;
    /// Volumes (batch, channels, depth, height, width) with the channels of a voxel contiguous (`torch.channels_last_3d`).
    ChannelsLast3d CHANNELS_LAST_3D for FiveAxes;
}
impl FixedOrder for Contiguous {}
impl FixedOrder for ChannelsLast {}
impl FixedOrder for ChannelsLast3d {}

/// The strides of a new copy in the format `M`.
pub(crate) fn copied_in<S: Shape, M: FormatFor<S>>(
    op: &'static str,
    sizes: &S::Sizes,
    strides: &S::Sizes,
) -> Result<S::Sizes> {
    let mut copied = S::Sizes::filled(0);
    M::FORMAT.write_copied(op, sizes.as_ref(), strides.as_ref(), copied.as_mut())?;
    Ok(copied)
}
