//! Operations called by name with any arguments: a result or an error.

use super::{Source, number, numbers, sizes};
use arbitrary::Result;
use castiron::any::{Args, Value, call, call_in_place, call_into, ops};
use castiron::{AnyTensor, Category, DType};
use std::sync::OnceLock;

/// Operations whose results are as large as their arguments say, and so, rightly, larger than memory.
const LARGE: [&str; 4] = ["nn.functional.one_hot", "bincount", "nonzero_static", "repeat_interleave"];

fn names() -> &'static [&'static str] {
    static NAMES: OnceLock<Vec<&str>> = OnceLock::new();
    NAMES.get_or_init(|| ops().map(|op| op.name).filter(|name| !LARGE.contains(name)).collect())
}

fn tensor(source: &mut Source) -> Result<AnyTensor> {
    let sizes = sizes(source, 4, 4)?;
    let dtype = *source.choose(DType::ALL)?;
    let len = sizes.iter().product::<usize>() * dtype.itemsize();
    let mut bytes = vec![0; len];
    match source.int_in_range(0..=2_u8)? {
        0 => {}
        1 => bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = at as u8 % 3),
        _ => source.fill_buffer(&mut bytes)?,
    }
    if bytes.len() <= 2 * dtype.itemsize() && dtype.category() == Category::Integral {
        // One element may stand for a size.
        bytes.chunks_exact_mut(dtype.itemsize()).for_each(|element| {
            element[1..].fill(0);
            element[0] %= 8;
        });
    }
    if dtype == DType::Bool {
        bytes.iter_mut().for_each(|byte| *byte %= 2);
    }
    let x = super::made(&bytes, dtype, &sizes);
    // Every other element, or turned around.
    let view = match source.int_in_range(0..=4_u8)? {
        0 => x.slice(0, None, None, 2),
        1 => x.transpose(0, -1),
        2 => x.unsqueeze(0).and_then(|x| x.expand(&[vec![2], vec![-1; sizes.len()]].concat())),
        // Conjugates that are marked, and imaginary parts that count as negated.
        3 => x.conj(),
        4 if dtype == DType::C128 => x.conj().and_then(|x| x.imag()),
        _ => Ok(x.clone()),
    };
    Ok(view.unwrap_or(x))
}

fn value(source: &mut Source, depth: u8) -> Result<Value> {
    Ok(match source.int_in_range(0..=14_u8)? {
        0..=4 => Value::Array(tensor(source)?),
        5 | 6 => number(source)?.into(),
        7 => f64::from(source.int_in_range(-20..=20_i8)?).mul_add(0.25, 0.0).into(),
        8 => (*source.choose(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, 0.0])?).into(),
        9 => source.arbitrary::<bool>()?.into(),
        10 => (*source
            .choose(&["sum", "mean", "amax", "constant", "reflect", "circular", "ij", "i,j->ij", "fro", "x"])?)
        .into(),
        11 => (*source.choose(DType::ALL)?).into(),
        12 => numbers(source, 4)?.into(),
        13 if depth < 2 => {
            let len = source.int_in_range(0..=3_usize)?;
            Value::List((0..len).map(|_| value(source, depth + 1)).collect::<Result<_>>()?)
        }
        14 => match source.int_in_range(0..=2_u8)? {
            0 => Value::Rest,
            1 => Value::Slice(Some(number(source)?), None, Some(number(source)?)),
            _ => Value::Absent,
        },
        _ => Value::Absent,
    })
}

/// A few calls, each with a tensor first.
pub fn run(data: &[u8]) {
    run_on(super::asked(), data);
}

/// The same with tensors on a device.
pub fn run_on(device: castiron::AnyDevice, data: &[u8]) {
    super::on(device, data, program);
}

fn program(source: &mut Source) -> Result<()> {
    while !source.is_empty() {
        let name = *source.choose(names())?;
        let (mut args, mut rest, mut first) = (Args::new(), Args::new(), None);
        if !source.ratio(1, 8)? {
            first = Some(tensor(source)?);
            args = args.arg(first.as_ref().unwrap());
        }
        for _ in 0..source.int_in_range(0..=3_u8)? {
            let argument = value(source, 0)?;
            (args, rest) = (args.arg(argument.clone()), rest.arg(argument));
        }
        let op = ops().find(|op| op.name == name).unwrap();
        if let Some(argument) = op.arguments.last().filter(|_| source.ratio(1, 4).unwrap_or(false)) {
            let (argument, value) = (argument.trim_start_matches('*'), value(source, 0)?);
            (args, rest) = (args.named(argument, value.clone()), rest.named(argument, value));
        }
        let result = call(name, &args);
        match &result {
            Ok(result) => looked_at(result),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        written(name, first.as_ref(), &rest, &args, result.ok());
    }
    Ok(())
}

/// The same call in place, and into an existing tensor: the same result, or an error that leaves everything as it was.
fn written(name: &str, first: Option<&AnyTensor>, rest: &Args, args: &Args, result: Option<Value>) {
    let large = |x: &AnyTensor| x.numel() > 10_000;
    if let Some(first) = first {
        let mut x = first.clone();
        match call_in_place(name, &mut x, rest) {
            Ok(()) => assert_eq!(x.dtype(), first.dtype()),
            Err(_) => {
                assert_eq!((x.shape(), x.stride()), (first.shape(), first.stride()));
                assert_eq!(x.to_bytes(), first.to_bytes());
            }
        }
    }
    match result {
        Some(Value::Array(result)) if !large(&result) => {
            let Ok(mut out) = AnyTensor::zeros(result.shape(), result.dtype()) else { return };
            // (The output's dtype may not be allowed for the computation.)
            if call_into(name, args, &mut [&mut out]).is_ok() {
                assert_eq!((out.dtype(), out.shape()), (result.dtype(), result.shape()));
                looked_at(&out.into());
            }
        }
        Some(_) => {}
        None => {
            let mut out = AnyTensor::ones(&[3], DType::F32).unwrap();
            if call_into(name, args, &mut [&mut out]).is_err() {
                assert_eq!(out.cpu().unwrap().to_string(), "tensor([1., 1., 1.])");
            }
        }
    }
}

/// Every element of a result is there.
pub fn looked_at(value: &Value) {
    match value {
        Value::Array(x) if x.numel() < 100_000 => {
            let bytes = x.to_bytes().map_or(0, |bytes| bytes.len());
            assert!(bytes == 0 || bytes == x.numel() * x.dtype().itemsize());
            let _ = x.to_string();
        }
        Value::List(values) => values.iter().for_each(looked_at),
        _ => {}
    }
}
