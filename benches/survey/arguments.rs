//! The arguments of operations: each is made from its name, and calling the operation shows which it needs.
//!
//! PyTorch's operations share names of arguments, so this is a list of about eighty names, not a list of operations.

use crate::layouts::{Order, Other, Setting, Spec, Values};
use castiron::any::{Args, NamedOp, Value, call};
use castiron::{AnyTensor, DType, Error};

/// An argument whose tensors are not made yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    Tensor(Spec),
    Int(i64),
    Float(f64),
    Text(&'static str),
    Type(DType),
    List(Vec<Given>),
}

impl Given {
    /// The value passed to castiron; `tensor` makes its tensors.
    pub fn value(&self, tensor: &mut dyn FnMut(&Spec) -> AnyTensor) -> Value {
        match self {
            Given::Tensor(spec) => tensor(spec).into(),
            Given::Int(number) => Value::from(*number),
            Given::Float(number) => Value::from(*number),
            Given::Text(text) => Value::from(*text),
            Given::Type(dtype) => Value::from(*dtype),
            Given::List(items) => Value::List(items.iter().map(|item| item.value(tensor)).collect()),
        }
    }

    /// The form that PyTorch's side reads.
    pub fn json(&self) -> serde_json::Value {
        use serde_json::json;
        match self {
            Given::Tensor(spec) => json!({ "tensor": spec.to_string() }),
            Given::Int(number) => json!(number),
            Given::Float(number) => json!({ "float": number }),
            Given::Text(text) => json!(text),
            Given::Type(dtype) => json!({ "dtype": dtype.to_string() }),
            Given::List(items) => items.iter().map(Given::json).collect(),
        }
    }

    /// The tensors it contains.
    pub fn specs(&self) -> Vec<&Spec> {
        match self {
            Given::Tensor(spec) => vec![spec],
            Given::List(items) => items.iter().flat_map(Given::specs).collect(),
            _ => Vec::new(),
        }
    }
}

/// The arguments given to an operation: their names, each with an index into its [`candidates`].
pub type Choice = Vec<(&'static str, usize)>;

fn ints(numbers: impl IntoIterator<Item = i64>) -> Given {
    Given::List(numbers.into_iter().map(Given::Int).collect())
}

/// The possible values of an argument with this name, in the order in which they are tried.
fn candidates(name: &str, at: &Setting) -> Vec<Given> {
    let (sizes, rank, len) = (&at.sizes, at.sizes.len(), at.len());
    let numel: usize = sizes.iter().product();
    let last = sizes[rank - 1];
    let of = |sizes: &[usize]| Given::Tensor(at.spec(at.dtype, sizes.to_vec(), at.layout.values));
    let index = |sizes: &[usize], below| Given::Tensor(at.spec(DType::I64, sizes.to_vec(), Values::Below(below)));
    let mask = |sizes: &[usize]| Given::Tensor(at.spec(DType::Bool, sizes.to_vec(), Values::Unit));
    let first = || Given::Tensor(at.first());
    let second = || Given::Tensor(at.second());
    let dims = || match at.dims {
        [] => vec![Given::Int(-1), ints([-1])],
        [one] => vec![Given::Int(*one), ints([*one])],
        several => vec![ints(several.iter().copied())],
    };
    let all_sizes = || ints(sizes.iter().map(|&size| size as i64));
    let int = |numbers: &[i64]| numbers.iter().map(|&number| Given::Int(number)).collect::<Vec<_>>();
    match name.trim_start_matches('*') {
        "input" | "tensor" | "y" | "a" | "elements" | "real" | "abs" | "x1" | "input1" | "data" => {
            vec![first(), of(&[numel]), of(&[last]), index(sizes, 100)]
        }
        "x" => vec![first(), of(&[last])],
        "tensors" | "operands" => {
            vec![Given::List(vec![first(), second()]), Given::List(vec![of(&[last]), of(&[last])])]
        }
        "other" | "end" | "tensor1" | "tensor2" | "x2" | "imag" | "angle" | "b" | "input2" => {
            let mut all = vec![second(), of(&[last])];
            if at.layout.other == Other::Same && rank == 1 {
                all.push(first());
            }
            all.push(index(sizes, 4));
            all.push(Given::Int(last as i64));
            all
        }
        "src" | "source" | "values" => {
            let picked: Vec<usize> = sizes[1..].to_vec();
            vec![second(), of(&[numel]), of(&picked), of(&[last]), Given::Int(0)]
        }
        "mat1" | "mat2" => vec![second(), of(&[last, last])],
        "mat" => vec![first(), of(&[last, last])],
        "vec" | "vec1" | "vec2" | "weights" => vec![of(&[last])],
        "batch1" => vec![of(&[4, sizes[0], 64])],
        "batch2" => vec![of(&[4, 64, last])],
        "weight" => {
            let mut all = vec![Given::Float(0.3), second(), of(&[last]), of(&[4, last, last])];
            all.extend((rank == 4).then(|| of(&[8, sizes[1], 3, 3])));
            all
        }
        "target" => vec![second(), index(&[sizes[0]], sizes[rank.min(2) - 1]), index(sizes, last)],
        "positive" | "negative" | "var" | "key" | "B" => vec![second()],
        "grid" => vec![of(&[sizes[0], 64, 64, 2])],
        "output_size" => vec![Given::Int(4), ints([4, 4])],
        "kernel_size" => vec![Given::Int(2), ints([2, 2])],
        "bins" => int(&[64]),
        "norm_type" => vec![Given::Float(2.0)],
        "normalized_shape" => vec![ints([last as i64])],
        "running_mean" | "running_var" => vec![of(&[sizes[rank.min(2) - 1]])],
        "condition" | "mask" => {
            let shape = Spec { order: Order::Rows, dtype: DType::Bool, values: Values::Unit, ..at.second() };
            vec![Given::Tensor(shape), mask(sizes)]
        }
        "index" | "indices" => vec![
            index(sizes, len),
            index(&[len], len),
            Given::List(vec![index(&[len], sizes[0])]),
            index(&[numel], numel),
            Given::Int(0),
            first(),
        ],
        "boundaries" | "sorted_sequence" => {
            let ascending = |sizes| Given::Tensor(at.spec(at.dtype, sizes, Values::Ascending));
            vec![ascending(vec![1000]), ascending(sizes.clone())]
        }
        "test_elements" => vec![of(&[100])],
        "dim" => dims(),
        "dims" => match at.dims {
            [] => vec![ints([0, 1]), ints([0]), Given::Int(1)],
            dims => vec![ints(dims.iter().copied()), Given::Int(1)],
        },
        "size" | "sizes" => match name {
            "sizes" => vec![ints([2, last as i64 / 2]), all_sizes()],
            _ => vec![all_sizes(), Given::Int(4)],
        },
        "shape" => vec![ints([numel as i64]), all_sizes()],
        "stride" => vec![ints((0..rank).map(|axis| sizes[axis + 1..].iter().product::<usize>() as i64))],
        "repeats" => vec![ints(std::iter::repeat_n(2, rank)), Given::Int(2)],
        "pad" => vec![ints([1, 1])],
        "shifts" => vec![Given::Int(3), ints([3])],
        "split_sizes" => vec![ints([len as i64 / 2, (len - len / 2) as i64])],
        "k" | "split_size" | "split_size_or_sections" => int(&[3]),
        "n" | "N" | "chunks" | "indices_or_sections" | "step" | "upscale_factor" | "downscale_factor" => int(&[2, 3]),
        "groups" | "num_groups" => int(&[1, 3]),
        "num_classes" => int(&[128]),
        "start" | "dim0" | "diagonal" | "offset" | "destination" => int(&[0]),
        "dim1" | "dimension" => int(&[rank as i64 - 1]),
        "length" => int(&[len as i64 / 2]),
        "steps" => int(&[numel as i64]),
        "row" | "col" => int(&[last as i64]),
        "value" | "fill_value" | "s" => vec![Given::Int(2), Given::Float(1.5), second()],
        "p" | "maxnorm" | "lambd" | "threshold" => vec![Given::Float(2.0), Given::Int(2)],
        "q" => vec![Given::Float(0.5)],
        "min" => vec![Given::Float(0.2), Given::Int(10)],
        "equation" => vec![Given::Text("ij,jk->ik"), Given::Text("ijk,ijk->ij")],
        "reduce" => vec![Given::Text("sum"), Given::Text("amax")],
        "type1" | "type2" | "to" | "from_" => vec![Given::Type(at.dtype)],
        "rest" => vec![Given::Type(DType::F32)],
        _ => Vec::new(),
    }
}

/// The arguments of a choice, at the sizes of a setting.
pub fn arguments(choice: &Choice, at: &Setting) -> Vec<(&'static str, Given)> {
    let chosen = |&(name, which): &(&'static str, usize)| {
        let mut all = candidates(name, at);
        (which < all.len()).then(|| (name, all.swap_remove(which)))
    };
    choice.iter().filter_map(chosen).collect()
}

/// The arguments that an operation takes, found on small tensors: the first operand, the axes if the layout names any, and whatever the
/// operation says is missing.
pub fn found(op: &NamedOp, tiny: &Setting, tensor: &mut dyn FnMut(&Spec) -> AnyTensor) -> Option<Choice> {
    let names_axes = op.arguments.iter().find(|name| matches!(name.trim_start_matches('*'), "dim" | "dims"));
    let mut starts: Vec<Choice> = Vec::new();
    let first = *op.arguments.first()?;
    for (which, given) in candidates(first, tiny).iter().enumerate() {
        // Only operations on elements of this dtype are surveyed; those without tensors are surveyed once.
        let specs = given.specs();
        if specs.first().map_or(tiny.dtype != DType::F32, |spec| spec.dtype != tiny.dtype) {
            continue;
        }
        let mut start = vec![(first, which)];
        if !tiny.dims.is_empty() {
            start.push((names_axes?, 0));
        }
        starts.push(start);
    }
    let mut tries = 0;
    starts.into_iter().find_map(|start| completed(op, start, tiny, tensor, &mut tries))
}

fn completed(
    op: &NamedOp,
    choice: Choice,
    tiny: &Setting,
    tensor: &mut dyn FnMut(&Spec) -> AnyTensor,
    tries: &mut usize,
) -> Option<Choice> {
    *tries += 1;
    if *tries > 300 {
        return None;
    }
    match call(op.name, &args(op, &arguments(&choice, tiny), tensor)) {
        Ok(_) => Some(choice),
        Err(Error::InvalidArgument { reason, .. }) => {
            let missing = reason.strip_prefix("argument `")?.strip_suffix("` is missing")?;
            let missing =
                *op.arguments.iter().find(|name| name.trim_start_matches('*') == missing.trim_start_matches('*'))?;
            if choice.iter().any(|(name, _)| *name == missing) {
                return None;
            }
            (0..candidates(missing, tiny).len()).find_map(|which| {
                let mut more = choice.clone();
                more.push((missing, which));
                completed(op, more, tiny, tensor, tries)
            })
        }
        Err(_) => None,
    }
}

/// The arguments in the operation's order: by name, except an argument with a star and those before it.
pub fn args(op: &NamedOp, given: &[(&'static str, Given)], tensor: &mut dyn FnMut(&Spec) -> AnyTensor) -> Args {
    let star = op.arguments.iter().position(|name| name.starts_with('*'));
    let place = |name: &str| op.arguments.iter().position(|known| *known == name).unwrap_or(usize::MAX);
    let mut sorted = given.to_vec();
    sorted.sort_by_key(|(name, _)| place(name));
    sorted.iter().fold(Args::new(), |args, (name, given)| {
        let value = given.value(tensor);
        match (name.starts_with('*'), value) {
            (true, Value::List(items)) => items.into_iter().fold(args, Args::arg),
            (true, one) => args.arg(one),
            (false, value) if star.is_some_and(|star| place(name) < star) => args.arg(value),
            (false, value) => args.named(name, value),
        }
    })
}
