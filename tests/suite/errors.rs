//! Errors at run time have a text that names the op, the shapes and the dtypes; the panicking form reports the caller's line; and
//! everything is left unchanged.

use castiron::{Complex, Dyn, Error, Generator, Tensor, axis, cat, dim, shape, stack, tensor, try_cat, where_};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex};

type Line<E> = Tensor<E, shape![_]>;
type Matrix<E> = Tensor<E, shape![_, _]>;

fn line(size: usize) -> Line<f32> {
    Tensor::ones_sized([size])
}
fn matrix(rows: usize, columns: usize) -> Matrix<f32> {
    Tensor::ones_sized([rows, columns])
}

/// The text of an error.
fn text<T>(result: castiron::Result<T>) -> String {
    match result {
        Ok(_) => panic!("no error"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn texts_name_the_operation_and_the_shapes() {
    for (got, expected) in [
        (
            text(line(2).try_add(line(3))),
            "add: shapes [2] and [3] do not broadcast: sizes go together, from the last axis on, if they are equal or one of them is 1",
        ),
        (
            text(matrix(2, 3).try_matmul(matrix(4, 5))),
            "matmul: inner sizes differ: shapes [2, 3] and [4, 5] (3 columns against 4 rows)",
        ),
        (
            text(castiron::try_cat((matrix(2, 3), matrix(2, 4)), axis![0])),
            "cat: tensors of shapes [2, 3] and [2, 4] can't be joined along axis 0: all other sizes must be the same",
        ),
        (
            text(castiron::try_stack((line(2), line(3)), axis![0])),
            "stack: tensors of shapes [2] and [3] can't be joined along axis 0: all other sizes must be the same",
        ),
        (
            text(matrix(2, 3).try_reshape::<shape![4, 2]>()),
            "reshape: a tensor of shape [2, 3] (6 elements) can't have shape [4, 2]",
        ),
        (
            text(matrix(2, 3).try_with_shape::<shape![2, 4]>()),
            "with_shape: expected a tensor of shape [2, 4], got one of shape [2, 3]",
        ),
        (text(line(3).try_select(axis![0], 3)), "select: index 3 is out of range for axis 0 of size 3"),
        (
            text(line(0).try_amax()),
            "amax: no elements to reduce over in a tensor of shape [0]: the operation has no identity",
        ),
        // Forms with other names say what PyTorch calls the operation.
        (
            text(tensor![3, 1].try_topk_sized(axis![0], 3, true)),
            "topk: k is 3, but goes from 0 to 2, the size of axis 0",
        ),
        (
            text(Tensor::<i64, shape![2, _]>::zeros_sized([2, 0]).try_unique_axis(axis![0])),
            "unique: slices of [2, 0] along axis 0 have no elements to compare",
        ),
        (text(line(2).try_item()), "item: a tensor of shape [2] does not have exactly one element"),
        (text(tensor![1, 2].try_floor_divide(tensor![1, 0])), "floor_divide: division of int64 by zero"),
        (text(tensor![1, 2; u8].try_remainder(0)), "remainder: division of uint8 by zero"),
        (
            text(tensor![2, 3].try_pow(-1)),
            "pow: int64 can't be raised to the negative integer power -1: use a float exponent",
        ),
        (text(tensor![1; u8].try_full_like(256)), "full_like: the scalar 256 does not fit uint8"),
        (
            text(line(2).try_add_(line(3))),
            "add: shapes [2] and [3] do not broadcast: sizes go together, from the last axis on, if they are equal or one of them is 1",
        ),
        (text(line(1).try_add_(line(3))), "add: a result of shape [3] can't be written into a tensor of shape [1]"),
    ] {
        assert_eq!(got, expected);
    }
}

/// Where and with what text a closure panics.
fn panic_of(code: impl FnOnce()) -> (String, u32, String) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let seen = Arc::new(Mutex::new(None));
    let hook = Arc::clone(&seen);
    let thread = std::thread::current().id();
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() != thread {
            return;
        }
        let location = info.location().expect("panics have a location");
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        *hook.lock().unwrap() = Some((location.file().to_owned(), location.line(), text));
    }));
    let result = panic::catch_unwind(AssertUnwindSafe(code));
    panic::set_hook(previous);
    assert!(result.is_err(), "no panic");
    let seen = seen.lock().unwrap().take();
    seen.expect("the hook has run")
}

/// Checks that an expression panics on the line where it stands.
#[track_caller]
fn here<T>(code: impl FnOnce() -> T) {
    let expected = panic::Location::caller();
    let (file, line, text) = panic_of(|| drop(code()));
    assert_eq!((file.as_str(), line), (expected.file(), expected.line()), "{text}");
    assert!(!text.is_empty());
}

#[test]
fn plain_forms_panic_at_the_callers_line() {
    let (mut a, b, m, n) = (line(2), line(3), matrix(2, 3), matrix(4, 5));
    let mut counts = tensor![1, 2];
    here(|| &a + &b);
    here(|| a.clone() - &b);
    here(|| a.add(&b));
    here(|| a.lt(&b));
    here(|| a.minimum(&b));
    here(|| a += &b);
    here(|| a.add_(&b));
    here(|| a.add_into(&b, &mut line(2)));
    here(|| a.exp_into(&mut line(3)));
    here(|| a.assign(&b));
    here(|| a.copy_from(&b));
    here(|| counts.fill(f64::NAN));
    here(|| &counts % 0);
    here(|| counts %= 0);
    here(|| counts.floor_divide(0));
    here(|| counts.pow(-2));
    here(|| tensor![1; u8].full_like(256));
    here(|| m.matmul(&n));
    here(|| m.reshape::<shape![5]>());
    here(|| m.reshape_sized::<(Dyn,)>([5]));
    here(|| m.unflatten::<shape![2, 2], 1>(axis![1]));
    here(|| m.expand_sized::<shape![_, _, _]>([2, 3, 3]));
    here(|| m.expand::<shape![2, 4]>());
    here(|| m.select(axis![1], 3));
    here(|| m.narrow(axis![0], 1, 2));
    here(|| m[(2, 0)]);
    here(|| m.item());
    here(|| line(0).amax());
    here(|| line(0).argmin());
    here(|| line(0).max_axis(axis![0]));
    here(|| cat((&m, &n), axis![0]));
    here(|| stack((&m, &n), axis![0]));
    here(|| where_(a.gt(0), &a, &b));
    here(|| Tensor::<f32, shape![_]>::zeros_sized([usize::MAX]));
    here(|| Tensor::<f32, shape![2]>::zeros_sized([3]));
    here(|| Tensor::<u8, shape![2]>::full(-256));
    here(|| Tensor::<f32, shape![2]>::from_vec(vec![1.0]));
    here(|| Tensor::<f32, shape![_]>::from_vec_sized(vec![1.0], [2]));
    here(|| Tensor::<i64, shape![_]>::arange(0, 1, 0));
    here(|| Tensor::<i64, shape![3]>::randperm(4, &mut Generator::seeded(0)));
    here(|| Tensor::<i64, shape![3]>::randint(4, 4, &mut Generator::seeded(0)));
    here(|| Tensor::<f32, shape![3], castiron::Cuda<63>>::zeros());
}

#[test]
fn plain_forms_panic_with_the_error_that_the_other_ones_return() {
    let (x, mut counts) = (matrix(2, 3), tensor![1, 2]);
    let wide = matrix(4, 5);
    for ((file, line, text), error, of) in [
        (panic_of(|| drop(x.select(axis![1], 3))), x.try_select(axis![1], 3).err(), line!()),
        (panic_of(|| drop(cat((&x, &wide), axis![0]))), try_cat((&x, &wide), axis![0]).err(), line!()),
        (panic_of(|| drop(Line::<i64>::arange(0, 1, 0))), Line::<i64>::try_arange(0, 1, 0).err(), line!()),
        (panic_of(|| _ = counts.pow_(-1)), tensor![1, 2].try_pow_(-1).err(), line!()),
        (panic_of(|| counts.fill(f64::NAN)), tensor![1, 2].try_fill(f64::NAN).err(), line!()),
    ] {
        assert_eq!((file.as_str(), line, text), (file!(), of, error.expect("an error").to_string()));
    }
}

/// Dividing no elements is no error: a tensor without elements divided by zeros, in every form.
#[test]
fn nothing_is_divided_by_zero() {
    let none = || Tensor::<i64, shape![0, 2]>::zeros();
    let (zeros, zero, mut out) = (tensor![0, 1], Tensor::<i64, ()>::scalar(0), none());
    assert_eq!(none().floor_divide(&zeros).shape(), [0, 2]);
    assert_eq!((&none() % &zeros).shape(), [0, 2]);
    assert_eq!((none() % 0).shape(), [0, 2]);
    assert_eq!(none().fmod(&zero).shape(), [0, 2]);
    assert_eq!(none().trunc_divide(zero.clone()).shape(), [0, 2]);
    none().remainder_into(&zeros, &mut out);
    out.floor_divide_(&zeros).fmod_(0).remainder_(&zero);
    assert_eq!((none().lazy() % 0).eval().shape(), [0, 2]);
    assert_eq!((none().lazy() % &zeros).eval().shape(), [0, 2]);
    out %= zeros.lazy() * 1;
    let _: Tensor<u8, shape![0]> = 5_u8 % Tensor::<u8, shape![0]>::zeros();
    // Sizes that do not fit are an error before.
    let none: Line<i64> = Line::zeros_sized([0]);
    assert!(matches!(none.try_floor_divide(Line::<i64>::zeros_sized([2])), Err(Error::Broadcast { .. })));
}

#[test]
fn a_failed_write_leaves_the_output_as_it_was() {
    let mut counts = tensor![10, 20, 30];
    // The divisor's zero is met last.
    assert!(matches!(counts.try_floor_divide_(tensor![2, 2, 0]), Err(Error::DivisionByZero { .. })));
    assert_eq!(counts.to_vec(), [10, 20, 30]);
    assert!(counts.try_remainder_(tensor![7, 7, 0]).is_err());
    assert_eq!(counts.to_vec(), [10, 20, 30]);
    let mut out = tensor![1, 2, 3];
    assert!(counts.try_remainder_into(tensor![7, 0, 7], &mut out).is_err());
    assert_eq!(out.to_vec(), [1, 2, 3]);
    assert!(counts.try_pow_(-1).is_err());
    assert!(counts.try_fill(f64::INFINITY).is_err());
    assert!(counts.try_clamp(i128::MAX as f64, i128::MAX as f64).is_ok());
    assert_eq!(counts.to_vec(), [10, 20, 30]);
    let mut line_of_two = line(2);
    assert!(line_of_two.try_add_(line(3)).is_err() && line_of_two.try_copy_from(&line(3)).is_err());
    assert_eq!(line_of_two.to_vec(), [1.0, 1.0]);
}

#[test]
fn sizes_that_overflow_in_a_result_are_an_error() {
    let wide = line(1).expand_sized::<shape![_, _]>([1 << 40, 1]);
    let tall = line(1).expand_sized::<shape![_, _]>([1, 1 << 40]);
    assert!(matches!(wide.try_add(&tall), Err(Error::TooLarge { op: "add", .. })));
    assert!(matches!(wide.try_matmul(&tall), Err(Error::TooLarge { op: "matmul", .. })));
    assert!(matches!(wide.try_expand_sized::<shape![_, _, _]>([1 << 40, 1 << 40, 1]), Err(Error::TooLarge { .. })));
    // Windows that share elements: 2^64 + 1 of them, which `usize` would count as one.
    let repeated = line(1).expand_sized::<shape![_]>([67_280_421_584_897]);
    assert!(matches!(repeated.try_unfold_sized(axis![0], 274_177, 1), Err(Error::TooLarge { op: "unfold", .. })));
    let long: Tensor<f32, shape![67_280_421_584_897]> =
        line(1).expand_sized::<shape![_]>([67_280_421_584_897]).with_shape();
    let windows = long.try_unfold::<dim!(274_177), dim!(1), _>(axis![0]);
    assert!(matches!(windows, Err(Error::TooLarge { op: "unfold", .. })));
    let huge = line(1).expand_sized::<shape![_]>([isize::MAX as usize / 4]);
    assert!(matches!(castiron::try_cat((&huge, &huge, &huge), axis![0]), Err(Error::TooLarge { op: "cat", .. })));
    assert!(matches!(huge.try_exp(), Err(Error::OutOfMemory { .. })));
    // As complex numbers the same elements would not even be addressable.
    assert!(matches!(huge.try_to::<Complex<f64>>(), Err(Error::TooLarge { .. })));
}

#[test]
fn known_shapes_that_match_cannot_fail() {
    // No `try_`, no size to check: these are total.
    let x: Tensor<f32, shape![2, 3]> = tensor![[1, 2, 3], [4, 5, 6]; f32];
    let y: Tensor<f32, shape![2, 2]> = x.matmul(x.t());
    let z: Tensor<f32, shape![2, 5]> = cat((&x, &y), axis![1]);
    let w: Tensor<f32, shape![5, 2]> = z.reshape();
    assert_eq!(w.shape(), [5, 2]);
}
#[test]
fn errors_are_ordinary_rust_errors() {
    fn sum(a: &Line<f32>, b: &Line<f32>) -> Result<f32, Box<dyn std::error::Error + Send + Sync>> {
        Ok(a.try_add(b)?.sum().item())
    }
    assert_eq!(sum(&line(2), &line(2)).unwrap(), 4.0);
    assert!(sum(&line(2), &line(3)).unwrap_err().downcast_ref::<Error>().is_some());
}

#[test]
fn more_parts_than_there_is_room_for_are_an_error() {
    let x = Tensor::<f32, shape![_, 0]>::zeros_sized([5, 0]);
    let many = usize::MAX / 2;
    assert!(matches!(x.try_tensor_split(axis![0], many), Err(Error::OutOfMemory { .. })));
    assert!(matches!(x.try_chunk(axis![1], many), Err(Error::OutOfMemory { .. })));
    let long = Tensor::<f32, shape![_, 0]>::zeros_sized([1 << 58, 0]);
    assert!(matches!(long.try_split(axis![0], 1), Err(Error::OutOfMemory { .. })));
    assert!(matches!(long.try_unbind(axis![0]), Err(Error::OutOfMemory { .. })));
    assert_eq!(x.chunk(axis![1], 3).len(), 3);
}
