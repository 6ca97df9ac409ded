//! Moving elements: flipped, rolled, padded, permuted, in parts; and code that does so generically over devices.

use super::{Gives, On, is_host};
use castiron::pad::Circular;
use castiron::{Complex, Device, Dim, Dtype, Dyn, Element, Shape, Tensor, axis, shape};

pub fn parts_share_storage_until_they_are_written<D: Device>() {
    let x = Tensor::<i64, shape![6], D>::arange(0, 6, 1);
    let [mut first, second] = x.chunk_array(axis![0]);
    assert!(first.shares_storage(&x) && second.shares_storage(&x));
    assert!(x.unfold_sized(axis![0], 2, 1).shares_storage(&x) && x.unbind(axis![0])[5].shares_storage(&x));
    first += 10;
    assert_eq!((first.elements(), x.elements()), (vec![10, 11, 12], vec![0, 1, 2, 3, 4, 5]));
    let mut windows = x.unfold_sized(axis![0], 2, 1);
    windows += 1;
    assert_eq!((windows.elements(), x.elements()), (vec![1, 2, 2, 3, 3, 4, 4, 5, 5, 6], vec![0, 1, 2, 3, 4, 5]));
}

/// Generic code asks for the dtype, the shape and the device, and for nothing else.
pub fn generic_code_needs_no_further_bounds<D: Device>() {
    fn mirrored<E: Element, A: Dim, D: Device>(x: &Tensor<E, (A, Dyn), D>) -> Tensor<E, (A, Dyn), D> {
        let parts = x.flip(axis![1]).roll_axis(axis![-1], 1).chunk(axis![1], 2);
        parts[0].tril(0).pad_sized([1, 1], Circular)
    }
    fn everywhere<E: Dtype, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
        x.roll(1).flip(axis![-1])
    }
    let x = Tensor::<i64, shape![2, 4]>::from_vec((0..8).collect()).on::<D>();
    everywhere(&x).gives([2, 1, 0, 7, 6, 5, 4, 3]);
    assert_eq!(mirrored(&x.with_shape::<shape![_, _]>()).shape(), [2, 4]);
}

/// Elements of every width, turned tile by tile and row by row, in results on both sides of the size from which on they are
/// written past the caches.
pub fn permuted_tensors_are_copied_element_by_element<D: Device>() {
    fn each<E: Dtype, D: Device>(of: impl Fn(usize) -> E) {
        let row = Tensor::<E, shape![1, 64]>::from_vec((0..64).map(&of).collect()).on::<D>();
        let repeated = row.expand::<shape![600, 64]>().contiguous();
        assert_eq!(repeated.elements(), row.elements().repeat(600));
        for sizes in [[3, 5, 7, 4], [2, 64, 3, 64], [5, 67, 2, 70], [2, 33, 9, 32]] {
            let [a, b, c, d] = sizes;
            let x = Tensor::<E, shape![_, _, _, _]>::from_vec_sized((0..a * b * c * d).map(&of).collect(), sizes);
            let x = x.on::<D>();
            let at = |i, j, k, l| of(((i * b + j) * c + k) * d + l);
            let (mut turned, mut swapped, mut last) = (vec![], vec![], vec![]);
            for [l, k, j, i] in indices([d, c, b, a]) {
                turned.push(at(i, j, k, l));
            }
            for [i, k, j, l] in indices([a, c, b, d]) {
                swapped.push(at(i, j, k, l));
            }
            for [i, k, l, j] in indices([a, c, d, b]) {
                last.push(at(i, j, k, l));
            }
            assert_eq!(x.permute(axis![3, 2, 1, 0]).contiguous().elements(), turned);
            assert_eq!(x.permute(axis![0, 2, 1, 3]).contiguous().elements(), swapped);
            let permuted = x.permute(axis![0, 2, 3, 1]);
            assert_eq!(permuted.contiguous().elements(), last);
            // As operands, too.
            let doubled = permuted.contiguous() + &permuted;
            assert_eq!(doubled.elements(), (permuted.contiguous() + permuted.contiguous()).elements());
        }
    }
    fn indices(sizes: [usize; 4]) -> impl Iterator<Item = [usize; 4]> {
        let [a, b, c, d] = sizes;
        (0..a * b * c * d).map(move |at| [at / (b * c * d), at / (c * d) % b, at / d % c, at % d])
    }
    each::<_, D>(|at| (at % 251) as u8);
    each::<_, D>(|at| at as f32);
    each::<_, D>(|at| Complex::new(at as f64, -1.0));
    if is_host::<D>() {
        each::<_, D>(|at| (at % 30_011) as i16);
        each::<_, D>(|at| at as i64);
        each::<_, D>(|at| Complex::new(at as f32, -1.0));
    }
}

each_device! {
    also_without_data: generic_code_needs_no_further_bounds;
    with_data: parts_share_storage_until_they_are_written, permuted_tensors_are_copied_element_by_element;
}
