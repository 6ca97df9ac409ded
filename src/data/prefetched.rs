//! `Prefetched`: an iterator that a thread is ahead of.

use super::Progress;
use core::fmt;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Runs an iterator in a thread, up to a number of items ahead of the caller (`num_workers` and `prefetch_factor` of PyTorch's `DataLoader`).
///
/// The thread ends when the iterator does, or when the result is dropped. A panic of the iterator goes on in the caller, after the items
/// before it. Where no thread can be started, the caller runs the iterator.
///
/// ```
/// use castiron::data::{Batches, prefetched};
/// use castiron::tensor;
/// let x = tensor![[0, 51], [102, 153], [204, 255]; u8];
/// // The thread converts the next batch while this one is used.
/// let batches = prefetched(Batches::new(&x, 2).map(|batch| batch / 255.0), 1);
/// assert_eq!((batches.progress().total, batches.map(|batch| batch.sum().item()).sum::<f32>()), (2, 3.0));
/// ```
pub fn prefetched<T: Send + 'static>(items: impl Iterator<Item = T> + Send + 'static, ahead: usize) -> Prefetched<T> {
    let left = items.size_hint().0;
    let (send, receive) = sync_channel(ahead.min(MOST));
    // (Handed over by a channel, so that the iterator is still here if there is no thread.)
    let (hand, handed) = sync_channel(1);
    let run = move || {
        let Ok(items) = handed.recv() else { return };
        let items: Box<dyn Iterator<Item = T> + Send> = items;
        for item in items {
            if send.send(item).is_err() {
                return;
            }
        }
    };
    let items: Box<dyn Iterator<Item = T> + Send> = Box::new(items);
    let source = match Builder::new().name("castiron-data".to_owned()).spawn(run) {
        // (There is room for it: sending does not fail as long as the thread is there to take it.)
        Ok(thread) => match hand.send(items) {
            Ok(()) => Source::Thread { receive, thread: Some(thread) },
            Err(items) => Source::Here(items.0),
        },
        Err(_) => Source::Here(items),
    };
    Prefetched { source, done: 0, left }
}

/// The most items ahead: a channel of them has its memory from the start.
const MOST: usize = 1024;

/// An iterator that a thread is ahead of: see [`prefetched`].
pub struct Prefetched<T> {
    source: Source<T>,
    done: usize,
    left: usize,
}

enum Source<T> {
    Thread { receive: Receiver<T>, thread: Option<JoinHandle<()>> },
    Here(Box<dyn Iterator<Item = T> + Send>),
}

impl<T> Prefetched<T> {
    /// How many items were given, and how many there are.
    pub fn progress(&self) -> Progress {
        Progress { done: self.done, total: self.done + self.left }
    }
}

impl<T> fmt::Debug for Prefetched<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prefetched({})", self.progress())
    }
}

impl<T> Iterator for Prefetched<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let item = match &mut self.source {
            Source::Here(items) => items.next(),
            Source::Thread { receive, thread } => receive.recv().ok().or_else(|| {
                // The thread has ended.
                if let Some(Err(panic)) = thread.take().map(JoinHandle::join) {
                    resume_unwind(panic);
                }
                None
            }),
        };
        if item.is_some() {
            (self.done, self.left) = (self.done + 1, self.left.saturating_sub(1));
        }
        item
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, None)
    }
}
