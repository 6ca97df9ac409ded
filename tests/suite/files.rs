//! Tensors whose elements are in a mapped file: usable like any other, never written back to the file, and possibly larger than memory.

use castiron::{Element, Error, Tensor, axis, s, shape};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file that is removed with it.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("files-{name}-{}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Temporary(path)
    }

    /// So many bytes of zeros, which take no room on the disk, but for the numbers at these bytes.
    fn sparse(name: &str, bytes: u64, numbers: &[(u64, &[u8])]) -> Self {
        let temporary = Self::new(name, &[]);
        let mut file = File::options().write(true).open(&temporary.0).unwrap();
        file.set_len(bytes).unwrap();
        for (at, number) in numbers {
            file.seek(SeekFrom::Start(*at)).unwrap();
            file.write_all(number).unwrap();
        }
        temporary
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.0).unwrap()
    }
}
impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn bytes<const N: usize>(elements: [f32; N]) -> Vec<u8> {
    elements.map(f32::to_ne_bytes).concat()
}

type List<E> = Tensor<E, shape![_]>;

fn open<E: Element>(file: &Temporary, len: usize) -> Result<List<E>, Error> {
    // SAFETY: the file is this test's, and left alone.
    unsafe { Tensor::from_file(&file.0, [len]) }
}

#[test]
fn a_mapped_tensor_is_shared_viewed_and_written_like_any_other() {
    let content = bytes([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let file = Temporary::new("shared", &content);
    // SAFETY: as above.
    let mut x: Tensor<f32, shape![2, 3]> = unsafe { Tensor::from_file(&file.0, [2, 3]) }.unwrap();
    assert_eq!((x.shape(), x.stride(), x.storage_offset(), x.is_contiguous()), ([2, 3], [3, 1], 0, true));
    let (columns, clone) = (x.t(), x.clone());
    assert!(columns.shares_storage(&x) && clone.shares_storage(&x));
    x += 10.0;
    assert_eq!(x.to_vec(), [11.0, 12.0, 13.0, 14.0, 15.0, 16.0]);
    assert_eq!((columns.to_vec(), clone.to_vec()[0]), (vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0], 1.0));
    // The only one left writes where the file is mapped, and takes its memory for results.
    drop(columns);
    let mut clone = clone;
    let place = clone.as_slice().unwrap().as_ptr();
    clone *= 2.0;
    let doubled = clone * 2.0;
    assert_eq!((doubled.as_slice().unwrap().as_ptr(), doubled.to_vec()[5]), (place, 24.0));
    assert_eq!(doubled.into_vec()[..2], [4.0, 8.0]);
    assert_eq!(file.bytes(), content, "the file is as it was");
}

#[test]
fn a_tensor_may_be_a_part_of_the_file_one_element_or_none() {
    let file = Temporary::new("part", &bytes([1.5, 2.5, 3.5]));
    assert_eq!(open::<f32>(&file, 2).unwrap().to_vec(), [1.5, 2.5]);
    assert!(open::<f32>(&file, 0).unwrap().to_vec().is_empty());
    // SAFETY: as above.
    let one: Tensor<f32, ()> = unsafe { Tensor::from_file(&file.0, []) }.unwrap();
    assert_eq!(one.item(), 1.5);
    assert_eq!(open::<f32>(&Temporary::new("none", &[]), 0).unwrap().numel(), 0);
    let moved = std::thread::spawn(move || one + 1.0).join().unwrap();
    assert_eq!(moved.item(), 2.5_f32);
}

#[test]
fn what_is_no_such_tensor_is_an_error_that_names_the_file() {
    let file = Temporary::new("short", &[1, 2, 0, 1, 0, 0, 0]);
    let says = |error: Error, what: &str| {
        assert!(matches!(error, Error::File { op: "from_file", .. }), "{error}");
        assert!(error.to_string().starts_with("from_file: ") && error.to_string().ends_with(what), "{error}");
    };
    says(open::<f32>(&file, 2).unwrap_err(), ": [2] of float32 takes 8 bytes, the file has 7");
    let missing = Temporary(file.0.with_extension("missing"));
    assert!(matches!(open::<u8>(&missing, 1), Err(Error::File { path, .. }) if path == missing.0));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // SAFETY: nothing is mapped.
    says(unsafe { List::<u8>::from_file(folder, [1]) }.unwrap_err(), ": it is a folder");
    assert!(matches!(open::<i64>(&file, usize::MAX / 4), Err(Error::TooLarge { .. })));
    // SAFETY: as above.
    let wrong = unsafe { Tensor::<u8, shape![_, 3]>::from_file(&file.0, [1, 4]) };
    assert!(matches!(wrong, Err(Error::Shape { .. })), "{wrong:?}");
    // A byte of 2 is no bool, where it is asked for.
    assert_eq!(open::<bool>(&file, 1).unwrap().to_vec(), [true]);
    assert!(open::<bool>(&file, 2).unwrap_err().to_string().starts_with("from_file: a bool is a byte of 0 or 1"));
}

/// 64 GB of address space, of which only a few pages are used: sizes, strides and offsets beyond 2^32.
#[test]
#[cfg(target_pointer_width = "64")]
fn elements_far_beyond_the_memory_are_reached() {
    const ROWS: usize = 1 << 24;
    let place = |row: usize, column: usize| 4 * (1024 * row + column) as u64;
    let numbers: [(u64, &[u8]); 4] = [
        (place(0, 1), &1.0_f32.to_ne_bytes()),
        (place(ROWS / 2, 1), &2.0_f32.to_ne_bytes()),
        (place(ROWS - 1, 1), &4.0_f32.to_ne_bytes()),
        (place(ROWS - 1, 1023), &8.0_f32.to_ne_bytes()),
    ];
    let file = Temporary::sparse("large", 64 << 30, &numbers);
    // SAFETY: as above.
    let mut x: Tensor<f32, shape![_, 1024]> = unsafe { Tensor::from_file(&file.0, [ROWS, 1024]) }.unwrap();
    assert_eq!(x.numel(), 1 << 34);
    assert_eq!([x[(0, 1)], x[(ROWS / 2, 1)], x[(ROWS - 1, 1)], x[(ROWS - 1, 1023)]], [1.0, 2.0, 4.0, 8.0]);
    // Views: a row, a column with steps, the end of it transposed.
    assert_eq!(x.select(axis![0], ROWS - 1).sum().item(), 12.0);
    let steps = x.slice(s![..; ROWS / 8, 1]);
    assert_eq!((steps.shape(), steps.stride()), ([8], [1 << 31]));
    assert_eq!(steps.to_vec(), [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0]);
    let (most, at) = (steps.amax().item(), steps.argmax().item());
    assert_eq!((most, at, steps.clone().sort(axis![0], true).0.to_vec()[..2].to_vec()), (2.0, 4, vec![2.0, 1.0]));
    let end = x.narrow(axis![0], ROWS - 2, 2).t();
    assert_eq!(end.sum_axis(axis![0]).to_vec(), [0.0, 12.0]);
    // Indices: rows, and elements of a list.
    let rows: Tensor<i64, shape![_]> = Tensor::from_vec_sized(vec![ROWS as i64 - 1, 0, ROWS as i64 / 2], [3]);
    assert_eq!(x.index_select(axis![0], &rows).select(axis![1], 1).to_vec(), [4.0, 1.0, 2.0]);
    let far: Tensor<i64, shape![_]> = Tensor::from_vec_sized(vec![(1 << 34) - 1, 1, 1 << 33], [3]);
    assert_eq!(x.take(&far).to_vec(), [8.0, 1.0, 0.0]);
    assert!(x.try_take(Tensor::<i64, ()>::full(1_i64 << 34)).is_err());
    // Written where it is, once nothing else holds it: two pages take memory.
    drop((steps, end));
    x[(ROWS - 1, 1023)] = 16.0;
    x.slice_mut(s![..1]).fill(3.0);
    assert_eq!((x[(ROWS - 1, 1023)], x.select(axis![0], 0).sum().item()), (16.0, 3072.0));
}

/// Positions beyond 2^32 that come out of operations.
#[test]
#[cfg(target_pointer_width = "64")]
fn positions_beyond_32_bits_are_found() {
    let len = 5 << 30;
    let file = Temporary::sparse("bytes", len as u64, &[(len as u64 - 3, &[7])]);
    let x = open::<u8>(&file, len).unwrap();
    let far = x.slice(s![-5..]);
    assert_eq!((far.storage_offset(), far.to_vec()), (len - 5, vec![0, 0, 7, 0, 0]));
    let index: Tensor<i64, shape![_]> = Tensor::from_vec_sized(vec![len as i64 - 3, -3, 0], [3]);
    assert_eq!(x.take(&index).to_vec(), [7, 7, 0]);
    let parts = x.slice(s![..; 1 << 24]);
    assert_eq!((parts.numel(), parts.sum().item()), (5 << 6, 0));
}

#[cfg(feature = "any")]
#[test]
fn dtypes_that_are_known_at_run_time_are_mapped_too() {
    use castiron::{AnyTensor, DType};
    let file = Temporary::new("any", &bytes([1.0, -2.0]));
    // SAFETY: as above.
    let open = |sizes: &[usize], dtype| unsafe { AnyTensor::from_file(&file.0, sizes, dtype) };
    let mut x = open(&[2, 1], DType::F32).unwrap();
    x.mul_(3).unwrap();
    assert_eq!(x.typed::<f32, shape![2, 1], castiron::Cpu>().unwrap().to_vec(), [3.0, -6.0]);
    assert_eq!(open(&[8], DType::U8).unwrap().view_dtype(DType::F32).unwrap().to_scalars().unwrap().len(), 2);
    assert_eq!(open(&[0, 5], DType::F64).unwrap().shape(), [0, 5]);
    assert!(matches!(open(&[9], DType::U8), Err(Error::File { .. })));
    assert!(matches!(open(&[usize::MAX, 2], DType::U8), Err(Error::TooLarge { .. })));
    assert!(open(&[8], DType::Bool).is_err());
}
