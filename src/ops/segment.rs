//! Segments: the pieces that an axis of a rearranged tensor is assembled from.

/// A range of positions of a result's axis, and the operand's positions that they come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// `len` positions from `start` upwards.
    Forward {
        /// The first position.
        start: usize,
        /// Number of positions.
        len: usize,
    },
    /// `len` positions from `start` downwards.
    Backward {
        /// The first position, the highest.
        start: usize,
        /// Number of positions.
        len: usize,
    },
    /// `len` positions from `start` upwards, each repeated `times` times.
    Each {
        /// The first position.
        start: usize,
        /// Number of positions.
        len: usize,
        /// Number of repetitions of each.
        times: usize,
    },
    /// `len` positions filled with the fill value.
    Fill {
        /// Number of positions.
        len: usize,
    },
}

impl Segment {
    /// A whole axis, unchanged.
    pub const fn whole(len: usize) -> Self {
        Segment::Forward { start: 0, len }
    }

    /// The number of positions in the result; `None` if it overflows.
    pub fn positions(self) -> Option<usize> {
        match self {
            Segment::Forward { len, .. } | Segment::Backward { len, .. } | Segment::Fill { len } => Some(len),
            Segment::Each { len, times, .. } => len.checked_mul(times),
        }
    }

    /// Whether all source positions are inside an axis of this size.
    pub(crate) fn inside(self, size: usize) -> bool {
        match self {
            Segment::Forward { start, len } | Segment::Each { start, len, .. } => {
                start.checked_add(len).is_some_and(|end| end <= size)
            }
            Segment::Backward { start, len } => len == 0 || (start < size && len <= start + 1),
            Segment::Fill { .. } => true,
        }
    }

    /// The positions `low..high` of a list of segments: at most two more segments than the list has.
    pub(crate) fn range(list: &[Segment], low: usize, high: usize) -> Vec<Segment> {
        let mut part = Vec::new();
        let mut at = 0;
        for &segment in list {
            // The result exists, so its number of positions does not overflow.
            let len = segment.positions().unwrap_or(0);
            let (from, to) = (low.clamp(at, at + len) - at, high.clamp(at, at + len) - at);
            if from < to {
                segment.cut(from, to, &mut part);
            }
            at += len;
        }
        part
    }

    /// Appends its positions `from..to`, at least one.
    fn cut(self, from: usize, to: usize, part: &mut Vec<Segment>) {
        match self {
            Segment::Forward { start, .. } => part.push(Segment::Forward { start: start + from, len: to - from }),
            Segment::Backward { start, .. } => part.push(Segment::Backward { start: start - from, len: to - from }),
            Segment::Fill { .. } => part.push(Segment::Fill { len: to - from }),
            Segment::Each { start, times, .. } => {
                // The rest of the first repetition, whole repetitions, the start of the last.
                let (first, last) = (from / times, to / times);
                if first == last {
                    part.push(Segment::Each { start: start + first, len: 1, times: to - from });
                    return;
                }
                let whole = from.div_ceil(times);
                for (start, len, times) in [
                    (start + first, 1, whole * times - from),
                    (start + whole, last - whole, times),
                    (start + last, 1, to - last * times),
                ] {
                    if len > 0 && times > 0 {
                        part.push(Segment::Each { start, len, times });
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Segment::*;
    use super::*;

    fn positions(list: &[Segment]) -> Vec<Option<usize>> {
        let mut all = Vec::new();
        for &segment in list {
            match segment {
                Forward { start, len } => all.extend((start..start + len).map(Some)),
                Backward { start, len } => all.extend((0..len).map(|i| Some(start - i))),
                Each { start, len, times } => all.extend((0..len * times).map(|i| Some(start + i / times))),
                Fill { len } => all.extend((0..len).map(|_| None)),
            }
        }
        all
    }

    #[test]
    fn a_range_of_a_list_has_the_positions_of_the_range() {
        let list = [
            Fill { len: 2 },
            Each { start: 1, len: 3, times: 4 },
            Forward { start: 0, len: 5 },
            Backward { start: 4, len: 3 },
            Each { start: 0, len: 0, times: 3 },
        ];
        let all = positions(&list);
        for low in 0..=all.len() {
            for high in low..=all.len() {
                assert_eq!(positions(&Segment::range(&list, low, high)), all[low..high], "{low}..{high}");
            }
        }
    }

    #[test]
    fn positions_beyond_the_axis_are_seen() {
        assert!(Forward { start: 1, len: 2 }.inside(3) && !Forward { start: 2, len: 2 }.inside(3));
        assert!(Backward { start: 2, len: 3 }.inside(3) && !Backward { start: 1, len: 3 }.inside(3));
        assert!(!Backward { start: 3, len: 1 }.inside(3));
        assert!(Fill { len: 9 }.inside(0) && Forward { start: 0, len: 0 }.inside(0));
    }
}
