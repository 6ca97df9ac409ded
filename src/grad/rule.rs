//! How gradients come back through a step, as data.

use super::primitive::WayBack;
use super::tape::{Kept, Layout, Operand, Packed};
use crate::dtype::Complex;
use crate::ops::arguments::Indexing;
use crate::ops::segment::Segment;
use crate::ops::slope::{Constants, Formula, LaneSlope, ReduceSlope, RowSlope};

/// One kind of step. `layout` is that of the result.
#[derive(Debug)]
pub enum Rule<B> {
    /// An elementwise formula.
    Formula {
        /// (There is one where it has been filled in.)
        formula: Option<&'static Formula>,
        computes: crate::DType,
        given: Given,
        x: Operands<B>,
        y: Option<Kept<B>>,
        layout: Packed,
    },
    /// The elements of the operand, perhaps converted.
    Moves { x: Operand<B>, layout: Packed },
    /// A choice between elements by a condition.
    Chooses { condition: Operand<B>, choices: Box<[Option<Operand<B>>; 2]>, layout: Packed },
    /// A complex number of two parts.
    Parts { x: [Option<Operand<B>>; 2], layout: Packed },
    /// A complex number of magnitude and angle.
    Polar { x: [Option<Operand<B>>; 2], layout: Packed },
    /// A reduction over the axes of the mask. The results are kept where the way back reads them.
    Reduce {
        slope: ReduceSlope,
        numbers: [f64; 2],
        x: Operand<B>,
        mask: u32,
        results: [Option<Kept<B>>; 2],
        layout: Packed,
    },
    /// A function of lanes.
    Lanes { slope: LaneSlope, x: Operand<B>, axis: usize, result: Option<Kept<B>>, layout: Packed },
    /// A function of rows, scaled and shifted.
    Rows { slope: RowSlope, x: Operand<B>, shared: Box<[Option<Operand<B>>; 2]>, layout: Packed },
    /// An axis assembled from segments.
    Pick { x: Operand<B>, axes: Vec<Vec<Segment>>, layout: Packed },
    /// Pieces end to end.
    Join { pieces: Vec<Operand<B>>, axis: usize, layout: Packed },
    /// A band of matrices.
    Band { x: Operand<B>, low: isize, high: isize, layout: Packed },
    /// Elements at indices.
    Gather { x: Operand<B>, index: Box<Operand<B>>, indexing: Indexing, layout: Packed },
    /// Elements selected by a mask.
    Compress { x: Operand<B>, mask: Operand<B>, layout: Packed },
    /// A part of a storage that was written: its place among the old elements, and its new ones.
    Patch { place: Operand<B>, new: Operand<B>, layout: Packed },
    /// Elements written at indices into a copy of the old ones: added with a factor, or in place of them.
    Scatter {
        old: Box<Operand<B>>,
        new: Operand<B>,
        index: Box<Operand<B>>,
        indexing: Indexing,
        factor: Option<f64>,
        layout: Packed,
    },
    /// An operation that has a derivative of its own.
    Primitive(Box<dyn WayBack<B>>),
    /// Elements merged at indices into a copy of the old ones: as their product, or the largest or smallest.
    Merge {
        old: Box<Operand<B>>,
        new: Operand<B>,
        index: Box<Operand<B>>,
        indexing: Indexing,
        is_product: bool,
        y: Kept<B>,
        layout: Packed,
    },
    /// A matrix product.
    Product { x: [Operand<B>; 2], layout: Packed },
}

/// The operands of a formula. (Most have one or two: steps are small.)
#[derive(Debug)]
pub enum Operands<B> {
    One([Operand<B>; 1]),
    Two([Operand<B>; 2]),
    Three(Box<[Operand<B>; 3]>),
}
impl<B> core::ops::Deref for Operands<B> {
    type Target = [Operand<B>];
    fn deref(&self) -> &[Operand<B>] {
        match self {
            Operands::One(x) => x,
            Operands::Two(x) => x,
            Operands::Three(x) => &**x,
        }
    }
}
impl<B> core::ops::DerefMut for Operands<B> {
    fn deref_mut(&mut self) -> &mut [Operand<B>] {
        match self {
            Operands::One(x) => x,
            Operands::Two(x) => x,
            Operands::Three(x) => &mut **x,
        }
    }
}

/// The constants of a formula. (Most have none or one real number, and the others are zeros.)
#[derive(Debug)]
pub enum Given {
    Real(f64),
    All(Box<Constants>),
}
impl Given {
    #[inline(always)]
    pub(crate) fn of(constants: &Constants) -> Self {
        let [first, second, third] = constants;
        let bits = |of: &Complex<f64>| of.re.to_bits() | of.im.to_bits();
        let others = first.im.to_bits() | bits(second) | bits(third);
        if others == 0 { Given::Real(first.re) } else { Given::All(Box::new(*constants)) }
    }
    pub(crate) fn open(&self) -> Constants {
        match self {
            Given::Real(re) => [Complex { re: *re, im: 0.0 }, Complex::default(), Complex::default()],
            Given::All(constants) => **constants,
        }
    }
}

impl core::fmt::Debug for Formula {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Formula")
    }
}

impl<B> Rule<B> {
    /// That of a formula, to be filled in.
    pub(crate) const fn formula(x: Operands<B>) -> Self {
        let (given, layout) = (Given::Real(0.0), Packed::EMPTY);
        Rule::Formula { formula: None, computes: crate::DType::F32, given, x, y: None, layout }
    }

    /// The layout of the result.
    pub(crate) fn layout(&self) -> Layout {
        match self {
            Rule::Formula { layout, .. }
            | Rule::Moves { layout, .. }
            | Rule::Chooses { layout, .. }
            | Rule::Parts { layout, .. }
            | Rule::Polar { layout, .. }
            | Rule::Reduce { layout, .. }
            | Rule::Lanes { layout, .. }
            | Rule::Rows { layout, .. }
            | Rule::Pick { layout, .. }
            | Rule::Join { layout, .. }
            | Rule::Band { layout, .. }
            | Rule::Gather { layout, .. }
            | Rule::Compress { layout, .. }
            | Rule::Scatter { layout, .. }
            | Rule::Merge { layout, .. }
            | Rule::Product { layout, .. }
            | Rule::Patch { layout, .. } => layout.open(),
            Rule::Primitive(step) => *step.layout(),
        }
    }

    /// What kind of step it is, in a word.
    #[cfg(feature = "any")]
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Rule::Formula { .. } => "formula",
            Rule::Chooses { .. } => "choice",
            Rule::Parts { .. } | Rule::Polar { .. } => "parts",
            Rule::Reduce { .. } => "reduction",
            Rule::Lanes { .. } => "lanes",
            Rule::Rows { .. } => "rows",
            Rule::Product { .. } => "product",
            Rule::Primitive(_) => "function",
            Rule::Moves { .. }
            | Rule::Pick { .. }
            | Rule::Join { .. }
            | Rule::Band { .. }
            | Rule::Gather { .. }
            | Rule::Compress { .. }
            | Rule::Patch { .. }
            | Rule::Scatter { .. } => "moves",
            Rule::Merge { .. } => "merge",
        }
    }

    /// Each operand.
    pub(crate) fn each_operand(&mut self, see: &mut dyn FnMut(&mut Operand<B>)) {
        match self {
            Rule::Formula { x, .. } => x.iter_mut().for_each(see),
            Rule::Parts { x, .. } | Rule::Polar { x, .. } => x.iter_mut().flatten().for_each(see),
            Rule::Moves { x, .. }
            | Rule::Reduce { x, .. }
            | Rule::Lanes { x, .. }
            | Rule::Pick { x, .. }
            | Rule::Band { x, .. } => see(x),
            Rule::Chooses { condition, choices, .. } => {
                see(condition);
                choices.iter_mut().flatten().for_each(see);
            }
            Rule::Rows { x, shared, .. } => {
                see(x);
                shared.iter_mut().flatten().for_each(see);
            }
            Rule::Join { pieces, .. } => pieces.iter_mut().for_each(see),
            Rule::Gather { x, index, .. } => [x, &mut **index].into_iter().for_each(see),
            Rule::Compress { x, mask, .. } => [x, mask].into_iter().for_each(see),
            Rule::Patch { place, new, .. } => [place, new].into_iter().for_each(see),
            Rule::Scatter { old, new, index, .. } | Rule::Merge { old, new, index, .. } => {
                [&mut **old, new, &mut **index].into_iter().for_each(see)
            }
            Rule::Product { x, .. } => x.iter_mut().for_each(see),
            Rule::Primitive(step) => step.each_operand(see),
        }
    }

    /// The elements of each result that is kept, with its number.
    pub(crate) fn each_result(&mut self, see: &mut dyn FnMut(usize, &mut B)) {
        match self {
            Rule::Formula { y: Some(y), .. } | Rule::Merge { y, .. } => see(0, &mut y.storage),
            Rule::Reduce { results, .. } => {
                for (at, result) in results.iter_mut().enumerate() {
                    result.iter_mut().for_each(|result| see(at, &mut result.storage));
                }
            }
            // Of running extremes the positions.
            Rule::Lanes { slope, result: Some(result), .. } => {
                see(usize::from(matches!(slope, LaneSlope::Extreme)), &mut result.storage);
            }
            Rule::Primitive(step) => step.each_result(see),
            _ => {}
        }
    }

    /// Whether it has handles to elements, of operands or results.
    pub(crate) fn keeps(&mut self) -> bool {
        // (A function of the user's keeps what it likes.)
        let mut keeps = matches!(self, Rule::Primitive(step) if step.keeps_results());
        self.each_result(&mut |_, _| keeps = true);
        self.each_operand(&mut |operand| keeps |= operand.kept.is_some());
        keeps
    }
}
