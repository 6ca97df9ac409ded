//! Pairwise merging of partial results in the order of a binary counter, several results in parallel.

use super::functions::ReduceLoops;
use crate::cpu::bytes::ByteBuffer;

/// Rows of partial results, one per set bit of the number of blocks.
pub(super) struct MergeTree {
    rows: ByteBuffer,
    /// Number of rows, and of blocks merged into them.
    height: usize,
    accumulated: usize,
    /// Partial results per row, and the size of one.
    width: usize,
    size: usize,
}

impl MergeTree {
    pub(super) fn new(size: usize) -> Self {
        MergeTree { rows: ByteBuffer::new(), height: 0, accumulated: 0, width: 1, size }
    }

    /// Starts again, with `width` results in parallel.
    pub(super) fn clear(&mut self, width: usize) {
        (self.width, self.height, self.accumulated) = (width, 0, 0);
    }

    fn row(&mut self, at: usize) -> *mut u8 {
        let bytes = self.width * self.size;
        self.rows.reserve((at + 1) * bytes).wrapping_add(at * bytes)
    }

    /// A new row, to be written before [`carry`](Self::carry).
    pub(super) fn grow(&mut self) -> *mut u8 {
        let row = self.row(self.height);
        self.height += 1;
        row
    }

    /// Merges the new row with as many equally large rows as the counter carries.
    pub(super) fn carry(&mut self, functions: &dyn ReduceLoops) {
        for _ in 0..self.accumulated.trailing_ones() {
            self.merge(functions);
        }
        self.accumulated += 1;
    }

    /// [`grow`](Self::grow) and [`carry`](Self::carry) for several rows of one partial result each.
    ///
    /// # Safety
    /// There are `count` partial results of these functions, and a row has one.
    pub(super) unsafe fn climb(&mut self, functions: &dyn ReduceLoops, partials: *const u8, count: usize) {
        // The height grows by at most the bits of the added count, and a carry.
        let top = self.height + (usize::BITS - count.leading_zeros()) as usize;
        let stack = self.row(top).wrapping_sub(top * self.size);
        // SAFETY: the caller's promise, and the stack has room for these rows.
        self.height = unsafe { functions.climb(stack, self.height, self.accumulated, partials, count) };
        self.accumulated += count;
    }

    /// Merges all rows; returns the remaining one, if any.
    pub(super) fn join(&mut self, functions: &dyn ReduceLoops) -> *mut u8 {
        while self.height > 1 {
            self.merge(functions);
        }
        self.row(0)
    }

    fn merge(&mut self, functions: &dyn ReduceLoops) {
        let Some(low) = self.height.checked_sub(2) else { return };
        let later = self.row(low + 1);
        let earlier = later.wrapping_sub(self.width * self.size);
        // SAFETY: both rows have been written.
        unsafe { functions.merge(earlier, later, self.width) }
        self.height -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::functions::{Destination, Facts, LineRun, RowRun};
    use super::*;
    use std::sync::Mutex;

    /// Partial results are indices of texts that record what was merged with what.
    struct Texts(Mutex<Vec<String>>);
    impl Texts {
        fn keep(&self, text: String) -> usize {
            let mut texts = self.0.lock().unwrap();
            texts.push(text);
            texts.len() - 1
        }
        fn merged(&self, earlier: usize, later: usize) -> usize {
            let text = {
                let texts = self.0.lock().unwrap();
                format!("({} {})", texts[earlier], texts[later])
            };
            self.keep(text)
        }
    }
    impl ReduceLoops for Texts {
        fn facts(&self) -> Facts {
            unreachable!("a tree asks for no facts")
        }
        unsafe fn start(&self, _: *mut u8, _: usize) {}
        unsafe fn lines(&self, _: LineRun, _: *mut u8, _: usize) {}
        unsafe fn rows(&self, _: RowRun, _: *mut u8, _: usize) {}
        unsafe fn finish(&self, _: Destination, _: *const u8, _: usize) {}
        unsafe fn merge(&self, earlier: *mut u8, later: *const u8, count: usize) {
            for at in 0..count {
                // SAFETY: the tree gives rows that have been written.
                unsafe {
                    let (earlier, later) = (earlier.cast::<usize>().add(at), later.cast::<usize>().add(at));
                    earlier.write(self.merged(earlier.read(), later.read()));
                }
            }
        }
        unsafe fn climb(
            &self,
            stack: *mut u8,
            mut height: usize,
            accumulated: usize,
            partials: *const u8,
            count: usize,
        ) -> usize {
            let stack = stack.cast::<usize>();
            for at in 0..count {
                // SAFETY: as above.
                unsafe {
                    stack.add(height).write(partials.cast::<usize>().add(at).read());
                    for _ in 0..(accumulated + at).trailing_ones() {
                        height -= 1;
                        self.merge(stack.add(height).cast(), stack.add(height + 1).cast(), 1);
                    }
                }
                height += 1;
            }
            height
        }
    }

    const EXPECTED: [(usize, &str); 3] = [(1, "0"), (4, "((0 1) (2 3))"), (7, "(((0 1) (2 3)) ((4 5) 6))")];

    /// Merges as a binary counter carries, and the rest from the smallest up.
    #[test]
    fn partial_results_merge_in_a_tree_of_neighbours() {
        for (count, expected) in EXPECTED {
            let texts = Texts(Mutex::default());
            let mut tree = MergeTree::new(size_of::<usize>());
            tree.clear(2);
            for at in 0..count {
                let row = tree.grow().cast::<usize>();
                // SAFETY: a row of two.
                unsafe { row.write(texts.keep(at.to_string())) };
                // SAFETY: as above.
                unsafe { row.add(1).write(texts.keep("x".to_owned())) };
                tree.carry(&texts);
            }
            // SAFETY: the row of all has been written.
            let place = unsafe { tree.join(&texts).cast::<usize>().read() };
            assert_eq!(texts.0.lock().unwrap()[place], expected);
        }
    }

    /// Rows pushed several at a time merge into the same tree.
    #[test]
    fn partial_results_that_come_together_merge_in_the_same_tree() {
        for (count, expected) in EXPECTED {
            for step in 1..=count {
                let texts = Texts(Mutex::default());
                let mut tree = MergeTree::new(size_of::<usize>());
                let all: Vec<usize> = (0..count).map(|at| texts.keep(at.to_string())).collect();
                for some in all.chunks(step) {
                    // SAFETY: partial results of these functions.
                    unsafe { tree.climb(&texts, some.as_ptr().cast(), some.len()) };
                }
                // SAFETY: the row of all has been written.
                let place = unsafe { tree.join(&texts).cast::<usize>().read() };
                assert_eq!(texts.0.lock().unwrap()[place], expected);
            }
        }
    }
}
