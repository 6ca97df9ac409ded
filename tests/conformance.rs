//! Runs `AnyTensor` against the tables of PyTorch's results: the rows that the example `conformance` counts must not disagree.

#[path = "../examples/conformance/src/attributes.rs"]
mod attributes;
#[path = "../examples/conformance/src/calls.rs"]
mod calls;
#[path = "../examples/conformance/src/codes.rs"]
mod codes;
#[path = "../examples/conformance/src/dtypes.rs"]
mod dtypes;
#[path = "conformance/forms.rs"]
mod forms;
#[path = "../examples/conformance/src/gradients.rs"]
mod gradients;
#[path = "../examples/conformance/src/json.rs"]
mod json;
#[path = "../examples/conformance/src/layouts.rs"]
mod layouts;
#[path = "../examples/conformance/src/missing.rs"]
mod missing;
// (Every row is run here.)
#[allow(dead_code)]
#[path = "../examples/conformance/src/report.rs"]
mod report;
#[path = "../examples/conformance/src/samples.rs"]
mod samples;
#[path = "../examples/conformance/src/sparse.rs"]
mod sparse;
#[path = "../examples/conformance/src/tables.rs"]
mod tables;
#[path = "../examples/conformance/src/tokens.rs"]
mod tokens;
#[path = "../examples/conformance/src/typed.rs"]
mod typed;
#[path = "../examples/conformance/src/values.rs"]
mod values;
#[path = "../examples/conformance/src/views.rs"]
mod views;

use castiron::any::{self, Value};
use castiron::{AnyTensor, DType, MemoryFormat};

fn agrees(name: &str) {
    let folder = std::env::var_os("CASTIRON_ORACLE");
    let folder = folder.unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle").into());
    let texts = tables::texts(folder.as_ref()).unwrap();
    // A folder given may hold some of the tables only.
    let Some(text) = texts.get(name) else { return };
    let read = tables::TABLES.iter().find(|(table, _)| *table == name).unwrap().1;
    let mut table = report::Table::new(name);
    read(text, &mut table).unwrap();
    table.print();
    assert!(table.agrees(), "see the rows printed above");
}

#[test]
fn what_is_missing_by_name_is_listed_with_its_reason() {
    assert_eq!(missing::mistakes(), [""; 0]);
    println!("{}", missing::text());
}

macro_rules! tables {
    ($($test:ident: $name:literal;)*) => {$(
        #[test]
        fn $test() {
            agrees($name);
        }
    )*};
}
tables! {
    attributes_of_dtypes: "dtypes.json";
    promotion: "promotion.json";
    dtypes_of_binary_operations: "binary_ops.csv";
    dtypes_of_unary_operations: "unary_ops.csv";
    operations_in_place: "inplace.csv";
    elements: "values.json";
    strides_of_views: "views.json";
    strides_of_results: "memory_format.json";
    names_of_devices: "device.json";
    sparse_tensors: "sparse.json";
    pytorchs_own_samples: "opinfo_samples.json";
    gradients_of_pytorchs_own_samples: "grad_samples.json";
}

/// Numbers between -2 and 2 in a scrambled order, with some that are special.
fn numbers(sizes: &[usize], dtype: DType, seed: u64, specials: bool) -> AnyTensor {
    let count = sizes.iter().product::<usize>() as u64;
    let value = |at: u64| match (specials, (at + seed) % 37) {
        (true, 7) => f64::NAN,
        (true, 11) => f64::INFINITY,
        (true, 13) => -0.0,
        (true, 17) => 0.0,
        _ => ((at * 2_654_435_761 + seed * 40_503) % 4001) as f64 / 1000.0 - 2.0,
    };
    let values: Vec<f64> = (0..count).map(value).collect();
    let values =
        if dtype.is_floating_point() || dtype.is_complex() { values } else { values.iter().map(|x| x * 9.0).collect() };
    let list = AnyTensor::from(castiron::Tensor::<f64, castiron::shape![_]>::from_vec_sized(values, [count as usize]));
    let list = if dtype.is_complex() || dtype.is_floating_point() || !specials {
        list
    } else {
        list.nan_to_num(1.0, Some(1.0), Some(1.0)).unwrap()
    };
    let list = if dtype.is_complex() { list.mul(castiron::Complex::new(0.5_f64, -1.25)).unwrap() } else { list };
    list.to(dtype).unwrap().reshape(&sizes.iter().map(|&size| size as i64).collect::<Vec<_>>()).unwrap()
}

/// The same elements as they are, with the last two axes exchanged in memory, and with gaps; images with channels last.
fn laid(x: &AnyTensor, how: usize) -> AnyTensor {
    match how {
        1 if x.rank() >= 2 => x.transpose(-2, -1).unwrap().contiguous().unwrap().transpose(-2, -1).unwrap(),
        2 if x.rank() >= 1 => any::stack(&[x.clone(), x.clone()], -1).unwrap().select(-1, 1).unwrap(),
        3 if x.rank() == 4 => x.contiguous_in(MemoryFormat::CHANNELS_LAST).unwrap(),
        _ => x.clone(),
    }
}

/// One operation, the sizes of its tensors, the arguments behind them.
type Generated = (&'static str, &'static [&'static [usize]], &'static [(&'static str, f64)]);
const GENERATED: &[Generated] = &[
    ("nn.functional.glu", &[&[6, 34]], &[("dim", 1.0)]),
    ("nn.functional.glu", &[&[4, 3, 7]], &[("dim", 0.0)]),
    ("renorm", &[&[5, 37]], &[("p", 3.0), ("dim", 0.0), ("maxnorm", 2.5)]),
    ("renorm", &[&[5, 3, 8]], &[("p", 1.0), ("dim", 2.0), ("maxnorm", 2.5)]),
    ("cov", &[&[7, 33]], &[("correction", 0.0)]),
    ("cov", &[&[2, 1]], &[]),
    ("corrcoef", &[&[7, 33]], &[]),
    ("nn.functional.cosine_similarity", &[&[7, 33], &[7, 33]], &[("dim", 1.0)]),
    ("nn.functional.cosine_similarity", &[&[7, 1], &[1, 9]], &[("dim", 0.0), ("eps", 0.5)]),
    ("nn.functional.cosine_embedding_loss", &[&[7, 33], &[7, 33], &[7]], &[("margin", 0.25)]),
    ("nn.functional.margin_ranking_loss", &[&[7, 33], &[7, 33], &[7, 33]], &[("margin", 0.25)]),
    ("nn.functional.triplet_margin_loss", &[&[7, 33], &[7, 33], &[7, 33]], &[("swap", 1.0)]),
    ("nn.functional.pairwise_distance", &[&[7, 33], &[7, 33]], &[("p", 3.0)]),
    ("nn.functional.pairwise_distance", &[&[7, 1], &[1, 33]], &[]),
    ("nn.functional.pdist", &[&[7, 9]], &[]),
    ("nn.functional.batch_norm", &[&[3, 6, 7, 5], &[6], &[6], &[6], &[6]], &[]),
    ("nn.functional.batch_norm", &[&[3, 6, 7, 5], &[6], &[6], &[6], &[6]], &[("training", 1.0)]),
    ("nn.functional.batch_norm", &[&[9, 6], &[6], &[6]], &[("eps", 0.25)]),
    ("nn.functional.instance_norm", &[&[3, 6, 7, 5]], &[]),
    ("nn.functional.local_response_norm", &[&[3, 6, 7, 5]], &[("size", 3.0)]),
    ("tensordot", &[&[7, 9], &[9, 5]], &[("dims", 1.0)]),
    ("tensordot", &[&[3, 1, 9], &[7, 1, 5]], &[("dims", 2.0)]),
    ("inner", &[&[7, 9], &[5, 9]], &[]),
    ("inner", &[&[7, 9], &[]], &[]),
    ("inner", &[&[], &[]], &[]),
    ("kron", &[&[3, 4], &[5, 2]], &[]),
    ("outer", &[&[7], &[9]], &[]),
    ("linalg.vecdot", &[&[7, 33], &[7, 33]], &[]),
    ("linalg.cross", &[&[7, 3], &[1, 3]], &[]),
    ("cdist", &[&[7, 9], &[5, 9]], &[]),
    ("dist", &[&[7, 9], &[7, 9]], &[("p", 1.0)]),
    ("diff", &[&[7, 9]], &[("n", 3.0)]),
    ("trace", &[&[7, 9]], &[]),
    ("msort", &[&[7, 9]], &[]),
    ("argsort", &[&[7, 9]], &[]),
    ("unique", &[&[70]], &[("return_inverse", 1.0), ("return_counts", 1.0)]),
    ("unique_consecutive", &[&[70]], &[("return_inverse", 1.0), ("return_counts", 1.0)]),
    ("histc", &[&[7, 9]], &[("bins", 7.0)]),
    ("nn.functional.kl_div", &[&[7, 33], &[7, 33]], &[]),
    ("nn.functional.gaussian_nll_loss", &[&[7, 33], &[7, 33], &[7, 33]], &[("full", 1.0)]),
    ("nn.functional.poisson_nll_loss", &[&[7, 33], &[7, 33]], &[("full", 1.0)]),
    ("nn.functional.soft_margin_loss", &[&[7, 33], &[7, 33]], &[]),
    ("nn.functional.multilabel_soft_margin_loss", &[&[7, 33], &[7, 33], &[7, 33]], &[]),
    ("fft.fftshift", &[&[7, 9]], &[("dim", 1.0)]),
    ("linalg.matrix_rank", &[&[7, 9]], &[]),
    ("linalg.pinv", &[&[7, 9]], &[]),
    ("linalg.lu_factor", &[&[7, 9]], &[]),
    ("linalg.solve", &[&[3, 5, 5], &[3, 5, 2]], &[]),
    ("linalg.solve_ex", &[&[5, 5], &[5, 2]], &[]),
    ("cholesky_solve", &[&[5, 2], &[5, 5]], &[]),
    ("linalg.cholesky", &[&[5, 5]], &[]),
    ("linalg.inv", &[&[5, 5]], &[]),
    ("linalg.det", &[&[3, 5, 5]], &[]),
    ("linalg.slogdet", &[&[3, 5, 5]], &[]),
    ("linalg.matrix_exp", &[&[5, 5]], &[]),
    ("linalg.svdvals", &[&[3, 5, 4]], &[]),
    ("linalg.tensorinv", &[&[2, 3, 3, 2]], &[]),
    ("linalg.householder_product", &[&[7, 3], &[3]], &[]),
    ("linalg.cholesky_ex", &[&[5, 5]], &[]),
    ("cholesky_inverse", &[&[5, 5]], &[]),
    ("linalg.inv_ex", &[&[5, 5]], &[]),
    ("linalg.lu", &[&[7, 5]], &[]),
    ("linalg.lu_factor_ex", &[&[3, 5, 7]], &[]),
    ("linalg.ldl_factor", &[&[5, 5]], &[]),
    ("linalg.qr", &[&[7, 5]], &[]),
    ("geqrf", &[&[5, 7]], &[]),
    ("linalg.svd", &[&[5, 7]], &[]),
    ("linalg.eigh", &[&[5, 5]], &[]),
    ("linalg.eigvalsh", &[&[3, 5, 5]], &[]),
    ("linalg.eig", &[&[5, 5]], &[]),
    ("linalg.eigvals", &[&[5, 5]], &[]),
    ("linalg.cond", &[&[5, 5]], &[]),
    ("linalg.solve_triangular", &[&[3, 5, 5], &[3, 5, 2]], &[("upper", 1.0)]),
    ("ormqr", &[&[7, 3], &[3], &[7, 4]], &[]),
    ("fft.fft", &[&[7, 9]], &[("dim", 0.0)]),
    ("fft.ifft", &[&[7, 9]], &[]),
    ("fft.rfft", &[&[7, 9]], &[("dim", 0.0)]),
    ("fft.ihfft", &[&[7, 9]], &[]),
    ("fft.irfft", &[&[7, 9]], &[("n", 12.0), ("dim", 0.0)]),
    ("fft.hfft", &[&[7, 9]], &[("n", 15.0)]),
    ("fft.ifftshift", &[&[2, 3, 4, 5]], &[("dim", 0.0)]),
    ("tril", &[&[7, 9]], &[("diagonal", -2.0)]),
    ("triu", &[&[7, 9]], &[("diagonal", 2.0)]),
    ("flip", &[&[7, 9]], &[("dims", 1.0)]),
    ("flip", &[&[2, 3, 4, 5]], &[("dims", 3.0)]),
    ("fliplr", &[&[2, 3, 4, 5]], &[]),
    ("flipud", &[&[2, 3, 4, 5]], &[]),
    ("rot90", &[&[7, 9]], &[]),
    ("rot90", &[&[7, 9]], &[("k", 0.0)]),
    ("rot90", &[&[7, 9, 2]], &[("k", -1.0)]),
    ("rot90", &[&[7, 9, 2]], &[("k", 2.0)]),
    ("roll", &[&[7, 9]], &[("shifts", -3.0)]),
    ("roll", &[&[2, 3, 4, 5]], &[("shifts", 4.0)]),
    ("roll", &[&[2, 3, 4, 5]], &[("shifts", 2.0), ("dims", 3.0)]),
    ("nn.functional.pad", &[&[2, 3, 4, 5]], &[("pad", 2.0)]),
    ("nn.functional.pad", &[&[7, 9]], &[("pad", -2.0), ("value", 3.0)]),
    ("nn.functional.pixel_shuffle", &[&[2, 8, 4, 5]], &[("upscale_factor", 2.0)]),
    ("nn.functional.pixel_unshuffle", &[&[2, 3, 4, 6]], &[("downscale_factor", 2.0)]),
    ("nn.functional.channel_shuffle", &[&[2, 6, 4, 5]], &[("groups", 2.0)]),
    ("tile", &[&[7, 9]], &[("dims", 3.0)]),
    ("cat", &[&[2, 3, 4, 5], &[2, 3, 4, 5]], &[]),
    ("cat", &[&[7, 9], &[7, 4]], &[("dim", 1.0)]),
    ("stack", &[&[2, 3, 4, 5], &[2, 3, 4, 5]], &[]),
    ("stack", &[&[2, 3, 4, 5], &[2, 3, 4, 5]], &[("dim", 1.0)]),
    ("stack", &[&[7, 9], &[7, 9]], &[("dim", -1.0)]),
    ("block_diag", &[&[7, 9], &[3, 4]], &[]),
    ("cartesian_prod", &[&[7], &[9]], &[]),
    ("repeat", &[&[7]], &[("repeats", 3.0)]),
    ("repeat_interleave", &[&[7, 9]], &[("repeats", 3.0), ("dim", 1.0)]),
    ("log_softmax", &[&[7, 33]], &[("dim", 1.0)]),
    ("logsumexp", &[&[7, 33]], &[("dim", 0.0)]),
    ("cumsum", &[&[7, 33]], &[("dim", 0.0)]),
];

#[test]
fn both_fronts_give_the_same() {
    let (mut both, mut mistakes, mut rows) = (std::collections::BTreeSet::new(), Vec::new(), 0);
    for (name, shapes, given) in GENERATED {
        let named: std::collections::BTreeMap<String, Value> = given
            .iter()
            .map(|(name, value)| {
                let value = match *name {
                    "p" | "maxnorm" | "margin" | "eps" => Value::from(*value),
                    "swap" | "full" | "upper" | "training" | "return_inverse" | "return_counts" => {
                        Value::from(*value != 0.0)
                    }
                    "pad" => Value::from(vec![*value as i64, 1]),
                    _ => Value::from(*value as i64),
                };
                ((*name).to_owned(), value)
            })
            .collect();
        for dtype in [DType::F32, DType::BF16, DType::I32, DType::C64, DType::Bool] {
            for (layout, specials) in [(0, false), (1, false), (2, true), (3, true)] {
                let tensors = shapes.iter().enumerate().map(|(at, sizes)| {
                    let x = numbers(sizes, dtype, at as u64 * 5 + 1, specials);
                    // Signs are what losses by order take, and variances are above zero.
                    let x = match (*name, at) {
                        ("nn.functional.margin_ranking_loss" | "nn.functional.cosine_embedding_loss", 2) => x.sign(),
                        ("nn.functional.batch_norm" | "nn.functional.gaussian_nll_loss", 2) => x.abs(),
                        ("linalg.cholesky", 0) => x.matmul(&x.transpose(0, 1).unwrap().conj().unwrap()),
                        _ => Ok(x),
                    };
                    x.map(|x| Value::from(laid(&x, layout)))
                });
                // What dtypes do not have is not called.
                let Ok(tensors) = tensors.collect::<castiron::Result<Vec<_>>>() else { continue };
                let tensors = match *name {
                    "cat" | "stack" => vec![Value::List(tensors.into_iter().collect())],
                    _ => tensors,
                };
                let Some(typed) = typed::run(name, &typed::Call { args: &tensors, named: &named }) else { continue };
                let args = tensors.iter().fold(any::Args::new(), |args, tensor| args.arg(tensor.clone()));
                let args = named.iter().fold(args, |args, (name, value)| args.named(name, value.clone()));
                rows += 1;
                both.insert(*name);
                if let Err(mistake) = typed::agree(&any::call(name, &args), &typed, true) {
                    mistakes.push(format!("{name} {shapes:?} {given:?} {dtype} layout {layout}: {mistake}"));
                }
            }
        }
    }
    println!("{rows} calls of {} operations", both.len());
    assert!(mistakes.is_empty(), "{} of {rows}:\n{}", mistakes.len(), mistakes.join("\n"));
    let rows_alone = ["bincount", "bucketize", "isin", "nn.functional.multilabel_margin_loss"];
    let never = typed::NAMES.iter().filter(|name| !both.contains(*name) && !rows_alone.contains(name));
    assert_eq!(never.collect::<Vec<_>>(), [&""; 0]);
}
