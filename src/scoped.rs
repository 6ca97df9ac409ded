//! Settings of a thread, such as the default dtype and the default device, and guards that change them for a while.

use core::cell::RefCell;
use core::marker::PhantomData;
use std::thread::LocalKey;

/// The values set, innermost last. The first entry belongs to no guard and stays.
pub(crate) struct Setting<T> {
    entries: Vec<(u64, T)>,
    next: u64,
}

impl<T: Copy> Setting<T> {
    pub(crate) fn new(value: T) -> RefCell<Self> {
        RefCell::new(Setting { entries: vec![(0, value)], next: 1 })
    }
}

pub(crate) type Local<T> = LocalKey<RefCell<Setting<T>>>;

/// The value in effect; `None` while the thread ends and its settings are gone.
pub(crate) fn get<T: Copy>(setting: &'static Local<T>) -> Option<T> {
    setting.try_with(|setting| setting.borrow().entries.last().map(|&(_, value)| value)).ok().flatten()
}

/// Changes the value set by the innermost guard, or the first if there is no guard.
pub(crate) fn set<T: Copy>(setting: &'static Local<T>, value: T) {
    // (Nothing reads it any more while the thread ends.)
    let _ = setting.try_with(|setting| {
        if let Some(innermost) = setting.borrow_mut().entries.last_mut() {
            innermost.1 = value;
        }
    });
}

/// Removes its entry when it is dropped. Cannot leave its thread.
pub(crate) struct Guard<T: 'static> {
    setting: &'static Local<T>,
    id: u64,
    stays: PhantomData<*const ()>,
}

impl<T: Copy> Guard<T> {
    pub(crate) fn new(setting: &'static Local<T>, value: T) -> Self {
        let push = |setting: &RefCell<Setting<T>>| {
            let mut setting = setting.borrow_mut();
            let id = setting.next;
            setting.next += 1;
            setting.entries.push((id, value));
            id
        };
        // (No guard has the id 0.)
        Guard { setting, id: setting.try_with(push).unwrap_or(0), stays: PhantomData }
    }
}

impl<T: 'static> Drop for Guard<T> {
    fn drop(&mut self) {
        let _ =
            self.setting.try_with(|setting| setting.borrow_mut().entries.retain(|&(id, _)| id == 0 || id != self.id));
    }
}

impl<T> core::fmt::Debug for Guard<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Guard")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    std::thread_local! {
        static NUMBER: RefCell<Setting<i32>> = Setting::new(0);
    }

    #[test]
    fn guards_restore_what_was_before_also_out_of_order_and_when_panicking() {
        let (first, second) = (Guard::new(&NUMBER, 1), Guard::new(&NUMBER, 2));
        assert_eq!(get(&NUMBER), Some(2));
        drop(first);
        assert_eq!(get(&NUMBER), Some(2));
        set(&NUMBER, 3);
        assert_eq!(std::thread::spawn(|| get(&NUMBER)).join().unwrap(), Some(0));
        drop(second);
        assert_eq!(get(&NUMBER), Some(0));
        let panicked = std::panic::catch_unwind(|| {
            let _guard = Guard::new(&NUMBER, 4);
            panic!("inside");
        });
        assert!(panicked.is_err());
        assert_eq!(get(&NUMBER), Some(0));
        set(&NUMBER, 5);
        assert_eq!(get(&NUMBER), Some(5));
    }
}
