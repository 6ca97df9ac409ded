//! Windows that move far, reach far and are padded far: convolutions, pooling and patches beside their definitions, which see nothing of
//! the distance.

use castiron::any::{ConvOptions, PoolOptions};
use castiron::{AnyTensor, DType, Tensor, shape};

/// Stride, padding and dilation.
type Moves = [i64; 3];

/// The operand's position that a position of a window has at a place, if it is no padding.
fn position([stride, padding, dilation]: Moves, place: usize, at: usize, len: usize) -> Option<usize> {
    let at = place as i128 * stride as i128 + at as i128 * dilation as i128 - padding as i128;
    usize::try_from(at).ok().filter(|&at| at < len)
}

/// How many places a window has.
fn places([stride, padding, dilation]: Moves, len: usize, kernel: usize) -> usize {
    let room = len as i128 + 2 * padding as i128 - (kernel as i128 - 1) * dilation as i128 - 1;
    if room < 0 { 0 } else { usize::try_from(room / stride as i128 + 1).unwrap() }
}

fn counting(sizes: &[usize], dtype: DType) -> AnyTensor {
    let len = sizes.iter().product::<usize>() as i64;
    let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
    let line: Tensor<i64, shape![_]> = Tensor::from_vec_sized((0..len).map(|at| at % 7 + 1).collect(), [len as usize]);
    AnyTensor::from(line).reshape(&sizes).unwrap().to(dtype).unwrap()
}

fn numbers(x: &AnyTensor) -> Vec<f64> {
    let x = x.to(DType::F64).unwrap().contiguous().unwrap();
    x.to_bytes().unwrap().chunks_exact(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap())).collect()
}

/// Channels, length and kernel, and moves: all with few places.
fn cases() -> Vec<([usize; 3], Moves)> {
    let far = 1 << 60;
    vec![
        ([16, 9, 3], [far, far / 2, 1]),
        ([4, 9, 3], [i64::MAX, i64::MAX / 2, 1]),
        ([32, 9, 3], [1 << 59, 1 << 58, 1]),
        ([64, 9, 3], [1 << 58, 1 << 57, 1]),
        ([5, 4, 2], [1, (i64::MAX / 5) / 2, i64::MAX / 5]),
        ([8, 4, 2], [1, far, 2 * far]),
        ([16, 1, 1], [far, far / 2, 1]),
        ([2, 9, 3], [1 << 26, 1 << 26, 1]),
        ([1, 40, 3], [13, 2, 9]),
        ([3, 40, 2], [3, 30, 31]),
        ([2, 9, 1], [1, 5, i64::MAX]),
        ([2, 9, 2], [i64::MAX, 0, 8]),
    ]
}

#[test]
fn convolutions_read_what_their_windows_see() {
    for ([channels, len, kernel], moves) in cases() {
        let [stride, padding, dilation] = moves;
        let options = ConvOptions::new().stride(&[stride]).padding(&[padding]).dilation(&[dilation]);
        for (dtype, groups) in [(DType::F32, 1), (DType::F64, channels), (DType::F16, 1), (DType::I64, 1)] {
            let outputs = 2 * groups;
            let (x, w) = (counting(&[2, channels, len], dtype), counting(&[outputs, channels / groups, kernel], dtype));
            let y = x.conv1d(&w, None, &options.clone().groups(groups as i64)).unwrap();
            let (x, w, places) = (numbers(&x), numbers(&w), places(moves, len, kernel));
            let mut expected: Vec<f64> = Vec::new();
            for (n, o, place) in
                (0..2).flat_map(|n| (0..outputs).flat_map(move |o| (0..places).map(move |place| (n, o, place))))
            {
                let per = channels / groups;
                let terms = (0..per).flat_map(|c| (0..kernel).map(move |at| (c, at))).filter_map(|(c, at)| {
                    let from = position(moves, place, at, len)?;
                    Some(x[(n * channels + o / 2 * per + c) * len + from] * w[(o * per + c) * kernel + at])
                });
                expected.push(terms.sum());
            }
            assert_eq!(y.shape(), [2, outputs, places], "{moves:?}");
            assert_eq!(numbers(&y), expected, "{channels} {len} {kernel} {moves:?} {dtype}");
        }
    }
    let far = 1 << 32;
    let x = counting(&[1, 1, 1, 1], DType::F32);
    let y = x.conv2d(&x, None, &ConvOptions::new().stride(&[far]).padding(&[far / 2])).unwrap();
    assert_eq!((y.shape(), numbers(&y)), (&[1, 1, 2, 2][..], vec![0.0; 4]));
}

#[test]
fn transposed_convolutions_add_what_meets() {
    for ([len, kernel], moves) in [
        ([2, 2], [1 << 40, 1 << 39, 1]),
        ([2, 2], [1, 1 << 40, (1 << 41) + 2]),
        ([3, 2], [50, 45, 3]),
        ([4, 3], [2, 1, 1]),
        ([2, 3], [1, 60, 60]),
    ] {
        let [stride, padding, dilation] = moves;
        let (x, w) = (counting(&[1, 2, len], DType::F32), counting(&[2, 1, kernel], DType::F32));
        let options = ConvOptions::new().stride(&[stride]).padding(&[padding]).dilation(&[dilation]);
        let y = x.conv_transpose1d(&w, None, &options).unwrap();
        let places = (len as i64 - 1) * stride - 2 * padding + dilation * (kernel as i64 - 1) + 1;
        let (x, w) = (numbers(&x), numbers(&w));
        let mut expected = vec![0.0; places as usize];
        for (c, i, t) in (0..2).flat_map(|c| (0..len).flat_map(move |i| (0..kernel).map(move |t| (c, i, t)))) {
            let at = i as i64 * stride + t as i64 * dilation - padding;
            if (0..places).contains(&at) {
                expected[at as usize] += x[c * len + i] * w[c * kernel + t];
            }
        }
        assert_eq!(numbers(&y), expected, "{len} {kernel} {moves:?}");
    }
}

#[test]
fn pools_and_patches_see_what_is_there() {
    for ([channels, len, kernel], moves) in cases() {
        let [stride, padding, dilation] = moves;
        let options = PoolOptions::new(&[kernel as i64]).stride(&[stride]).padding(&[padding]).dilation(&[dilation]);
        let x = counting(&[1, channels, len], DType::F32);
        let list = numbers(&x);
        let count = places(moves, len, kernel);
        let seen = |c: usize, place: usize| -> Vec<Option<f64>> {
            (0..kernel).map(|at| position(moves, place, at, len).map(|at| list[c * len + at])).collect()
        };
        if padding as i128 <= ((kernel as i128 - 1) * dilation as i128 + 1) / 2 {
            let y = x.max_pool1d(&options).unwrap();
            let (with_index, index) = x.max_pool1d_with_indices(&options).unwrap();
            let largest = |seen: Vec<Option<f64>>| seen.into_iter().flatten().fold(f64::NEG_INFINITY, f64::max);
            let expected: Vec<f64> = (0..channels)
                .flat_map(|c| (0..count).map(move |at| (c, at)))
                .map(|(c, at)| largest(seen(c, at)))
                .collect();
            assert_eq!((numbers(&y), numbers(&with_index)), (expected.clone(), expected), "{moves:?}");
            assert!(numbers(&index).iter().all(|&at| (0.0..len as f64).contains(&at)));
        }
        // (Of images of one row.)
        let row = |number: i64, other: i64| [other, number];
        let options = PoolOptions::new(&row(kernel as i64, 1))
            .stride(&row(stride, 1))
            .padding(&row(padding, 0))
            .dilation(&row(dilation, 1));
        let y = x.unsqueeze(2).unwrap().im2col(&options).unwrap();
        let mut expected = Vec::new();
        for (c, at, place) in
            (0..channels).flat_map(|c| (0..kernel).flat_map(move |at| (0..count).map(move |place| (c, at, place))))
        {
            expected.push(seen(c, place)[at].unwrap_or(0.0));
        }
        assert_eq!(numbers(&y), expected, "{channels} {len} {kernel} {moves:?}");
    }
}

/// Operands that take no memory themselves, of sizes whose products overflow once they are rounded up.
#[test]
fn operands_that_are_repeated_without_end_are_refused() {
    for (channels, dtype) in [(1_i64 << 61, DType::F16), (1 << 59, DType::F64), (1 << 40, DType::F32)] {
        let one = AnyTensor::ones(&[1, 1, 1], dtype).unwrap();
        let all = one.expand(&[1, channels, 1]).unwrap();
        assert!(all.conv1d(&all, None, &ConvOptions::new()).is_err());
        assert!(one.expand(&[1, 1, channels]).unwrap().conv1d(&one, None, &ConvOptions::new()).is_err());
        let long = one.expand(&[1, 1, channels]).unwrap();
        assert!(long.conv1d(&long, None, &ConvOptions::new().padding(&[1])).is_err());
    }
    // Strips of 16 output channels of so many weights are 2^64 numbers.
    let one = AnyTensor::ones(&[1, 1, 1], DType::F16).unwrap();
    let (x, w) = (one.expand(&[1, 1 << 60, 3]).unwrap(), one.expand(&[1, 1 << 60, 1]).unwrap());
    assert!(x.conv1d(&w, None, &ConvOptions::new()).is_err());
}
