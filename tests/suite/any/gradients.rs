//! Gradients of `AnyTensor`: what PyTorch's tensors do that require gradients.

use castiron::any::{self, Args, GradOptions, Value, call, call_in_place};
use castiron::{AnyTensor, DType, Interpolation, Result, Tensor, shape, tensor};

fn leaf(x: impl Into<AnyTensor>) -> AnyTensor {
    let mut x = x.into();
    x.requires_grad_(true).unwrap();
    x
}
fn total(x: &AnyTensor) -> Result<AnyTensor> {
    x.sum(None, false, None)
}
fn number(x: &AnyTensor) -> Result<f64> {
    Ok(x.typed::<f64, shape![], castiron::Cpu>()?.item())
}
fn text(x: Option<AnyTensor>) -> String {
    x.map_or("none".to_owned(), |x| x.to_string())
}

#[test]
fn gradients_add_up_in_leaves() -> Result<()> {
    let w = leaf(tensor![1.0, 2.0, 3.0]);
    let y = (&w * &w)?;
    total(&y)?.backward()?;
    total(&(&w * 10)?)?.backward()?;
    assert_eq!(text(w.grad()), "tensor([12., 14., 16.])");
    assert!(!y.is_leaf() && y.requires_grad() && y.grad().is_none());
    let before = w.grad().unwrap();
    total(&w)?.backward()?;
    // A gradient that was taken out keeps its elements.
    assert_eq!(
        (before.to_string(), text(w.grad())),
        ("tensor([12., 14., 16.])".into(), "tensor([13., 15., 17.])".into())
    );
    w.zero_grad();
    assert!(w.grad().is_none());
    Ok(())
}

#[test]
fn roundings_have_zeros_as_gradients() -> Result<()> {
    let (x, y) = (leaf(tensor![1.5, -0.2]), leaf(tensor![0.7, 2.0]));
    let seed = AnyTensor::from(tensor![f32::INFINITY, f32::NAN]);
    let options = GradOptions { seeds: Some(&[&seed]), ..GradOptions::default() };
    let mut results = vec![x.floor_divide(&y)?, x.floor_divide(2)?];
    for name in ["floor", "ceil", "round", "trunc", "fix", "sign"] {
        results.push(call(name, &Args::new().arg(x.clone()))?.tensor()?);
    }
    for result in &results {
        let found = any::grad(&[result], &[&x], &options)?;
        assert_eq!(text(found[0].clone()), "tensor([0., 0.])");
    }
    Ok(())
}

#[test]
fn quantiles_depend_on_their_probabilities() -> Result<()> {
    let (x, q) = (AnyTensor::from(tensor![8.0, 1.0, 4.0, 2.0]), leaf(tensor![0.25, 0.5]));
    total(&x.quantile(&q, None, false, Interpolation::Linear, false)?)?.backward()?;
    assert_eq!(text(q.grad()), "tensor([3., 6.])");
    let q = leaf(Tensor::<f32, shape![]>::scalar(0.5));
    total(&x.quantile(&q, None, false, Interpolation::Linear, false)?)?.backward()?;
    assert_eq!(text(q.grad()), "tensor(6.)");
    Ok(())
}

#[test]
fn errors_are_those_of_pytorch() -> Result<()> {
    let message = |result: Result<()>| result.unwrap_err().to_string();
    let plain = AnyTensor::from(tensor![1.0]);
    assert!(message(plain.backward()).contains("element 0 of tensors does not require grad"));
    let x = leaf(tensor![1.0, 2.0]);
    assert!(message(x.exp()?.backward()).contains("grad can be implicitly created only for scalar outputs"));
    let ints = AnyTensor::from(tensor![1, 2]).requires_grad_(true).map(|_| ());
    assert!(message(ints).contains("only tensors of floating point and complex dtype can require gradients"));
    let loss = total(&x.exp()?)?;
    loss.backward()?;
    assert!(message(loss.backward()).contains("a second time"));
    // Nothing that a sum reads was freed.
    let sum = total(&x)?;
    sum.backward()?;
    sum.backward()?;
    let mut y = leaf(tensor![1.0, 2.0]);
    assert!(
        message(y.add_(1).map(|_| ())).contains("a leaf tensor that requires grad is used in an in-place operation")
    );
    assert!(message(y.view_mut().map(|_| ())).contains("leaf"));
    assert!(message(y.exp()?.requires_grad_(false).map(|_| ())).contains("only of leaf tensors"));
    assert!(message(x.exp()?.backward_with(&AnyTensor::from(tensor![1.0]))).contains("[1]"));
    let other = leaf(tensor![1.0]);
    let unused = any::grad(&[&total(&x)?], &[&other], &GradOptions::default());
    assert!(unused.unwrap_err().to_string().contains("was not used"));
    assert!(x.typed::<f32, castiron::shape![2], castiron::Cpu>().unwrap_err().to_string().contains("detach"));
    Ok(())
}

#[test]
fn a_graph_lives_as_long_as_somebody_holds_it() -> Result<()> {
    let x = leaf(tensor![1.0, 2.0]);
    let shared = x.exp()?;
    let (one, other) = (total(&shared.square()?)?, total(&(&shared * 3)?)?);
    one.backward_retaining(None)?;
    other.backward()?;
    let e = x.detach().exp()?;
    let expected = e.square()?.mul(2)?.add(&e.mul(3)?)?;
    assert!(x.grad().unwrap().isclose(&expected, 1e-6, 1e-6, false)?.all(None, false)?.item()?.to_string() == "true");
    Ok(())
}

#[test]
fn long_chains_are_let_go_without_recursion() -> Result<()> {
    let x = leaf(tensor![1.0]);
    let mut y = x.clone();
    for _ in 0..100_000 {
        y = (&y + 1)?;
    }
    drop(y);
    let mut z = x.clone();
    for _ in 0..100_000 {
        z = (&z + 1)?;
    }
    z.backward()?;
    assert_eq!(text(x.grad()), "tensor([1.])");
    Ok(())
}

#[test]
fn writing_in_place_is_recorded() -> Result<()> {
    let x = leaf(tensor![1.0, 2.0, 3.0]);
    let mut y = (&x * 2)?;
    y.mul_(&x)?; // 2 x^2
    y.select_mut(0, 1)?.fill_(7)?;
    y.slice_mut(0, Some(2), None, 1)?.mul_(10)?;
    total(&y)?.backward()?;
    assert_eq!(text(x.grad()), "tensor([  4.,   0., 120.])");

    // A tensor that depended on nothing is written by one that does.
    let mut zeros = AnyTensor::zeros(&[3], DType::F32)?;
    zeros.select_mut(0, 1)?.copy_from(&total(&x)?)?;
    x.zero_grad();
    total(&zeros.square()?)?.backward()?;
    assert_eq!(text(x.grad()), "tensor([12., 12., 12.])");
    let mut by_name = AnyTensor::zeros(&[3], DType::F32)?;
    call_in_place("add_", &mut by_name, &Args::new().arg(x.square()?))?;
    x.zero_grad();
    total(&by_name)?.backward()?;
    assert_eq!(text(x.grad()), "tensor([2., 4., 6.])");
    Ok(())
}

#[test]
fn what_was_kept_is_not_changed_by_writing() -> Result<()> {
    let x = leaf(tensor![1.0, 2.0]);
    let mut y = (&x + 0)?;
    let z = y.square()?;
    y.fill_(100)?;
    total(&z)?.backward()?;
    assert_eq!(text(x.grad()), "tensor([2., 4.])");
    // Of a window, too.
    x.zero_grad();
    let mut y = (&x + 0)?;
    let z = {
        let mut window = y.view_mut()?;
        let z = window.to_tensor()?.square()?;
        window.mul_(&window.to_tensor()?)?;
        z
    };
    total(&(&z + &y)?)?.backward()?;
    assert_eq!(text(x.grad()), "tensor([4., 8.])");
    Ok(())
}

#[test]
fn views_and_copies_share_the_gradient_of_their_storage() -> Result<()> {
    let x = leaf(tensor![[1.0, 2.0], [3.0, 4.0]]);
    let row = x.select(0, 1)?;
    total(&(row.square()? + x.t()?.select(0, 0)?)?)?.backward()?;
    assert_eq!(text(x.grad()), "tensor([[1., 0.],\n        [7., 8.]])");
    assert_eq!(text(row.grad()), "tensor([7., 8.])");
    // A window of overlapping views.
    let x = leaf(tensor![1.0, 2.0, 3.0, 4.0]);
    total(&x.unfold(0, 2, 1)?)?.backward()?;
    assert_eq!(text(x.grad()), "tensor([1., 2., 2., 1.])");
    let wide = leaf(tensor![1.0]);
    total(&wide.expand(&[5])?)?.backward()?;
    assert_eq!(text(wide.grad()), "tensor([5.])");
    // A leaf that is a part of a storage.
    let part = leaf(AnyTensor::from(tensor![0.0, 1.0, 2.0, 3.0]).slice(0, Some(1), None, 2)?);
    total(&part.square()?)?.backward()?;
    assert_eq!(text(part.grad()), "tensor([2., 6.])");
    Ok(())
}

#[test]
fn nothing_is_recorded_under_no_grad() -> Result<()> {
    let mut w = leaf(tensor![1.0, 2.0]);
    let held = w.clone(); // copied before it is written
    let loss = total(&w.square()?)?;
    loss.backward()?;
    let step = w.take_grad().unwrap();
    {
        let _guard = any::scoped_no_grad();
        assert!(!w.exp()?.requires_grad());
        w.sub_(&(step * 0.25)?)?;
        w.select_mut(0, 0)?.add_(1)?;
    }
    assert_eq!((w.to_string(), held.to_string()), ("tensor([1.5000, 1.0000])".into(), "tensor([1., 2.])".into()));
    assert!(w.is_leaf() && w.requires_grad());
    total(&w.square()?)?.backward()?;
    assert_eq!(text(w.grad()), "tensor([3., 2.])");
    // On another thread it is.
    let _guard = any::scoped_no_grad();
    let recorded = std::thread::scope(|scope| scope.spawn(|| w.exp().unwrap().requires_grad()).join().unwrap());
    assert!(recorded && !w.exp()?.requires_grad());
    Ok(())
}

#[test]
fn gradients_of_some_tensors_only() -> Result<()> {
    let (x, y) = (leaf(tensor![1.0, 2.0]), leaf(tensor![3.0, 4.0]));
    let product = (&x * &y)?;
    let loss = total(&product.square()?)?;
    let options = GradOptions { retain_graph: true, ..GradOptions::default() };
    let grads = any::grad(&[&loss], &[&product, &x], &options)?;
    assert_eq!(text(grads[0].clone()), "tensor([ 6., 16.])");
    assert_eq!(text(grads[1].clone()), "tensor([18., 64.])");
    assert!(x.grad().is_none() && y.grad().is_none());
    let seed = AnyTensor::from(tensor![1.0, 0.0]);
    let by_seed = any::grad(&[&product], &[&y], &GradOptions { seeds: Some(&[&seed]), ..options })?;
    assert_eq!(text(by_seed[0].clone()), "tensor([1., 0.])");
    Ok(())
}

#[test]
fn operations_by_width_know_the_dtype_of_what_they_move() -> Result<()> {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64, DType::C64, DType::C128] {
        let mut x = AnyTensor::ones(&[2, 3], dtype)?;
        x.requires_grad_(true)?;
        let moved = [
            x.flip(&[1])?,
            x.roll(&[1], &[0])?,
            any::cat(&[x.clone(), x.clone()], 0)?,
            x.t()?.contiguous()?,
            x.tril(0)?,
        ];
        for y in &moved {
            assert!(y.requires_grad(), "{dtype}");
        }
        let args = Args::new().arg(Value::from(&x)).arg(x.gt(0).or_else(|_| x.ne(0))?).arg(0_i64);
        let Value::Array(filled) = call("masked_fill", &args)? else { panic!("one result") };
        let loss = any::cat(&[moved[0].clone(), moved[2].clone()], 0)?
            .add(&moved[1].select(0, 0)?)?
            .add(&filled.select(0, 0)?)?;
        let loss = if dtype.is_complex() { loss.real()? } else { loss };
        total(&loss)?.backward()?;
        let sum = x.grad().unwrap().to(DType::C128)?.sum(None, false, None)?;
        // Three copies, and a row added six times.
        assert_eq!(sum.real()?.item()?.to_string(), "36", "{dtype}");
    }
    // Bits have no gradient.
    assert!(!leaf(tensor![1.0_f32]).view_dtype(DType::I32)?.requires_grad());
    Ok(())
}

#[test]
fn conjugates_and_parts() -> Result<()> {
    let z = leaf(tensor![castiron::Complex::new(1.0_f64, 2.0)]);
    let real = (&z * &z.conj()?)?.real()?;
    total(&real)?.backward()?;
    assert_eq!(text(z.grad()), "tensor([2.+4.j], dtype=torch.complex128)");
    z.zero_grad();
    total(&z.conj()?.imag()?.square()?)?.backward()?;
    assert_eq!(text(z.grad()), "tensor([0.+4.j], dtype=torch.complex128)");
    Ok(())
}

#[test]
fn a_loop_of_training_keeps_its_leaf_and_learns() -> Result<()> {
    let mut w = leaf(tensor![[0.5, -0.25], [1.0, 2.0]]);
    let x = AnyTensor::from(tensor![[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]]);
    let mut first = None;
    for step in 0..2000 {
        let loss = total(&x.matmul(&w)?.tanh()?.square()?)?;
        loss.backward()?;
        let gradient = w.take_grad().unwrap();
        let _guard = any::scoped_no_grad();
        w.sub_(&(gradient * 0.01)?)?;
        if step == 0 {
            first = Some(loss.detach());
        }
        assert!(w.is_leaf());
    }
    let last = total(&x.matmul(&w)?.tanh()?.square()?)?.detach();
    assert_eq!(last.lt(first.unwrap())?.item()?.to_string(), "true");
    Ok(())
}

#[test]
fn views_reach_what_has_a_gradient() -> Result<()> {
    let whole = AnyTensor::from(tensor![1.0, 2.0, 3.0, 4.0]);
    let x = leaf(whole.narrow(0, 2, 2)?);
    for offset in [0, 1, 3] {
        let view = x.as_strided(&[1], &[1], Some(offset));
        // (The storage of a copy may be smaller.)
        let Ok(view) = view else { continue };
        let result = total(&view)?.backward();
        assert!(result.is_ok() || result.unwrap_err().to_string().contains("outside of the tensor"));
    }
    total(&(&x * 2)?)?.backward()?;
    for view in [x.as_strided(&[4], &[1], Some(0)), x.as_strided(&[2], &[1], Some(2))].into_iter().flatten() {
        if let Some(gradient) = view.grad() {
            assert_eq!(gradient.to_scalars()?.len(), view.numel());
        }
    }
    Ok(())
}

#[test]
fn a_copy_under_no_grad_has_a_value_of_its_own() -> Result<()> {
    let w = leaf(tensor![1.0, 2.0]);
    let mut x = w.mul(1)?;
    x.view_mut()?.add_(1)?;
    let y = x.clone();
    {
        let _guard = any::scoped_no_grad();
        x.add_(5)?;
    }
    x.mul_(3)?;
    total(&y)?.backward()?;
    assert_eq!(text(w.grad()), "tensor([1., 1.])");
    Ok(())
}

#[test]
fn optimisers_step_leaves_where_they_are() -> Result<()> {
    let mut w = leaf(tensor![1.0, 2.0]);
    let mut sgd = castiron::optim::Sgd::new(&w).rate(0.5).momentum(0.5);
    for expected in ["tensor([0., 0.])", "tensor([-0.5000, -1.0000])"] {
        let gradient = {
            total(&w.square()?)?.backward()?;
            w.take_grad().unwrap()
        };
        sgd.try_step(&mut w, &gradient)?;
        assert!(w.is_leaf() && w.requires_grad());
        assert_eq!(w.detach().to_string(), expected);
    }
    // So does one that was written through a view before.
    let mut w = AnyTensor::from(tensor![1.0, 2.0]);
    w.select_mut(0, 0)?.fill_(3)?;
    castiron::optim::Sgd::new(&w).rate(1.0).try_step(&mut w, &AnyTensor::from(tensor![1.0, 1.0]))?;
    assert_eq!(w.to_string(), "tensor([2., 1.])");
    Ok(())
}

#[test]
fn numbers_that_have_gradients_are_recorded() -> Result<()> {
    let (a, b) = (AnyTensor::from(tensor![1.0, 2.0]), AnyTensor::from(tensor![4.0, 4.0]));
    let weight = leaf(AnyTensor::from(castiron::Tensor::<f32, castiron::shape![]>::scalar(0.5)));
    total(&a.lerp(&b, &weight)?)?.backward()?;
    assert_eq!(text(weight.grad()), "tensor(5.)");
    let x = leaf(tensor![1.0; f64]);
    let bits = x.ldexp(200)?.detach().item()?;
    assert_eq!(bits.to_dtype::<f64>(), Some(200_f64.exp2()));
    Ok(())
}

/// What hooks have seen.
type Seen = std::sync::Arc<std::sync::Mutex<Vec<String>>>;
fn seen(by: &Seen) -> Vec<String> {
    std::mem::take(&mut *by.lock().unwrap())
}
/// A hook that notes what it sees, and returns it times a number.
fn noting(
    to: &Seen,
    name: &'static str,
    times: Option<f64>,
) -> impl Fn(&AnyTensor) -> Result<Option<AnyTensor>> + Send + Sync + 'static {
    let to = to.clone();
    move |gradient| {
        to.lock().unwrap().push(format!("{name} {gradient}"));
        times.map(|times| gradient * times).transpose()
    }
}

#[test]
fn hooks_see_and_replace_gradients_as_in_pytorch() -> Result<()> {
    let by = Seen::default();
    let x = leaf(tensor![1.0, 2.0, 3.0]);
    let y = (&x * &x)?;
    y.register_hook(noting(&by, "first", None))?;
    y.register_hook(noting(&by, "second", Some(2.0)))?;
    y.register_hook(noting(&by, "third", None))?;
    let of_leaf = x.register_hook(noting(&by, "leaf", Some(10.0)))?;
    let weights = AnyTensor::from(tensor![1.0, 10.0, 100.0]);
    let loss = (total(&(&y * &weights)?)? + total(&y)?)?;
    let all = [
        "first tensor([  2.,  11., 101.])",
        "second tensor([  2.,  11., 101.])",
        "third tensor([  4.,  22., 202.])",
        "leaf tensor([   8.,   88., 1212.])",
    ];
    loss.backward_retaining(None)?;
    assert_eq!(
        (seen(&by), text(x.grad())),
        (all.map(String::from).to_vec(), "tensor([   80.,   880., 12120.])".into())
    );
    // `any::grad` calls them, too.
    let options = GradOptions { retain_graph: true, ..GradOptions::default() };
    let grads = any::grad(&[&loss], &[&x], &options)?;
    assert_eq!(
        (seen(&by), text(grads[0].clone())),
        (all.map(String::from).to_vec(), "tensor([   80.,   880., 12120.])".into())
    );
    // One that was removed is not called any more, and the rest are. A clone is the same tensor of the graph.
    assert!(format!("{of_leaf:?}").contains("HookHandle"));
    of_leaf.remove();
    x.zero_grad();
    x.clone().register_hook(noting(&by, "clone", None))?;
    loss.backward()?;
    assert_eq!(
        (seen(&by)[3].as_str(), text(x.grad())),
        ("clone tensor([   8.,   88., 1212.])", "tensor([   8.,   88., 1212.])".into())
    );

    // Before a write in place: the gradient of the value before.
    let mut y = x.square()?;
    y.register_hook(noting(&by, "before", None))?;
    y.mul_(3)?;
    total(&y)?.backward()?;
    assert_eq!(seen(&by)[0], "before tensor([3., 3., 3.])");
    // Of the second result, and of views: theirs is the part that they show, the rest stays.
    let x = leaf(tensor![[1.0, 5.0], [7.0, 3.0]]);
    let rows = x.select(1, 1)?;
    rows.register_hook(noting(&by, "column", Some(-1.0)))?;
    total(&(&x * &AnyTensor::from(tensor![[1.0, 2.0], [3.0, 4.0]]))?)?.backward()?;
    assert_eq!(
        (seen(&by)[0].as_str(), text(x.grad())),
        ("column tensor([2., 4.])", "tensor([[ 1., -2.],\n        [ 3., -4.]])".into())
    );
    Ok(())
}

#[test]
fn hooks_that_fail_lose_and_lock_nothing() -> Result<()> {
    let message = |result: Result<()>| result.unwrap_err().to_string();
    let by = Seen::default();
    let plain = AnyTensor::from(tensor![1.0]).register_hook(noting(&by, "none", None)).map(|_| ());
    assert_eq!(message(plain), "register_hook: a hook sees gradients, and this tensor does not require grad");
    let (x, w) = (leaf(tensor![1.0, 2.0]), leaf(tensor![3.0, 4.0]));
    type Replacing = fn(&AnyTensor) -> Result<AnyTensor>;
    let wrong: [(Replacing, &str); 4] = [
        (|gradient| gradient.to(DType::F64), "given a gradient of float32 on cpu, and returned float64 on cpu"),
        (|gradient| gradient.to_device(castiron::AnyDevice::META), "returned float32 on meta"),
        (|gradient| gradient.slice(0, None, Some(1), 1), "[1]"),
        (|gradient| gradient.matmul(&AnyTensor::from(tensor![1, 2, 3])), "matmul"),
    ];
    for (replaced, says) in wrong {
        let y = x.square()?;
        y.register_hook(move |gradient| replaced(gradient).map(Some))?;
        let error = message((&y * &w)?.sum(None, false, None)?.backward());
        assert!(error.contains(says), "{error}");
        // No leaf has got anything, though the way back to one was complete.
        assert!(x.grad().is_none() && w.grad().is_none());
    }
    // An expanded view shares its elements.
    let wide = x.select(0, 0)?.expand(&[3])?;
    let handle = wide.register_hook(noting(&by, "wide", Some(1.0)))?;
    assert!(message(total(&wide)?.backward()).contains("expanded view"));
    handle.remove();

    // A panic ends the way back; recording goes on, and other ways back, also through the same leaves.
    let y = x.square()?;
    let handle = y.register_hook(|_| panic!("as planned"))?;
    let loss = (&y * &w)?.sum(None, false, None)?;
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| loss.backward_retaining(None)));
    assert!(caught.is_err() && x.grad().is_none() && w.grad().is_none());
    assert!(x.exp()?.requires_grad());
    handle.remove();
    loss.backward()?;
    assert_eq!((text(x.grad()), text(w.grad())), ("tensor([ 6., 16.])".into(), "tensor([1., 4.])".into()));
    x.zero_grad();
    w.zero_grad();

    // A hook that goes another way back, through the same leaf, registers a hook, and removes itself.
    let other = total(&w.square()?)?;
    let slot: std::sync::Arc<std::sync::Mutex<Option<any::HookHandle>>> = std::sync::Arc::default();
    let (own, inner) = (slot.clone(), x.clone());
    let notes = by.clone();
    let y = (&x * &w)?;
    let handle = y.register_hook(move |gradient| {
        other.backward()?;
        assert!(!inner.exp()?.requires_grad(), "what hooks compute is not recorded");
        inner.register_hook(noting(&notes, "late", None))?;
        if let Some(handle) = own.lock().unwrap().take() {
            handle.remove();
        }
        Ok(Some(gradient.clone()))
    })?;
    *slot.lock().unwrap() = Some(handle);
    total(&y)?.backward()?;
    assert_eq!((text(w.grad()), text(x.grad())), ("tensor([ 7., 10.])".into(), "tensor([3., 4.])".into()));
    assert_eq!(seen(&by).last().map(String::as_str), Some("late tensor([3., 4.])"));
    total(&(&x * &w)?)?.backward()?;
    assert_eq!(seen(&by), ["late tensor([3., 4.])"]);
    Ok(())
}

#[test]
fn gradients_that_have_gradients() -> Result<()> {
    let x = leaf(tensor![0.5_f64, -1.5]);
    let graph = GradOptions { create_graph: true, ..GradOptions::default() };
    let cube = x.pow(3.0)?;
    let first = any::grad(&[&total(&cube)?], &[&x], &graph)?.remove(0).unwrap();
    assert!(first.requires_grad());
    let second = any::grad(&[&total(&first)?], &[&x], &graph)?.remove(0);
    assert_eq!(text(second.clone()), "tensor([ 3., -9.], dtype=torch.float64)");
    let third = any::grad(&[&total(&second.unwrap())?], &[&x], &GradOptions::default())?.remove(0);
    assert_eq!(text(third), "tensor([6., 6.], dtype=torch.float64)");
    // A penalty on a gradient is learned by `backward`.
    let tanh = total(&x.tanh()?)?;
    let slope = any::grad(&[&tanh], &[&x], &graph)?.remove(0).unwrap();
    total(&slope.square()?)?.backward()?;
    let by_hand = |x: f64| {
        let y = x.tanh();
        -4.0 * y * (1.0 - y * y) * (1.0 - y * y)
    };
    let found = x.grad().unwrap().typed::<f64, shape![2], castiron::Cpu>()?.to_vec();
    assert!(found.iter().zip([0.5, -1.5]).all(|(found, x)| (found - by_hand(x)).abs() < 1e-12), "{found:?}");
    // Without it there is none; and nothing that is kept holds itself.
    let plain = any::grad(&[&total(&x.exp()?)?], &[&x], &GradOptions::default())?.remove(0).unwrap();
    assert!(!plain.requires_grad());
    Ok(())
}

#[test]
fn products_with_zeros_have_second_derivatives() -> Result<()> {
    let graph = GradOptions { create_graph: true, ..GradOptions::default() };
    let of = |x: AnyTensor, f: &dyn Fn(&AnyTensor) -> Result<AnyTensor>, gradient: &str, hessian: &[&str]| {
        let slope = any::grad(&[&total(&f(&x)?)?], &[&x], &graph)?.remove(0).unwrap();
        assert_eq!(slope.detach().to_string(), format!("tensor([{gradient}], dtype=torch.float64)"));
        assert_eq!(
            text(any::grad(&[&total(&f(&x)?)?], &[&x], &GradOptions::default())?.remove(0)),
            slope.detach().to_string()
        );
        for (at, row) in hessian.iter().enumerate() {
            let kept = GradOptions { retain_graph: true, ..GradOptions::default() };
            let found = any::grad(&[&slope.select(0, at as i64)?], &[&x], &kept)?.remove(0);
            assert_eq!(text(found), format!("tensor([{row}], dtype=torch.float64)"), "row {at}");
        }
        Ok(())
    };
    let prod = |x: &AnyTensor| x.prod(None, false, None);
    let cumprod = |x: &AnyTensor| x.cumprod(0, None);
    of(leaf(tensor![0.0_f64, 2.0, 3.0]), &prod, "6., 0., 0.", &["0., 3., 2.", "3., 0., 0.", "2., 0., 0."])?;
    of(leaf(tensor![0.0_f64, 0.0, 3.0]), &prod, "0., 0., 0.", &["0., 3., 0.", "3., 0., 0.", "0., 0., 0."])?;
    // The sum of running products: `x + x y + x y z`.
    of(leaf(tensor![2.0_f64, 0.0, 3.0]), &cumprod, "1., 8., 0.", &["0., 4., 0.", "4., 0., 2.", "0., 2., 0."])?;
    // Of several axes that are not adjacent, and along an axis between others.
    let cube = leaf(Tensor::<f64, shape![2, 3, 2]>::from_vec((0..12).map(|at| f64::from(at % 5) - 1.0).collect()));
    let axes = |x: &AnyTensor| x.sum(Some(&[0, 2]), false, None)?.prod(None, false, None);
    let along = |x: &AnyTensor| x.cumprod(1, None)?.square();
    for f in [&axes as &dyn Fn(&AnyTensor) -> Result<AnyTensor>, &along] {
        let slope = |x: &AnyTensor| Ok(any::grad(&[&total(&f(x)?)?], &[x], &graph)?.remove(0).unwrap());
        let exact = slope(&cube)?;
        let plain = any::grad(&[&total(&f(&cube)?)?], &[&cube], &GradOptions::default())?.remove(0).unwrap();
        assert!(exact.detach().allclose(&plain, 1e-12, 1e-12, false)?, "{exact} {plain}");
        let second = any::grad(&[&total(&exact.square()?)?], &[&cube], &GradOptions::default())?.remove(0).unwrap();
        for at in 0..12 {
            let moved = |by: f64| -> Result<f64> {
                let mut numbers = cube.detach().typed::<f64, shape![2, 3, 2], castiron::Cpu>()?.to_vec();
                numbers[at] += by;
                let x = leaf(Tensor::<f64, shape![2, 3, 2]>::from_vec(numbers));
                number(&total(&slope(&x)?.detach().square()?)?)
            };
            let difference = (moved(1e-5)? - moved(-1e-5)?) / 2e-5;
            let found = number(&second.flatten(0, -1)?.select(0, at as i64)?)?;
            assert!((found - difference).abs() < 1e-4 * (1.0 + difference.abs()), "{at}: {found} {difference}");
        }
    }
    Ok(())
}

#[test]
fn copies_on_other_devices_are_recorded() -> Result<()> {
    let x = leaf(tensor![1.0, 2.0]);
    let there = x.square()?.to_device("meta")?;
    assert!(there.requires_grad());
    let error = total(&there)?.backward().unwrap_err();
    assert!(error.to_string().contains("meta"), "{error}");
    Ok(())
}

/// They are converted, computed in a wider dtype and rounded block by block: the last block is shorter, and views begin anywhere.
#[test]
fn gradients_of_narrow_dtypes_are_those_of_wide_ones() -> Result<()> {
    let numbers = |from: usize| {
        let number = |at: usize| 0.05 + ((at + from) * 7919 % 1000) as f64 / 600.0;
        AnyTensor::from(castiron::Tensor::<f64, shape![5010]>::from_vec((0..5010).map(number).collect()))
    };
    let of = |dtype: DType, from: usize| -> Result<AnyTensor> {
        let x = numbers(from);
        let x = if dtype.is_complex() {
            call("complex", &Args::new().arg(x).arg(numbers(from + 77)))?.tensor()?
        } else {
            x
        };
        x.to(dtype)
    };
    let with = |name: &'static str, rest: Vec<Value>| {
        move |x: &AnyTensor, _: &AnyTensor| {
            let args = rest.iter().fold(Args::new().arg(x.clone()), |args, value| args.arg(value.clone()));
            call(name, &args)?.tensor()
        }
    };
    let both = |name: &'static str| {
        move |x: &AnyTensor, y: &AnyTensor| call(name, &Args::new().arg(x.clone()).arg(y.clone()))?.tensor()
    };
    type Call = Box<dyn Fn(&AnyTensor, &AnyTensor) -> Result<AnyTensor>>;
    let mut calls: Vec<(&str, Call)> = Vec::new();
    for name in ["sigmoid", "tanh", "exp", "expm1", "exp2", "sqrt", "rsqrt", "reciprocal", "sin", "square", "log"] {
        calls.push((name, Box::new(with(name, vec![]))));
    }
    for name in ["add", "sub", "mul", "div", "pow", "rsub"] {
        calls.push((name, Box::new(with(name, vec![Value::from(3.0)]))));
    }
    for name in ["add", "sub", "mul", "div"] {
        calls.push((name, Box::new(both(name))));
    }
    for name in ["nn.functional.mse_loss", "nn.functional.smooth_l1_loss"] {
        let call_of = move |x: &AnyTensor, y: &AnyTensor| {
            call(name, &Args::new().arg(x.clone()).arg(y.clone()).named("reduction", "sum"))?.tensor()
        };
        calls.push((name, Box::new(call_of)));
    }
    // Halves of the elements beside each other: nothing is dense.
    calls.push(("a row", Box::new(|x, y| x.reshape(&[2, -1])?.mul(&y.reshape(&[2, -1])?.select(0, 1)?))));
    let softmax = |name: &'static str| {
        move |x: &AnyTensor, _: &AnyTensor| {
            call(name, &Args::new().arg(x.reshape(&[-1, 3])?).arg(-1))?.tensor()?.square()
        }
    };
    for (narrow, wide, tolerance) in
        [(DType::BF16, DType::F32, 3e-2), (DType::F16, DType::F32, 4e-3), (DType::C64, DType::C128, 1e-5)]
    {
        if !narrow.is_complex() {
            calls.push(("softmax", Box::new(softmax("softmax"))));
            calls.push(("log_softmax", Box::new(softmax("log_softmax"))));
        } else {
            calls.retain(|(name, _)| !name.ends_with("softmax") && !name.ends_with("loss"));
        }
        for (name, f) in &calls {
            // The first elements are not used, so that operands begin inside of their storages.
            let gradients = |convert: &dyn Fn(AnyTensor) -> Result<AnyTensor>| -> Result<[AnyTensor; 2]> {
                let leaves = [leaf(convert(of(narrow, 1)?)?), leaf(convert(of(narrow, 500)?)?)];
                let [x, y] = leaves.each_ref().map(|x| x.slice(0, Some(6), None, 1));
                let result = f(&x?, &y?)?;
                let seed = convert(of(narrow, 9)?)?.slice(0, Some(0), Some(result.numel() as i64), 1)?;
                let seed = seed.reshape(result.shape())?;
                let options = GradOptions { seeds: Some(&[&seed]), allow_unused: true, ..GradOptions::default() };
                let found = any::grad(&[&result], &[&leaves[0], &leaves[1]], &options)?;
                let none = || AnyTensor::zeros(&[1], wide);
                let [x, y] = [0, 1].map(|at| found[at].clone().map_or_else(none, |g| g.to(wide)));
                Ok([x?, y?])
            };
            let (found, exact) = (gradients(&Ok)?, gradients(&|x| x.to(wide))?);
            for (at, (found, exact)) in found.iter().zip(&exact).enumerate() {
                assert!(
                    found.allclose(exact, tolerance, tolerance, false)?,
                    "{narrow} {name} by {at}: {found} {exact}"
                );
            }
        }
    }
    Ok(())
}
