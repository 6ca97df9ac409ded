//! Windows that move along axes: how convolutions and pooling read their operand, and how many places there are.
//!
//! Source: PyTorch, `torch.nn.Conv2d`, `torch.nn.MaxPool2d` ("Shape"). Uses errors; used by the devices, `tensor` and `any`.

use crate::error::{Error, Result};

/// A window along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// How many positions it takes.
    pub kernel: usize,
    /// How far it moves from one place to the next.
    pub stride: usize,
    /// The distance of its positions.
    pub dilation: usize,
    /// Positions in front of the axis.
    pub before: usize,
    /// Positions behind the axis.
    pub after: usize,
}

impl Window {
    /// A window of one position that takes every place.
    pub const POINT: Window = Window { kernel: 1, stride: 1, dilation: 1, before: 0, after: 0 };

    /// How far it reaches: from its first position to its last, both counted.
    pub fn span(&self) -> Option<usize> {
        self.kernel.checked_sub(1)?.checked_mul(self.dilation)?.checked_add(1)
    }

    /// The size of the axis with its padding.
    pub fn padded(&self, len: usize) -> Option<usize> {
        self.before.checked_add(len)?.checked_add(self.after)
    }

    /// How many places it takes along an axis of so many positions, rounded down; `None` where it does not fit or sizes overflow.
    pub fn places(&self, len: usize) -> Option<usize> {
        let room = self.padded(len)?.checked_sub(self.span()?)?;
        Some(room.checked_div(self.stride)? + 1)
    }

    /// The same where the last place may begin anywhere on the axis or its front padding, and ends beyond (`ceil_mode`).
    pub fn places_rounded_up(&self, len: usize) -> Option<usize> {
        let room = self.padded(len)?.checked_sub(self.span()?)?;
        let places = room.checked_add(self.stride.checked_sub(1)?)?.checked_div(self.stride)? + 1;
        // PyTorch: the last window starts inside the axis or its front padding.
        let starts_inside = (places - 1).checked_mul(self.stride)? < self.before.checked_add(len)?;
        Some(if starts_inside { places } else { places - 1 })
    }

    /// What a place sees of an axis of so many positions.
    pub fn inside(&self, place: usize, len: usize) -> Inside {
        let start = place * self.stride;
        let skipped = self.before.saturating_sub(start).div_ceil(self.dilation);
        let first = (start + skipped * self.dilation).saturating_sub(self.before);
        let count = len.saturating_sub(first).div_ceil(self.dilation).min(self.kernel.saturating_sub(skipped));
        Inside { skipped, first, count }
    }

    /// [`places`](Self::places), or the error of an operation.
    pub fn expect_places(&self, op: &'static str, len: usize) -> Result<usize> {
        if self.stride == 0 || self.dilation == 0 {
            let what = if self.stride == 0 { "stride" } else { "dilation" };
            return Err(Error::InvalidArgument { op, reason: format!("a {what} of 0: expected one from 1 up") });
        }
        self.places(len).ok_or_else(|| {
            let reason = format!(
                "a window of {} (dilation {}) does not fit an axis of {len} padded by {} and {}",
                self.kernel, self.dilation, self.before, self.after
            );
            Error::InvalidArgument { op, reason }
        })
    }
}

/// The part of a window that is no padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inside {
    /// How many positions stand in front of the axis.
    pub skipped: usize,
    /// The position of the axis where the first one of the others is.
    pub first: usize,
    /// How many there are from there on, a dilation apart.
    pub count: usize,
}

/// A convolution over three axes; those that the operands lack have size 1 and a [`Window::POINT`].
#[derive(Clone, Copy, Debug)]
pub struct Convolution {
    /// The window of each axis: depth, height, width.
    pub windows: [Window; 3],
    /// How many groups the channels are divided into, each with its part of the weights.
    pub groups: usize,
}

impl Convolution {
    /// Whether each place reads the one position that it is: the convolution is a product of matrices.
    pub fn is_pointwise(&self) -> bool {
        self.windows == [Window::POINT; 3] && self.groups == 1
    }
}

#[cfg(test)]
mod tests {
    use super::{Inside, Window};

    fn window(kernel: usize, stride: usize, padding: usize, dilation: usize) -> Window {
        Window { kernel, stride, dilation, before: padding, after: padding }
    }

    /// By counting the places one by one.
    #[test]
    fn places_are_those_where_the_window_lies_inside() {
        for (kernel, stride, padding, dilation) in
            (1..4).flat_map(|k| (1..4).flat_map(move |s| (0..3).flat_map(move |p| (1..3).map(move |d| (k, s, p, d)))))
        {
            for len in 0..12 {
                let window = window(kernel, stride, padding, dilation);
                let span = (kernel - 1) * dilation + 1;
                let counted = (0..).map(|at| at * stride).take_while(|at| at + span <= len + 2 * padding).count();
                assert_eq!(window.places(len).unwrap_or(0), counted, "{window:?} over {len}");
            }
        }
        assert_eq!(window(7, 2, 3, 1).places(224), Some(112));
    }

    #[test]
    fn a_last_place_that_ends_beyond_the_axis_starts_inside_it() {
        assert_eq!(window(2, 2, 0, 1).places_rounded_up(5), Some(3));
        // The third window would start in the padding behind.
        assert_eq!(window(2, 2, 1, 1).places_rounded_up(3), Some(2));
        assert_eq!(window(3, 2, 1, 1).places_rounded_up(6), Some(4));
    }

    /// By asking of each position where it is.
    #[test]
    fn what_a_place_sees_is_neither_in_front_of_the_axis_nor_behind_it() {
        for (kernel, stride, padding, dilation) in
            (1..4).flat_map(|k| (1..4).flat_map(move |s| (0..4).flat_map(move |p| (1..4).map(move |d| (k, s, p, d)))))
        {
            let window = window(kernel, stride, padding.min(((kernel - 1) * dilation).div_ceil(2)), dilation);
            for (len, place) in (1..9).flat_map(|len| (0..9).map(move |place| (len, place))) {
                let at = |position: usize| (place * stride + position * dilation).checked_sub(window.before);
                let seen: Vec<usize> = (0..kernel).filter_map(at).filter(|&at| at < len).collect();
                let Inside { skipped, first, count } = window.inside(place, len);
                assert_eq!(count, seen.len(), "{window:?} at {place} of {len}");
                if let Some(&start) = seen.first() {
                    assert_eq!((first, at(skipped)), (start, Some(start)), "{window:?} at {place} of {len}");
                }
            }
        }
    }

    #[test]
    fn sizes_that_overflow_have_no_places() {
        assert_eq!(window(usize::MAX, 1, 1, 2).places(9), None);
        assert_eq!(window(1, 1, usize::MAX, 1).places(9), None);
        assert_eq!(window(0, 1, 0, 1).places(9), None);
    }
}
