//! Small tensors, which take shorter paths: the results are the same whether the types know the sizes or not, and whatever the layout.

use castiron::shape::Broadcast;
use castiron::{Dim, Dyn, Shape, Tensor, axis, shape};

/// Numbers with fractions, both zeros, infinities and NaN among them.
fn floats(seed: usize, len: usize) -> Vec<f32> {
    let edges = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, f32::MAX];
    let at = |at: usize| {
        let roll = (seed + at).wrapping_mul(2_654_435_761) >> 7;
        if roll.is_multiple_of(5) { edges[roll / 5 % edges.len()] } else { (roll % 1000) as f32 / 64.0 - 7.0 }
    };
    (0..len).map(at).collect()
}

fn bits(elements: &[f32]) -> Vec<u32> {
    // Which NaN comes out is not said.
    elements.iter().map(|x| if x.is_nan() { u32::MAX } else { x.to_bits() }).collect()
}

/// Calls a test with tensors of known sizes of one axis.
macro_rules! of_sizes {
    ($test:ident: $($size:tt)*) => {$(
        let vectors = [1, 2].map(|seed| Tensor::<f32, shape![$size]>::from_vec(floats(seed, $size)));
        $test(vectors, $size);
    )*};
}

/// Each form of an operator: of tensors and a scalar, new and written over an operand that is not needed any more.
fn combines<N: Dim>([x, y]: [Tensor<f32, (N,)>; 2], len: usize)
where
    (N,): Shape + Broadcast<(N,), Output = (N,)>,
{
    let (a, b) = (floats(1, len), floats(2, len));
    let alike = |name: &str, got: [Tensor<f32, (N,)>; 3], of: &dyn Fn(f32, f32) -> f32| {
        let [fresh, over, scaled] = got.map(|of| bits(&of.to_vec()));
        let want: Vec<f32> = a.iter().zip(&b).map(|(&a, &b)| of(a, b)).collect();
        let by_scalar: Vec<f32> = a.iter().map(|&a| of(a, 1.5)).collect();
        assert_eq!((&fresh, &over), (&bits(&want), &bits(&want)), "{name} of {len}");
        assert_eq!(scaled, bits(&by_scalar), "{name} of {len} by a scalar");
    };
    // A copy that shares no storage, so that it is written over.
    let own = || Tensor::<f32, (Dyn,)>::from(a.clone()).with_shape::<(N,)>();
    alike("add", [&x + &y, own() + &y, own() + 1.5], &|a, b| a + b);
    alike("sub", [&x - &y, own() - &y, own() - 1.5], &|a, b| a - b);
    alike("mul", [&x * &y, own() * &y, &x * 1.5], &|a, b| a * b);
    alike("div", [&x / &y, own() / &y, &x / 1.5], &|a, b| a / b);
    assert_eq!(bits(&x.to_vec()), bits(&a), "operands that are shared are left as they are");
}

#[test]
fn few_elements_are_combined_as_many_are() {
    of_sizes!(combines: 1 2 3 4 5 7 8 9 15 16 17 33);
    for len in 0..20 {
        combines([1, 2].map(|seed| Tensor::<f32, (Dyn,)>::from(floats(seed, len))), len);
    }
}

/// Reduces where elements lie side by side, and where they do not: the one needs no plan, the other has one.
fn reduces(sizes: [usize; 3]) {
    let [a, b, c] = sizes;
    let finite = |x: f32| if x.is_finite() { x.clamp(-9.0, 9.0) } else { 0.5 };
    let elements: Vec<f32> = floats(3, a * b * (c + 1)).into_iter().map(finite).collect();
    let wider = Tensor::<f32, (Dyn,)>::from(elements).reshape_sized::<(Dyn, Dyn, Dyn)>([a, b, c + 1]);
    let apart = wider.narrow(axis![2], 0, c);
    let x = apart.contiguous();
    let same = |got: &[f32], want: &[f32]| assert_eq!(bits(got), bits(want), "{sizes:?}");
    same(&x.sum_axis(axis![2]).to_vec(), &apart.sum_axis(axis![2]).to_vec());
    same(&x.sum_axis(axis![1, 2]).to_vec(), &apart.sum_axis(axis![1, 2]).to_vec());
    same(&x.std_axis(axis![2], 0).to_vec(), &apart.std_axis(axis![2], 0).to_vec());
    same(&[x.sum().item()], &[apart.sum().item()]);
    same(&x.t_of_rows().sum_axis(axis![0]).to_vec(), &apart.t_of_rows().sum_axis(axis![0]).to_vec());
    if x.is_empty() {
        return;
    }
    assert_eq!(x.argmax_axis(axis![2]).to_vec(), apart.argmax_axis(axis![2]).to_vec(), "{sizes:?}");
    assert_eq!(x.argmax().item(), apart.argmax().item(), "{sizes:?}");
    let (values, indices) = x.max_axis(axis![2]);
    let (others, places) = apart.max_axis(axis![2]);
    same(&values.to_vec(), &others.to_vec());
    assert_eq!(indices.to_vec(), places.to_vec(), "{sizes:?}");
}

/// The axes in another order.
trait Turned {
    fn t_of_rows(&self) -> Self;
}
impl Turned for Tensor<f32, (Dyn, Dyn, Dyn)> {
    fn t_of_rows(&self) -> Self {
        self.permute(axis![2, 0, 1])
    }
}

#[test]
fn short_lines_are_reduced_as_others_are() {
    for sizes in
        [[1, 1, 1], [2, 3, 5], [1, 8, 8], [3, 1, 7], [4, 4, 1], [2, 2, 1030], [40, 30, 3], [300, 1, 2], [2, 0, 3]]
    {
        reduces(sizes);
    }
}

/// A product compared with the sums of its definition, for operands in each layout.
macro_rules! products {
    ($($n:literal)*) => {$({
        let of = |seed: u32| Tensor::<f32, shape![$n, $n]>::from_fn(|[i, j]: [usize; 2]| (i as f32 - 1.5) * seed as f32 + j as f32 / 4.0);
        let (x, y) = (of(1), of(3));
        let places = (0..$n).flat_map(|row| (0..$n).map(move |column| (row, column)));
        let want: Vec<f32> =
            places.map(|(row, column)| (0..$n).fold(0.0, |sum, k| sum + x[(row, k)] * y[(k, column)])).collect();
        let turned = [x.t().contiguous().t(), y.t().contiguous().t()];
        assert_eq!(x.matmul(&y).to_vec(), want);
        assert_eq!(turned[0].matmul(&turned[1]).to_vec(), want);
        let [x, y] = [&x, &y].map(|x| x.with_shape::<(Dyn, Dyn)>());
        assert_eq!(x.matmul(&y).to_vec(), want);
    })*};
}

#[test]
fn small_matrices_are_multiplied_whatever_their_layout() {
    products!(1 2 3 4 5 8);
}

#[test]
fn row_major_tensors_are_seen_under_every_shape_of_as_many_elements() {
    let x = Tensor::<f32, shape![2, 6]>::from_vec(floats(1, 12));
    let y = x.reshape::<shape![3, 1, 4]>();
    assert!(y.shares_storage(&x) && y.stride() == [4, 4, 1]);
    assert_eq!(bits(&y.to_vec()), bits(&x.to_vec()));
    // From within a storage, of sizes that the type does not know, and back.
    let rows = x.with_shape::<(Dyn, Dyn)>().narrow(axis![0], 1, 1);
    let z = rows.reshape_sized::<(Dyn, Dyn)>([2, 3]);
    assert!(z.shares_storage(&x) && z.storage_offset() == 6 && z.stride() == [3, 1]);
    assert_eq!(bits(&z.to_vec()), bits(&x.to_vec()[6..]));
    assert!(rows.try_reshape_sized::<(Dyn, Dyn)>([2, 4]).is_err());
    // What does not lie in that order is copied.
    let turned = x.t().reshape::<shape![12]>();
    assert!(!turned.shares_storage(&x));
    assert_eq!(bits(&turned.to_vec()), bits(&x.t().to_vec()));
}
