//! Checkpoints: named tensors in safetensors files, saved and loaded, mapped or read, and malformed files.

use crate::common::ends;
use castiron::io::{CheckpointWriter, LoadOptions, StoredTensor};
use castiron::{
    Checkpoint, Complex, Element, Error, F4E2M1FNX2, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, Generator,
    Meta, Module, Tensor, axis, bf16, f16, shape, tensor,
};
use std::path::{Path, PathBuf};

/// A folder that is removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("checkpoints-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file of this header and these data.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

fn refused(bytes: Vec<u8>, says: &str) {
    let error = Checkpoint::from_bytes(bytes).unwrap_err();
    assert!(matches!(error, Error::File { op: "open", .. }), "{error}");
    assert!(error.to_string().contains(says), "{error}\nlacks: {says}");
}

#[test]
fn tensors_of_every_dtype_of_the_format_come_back_as_they_were() {
    fn check<E: Element>(bits: [E; 4]) {
        let x: Tensor<E, shape![2, 2]> = Tensor::from_vec(bits.to_vec());
        let bytes = CheckpointWriter::new().tensor("x", &x).tensor("t", &x.t()).to_bytes().unwrap();
        let file = Checkpoint::from_bytes(bytes).unwrap();
        assert_eq!(file.info("x").unwrap().to_string(), format!("{} [2, 2]", E::DTYPE));
        let codes = |elements: Vec<E>| elements.iter().map(|element| format!("{element:?}")).collect::<Vec<_>>();
        let load = |name| codes(Tensor::<E, shape![2, _]>::load(&file, name).unwrap().to_vec());
        assert_eq!((load("x"), load("t")), (codes(x.to_vec()), codes(x.t().to_vec())), "{}", E::DTYPE);
        #[cfg(feature = "any")]
        {
            let any = castiron::AnyTensor::load(&file, "t").unwrap();
            assert_eq!((any.dtype(), any.shape()), (E::DTYPE, &[2, 2][..]));
            let again = CheckpointWriter::new().tensor("x", &any.t().unwrap()).tensor("t", &any).to_bytes().unwrap();
            let again = Checkpoint::from_bytes(again).unwrap();
            assert_eq!(codes(Tensor::<E, shape![2, 2]>::load(&again, "x").unwrap().to_vec()), load("x"));
        }
    }
    check([true, false, false, true]);
    check([0_u8, 1, 127, 255]);
    check([0_i8, 1, -128, 127]);
    check([0_i16, 1, -2, i16::MIN]);
    check([0_i32, 1, -2, i32::MIN]);
    check([0_i64, 1, -2, i64::MIN]);
    check([0_u16, 1, 2, u16::MAX]);
    check([0_u32, 1, 2, u32::MAX]);
    check([0_u64, 1, 2, u64::MAX]);
    check([0.0, -0.0, 1.5, f32::NAN]);
    check([0.0, -0.0, 1.5, f64::INFINITY]);
    check([0.0, -1.5, 2.0, 65504.0].map(f16::from_f32));
    check([0.0, -1.5, 2.0, 1e30].map(bf16::from_f32));
    check([1.0, 2.0, 3.0, 4.0].map(|re| Complex::new(re, -0.5_f32)));
    check([0, 1, 0x80, 0x7e].map(F8E4M3FN::from_bits));
    check([0, 1, 0x81, 0x7e].map(F8E4M3FNUZ::from_bits));
    check([0, 1, 0x80, 0x7b].map(F8E5M2::from_bits));
    check([0, 1, 0x81, 0x7b].map(F8E5M2FNUZ::from_bits));
    check([0, 1, 0x80, 0xfe].map(F8E8M0FNU::from_bits));
    check([0x00, 0x12, 0xab, 0xff].map(F4E2M1FNX2::from_bits));
}

#[test]
fn dtypes_that_the_format_has_not_are_refused_by_name() {
    let says = |tensor: &dyn StoredTensor, dtype: &str| {
        let error = CheckpointWriter::new().tensor("z", tensor).to_bytes().unwrap_err().to_string();
        assert!(error.starts_with(&format!("save: memory: tensor `z`: the format has no {dtype} ")), "{error}");
    };
    says(&tensor![1.0 + 2.0j].to::<Complex<f64>>(), "complex128");
    says(&tensor![1.0 + 2.0j].to::<Complex<f16>>(), "complex32");
    let six = file(r#"{"w":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]}}"#, &[0; 3]);
    let six = Checkpoint::from_bytes(six).unwrap();
    assert_eq!((six.info("w").unwrap().to_string().as_str(), six.info("w").unwrap().dtype()), ("F6_E2M3 [4]", None));
    let error = Tensor::<u8, shape![4]>::load(&six, "w").unwrap_err().to_string();
    assert_eq!(error, "load: memory: tensor `w`: expected uint8 [4], found F6_E2M3 [4]");
    #[cfg(feature = "any")]
    {
        let error = castiron::AnyTensor::load(&six, "w").unwrap_err().to_string();
        assert_eq!(error, "load: memory: tensor `w`: castiron has no dtype F6_E2M3");
    }
}

#[test]
fn names_dtypes_shapes_and_texts_are_listed() {
    let (a, b, one) = (tensor![[1.0, 2.0, 3.0]], tensor![true], tensor![1]);
    let writer = CheckpointWriter::new().tensor("b", &b).tensor("a.weight", &a).tensor("one", &one);
    let (none, zero) = (Tensor::<f32, shape![0, 3]>::zeros(), Tensor::<f64, ()>::scalar(2.5));
    let writer = writer.tensor("empty", &none).tensor("zero-dim", &zero).metadata("format", "pt").metadata("\"", "\\");
    let file = Checkpoint::from_bytes(writer.to_bytes().unwrap()).unwrap();
    let listed: Vec<String> = file.tensors().map(|(name, info)| format!("{name}: {info}")).collect();
    assert_eq!(
        listed,
        ["a.weight: float32 [1, 3]", "b: bool [1]", "empty: float32 [0, 3]", "one: int64 [1]", "zero-dim: float64 []"]
    );
    assert_eq!((file.metadata()["format"].as_str(), file.metadata()["\""].as_str()), ("pt", "\\"));
    assert_eq!((file.len(), file.info("a.weight").unwrap().bytes(), file.info("empty").unwrap().numel()), (5, 12, 0));
    assert_eq!(Tensor::<f64, ()>::load(&file, "zero-dim").unwrap().item(), 2.5);
    assert_eq!(Tensor::<f32, shape![_, 3]>::load(&file, "empty").unwrap().shape(), [0, 3]);
    assert!(Checkpoint::from_bytes(CheckpointWriter::new().to_bytes().unwrap()).unwrap().is_empty());
}

#[test]
fn a_mapped_tensor_shares_the_file_and_a_read_one_has_memory_of_its_own() {
    let folder = Folder::new("mapped");
    let path = folder.file("w.safetensors");
    let (x, y) = (Tensor::<f32, shape![_]>::arange(0.0, 5.0, 1.0), tensor![1; u8]);
    CheckpointWriter::new().tensor("y", &y).tensor("x", &x).save(&path).unwrap();
    let content = std::fs::read(&path).unwrap();

    // SAFETY: the file is this test's; it is replaced and never changed.
    let mapped = unsafe { Checkpoint::map(&path) }.unwrap();
    let load = || Tensor::<f32, shape![_]>::load(&mapped, "x").unwrap();
    let (mut a, b) = (load(), load());
    assert!(a.shares_storage(&b) && a.as_slice().unwrap().as_ptr() == b.as_slice().unwrap().as_ptr());
    assert_eq!(a.as_slice().unwrap().as_ptr().addr() % 64, 0, "what castiron saves is aligned");
    a += 1.0;
    assert_eq!((a.to_vec(), load().to_vec()), (vec![1.0, 2.0, 3.0, 4.0, 5.0], x.to_vec()));
    #[cfg(feature = "any")]
    {
        let any = castiron::AnyTensor::load(&mapped, "x").unwrap();
        assert!(any.shares_storage(&castiron::AnyTensor::from(&b)), "nothing is copied");
    }

    // An older file that is mapped is replaced under its users.
    CheckpointWriter::new().tensor("x", &(&x * 10.0)).save(&path).unwrap();
    assert_eq!(b.to_vec(), x.to_vec());
    drop(mapped);
    let mut last = b;
    let place = last.as_slice().unwrap().as_ptr();
    drop(a);
    last *= 2.0;
    assert_eq!((last.as_slice().unwrap().as_ptr(), last.to_vec()[4]), (place, 8.0), "the last one writes where it is");

    let read = Checkpoint::open(&path).unwrap();
    let (a, b) =
        (Tensor::<f32, shape![5]>::load(&read, "x").unwrap(), Tensor::<f32, shape![5]>::load(&read, "x").unwrap());
    assert!(!a.shares_storage(&b) && a == b && a.to_vec()[4] == 40.0);
    assert_eq!(folder.names(), ["w.safetensors"], "nothing is left beside it");
    assert!(content != std::fs::read(&path).unwrap());
}

#[test]
fn what_is_not_aligned_is_copied() {
    let header = r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[1],"data_offsets":[8,9]} }"#;
    for spaces in 0..8 {
        let header = format!("{header}{}", " ".repeat(spaces));
        let data = [&1.5_f32.to_le_bytes()[..], &(-2.0_f32).to_le_bytes(), &[7]].concat();
        let file = Checkpoint::from_bytes(file(&header, &data)).unwrap();
        assert_eq!(Tensor::<f32, shape![_]>::load(&file, "w").unwrap().to_vec(), [1.5, -2.0]);
        assert_eq!(Tensor::<u8, shape![_]>::load(&file, "b").unwrap().to_vec(), [7]);
        #[cfg(feature = "any")]
        assert_eq!(
            castiron::AnyTensor::load(&file, "w").unwrap().add(1).unwrap().to_string(),
            "tensor([ 2.5000, -1.0000])"
        );
    }
}

#[test]
fn shards_and_folders_are_opened_as_one() {
    let folder = Folder::new("shards");
    let (a, b) = (tensor![1.0, 2.0], tensor![3, 4]);
    let shard = |name: &str, tensor: &dyn StoredTensor, of: &str| {
        CheckpointWriter::new().tensor(of, tensor).tensor("other", &tensor![0]).save(folder.file(name)).unwrap();
    };
    shard("model-1.safetensors", &a, "a");
    shard("model-2.safetensors", &b, "b");
    let index = folder.file("model.safetensors.index.json");
    let write = |map: &str| {
        std::fs::write(&index, format!(r#"{{"metadata":{{"total_size":24}},"weight_map":{map}}}"#)).unwrap()
    };
    write(r#"{"a":"model-1.safetensors","b":"model-2.safetensors"}"#);
    // SAFETY: the files are this test's, and left alone.
    for checkpoint in [Checkpoint::open(&index), Checkpoint::open(&folder.0), unsafe { Checkpoint::map(&folder.0) }] {
        let checkpoint = checkpoint.unwrap();
        assert_eq!((checkpoint.names().collect::<Vec<_>>(), checkpoint.path()), (vec!["a", "b"], &*index));
        assert_eq!(Tensor::<f32, shape![2]>::load(&checkpoint, "a").unwrap(), a);
        assert_eq!(Tensor::<i64, shape![2]>::load(&checkpoint, "b").unwrap(), b);
    }
    let says = |map: &str, what: &str| {
        write(map);
        let error = Checkpoint::open(&index).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    says(
        r#"{"a":"model-2.safetensors"}"#,
        "model-2.safetensors: the index says that tensor `a` is here, and it is not",
    );
    says(r#"{"a":"../model-1.safetensors"}"#, "the shard `../model-1.safetensors` is not a file beside the index");
    says(r#"{"a":"/etc/passwd"}"#, "the shard `/etc/passwd` is not a file beside the index");
    says(r#"{"a":"model-3.safetensors"}"#, "model-3.safetensors: ");
    says("[]", "it is no index of shards");
    std::fs::remove_file(&index).unwrap();
    let error = Checkpoint::open(&folder.0).unwrap_err().to_string();
    assert!(error.contains("several checkpoints"), "{error}");
    std::fs::remove_file(folder.file("model-2.safetensors")).unwrap();
    assert_eq!(Checkpoint::open(&folder.0).unwrap().path(), folder.file("model-1.safetensors"));
    std::fs::remove_file(folder.file("model-1.safetensors")).unwrap();
    assert!(Checkpoint::open(&folder.0).unwrap_err().to_string().contains("the folder has no `model.safetensors`"));
}

#[test]
fn errors_name_the_file_the_tensor_and_what_was_expected_and_found() {
    let folder = Folder::new("errors");
    let path = folder.file("model.safetensors");
    CheckpointWriter::new().tensor("encoder.weight", &tensor![[1.0, 2.0]]).save(&path).unwrap();
    let file = Checkpoint::open(&path).unwrap();
    let place = format!("load: {}: ", path.display());
    let missing = Tensor::<f32, shape![1, 2]>::load(&file, "weight").unwrap_err().to_string();
    assert_eq!(missing, format!("{place}there is no tensor `weight` among its 1, which are such as `encoder.weight`"));
    let found = "found float32 [1, 2]";
    let wrong = Tensor::<f64, shape![_, _]>::load(&file, "encoder.weight").unwrap_err().to_string();
    assert_eq!(wrong, format!("{place}tensor `encoder.weight`: expected float64 [_, _], {found}"));
    let wrong = Tensor::<f32, shape![2]>::load(&file, "encoder.weight").unwrap_err().to_string();
    assert_eq!(wrong, format!("{place}tensor `encoder.weight`: expected float32 [2], {found}"));
    // A file that is cut off after it was opened.
    std::fs::write(&path, &std::fs::read(&path).unwrap()[..40]).unwrap();
    let cut = Tensor::<f32, shape![1, 2]>::load(&file, "encoder.weight").unwrap_err().to_string();
    assert!(cut.starts_with(&format!("{place}tensor `encoder.weight`: ")), "{cut}");
    assert!(matches!(Checkpoint::open(folder.file("none")), Err(Error::File { .. })));
}

#[test]
fn what_cannot_be_saved_leaves_the_old_file() {
    let folder = Folder::new("atomic");
    let path = folder.file("w.safetensors");
    CheckpointWriter::new().tensor("w", &tensor![1]).save(&path).unwrap();
    let before = std::fs::read(&path).unwrap();
    let plan = Tensor::<f32, shape![3], Meta>::zeros();
    let error =
        CheckpointWriter::new().tensor("a", &tensor![1]).tensor("plan", &plan).save(&path).unwrap_err().to_string();
    assert!(error.contains("tensor `plan`: ") && error.contains("no data"), "{error}");
    let (one, two) = (tensor![1], tensor![2]);
    let error = CheckpointWriter::new().tensor("a", &one).tensor("a", &two).save(&path).unwrap_err().to_string();
    assert!(error.ends_with("tensor `a`: the name is there twice"), "{error}");
    assert!(CheckpointWriter::new().tensor("__metadata__", &one).save(&path).is_err());
    assert_eq!((std::fs::read(&path).unwrap(), folder.names()), (before, vec!["w.safetensors".to_owned()]));
    assert!(CheckpointWriter::new().save(folder.file("no/such/folder")).is_err());
}

#[cfg(unix)]
#[test]
fn a_new_file_has_the_mode_of_the_old_one_and_links_stay_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new("modes");
    let save = |name: &str| CheckpointWriter::new().tensor("w", &tensor![1]).save(folder.file(name)).unwrap();
    let is_there = |name: &str| Checkpoint::open(folder.file(name)).unwrap().len() == 1;
    for mode in [0o600, 0o640, 0o444] {
        std::fs::write(folder.file("old"), b"old").unwrap();
        std::fs::set_permissions(folder.file("old"), PermissionsExt::from_mode(mode)).unwrap();
        save("old");
        assert_eq!(std::fs::metadata(folder.file("old")).unwrap().permissions().mode() & 0o7777, mode);
        std::fs::remove_file(folder.file("old")).unwrap();
    }
    std::fs::create_dir(folder.file("deeper")).unwrap();
    symlink("deeper/target", folder.file("middle")).unwrap();
    symlink(folder.file("middle"), folder.file("link")).unwrap();
    for _ in ["the link leads to no file", "to one"] {
        save("link");
        assert!(is_there("deeper/target") && is_there("link"));
        assert!(["link", "middle"].iter().all(|name| folder.file(name).symlink_metadata().unwrap().is_symlink()));
    }
    symlink("round", folder.file("round")).unwrap();
    assert!(CheckpointWriter::new().save(folder.file("round")).is_err());
    assert!(CheckpointWriter::new().save(folder.file("deeper")).is_err());
    assert_eq!(folder.names(), ["deeper", "link", "middle", "round"], "nothing is left beside them");
    CheckpointWriter::new().tensor("w", &tensor![1]).save("/dev/null").unwrap();
}

#[cfg(unix)]
#[test]
fn a_fifo_is_written_to() {
    use std::os::unix::fs::FileTypeExt;
    let folder = Folder::new("fifo-written");
    let fifo = folder.file("fifo");
    crate::common::fifo(&fifo);
    let (writer, reader) = (fifo.clone(), fifo.clone());
    let saving = std::thread::spawn(move || CheckpointWriter::new().tensor("w", &tensor![1]).save(writer));
    let bytes = ends(move || std::fs::read(reader).unwrap());
    saving.join().unwrap().unwrap();
    assert_eq!(Checkpoint::from_bytes(bytes).unwrap().len(), 1);
    assert!(fifo.metadata().unwrap().file_type().is_fifo());
}

#[test]
fn progress_ends_at_the_whole() {
    let x = Tensor::<u8, shape![_]>::ones_sized([20 << 20]);
    let mut seen = Vec::new();
    let writer = CheckpointWriter::new().tensor("x", &x).tensor("y", &x);
    writer.on_progress(|at| seen.push((at.name.to_owned(), at.done, at.total))).to_bytes().unwrap();
    let total = 40 << 20;
    assert!(seen.len() > 4 && seen.iter().all(|of| of.2 == total) && seen.is_sorted_by_key(|of| of.1), "{seen:?}");
    assert_eq!(seen.last().unwrap(), &("y".to_owned(), total, total));
}

#[test]
fn a_function_that_is_told_of_progress_uses_the_same_checkpoint() {
    #[derive(Module)]
    struct Two {
        a: Tensor<i64, shape![2]>,
        b: Tensor<i64, shape![1]>,
    }
    let folder = Folder::new("progress");
    let path = folder.file("two.safetensors");
    Two { a: tensor![1, 2], b: tensor![3] }.save(&path).unwrap();
    let sums = ends(move || {
        let (file, mut sums) = (Checkpoint::open(&path).unwrap(), Vec::new());
        let other = |name: &str| Tensor::<i64, shape![_]>::load(&file, if name == "a" { "b" } else { "a" }).unwrap();
        let two: Two = LoadOptions::new().on_progress(|at| sums.push(other(at.name).sum().item())).load(&file).unwrap();
        assert_eq!((two.a.to_vec(), two.b.to_vec()), (vec![1, 2], vec![3]));
        sums
    });
    assert_eq!(sums, [3, 3]);
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_and_not_waited_for() {
    let folder = Folder::new("fifo");
    let (fifo, index) = (folder.file("model-1.safetensors"), folder.file("model.safetensors.index.json"));
    crate::common::fifo(&fifo);
    std::fs::write(&index, r#"{"weight_map":{"a":"model-1.safetensors"}}"#).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.file("socket")).unwrap();
    for path in [fifo, index, folder.file("socket"), "/dev/null".into()] {
        let error = ends(move || Checkpoint::open(path)).unwrap_err();
        assert!(matches!(&error, Error::File { op: "open", .. }), "{error}");
        let is_named = error.to_string().ends_with("it is no regular file (a pipe, a device or a socket)");
        assert!(is_named || error.to_string().contains("socket: "), "{error}");
    }
}

#[test]
fn strided_tensors_are_saved_in_row_major_order() {
    let x: Tensor<i32, shape![_]> = Tensor::arange(0, 24, 1);
    let x = x.reshape::<shape![2, 3, 4]>();
    let odd = x.permute(axis![2, 0, 1]);
    let part = x.slice(castiron::s![.., ::2, 1..3]);
    let wide = x.select(axis![0], 0).unsqueeze(axis![0]).expand::<shape![5, 3, 4]>();
    let writer = CheckpointWriter::new().tensor("odd", &odd).tensor("part", &part).tensor("wide", &wide);
    let file = Checkpoint::from_bytes(writer.to_bytes().unwrap()).unwrap();
    assert_eq!(Tensor::<i32, shape![4, 2, 3]>::load(&file, "odd").unwrap(), odd);
    assert_eq!(Tensor::<i32, shape![2, 2, 2]>::load(&file, "part").unwrap().to_vec(), part.to_vec());
    assert_eq!(Tensor::<i32, shape![5, 3, 4]>::load(&file, "wide").unwrap().to_vec(), wide.to_vec());
}

#[test]
fn a_file_cut_off_anywhere_is_an_error() {
    let (a, b) = (tensor![[1.0, 2.0]], tensor![true, false]);
    let whole = CheckpointWriter::new().tensor("a", &a).tensor("b", &b).metadata("k", "v").to_bytes().unwrap();
    assert!(Checkpoint::from_bytes(whole.clone()).is_ok());
    for end in 0..whole.len() {
        refused(whole[..end].to_vec(), "memory: ");
    }
    refused([&whole[..], &[0]].concat(), "or too long");
    // A flipped bit anywhere is an error or another file, and never more than that.
    for at in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[at / 8] ^= 1 << (at % 8);
        if let Ok(file) = Checkpoint::from_bytes(bytes) {
            for name in file.names() {
                let _ = Tensor::<f32, shape![_, _]>::load(&file, name);
                let _ = Tensor::<bool, shape![_]>::load(&file, name);
            }
        }
    }
}

#[test]
fn headers_that_lie_are_refused() {
    refused(file("{}\0\0\0", &[]), "the header ends with 3 NUL bytes: the format fills it up with spaces");
    for length in [u64::MAX, 1 << 63, 100_000_001, 1 << 40] {
        refused([&length.to_le_bytes()[..], b"{}"].concat(), "it is no safetensors file");
    }
    refused(file("[]", &[]), "the header is not what the format asks for");
    refused(file("{}", &[1]), "the tensors take 0 bytes, the file has 1 behind its header");
    let row = |dtype: &str, sizes: &str, offsets: &str| {
        format!(r#"{{"w":{{"dtype":"{dtype}","shape":{sizes},"data_offsets":{offsets}}}}}"#)
    };
    let most = u64::MAX;
    refused(file(&row("F32", "[1]", "[0,8]"), &[0; 8]), "tensor `w`: [1] of F32 does not take the 8 bytes");
    refused(file(&row("F32", "[2]", "[4,12]"), &[0; 12]), "begins at byte 4 instead of 0, which leaves a gap");
    refused(
        file(&row("F32", "[1]", "[0,4]"), &[0; 3]),
        "tensor `w`: it is said to lie in bytes 0 to 4, the file has 3",
    );
    refused(file(&row("F32", "[2]", "[8,0]"), &[0; 8]), "tensor `w`: ");
    refused(file(&row("U8", &format!("[{most},2]"), "[0,8]"), &[0; 8]), "tensor `w`: ");
    refused(file(&row("U8", &format!("[{most}]"), &format!("[0,{most}]")), &[0; 8]), "tensor `w`: ");
    refused(file(&row("F64", "[2305843009213693952]", "[0,0]"), &[]), "tensor `w`: ");
    refused(file(&row("F4", "[3,2,1]", "[0,3]"), &[0; 3]), "has no even last size");
    refused(file(&row("F128", "[1]", "[0,16]"), &[0; 16]), "tensor `w`: ");
    refused(file(&row("U8", "[-1]", "[0,0]"), &[]), "tensor `w`: ");
    let two = |a: &str, b: &str| {
        format!(
            r#"{{"a":{{"dtype":"U8","shape":[4],"data_offsets":{a}}},"b":{{"dtype":"U8","shape":[4],"data_offsets":{b}}}}}"#
        )
    };
    refused(
        file(&two("[0,4]", "[2,6]"), &[0; 6]),
        "tensor `b`: it begins at byte 2 instead of 4, which overlaps the one before it",
    );
    refused(file(&two("[0,4]", "[0,4]"), &[0; 4]), "overlaps");
    refused(file(&two("[0,4]", "[4,8]").replace("\"b\"", "\"a\""), &[0; 8]), "tensor `a` is there twice");
    let deep = "[".repeat(100_000);
    refused(file(&format!(r#"{{"a":{deep}"#), &[]), "the header is not what the format asks for");
    // An axis of size 0 together with one that would overflow.
    assert!(Checkpoint::from_bytes(file(&row("U8", &format!("[0,{}]", u32::MAX), "[0,0]"), &[])).is_ok());
    // Bools are looked at when they are loaded.
    let bools = Checkpoint::from_bytes(file(&row("BOOL", "[2]", "[0,2]"), &[1, 2])).unwrap();
    let error = Tensor::<bool, shape![2]>::load(&bools, "w").unwrap_err().to_string();
    assert!(error.contains("tensor `w`: a bool is a byte of 0 or 1"), "{error}");
    // More axes than tensors have.
    let nine = Checkpoint::from_bytes(file(&row("U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), &[1])).unwrap();
    assert!(Tensor::<u8, shape![1]>::load(&nine, "w").is_err());
    #[cfg(feature = "any")]
    assert!(castiron::AnyTensor::load(&nine, "w").unwrap_err().to_string().contains("9 axes"));
}

#[test]
fn a_generator_that_was_saved_goes_on_where_it_was() {
    #[derive(Module)]
    struct Training {
        weight: Tensor<f32, shape![2]>,
        generator: Generator,
    }
    let folder = Folder::new("generator");
    let path = folder.file("training.safetensors");
    let mut training = Training { weight: Tensor::zeros(), generator: Generator::seeded(u64::MAX - 5) };
    let generator = &mut training.generator;
    // Draws that take a different number of bits each.
    let _: Tensor<f32, shape![101]> = Tensor::randn(generator);
    let _: Tensor<f16, shape![3]> = Tensor::rand(generator);
    let _ = Tensor::<i64, shape![_]>::randperm(77, generator);
    let _: Tensor<u8, shape![9]> = Tensor::randint(3, 200, generator);
    training.save(&path).unwrap();
    let file = Checkpoint::open(&path).unwrap();
    assert_eq!(file.names().collect::<Vec<_>>(), ["generator.drawn", "generator.seed", "weight"]);
    let mut resumed = Training::load(&file).unwrap();
    assert_eq!((resumed.weight.to_vec(), resumed.generator.initial_seed()), (vec![0.0; 2], u64::MAX - 5));
    let next = |generator: &mut Generator| {
        let x: Tensor<f64, shape![50]> = Tensor::randn(generator);
        (x.to_vec(), Tensor::<i64, shape![_]>::randperm(40, generator).to_vec())
    };
    let expected = next(&mut training.generator);
    assert_eq!(next(&mut resumed.generator), expected);
    assert_ne!(next(&mut Generator::seeded(u64::MAX - 5)), expected);
    // A place so far on that no generator comes there is a place all the same.
    let far = |drawn: i64| {
        let [seed, drawn]: [Tensor<i64, ()>; 2] = [7, drawn].map(Tensor::scalar);
        let file = CheckpointWriter::new().tensor("seed", &seed).tensor("drawn", &drawn).to_bytes().unwrap();
        next(&mut Generator::load(&Checkpoint::from_bytes(file).unwrap()).unwrap())
    };
    assert_eq!(far(-1), far(-1));
    assert_ne!(far(-1), far(0));
}
