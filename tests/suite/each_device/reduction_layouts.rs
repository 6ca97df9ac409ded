//! Reductions over every set of axes of tensors in every layout, and of expressions, equal naive loops over the elements.

use super::odd::Cube;
use super::{Gives, On, is_host};
use castiron::{Device, Element, axis};

/// The elements of each result of a reduction over some axes, with their positions, by the naive loop.
fn reduced<E: Element>(sizes: [usize; 3], elements: &[E], mask: usize) -> Vec<Vec<E>> {
    let kept = |axis: usize, size: usize| if mask >> axis & 1 == 1 { 1 } else { size };
    let [a, b, c] = [0, 1, 2].map(|axis| kept(axis, sizes[axis]));
    let mut results = vec![Vec::new(); a * b * c];
    for (at, element) in elements.iter().enumerate() {
        let index = [at / sizes[2] / sizes[1], at / sizes[2] % sizes[1], at % sizes[2]];
        let [i, j, k] = [0, 1, 2].map(|axis| if mask >> axis & 1 == 1 { 0 } else { index[axis] });
        results[(i * b + j) * c + k].push(*element);
    }
    results
}

/// Short axes and long ones, few results and many, in every order of memory, with gaps and without: sums and products of
/// integers and the first of the largest elements are those of the naive loop, also of expressions.
pub fn reductions_do_not_depend_on_the_layout<D: Device>() {
    const SIZES: [[usize; 3]; 12] = [
        [2, 3, 5],
        [1, 1, 1],
        [0, 3, 4],
        [3, 0, 2],
        [2, 700, 3],
        [3, 40, 17],
        [7, 20, 33],
        [2, 5, 1100],
        [5, 130, 9],
        [1030, 1, 3],
        [2, 300, 8],
        [1, 2, 2300],
    ];
    // (On a GPU each layout of these is one kernel more; `tests/cuda/reduce.rs` has others.)
    let sizes = if is_host::<D>() { &SIZES[..] } else { &SIZES[3..6] };
    for &sizes in sizes {
        let len: usize = sizes.iter().product();
        // Some elements are equal, and one is NaN where there are many.
        let element = |at: usize| ((at * 7919 + 13) % 1009) as f32;
        let wide =
            Cube::from_fn_sized(sizes.map(|size| size * 2), |[i, j, k]| element((i * 31 + j) * 57 + k)).on::<D>();
        let dense = Cube::from_fn_sized(sizes, |[i, j, k]| {
            let at = (i * sizes[1] + j) * sizes[2] + k;
            if len > 2000 && at == len / 2 { f32::NAN } else { element(at) }
        })
        .on::<D>();
        let gaps = wide.narrow(axis![0], 0, sizes[0]).narrow(axis![1], 0, sizes[1]).narrow(axis![2], 0, sizes[2]);
        let repeated: Cube<f32, D> = gaps.narrow(axis![1], 0, sizes[1].min(1)).expand_sized(sizes);
        for x in [dense, gaps, repeated] {
            orders_of_axes(&x);
        }
    }
}

fn orders_of_axes<D: Device>(x: &Cube<f32, D>) {
    reductions_of(x);
    if !is_host::<D>() {
        return reductions_of(&x.permute(axis![2, 0, 1]));
    }
    reductions_of(&x.permute(axis![0, 2, 1]));
    reductions_of(&x.permute(axis![1, 0, 2]));
    reductions_of(&x.permute(axis![1, 2, 0]));
    reductions_of(&x.permute(axis![2, 0, 1]));
    reductions_of(&x.permute(axis![2, 1, 0]));
}

fn reductions_of<D: Device>(x: &Cube<f32, D>) {
    let what = format!("{:?} {:?}", x.shape(), x.stride());
    let integers = x.to::<i32>();
    let (shape, floats, ints) = (x.shape(), x.elements(), integers.elements());
    let better = |champion: f32, x: f32| x > champion || (x.is_nan() && !champion.is_nan());
    let first_largest = |elements: &Vec<f32>| {
        (1..elements.len()).fold(0, |champion, at| if better(elements[champion], elements[at]) { at } else { champion })
    };
    // NaN is one value: a GPU's arithmetic gives other bits than the host's.
    let bits = |elements: Vec<f32>| {
        elements.into_iter().map(|x| if x.is_nan() { f32::NAN } else { x }.to_bits()).collect::<Vec<_>>()
    };
    macro_rules! over {
        ($($mask:literal $axes:expr;)*) => {$({
            let elements = reduced(shape, &floats, $mask);
            let sums: Vec<i64> = reduced(shape, &ints, $mask).iter().map(|of| of.iter().map(|&x| i64::from(x)).sum()).collect();
            assert_eq!(integers.sum_axis($axes).elements(), sums, "sum over {:b} of {what}", $mask);
            assert_eq!((integers.lazy() + 0).sum_axis($axes).elements(), sums, "lazy sum over {:b} of {what}", $mask);
            if elements.iter().all(|of| !of.is_empty()) {
                let largest: Vec<f32> = elements.iter().map(|of| of[first_largest(of)]).collect();
                assert_eq!(bits(x.amax_axis($axes).abs().elements()), bits(largest), "amax over {:b} of {what}", $mask);
                let deviation = |of: &Vec<f32>| {
                    let len = of.len() as f64;
                    let mean = of.iter().map(|&x| f64::from(x)).sum::<f64>() / len;
                    of.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / len
                };
                for (got, of) in x.var_axis($axes, 0).elements().into_iter().zip(&elements) {
                    let expected = deviation(of);
                    let close = (f64::from(got) - expected).abs() <= 1e-6 * expected || (got.is_nan() && expected.is_nan());
                    assert!(close, "var over {:b} of {what}: {got} is not {expected}", $mask);
                }
            }
        })*};
    }
    over! {
        1 axis![0]; 2 axis![1]; 4 axis![2]; 3 axis![0, 1]; 5 axis![0, 2]; 6 axis![1, 2]; 7 axis![0, 1, 2];
    }
    macro_rules! positions {
        ($($mask:literal $axis:expr;)*) => {$({
            let elements = reduced(shape, &floats, $mask);
            if elements.iter().all(|of| !of.is_empty()) {
                let first: Vec<i64> = elements.iter().map(|of| first_largest(of) as i64).collect();
                assert_eq!(x.argmax_axis($axis).elements(), first, "argmax over {:b} of {what}", $mask);
                assert_eq!((x.lazy() * 1.0).argmax_axis($axis).elements(), first, "lazy argmax over {:b} of {what}", $mask);
            }
        })*};
    }
    positions! { 1 axis![0]; 2 axis![1]; 4 axis![2]; }
    if !x.is_empty() {
        assert_eq!(x.argmax().item(), first_largest(&x.elements()) as i64, "argmax of {what}");
    }
}

each_device! {
    also_without_data: ;
    with_data: reductions_do_not_depend_on_the_layout;
}
