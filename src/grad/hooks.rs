//! Hooks: functions that see the gradient of a value once it is complete, and may replace it.

use super::tape::{RESULTS, Step, locked};
use crate::error::Result;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// Sees a gradient, in the storage of the value's node, and gives another in its place or `None`.
pub(crate) type Hook<B> = Arc<dyn Fn(&B) -> Result<Option<B>> + Send + Sync>;

/// The hooks of a step's results, in the order in which they were registered.
pub(crate) struct Hooks<B>(Arc<Mutex<Vec<Registered<B>>>>);
/// A hook and its number.
struct Registered<B> {
    number: u64,
    result: usize,
    hook: Hook<B>,
}
impl<B> Default for Hooks<B> {
    fn default() -> Self {
        Hooks(Arc::default())
    }
}

/// Where a hook was registered. It does not keep the step.
pub(crate) struct Place<B> {
    number: u64,
    hooks: Weak<Mutex<Vec<Registered<B>>>>,
}

impl<B> Hooks<B> {
    pub(crate) fn register(&self, result: usize, hook: Hook<B>) -> Place<B> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        locked(&self.0).push(Registered { number, result, hook });
        Place { number, hooks: Arc::downgrade(&self.0) }
    }
}
impl<B> Place<B> {
    /// The hook is not called any more.
    pub(crate) fn remove(&self) {
        let Some(hooks) = self.hooks.upgrade() else { return };
        let removed = {
            let mut hooks = locked(&hooks);
            let at = hooks.iter().position(|hook| hook.number == self.number);
            at.map(|at| hooks.remove(at))
        };
        // Without the lock: what the function owns is the user's.
        drop(removed);
    }
}
impl<B> Step<B> {
    /// Calls the hooks of the results that have gradients.
    pub(crate) fn call_hooks(&self, gradients: &mut [Option<B>; RESULTS]) -> Result<()> {
        let Some(Hooks(hooks)) = self.hooks.get() else { return Ok(()) };
        // Without the lock: a hook may register others, or go another way back.
        let hooks: Vec<(usize, Hook<B>)> =
            locked(hooks).iter().map(|registered| (registered.result, registered.hook.clone())).collect();
        for (result, hook) in hooks {
            if let Some(gradient) = &mut gradients[result]
                && let Some(other) = hook(gradient)?
            {
                *gradient = other;
            }
        }
        Ok(())
    }
}
