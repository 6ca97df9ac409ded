//! Quantiles, medians and histograms over elements that several ranks have, without gathering them.

use super::{Dist, expect_no_tape, tensor_of};
use crate::engine::{Line, Reduce};
use crate::error::Result;
use crate::mesh::Mesh;
use crate::place::{At, IsSettled, MeshAxes, MeshAxis, OnMesh, Settled};
use castiron::ops::choosing::{self, WideFloatFor};
use castiron::shape::SizeArray;
use castiron::{
    Axis, Cpu, DType, Device, Dim, Dtype, Dyn, Element, Float, HasAxis, Interpolation, Ordered, Real, ScalarValue,
    Shape, Tensor, ops,
};

/// Bits of a key that one round finds.
const DIGIT: u32 = 4;

/// How many bits the keys of a dtype have.
fn bits<E: Element>() -> u32 {
    if size_of::<E>() > 4 { 64 } else { 32 }
}

/// A number in the order of elements; NaN is behind all others. (-0 and 0 are one.)
fn key<E: Element>(x: E) -> u64 {
    let (sign, most) = (1 << (bits::<E>() - 1), u64::MAX >> (64 - bits::<E>()));
    match x.to_scalar() {
        ScalarValue::Bool(x) => u64::from(x),
        ScalarValue::Int(x) => (x + i128::from(sign)) as u64,
        ScalarValue::Float(x) if x.is_nan() => most,
        ScalarValue::Float(x) => {
            let own = if bits::<E>() == 64 { (x + 0.0).to_bits() } else { u64::from((x as f32 + 0.0).to_bits()) };
            if own & sign == 0 { own | sign } else { !own & most }
        }
        // (Complex numbers have no order.)
        _ => 0,
    }
}

/// The element of a [`key`].
fn element<E: Dtype>(key: u64) -> E {
    let (sign, most) = (1 << (bits::<E>() - 1), u64::MAX >> (64 - bits::<E>()));
    if !E::DTYPE.is_floating_point() {
        let own = if E::DTYPE == DType::Bool { key as i64 } else { (i128::from(key) - i128::from(sign)) as i64 };
        return E::from_i64(own);
    }
    if key == most {
        return E::from_f64(f64::NAN);
    }
    let own = if key & sign == 0 { !key & most } else { key & !sign };
    E::from_f64(if bits::<E>() == 64 { f64::from_bits(own) } else { f64::from(f32::from_bits(own as u32)) })
}

/// The lanes of a tensor along one axis, each in order, as keys.
fn lanes<E: Element, S: Shape>(host: &Tensor<E, S>, axis: usize) -> Vec<Vec<u64>> {
    let sizes = host.shape();
    let (own, inner) = (sizes.as_ref()[axis], sizes.as_ref()[axis + 1..].iter().product::<usize>());
    let elements = host.as_slice().expect("contiguous elements of the host are a slice");
    let count = sizes.as_ref().iter().enumerate().filter(|&(at, _)| at != axis).map(|(_, size)| size).product();
    (0..count)
        .map(|lane: usize| {
            let start = lane / inner * own * inner + lane % inner;
            let mut lane: Vec<u64> = (0..own).map(|at| key(elements[start + at * inner])).collect();
            lane.sort_unstable();
            lane
        })
        .collect()
}

/// Of each wanted lane the key that stands at a place of its order, counted over all ranks of the line: digit by digit, from the highest, the
/// ranks count how many of their keys have each. Every lane has more elements than the place.
#[track_caller]
fn ranked<X: MeshAxes>(
    mesh: &Mesh<X>,
    line: Line,
    bits: u32,
    lanes: &[Vec<u64>],
    mut wanted: Vec<(usize, u64)>,
) -> Result<Vec<u64>> {
    let mut found = vec![0_u64; wanted.len()];
    let mut counts = vec![0_u64; wanted.len() << DIGIT];
    for shift in (0..bits).step_by(DIGIT as usize).rev() {
        for ((counts, &(lane, _)), &found) in counts.chunks_exact_mut(1 << DIGIT).zip(&wanted).zip(&found) {
            let keys = &lanes[lane];
            let mut before = keys.partition_point(|key| key >> shift < found >> shift);
            for (digit, count) in (0..).zip(counts) {
                let end = keys.partition_point(|key| key >> shift <= (found >> shift) + digit);
                (*count, before) = ((end - before) as u64, end);
            }
        }
        mesh.reduce_in_place(line, "quantile_over", &mut counts, Reduce::Sum)?;
        for ((counts, (_, place)), found) in counts.chunks_exact(1 << DIGIT).zip(&mut wanted).zip(&mut found) {
            for (digit, count) in (0_u64..).zip(counts) {
                if *place < *count {
                    *found |= digit << shift;
                    break;
                }
                *place -= count;
            }
        }
    }
    Ok(found)
}

impl<E: Element, S: Shape, U: IsSettled, D: Device> Dist<E, S, U, D> {
    /// The lanes along a cut axis in order; and of each, how many elements all ranks have that are numbers.
    #[track_caller]
    fn ordered<M: MeshAxis, const I: isize>(
        &self,
        op: &'static str,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<(Vec<Vec<u64>>, Vec<u64>)>
    where
        S: HasAxis<I>,
    {
        if self.sizes.as_ref()[<S as HasAxis<I>>::INDEX] == 0 {
            return Err(castiron::Error::__empty_reduction(op, self.sizes.as_ref()).into());
        }
        let lanes = lanes(&self.local.to_device::<Cpu>()?.try_contiguous()?, <S as HasAxis<I>>::INDEX);
        let nan = u64::MAX >> (64 - bits::<E>());
        let is_number = |key: &u64| !E::DTYPE.is_floating_point() || *key != nan;
        let mut numbers: Vec<u64> = lanes.iter().map(|lane| lane.partition_point(is_number) as u64).collect();
        mesh.reduce_in_place(mesh.line::<M>(), op, &mut numbers, Reduce::Sum)?;
        Ok((lanes, numbers))
    }

    /// Elements, one for each lane along an axis.
    fn of_lanes<const I: isize>(&self, elements: Vec<E>) -> Result<Dist<E, <S as HasAxis<I>>::Removed, Settled, D>>
    where
        S: HasAxis<I>,
    {
        let (mut own, mut sizes) = (self.local.shape().as_ref().to_vec(), self.sizes.as_ref().to_vec());
        own.remove(<S as HasAxis<I>>::INDEX);
        sizes.remove(<S as HasAxis<I>>::INDEX);
        Ok(Dist::new(tensor_of(elements, &own)?, SizeArray::copied(&sizes)))
    }

    /// The element of each lane along an axis that is cut that a share `q` of the lane is below
    /// ([`Tensor::quantile_axis`](castiron::Tensor::quantile_axis)); NaN if there is one. No rank gets the others' elements: each sorts its
    /// own, and 9 (`f32`) or 17 (`f64`) small collectives count them.
    ///
    /// Shape: that of `self` without the axis. Dtypes: `f32` and `f64`.
    ///
    /// # Errors
    /// If `q` is not between 0 and 1, the axis is empty, MPI reports an error, memory runs out, the ranks do different things, or a gradient is
    /// to go back: through `all_gather` and castiron's `quantile` it does.
    ///
    /// ```
    /// use castiron::{Interpolation, axis, dims};
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let quarters = simulate::<Ranks, _>(3, &[0], |mesh| {
    ///     let x = Dist::<f32, (At<Rows, Data>,)>::from_fn(mesh, [9], |[row]| (row * 7 % 9) as f32).unwrap();
    ///     x.quantile_over(axis![0], 0.25, Interpolation::Linear, mesh).unwrap().item()
    /// });
    /// assert_eq!(quarters, [2.0; 3]);
    /// ```
    #[track_caller]
    pub fn quantile_over<M: MeshAxis, const I: isize, N: Dim>(
        &self,
        _axis: Axis<I>,
        q: f64,
        interpolation: Interpolation,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<Dist<E, <S as HasAxis<I>>::Removed, Settled, D>>
    where
        E: Float + WideFloatFor<choosing::quantile>,
        S: HasAxis<I, Dim = At<N, M>>,
    {
        expect_no_tape::<D>("quantile_over", "`all_gather` and `quantile_axis` of the block have a way back")?;
        if !(0.0..=1.0).contains(&q) {
            let reason = format!("q goes from 0 to 1, got {q}");
            return Err(castiron::Error::InvalidArgument { op: "quantile_over", reason }.into());
        }
        let (lanes, numbers) = self.ordered::<M, I>("quantile_over", mesh)?;
        // As castiron and PyTorch: the place is computed in the dtype of the elements. NaN is last.
        let last = self.sizes.as_ref()[<S as HasAxis<I>>::INDEX] as f64 - 1.0;
        let rounded = |x: f64| E::from_f64(x).cast::<f64>();
        let place = rounded(rounded(q) * rounded(last));
        let place = match interpolation {
            Interpolation::Lower => place.floor(),
            Interpolation::Higher => place.ceil(),
            Interpolation::Nearest => place.round_ties_even(),
            _ => place,
        };
        let place = |lane: usize| if (numbers[lane] as f64) <= last { last } else { place.min(last) };
        let ends = |lane| [(lane, place(lane).floor() as u64), (lane, place(lane).ceil() as u64)];
        let found = ranked(mesh, mesh.line::<M>(), bits::<E>(), &lanes, (0..lanes.len()).flat_map(ends).collect())?;
        let list = |elements: Vec<E>| Tensor::<E, (Dyn,)>::try_from_vec_sized(elements, [lanes.len()]);
        let (pairs, _) = found.as_chunks::<2>();
        let low = list(pairs.iter().map(|pair| element(pair[0])).collect())?;
        if !matches!(interpolation, Interpolation::Linear | Interpolation::Midpoint) {
            return self.of_lanes::<I>(low.to_vec());
        }
        let high = list(pairs.iter().map(|pair| element(pair[1])).collect())?;
        let weight = |lane| if interpolation == Interpolation::Midpoint { 0.5 } else { place(lane).fract() };
        let weights = list((0..lanes.len()).map(|lane| E::from_f64(weight(lane))).collect())?;
        self.of_lanes::<I>(low.try_lerp(&high, &weights)?.to_vec())
    }

    /// The median of each lane along an axis that is cut, the lower one of two middle elements
    /// ([`Tensor::median_axis`](castiron::Tensor::median_axis), without places); NaN if there is one. What it costs is said at
    /// [`quantile_over`](Self::quantile_over).
    ///
    /// # Errors
    /// If the axis is empty, MPI reports an error, memory runs out, the ranks do different things, or a gradient is to go back: through
    /// `all_gather` and castiron's `median_axis` it does.
    ///
    /// ```
    /// use castiron::{axis, dims};
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows, Columns }
    /// let medians = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let x = Dist::<i64, (At<Rows, Data>, Columns)>::from_fn(mesh, [5, 2], |[row, column]| (row * 3 % 5 + 10 * column) as i64);
    ///     x.unwrap().median_over(axis![0], mesh).unwrap().whole().to_vec()
    /// });
    /// assert_eq!(medians[1], [2, 12]);
    /// ```
    #[track_caller]
    pub fn median_over<M: MeshAxis, const I: isize, N: Dim>(
        &self,
        _axis: Axis<I>,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<Dist<E, <S as HasAxis<I>>::Removed, Settled, D>>
    where
        E: Real + Ordered,
        S: HasAxis<I, Dim = At<N, M>>,
    {
        expect_no_tape::<D>("median_over", "`all_gather` and `median_axis` of the block have a way back")?;
        let (lanes, numbers) = self.ordered::<M, I>("median_over", mesh)?;
        let last = self.sizes.as_ref()[<S as HasAxis<I>>::INDEX] as u64 - 1;
        let middle = |lane| (lane, if numbers[lane] <= last { last } else { last / 2 });
        let found = ranked(mesh, mesh.line::<M>(), bits::<E>(), &lanes, (0..lanes.len()).map(middle).collect())?;
        self.of_lanes::<I>(found.into_iter().map(element).collect())
    }

    /// How many elements of all ranks are in each of `bins` bins of equal width, and the edges of the bins
    /// ([`Tensor::histogram`](castiron::Tensor::histogram)): every rank gets them. By one small collective, and three without a `range`, which
    /// is then from the smallest element to the largest.
    ///
    /// Dtypes: `f32` and `f64`, of both results.
    ///
    /// # Errors
    /// If there are no bins, the range is not finite or is reversed, MPI reports an error, memory runs out, the ranks do different things, or
    /// the tensor is of a tape: counts have no derivative.
    ///
    /// ```
    /// use castiron::dims;
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let counts = simulate::<Ranks, _>(3, &[0], |mesh| {
    ///     let x = Dist::<f32, (At<Rows, Data>,)>::from_fn(mesh, [10], |[row]| row as f32).unwrap();
    ///     let (counts, edges) = x.histogram_over(3, None, mesh).unwrap();
    ///     (counts.whole().to_vec(), edges.whole().to_vec())
    /// });
    /// assert_eq!(counts[2], (vec![3.0, 3.0, 4.0], vec![0.0, 3.0, 6.0, 9.0]));
    /// ```
    #[track_caller]
    pub fn histogram_over<X: MeshAxes>(
        &self,
        bins: usize,
        range: Option<[f64; 2]>,
        mesh: &Mesh<X>,
    ) -> Result<(Dist<E, (Dyn,), Settled, D>, Dist<E, (Dyn,), Settled, D>)>
    where
        E: Float + Ordered + WideFloatFor<ops::reduce::histogram>,
        S: OnMesh<X>,
    {
        expect_no_tape::<D>("histogram_over", "counts have no derivative: `.detach()` takes the tensor off the tape")?;
        let range = match range {
            None if self.numel() > 0 => {
                let ends = [self.amin().settled(mesh)?.local, self.amax().settled(mesh)?.local];
                Some(ends.map(|end| end.item().cast::<f64>()))
            }
            range => range,
        };
        let (counts, edges) = self.local.try_histogram(bins, range, None, false)?;
        let counts = self.sum_of_blocks(counts).settled(mesh)?;
        let sizes = edges.shape();
        Ok((counts, Dist::new(edges, sizes)))
    }
}
