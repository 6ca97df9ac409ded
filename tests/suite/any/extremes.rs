//! Operands with more elements than there is memory, and numbers near the ends of their range, in every operation: a result or an error,
//! never a panic, an abort or an endless call.  Aborts and endless calls end a process, so the calls are made in processes of their own:
//! this program runs itself again.

use super::empties::completed;
use super::model::calls::looked_at;
use castiron::any::{AnySparse, Args, NamedOp, Value, call, call_in_place, call_into, ops};
use castiron::{AnyTensor, Cpu, DType, Generator, Interpolation, MemoryFormat, ScalarValue, shape};
use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// More bytes than a process has addresses for, whatever the dtype: no allocator gives this many.
const HUGE: usize = 1 << 48;
/// How long a call may take. (Those that end at all take milliseconds; a busy machine may take its time.)
const LIMIT: Duration = Duration::from_secs(20);
/// In which part of the calls, of how many, a process starts with which.
const PART: &str = "CASTIRON_EXTREMES";
const PARTS: usize = 2;

const NUMBERS: [i64; 6] = [i64::MIN, -1, 1, HUGE as i64, 1 << 62, i64::MAX];

/// Operations that read every element without needing memory for them: 2^48 elements would take days, as in PyTorch. (Operations such as
/// `amax` and `all`, which read a repeated element once, are not in this list.)
const READS_ALL: &[&str] = &[
    // Sums, products, moments and norms.
    "sum",
    "nansum",
    "mean",
    "nanmean",
    "prod",
    "var",
    "std",
    "var_mean",
    "std_mean",
    "logsumexp",
    "count_nonzero",
    "nn.functional.adaptive_avg_pool1d",
    "nn.functional.adaptive_max_pool1d",
    "norm",
    "linalg.norm",
    "linalg.vector_norm",
    "linalg.matrix_norm",
    "sum_to_size",
    "masked.sum",
    "masked.mean",
    "masked.prod",
    "trapezoid",
    "nn.functional.avg_pool1d",
    "nn.functional.avg_pool2d",
    "nn.functional.avg_pool3d",
    // Losses, which are summed or averaged.
    "nn.functional.binary_cross_entropy",
    "nn.functional.binary_cross_entropy_with_logits",
    "nn.functional.cosine_embedding_loss",
    "nn.functional.cross_entropy",
    "nn.functional.ctc_loss",
    "nn.functional.gaussian_nll_loss",
    "nn.functional.hinge_embedding_loss",
    "nn.functional.huber_loss",
    "nn.functional.kl_div",
    "nn.functional.l1_loss",
    "nn.functional.margin_ranking_loss",
    "nn.functional.mse_loss",
    "nn.functional.multi_margin_loss",
    "nn.functional.multilabel_margin_loss",
    "nn.functional.multilabel_soft_margin_loss",
    "nn.functional.nll_loss",
    "nn.functional.poisson_nll_loss",
    "nn.functional.smooth_l1_loss",
    "nn.functional.soft_margin_loss",
    "nn.functional.triplet_margin_loss",
    "nn.functional.triplet_margin_with_distance_loss",
    // Positions, and the few largest.
    "argmax",
    "argmin",
    "masked.argmax",
    "masked.argmin",
    "masked.logsumexp",
    "masked.norm",
    "masked.std",
    "masked.var",
    "max",
    "min",
    "topk",
    // Products of rows with columns.
    "inner",
    "nn.functional.linear",
    "nn.functional.pdist",
    "tensordot",
    "matmul",
    "__rmatmul__",
    "mm",
];

/// Which call is being made, and what the last panic said.
static AT: AtomicUsize = AtomicUsize::new(0);
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Calls that are counted: those of a part, from one on.
struct Calls {
    part: usize,
    start: usize,
    /// Whether each is printed before it is made; else one of a thousand is.
    traced: bool,
    count: usize,
}

impl Calls {
    /// One more call. `what` describes it where it fails.
    fn one(&mut self, name: &str, what: impl Fn() -> String, call: impl FnOnce()) {
        self.count += 1;
        if self.count < self.start {
            return;
        }
        if self.traced || self.count.is_multiple_of(1000) {
            let what = if self.traced { what().replace('\n', " ") } else { String::new() };
            println!("call {} {name}: {what}", self.count);
        }
        AT.store(self.count, Ordering::Relaxed);
        if catch_unwind(AssertUnwindSafe(call)).is_err() {
            let (said, what) = (PANIC.lock().unwrap().replace('\n', " "), what().replace('\n', " "));
            println!("failed {name}: {said}: {what}");
        }
    }
}

/// Operands by their sizes: huge ones repeat one element.
fn operands(dtype: DType) -> Vec<AnyTensor> {
    let ones = |sizes: &[usize]| AnyTensor::ones(sizes, dtype).unwrap();
    let spread = |sizes: &[usize]| {
        let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
        ones(&vec![1; sizes.len()]).expand(&sizes).unwrap()
    };
    vec![
        spread(&[HUGE]),
        spread(&[2, HUGE]),
        spread(&[HUGE, 2]),
        spread(&[1, 1, 1, 2, 1, 1, 1, HUGE]),
        ones(&[]),
        ones(&[3]),
        ones(&[2, 2]),
        ones(&[1; 8]),
        ones(&[0]),
        AnyTensor::zeros(&[0, 1 << 58], dtype).unwrap(),
    ]
}

fn is_huge(value: &Value) -> bool {
    match value {
        Value::Array(x) => x.numel() >= HUGE,
        Value::List(values) => values.iter().any(is_huge),
        _ => false,
    }
}

/// Calls an operation by name, in place and into an output.
fn called(calls: &mut Calls, op: &NamedOp, x: &AnyTensor, positional: Vec<Value>, named: Vec<(&'static str, Value)>) {
    let mut all = positional.iter().chain(named.iter().map(|(_, value)| value));
    let reads_all = READS_ALL.contains(&op.name);
    if reads_all && (x.numel() >= HUGE || all.any(is_huge)) {
        return;
    }
    let what = || format!("{positional:?} {named:?}");
    let mut result = None;
    calls.one(op.name, what, || result = completed(op, x, &positional, named.clone()));
    // Numbers are read in one way, whatever is written.
    if !named.is_empty() || !matches!(positional[..], [Value::Array(_)] | [_, Value::Array(_), ..]) {
        return;
    }
    calls.one(
        op.name,
        || format!("in place: {}", what()),
        || {
            let mut first = x.clone();
            let rest = positional[1..].iter().fold(Args::new(), |args, value| args.arg(value.clone()));
            if call_in_place(op.name, &mut first, &rest).is_ok() {
                looked_at(&first.into());
            }
        },
    );
    calls.one(
        op.name,
        || format!("into an output: {}", what()),
        || {
            let mut out = AnyTensor::ones(&[3], x.dtype()).unwrap();
            let args = positional.iter().fold(Args::new(), |args, value| args.arg(value.clone()));
            if call_into(op.name, &args, &mut [&mut out]).is_ok() {
                looked_at(&out.into());
            }
        },
    );
}

/// An operation of one operand, with its other arguments.
fn tried(calls: &mut Calls, op: &NamedOp, x: &AnyTensor) {
    let index = |index: i64, sizes: &[usize]| {
        let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
        let index = AnyTensor::full(&vec![1; sizes.len()], index, DType::I64).unwrap();
        Value::from(index.expand(&sizes).unwrap())
    };
    let huge = vec![HUGE; x.rank().min(1)];
    let turned = if x.rank() > 1 { x.transpose(-1, -2).unwrap() } else { x.clone() };
    let others = [
        x.into(),
        turned.into(),
        index(0, x.shape()),
        index(0, &huge),
        index(9, &huge),
        index(i64::MIN, &[3]),
        AnyTensor::ones(&[1], x.dtype()).unwrap().expand(&[HUGE as i64]).unwrap().into(),
        AnyTensor::zeros(x.shape(), DType::Bool).map_or(Value::Absent, Into::into),
    ];
    called(calls, op, x, vec![x.into()], vec![]);
    called(calls, op, x, vec![vec![Value::from(x), x.into()].into()], vec![]);
    for other in &others {
        called(calls, op, x, vec![x.into(), other.clone()], vec![]);
        called(calls, op, x, vec![x.into(), 0_i64.into(), other.clone()], vec![]);
        called(calls, op, x, vec![x.into(), other.clone(), x.into()], vec![]);
        called(calls, op, x, vec![x.into(), 0_i64.into(), other.clone(), x.into()], vec![]);
    }
    let mut values: Vec<Value> = NUMBERS.iter().map(|&number| number.into()).collect();
    values.extend([
        vec![HUGE as i64; 2].into(),
        vec![i64::MAX].into(),
        vec![i64::MIN, -1].into(),
        vec![1_i64; 9].into(),
        f64::NAN.into(),
        1e300.into(),
        Value::List(vec![].into()),
        DType::F64.into(),
        index(9, &huge),
    ]);
    for name in op.arguments.iter().skip(1) {
        for value in &values {
            called(calls, op, x, vec![x.into()], vec![(name.trim_start_matches('*'), value.clone())]);
        }
    }
    for first in NUMBERS {
        called(calls, op, x, vec![x.into(), first.into()], vec![]);
        for second in NUMBERS {
            called(calls, op, x, vec![x.into(), first.into(), second.into()], vec![]);
        }
    }
}

/// All calls of a part.
fn run(calls: &mut Calls) {
    for dtype in [DType::I64, DType::F32, DType::C64, DType::Bool] {
        for (at, x) in operands(dtype).iter().enumerate() {
            if at % PARTS == calls.part {
                methods(calls, x);
            }
        }
    }
    for (at, op) in ops().enumerate() {
        if at % PARTS != calls.part {
            continue;
        }
        for dtype in [DType::I64, DType::F32, DType::C64] {
            let all = operands(dtype);
            // Complex numbers as vectors alone.
            let some = if dtype == DType::C64 { [&all[..1], &all[5..6]].concat() } else { all };
            for x in some {
                tried(calls, &op, &x);
            }
        }
        let x = AnyTensor::ones(&[2], DType::I64).unwrap();
        for first in NUMBERS {
            called(calls, &op, &x, vec![first.into()], vec![]);
            for second in NUMBERS {
                called(calls, &op, &x, vec![first.into(), second.into()], vec![]);
                called(calls, &op, &x, vec![first.into(), 4_i64.into(), second.into()], vec![]);
            }
        }
    }
}

/// Methods of a tensor, of mutable views of it and of a sparse one, that no name leads to.
fn methods(calls: &mut Calls, x: &AnyTensor) {
    let repeated = |x: &AnyTensor| x.expand(&vec![-1; x.rank()]);
    let sizes = [0, 1, HUGE, 1 << 62, usize::MAX];
    let generator = || Generator::seeded(1);
    macro_rules! each {
        ($($name:literal: $call:expr;)*) => {$(
            calls.one($name, || format!("{x:?}"), || _ = $call);
        )*};
    }
    each! {
        "to_scalars": x.to_scalars();
        "to_bytes": x.to_bytes();
        "copy": x.copy();
        "copy_in": x.copy_in(MemoryFormat::CHANNELS_LAST);
        "contiguous": x.contiguous();
        "item": x.item();
        "to_string": x.to_string();
        "debug": format!("{x:?}");
        "typed": x.typed::<f32, shape![_], Cpu>().map(|x| x.try_contiguous());
        "fill_": x.clone().fill_(1).map(|_| ());
        "copy_from": x.clone().copy_from(x).map(|_| ());
        "view_mut": x.clone().view_mut().map(|_| ());
        "like": AnyTensor::like(x, DType::F64, MemoryFormat::PRESERVE);
        "to_sparse": x.to_sparse(x.rank()).and_then(|x| x.coalesce()?.to_dense());
        "sparse new": AnySparse::new(x, x, None);
        "sparse of sizes": AnySparse::new(x, x, Some(&[HUGE, HUGE]));
        "repeated": repeated(x);
    }
    for size in sizes {
        let text = || format!("{x:?} {size}");
        macro_rules! each {
            ($($name:literal: $call:expr;)*) => {$(
                calls.one($name, text, || _ = $call);
            )*};
        }
        each! {
            "zeros": AnyTensor::zeros(&[size, size], x.dtype());
            "zeros beside none": AnyTensor::zeros(&[size, 0], x.dtype());
            "full": AnyTensor::full(&[size], 3, x.dtype());
            "empty_strided": AnyTensor::empty_strided(&[2, size], &[size, 1], x.dtype());
            "from_bytes": AnyTensor::from_bytes(&[0, 1], x.dtype(), &[size]);
            "from_scalars": AnyTensor::from_scalars(&[ScalarValue::Int(1)], &[size, size], x.dtype());
            "rand": AnyTensor::rand(&[size], x.dtype(), &mut generator());
            "randn": AnyTensor::randn(&[size, 2], x.dtype(), &mut generator());
            "randint": AnyTensor::randint(&[size], 0, 9, x.dtype(), &mut generator());
            "normal": AnyTensor::normal(&[size], 0.0, 1.0, x.dtype(), &mut generator());
            "uniform": AnyTensor::uniform(&[size], 0.0, 1.0, x.dtype(), &mut generator());
            "randperm": AnyTensor::randperm(size, &mut generator());
            "bernoulli": x.bernoulli(&mut generator());
            "multinomial": x.multinomial(size, true, &mut generator());
            "multinomial without": x.multinomial(size, false, &mut generator());
            "as_strided": x.as_strided(&[size, 2], &[size, 1], Some(size));
            "split": x.split(size, 0);
            "split_with_sizes": x.split_with_sizes(&[size, size], 0);
            "chunk": x.chunk(size, 0);
            "tensor_split": x.tensor_split(size, 0);
            "split_mut": x.clone().split_mut(size, 0).map(|_| ());
            "chunk_mut": x.clone().chunk_mut(size, 0).map(|_| ());
            "tensor_split_mut": x.clone().tensor_split_mut(size, 0).map(|_| ());
            "unbind_mut": x.clone().unbind_mut(0).map(|_| ());
            "iter_axis_mut": x.clone().iter_axis_mut(0).map(|parts| parts.take(3).count());
            "repeat": x.repeat(&[size, 2]);
            "tile": x.tile(&[size]);
            "nonzero_static": if x.numel() < HUGE { x.nonzero_static(size, 0) } else { x.copy() };
            "one_hot": x.one_hot(Some(size));
            "bincount": x.bincount(None, size);
            "histc": x.histc(size, 0.0, 1.0);
            "diff": x.diff(size, 0);
            "combinations": x.combinations(size, true);
            "combinations without": x.combinations(size, false);
            "pixel_shuffle": x.pixel_shuffle(size);
            "channel_shuffle": x.channel_shuffle(size);
        }
        for number in NUMBERS {
            let text = || format!("{x:?} {size} {number}");
            macro_rules! each {
                ($($name:literal: $call:expr;)*) => {$(
                    calls.one($name, text, || _ = $call);
                )*};
            }
            each! {
                "narrow": x.narrow(0, number, size);
                "unfold": x.unfold(0, size, 1);
                "select_mut": x.clone().select_mut(0, number).map(|mut part| part.fill_(1).map(|_| ()));
                "narrow_mut": x.clone().narrow_mut(0, number, size).map(|mut part| part.add_(1).map(|_| ()));
                "unfold_mut": x.clone().unfold_mut(0, size, size).map(|_| ());
                "expand_mut": x.clone().expand_mut(&[number, size as i64]).map(|_| ());
                "diagonal_mut": x.clone().diagonal_mut(number, 0, 1).map(|mut part| part.neg_().map(|_| ()));
                "split_at_mut": x.clone().view_mut().and_then(|mut x| x.split_at_mut(0, size).map(|_| ()));
                "repeat_interleave": x.repeat_interleave(size, Some(number));
                "topk": if x.numel() < HUGE { x.topk(size, number, true).map(|_| ()) } else { Ok(()) };
                "kthvalue": x.kthvalue(size, 0, true);
                "set": x.clone().set(&[Value::from(number), Value::Slice(Some(number), None, Some(1))], 1).map(|_| ());
                "sparse narrow": sparse_of(size, number).and_then(|x| x.narrow(0, number, size));
                "sparse select": sparse_of(size, number).and_then(|x| x.select(0, number));
                "sparse sum": sparse_of(size, number).and_then(|x| x.add(&x)?.sum());
                "sparse dense": sparse_of(size, number).and_then(|x| x.mul(&x)?.to_dense());
                "sparse cat": sparse_of(size, number).and_then(|x| AnySparse::cat(&[&x, &x], 0));
                "sparse product": sparse_of(size, number).and_then(|x| x.matmul(&AnyTensor::zeros(&[4, size], DType::F32)?));
            }
        }
    }
}

/// A sparse matrix with this many rows and one element, whose index may be out of range.
fn sparse_of(rows: usize, at: i64) -> castiron::Result<AnySparse> {
    let index = AnyTensor::from_scalars(&[ScalarValue::Int(at.into()), ScalarValue::Int(1)], &[2, 1], DType::I64)?;
    AnySparse::new(&index, &AnyTensor::ones(&[1], DType::F32)?, Some(&[rows, 4]))
}

/// The calls of a part, in a process of its own; where there is nothing asked for, none.
#[test]
fn in_a_process_of_its_own() {
    let Ok(asked) = std::env::var(PART) else { return };
    let asked: Vec<usize> = asked.split(' ').map(|number| number.parse().unwrap()).collect();
    let mut calls = Calls { part: asked[0], start: asked[1], traced: asked[2] == 1, count: 0 };
    std::panic::set_hook(Box::new(|info| *PANIC.lock().unwrap() = info.to_string()));
    std::thread::spawn(|| {
        let (mut last, mut since) = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(100));
            let at = AT.load(Ordering::Relaxed);
            if at != last {
                (last, since) = (at, Instant::now());
            } else if since.elapsed() > LIMIT {
                println!("\nendless");
                std::process::exit(1);
            }
        }
    });
    run(&mut calls);
    println!("\nall {}", calls.count);
    // (Without waiting for what the test program does at its end.)
    std::process::exit(0);
}

/// Runs a part in processes until all calls are made; what was wrong with some.
fn failures(part: usize) -> Vec<String> {
    let (mut wrong, mut start, mut traced) = (Vec::new(), 1, false);
    // (A few are enough to begin with.)
    while wrong.len() < 4 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["any::extremes::in_a_process_of_its_own", "--exact", "--nocapture"])
            .env(PART, format!("{part} {start} {}", u8::from(traced)))
            .env("RUST_BACKTRACE", "0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut last, mut endless) = (String::new(), false);
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            match line.split_once(' ') {
                Some(("call", call)) => last = call.to_owned(),
                Some(("failed", _)) => wrong.push(line),
                _ => endless |= line == "endless",
            }
        }
        let status = child.wait().unwrap();
        if status.success() {
            break;
        }
        // Once more from the last call that was told, to see which one it is.
        start = last.split(' ').next().and_then(|at| at.parse().ok()).unwrap_or(start);
        if traced {
            wrong.push(format!("{}: {last}", if endless { "no end".to_owned() } else { status.to_string() }));
            start += 1;
        }
        traced = !traced;
    }
    wrong
}

#[test]
fn more_elements_than_memory_and_numbers_at_the_ends_give_results_or_errors() {
    let parts: Vec<_> = (0..PARTS).map(|part| std::thread::spawn(move || failures(part))).collect();
    let wrong: Vec<String> = parts.into_iter().flat_map(|part| part.join().unwrap()).collect();
    assert!(wrong.is_empty(), "{} calls:\n{}", wrong.len(), wrong.join("\n"));
}

fn floats(elements: &[f64], sizes: &[i64]) -> AnyTensor {
    let scalars: Vec<ScalarValue> = elements.iter().map(|&element| ScalarValue::Float(element)).collect();
    AnyTensor::from_scalars(&scalars, &[elements.len()], DType::F32).unwrap().expand(sizes).unwrap()
}
fn index(at: i64, sizes: &[i64]) -> AnyTensor {
    AnyTensor::full(&[1], at, DType::I64).unwrap().expand(sizes).unwrap()
}
fn text<T>(result: castiron::Result<T>) -> String {
    result.map(|_| ()).unwrap_err().to_string()
}

#[test]
fn lists_longer_than_memory_are_errors() {
    let long = floats(&[1.0], &[HUGE as i64]);
    let out_of_memory = "out of memory: ";
    for error in [
        text(long.to_scalars()),
        text(long.to_bytes()),
        text(long.combinations(3, true)),
        text(floats(&[1.0, 2.0], &[2]).histc(HUGE, 0.0, 0.0)),
        text(floats(&[1.0], &[1]).vander(Some(HUGE as i64))),
        text(long.repeat_interleave_by(&index(1, &[HUGE as i64]), None)),
        text(long.repeat_interleave_by(&index(1, &[1]), None)),
        text(floats(&[1.0, 2.0], &[2]).quantile(
            floats(&[0.5], &[HUGE as i64]),
            None,
            false,
            Interpolation::Linear,
            false,
        )),
        text(long.normalize(2.0, &[0], 1e-12)),
        text(floats(&[1.0], &[2, HUGE as i64]).cov(1, None, None)),
    ] {
        assert!(error.starts_with(out_of_memory) || error.contains("more elements than memory can address"), "{error}");
    }
}

#[test]
fn the_first_index_out_of_range_is_named_however_often_it_is_there() {
    let (x, at, from) = (floats(&[0.0; 5], &[5]), index(9, &[HUGE as i64]), floats(&[1.0], &[HUGE as i64]));
    for error in [
        text(x.scatter(0, &at, &from)),
        text(x.index_add(0, &at, &from, 1)),
        text(x.index_fill(0, &at, 1.0)),
        text(x.put(&at, &from, false)),
        text(x.index(&[Value::from(&at)])),
        text(x.clone().set(&[Value::from(&at)], 1.0).map(|_| ())),
        text(AnyTensor::zeros(&[0, 2], DType::F32).unwrap().embedding(&at)),
    ] {
        assert!(error.contains("index 9 is out of range for axis 0 of size"), "{error}");
    }
    let at = AnyTensor::from(castiron::tensor![[1, 0], [7, -8]]);
    assert!(text(x.take(&at)).contains("index 7 is out of range"), "{}", text(x.take(&at)));
}

#[test]
fn what_is_repeated_is_looked_at_once_where_that_makes_no_difference() {
    let long = floats(&[3.0], &[2, HUGE as i64]);
    let element = |x: castiron::Result<AnyTensor>| x.unwrap().item().unwrap();
    assert_eq!(element(long.amax(None, false)), ScalarValue::Float(3.0));
    assert_eq!(element(long.amin(None, false)), ScalarValue::Float(3.0));
    assert_eq!(element(long.all(None, false)), ScalarValue::Bool(true));
    assert_eq!(long.any(Some(&[1]), false).unwrap().to_string(), "tensor([True, True])");
    let rows = AnyTensor::from(castiron::tensor![[1.0, f64::NAN], [2.0, -3.0]]).unsqueeze(1).unwrap();
    let rows = rows.expand(&[-1, HUGE as i64, -1]).unwrap();
    assert_eq!(
        rows.amax(Some(&[1]), false).unwrap().to_string(),
        "tensor([[ 1., nan],\n        [ 2., -3.]], dtype=torch.float64)"
    );
    let written = floats(&[0.0; 5], &[5]).scatter(0, &index(2, &[HUGE as i64]), floats(&[7.0], &[HUGE as i64]));
    assert_eq!(written.unwrap().to_string(), "tensor([0., 0., 7., 0., 0.])");
}

#[test]
fn rows_of_triangles_that_have_no_places_are_not_walked() {
    let places = |name, rows: i64, columns: i64, offset: i64| {
        call(name, &Args::new().arg(rows).arg(columns).arg(offset)).and_then(Value::tensor)
    };
    let upper = places("triu_indices", 1 << 40, 4, 0).unwrap();
    assert_eq!(upper.to_string(), "tensor([[0, 0, 0, 0, 1, 1, 1, 2, 2, 3],\n        [0, 1, 2, 3, 1, 2, 3, 2, 3, 3]])");
    let (last, lower) = (i64::MAX - 1, places("tril_indices", i64::MAX, 4, 2 - i64::MAX).unwrap());
    let expected = [last - 1, last, last, 0, 0, 1].map(|at| ScalarValue::Int(at.into()));
    assert_eq!(lower.to_scalars().unwrap(), expected);
    assert_eq!(places("triu_indices", 1 << 40, 4, i64::MAX).unwrap().shape(), [2, 0]);
    assert_eq!(places("tril_indices", 1 << 40, 4, i64::MIN).unwrap().shape(), [2, 0]);
    assert!(places("tril_indices", HUGE as i64, 4, 0).is_err());
    assert!(places("triu_indices", i64::MAX, i64::MAX, i64::MIN).is_err());
    // As many as a walk over all places counts.
    for (rows, columns, offset) in (0..5).flat_map(|rows| (0..5).flat_map(move |c| (-6..7).map(move |o| (rows, c, o))))
    {
        for (name, lower) in [("tril_indices", true), ("triu_indices", false)] {
            let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
            let within =
                |&(row, column): &(i64, i64)| if lower { column <= row + offset } else { column >= row + offset };
            let (of_rows, of_columns): (Vec<i64>, Vec<i64>) = all.filter(within).unzip();
            let found = places(name, rows, columns, offset).unwrap().to_scalars().unwrap();
            let expected: Vec<ScalarValue> =
                of_rows.into_iter().chain(of_columns).map(|at| ScalarValue::Int(at.into())).collect();
            assert_eq!(found, expected, "{name} {rows} {columns} {offset}");
        }
    }
}

#[test]
fn operands_of_other_ranks_and_groups_of_nothing_are_no_panics() {
    let args = Args::new().arg(AnyTensor::zeros(&[3, 1, 2], DType::F32).unwrap());
    let args = args.named("dim", 2_i64).named("prepend", AnyTensor::zeros(&[7, 1], DType::F32).unwrap());
    assert!(text(call("diff", &args)).contains("must have 3 axes, as the input, got shape [7, 1]"));
    let nothing = AnyTensor::zeros(&[3, 0, 3], DType::F32).unwrap();
    assert_eq!(nothing.group_norm(1 << 62, None, None, 1e-5).unwrap().shape(), [3, 0, 3]);
    assert!(AnyTensor::zeros(&[3, 2, 3], DType::F32).unwrap().group_norm(1 << 62, None, None, 1e-5).is_err());
    let hollow = AnyTensor::zeros(&[0, 1 << 58], DType::F32).unwrap();
    assert_eq!(hollow.diff(1 << 57, 1).unwrap().shape(), [0, 1 << 57]);
    assert_eq!(hollow.diff(usize::MAX, -1).unwrap().shape(), [0, 0]);
    let hollow: castiron::Tensor<f32, shape![_, _]> = castiron::Tensor::zeros_sized([0, 1 << 58]);
    assert_eq!(hollow.diff(castiron::axis![1], 1 << 57).shape(), [0, 1 << 57]);
}

#[test]
fn all_combinations_are_there() {
    let x = AnyTensor::from(castiron::tensor![1, 2, 3, 4]);
    for (r, plain, repeating) in [(1, 4, 4), (2, 6, 10), (3, 4, 20), (4, 1, 35), (5, 0, 56)] {
        assert_eq!(x.combinations(r, false).unwrap().shape(), [plain, r]);
        assert_eq!(x.combinations(r, true).unwrap().shape(), [repeating, r]);
    }
    assert_eq!(
        x.combinations(3, false).unwrap().to_string(),
        "tensor([[1, 2, 3],\n        [1, 2, 4],\n        [1, 3, 4],\n        [2, 3, 4]])"
    );
}
