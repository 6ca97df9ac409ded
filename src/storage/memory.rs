//! Tests of the memory of host buffers: errors are found by the assertions, by Miri, or by a sanitizer.

use super::{HostBuffer, Scratch, View, pages, pool};
use crate::Complex;
use crate::dtype::Element;
use core::ptr::NonNull;
use std::sync::{Barrier, mpsc};
use std::thread;

fn buffer(elements: &[i64]) -> HostBuffer {
    HostBuffer::from_vec(elements.to_vec()).unwrap()
}

/// All elements.
fn read<E: Element>(buffer: &HostBuffer) -> Vec<E> {
    // SAFETY: the tests write only elements of this dtype, or zeros.
    unsafe { core::slice::from_raw_parts(buffer.start::<E>(), buffer.len::<E>()) }.to_vec()
}

/// Writes all elements; returns whether the buffer allows it.
fn write<E: Element>(buffer: &mut HostBuffer, value: E) -> bool {
    let len = buffer.len::<E>();
    let Some(start) = buffer.start_mut::<E>() else { return false };
    // SAFETY: there are `len` elements, and the buffer allows writing them.
    (0..len).for_each(|at| unsafe { start.add(at).write(value) });
    true
}

#[test]
fn blocks_of_every_size_hold_their_elements() {
    fn check<E: Element>(len: usize, value: E) {
        // SAFETY: all elements are written.
        let filled = unsafe {
            HostBuffer::filled_by::<E>(len, |start| {
                (0..len).for_each(|at| start.add(at).write(value));
                Ok(())
            })
        };
        let mut filled = filled.unwrap();
        assert_eq!((filled.len::<E>(), read::<E>(&filled)), (len, vec![value; len]));
        assert!(filled.start::<E>().is_aligned() && write(&mut filled, E::default()));
        assert_eq!(read::<E>(&filled), vec![E::default(); len]);
        // SAFETY: as above.
        let both = unsafe {
            HostBuffer::filled_together(len, [size_of::<E>(), 1], &mut |[a, b]| {
                (0..len).for_each(|at| {
                    a.cast::<E>().add(at).write(value);
                    b.add(at).write(at as u8);
                });
                Ok(())
            })
        };
        let [a, b] = both.unwrap();
        assert_eq!(read::<E>(&a), vec![value; len]);
        assert_eq!(read::<u8>(&b), (0..len).map(|at| at as u8).collect::<Vec<u8>>());
        assert_eq!(read::<E>(&HostBuffer::zeroed::<E>(len).unwrap()), vec![E::default(); len]);
    }
    // Empty, one element, small blocks, blocks aligned to cache lines, and pooled blocks with and without a shift.
    for len in [0, 1, 3, 60, 64, 200] {
        check::<u8>(len, 7);
        check::<Complex<f64>>(len, Complex { re: 1.5, im: -2.5 });
    }
    // (Elements are compared one by one, which is slow under Miri.)
    let pooled = pool::SMALLEST / 16;
    for len in [pooled, pooled + 1000].into_iter().take(if cfg!(miri) { 1 } else { 2 }) {
        check::<Complex<f64>>(len, Complex { re: 1.5, im: -2.5 });
    }
}

#[test]
fn zeros_are_zeros_in_a_block_that_was_used_before() {
    let len = pool::SMALLEST + 11_111;
    for _ in 0..3 {
        let mut used = HostBuffer::zeroed::<u8>(len).unwrap();
        assert!(read::<u8>(&used) == vec![0; len]);
        let start = used.start_mut::<u8>().unwrap();
        // SAFETY: there are `len` bytes, and nobody else holds them.
        unsafe { start.write_bytes(0xff, len) };
    }
}

#[test]
fn a_vector_gives_back_what_it_had_reserved() {
    let mut elements = Vec::with_capacity(100);
    elements.extend([1_i64, 2, 3]);
    let place = elements.as_ptr();
    let taken = HostBuffer::from_vec(elements).unwrap();
    assert_eq!((read::<i64>(&taken), taken.start::<i64>()), (vec![1, 2, 3], place));
    let empty = HostBuffer::from_vec(Vec::<i64>::with_capacity(9)).unwrap();
    assert!(read::<i64>(&empty).is_empty());
    assert!(read::<i64>(&HostBuffer::from_vec(Vec::<i64>::new()).unwrap()).is_empty());
}

#[test]
fn a_block_is_written_while_one_handle_holds_it() {
    let mut one = buffer(&[1, 2, 3]);
    assert!(write(&mut one, 5_i64));
    let mut other = one.shared().unwrap();
    assert!(!one.is_unique() && !other.is_unique() && one.start_mut::<i64>().is_none());
    assert!(one.is_same(&other) && !one.is_same(&buffer(&[5, 5, 5])));
    drop(one);
    assert_eq!(read::<i64>(&other), [5, 5, 5]);
    assert!(write(&mut other, 6_i64));
    assert_eq!(read::<i64>(&other), [6, 6, 6]);
}

#[test]
fn borrowed_memory_gives_handles_while_it_is_lent() {
    let elements = [1_i64, 2, 3];
    // SAFETY: the elements outlive the buffer and the handles.
    let mut borrowed = unsafe { HostBuffer::borrowed(&elements) };
    assert!(borrowed.shared().is_none() && !borrowed.is_unique() && !borrowed.is_fixed());
    // SAFETY: as above, and it is closed below.
    let lent = unsafe { borrowed.lent() };
    let view = lent.shared().unwrap();
    lent.close();
    // No handle to borrowed memory is made from the view, from what was made of it, or from its source.
    assert!(lent.shared().is_none() && view.shared().is_none() && borrowed.shared().is_none());
    drop((borrowed, lent));
    assert_eq!((view.start::<i64>(), read::<i64>(&view)), (elements.as_ptr(), vec![1, 2, 3]));
    // An owned block gives handles before and after.
    let own = buffer(&[4]);
    // SAFETY: as above.
    let lent = unsafe { own.lent() };
    lent.close();
    assert!(lent.is_same(&own) && own.shared().is_some() && lent.shared().is_some());
    drop(own);
    assert_eq!(read::<i64>(&lent), [4]);
}

#[test]
fn memory_that_is_borrowed_to_be_written_is_written_where_it_is() {
    let mut elements = vec![1_i64, 2, 3];
    let (place, len) = (elements.as_mut_ptr(), elements.len());
    // SAFETY: the elements outlive the buffers, and are read and written through one after the other.
    unsafe {
        let mut borrowed = HostBuffer::borrowed_mut(place, len);
        assert!(borrowed.is_fixed() && borrowed.is_unique() && borrowed.shared().is_none());
        assert!(write(&mut borrowed, 4_i64));
        let mut window = borrowed.window();
        assert!(window.is_fixed() && window.shared().is_none() && window.is_same(&borrowed));
        assert!(write(&mut window, 5_i64));
        drop(window);
        // While it is lent, too, it is written in place, whoever else holds it.
        let lent = borrowed.lent();
        let mut view = lent.shared().unwrap();
        lent.close();
        drop((lent, borrowed));
        assert!(view.is_fixed() && write(&mut view, 6_i64) && view.shared().is_none());
    }
    assert_eq!(elements, [6, 6, 6]);
}

#[test]
fn a_window_leaves_the_block_where_it_is() {
    let mut block = buffer(&[1, 2, 3]);
    // SAFETY: the block outlives its window, and is not accessed meanwhile.
    let mut window = unsafe { block.window() };
    assert_eq!((window.start::<i64>(), window.len::<i64>()), (block.start(), 3));
    assert!(write(&mut window, 9_i64));
    drop(window);
    assert_eq!(read::<i64>(&block), [9, 9, 9]);
    assert!(block.is_unique() && !block.is_fixed());
}

#[test]
fn room_to_compute_in_is_aligned_and_filled() {
    for len in [0, 1, 5, 300] {
        let scratch = Scratch::filled(7_u32, [len]);
        assert_eq!(scratch.start().addr() % 64, 0);
        // SAFETY: all are initialised.
        let all = unsafe { core::slice::from_raw_parts(scratch.start(), len) };
        assert!(all.iter().all(|&x| x == 7));
    }
}

/// An overflowing product or sum must not become a small allocation.
#[test]
fn room_for_more_than_there_are_addresses_is_refused() {
    let half = 1 << (usize::BITS / 2);
    assert!(Scratch::<u8>::try_new([half, half]).is_err() && Scratch::<u8>::try_new([half, half, 2, half]).is_err());
    assert!(Scratch::<u8>::for_parts(&[&[usize::MAX], &[1, 1]]).is_err());
    assert!(Scratch::try_filled(1_u64, [half, half]).is_err());
}

/// Reads by other threads happen before the memory is freed: dropping the last handle does not block, so the ordering of the reference
/// count must ensure it.
#[test]
fn a_block_is_freed_after_all_threads_have_read_it() {
    for len in [4, pool::SMALLEST / 8] {
        let block = buffer(&vec![3; len]);
        let pooled = HostBuffer::zeroed::<i64>(len).unwrap();
        thread::scope(|scope| {
            for _ in 0..3 {
                let handles = [block.shared().unwrap(), pooled.shared().unwrap()];
                scope.spawn(move || {
                    let more = handles.each_ref().map(|handle| handle.shared().unwrap());
                    // SAFETY: the last element is inside.
                    let [a, b] = more.each_ref().map(|handle| unsafe { *handle.start::<i64>().add(len - 1) });
                    drop(handles);
                    assert_eq!([a, b], [3, 0]);
                });
            }
            drop((block, pooled));
        });
    }
}

/// The last holder writes: reads by others before they dropped their handles must not see it.
#[test]
fn a_block_is_written_after_all_threads_have_let_go() {
    let mut block = buffer(&[3, 3]);
    thread::scope(|scope| {
        for _ in 0..2 {
            let handle = block.shared().unwrap();
            scope.spawn(move || assert_eq!(read::<i64>(&handle), [3, 3]));
        }
        while !write(&mut block, 4_i64) {
            thread::yield_now();
        }
    });
    assert_eq!(read::<i64>(&block), [4, 4]);
}

/// The same with another writing thread each time.
#[test]
fn what_one_thread_has_written_is_read_by_the_next() {
    let (sender, receiver) = mpsc::channel::<HostBuffer>();
    thread::scope(|scope| {
        scope.spawn(move || {
            for value in 0..4 {
                let mut block = buffer(&[-1, -1]);
                assert!(write(&mut block, value));
                let other = block.shared().unwrap();
                sender.send(block).unwrap();
                // Read here while the other thread may want to write, which waits for this handle.
                assert_eq!(read::<i64>(&other), [value; 2]);
            }
        });
        scope.spawn(move || {
            for (value, mut block) in receiver.into_iter().enumerate() {
                while !write(&mut block, 10 + value as i64) {
                    thread::yield_now();
                }
                assert_eq!(read::<i64>(&block), [10 + value as i64; 2]);
            }
        });
    });
}

/// The pool gives a block to one thread at a time.
#[test]
fn pooled_blocks_are_nobody_elses() {
    let barrier = Barrier::new(3);
    let (rounds, len) = (if cfg!(miri) { 2 } else { 200 }, pool::SMALLEST);
    thread::scope(|scope| {
        for thread in 1..4_u8 {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                for _ in 0..rounds {
                    let mut block = HostBuffer::zeroed::<u8>(len).unwrap();
                    let start = block.start_mut::<u8>().unwrap();
                    // SAFETY: there are `len` bytes, and nobody else holds them.
                    unsafe { start.write_bytes(thread, len) };
                    thread::yield_now();
                    assert!(read::<u8>(&block) == vec![thread; len]);
                }
            });
        }
    });
}

/// A wrong bound that claims two dtypes are equal does not let elements be reinterpreted.
#[test]
#[should_panic(expected = "are not")]
fn elements_are_known_as_their_own_dtype_only() {
    let block = HostBuffer::zeroed::<f64>(2).unwrap();
    View::<_, f64>::new(&block, 0, &[2], &[1]).known_as::<i64>();
}

/// Foreign memory is an ordinary block: shared, written while there is one handle, and freed with the last handle, in any thread.
#[test]
fn the_owner_of_foreign_memory_is_dropped_with_the_last_handle() {
    struct Owner(*mut [i64], mpsc::Sender<Vec<i64>>);
    // SAFETY: nobody else accesses the elements.
    unsafe impl Send for Owner {}
    impl Drop for Owner {
        fn drop(&mut self) {
            // SAFETY: the pointer came from a box, and is dropped once.
            self.1.send(unsafe { Box::from_raw(self.0) }.into_vec()).unwrap();
        }
    }
    let (sender, receiver) = mpsc::channel();
    let elements = Box::into_raw(Box::new([1_i64, 2, 3]));
    let start = NonNull::new(elements.cast()).unwrap();
    // SAFETY: the elements stay in place and are not accessed while their owner exists.
    let mut block = unsafe { HostBuffer::foreign(Owner(elements, sender), start, size_of::<[i64; 3]>()) };
    assert_eq!((read::<i64>(&block), block.start::<u8>()), (vec![1, 2, 3], start.as_ptr().cast_const()));
    assert!(write(&mut block, 4_i64) && !block.is_fixed());
    let other = block.shared().unwrap();
    assert!(!write(&mut block, 5_i64) && block.is_same(&other));
    drop(block);
    assert!(receiver.try_recv().is_err());
    // SAFETY: the elements are `i64`.
    let other = unsafe { other.into_vec::<i64>() }.unwrap_err();
    thread::spawn(move || drop(other)).join().unwrap();
    assert_eq!(receiver.recv(), Ok(vec![4; 3]));
}

/// Blocks of huge pages are aligned to them, zeroed if new, and writable from end to end.
#[test]
#[cfg_attr(miri, ignore = "it takes long")]
fn large_blocks_are_aligned_zeros() {
    for bytes in [pages::HUGE_PAGE, pages::HUGE_PAGE + 1, 9 << 20] {
        let size = pool::block_size(bytes).unwrap();
        assert!(size >= bytes && size.is_multiple_of(pages::LARGEST_PAGE));
        let blocks = [(); 3].map(|()| pages::take(size, true).unwrap());
        for (start, zeroed) in blocks {
            assert!(zeroed && start.addr().get().is_multiple_of(pages::HUGE_PAGE));
            // SAFETY: the block has that many bytes, all zero.
            unsafe {
                assert!(core::slice::from_raw_parts(start.as_ptr(), size).iter().all(|&byte| byte == 0));
                start.write_bytes(0xff, size);
            }
        }
        for (start, _) in blocks {
            // SAFETY: it came from `take` with this size.
            unsafe { pages::free(start, size) }
        }
    }
}

/// Zeroed memory larger than the free memory costs nothing until it is used.
#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64", not(debug_assertions)))]
fn pages_take_memory_when_they_are_used() {
    let len = 4 << 30;
    let Ok(mut zeros) = HostBuffer::zeroed::<u8>(len) else { return };
    let start = zeros.start_mut::<u8>().unwrap();
    // SAFETY: both places are inside.
    unsafe {
        start.add(len - 1).write(7);
        assert_eq!([start.read(), start.add(len / 2).read(), start.add(len - 1).read()], [0, 0, 7]);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kilobytes: usize = resident.trim().trim_end_matches("kB").trim().parse().unwrap();
    assert!(kilobytes < 3 << 20, "{kilobytes} kB are resident");
}

/// A list's contents do not depend on the pages it is in.
#[test]
#[cfg_attr(miri, ignore = "it takes long")]
fn long_lists_are_lists_like_any_other() {
    for len in [0, 1, pages::HUGE_PAGE / 4 - 1, pages::HUGE_PAGE / 2 + 77] {
        let list = crate::error::filled(7_u64, len).unwrap();
        assert!(list.len() == len && list.capacity() == len && list.iter().all(|&element| element == 7));
    }
}

/// A value is dropped with its last handle, whichever thread has it, and changed while there is one.
#[test]
fn a_counted_value_is_dropped_once() {
    use super::counted::Counted;
    struct Told(u32, mpsc::Sender<u32>);
    impl Drop for Told {
        fn drop(&mut self) {
            self.1.send(self.0).unwrap();
        }
    }
    let (sender, receiver) = mpsc::channel();
    let mut one = Counted::new(Told(1, sender.clone()));
    one.get_mut().unwrap().0 = 2;
    let other = one.clone();
    assert!(one.get_mut().is_none() && !other.is_unique() && one.is_same(&other) && other.0 == 2);
    drop(other);
    one.get_mut().unwrap().0 += 1;
    let handles = [(); 3].map(|()| one.clone());
    thread::scope(|scope| {
        for handle in handles {
            scope.spawn(move || {
                let more = handle.clone();
                drop(handle);
                assert_eq!(more.0, 3);
            });
        }
        while one.get_mut().is_none() {
            thread::yield_now();
        }
    });
    assert!(receiver.try_recv().is_err());
    let other = one.clone();
    thread::scope(|scope| {
        for handle in [one, other] {
            scope.spawn(move || drop(handle));
        }
    });
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [3]);
    // A value that has handles to others; blocks that the thread's list does not have.
    struct Chained(Told, [u64; 200], Option<Counted<Chained>>);
    #[repr(align(64))]
    struct Aligned(Told);
    let told = |number| Told(number, sender.clone());
    let chain = (0..3).fold(None, |next, at| Some(Counted::new(Chained(told(at), [u64::from(at); 200], next))));
    assert!(chain.as_ref().is_some_and(|chain| (chain.0.0, chain.1[199]) == (2, 2) && chain.2.is_some()));
    drop(chain);
    let aligned = Counted::new(Aligned(told(7)));
    assert_eq!((&raw const *aligned).addr() % 64, 0);
    assert_eq!(aligned.0.0, 7);
    drop(aligned);
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2, 1, 0, 7]);
}
