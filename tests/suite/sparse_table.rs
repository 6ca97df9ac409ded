//! Sparse tensors compared with PyTorch's table, row by row: layout, dtype, shape, indices, values, the coalesced flag and the strided copy
//! of each result, or refusal.

use crate::common::{code, json};
use castiron::ops::admit::NumericFor;
use castiron::{
    Complex, DenseAxes, Dtype, Element, F4E2M1FNX2, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, ScalarValue,
    Shape, SparseTensor, Tensor, axis, bf16, f16, shape, tensor,
};
use serde_json::{Value, json as value};
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// How castiron meets a row.
enum Ours {
    /// A result, or an error while running.
    Is(Result<Value, String>),
    /// A result of another expression: there is no form of the one.
    InOtherWords(Value),
    /// A result that PyTorch does not give.
    Beyond(&'static str, Value),
    /// It does not compile.
    Refused,
    /// Section 11 of the rules departs from PyTorch; the error is checked.
    Checked(Result<Value, String>),
    /// There is nothing to compare, for this reason.
    Apart(&'static str),
}
use Ours::{Apart, Beyond, Checked, InOtherWords, Is, Refused};

fn number(x: f64) -> Value {
    match x {
        x if x.is_nan() => value!("nan"),
        x if x.is_infinite() => value!(if x > 0.0 { "inf" } else { "-inf" }),
        x => value!(x),
    }
}
fn element<E: Element>(x: E) -> Value {
    match x.to_scalar() {
        ScalarValue::Bool(x) => value!(x),
        ScalarValue::Int(x) => value!(x as i64),
        ScalarValue::Float(x) => number(x),
        ScalarValue::Complex(z) => value!({ "re": number(z.re), "im": number(z.im) }),
        other => panic!("{other:?}"),
    }
}
fn nested(elements: &[Value], sizes: &[usize]) -> Value {
    match sizes {
        [] => elements[0].clone(),
        [size, rest @ ..] => {
            let step: usize = rest.iter().product();
            (0..*size).map(|at| nested(&elements[at * step..][..step], rest)).collect()
        }
    }
}
fn elements<E: Element, S: Shape>(x: &Tensor<E, S>) -> Value {
    nested(&x.to_vec().into_iter().map(element).collect::<Vec<_>>(), x.shape().as_ref())
}
fn strided<E: Element, S: Shape>(x: &Tensor<E, S>) -> Value {
    value!({ "layout": "strided", "dtype": code(E::DTYPE), "shape": x.shape().as_ref(), "values": elements(x) })
}
fn sparse<E: Dtype, S: Shape + DenseAxes<N>, const N: usize>(x: &SparseTensor<E, S, N>) -> Value {
    assert!(x.is_sparse());
    value!({
        "layout": x.layout().to_string().strip_prefix("torch."),
        "dtype": code(E::DTYPE),
        "shape": x.shape().as_ref(),
        "sparse_dim": x.sparse_dim(),
        "dense_dim": x.dense_dim(),
        "nnz": x.nnz(),
        "coalesced": x.is_coalesced(),
        "indices": elements(&x.raw_indices()),
        "indices_dtype": "i64",
        "values": elements(&x.raw_values()),
        "dense": elements(&x.to_dense()),
    })
}
fn said<T>(result: castiron::Result<T>, show: impl Fn(&T) -> Value) -> Result<Value, String> {
    result.map(|value| show(&value)).map_err(|error| error.to_string())
}

/// Equal, floats within what two good implementations of a function may differ by.
fn equal(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= 2e-7 * b.abs(),
            _ => false,
        },
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        (a, b) => a == b,
    }
}

type S23<E = f32> = SparseTensor<E, shape![2, 3]>;
type S22<E> = SparseTensor<E, shape![2, 2]>;

fn s() -> S23 {
    Tensor::sparse_coo(&tensor![[0, 1, 1], [2, 0, 2]], &tensor![3.0, 4.0, 5.0])
}
fn dup() -> S23 {
    Tensor::sparse_coo(&tensor![[1, 0, 1, 1], [2, 1, 2, 0]], &tensor![1.0, 2.0, 3.0, 4.0])
}
fn q() -> S23 {
    Tensor::sparse_coo(&tensor![[0, 0, 1], [0, 2, 1]], &tensor![10.0, 20.0, 30.0])
}
fn si() -> S22<i64> {
    Tensor::sparse_coo(&tensor![[0, 1], [1, 0]], &tensor![3, 4])
}
fn sb() -> S22<bool> {
    Tensor::sparse_coo(&tensor![[0, 1, 0], [1, 0, 1]], &tensor![true, false, true])
}
fn hy() -> SparseTensor<f32, shape![3, 2], 1> {
    Tensor::sparse_coo(&tensor![[0, 2, 0]], &tensor![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
}
fn e() -> S23 {
    Tensor::<f32, shape![2, 3]>::sparse_zeros()
}
fn sc() -> S22<Complex<f32>> {
    Tensor::sparse_coo(&tensor![[0, 1], [1, 0]], &tensor![1.0 + 2.0j, 3.0 - 1.0j])
}
fn m() -> Tensor<f32, shape![3, 2]> {
    tensor![[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
}
fn dn() -> Tensor<f32, shape![2, 3]> {
    tensor![[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
}
/// One element, in the top left corner.
fn one<E: Element>(x: E) -> S22<E> {
    Tensor::sparse_coo(&tensor![[0], [0]], &tensor![x])
}
/// One place named for each of two values.
fn twice<E: Element>(a: E, b: E) -> SparseTensor<E, shape![1, 1]> {
    Tensor::sparse_coo(&tensor![[0, 0], [0, 0]], &tensor![a, b])
}
/// The usual two places, with these indices and values.
fn corners<I: castiron::Ordered, E: Dtype>(indices: &Tensor<I, shape![2, 2]>, values: [E; 2]) -> Ours {
    let values = Tensor::<E, shape![2]>::from_vec(values.to_vec());
    Is(said(Tensor::<E, shape![2, 2]>::try_sparse_coo(indices, &values), sparse))
}

/// Whether something compiles: a constant that exists where it does shadows the trait's.
struct Probe<Op, L, R>(PhantomData<(Op, L, R)>);
trait No {
    const COMPILES: bool = false;
}
impl<Op, L, R> No for Probe<Op, L, R> {}
struct Sum;
impl<L: std::ops::Add<R>, R> Probe<Sum, L, R> {
    const COMPILES: bool = true;
}
struct Sums;
impl<E: Dtype> Probe<Sums, E, ()> {
    const COMPILES: bool = true;
}
struct Products;
impl<E: NumericFor<castiron::ops::reduce::matmul>> Probe<Products, E, ()> {
    const COMPILES: bool = true;
}

/// The operations on one dtype, if they compile: `coalesce`, `s + s`, `s @ dense`.
struct Sweep<E>(PhantomData<E>);
impl<E: Dtype> Sweep<E> {
    fn coalesce() -> Value {
        sparse(&twice(E::from_bool(true), E::from_bool(true)).coalesce())
    }
}
impl<E: castiron::Numeric> Sweep<E> {
    fn sum() -> Value {
        let x: SparseTensor<E, shape![1, 1]> = Tensor::sparse_coo(&tensor![[0], [0]], &tensor![E::from_bool(true)]);
        sparse(&(&x + &x))
    }
    fn product() -> Value {
        let x: SparseTensor<E, shape![1, 1]> = Tensor::sparse_coo(&tensor![[0], [0]], &tensor![E::from_bool(true)]);
        strided(&x.matmul(Tensor::<E, shape![1, 1]>::ones()))
    }
}

fn sweeps() -> Vec<(String, Ours)> {
    let mut rows = Vec::new();
    macro_rules! numbers {
        ($($ty:ty),*) => {$(
            let of = code(<$ty as Element>::DTYPE);
            rows.push((format!("sweep coalesce {of}"), Is(Ok(Sweep::<$ty>::coalesce()))));
            rows.push((format!("sweep s+s {of}"), Is(Ok(Sweep::<$ty>::sum()))));
            rows.push((format!("sweep s@d {of}"), Is(Ok(Sweep::<$ty>::product()))));
        )*};
    }
    numbers!(u8, i8, i16, i32, i64, bf16, f32, f64, Complex<f32>, Complex<f64>);
    rows.push(("sweep coalesce f16".to_owned(), Is(Ok(Sweep::<f16>::coalesce()))));
    rows.push(("sweep s@d f16".to_owned(), Is(Ok(Sweep::<f16>::product()))));
    let missing = "PyTorch has no kernel for this dtype";
    rows.push(("sweep s+s f16".to_owned(), Beyond(missing, Sweep::<f16>::sum())));
    rows.push(("sweep coalesce c32".to_owned(), Beyond(missing, Sweep::<Complex<f16>>::coalesce())));
    rows.push(("sweep s+s c32".to_owned(), Beyond(missing, Sweep::<Complex<f16>>::sum())));
    rows.push(("sweep s@d c32".to_owned(), Beyond(missing, Sweep::<Complex<f16>>::product())));
    rows.push(("sweep coalesce bool".to_owned(), Is(Ok(Sweep::<bool>::coalesce()))));
    macro_rules! refused {
        ($($ty:ty),*) => {$(
            let of = code(<$ty as Element>::DTYPE);
            const { assert!(!<Probe<Sum, &S22<$ty>, &S22<$ty>>>::COMPILES && !<Probe<Products, $ty, ()>>::COMPILES) };
            rows.push((format!("sweep s+s {of}"), Refused));
            rows.push((format!("sweep s@d {of}"), Refused));
        )*};
    }
    refused!(bool, u16, u32, u64, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F4E2M1FNX2);
    macro_rules! shells {
        ($($ty:ty),*) => {$(
            const { assert!(!<Probe<Sums, $ty, ()>>::COMPILES) };
            rows.push((format!("sweep coalesce {}", code(<$ty as Element>::DTYPE)), Refused));
        )*};
    }
    shells!(u16, u32, u64, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F4E2M1FNX2);
    const { assert!(<Probe<Sum, &S22<f32>, &S22<f32>>>::COMPILES && <Probe<Products, f32, ()>>::COMPILES) };
    const { assert!(<Probe<Sums, bool, ()>>::COMPILES) };
    rows
}

fn makings() -> Vec<(&'static str, Ours)> {
    type Corners = Tensor<f32, shape![2, 3]>;
    let ones = tensor![1.0, 2.0];
    let (far, negative) = (tensor![[0, 2], [0, 0]], tensor![[0, -1], [0, 0]]);
    let lists = tensor![[0, 1], [1, 0]];
    vec![
        ("construct s", Is(Ok(sparse(&s())))),
        ("construct dup", Is(Ok(sparse(&dup())))),
        ("construct hy", Is(Ok(sparse(&hy())))),
        ("construct e", Is(Ok(sparse(&e())))),
        ("construct sb", Is(Ok(sparse(&sb())))),
        ("construct sc", Is(Ok(sparse(&sc())))),
        (
            "infer size",
            Is(said(
                Tensor::<f32, shape![_, _]>::try_sparse_coo_inferred(
                    &tensor![[0, 1, 1], [2, 0, 2]],
                    &tensor![3.0, 4.0, 5.0],
                ),
                sparse,
            )),
        ),
        (
            "infer size empty",
            Is(said(
                Tensor::<f32, shape![_, _]>::try_sparse_coo_inferred(
                    &Tensor::<i64, shape![2, 0]>::zeros(),
                    &Tensor::<f32, shape![0]>::zeros(),
                ),
                sparse,
            )),
        ),
        (
            "size larger",
            Is(said(Tensor::<f32, shape![4, 5]>::try_sparse_coo(&tensor![[0], [0]], &tensor![1.0]), sparse)),
        ),
        ("int32 indices", corners(&lists.to::<i32>(), [1.0_f32, 2.0])),
        ("int16 indices", corners(&lists.to::<i16>(), [1.0_f32, 2.0])),
        ("uint8 indices", corners(&lists.to::<u8>(), [1.0_f32, 2.0])),
        ("bool indices", corners(&lists.to::<bool>(), [1.0_f32, 2.0])),
        ("float indices", corners(&lists.to::<f32>(), [1.0_f32, 2.0])),
        ("list args", corners(&lists, [1_i64, 2])),
        ("list args float dtype", corners(&lists, [f16::from_f32(1.0), f16::from_f32(2.0)])),
        ("list bool", corners(&lists, [true, false])),
        (
            "dtype arg casts values",
            Is(said(
                Tensor::<i32, shape![1, 1]>::try_sparse_coo(&tensor![[0], [0]], &tensor![1.9].to::<i32>()),
                sparse,
            )),
        ),
        ("index out of range", Checked(said(Corners::try_sparse_coo(&far, &ones), sparse::<_, _, 0>))),
        (
            "index out of range, check_invariants=True",
            Is(said(Corners::try_sparse_coo(&far, &ones), sparse::<_, _, 0>)),
        ),
        ("negative index", Checked(said(Corners::try_sparse_coo(&negative, &ones), sparse::<_, _, 0>))),
        (
            "negative index inferred",
            Is(said(Tensor::<f32, shape![_, _]>::try_sparse_coo_inferred(&negative, &ones), sparse::<_, _, 0>)),
        ),
        ("nnz mismatch", Is(said(Corners::try_sparse_coo(&tensor![[0, 1, 1], [0, 0, 1]], &ones), sparse::<_, _, 0>))),
        ("too few sparse dims", Is(said(Corners::try_sparse_coo(&tensor![[0, 1]], &ones), sparse::<_, _, 0>))),
        (
            "dense dim mismatch",
            Is(said(
                Tensor::<f32, shape![_, _]>::try_sparse_coo_sized(
                    &tensor![[0, 1]],
                    &tensor![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
                    [2, 2],
                ),
                sparse::<_, _, 1>,
            )),
        ),
        ("indices 1d", Refused),
        ("values 0-d", Refused),
        ("negative size", Refused),
        ("size only", Is(Ok(sparse(&Tensor::<f32, shape![2, 3]>::sparse_zeros())))),
        ("size only dtype", Is(Ok(sparse(&Tensor::<i64, shape![2, 3]>::sparse_zeros())))),
        ("0 sparse dims", Is(said(zero_dim(), sparse))),
        ("0 sparse dims coalesced", Is(said(zero_dim().map(|x| x.coalesce()), sparse))),
        ("default check_invariants", Apart("no switch: indices are always checked")),
        ("out of range, invariants enabled globally", Apart("no switch: indices are always checked")),
        ("disable", Apart("no switch: indices are always checked")),
        ("list args out of range", Checked(said(Corners::try_sparse_coo(&far, &ones), sparse::<_, _, 0>))),
        ("out of range when enabled", Is(said(Corners::try_sparse_coo(&far, &ones), sparse::<_, _, 0>))),
        ("negative when enabled", Is(said(Corners::try_sparse_coo(&negative, &ones), sparse::<_, _, 0>))),
        (
            "is_coalesced=True flag on duplicates",
            Apart("the unchecked constructor is unsafe, and this breaks its contract"),
        ),
        ("is_coalesced=True check", Apart("the unchecked constructor is unsafe, and this breaks its contract")),
        ("explicit zero kept", Is(Ok(sparse(&corner_values([0.0, 1.0], &tensor![[0, 1], [0, 1]]).coalesce())))),
        ("cancel to zero kept", Is(Ok(sparse(&corner_values([1.0, -1.0], &tensor![[0, 0], [0, 0]]).coalesce())))),
        ("coalesce dup sums+sorts", Is(Ok(sparse(&dup().coalesce())))),
        ("coalesce hybrid", Is(Ok(sparse(&hy().coalesce())))),
        ("coalesce bool", Is(Ok(sparse(&sb().coalesce())))),
        ("coalesce bool True+True", Is(Ok(sparse(&twice(true, true).coalesce())))),
        ("coalesce uint8 overflow", Is(Ok(sparse(&twice(200_u8, 100).coalesce())))),
        ("coalesce f16", Is(Ok(sparse(&twice(f16::from_f32(60000.0), f16::from_f32(60000.0)).coalesce())))),
        ("to_dense uncoalesced", Is(Ok(strided(&dup().to_dense())))),
        ("to_dense bool dup", Is(Ok(strided(&sb().to_dense())))),
        ("indices() of uncoalesced", Is(said(dup().try_indices(), strided))),
        ("_indices", Is(Ok(strided(&dup().raw_indices())))),
        ("nnz uncoalesced", Is(Ok(value!({ "py": dup().nnz().to_string() })))),
        ("nnz coalesced", Is(Ok(value!({ "py": dup().coalesce().nnz().to_string() })))),
        ("to_dense(dtype)", Refused),
        ("dense.to_sparse", Is(Ok(sparse(&tensor![[0.0, 1.0, 0.0], [2.0, 0.0, f32::NAN]].to_sparse())))),
        ("dense.to_sparse(1)", Is(Ok(sparse(&tensor![[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]].to_sparse_hybrid::<1>())))),
        ("dense.to_sparse 0-d", Is(Ok(sparse(&Tensor::<f32, shape![]>::full(5.0).to_sparse())))),
        ("dense.to_sparse -0.0", Is(Ok(sparse(&tensor![-0.0, 1.0].to_sparse())))),
        ("uint16 values", Refused),
        ("uint16 coalesce", Refused),
        (
            "c32 coalesce",
            Beyond("PyTorch has no kernel for this dtype", sparse(&twice(half(1.0, 1.0), half(2.0, -2.0)).coalesce())),
        ),
    ]
}
fn half(re: f32, im: f32) -> Complex<f16> {
    Complex::new(f16::from_f32(re), f16::from_f32(im))
}
fn zero_dim() -> castiron::Result<SparseTensor<f32, shape![]>> {
    Tensor::<f32, shape![]>::try_sparse_coo(&Tensor::<i64, shape![0, 2]>::zeros(), &tensor![3.0, 4.0])
}
fn corner_values(values: [f32; 2], indices: &Tensor<i64, shape![2, 2]>) -> S22<f32> {
    Tensor::sparse_coo(indices, &Tensor::<f32, shape![2]>::from_vec(values.to_vec()))
}

fn sums_and_products() -> Vec<(&'static str, Ours)> {
    let dyn23 = |x: S23| x.with_shape::<shape![_, _]>();
    let dyn22 = |x: S22<f32>| x.with_shape::<shape![_, _]>();
    let by_spec = "a sum of sparse and strided is strided, whichever comes first";
    let mut scaled = s();
    scaled *= 2;
    let mut by_integers = s();
    by_integers *= Tensor::<i64, shape![2, 3]>::sparse_coo(&tensor![[0], [0]], &tensor![2]);
    let mut added_to = dn();
    added_to += &s();
    vec![
        ("s+s other pattern", Is(Ok(sparse(&(s() + q()))))),
        ("s+dup uncoalesced", Is(Ok(sparse(&(s() + dup()))))),
        ("s+s same", Is(Ok(sparse(&(s() + s()))))),
        ("s+s coalesced+uncoalesced", Is(Ok(sparse(&(s().coalesce() + q()))))),
        ("s+s both coalesced", Is(Ok(sparse(&(s().coalesce() + q().coalesce()))))),
        ("s*s both coalesced", Is(Ok(sparse(&(s().coalesce() * q().coalesce()))))),
        ("s+empty", Is(Ok(sparse(&(s() + e()))))),
        ("s+s shape mismatch", Is(said(dyn23(s()).try_add(dyn22(si().to::<f32>())), sparse))),
        (
            "s+broadcast",
            Is(said(
                dyn23(s()).try_add(&Tensor::<f32, shape![_, _]>::sparse_coo_sized(
                    &tensor![[0], [0]],
                    &tensor![1.0],
                    [1, 3],
                )),
                sparse,
            )),
        ),
        ("s+dense", Beyond(by_spec, strided(&(s() + dn())))),
        ("dense+s", Is(Ok(strided(&(dn() + s()))))),
        ("s+scalar", Refused),
        ("s+0d", Refused),
        ("s-s", Is(Ok(sparse(&(s() - q()))))),
        ("s-s self cancels", Is(Ok(sparse(&(s() - s()))))),
        ("s-dense", Beyond(by_spec, strided(&(s() - dn())))),
        ("dense-s", Is(Ok(strided(&(dn() - s()))))),
        ("s*s", Is(Ok(sparse(&(s() * q()))))),
        (
            "s*s no overlap nnz",
            Is(Ok(sparse(
                &(one(2.0_f32) * Tensor::<f32, shape![2, 2]>::sparse_coo(&tensor![[1], [1]], &tensor![3.0])),
            ))),
        ),
        ("dup*dup", Is(Ok(sparse(&(dup() * dup()))))),
        ("s*dense", Is(Ok(sparse(&(s() * dn()))))),
        ("dense*s", Is(Ok(sparse(&(dn() * s()))))),
        ("s*scalar", Is(Ok(sparse(&(s() * 2))))),
        ("s*2.5 int", Is(Ok(sparse(&(si() * 2.5))))),
        ("s*0d f64", Is(Ok(sparse(&(s() * Tensor::<f64, shape![]>::full(2.0)))))),
        ("s/scalar", Is(Ok(sparse(&(s() / 2))))),
        ("int s/scalar", Is(Ok(sparse(&(si() / 2))))),
        ("int s//2", Is(Ok(sparse(&si().floor_divide(2))))),
        ("s/s", Refused),
        ("s/dense", Refused),
        ("s**2", Is(Ok(sparse(&s().pow(2))))),
        ("s**0", Is(said(s().try_pow(0), sparse))),
        ("s**0.5", Is(Ok(sparse(&s().pow(0.5))))),
        ("s % 2", Refused),
        ("s==s", Refused),
        ("s<1", Refused),
        ("i64+f32 sparse", Is(Ok(sparse(&(si() + one(1.5_f32)))))),
        ("f32+f64 sparse", Is(Ok(sparse(&(s() + q().to::<f64>()))))),
        ("i64+bool", Is(Ok(sparse(&(si() + sb()))))),
        ("c64+f32", Is(Ok(sparse(&(sc() + one(1.5_f32)))))),
        ("i64 sparse + f32 dense", Beyond(by_spec, strided(&(si() + Tensor::<f32, shape![2, 2]>::ones())))),
        ("f32 dense + i64 sparse", Is(Ok(strided(&(Tensor::<f32, shape![2, 2]>::ones() + si()))))),
        ("f32 dense + f64 sparse", Is(Ok(strided(&(dn() + s().to::<f64>()))))),
        ("i64 dense + f32 sparse", Is(Ok(strided(&(Tensor::<i64, shape![2, 3]>::ones() + s()))))),
        ("f32 s *= i64", Is(Ok(sparse(&by_integers)))),
        ("i64 s += f32 s", Refused),
        ("dense += s", Is(Ok(strided(&added_to)))),
        ("i64 dense += f32 s", Refused),
        ("s += dense", Refused),
        ("s *= 2", Is(Ok(sparse(&scaled)))),
        ("i64 s *= 2.5", Refused),
        ("i64 s /= 2", Refused),
        ("f16+f32", Is(Ok(sparse(&(s().to::<f16>() + q()))))),
        ("s.to(int)", Is(Ok(sparse(&(s() * 1.5).to::<i32>())))),
        ("s.bool()", Is(Ok(sparse(&s().to::<bool>())))),
        ("add alpha", InOtherWords(sparse(&(s() + q() * 3)))),
        ("broadcast mul row dense", Is(Ok(sparse(&(s() * tensor![1.0, 2.0, 3.0]))))),
        ("mul 0-d sparse", InOtherWords(sparse(&(s() * Tensor::<f32, shape![]>::full(2.0).to_sparse().to_dense())))),
    ]
}

fn matrices_and_axes() -> Vec<(&'static str, Ours)> {
    let unknown = s().with_shape::<shape![_, _]>();
    vec![
        ("mm", Is(Ok(strided(&s().matmul(m()))))),
        ("@", Is(Ok(strided(&s().matmul(&m()))))),
        ("dup@m uncoalesced", Is(Ok(strided(&dup().matmul(m()))))),
        ("sparse.mm s,s", Is(Ok(sparse(&s().matmul(s().t()))))),
        ("s@s", Is(Ok(sparse(&s().matmul(&s().t()))))),
        ("mv", Is(Ok(strided(&s().matmul(tensor![0.0, 1.0, 2.0]))))),
        ("dense@sparse", Is(Ok(strided(&s().rmatmul(&m()))))),
        ("mm dtype mismatch f32,f64", Refused),
        ("mm i64", Is(Ok(strided(&si().matmul(tensor![[1, 2], [3, 4]]))))),
        ("mm shape mismatch", Is(said(unknown.try_matmul(&Tensor::<f32, shape![_, 2]>::ones_sized([2, 2])), strided))),
        ("mm f16", Is(Ok(strided(&s().to::<f16>().matmul(m().to::<f16>()))))),
        ("addmm", InOtherWords(strided(&(Tensor::<f32, shape![2, 2]>::ones() * 2 + s().matmul(m()) * 3)))),
        ("bmm", Apart("no batches of sparse matrices")),
        ("smm", Apart("no smm")),
        ("t", Is(Ok(sparse(&s().t())))),
        ("transpose", Is(Ok(sparse(&dup().transpose(axis![0], axis![1]))))),
        ("transpose coalesced", Is(Ok(sparse(&dup().coalesce().transpose(axis![0], axis![1]))))),
        ("hybrid transpose sparse<->dense", Refused),
        ("permute", Is(Ok(sparse(&s().permute(axis![1, 0]))))),
        ("hybrid permute across", Refused),
        ("sum", Is(Ok(strided(&s().sum())))),
        ("torch.sparse.sum dim", Is(Ok(sparse(&s().sum_axis(axis![0]))))),
        ("s.sum(0)", Is(Ok(sparse(&s().sum_axis(axis![0]))))),
        ("s.sum(0, keepdim)", Is(Ok(sparse(&s().sum_axis(axis![0].keepdim()))))),
        ("int sum dtype", Is(Ok(strided(&si().to::<i32>().sum())))),
        ("softmax", Apart("no softmax")),
        ("neg", Is(Ok(sparse(&-s())))),
        ("abs", Is(Ok(sparse(&(-s()).abs())))),
        ("sin (zero-preserving)", Is(Ok(sparse(&s().sin())))),
        ("cos", Refused),
        ("exp", Refused),
        ("sqrt int", Is(Ok(sparse(&si().sqrt())))),
        ("relu", Is(Ok(sparse(&(-s()).relu())))),
        ("sign", Is(Ok(sparse(&s().sign())))),
        ("isnan", Is(Ok(sparse(&s().isnan())))),
        ("dup abs on uncoalesced", Is(Ok(sparse(&twice(1.0_f32, -3.0).abs())))),
        ("dup sqrt on uncoalesced", Is(Ok(sparse(&twice(4.0_f32, 5.0).sqrt())))),
        ("select", Is(Ok(sparse(&s().select(axis![0], 0))))),
        ("select int", InOtherWords(strided(&s().select(axis![0], 0).to_dense().select(axis![0], 2)))),
        ("slice", Refused),
        ("index_select", Is(Ok(sparse(&s().index_select(axis![1], &tensor![2, 0]))))),
        ("mask index", Refused),
        ("narrow_copy", Is(Ok(sparse(&s().narrow(axis![1], 1, 2))))),
        ("unsqueeze", Is(Ok(sparse(&s().unsqueeze(axis![0]))))),
        ("unsqueeze last", Is(Ok(sparse(&s().unsqueeze(axis![-1]))))),
        ("squeeze", Refused),
        ("reshape", Refused),
        ("view", Refused),
        ("stride", Apart("sparse tensors have no strides: no method")),
        ("is_contiguous", Apart("sparse tensors have no strides: no method")),
        ("storage_offset", Apart("sparse tensors have no strides: no method")),
        ("data_ptr", Refused),
        (
            "item",
            Is(Ok(value!({
                "py": format!("{:?}", Tensor::<f32, shape![1]>::sparse_coo(&tensor![[0]], &tensor![5.0]).item())
            }))),
        ),
        ("clone", Is(Ok(sparse(&dup().clone())))),
        ("zeros_like", Is(Ok(sparse(&s().zeros_like())))),
        ("empty_like shape nnz", InOtherWords(value!({ "py": s().zeros_like().nnz().to_string() }))),
        ("zero_", InOtherWords(sparse(&s().zeros_like()))),
        ("fill_", Refused),
        ("cat", Is(Ok(sparse(&s().cat(&q(), axis![0]))))),
        ("cat dim1", Is(Ok(sparse(&s().cat(&q(), axis![1]))))),
        ("cat f32,f64", Is(Ok(sparse(&s().cat(&q().to::<f64>(), axis![0]))))),
        ("cat s,dense", Refused),
        ("stack", Is(Ok(sparse(&s().stack(&q(), axis![0]))))),
        ("sparse_mask", Apart("no sparse_mask")),
        ("allclose", Refused),
        ("equal", Refused),
        ("equal method", Refused),
        ("max", Refused),
        ("mean", Refused),
        ("norm", Is(Ok(strided(&s().norm(2.0))))),
        ("dup norm", Is(Ok(strided(&twice(3.0_f32, 4.0).norm(2.0))))),
        ("any", Is(Ok(strided(&sb().any())))),
        ("nonzero", Refused),
        ("numpy", Refused),
        ("copy_ s<-s", Apart("a sparse tensor is assigned")),
        ("copy_ dense<-s", Refused),
        ("copy_ s<-dense", Refused),
        ("resize", Apart("no sparse_resize_")),
        ("to csr", Apart("no other sparse layout")),
        ("where", Refused),
        ("conj", Is(Ok(sparse(&sc().conj())))),
        ("real", Is(Ok(sparse(&sc().real())))),
        ("dot 1d", Refused),
        ("dot s,dense", Refused),
        (
            "is_sparse/layout",
            Is(Ok(value!([
                { "py": if s().is_sparse() { "True" } else { "False" } },
                { "py": format!("'{}'", s().layout()) }
            ]))),
        ),
    ]
}

#[test]
fn sparse_tensors_are_what_pytorch_makes_of_them() {
    let table = json("sparse.json");
    let rows: BTreeMap<&str, &Value> =
        table["cases"].as_array().unwrap().iter().map(|row| (row["name"].as_str().unwrap(), &row["result"])).collect();
    let mut ours: Vec<(String, Ours)> = sweeps();
    for (name, answer) in makings().into_iter().chain(sums_and_products()).chain(matrices_and_axes()) {
        ours.push((name.to_owned(), answer));
    }
    let mut tally: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut known = 0;
    for (name, answer) in &ours {
        let Some(theirs) = rows.get(&**name) else { continue };
        known += 1;
        let refuses = theirs.get("error").is_some();
        let how = match answer {
            Is(Ok(ours)) if !refuses && equal(ours, theirs) => "agree",
            InOtherWords(ours) if !refuses && equal(ours, theirs) => "agree, written in other words",
            Is(Err(_)) if refuses => "both refuse, while running",
            Refused if refuses => "both refuse, here the compiler",
            Refused if ["values 0-d"].contains(&&**name) => "apart: a value of no axis is written as one of one",
            Beyond(why, ours) if refuses => {
                assert!(ours.get("dtype").is_some());
                why
            }
            Checked(Err(_)) if !refuses => "set aside: indices are checked",
            Apart(why) => why,
            Is(ours) | Checked(ours) => {
                wrong.push(format!("{name}: {ours:?}\n    PyTorch: {theirs}"));
                continue;
            }
            Refused | Beyond(..) | InOtherWords(_) => {
                wrong.push(format!("{name}: PyTorch: {theirs}"));
                continue;
            }
        };
        *tally.entry(how).or_default() += 1;
    }
    for (how, count) in &tally {
        println!("{count:4} {how}");
    }
    let missing: Vec<_> = rows.keys().filter(|name| !ours.iter().any(|(known, _)| known == *name)).collect();
    assert!(wrong.is_empty(), "{} rows disagree:\n{}", wrong.len(), wrong.join("\n"));
    assert!(missing.is_empty(), "rows nobody looks at: {missing:?}");
    assert_eq!(known, rows.len());
    if rows.len() >= 271 {
        assert!(tally["agree"] >= 145, "{tally:?}");
    }
}

#[test]
fn sums_with_the_sparse_tensor_on_the_left_are_those_with_it_on_the_right() {
    assert_eq!((s() + dn()).to_vec(), (dn() + s()).to_vec());
    assert_eq!((s() - dn()).to_vec(), (-(dn() - s())).to_vec());
    assert_eq!((si() + Tensor::<f32, shape![2, 2]>::ones()).to_vec(), [1.0, 4.0, 5.0, 1.0]);
}
