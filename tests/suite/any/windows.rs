//! Windows with large strides, dilations and padding: convolutions, pooling and patches compared with their definitions, which do not
//! depend on the distances. Used by fuzzing and by tests.

use castiron::any::{ConvOptions, PoolOptions};
use castiron::{AnyTensor, DType, Tensor, shape};

/// Stride, padding and dilation.
type Moves = [i64; 3];

/// The operand's position that a position of a window has at a place, if it is no padding.
fn position([stride, padding, dilation]: Moves, place: usize, at: usize, len: usize) -> Option<usize> {
    let at = place as i128 * stride as i128 + at as i128 * dilation as i128 - padding as i128;
    usize::try_from(at).ok().filter(|&at| at < len)
}

/// How many places a window has: none on an axis that is longer, padded, than can be counted.
fn places([stride, padding, dilation]: Moves, len: usize, kernel: usize) -> usize {
    let padded = len as i128 + 2 * padding as i128;
    let room = padded - (kernel as i128 - 1) * dilation as i128 - 1;
    if room < 0 || padded > usize::MAX as i128 { 0 } else { usize::try_from(room / stride as i128 + 1).unwrap() }
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
#[cfg(test)]
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
        // One position at one place, and an axis of several.
        ([1, 3, 1], [25_165_824, 0, 655_363]),
    ]
}

/// A convolution compared with its definition.
fn convolved([channels, len, kernel]: [usize; 3], moves: Moves, dtype: DType, groups: usize) {
    let [stride, padding, dilation] = moves;
    let options = ConvOptions::new().stride(&[stride]).padding(&[padding]).dilation(&[dilation]);
    let outputs = 2 * groups;
    let (x, w) = (counting(&[2, channels, len], dtype), counting(&[outputs, channels / groups, kernel], dtype));
    let y = x.conv1d(&w, None, &options.groups(groups as i64));
    let places = places(moves, len, kernel);
    if places == 0 {
        assert!(y.is_err(), "{moves:?}");
        return;
    }
    let (x, w, y) = (numbers(&x), numbers(&w), y.unwrap());
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

/// A transposed convolution compared with its definition.
fn transposed([len, kernel]: [usize; 2], moves: Moves) {
    let [stride, padding, dilation] = moves;
    let options = ConvOptions::new().stride(&[stride]).padding(&[padding]).dilation(&[dilation]);
    let places = (len as i128 - 1) * stride as i128 - 2 * padding as i128 + dilation as i128 * (kernel as i128 - 1) + 1;
    if !(1..=MOST).contains(&places) {
        return;
    }
    let (x, w) = (counting(&[1, 2, len], DType::F32), counting(&[2, 1, kernel], DType::F32));
    let y = x.conv_transpose1d(&w, None, &options).unwrap();
    let (x, w) = (numbers(&x), numbers(&w));
    let mut expected = vec![0.0; places as usize];
    for (c, i, t) in (0..2).flat_map(|c| (0..len).flat_map(move |i| (0..kernel).map(move |t| (c, i, t)))) {
        let at = i as i128 * stride as i128 + t as i128 * dilation as i128 - padding as i128;
        if (0..places).contains(&at) {
            expected[at as usize] += x[c * len + i] * w[c * kernel + t];
        }
    }
    assert_eq!(numbers(&y), expected, "{len} {kernel} {moves:?}");
}

/// Pools and patches compared with their definitions.
fn pooled([channels, len, kernel]: [usize; 3], moves: Moves) {
    let [stride, padding, dilation] = moves;
    let options = PoolOptions::new(&[kernel as i64]).stride(&[stride]).padding(&[padding]).dilation(&[dilation]);
    let x = counting(&[1, channels, len], DType::F32);
    let list = numbers(&x);
    let count = places(moves, len, kernel);
    let seen = |c: usize, place: usize| -> Vec<Option<f64>> {
        (0..kernel).map(|at| position(moves, place, at, len).map(|at| list[c * len + at])).collect()
    };
    let all = || (0..channels).flat_map(|c| (0..count).map(move |place| (c, place)));
    let fits = count > 0 && padding as i128 <= ((kernel as i128 - 1) * dilation as i128 + 1) / 2;
    let y = x.max_pool1d(&options);
    assert_eq!(y.is_ok(), fits, "{len} {kernel} {moves:?}");
    if let Ok(y) = y {
        let (with_index, index) = x.max_pool1d_with_indices(&options).unwrap();
        let largest = |seen: Vec<Option<f64>>| seen.into_iter().flatten().fold(f64::NEG_INFINITY, f64::max);
        let expected: Vec<f64> = all().map(|(c, place)| largest(seen(c, place))).collect();
        assert_eq!((numbers(&y), numbers(&with_index)), (expected.clone(), expected), "{moves:?}");
        assert!(numbers(&index).iter().all(|&at| (0.0..len as f64).contains(&at)));
    }
    // (Of images of one row.)
    let row = |number: i64, other: i64| [other, number];
    let options = PoolOptions::new(&row(kernel as i64, 1))
        .stride(&row(stride, 1))
        .padding(&row(padding, 0))
        .dilation(&row(dilation, 1));
    let y = x.unsqueeze(2).unwrap().im2col(&options);
    assert_eq!(y.is_ok(), count > 0, "{moves:?}");
    if let Ok(y) = y {
        let mut expected = Vec::new();
        for (c, at, place) in
            (0..channels).flat_map(|c| (0..kernel).flat_map(move |at| (0..count).map(move |place| (c, at, place))))
        {
            expected.push(seen(c, place)[at].unwrap_or(0.0));
        }
        assert_eq!(numbers(&y), expected, "{channels} {len} {kernel} {moves:?}");
    }
}

/// The most places that are computed.
const MOST: i128 = 300;

/// Sizes and moves from any bytes, missing ones being zeros: numbers of all magnitudes.
pub fn any_windows(data: &[u8]) {
    let byte = |at: usize| data.get(at).copied().unwrap_or(0);
    let number = |at: usize| {
        let shifted = i128::from(byte(at) % 16) << (byte(at + 1) % 64);
        (shifted + i128::from(byte(at + 2) % 4)).min(i128::from(i64::MAX)) as i64
    };
    let channels = usize::from(byte(0) % 20) + 1;
    let (len, kernel) = (usize::from(byte(1) % 40) + 1, usize::from(byte(2) % 4) + 1);
    let moves = [number(3).max(1), number(6), number(9).max(1)];
    let dtype = [DType::F32, DType::F64, DType::F16, DType::I64][usize::from(byte(12) % 4)];
    transposed([len, kernel], moves);
    let padded = len as i128 + 2 * i128::from(moves[1]);
    if padded / i128::from(moves[0]) > MOST {
        return;
    }
    convolved([channels, len, kernel], moves, dtype, if byte(13) % 2 == 0 { 1 } else { channels });
    pooled([channels, len, kernel], moves);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn convolutions_read_what_their_windows_see() {
        for (sizes, moves) in cases() {
            for (dtype, groups) in [(DType::F32, 1), (DType::F64, sizes[0]), (DType::F16, 1), (DType::I64, 1)] {
                convolved(sizes, moves, dtype, groups);
            }
        }
        let far = 1 << 32;
        let x = counting(&[1, 1, 1, 1], DType::F32);
        let y = x.conv2d(&x, None, &ConvOptions::new().stride(&[far]).padding(&[far / 2])).unwrap();
        assert_eq!((y.shape(), numbers(&y)), (&[1, 1, 2, 2][..], vec![0.0; 4]));
    }

    #[test]
    fn transposed_convolutions_add_what_meets() {
        let far = [1 << 40, 1 << 39, 1];
        for (sizes, moves) in [
            ([2, 2], far),
            ([2, 2], [1, 1 << 40, (1 << 41) + 2]),
            ([3, 2], [50, 45, 3]),
            ([4, 3], [2, 1, 1]),
            ([2, 3], [1, 60, 60]),
        ] {
            transposed(sizes, moves);
        }
    }

    #[test]
    fn pools_and_patches_see_what_is_there() {
        for (sizes, moves) in cases() {
            pooled(sizes, moves);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn windows_of_any_magnitude_see_what_the_definition_says(data in prop::collection::vec(any::<u8>(), 14)) {
            any_windows(&data);
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
    }
}
