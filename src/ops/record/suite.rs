//! Compares described kernels with the host's: each is compiled by a C++ compiler in every form, launched with its arguments, and its
//! result compared with the kernel's own function, bit for bit.
//!
//! Called by tests, here and next to kernels. Without a C++ compiler they say that they are skipped.

use super::cuda::{self, CudaCpp};
use super::describe::{self, Described};
use super::dialect::Dialect;
use super::graph::{Family, Function, Node};
use super::kernel::{Kernel, Operand};
use super::memory::{Buffer, Given, same};
use super::plan::{Form, Layout};
use super::program::{Program, Run, called_back};
use super::tests::{Dice, whole};
use crate::dtype::{DType, Element};
use crate::ops::expression::{Expression, Loops};
use crate::ops::kernel::{Map1, Map2, Map3};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Describes a kernel over these operands.
type Describe = Box<dyn Fn(Kernel, &[Operand]) -> Described>;
/// The host's function of one element: from an element of each operand and its position to the place of the result.
type Host = Box<dyn Fn(&[*const u8], i64, *mut u8)>;

struct Case {
    name: String,
    dtypes: Vec<DType>,
    out: DType,
    describe: Describe,
    host: Host,
    given: Given,
    forms: Vec<Lie>,
}

/// The memory layout of a case's operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    Dense,
    Odd,
    Strided,
    Wide,
    InPlace,
    InPlaceStrided,
}
use Lie::*;
pub(crate) const LIES: [Lie; 4] = [Dense, Odd, Strided, Wide];

impl Lie {
    fn form(self) -> Form {
        let layout = match self {
            Dense | InPlace => Layout::Packs,
            Odd => Layout::Contiguous,
            Strided | InPlaceStrided => Layout::Strided32,
            Wide => Layout::Strided64,
        };
        Form { layout, in_place: matches!(self, InPlace | InPlaceStrided) }
    }
    /// The sizes, and the strides of operand 0 (the result) and of the others in turn.
    fn geometry(self) -> (Vec<usize>, Vec<Vec<usize>>) {
        match self {
            Dense | Odd | InPlace => (vec![7, 1, 41], vec![vec![41, 9, 1]]),
            // The result is transposed and has gaps, as has one operand; one is contiguous, one is broadcast along an axis.
            _ => (vec![5, 6, 9], vec![vec![2, 10, 60], vec![54, 9, 1], vec![9, 0, 1], vec![130, 20, 2]]),
        }
    }
}

/// Kernels to compile and to run.
#[derive(Default)]
pub(crate) struct Suite {
    cases: Vec<Case>,
    refused: Vec<String>,
}

fn read<E: Element>(from: *const u8) -> E {
    // SAFETY: the suite passes an element of the case's dtype.
    unsafe { from.cast::<E>().read() }
}
fn write<E: Element>(to: *mut u8, value: E) {
    // SAFETY: as above.
    unsafe { to.cast::<E>().write(value) }
}

impl Suite {
    fn add(
        &mut self,
        name: &str,
        dtypes: Vec<DType>,
        out: DType,
        lies: &[Lie],
        describe: Describe,
        host: Host,
    ) -> &mut Self {
        let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let mut name = format!("{name}_{}", self.cases.len());
        for dtype in dtypes.iter().chain([&out]) {
            let _ = write!(name, "_{}", dtype.name());
        }
        let mut forms = lies.to_vec();
        if lies.len() == LIES.len() && dtypes.first() == Some(&out) {
            forms.extend([InPlace, InPlaceStrided]);
        }
        self.cases.push(Case { name, dtypes, out, describe, host, given: Given::Any, forms });
        self
    }
    /// Makes the last case's operands nonzero if `divides`.
    pub(crate) fn without_zeros(&mut self, divides: bool) -> &mut Self {
        if divides {
            self.cases.last_mut().unwrap().given = Given::NoZeros;
        }
        self
    }
    /// Makes the last case's operands ordinary values only.
    pub(crate) fn ordinary(&mut self) -> &mut Self {
        self.cases.last_mut().unwrap().given = Given::Ordinary;
        self
    }
    /// Runs the last case with these layouts only.
    pub(crate) fn only(&mut self, lies: &[Lie]) -> &mut Self {
        self.cases.last_mut().unwrap().forms = lies.to_vec();
        self
    }
    /// A unary kernel.
    pub(crate) fn one<K: Map1<A, O>, A: Element, O: Element>(&mut self, name: &str, kernel: K) -> &mut Self {
        let describe = move |to: Kernel, operands: &[Operand]| describe::map1::<K, A, O>(to, &kernel, operands[0]);
        let host = move |from: &[*const u8], _: i64, to: *mut u8| write::<O>(to, kernel.call(read::<A>(from[0])));
        self.add(name, vec![A::DTYPE], O::DTYPE, &LIES, Box::new(describe), Box::new(host))
    }
    /// A kernel of the position.
    pub(crate) fn table<K: Map1<i64, O>, O: Element>(&mut self, name: &str, kernel: K) -> &mut Self {
        let describe = move |to: Kernel, _: &[Operand]| describe::tabulate::<K, O>(to, &kernel);
        let host = move |_: &[*const u8], i: i64, to: *mut u8| write::<O>(to, kernel.call(i));
        self.add(name, vec![], O::DTYPE, &[Dense, Odd], Box::new(describe), Box::new(host))
    }
    /// A binary kernel.
    pub(crate) fn two<K: Map2<A, B, O>, A: Element, B: Element, O: Element>(
        &mut self,
        name: &str,
        kernel: K,
    ) -> &mut Self {
        let describe = move |to: Kernel, operands: &[Operand]| {
            describe::map2::<K, A, B, O>(to, &kernel, [operands[0], operands[1]])
        };
        let host = move |from: &[*const u8], _: i64, to: *mut u8| {
            write::<O>(to, kernel.call(read::<A>(from[0]), read::<B>(from[1])))
        };
        self.add(name, vec![A::DTYPE, B::DTYPE], O::DTYPE, &LIES, Box::new(describe), Box::new(host))
    }
    /// A ternary kernel.
    pub(crate) fn three<K: Map3<A, B, C, O>, A: Element, B: Element, C: Element, O: Element>(
        &mut self,
        name: &str,
        kernel: K,
    ) -> &mut Self {
        let describe = move |to: Kernel, operands: &[Operand]| {
            describe::map3::<K, A, B, C, O>(to, &kernel, [operands[0], operands[1], operands[2]])
        };
        let host = move |from: &[*const u8], _: i64, to: *mut u8| {
            write::<O>(to, kernel.call(read::<A>(from[0]), read::<B>(from[1]), read::<C>(from[2])))
        };
        self.add(name, vec![A::DTYPE, B::DTYPE, C::DTYPE], O::DTYPE, &LIES, Box::new(describe), Box::new(host))
    }
    /// A tree of kernels over leaves of these dtypes; `make` builds it over operands in memory.
    pub(crate) fn tree<X: Expression<Elem: Element>>(
        &mut self,
        name: &str,
        dtypes: &[DType],
        make: impl Fn(&[Operand]) -> X + Copy + 'static,
    ) -> &mut Self {
        let describe = move |to: Kernel, operands: &[Operand]| describe::tree(to, &make(operands));
        let host = move |from: &[*const u8], _: i64, to: *mut u8| write(to, one_element(make(&at(from))));
        self.add(name, dtypes.to_vec(), X::Elem::DTYPE, &LIES, Box::new(describe), Box::new(host))
    }
    /// An update by a tree over leaves of these dtypes.
    pub(crate) fn update<K: Map2<O, X::Elem, O>, X: Expression<Elem: Element>, O: Element>(
        &mut self,
        name: &str,
        kernel: K,
        dtypes: &[DType],
        make: impl Fn(&[Operand]) -> X + Copy + 'static,
    ) -> &mut Self {
        let describe = move |to: Kernel, operands: &[Operand]| {
            describe::update::<K, X, O>(to, &kernel, &make(&operands[1..]), operands[0])
        };
        let host = move |from: &[*const u8], _: i64, to: *mut u8| {
            write::<O>(to, kernel.call(read::<O>(from[0]), one_element(make(&at(&from[1..])))))
        };
        let dtypes = [&[O::DTYPE], dtypes].concat();
        self.add(name, dtypes, O::DTYPE, &[InPlace, InPlaceStrided], Box::new(describe), Box::new(host))
    }

    /// Runs all cases; all must have text.
    pub(crate) fn run_all(self) {
        let refused = self.run();
        assert!(refused.is_empty(), "{refused:#?}");
    }
    /// Compiles, runs and compares all cases. Returns those that cannot be described, with the reason.
    pub(crate) fn run(self) -> Vec<String> {
        let (mut source, mut kernels) = (String::new(), String::new());
        let mut called: BTreeMap<(String, usize, &'static str), Run> = BTreeMap::new();
        let mut refused = self.refused;
        let mut cases = Vec::new();
        for case in self.cases {
            let described = (case.describe)(Kernel::written(), &vec![Operand::default(); case.dtypes.len()]);
            let kernel = &described.kernel;
            if let Err(why) = kernel.check() {
                refused.push(format!("{}: {why}", case.name));
                continue;
            }
            assert_eq!(described.result.dtype, case.out, "{}", case.name);
            kernel.functions.values().for_each(|function| note_calls(function, &mut called));
            for lie in &case.forms {
                let (name, form) = (format!("{}_{lie:?}", case.name), lie.form());
                let text = cuda::source(&described, &name, form).unwrap();
                let given: Vec<String> = cuda::parameters(kernel, case.out, form)
                    .iter()
                    .enumerate()
                    .map(|(at, (ty, _))| format!("*({ty}*)a[{at}]"))
                    .collect();
                let _ = writeln!(kernels, "namespace of_{name} {{\n{text}}}");
                let given = given.join(", ");
                let _ = writeln!(kernels, "extern \"C\" void run_{name}(void** a) {{ of_{name}::{name}({given}); }}");
            }
            cases.push(case);
        }
        source += &Program::head();
        for ((name, operands, ty), run) in called {
            source += &called_back(&name, operands, ty, run);
        }
        source += &kernels;
        let Some(program) = Program::compile(&source) else {
            eprintln!("there is no C++ compiler: {} kernels are not compiled", cases.len());
            return refused;
        };
        let mut dice = Dice::new();
        let mut compared = 0;
        for case in &cases {
            for &lie in &case.forms {
                compared += compare(case, lie, &program, &mut dice);
            }
        }
        println!("{} kernels, {compared} elements", cases.len());
        refused
    }
}

fn note_calls(function: &Function, called: &mut BTreeMap<(String, usize, &'static str), Run>) {
    for node in whole(function).into_iter().flat_map(|function| &function.nodes) {
        let Node::Step(step, operands, kind) = node else { continue };
        let prefix = match step.family {
            Family::Operator | Family::Basic => continue,
            Family::Elementary => "ci_",
            Family::Platform => "ci_platform_",
            Family::Special => "ci_special_",
        };
        called.insert((format!("{prefix}{}", step.name), operands.len(), CudaCpp.number(*kind)), step.run);
    }
}

/// Operands of one element.
fn at(from: &[*const u8]) -> Vec<Operand> {
    from.iter().map(|from| Operand { address: from.addr() as u64, strides: [0; 8] }).collect()
}
/// The only element of a tree, computed on the host.
fn one_element<X: Expression<Elem: Element>>(x: X) -> X::Elem {
    #[derive(Clone, Copy)]
    struct Plain;
    impl Loops for Plain {
        unsafe fn one<K: Map1<A, O>, A: Element, O: Element>(self, kernel: &K, a: *const A, out: *mut O, len: usize) {
            // SAFETY: the caller's promise.
            (0..len).for_each(|i| unsafe { out.add(i).write(kernel.call(a.add(i).read())) });
        }
        unsafe fn two<K: Map2<A, B, O>, A: Element, B: Element, O: Element>(
            self,
            kernel: &K,
            (a, b): (*const A, *const B),
            out: *mut O,
            len: usize,
        ) {
            // SAFETY: the caller's promise.
            (0..len).for_each(|i| unsafe { out.add(i).write(kernel.call(a.add(i).read(), b.add(i).read())) });
        }
    }
    let mut buffers = X::buffers();
    let mut computed = vec![0_u8; X::COMPUTED + 64];
    let from = computed.as_mut_ptr();
    let from = from.wrapping_add(from.align_offset(64));
    // SAFETY: the leaves have one element, and the buffers have their declared size.
    unsafe {
        let places = x.places(Plain, &mut buffers, from, &[0; 8], 0, 1);
        x.get(places, 0)
    }
}

/// Runs a case; returns the number of compared elements.
fn compare(case: &Case, lie: Lie, program: &Program, dice: &mut Dice) -> usize {
    let (sizes, strides) = lie.geometry();
    let strides_of = |operand: usize| &strides[operand % strides.len()];
    let last = |strides: &[usize]| sizes.iter().zip(strides).map(|(size, stride)| (size - 1) * stride).sum::<usize>();
    let (len, first) = (sizes.iter().product::<usize>(), usize::from(lie == Odd));
    let mut buffers: Vec<Buffer> = case
        .dtypes
        .iter()
        .enumerate()
        .map(|(at, &dtype)| Buffer::of(dtype, last(strides_of(at + 1)) + 1, first, case.given, dice))
        .collect();
    let mut out = Buffer::of(case.out, last(strides_of(0)) + 1, first, case.given, dice);
    let mut before = out.clone();
    let in_place = lie.form().in_place;
    let to = out.operand(strides_of(0));
    let mut operands: Vec<Operand> =
        buffers.iter_mut().enumerate().map(|(at, buffer)| buffer.operand(strides_of(at + 1))).collect();
    if in_place {
        operands[0] = to;
    }
    let launched = (case.describe)(Kernel::launched(), &operands);
    let written = (case.describe)(Kernel::written(), &operands);
    let noted = |described: &Described| {
        let kernel = &described.kernel;
        (described.key(), kernel.values.clone(), kernel.operands.clone(), kernel.parameters.clone(), kernel.counts)
    };
    assert_eq!(noted(&launched), noted(&written), "{}", case.name);
    let mut plan = launched.plan(case.out, to, &sizes, in_place);
    if lie == Wide {
        assert_eq!(plan.form.layout, Layout::Strided32);
        plan.form.layout = Layout::Strided64;
    }
    // One-byte elements are aligned at odd addresses; a pack of one element is not a pack.
    let expected = lie.form();
    let packs = |layout| layout == Layout::Packs || layout == Layout::Contiguous;
    if lie == Odd && packs(plan.form.layout) {
        plan.form.layout = Layout::Contiguous;
    }
    if lie == Dense && plan.form.layout == Layout::Contiguous {
        assert_eq!(
            case.dtypes.iter().chain([&case.out]).map(|dtype| dtype.itemsize()).min(),
            Some(16),
            "{}",
            case.name
        );
        plan.form.layout = Layout::Packs;
    }
    if lie == InPlace && plan.form.layout == Layout::Contiguous {
        plan.form.layout = Layout::Packs;
    }
    assert_eq!(plan.form, expected, "{}", case.name);
    program.launch(&format!("{}_{lie:?}", case.name), &launched.arguments(&plan).unwrap());

    for i in 0..len {
        let mut rest = i;
        let mut index = vec![0; sizes.len()];
        for axis in (0..sizes.len()).rev() {
            (index[axis], rest) = (rest % sizes[axis], rest / sizes[axis]);
        }
        let place = |strides: &[usize]| index.iter().zip(strides).map(|(index, stride)| index * stride).sum::<usize>();
        let mut from: Vec<*const u8> =
            buffers.iter_mut().enumerate().map(|(at, buffer)| buffer.at(place(strides_of(at + 1)))).collect();
        let to = place(strides_of(0));
        if in_place {
            from[0] = before.at(to);
        }
        let mut wanted = [0_u128];
        (case.host)(&from, i as i64, wanted.as_mut_ptr().cast());
        // SAFETY: an element has been written there.
        let wanted = unsafe { core::slice::from_raw_parts(wanted.as_ptr().cast::<u8>(), case.out.itemsize()) };
        let met = out.bytes(to).to_vec();
        assert!(same(case.out, &met, wanted), "{} {lie:?}, element {i}: {met:x?}, not {wanted:x?}", case.name);
    }
    len
}
