//! Conjugate views: reading gives conjugates, and writing to one leaves its base unchanged.

use castiron::any::{Args, Value, call, cat, stack, where_};
use castiron::{AnyTensor, Complex, Cpu, DType, Dyn, Tensor, shape, tensor};
use proptest::prelude::*;

/// A matrix of complex numbers, whole or seen through a slice or a transposition.
fn base(way: usize, dtype: DType) -> AnyTensor {
    let parts = AnyTensor::from(Tensor::<f64, shape![4, 6, 2]>::from_fn(|[row, column, part]| {
        (row as f64 - 1.5) * 2.0 + column as f64 / 4.0 + part as f64
    }));
    let whole = parts.view_as_complex().unwrap().to(dtype).unwrap();
    match way {
        0 => whole,
        1 => whole.t().unwrap(),
        2 => whole.slice(1, Some(1), None, 2).unwrap(),
        3 => whole.select(0, 2).unwrap().expand(&[3, 6]).unwrap(),
        _ => whole.narrow(0, 1, 0).unwrap(),
    }
}

/// The conjugates computed.
fn computed(x: &AnyTensor) -> AnyTensor {
    call("conj_physical", &Args::new().arg(x)).unwrap().tensor().unwrap()
}

#[track_caller]
fn assert_same(a: &AnyTensor, b: &AnyTensor) {
    assert_eq!((a.dtype(), a.shape()), (b.dtype(), b.shape()));
    assert_eq!(a.to_bytes().unwrap(), b.to_bytes().unwrap());
}

const COMPLEX: [DType; 3] = [DType::C32, DType::C64, DType::C128];

#[test]
fn a_conjugate_is_a_view_with_the_layout_of_its_base() {
    for dtype in COMPLEX {
        for way in 0..5 {
            let x = base(way, dtype);
            let conjugate = x.conj().unwrap();
            assert!(conjugate.is_conj() && !x.is_conj() && !conjugate.is_neg());
            assert!(conjugate.shares_storage(&x));
            assert_eq!((conjugate.stride(), conjugate.storage_offset()), (x.stride(), x.storage_offset()));
            assert!(!conjugate.conj().unwrap().is_conj());
            assert_same(&conjugate.conj().unwrap(), &x);
            assert_same(&conjugate, &computed(&x));
            let resolved = conjugate.resolve_conj().unwrap();
            assert!(!resolved.is_conj() && !resolved.shares_storage(&x));
            assert_same(&resolved, &computed(&x));
        }
    }
}

#[test]
fn real_tensors_are_their_own_conjugates() {
    for dtype in [DType::Bool, DType::I32, DType::BF16, DType::F64] {
        let x = AnyTensor::ones(&[2, 3], dtype).unwrap();
        let conjugate = x.conj().unwrap();
        assert!(conjugate.shares_storage(&x) && !conjugate.is_conj());
        assert!(x.adjoint().unwrap().shares_storage(&x));
    }
    let without_data = AnyTensor::zeros_on(&[2], DType::C64, "meta").unwrap().conj().unwrap();
    assert_eq!(without_data.device_name(), "meta");
}

/// Every kind of reader: kernels over places, typed code, moves, products, printing, bytes.
#[test]
fn whatever_reads_a_conjugate_reads_conjugates() {
    let readers: Vec<(&str, fn(&AnyTensor) -> castiron::Result<AnyTensor>)> = vec![
        ("add", |x| x + x),
        ("add a scalar", |x| x + 1),
        ("mul", |x| x.mul(x)),
        ("exp", |x| x.exp()),
        ("abs", |x| x.abs()),
        ("sum", |x| x.sum(Some(&[0]), false, None)),
        ("cumsum", |x| x.cumsum(0, None)),
        ("eq", |x| x.eq(x)),
        ("cat", |x| cat(&[x.clone(), x.clone()], 0)),
        ("stack", |x| stack(&[x.clone(), x.clone()], 0)),
        ("where", |x| where_(&x.eq(x)?, x, 0)),
        ("to c128", |x| x.to(DType::C128)),
        ("to f64", |x| x.to(DType::F64)),
        ("flip", |x| x.flip(&[0])),
        ("index_select", |x| x.index_select(0, &AnyTensor::zeros(&[2], DType::I64)?)),
        ("masked_select", |x| x.masked_select(&x.eq(x)?)),
        ("gather", |x| x.gather(0, &AnyTensor::zeros(&[1, 1], DType::I64)?)),
        ("index", |x| x.index(&[vec![0_i64, 0].into()])),
        ("tril", |x| x.tril(0)),
        ("pad", |x| call("nn.functional.pad", &Args::new().arg(x).arg(vec![1_i64, 1]))?.tensor()),
        ("repeat", |x| call("repeat", &Args::new().arg(x).arg(vec![2_i64, 1]))?.tensor()),
        ("contiguous", |x| x.t()?.contiguous()),
        ("copy", |x| x.copy()),
        ("nan_to_num", |x| call("nan_to_num", &Args::new().arg(x))?.tensor()),
        ("lerp", |x| x.lerp(x, 0.5)),
        ("addcmul", |x| x.addcmul(x, x, 2)),
        ("masked_fill", |x| x.masked_fill(&x.ne(x)?, 0)),
        ("select", |x| x.select(0, 0)),
        ("reshape", |x| x.reshape(&[-1])),
        ("sparse", |x| x.to_sparse(0)?.to_dense()),
        ("matmul", |x| x.matmul(&x.t()?)),
        ("mv", |x| x.matmul(&x.select(0, 0)?)),
        ("imag", |x| x.imag()),
        ("real", |x| x.real()),
        ("imag + 1", |x| x.imag()? + 1),
        ("typed", |x| Ok(x.to(DType::C64)?.typed::<Complex<f32>, (Dyn, Dyn), Cpu>()?.into())),
        ("adjoint", |x| x.adjoint()),
        ("in place", |x| {
            let mut y = x.clone();
            y.add_(1)?;
            Ok(y)
        }),
        ("a part in place", |x| {
            let mut y = x.clone();
            y.select_mut(0, 0)?.fill_(0)?;
            Ok(y)
        }),
        ("written into another", |x| {
            let mut y = AnyTensor::zeros(x.shape(), x.dtype())?;
            y.copy_from(x)?;
            Ok(y)
        }),
        ("taken as an output", |x| {
            let mut y = x.clone();
            y.exp_()?;
            Ok(y)
        }),
    ];
    for dtype in [DType::C64, DType::C128] {
        for way in 0..4 {
            let x = base(way, dtype);
            let before = x.to_bytes().unwrap();
            for (name, read) in &readers {
                let marked = read(&x.conj().unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
                let plain = read(&computed(&x)).unwrap();
                assert_eq!(marked.dtype(), plain.dtype(), "{name} of {dtype}");
                assert_eq!(marked.to_string(), plain.to_string(), "{name} of {dtype}, way {way}");
                assert_eq!(marked.to_bytes(), plain.to_bytes(), "{name} of {dtype}, way {way}");
            }
            assert_eq!(x.to_bytes().unwrap(), before);
        }
    }
}

#[test]
fn parts_of_a_conjugate_are_views_and_the_imaginary_one_counts_as_negated() {
    let x = base(0, DType::C64);
    let conjugate = x.conj().unwrap();
    let (real, imag) = (conjugate.real().unwrap(), conjugate.imag().unwrap());
    assert!(real.shares_storage(&x) && !real.is_neg());
    assert!(imag.shares_storage(&x) && imag.is_neg());
    assert_same(&imag, &x.imag().unwrap().neg().unwrap());
    let resolved = imag.resolve_neg().unwrap();
    assert!(!resolved.is_neg() && !resolved.shares_storage(&x));
    assert_same(&resolved, &imag);
    for seen in [conjugate.view_as_real(), conjugate.view_dtype(DType::F32), imag.view_dtype(DType::I32)] {
        assert!(seen.unwrap_err().to_string().contains("resolve_"));
    }
    assert!(conjugate.view_dtype(DType::C64).unwrap().is_conj());
}

#[test]
fn a_view_of_the_whole_storage_of_a_conjugate_has_conjugates() {
    let x = base(0, DType::C128);
    let part = x.select(0, 2).unwrap().narrow(0, 1, 2).unwrap().conj().unwrap();
    let _ = part.to_bytes().unwrap();
    let all = part.as_strided(&[4, 6], &[6, 1], Some(0)).unwrap();
    assert!(all.is_conj() && all.shares_storage(&x));
    assert_same(&all, &computed(&x));
    assert_same(&part.as_strided(&[2], &[1], None).unwrap(), &part);
    assert!(part.as_strided(&[25], &[1], Some(0)).is_err());
}

#[test]
fn edits_of_a_base_are_not_seen_in_its_conjugate() {
    let mut x = AnyTensor::from(tensor![1.0 + 2.0j, 3.0 - 4.0j]);
    let (early, late) = (x.conj().unwrap(), x.conj().unwrap());
    assert_eq!(early.to_string(), "tensor([1.-2.j, 3.+4.j])");
    x.mul_(10).unwrap();
    assert_eq!(x.to_string(), "tensor([10.+20.j, 30.-40.j])");
    // One was read before, the other was not.
    assert_eq!(early.to_string(), "tensor([1.-2.j, 3.+4.j])");
    assert_eq!(late.to_string(), "tensor([1.-2.j, 3.+4.j])");
}

#[test]
fn threads_that_read_one_conjugate_read_the_same() {
    let x = AnyTensor::from(Tensor::<Complex<f64>, shape![1000]>::from_fn(|[at]| Complex::new(at as f64, 1.0)));
    let conjugate = x.conj().unwrap();
    std::thread::scope(|scope| {
        for at in 0..8_i64 {
            let conjugate = &conjugate;
            scope.spawn(move || {
                let slice = conjugate.slice(0, Some(at), None, 8).unwrap();
                let sum = slice.imag().unwrap().sum(None, false, None).unwrap();
                assert_eq!(sum.item().unwrap().real_part(), -125.0);
            });
        }
    });
}

proptest! {
    #[test]
    fn views_of_a_conjugate_are_conjugates_of_views(steps in prop::collection::vec((0..6_u8, 0..4_i64), 0..6)) {
        let (mut marked, mut plain) = (base(0, DType::C64).conj().unwrap(), computed(&base(0, DType::C64)));
        for (kind, number) in steps {
            let step = |x: &AnyTensor| -> castiron::Result<AnyTensor> {
                let last = x.rank() as i64 - 1;
                match kind {
                    _ if x.rank() == 0 => x.unsqueeze(0),
                    0 => x.transpose(0, last),
                    1 => x.slice(number % x.rank() as i64, Some(1), None, 2),
                    2 => x.unsqueeze(number % (x.rank() as i64 + 1)),
                    3 => x.conj(),
                    4 if x.shape()[0] > 0 => x.select(0, 0),
                    _ => x.squeeze(None),
                }
            };
            if marked.rank() >= 8 {
                break;
            }
            (marked, plain) = (step(&marked).unwrap(), step(&plain).unwrap());
            prop_assert_eq!(marked.shape(), plain.shape());
            prop_assert_eq!(marked.to_string(), plain.to_string());
        }
        let index = [Value::Rest, Value::Absent];
        prop_assert_eq!(marked.index(&index).unwrap().to_bytes(), plain.index(&index).unwrap().to_bytes());
    }
}
