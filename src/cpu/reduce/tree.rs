//! Partial results merged in the order of a binary counter, several side by side.

/// One row of partial results for each power of two blocks.
pub(super) struct Tree<P> {
    rows: Vec<P>,
    width: usize,
    count: usize,
}

impl<P: Copy> Tree<P> {
    pub(super) fn new() -> Self {
        Tree { rows: Vec::new(), width: 1, count: 0 }
    }

    /// Starts again, with so many side by side.
    pub(super) fn clear(&mut self, width: usize) {
        self.rows.clear();
        (self.width, self.count) = (width, 0);
    }

    /// One more row, which has met nothing yet.
    pub(super) fn grow(&mut self, start: P) -> &mut [P] {
        let low = self.rows.len();
        self.rows.resize(low + self.width, start);
        &mut self.rows[low..]
    }

    /// After the row has met its elements: merges as many equally large ones as the counter carries.
    pub(super) fn carry(&mut self, merge: impl Fn(P, P) -> P) {
        for _ in 0..self.count.trailing_ones() {
            self.merge(&merge);
        }
        self.count += 1;
    }

    /// Merges all that is left.
    pub(super) fn join(&mut self, merge: impl Fn(P, P) -> P) -> &mut [P] {
        while self.rows.len() > self.width {
            self.merge(&merge);
        }
        &mut self.rows
    }

    #[inline]
    fn merge(&mut self, merge: &impl Fn(P, P) -> P) {
        let Some(low) = self.rows.len().checked_sub(2 * self.width) else { return };
        let (earlier, later) = self.rows[low..].split_at_mut(self.width);
        for (earlier, later) in earlier.iter_mut().zip(later) {
            *earlier = merge(*earlier, *later);
        }
        self.rows.truncate(low + self.width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of merging: what a counter in binary carries, and the rest from the smallest up.
    #[test]
    fn partial_results_merge_in_a_tree_of_neighbours() {
        let merged = |count: usize| {
            // A partial result is the place of its text.
            let texts = std::cell::RefCell::new(vec![String::new(), "x".to_owned()]);
            let keep = |text: String| {
                texts.borrow_mut().push(text);
                texts.borrow().len() - 1
            };
            let merge = |a: usize, b: usize| {
                let text = format!("({} {})", texts.borrow()[a], texts.borrow()[b]);
                keep(text)
            };
            let mut tree = Tree::new();
            tree.clear(2);
            for at in 0..count {
                tree.grow(0).copy_from_slice(&[keep(at.to_string()), 1]);
                tree.carry(merge);
            }
            let place = tree.join(merge).first().copied().unwrap_or_default();
            texts.borrow()[place].clone()
        };
        assert_eq!(merged(0), "");
        assert_eq!(merged(4), "((0 1) (2 3))");
        assert_eq!(merged(7), "(((0 1) (2 3)) ((4 5) 6))");
    }
}
