//! Views of memory that castiron did not make: arrays of `ndarray` and structs of DLPack, with gaps that belong to somebody else.
//!
//! Whatever is asked of a view, it shows elements that its maker gave, and zeros where it reaches between them; and what its holder writes
//! between them shows in no view.

use super::Source;
use arbitrary::Result;
use castiron::io::DlPack;
use castiron::{AnyTensor, DType, Dyn, Element, TensorView, axis, s};
use ndarray::{ArrayView, ShapeBuilder};
use std::ffi::c_void;

type Two = (Dyn, Dyn);

/// Elements whose gaps can be told from what is given.
trait Given: Element {
    fn given(at: usize) -> Self;
    const GAP: Self;
    /// Whether those that are given are bools.
    const ARE_BOOLS: bool;
    /// As bools, and these as bytes again.
    fn seen_as_bools<'a>(_: &TensorView<'a, Self, Two>) -> Option<TensorView<'a, Self, Two>> {
        None
    }
}
impl Given for i64 {
    fn given(at: usize) -> i64 {
        at as i64 + 1
    }
    const GAP: i64 = -1;
    const ARE_BOOLS: bool = false;
}
/// Bytes that are bools, between bytes that are none.
impl Given for u8 {
    fn given(at: usize) -> u8 {
        at.is_multiple_of(3).into()
    }
    const GAP: u8 = 7;
    const ARE_BOOLS: bool = true;
    fn seen_as_bools<'a>(view: &TensorView<'a, u8, Two>) -> Option<TensorView<'a, u8, Two>> {
        view.try_view_dtype::<bool>().ok()?.try_view_dtype::<u8>().ok()
    }
}

/// A tensor of two axes as both fronts have it.
trait Seen<E>: Sized {
    fn place(&self) -> ([usize; 2], [usize; 2], usize);
    fn strided(&self, sizes: [usize; 2], strides: [usize; 2], offset: Option<usize>) -> Option<Self>;
    fn narrowed(&self, axis: usize, start: usize, len: usize) -> Option<Self>;
    fn turned(&self) -> Option<Self>;
    fn every(&self, step: usize) -> Option<Self>;
    fn spread(&self, len: usize) -> Option<Self>;
    /// Its bytes as bools, and these as bytes again.
    fn of_bools(&self) -> Option<Self>;
    /// Whether both are views of one storage.
    fn is_of(&self, other: &Self) -> bool;
    fn elements(&self) -> Vec<E>;
}

impl<E: Given> Seen<E> for TensorView<'_, E, Two> {
    fn place(&self) -> ([usize; 2], [usize; 2], usize) {
        (self.shape(), self.stride(), self.storage_offset())
    }
    fn strided(&self, sizes: [usize; 2], strides: [usize; 2], offset: Option<usize>) -> Option<Self> {
        self.try_as_strided_sized(sizes, strides, offset).ok()
    }
    fn narrowed(&self, axis: usize, start: usize, len: usize) -> Option<Self> {
        match axis {
            0 => self.try_narrow(axis![0], start, len).ok(),
            _ => self.try_narrow(axis![1], start, len).ok(),
        }
    }
    fn turned(&self) -> Option<Self> {
        Some(self.t())
    }
    fn every(&self, step: usize) -> Option<Self> {
        self.try_slice(s![..;step as isize]).ok()
    }
    fn spread(&self, len: usize) -> Option<Self> {
        self.try_expand_sized([len, self.size(axis![1])]).ok()
    }
    fn of_bools(&self) -> Option<Self> {
        E::seen_as_bools(self)
    }
    fn is_of(&self, other: &Self) -> bool {
        self.shares_storage(other)
    }
    fn elements(&self) -> Vec<E> {
        self.to_vec()
    }
}

impl<E: Given> Seen<E> for AnyTensor {
    fn place(&self) -> ([usize; 2], [usize; 2], usize) {
        (self.shape().try_into().unwrap(), self.stride().try_into().unwrap(), self.storage_offset())
    }
    fn strided(&self, sizes: [usize; 2], strides: [usize; 2], offset: Option<usize>) -> Option<Self> {
        self.as_strided(&sizes, &strides, offset).ok()
    }
    fn narrowed(&self, axis: usize, start: usize, len: usize) -> Option<Self> {
        self.narrow(axis as i64, start as i64, len).ok()
    }
    fn turned(&self) -> Option<Self> {
        self.t().ok()
    }
    fn every(&self, step: usize) -> Option<Self> {
        self.slice(0, None, None, step as i64).ok()
    }
    fn spread(&self, len: usize) -> Option<Self> {
        self.expand(&[len as i64, -1]).ok()
    }
    fn of_bools(&self) -> Option<Self> {
        self.view_dtype(DType::Bool).ok()?.view_dtype(E::DTYPE).ok()
    }
    fn is_of(&self, other: &Self) -> bool {
        self.shares_storage(other)
    }
    fn elements(&self) -> Vec<E> {
        self.typed::<E, Two, castiron::Cpu>().unwrap().to_vec()
    }
}

/// Memory of which a view's maker gives the elements that sizes and strides reach from an offset on.
struct Memory<E> {
    elements: Vec<E>,
    sizes: [usize; 2],
    strides: [usize; 2],
    offset: usize,
}

/// The places that sizes and strides reach, in row-major order.
fn places(sizes: [usize; 2], strides: [usize; 2], offset: usize) -> Vec<usize> {
    let row = |i: usize| (0..sizes[1]).map(move |j| offset + i * strides[0] + j * strides[1]);
    (0..sizes[0]).flat_map(row).collect()
}

impl<E: Given> Memory<E> {
    fn read(source: &mut Source) -> Result<Self> {
        let mut pair = |last| Ok([source.int_in_range(0..=last)?, source.int_in_range(0..=last)?]);
        let (sizes, strides): ([usize; 2], [usize; 2]) = (pair(4)?, pair(6)?);
        let offset = source.int_in_range(0..=3)?;
        let given = places(sizes, strides, offset);
        let len = given.iter().max().map_or(offset, |last| last + 1) + source.int_in_range(0..=3)?;
        let elements = (0..len).map(|at| if given.contains(&at) { E::given(at) } else { E::GAP }).collect();
        Ok(Memory { elements, sizes, strides, offset })
    }
    /// Writes what was not given.
    fn write_gaps(&mut self, start: *mut E) {
        let given = places(self.sizes, self.strides, self.offset);
        for at in (0..self.elements.len()).filter(|at| !given.contains(at)) {
            // SAFETY: the place is inside the memory, and nobody was given it.
            unsafe { start.add(at).write(E::GAP) };
        }
    }
}

/// Runs a program on a view, and the same checks after each of its steps.
fn explored<E: Given, V: Seen<E>>(source: &mut Source, memory: &mut Memory<E>, start: *mut E, view: V) -> Result<()> {
    let given = places(memory.sizes, memory.strides, memory.offset);
    let expected: Vec<E> = given.iter().map(|&at| E::given(at)).collect();
    assert_eq!(view.elements(), expected);
    let given: std::collections::HashSet<usize> = given.into_iter().collect();
    let (mut seen, mut shown) = (vec![view], vec![expected]);
    // Whether a view's places are those of the memory: a view that reached between them is a copy.
    let mut is_memory = vec![true];
    for _ in 0..source.int_in_range(1..=6)? {
        let at = source.choose_index(seen.len())?;
        let from = &seen[at];
        let (sizes, strides, offset) = from.place();
        let mut small = |last| source.int_in_range(0..=last);
        let [a, b, c, d, e] = [small(5)?, small(5)?, small(7)?, small(7)?, small(9)?];
        let kind = small(9)?;
        let (next, may_reach) = match kind {
            0 => (from.narrowed(0, a, b), false),
            1 => (from.narrowed(1, a, b), false),
            2 => (from.turned(), false),
            3 => (from.every(a + 1), false),
            4 => (from.spread(a), false),
            5 if E::ARE_BOOLS => (from.of_bools(), false),
            6 => (from.strided([a, b], [c, d], None), true),
            _ => (from.strided([a, b], [c, d], Some(e)), true),
        };
        let Some(next) = next else { continue };
        let found = next.elements();
        let (to_sizes, to_strides, to_offset) = next.place();
        assert_eq!(found.len(), to_sizes[0] * to_sizes[1]);
        let own: std::collections::HashSet<usize> = places(sizes, strides, offset).into_iter().collect();
        if may_reach {
            assert_eq!(to_sizes, [a, b]);
            // In a copy of a view's own elements offsets count from the first of them.
            let start = if next.is_of(from) { 0 } else { offset };
            let asked = places([a, b], [c, d], if kind == 6 { offset } else { start + e });
            for (&value, place) in found.iter().zip(&asked) {
                let place = memory.offset + place;
                let of_memory = if given.contains(&place) { E::given(place) } else { E::default() };
                if is_memory[at] && own.contains(&(place - memory.offset)) {
                    assert_eq!(value, of_memory);
                } else if is_memory[at] {
                    assert!(value == E::default() || value == of_memory);
                }
            }
            is_memory.push(is_memory[at] && start == 0 && asked.iter().all(|place| own.contains(place)));
        } else {
            if is_memory[at] {
                let at = places(to_sizes, to_strides, to_offset);
                let expected: Vec<E> = at.iter().map(|at| E::given(memory.offset + at)).collect();
                assert_eq!(found, expected);
            }
            is_memory.push(is_memory[at]);
        }
        assert!(!found.contains(&E::GAP), "{found:?}");
        seen.push(next);
        shown.push(found);
        memory.write_gaps(start);
        for (view, shown) in seen.iter().zip(&shown) {
            assert_eq!(&view.elements(), shown);
        }
    }
    Ok(())
}

fn array<E: Given>(source: &mut Source) -> Result<()> {
    let mut memory = Memory::<E>::read(source)?;
    let start = memory.elements.as_mut_ptr();
    // SAFETY: the places are inside the memory, and nothing else reads or writes them while the view exists.
    let view = unsafe {
        ArrayView::from_shape_ptr(memory.sizes.strides(memory.strides), start.wrapping_add(memory.offset).cast_const())
    };
    let reversed = source.ratio(1, 8)?;
    let view = match reversed {
        true => view.slice_move(ndarray::s![..;-1, ..]),
        false => view,
    };
    match TensorView::<E, Two>::from_ndarray(view) {
        Ok(view) if !reversed => explored(source, &mut memory, start, view),
        Ok(view) => {
            assert!(memory.sizes[0] <= 1 || memory.sizes[1] == 0 || memory.strides[0] == 0, "{view:?}");
            Ok(())
        }
        Err(error) => {
            assert!(reversed, "{error}");
            Ok(())
        }
    }
}

/// `DLManagedTensorVersioned`, as another library writes it.
#[repr(C)]
struct Managed {
    version: [u32; 2],
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
    flags: u64,
    data: *mut c_void,
    device: [i32; 2],
    rank: i32,
    dtype: (u8, u8, u16),
    sizes: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

unsafe extern "C" fn forget(_: *mut Managed) {}

fn dlpack<E: Given>(source: &mut Source) -> Result<()> {
    let mut memory = Memory::<E>::read(source)?;
    let start = memory.elements.as_mut_ptr();
    let numbers = |of: [usize; 2]| of.map(|number| number as i64);
    let (sizes, strides) = (numbers(memory.sizes), numbers(memory.strides));
    let bytes = size_of::<E>();
    let mut managed = Managed {
        version: [1, 0],
        context: std::ptr::null_mut(),
        deleter: Some(forget),
        flags: 0,
        data: start.cast(),
        device: [1, 0],
        rank: 2,
        dtype: (u8::from(E::DTYPE == DType::U8), 8 * bytes as u8, 1),
        sizes: sizes.as_ptr(),
        strides: strides.as_ptr(),
        byte_offset: (memory.offset * bytes) as u64,
    };
    // SAFETY: the struct, its lists and the memory outlive the tensor, and nobody writes the places that were given.
    let x =
        unsafe { DlPack::from_raw((&raw mut managed).cast()).and_then(|given| AnyTensor::from_dlpack(given)) }.unwrap();
    explored::<E, _>(source, &mut memory, start, x.clone())?;
    // What is written is castiron's own.
    let mut own = x;
    own.fill_(1).unwrap();
    let given = places(memory.sizes, memory.strides, memory.offset);
    assert!(given.iter().all(|&at| memory.elements[at] == E::given(at)));
    Ok(())
}

pub fn run(data: &[u8]) {
    let source = &mut Source::new(data);
    let programs: [fn(&mut Source) -> Result<()>; 4] = [array::<i64>, array::<u8>, dlpack::<i64>, dlpack::<u8>];
    let Ok(program) = source.choose(&programs) else { return };
    let _ = program(source);
}
