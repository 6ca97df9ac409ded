//! NumPy's files: those of NumPy are read, NumPy reads ours, and malformed files are refused.

use castiron::io::{Npz, NpzWriter};
use castiron::{Complex, Element, Error, Meta, Tensor, axis, bf16, f16, shape, tensor};
use std::path::{Path, PathBuf};

/// A file that is removed with it.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("npy-{name}-{}.npy", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Temporary(path)
    }
}
impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A file as NumPy writes it.
fn file(version: u8, header: &str, elements: &[u8]) -> Vec<u8> {
    let length = header.len() as u32;
    let length = if version == 1 { (length as u16).to_le_bytes().to_vec() } else { length.to_le_bytes().to_vec() };
    [b"\x93NUMPY", &[version, 0][..], &length, header.as_bytes(), elements].concat()
}

fn load<E: Element, S: castiron::Shape>(name: &str, bytes: &[u8]) -> Result<Tensor<E, S>, Error> {
    Tensor::load_npy(&Temporary::new(name, bytes).0)
}

fn refused(name: &str, bytes: &[u8], says: &str) {
    let error = load::<u8, shape![_]>(name, bytes).unwrap_err();
    assert!(matches!(error, Error::File { op: "load_npy", .. }) && error.to_string().contains(says), "{error}");
}

#[test]
fn every_dtype_that_numpy_has_goes_there_and_back() {
    fn check<E: Element>(descr: &str, elements: [E; 4]) {
        let x: Tensor<E, shape![2, 2]> = Tensor::from_vec(elements.to_vec());
        let file = Temporary::new("dtypes", &[]);
        x.save_npy(&file.0).unwrap();
        let bytes = std::fs::read(&file.0).unwrap();
        let start = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2, 2), }}");
        assert_eq!(bytes[10..10 + start.len()], *start.as_bytes());
        assert_eq!((bytes.len() - 4 * size_of::<E>()) % 64, 0, "elements are aligned");
        assert_eq!(bytes[bytes.len() - 4 * size_of::<E>() - 1], b'\n');
        assert_eq!(Tensor::<E, shape![_, 2]>::load_npy(&file.0).unwrap().to_vec(), elements);
        // SAFETY: the file is this test's, and left alone.
        let mapped = unsafe { Tensor::<E, shape![2, 2]>::map_npy(&file.0) }.unwrap();
        assert_eq!(mapped.t().to_vec(), x.t().to_vec());
        #[cfg(feature = "any")]
        {
            let any = castiron::AnyTensor::load_npy(&file.0).unwrap();
            assert_eq!((any.dtype(), any.to_bytes()), (E::DTYPE, castiron::AnyTensor::from(&x).to_bytes()));
            any.t().unwrap().save_npy(&file.0).unwrap();
            assert_eq!(Tensor::<E, shape![2, 2]>::load_npy(&file.0).unwrap().to_vec(), x.t().to_vec());
        }
    }
    check("|b1", [true, false, false, true]);
    check("|u1", [0_u8, 1, 2, 255]);
    check("|i1", [0_i8, 1, -1, -128]);
    check("<u2", [0_u16, 1, 2, u16::MAX]);
    check("<i2", [0_i16, 1, -1, i16::MIN]);
    check("<u4", [0_u32, 1, 2, u32::MAX]);
    check("<i4", [0_i32, 1, -1, i32::MIN]);
    check("<u8", [0_u64, 1, 2, u64::MAX]);
    check("<i8", [0_i64, 1, -1, i64::MIN]);
    check("<f2", [0.0, 1.5, -2.0, 65504.0].map(f16::from_f32));
    check("<f4", [0.0, 1.5, -2.0, f32::INFINITY]);
    check("<f8", [0.0, 1.5, -2.0, 1e300]);
    check("<c8", [1.0, 2.0, 3.0, 4.0].map(|re| Complex::new(re, 0.5_f32)));
    check("<c16", [1.0, 2.0, 3.0, 4.0].map(|re| Complex::new(re, 0.5_f64)));
}

#[test]
fn sizes_are_written_as_python_writes_tuples() {
    let shape_of = |bytes: Vec<u8>| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        text[text.find("'shape': ").unwrap() + 9..text.find(", }").unwrap()].to_owned()
    };
    let file = Temporary::new("sizes", &[]);
    let saved = |save: &dyn Fn(&Path) -> Result<(), Error>| {
        save(&file.0).unwrap();
        shape_of(std::fs::read(&file.0).unwrap())
    };
    assert_eq!(saved(&|path| Tensor::<u8, ()>::scalar(7).save_npy(path)), "()");
    assert_eq!(Tensor::<u8, ()>::load_npy(&file.0).unwrap().item(), 7);
    assert_eq!(saved(&|path| tensor![1, 2].save_npy(path)), "(2,)");
    assert_eq!(saved(&|path| Tensor::<f32, shape![2, 0, 3]>::zeros().save_npy(path)), "(2, 0, 3)");
    assert_eq!(Tensor::<f32, shape![_, 0, _]>::load_npy(&file.0).unwrap().shape(), [2, 0, 3]);
}

#[test]
fn fortran_order_becomes_strides() {
    let header = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }\n";
    let elements: Vec<u8> = (0..6_i32).flat_map(i32::to_le_bytes).collect();
    // (All of the header takes 80 bytes so, which elements of four are aligned to.)
    let header = format!("{header:70}");
    let temporary = Temporary::new("fortran", &file(1, &header, &elements));
    let x: Tensor<i32, shape![2, 3]> = Tensor::load_npy(&temporary.0).unwrap();
    assert_eq!((x.stride(), x.to_vec()), ([1, 2], vec![0, 2, 4, 1, 3, 5]));
    // SAFETY: the file is this test's, and left alone.
    let y: Tensor<i32, shape![2, 3]> = unsafe { Tensor::map_npy(&temporary.0) }.unwrap();
    assert_eq!((y.stride(), y.storage_offset(), &y), ([1, 2], 20, &x));
    #[cfg(feature = "any")]
    {
        let any = castiron::AnyTensor::load_npy(&temporary.0).unwrap();
        assert_eq!((any.stride(), any.shape()), (&[1, 2][..], &[2, 3][..]));
        assert_eq!(any.to_bytes().unwrap(), castiron::AnyTensor::from(&x).to_bytes().unwrap());
    }
}

#[test]
fn big_endian_numbers_are_turned_round_and_not_mapped() {
    let header = |descr: &str| format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,), }}");
    let bytes = file(1, &header(">f4"), &[1.5_f32.to_be_bytes(), (-2.0_f32).to_be_bytes()].concat());
    assert_eq!(load::<f32, shape![2]>("big", &bytes).unwrap().to_vec(), [1.5, -2.0]);
    let complex = file(2, &header(">c8"), &[1.0_f32, 2.0, 3.0, 4.0].map(f32::to_be_bytes).concat());
    let x = load::<Complex<f32>, shape![2]>("big-complex", &complex).unwrap();
    assert_eq!(x.to_vec(), [Complex::new(1.0, 2.0), Complex::new(3.0, 4.0)]);
    let temporary = Temporary::new("big-mapped", &bytes);
    // SAFETY: the file is this test's, and left alone.
    let error = unsafe { Tensor::<f32, shape![2]>::map_npy(&temporary.0) }.unwrap_err().to_string();
    assert!(error.contains("in another order of bytes"), "{error}");
}

#[test]
fn dtypes_that_are_none_of_ours_or_of_numpys_are_refused_by_name() {
    let header = |descr: &str| format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}");
    refused("structures", &file(1, &header("[('a', '<f4'), ('b', '<i4')]"), &[0; 8]), "its elements are structures");
    refused("objects", &file(1, &header("'|O'"), &[0; 8]), "its elements are `|O`, Python objects");
    refused("void", &file(1, &header("'<V2'"), &[0; 2]), "view(np.uint16)");
    refused("strings", &file(1, &header("'<U4'"), &[0; 16]), "strings");
    refused("dates", &file(1, &header("'<M8[ns]'"), &[0; 8]), "dates");
    refused("long", &file(1, &header("'<f16'"), &[0; 16]), "of no dtype that castiron has");
    refused("long-int", &file(1, &header("'l'"), &[0; 8]), "integers as wide as a machine's");
    let latin = [&b"{'descr': [('\xe9', '<f4')], 'fortran_order': False, 'shape': (1,), }"[..], &[0; 4]].concat();
    let latin = [b"\x93NUMPY\x01\x00", &((latin.len() - 4) as u16).to_le_bytes()[..], &latin].concat();
    refused("latin", &latin, "its elements are structures");
    let file = Temporary::new("no-dtype", &[]);
    let error = Tensor::<bf16, shape![1]>::zeros().save_npy(&file.0).unwrap_err().to_string();
    assert!(error.ends_with("NumPy has no bfloat16: convert it first, for example by `.to::<f32>()`"), "{error}");
    assert!(Tensor::<f32, shape![1], Meta>::zeros().save_npy(&file.0).is_err());
    assert!(std::fs::read(&file.0).unwrap().is_empty(), "the old file is as it was");
}

/// `np.dtype` takes them, and so does `np.load`.
#[test]
fn dtypes_have_other_spellings() {
    fn check<E: Element>(spellings: &str, one: E, bytes: &[u8]) {
        for descr in spellings.split(' ') {
            let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,), }}");
            let x = load::<E, shape![1]>("spelling", &file(1, &header, bytes)).unwrap();
            assert_eq!(x.to_vec(), [one], "{descr}");
        }
    }
    check("<f8 <d", 1.5_f64, &1.5_f64.to_le_bytes());
    check(">f8 >d", 1.5_f64, &1.5_f64.to_be_bytes());
    check("d float64 =f8", 1.5_f64, &1.5_f64.to_ne_bytes());
    check("f float32", 1.5_f32, &1.5_f32.to_ne_bytes());
    check("<f", 1.5_f32, &1.5_f32.to_le_bytes());
    check("e float16", f16::from_f32(1.5), &f16::from_f32(1.5).to_ne_bytes());
    check("b int8 |i1", -3_i8, &[253]);
    check("B uint8", 253_u8, &[253]);
    check("? bool |b1", true, &[1]);
    check("q int64", -3_i64, &(-3_i64).to_ne_bytes());
}

#[test]
fn files_that_are_cut_off_or_lie_are_refused() {
    let temporary = Temporary::new("cut", &[]);
    tensor![1, 2; u8].save_npy(&temporary.0).unwrap();
    let whole = std::fs::read(&temporary.0).unwrap();
    assert_eq!(load::<u8, shape![_]>("whole", &whole).unwrap().to_vec(), [1, 2]);
    for end in 0..whole.len() {
        refused("cut-at", &whole[..end], "");
    }
    for at in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[at / 8] ^= 1 << (at % 8);
        let _ = load::<u8, shape![_]>("flipped", &bytes);
    }
    let header = |sizes: &str| format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {sizes}, }}");
    refused("large", &file(1, &header("(9223372036854775807,)"), &[0; 8]), "and 8 are there");
    refused("larger", &file(1, &header("(9223372036854775807, 4)"), &[0; 8]), "more elements than memory can address");
    refused("largest", &file(1, &header("(99999999999999999999,)"), &[0; 8]), "a size is expected");
    refused("negative", &file(1, &header("(-1,)"), &[]), "a size is expected");
    refused("no-comma", &file(1, &header("(2)"), &[0; 2]), "`,` is expected: a tuple of one size is written `(4,)`");
    refused("no-tuple", &file(1, &header("2"), &[0; 2]), "`(` is expected");
    refused(
        "header",
        &file(2, "", &[]).iter().copied().take(8).chain(u32::MAX.to_le_bytes()).collect::<Vec<_>>(),
        "more than",
    );
    refused("lacks", &file(1, "{'descr': '|u1'}", &[]), "the header lacks");
    refused("entry", &file(1, "{'order': '|u1'}", &[]), "an entry `order`");
    refused("behind", &file(1, &(header("(1,)") + "x"), &[1]), "the end is expected");
    refused("letters", &file(1, "{'déscr", &[]), "a string is expected");
    refused("version", &file(9, &header("(1,)"), &[1]), "");
    let mut minor = file(1, &header("(1,)"), &[1]);
    minor[7] = 7;
    refused("minor", &minor, "version 1.7 of the npy format is unknown");
    let bools = file(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", &[1, 2]);
    let error = load::<bool, shape![2]>("bools", &bools).unwrap_err().to_string();
    assert!(error.contains("a bool is a byte of 0 or 1"), "{error}");
    let error = load::<u8, shape![3]>("other", &whole).unwrap_err().to_string();
    assert!(error.ends_with("expected uint8 [3], found uint8 [2]"), "{error}");
}

#[test]
fn arrays_of_an_archive_are_read_and_written() {
    let (x, y) = (tensor![[1.0, 2.0], [3.0, 4.0]], Tensor::<i64, shape![_]>::zeros_sized([1000]));
    for is_compressed in [false, true] {
        let writer = NpzWriter::new().tensor("x", &x).tensor("layer/y", &y);
        let bytes = if is_compressed { writer.compressed() } else { writer }.to_bytes().unwrap();
        assert_eq!(bytes.len() < 8000, is_compressed);
        let temporary = Temporary::new("archive", &bytes);
        for mut file in [Npz::from_bytes(bytes.clone()).unwrap(), Npz::open(&temporary.0).unwrap()] {
            assert_eq!(file.names().collect::<Vec<_>>(), ["x", "layer/y"]);
            assert_eq!(file.info("x").unwrap(), (castiron::DType::F32, vec![2, 2]));
            assert_eq!(file.load::<f32, shape![2, 2]>("x").unwrap(), x);
            assert_eq!(file.load::<i64, shape![_]>("layer/y").unwrap(), y);
            let error = file.load::<f32, shape![2]>("x").unwrap_err().to_string();
            assert!(error.ends_with("array `x`: expected float32 [2], found float32 [2, 2]"), "{error}");
            assert!(file.load::<f32, shape![2]>("z").is_err());
            #[cfg(feature = "any")]
            assert_eq!(file.load_any("x").unwrap().shape(), [2, 2]);
        }
        for end in (0..bytes.len()).step_by(if is_compressed { 1 } else { 97 }) {
            let cut = Npz::from_bytes(bytes[..end].to_vec());
            assert!(cut.is_err() || cut.unwrap().load::<f32, shape![2, 2]>("x").is_err(), "{end}");
        }
    }
    // The method stands in the header of the array and in the directory; 12 is bzip2.
    let mut other = NpzWriter::new().tensor("x", &x).compressed().to_bytes().unwrap();
    let directory = other.windows(4).position(|at| at == b"PK\x01\x02").unwrap();
    (other[8], other[directory + 10]) = (12, 12);
    let error = Npz::from_bytes(other).unwrap().load::<f32, shape![2, 2]>("x").unwrap_err().to_string();
    assert!(error.ends_with("array `x`: it is compressed by bzip2, which castiron does not read: save it by `np.savez` or `np.savez_compressed`"), "{error}");
    let t = x.permute(axis![1, 0]);
    let twice = NpzWriter::new().tensor("x", &x).tensor("x", &t).to_bytes().unwrap_err().to_string();
    assert!(twice.starts_with("save_npz: memory: array `x`: "), "{twice}");
}

/// What an archive says of lengths asks for no memory that its bytes cannot fill.
#[test]
fn archives_that_lie_are_refused() {
    let x = tensor![1, 2; u8];
    let bytes = NpzWriter::new().tensor("x", &x).compressed().to_bytes().unwrap();
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] ^= flip;
            if let Ok(mut file) = Npz::from_bytes(bytes) {
                let _ = file.load::<u8, shape![2]>("x");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_and_not_waited_for() {
    let fifo = Temporary::new("fifo", &[]);
    std::fs::remove_file(&fifo.0).unwrap();
    crate::common::fifo(&fifo.0);
    let path = fifo.0.clone();
    let errors = crate::common::ends(move || {
        // SAFETY: nothing is mapped.
        let mapped = unsafe { Tensor::<u8, shape![_]>::map_npy(&path) };
        [Tensor::<u8, shape![_]>::load_npy(&path).err(), mapped.err(), Npz::open(&path).err()]
    });
    for error in errors {
        let error = error.unwrap().to_string();
        assert!(error.ends_with("it is no regular file (a pipe, a device or a socket)"), "{error}");
    }
}
