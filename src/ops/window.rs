//! Sliding windows along axes: how convolutions and pooling read their operand, and the size of the result.
//!
//! Source: PyTorch, `torch.nn.Conv2d`, `torch.nn.MaxPool2d` ("Shape").

use super::segment::Segment;
use crate::error::{Error, Result, room};

/// An axis whose padded length exceeds the positions inside windows by this factor is copied window by window first.
const MOST_APART: usize = 4;

/// A window along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Number of positions in the window: `kernel_size`.
    pub kernel: usize,
    /// The stride between adjacent windows.
    pub stride: usize,
    /// The distance between adjacent positions of the window.
    pub dilation: usize,
    /// Padding before the axis.
    pub before: usize,
    /// Padding after the axis.
    pub after: usize,
}

impl Window {
    /// A window of size one with stride one.
    pub const POINT: Window = Window { kernel: 1, stride: 1, dilation: 1, before: 0, after: 0 };

    /// Extent of the window: from its first to its last position, inclusive.
    pub fn span(&self) -> Option<usize> {
        self.kernel.checked_sub(1)?.checked_mul(self.dilation)?.checked_add(1)
    }

    /// The size of the axis with its padding.
    pub fn padded(&self, len: usize) -> Option<usize> {
        self.before.checked_add(len)?.checked_add(self.after)
    }

    /// Number of windows along an axis of `len` positions, rounded down; `None` if it does not fit or sizes overflow.
    pub fn places(&self, len: usize) -> Option<usize> {
        let room = self.padded(len)?.checked_sub(self.span()?)?;
        Some(room.checked_div(self.stride)? + 1)
    }

    /// The same, rounded up: the last window may start anywhere in the axis or its leading padding, and end beyond (`ceil_mode`).
    pub fn places_rounded_up(&self, len: usize) -> Option<usize> {
        let room = self.padded(len)?.checked_sub(self.span()?)?;
        let places = room.checked_add(self.stride.checked_sub(1)?)?.checked_div(self.stride)? + 1;
        // PyTorch: the last window starts inside the axis or its front padding.
        let starts_inside = (places - 1).checked_mul(self.stride)? < self.before.checked_add(len)?;
        Some(if starts_inside { places } else { places - 1 })
    }

    /// Extent of `places` windows: from the first position of the first to the last position of the last, inclusive.
    fn reach(&self, places: usize) -> Option<usize> {
        places.checked_sub(1)?.checked_mul(self.stride)?.checked_add(self.span()?)
    }

    /// The positions inside windows, concatenated window by window, if windows are far apart or far before the axis; otherwise `None`. The
    /// memory and work of padding an axis then depend on what the windows cover, not on their stride. `position` maps a position counted
    /// from the first window's start to the axis, or to `None` for padding.
    pub(crate) fn side_by_side(
        &self,
        places: usize,
        has_data: bool,
        position: impl Fn(usize) -> Option<usize>,
    ) -> Result<Option<AxisCopy>> {
        let len = places.saturating_mul(self.kernel);
        if self.reach(places).is_some_and(|reach| reach / MOST_APART <= len && self.before <= reach) {
            return Ok(None);
        }
        let window = Window { kernel: self.kernel, stride: self.kernel, dilation: 1, before: 0, after: 0 };
        if !has_data {
            return Ok(Some(AxisCopy { parts: vec![Segment::Fill { len }], len, window }));
        }
        let mut parts = room::<Segment>(len)?;
        for (place, number) in (0..places).flat_map(|place| (0..self.kernel).map(move |number| (place, number))) {
            let at = place.checked_mul(self.stride).zip(number.checked_mul(self.dilation));
            let at = at.and_then(|(place, number)| place.checked_add(number)).and_then(&position);
            match (at, parts.last_mut()) {
                (None, Some(Segment::Fill { len })) => *len += 1,
                (None, _) => parts.push(Segment::Fill { len: 1 }),
                (Some(at), Some(Segment::Forward { start, len })) if *start + *len == at => *len += 1,
                (Some(start), _) => parts.push(Segment::Forward { start, len: 1 }),
            }
        }
        Ok(Some(AxisCopy { parts, len, window }))
    }

    /// [`side_by_side`](Self::side_by_side) for an axis of `len` positions.
    #[inline]
    pub(crate) fn axis_side_by_side(&self, len: usize, places: usize, has_data: bool) -> Result<Option<AxisCopy>> {
        self.side_by_side(places, has_data, |at| at.checked_sub(self.before).filter(|&at| at < len))
    }

    /// An axis of `len` positions as windows without padding read it: unchanged, padded, or [concatenated](Self::side_by_side).
    #[inline]
    pub(crate) fn with_padding(self, op: &'static str, len: usize, places: usize, has_data: bool) -> Result<AxisCopy> {
        let window = self.reduced(len, places);
        if let Some(copy) = window.axis_side_by_side(len, places, has_data)? {
            return Ok(copy);
        }
        let Window { before, after, .. } = window;
        let padded = window.padded(len).ok_or_else(|| Error::TooLarge { op, sizes: [len][..].into() })?;
        let parts = match padded == len {
            true => vec![Segment::whole(len)],
            false => vec![Segment::Fill { len: before }, Segment::whole(len), Segment::Fill { len: after }],
        };
        Ok(AxisCopy { parts, len: padded, window: Window { before: 0, after: 0, ..window } })
    }

    /// An equivalent window for these `places` with no larger numbers than needed: with one place the stride is at most the axis, with one
    /// position the dilation is 1, and padding that no window reaches is removed.
    pub(crate) fn reduced(self, len: usize, places: usize) -> Window {
        let (Some(reach), Some(end)) = (self.reach(places), self.before.checked_add(len)) else { return self };
        let stride = if places < 2 { self.stride.min(reach.max(end)).max(1) } else { self.stride };
        let dilation = if self.kernel < 2 { 1 } else { self.dilation };
        Window { stride, dilation, after: reach.saturating_sub(end), ..self }
    }

    /// The part of window `place` that is inside an axis of `len` positions.
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

/// An axis as copied for windows, and the window that reads the copy.
pub(crate) struct AxisCopy {
    pub(crate) parts: Vec<Segment>,
    /// Total number of positions of the parts.
    pub(crate) len: usize,
    pub(crate) window: Window,
}

/// The part of a window that is not padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inside {
    /// Number of window positions before the axis.
    pub skipped: usize,
    /// The axis position of the first window position inside.
    pub first: usize,
    /// Number of window positions inside, `dilation` apart.
    pub count: usize,
}

/// A convolution over three axes; missing axes have size 1 and a [`Window::POINT`].
#[derive(Clone, Copy, Debug)]
pub struct Convolution {
    /// The window of each axis: depth, height, width.
    pub windows: [Window; 3],
    /// Number of groups that the channels are divided into.
    pub groups: usize,
}

impl Convolution {
    /// Whether each window is a single position with stride one: then the convolution is a matrix product.
    pub fn is_pointwise(&self) -> bool {
        self.windows == [Window::POINT; 3] && self.groups == 1
    }
}

#[cfg(test)]
mod tests {
    use super::{Inside, Segment, Window};

    fn window(kernel: usize, stride: usize, padding: usize, dilation: usize) -> Window {
        Window { kernel, stride, dilation, before: padding, after: padding }
    }

    /// Compared with counting the places one by one.
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
        // The third window would start in the trailing padding.
        assert_eq!(window(2, 2, 1, 1).places_rounded_up(3), Some(2));
        assert_eq!(window(3, 2, 1, 1).places_rounded_up(6), Some(4));
    }

    /// Compared with testing each position.
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

    /// Concatenated, or with reduced numbers, windows cover the same elements.
    #[test]
    fn what_is_laid_side_by_side_is_what_places_see() {
        let far = 1 << 60;
        let mut laid = 0;
        for (kernel, stride, padding, dilation) in [
            (1, 1, 0, 1),
            (3, 2, 1, 1),
            (1, far, far / 2, 1),
            (2, 1, far, 2 * far + 1),
            (2, 40, 9, 3),
            (3, 1, 50, 50),
            (2, 7, 0, 5),
            (1, 3, 20, usize::MAX),
        ] {
            for len in 1..60 {
                let own = window(kernel, stride, padding, dilation);
                let Some(places) = own.places(len) else { continue };
                let position = |window: Window, place: usize, position: usize| {
                    (place * window.stride + position * window.dilation)
                        .checked_sub(window.before)
                        .filter(|&at| at < len)
                };
                let all = || (0..places).flat_map(|place| (0..kernel).map(move |at| (place, at)));
                let seen: Vec<_> =
                    all().map(|(place, at)| position(own, place, if kernel == 1 { 0 } else { at })).collect();
                let reduced = own.reduced(len, places);
                assert_eq!(all().map(|(place, at)| position(reduced, place, at)).collect::<Vec<_>>(), seen);
                assert_eq!(reduced.places(len), Some(places), "{own:?} {reduced:?}");
                let copy = own.with_padding("conv1d", len, places, true).unwrap();
                let mut positions = Vec::new();
                for part in copy.parts {
                    match part {
                        Segment::Fill { len } => positions.extend((0..len).map(|_| None)),
                        Segment::Forward { start, len } => positions.extend((start..start + len).map(Some)),
                        other => panic!("{other:?}"),
                    }
                }
                let found: Vec<_> = all()
                    .map(|(place, at)| positions[place * copy.window.stride + at * copy.window.dilation])
                    .collect();
                assert_eq!((positions.len(), found), (copy.len, seen), "{own:?} over {len}");
                assert!(copy.len <= len + 4 * (places * kernel + 1), "{own:?} over {len}");
                laid += usize::from(own.axis_side_by_side(len, places, true).unwrap().is_some());
                let without_data = own.with_padding("conv1d", len, places, false).unwrap();
                assert_eq!((without_data.len, without_data.window), (copy.len, copy.window));
            }
        }
        assert!(laid > 100, "{laid}");
    }

    #[test]
    fn sizes_that_overflow_have_no_places() {
        assert_eq!(window(usize::MAX, 1, 1, 2).places(9), None);
        assert_eq!(window(1, 1, usize::MAX, 1).places(9), None);
        assert_eq!(window(0, 1, 0, 1).places(9), None);
    }
}
