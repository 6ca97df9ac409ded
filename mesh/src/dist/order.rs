//! Elements in order, over a list that is cut: sorted by samples, the largest, those that occur.

use super::{Dist, expect_no_tape, tensor_of};
use crate::engine::Line;
use crate::error::Result;
use crate::mesh::{Mesh, block};
use crate::place::{At, IsSettled, MeshAxis, Settled};
use castiron::{Device, Dim, Dyn, Element, Ordered, Real, ScalarValue, Tensor, axis, shape};
use core::cmp::Ordering;

/// The order of castiron's `sort`: NaN is behind all numbers.
fn order<E: Element>(a: E, b: E) -> Ordering {
    match (a.to_scalar(), b.to_scalar()) {
        (ScalarValue::Bool(a), ScalarValue::Bool(b)) => a.cmp(&b),
        (ScalarValue::Int(a), ScalarValue::Int(b)) => a.cmp(&b),
        (ScalarValue::Float(a), ScalarValue::Float(b)) => {
            a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
        _ => Ordering::Equal,
    }
}

/// A list on the host.
fn list<E: Element>(elements: Vec<E>) -> Result<Tensor<E, shape![_]>> {
    let len = elements.len();
    Ok(Tensor::try_from_vec_sized(elements, [len])?)
}

impl<E: Real + Ordered, N: Dim, M: MeshAxis, U: IsSettled, D: Device> Dist<E, (At<N, M>,), U, D> {
    /// The elements in ascending order, NaN at the end, and where each was ([`Tensor::sort`](castiron::Tensor::sort)): each rank gets its block of
    /// the order. Of equals the first stays the first.
    ///
    /// By regular samples: each rank sorts its block, and sends the others what is theirs.
    ///
    /// # Errors
    /// If MPI reports one, memory runs out, the ranks do different things, or a gradient is to go back: through `all_gather` and `sort` it does.
    ///
    /// ```
    /// use castiron::{dims, tensor};
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let blocks = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let x = Dist::<f32, (At<Rows, Data>,)>::distribute(mesh, &tensor![3.0, 1.0, 2.0, 0.0]).unwrap();
    ///     let (sorted, places) = x.sort_over(mesh).unwrap();
    ///     (sorted.block().to_vec(), places.block().to_vec())
    /// });
    /// assert_eq!(blocks, [(vec![0.0, 1.0], vec![3, 1]), (vec![2.0, 3.0], vec![2, 0])]);
    /// ```
    #[track_caller]
    pub fn sort_over(
        &self,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<(Dist<E, (At<N, M>,), Settled, D>, Dist<i64, (At<N, M>,), Settled, D>)> {
        expect_no_tape::<D>("sort_over", "`all_gather` and `sort` have a way back")?;
        let (line, [size]) = (mesh.line::<M>(), self.sizes);
        let start = block(size, line.rank, line.size).start as i64;
        let (values, places) = self.local.cpu()?.try_sort(axis![0], false)?;
        let values = values.to_vec();
        let places: Vec<i64> = places.iter().map(|place| place + start).collect();

        // Each rank gives one sample per rank; of the sorted samples, evenly spaced ones are the bounds between ranks.
        let own: Vec<E> = (0..line.size).filter_map(|at| values.get(values.len() * at / line.size)).copied().collect();
        let counts: Vec<usize> = (0..line.size).map(|rank| block(size, rank, line.size).len().min(line.size)).collect();
        let own = if values.len() < line.size { values.clone() } else { own };
        let samples = list(mesh.gather(line, &own, &counts)?)?.try_sort(axis![0], false)?.0.to_vec();
        let bounds: Vec<E> =
            (1..line.size).filter_map(|at| samples.get(samples.len() * at / line.size)).copied().collect();
        let mut ends: Vec<usize> =
            bounds.iter().map(|bound| values.partition_point(|value| order(*value, *bound).is_le())).collect();
        ends.resize(line.size, values.len());
        let out: Vec<usize> = (0..line.size).map(|at| ends[at] - if at == 0 { 0 } else { ends[at - 1] }).collect();
        let (values, places) = traded(mesh, line, &values, &places, &out)?;

        // In the order of ranks, so that of equals the first is the first.
        let (values, order) = list(values)?.try_sort(axis![0], false)?;
        let places: Vec<i64> = order.iter().map(|&at| places[at as usize]).collect();
        // Even blocks again.
        let lens = mesh.gather(line, &[values.numel() as u64], &vec![1; line.size])?;
        let before: usize = lens[..line.rank].iter().sum::<u64>() as usize;
        let own = before..before + values.numel();
        let out: Vec<usize> = (0..line.size)
            .map(|rank| {
                let theirs = block(size, rank, line.size);
                theirs.end.min(own.end).saturating_sub(theirs.start.max(own.start))
            })
            .collect();
        let (values, places) = traded(mesh, line, &values.to_vec(), &places, &out)?;
        let len = [values.len()];
        Ok((Dist::new(tensor_of(values, &len)?, [size]), Dist::new(tensor_of(places, &len)?, [size])))
    }

    /// The `k` largest elements (or smallest), and where they are ([`Tensor::topk`](castiron::Tensor::topk)): every rank gets them. One small
    /// collective.
    ///
    /// # Errors
    /// If there are fewer than `k`, MPI reports an error, memory runs out, the ranks do different things, or a gradient is to go back: through
    /// `all_gather` and castiron's `topk` it does.
    #[track_caller]
    pub fn topk_over(
        &self,
        k: usize,
        largest: bool,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<(Dist<E, (Dyn,), Settled, D>, Dist<i64, (Dyn,), Settled, D>)> {
        expect_no_tape::<D>("topk_over", "`all_gather` and `topk` of the block have a way back")?;
        let (line, [size]) = (mesh.line::<M>(), self.sizes);
        let counts: Vec<usize> = (0..line.size).map(|rank| block(size, rank, line.size).len().min(k)).collect();
        let start = block(size, line.rank, line.size).start as i64;
        let (values, places) = self.local.cpu()?.try_topk_sized(axis![0], counts[line.rank], largest)?;
        let places: Vec<i64> = places.iter().map(|place| place + start).collect();
        let values = list(mesh.gather(line, &values.to_vec(), &counts)?)?;
        let places = mesh.gather(line, &places, &counts)?;
        let (values, found) = values.try_topk_sized(axis![0], k, largest)?;
        let places = found.iter().map(|&at| places[at as usize]).collect();
        Ok((Dist::new(tensor_of(values.to_vec(), &[k])?, [k]), Dist::new(tensor_of(places, &[k])?, [k])))
    }

    /// The elements that occur, each once and in order, and how often each does ([`Tensor::unique`](castiron::Tensor::unique)): every rank gets
    /// them all.
    ///
    /// # Errors
    /// If MPI reports one, memory runs out, the ranks do different things, or the tensor is of a tape: no gradient goes back.
    #[track_caller]
    pub fn unique_over(
        &self,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<(Dist<E, (Dyn,), Settled, D>, Dist<i64, (Dyn,), Settled, D>)> {
        expect_no_tape::<D>("unique_over", "`.detach()` takes the tensor off the tape")?;
        let line = mesh.line::<M>();
        let (values, _, counts) = self.local.cpu()?.try_unique()?;
        let lens = mesh.gather(line, &[values.numel() as u64], &vec![1; line.size])?;
        let lens: Vec<usize> = lens.iter().map(|&len| len as usize).collect();
        let values = list(mesh.gather(line, &values.to_vec(), &lens)?)?;
        let counts = mesh.gather(line, &counts.to_vec(), &lens)?;
        let (values, which, _) = values.try_unique()?;
        let mut sums = vec![0_i64; values.numel()];
        for (&which, count) in which.iter().zip(counts) {
            sums[which as usize] += count;
        }
        let len = [values.numel()];
        Ok((Dist::new(tensor_of(values.to_vec(), &len)?, len), Dist::new(tensor_of(sums, &len)?, len)))
    }
}

/// Elements and where they were, and how many of them each other rank gets.
#[track_caller]
fn traded<E: Element, X: crate::place::MeshAxes>(
    mesh: &Mesh<X>,
    line: Line,
    values: &[E],
    places: &[i64],
    out: &[usize],
) -> Result<(Vec<E>, Vec<i64>)> {
    let ones = vec![1; line.size];
    let counts: Vec<u64> = out.iter().map(|&count| count as u64).collect();
    let inn = mesh.exchange(line, &counts, &ones, &ones)?;
    let inn: Vec<usize> = inn.iter().map(|&count| count as usize).collect();
    Ok((mesh.exchange(line, values, out, &inn)?, mesh.exchange(line, places, out, &inn)?))
}
