//! Elements are read and written in place, up to the last one and no further.

use castiron::{Complex, Dyn, Tensor, TensorView, TensorViewMut, axis, fused, shape, tensor};

/// Memory of exactly this many elements: nothing may be read after the last.
fn exact(len: usize) -> Box<[i32]> {
    (0..len as i32).collect()
}

#[test]
fn views_reach_the_last_element_of_their_memory() {
    let memory = exact(12);
    let x = TensorView::<i32, (Dyn, Dyn)>::from_slice_strided(&memory, [3, 2], [4, 3]);
    assert_eq!(x.to_vec(), [0, 3, 4, 7, 8, 11]);
    assert_eq!((x.get((2, 1)), x.get((3, 0)), x.get((0, 2)), x[(2, 1)]), (Some(&11), None, None, 11));
    let mut all = x.iter();
    assert_eq!((all.by_ref().count(), all.next(), all.len()), (6, None, 0));
    assert_eq!((x.as_slice(), x.t().as_slice()), (None, None));
    let last = x.select(axis![0], 2).narrow(axis![0], 1, 1);
    assert_eq!((last.as_slice(), last.item_of()), (Some(&[11][..]), 11));
    for sizes in [[3, 5], [4, 2], [usize::MAX, 2], [1 << 62, 8]] {
        assert!(TensorView::<i32, (Dyn, Dyn)>::try_from_slice_strided(&memory, sizes, [4, 3]).is_err());
    }
    for strides in [[4, 4], [6, 1], [usize::MAX, 1], [1 << 62, 1]] {
        assert!(TensorView::<i32, (Dyn, Dyn)>::try_from_slice_strided(&memory, [3, 5], strides).is_err());
    }
}

/// `item` of a vector of one element.
trait ItemOf {
    fn item_of(&self) -> i32;
}
impl ItemOf for Tensor<i32, (Dyn,)> {
    fn item_of(&self) -> i32 {
        self[0]
    }
}

#[test]
fn nothing_is_read_of_views_without_elements_and_one_of_those_without_axes() {
    let memory = exact(0);
    for sizes in [[0, 3], [3, 0]] {
        let x = TensorView::<i32, (Dyn, Dyn)>::from_slice_sized(&memory, sizes);
        assert_eq!((x.to_vec(), x.as_slice(), x.get((0, 0)), x.iter().next()), (vec![], Some(&[][..]), None, None));
        assert_eq!((fused!(&*x + &*x).to_vec(), x.sum().item()), (vec![], 0));
        let mut own = x.to_tensor();
        own += 1;
        assert!(own.as_mut_slice().is_empty());
    }
    let x = TensorView::<i32, ()>::from_slice(&[7]);
    assert_eq!((x[()], x.to_vec(), x.as_slice()), (7, vec![7], Some(&[7][..])));
    let mut one = [7];
    let mut x = TensorViewMut::<i32, ()>::from_slice_mut(&mut one);
    *x.get_mut(()).unwrap() += 1;
    x += 1;
    assert_eq!(one, [9]);
}

#[test]
fn edits_reach_the_last_element_and_those_between_are_left_alone() {
    let mut memory = exact(12);
    let mut x = TensorViewMut::<i32, (Dyn, Dyn)>::from_slice_mut_strided(&mut memory, [3, 2], [4, 3]);
    x.fill(-1);
    x[(2, 1)] = -2;
    assert!(x.get_mut((3, 0)).is_none() && x.get_mut((0, 2)).is_none() && x.as_mut_slice().is_none());
    let mut column = x.select_mut(axis![1], 0);
    column += tensor![10, 20, 30; i32];
    let mut row = x.select_mut(axis![0], 1);
    row.narrow_mut(axis![0], 1, 1).as_mut_slice().unwrap()[0] = 5;
    assert_eq!(*memory, [9, 1, 2, -1, 19, 5, 6, 5, 29, 9, 10, -2]);
    for (sizes, strides) in [([3, 5], [4, 3]), ([2, 2], [1, 1]), ([2, 2], [0, 1]), ([usize::MAX, 2], [0, 1])] {
        assert!(TensorViewMut::<i32, (Dyn, Dyn)>::try_from_slice_mut_strided(&mut memory, sizes, strides).is_err());
    }
}

#[test]
fn slices_are_given_of_elements_side_by_side_alone() {
    let mut x = Tensor::<i32, (Dyn, Dyn)>::from_vec_sized(exact(6).into_vec(), [2, 3]);
    let second = x.select(axis![0], 1);
    assert_eq!((second.as_slice(), x.t().as_slice()), (Some(&[3, 4, 5][..]), None));
    assert_eq!(x.narrow(axis![1], 1, 2).as_slice(), None);
    x.t_mut()[(2, 0)] = 9;
    x.as_mut_slice()[5] = 8;
    assert_eq!((x.to_vec(), second.to_vec()), (vec![0, 1, 9, 3, 4, 8], vec![3, 4, 5]));
    let mut turned = x.t();
    turned.as_mut_slice()[1] = 7;
    assert_eq!((turned.to_vec(), x.to_vec()), (vec![0, 7, 1, 4, 9, 8], vec![0, 1, 9, 3, 4, 8]));
    let mut repeated = tensor![1, 2; i32].expand_sized::<(Dyn, Dyn)>([2, 2]);
    repeated[(0, 0)] = 5;
    assert_eq!(repeated.to_vec(), [5, 2, 1, 2]);
}

#[test]
fn bytes_that_are_no_elements_are_refused() {
    let words = [0x0101_0101_u32, 0x0001_0001, 0x0100];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let start = bytes.as_ptr().align_offset(align_of::<u32>());
    let aligned = &bytes[start..][..4];
    assert_eq!(TensorView::<u32, shape![_]>::from_bytes(aligned, [1]).unwrap().numel(), 1);
    for shift in 1..4 {
        assert!(TensorView::<u32, shape![_]>::from_bytes(&bytes[start + shift..][..4], [1]).is_err());
    }
    for (len, sizes) in [(4, [2]), (5, [1]), (3, [1]), (0, [1])] {
        assert!(TensorView::<u32, shape![_]>::from_bytes(&bytes[start..][..len], sizes).is_err());
    }
    assert_eq!(TensorView::<bool, shape![_]>::from_bytes(&[0, 1, 1], [3]).unwrap().to_vec(), [false, true, true]);
    assert!(TensorView::<bool, shape![_]>::from_bytes(&[0, 1, 2], [3]).is_err());
    assert!(TensorView::<bool, shape![_]>::from_bytes(&[255, 1, 0], [3]).is_err());
    let bytes = tensor![0, 1, 2, 1; u8];
    assert!(bytes.try_view_dtype::<bool>().is_err());
    // Nor are they reached from neighbouring bools.
    if let Ok(part) = bytes.narrow(axis![0], 0, 2).try_view_dtype::<bool>() {
        assert!(part.try_as_strided_sized::<(Dyn,)>([3], [1], Some(0)).is_err());
    }
    assert_eq!(tensor![0, 1, 1; u8].view_dtype::<bool>().to_vec(), [false, true, true]);
    assert!(tensor![0x0201].try_view_dtype::<bool>().is_err());
    assert_eq!(tensor![0x0101; i32].view_dtype::<bool>().to_vec(), [true, true, false, false]);
}

#[test]
fn wider_elements_lie_inside_the_memory_and_aligned() {
    // (A literal is a vector's memory, which is aligned for its own elements alone.)
    let x = &tensor![[1, 0, 2], [0, 3, 0]; i32] + 0;
    assert!(x.try_view_dtype_of_odd().is_err());
    let even = x.view_sized::<(Dyn, Dyn)>([1, 6]);
    assert_eq!(even.view_dtype::<i64>().to_vec(), [1, 2, 3]);
    assert!(even.narrow(axis![1], 1, 4).try_view_dtype::<i64>().is_err());
    let parts = tensor![1.0 + 2.0j, 3.0 - 4.0j];
    assert_eq!(parts.imag().to_vec(), [2.0, -4.0]);
    assert_eq!(parts.view_as_real().select(axis![0], 1).to_vec(), [3.0, -4.0]);
    let pairs = tensor![[0.5, 1.5], [2.5, 3.5]];
    assert_eq!(pairs.view_as_complex().to_vec()[1], Complex { re: 2.5, im: 3.5 });
    assert!(pairs.t().try_view_as_complex().is_err());
}

/// Rows of three, which make no pairs.
trait Odd {
    fn try_view_dtype_of_odd(&self) -> Result<Tensor<i64, (Dyn, Dyn)>, castiron::Error>;
}
impl Odd for Tensor<i32, shape![2, 3]> {
    fn try_view_dtype_of_odd(&self) -> Result<Tensor<i64, (Dyn, Dyn)>, castiron::Error> {
        self.view_sized::<(Dyn, Dyn)>([2, 3]).try_view_dtype::<i64>()
    }
}

#[test]
fn expressions_read_no_further_than_their_operands() {
    // Shorter and longer than what is copied at once; leaves side by side, apart, repeated and turned.
    for len in [1, 7, 255, 256, 257, 600] {
        let memory = exact(2 * len + 1);
        let apart = TensorView::<i32, (Dyn,)>::from_slice_strided(&memory[1..], [len], [2]);
        let dense = TensorView::<i32, (Dyn,)>::from_slice_sized(&memory[len + 1..], [len]);
        let one = TensorView::<i32, (Dyn,)>::from_slice_sized(&memory[2 * len..], [1]);
        let want = |at: usize| (2 * at + 1 + len + 1 + at + 2 * len) as i32;
        let (apart, dense, one) = (&*apart, &*dense, &*one);
        let got = fused!(apart + dense + one);
        assert_eq!(got.to_vec(), (0..len).map(want).collect::<Vec<_>>());
        assert_eq!(fused!((apart + dense + one).sum()).item(), (0..len).map(|at| i64::from(want(at))).sum::<i64>());
        let mut to = got.clone();
        to += apart.lazy() + one;
        assert_eq!(to[len - 1], want(len - 1) + (2 * len - 1 + 2 * len) as i32);
        assert_eq!(got[len - 1], want(len - 1));
    }
    let memory: Box<[f32]> = (0..6).map(|x| x as f32).collect();
    let x = TensorView::<f32, shape![2, 3]>::from_slice(&memory);
    let (x, t) = (&*x, &*x.t());
    assert_eq!(fused!(x.exp().log() + t.reshape::<shape![2, 3]>()).shape(), [2, 3]);
    let halves = x.to::<castiron::f16>();
    let halves = &halves;
    assert_eq!(fused!((halves * halves).sum()).item().to_f32(), 55.0);
}

#[test]
fn numbers_that_no_integer_holds_are_converted_without_looking_at_their_bits() {
    let odd = [f64::NAN, f64::INFINITY, -1e300, 2_147_483_648.0, -2_147_483_649.0, 1e10, -0.5];
    let x = Tensor::<f64, (Dyn,)>::from_vec_sized(odd.to_vec(), [7]);
    let smallest = i32::MIN;
    assert_eq!(x.to::<i32>().to_vec(), [smallest, smallest, smallest, smallest, smallest, smallest, 0]);
    assert_eq!(x.to::<f32>().to::<i32>().to_vec()[..3], [smallest; 3]);
}

#[test]
fn closures_read_and_write_their_own_elements() {
    let mut x = tensor![[1, 2, 3], [4, 5, 6]];
    assert_eq!(
        x.t().zip_map(tensor![true, false], |(v, keeps)| if keeps { v } else { 0 }).to_vec(),
        [1, 0, 2, 0, 3, 0]
    );
    assert_eq!(x.unfold_sized(axis![1], 2, 1).map_lanes(axis![-1], |pair| pair[1] - pair[0]).to_vec(), [1; 4]);
    let mut column = x.select_mut(axis![1], 1);
    column.map_(|v| -v).map_lanes_(axis![0], |lane| lane.swap(0, 1));
    let mut items: Vec<&mut i64> = column.iter_mut().collect();
    *items[0] += 10;
    *items[1] += 20;
    assert_eq!(x.to_vec(), [1, 5, 3, 4, 18, 6]);
    assert_eq!(x.fold_axis(axis![0], 0, |sum, v| sum + v).to_vec(), [5, 23, 9]);
    let stopped =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| x.map(|v| if v == 18 { panic!("18") } else { v })));
    assert!(stopped.is_err() && x.indexed_iter().count() == 6);
}
