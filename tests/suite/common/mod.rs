//! Reads PyTorch's answers: the tables in `tests/oracle`, or those in the directory `CASTIRON_ORACLE`, with all or some of their rows.
#![allow(dead_code)]

#[path = "../../../examples/conformance/src/codes.rs"]
mod codes;

use castiron::{Complex, DType, Element, F4E2M1FNX2, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, bf16, f16};
pub use codes::{code, dtype};
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The text of a table, plain or gzipped: that of the directory `CASTIRON_ORACLE` if it is there, else the repository's.
pub fn read(name: &str) -> String {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle");
    let given = std::env::var_os("CASTIRON_ORACLE").map(PathBuf::from);
    for directory in given.iter().chain([&own]) {
        if let Ok(text) = std::fs::read_to_string(directory.join(name)) {
            return text;
        }
        if let Ok(file) = std::fs::File::open(directory.join(format!("{name}.gz"))) {
            let mut text = String::new();
            flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
            return text;
        }
    }
    panic!("there is no table {name} in {}", own.display())
}

/// The result of work that may hang where castiron is wrong: half a minute is long enough.
pub fn ends<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(work()));
    told.recv_timeout(std::time::Duration::from_secs(30)).expect("the work has not come to an end")
}

/// A FIFO at a path, to which nobody writes.
#[cfg(unix)]
pub fn fifo(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

pub fn json(name: &str) -> serde_json::Value {
    serde_json::from_str(&read(name)).unwrap()
}

/// Why PyTorch refused: the category and the text.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub category: String,
    pub text: String,
}

/// A csv table: rows, and the errors they refer to.
pub struct Csv {
    pub rows: Vec<Vec<String>>,
    pub errors: HashMap<String, Refusal>,
}

pub fn csv(name: &str) -> Csv {
    let (mut rows, mut errors) = (Vec::new(), HashMap::new());
    let mut header = true;
    for line in read(name).lines() {
        if let Some(error) = line.strip_prefix("#ERR\t") {
            let fields: Vec<&str> = error.split('\t').collect();
            let refusal = Refusal { category: fields[2].to_owned(), text: fields[3].to_owned() };
            errors.insert(fields[0].to_owned(), refusal);
        } else if !line.starts_with('#') {
            if !header {
                rows.push(line.split(',').map(str::to_owned).collect());
            }
            header = false;
        }
    }
    Csv { rows, errors }
}

/// Elements as the tables write them: integers in decimal, floats as the hex of their bits.
pub trait Token: Element {
    fn parse(token: &str) -> Self;
    fn bits(self) -> String;
    /// For tolerant comparison: real and imaginary parts, and the spacing of values around them.
    fn parts(self) -> [f64; 2];
}

macro_rules! integer_tokens {
    ($($ty:ty),*) => {$(
        impl Token for $ty {
            fn parse(token: &str) -> Self {
                token.parse().unwrap()
            }
            fn bits(self) -> String {
                self.to_string()
            }
            fn parts(self) -> [f64; 2] {
                [self as f64, 0.0]
            }
        }
    )*};
}
integer_tokens!(u8, i8, i16, i32, i64, u16, u32, u64);

impl Token for bool {
    fn parse(token: &str) -> Self {
        token == "1"
    }
    fn bits(self) -> String {
        u8::from(self).to_string()
    }
    fn parts(self) -> [f64; 2] {
        [f64::from(u8::from(self)), 0.0]
    }
}

macro_rules! float_tokens {
    ($($ty:ty: $bits:ty, $digits:literal;)*) => {$(
        impl Token for $ty {
            fn parse(token: &str) -> Self {
                <$ty>::from_bits(<$bits>::from_str_radix(token, 16).unwrap())
            }
            fn bits(self) -> String {
                format!("{:0width$x}", self.to_bits(), width = $digits)
            }
            fn parts(self) -> [f64; 2] {
                [self.into(), 0.0]
            }
        }
        impl Token for Complex<$ty> {
            fn parse(token: &str) -> Self {
                let (re, im) = token.split_at($digits);
                Complex::new(<$ty>::parse(re), <$ty>::parse(im))
            }
            fn bits(self) -> String {
                self.re.bits() + &self.im.bits()
            }
            fn parts(self) -> [f64; 2] {
                [self.re.into(), self.im.into()]
            }
        }
    )*};
}
float_tokens! { f16: u16, 4; f32: u32, 8; f64: u64, 16; }

impl Token for bf16 {
    fn parse(token: &str) -> Self {
        bf16::from_bits(u16::from_str_radix(token, 16).unwrap())
    }
    fn bits(self) -> String {
        format!("{:04x}", self.to_bits())
    }
    fn parts(self) -> [f64; 2] {
        [self.into(), 0.0]
    }
}

macro_rules! code_tokens {
    ($($ty:ty: |$v:ident| $parts:expr;)*) => {$(
        impl Token for $ty {
            fn parse(token: &str) -> Self {
                <$ty>::from_bits(u8::from_str_radix(token, 16).unwrap())
            }
            fn bits(self) -> String {
                format!("{:02x}", self.to_bits())
            }
            fn parts(self) -> [f64; 2] {
                let $v = self;
                [$parts, 0.0]
            }
        }
    )*};
}
code_tokens! {
    F8E4M3FN: |v| v.to_f32().into();
    F8E4M3FNUZ: |v| v.to_f32().into();
    F8E5M2: |v| v.to_f32().into();
    F8E5M2FNUZ: |v| v.to_f32().into();
    F8E8M0FNU: |v| v.to_f32().into();
    F4E2M1FNX2: |v| v.to_bits().into();
}

pub fn parse_all<E: Token>(tokens: &str) -> Vec<E> {
    tokens.split_whitespace().map(E::parse).collect()
}

/// The spacing of a dtype's values around `x`.
fn ulp(dtype: DType, x: f64) -> f64 {
    let Some(info) = dtype.finfo() else { return 0.0 };
    let magnitude = x.abs().clamp(info.smallest_normal, info.max);
    2.0_f64.powi(magnitude.log2().floor() as i32) * info.eps
}

/// How far a result may be from PyTorch's.
#[derive(Clone, Copy)]
pub struct Tolerance {
    /// In units in the last place; 0 is bit for bit.
    pub ulps: f64,
    /// In units in the last place of 1, for functions that cancel.
    pub of_one: f64,
}
impl From<f64> for Tolerance {
    fn from(ulps: f64) -> Self {
        Tolerance { ulps, of_one: 0.0 }
    }
}

/// Whether an element is what PyTorch gave: bit for bit, NaN as a class, or within the tolerance.
pub fn agrees<E: Token>(got: E, want: &str, tolerance: impl Into<Tolerance>) -> bool {
    let Tolerance { ulps, of_one } = tolerance.into();
    if got.bits() == want {
        return true;
    }
    let expected = E::parse(want);
    let nan = |x: f64| x.is_nan();
    let (a, b) = (got.parts(), expected.parts());
    if E::DTYPE.is_complex() && ulps > 0.0 && (nan(a[0]) || nan(a[1])) && (nan(b[0]) || nan(b[1])) {
        return true;
    }
    // errors of a complex function are measured against the modulus
    let scale = if E::DTYPE.is_complex() { b[0].hypot(b[1]) } else { 0.0 };
    (0..2).all(|part| {
        let (a, b) = (a[part], b[part]);
        (nan(a) && nan(b))
            || (a == b && (a != 0.0 || ulps > 0.0 || a.is_sign_negative() == b.is_sign_negative()))
            || (a - b).abs() <= ulps * ulp(E::DTYPE, b.abs().max(scale)) + of_one * ulp(E::DTYPE, 1.0)
    })
}

/// What castiron gave for one row, its dtype forgotten.
pub struct Answer {
    pub dtype: DType,
    pub len: usize,
    agrees: Box<dyn Fn(usize, &str, Tolerance) -> bool>,
    show: Box<dyn Fn(usize) -> String>,
}

impl Answer {
    pub fn new<E: Token>(elements: Vec<E>) -> Self {
        let shown = elements.clone();
        Answer {
            dtype: E::DTYPE,
            len: elements.len(),
            agrees: Box::new(move |at, want, tolerance| agrees(elements[at], want, tolerance)),
            show: Box::new(move |at| format!("{:?} ({})", shown[at], shown[at].bits())),
        }
    }

    pub fn agrees(&self, at: usize, want: &str, tolerance: impl Into<Tolerance>) -> bool {
        (self.agrees)(at, want, tolerance.into())
    }

    pub fn show(&self, at: usize) -> String {
        (self.show)(at)
    }
}

/// How the rows of a value table fared.
#[derive(Default)]
pub struct Tally {
    pub agree: usize,
    pub elements: usize,
    pub set_aside: std::collections::BTreeMap<&'static str, usize>,
    pub disagree: Vec<String>,
}

impl Tally {
    pub fn set_aside(&mut self, why: &'static str) {
        *self.set_aside.entry(why).or_default() += 1;
    }

    /// Compares one row: `unstable` elements are those that PyTorch itself changes between runs.
    pub fn row(
        &mut self,
        what: &str,
        answer: &Answer,
        dtype: &str,
        tokens: &str,
        unstable: &serde_json::Value,
        tolerance: impl Into<Tolerance>,
    ) {
        let tolerance = tolerance.into();
        if code(answer.dtype) != dtype {
            self.disagree.push(format!("{what}: got {}, PyTorch {dtype}", code(answer.dtype)));
            return;
        }
        let wanted: Vec<&str> = tokens.split_whitespace().collect();
        if wanted.len() != answer.len {
            self.disagree.push(format!("{what}: got {} elements, PyTorch {}", answer.len, wanted.len()));
            return;
        }
        let unstable: Vec<u64> =
            unstable.as_array().into_iter().flatten().filter_map(serde_json::Value::as_u64).collect();
        let mut wrong = Vec::new();
        for (at, want) in wanted.iter().enumerate() {
            if unstable.contains(&(at as u64)) || want.starts_with('E') {
                continue;
            }
            self.elements += 1;
            if !answer.agrees(at, want, tolerance) {
                wrong.push(format!("[{at}] got {}, PyTorch {want}", answer.show(at)));
            }
        }
        if wrong.is_empty() {
            self.agree += 1;
        } else {
            wrong.truncate(4);
            self.disagree.push(format!("{what}: {}", wrong.join("; ")));
        }
    }

    pub fn finish(self, what: &str) {
        println!("{what}: {} rows ({} elements) agree; set aside: {:?}", self.agree, self.elements, self.set_aside);
        assert!(self.disagree.is_empty(), "{} rows disagree:\n{}", self.disagree.len(), self.disagree.join("\n"));
        assert!(self.agree > 0, "{what}: no rows");
    }
}
