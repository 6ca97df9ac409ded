//! `into_vec` gives a vector's memory back, and copies if the memory is shared or out of order.

use castiron::{F4E2M1FNX2, Tensor, TensorView, axis, s, shape, tensor};

type List<E> = Tensor<E, shape![_]>;

fn list(len: usize) -> (*const i32, List<i32>) {
    let mut elements = Vec::with_capacity(len + 7); // more than there are
    elements.extend((0..len).map(|at| at as i32));
    (elements.as_ptr(), List::from_vec_sized(elements, [len]))
}

#[test]
fn a_vectors_memory_comes_back() {
    for len in [1, 6, 100_000] {
        let (place, mut x) = list(len);
        x += 1;
        let mut back = x.reshape::<shape![_, 1]>().into_vec();
        assert_ne!(back.as_ptr(), place, "`x` still has it");
        back = x.into_vec();
        assert_eq!((back.as_ptr(), back.len(), back.capacity()), (place, len, len + 7));
        assert!(back.iter().zip(1..).all(|(&element, at)| element == at));
        back.reserve(len + 100); // the allocator knows it
        back.push(1);
    }
}

#[test]
fn the_last_one_to_share_it_gets_it() {
    let (place, x) = list(1000);
    let y = x.clone();
    let copy = x.into_vec();
    assert_ne!(copy.as_ptr(), place);
    let back = y.into_vec();
    assert_eq!(back.as_ptr(), place);
    assert_eq!(copy, back);
}

#[test]
fn parts_and_other_orders_are_copied() {
    let (place, x) = list(6);
    let x = x.reshape::<shape![2, 3]>();
    assert_eq!(x.t().into_vec(), [0, 3, 1, 4, 2, 5]);
    for (part, elements) in [
        (x.select(axis![0], 0).reshape::<shape![_]>(), vec![0, 1, 2]),
        (x.select(axis![0], 1).reshape(), vec![3, 4, 5]),
        (x.slice(s![.., ::2]).reshape(), vec![0, 2, 3, 5]),
    ] {
        let vector = part.into_vec();
        assert!(!(place..place.wrapping_add(6)).contains(&vector.as_ptr()));
        assert_eq!(vector, elements);
    }
    // a part that is alone is a part all the same
    let row = { list(6).1.narrow(axis![0], 0, 3) };
    assert_eq!(row.into_vec(), [0, 1, 2]);
    let turned = { list(6).1.reshape::<shape![2, 3]>().t() };
    assert_eq!(turned.into_vec(), [0, 3, 1, 4, 2, 5]);
    assert_eq!(tensor![7].expand::<shape![4]>().into_vec(), [7; 4]);
}

#[test]
fn memory_that_was_no_vector_of_these_elements_is_copied() {
    let sum: Tensor<i64, shape![2]> = tensor![1, 2] + 1;
    assert_eq!(sum.into_vec(), [2, 3]);
    assert_eq!(Tensor::<f64, shape![300, 1000]>::ones().into_vec(), vec![1.0; 300_000]); // from the pool
    // the allocator is told the alignment and the size of what it gave
    let bytes = vec![1_u8, 0, 2, 0, 3, 0, 4, 0];
    let place = bytes.as_ptr();
    let wide = { List::from_vec_sized(bytes, [8]).view_dtype::<i16>() };
    let copy = wide.into_vec();
    assert_eq!(copy, [1, 2, 3, 4].map(|x: i16| x.to_le()));
    assert_ne!(copy.as_ptr().cast(), place);
    let (place, wide) = list(2);
    let narrow = { wide.view_dtype::<i16>() };
    drop(wide);
    let copy = narrow.into_vec();
    assert!(copy.len() == 4 && copy.as_ptr().cast() != place);
    let floats = vec![1.0_f32];
    let place = floats.as_ptr();
    let same = { List::from_vec_sized(floats, [1]).view_dtype::<i32>() };
    let back = same.into_vec();
    assert_eq!((back.as_ptr().cast(), back), (place, vec![0x3f80_0000]));
    let (memory, mut written) = ([1, 2, 3], [4, 5, 6]);
    let view = TensorView::<i32, shape![3]>::from_slice(&memory);
    let vector = view.to_tensor().into_vec();
    assert!(vector == memory && vector.as_ptr() != memory.as_ptr());
    let view = castiron::TensorViewMut::<i32, shape![3]>::from_slice_mut(&mut written);
    let vector = view.to_tensor().into_vec();
    assert!(vector == [4, 5, 6]);
    drop(vector);
    assert_eq!(written, [4, 5, 6]);
}

#[test]
fn nothing_and_one_are_vectors_too() {
    assert!(List::from_vec_sized(Vec::<f64>::new(), [0]).into_vec().is_empty());
    assert!(Tensor::<bool, shape![_, 3]>::zeros_sized([0, 3]).into_vec().is_empty());
    let room = Vec::<i64>::with_capacity(10);
    let place = room.as_ptr();
    let back = List::from_vec_sized(room, [0]).into_vec();
    assert_eq!((back.as_ptr(), back.capacity()), (place, 10));
    assert_eq!(Tensor::<f32, ()>::scalar(2.5).into_vec(), [2.5]);
    assert_eq!(List::from_vec_sized(vec![F4E2M1FNX2::default(); 3], [3]).into_vec().len(), 3);
}
