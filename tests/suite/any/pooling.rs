//! Pooling with channels last compared with channels first: whatever the windows, sizes and dtypes, the results are the same.

use super::layouts::Random;
use castiron::any::PoolOptions;
use castiron::{AnyTensor, DType, MemoryFormat, Result};

/// Whole numbers, whose sums no order of adding changes; of floats one in twenty is NaN or infinite.
fn images(random: &mut Random, sizes: &[usize], dtype: DType) -> AnyTensor {
    let number = |random: &mut Random| match random.next(60) {
        0 if dtype.is_floating_point() => f64::NAN,
        1 if dtype.is_floating_point() => f64::INFINITY,
        2 if dtype.is_floating_point() => f64::NEG_INFINITY,
        _ => random.next(100) as f64 - if dtype == DType::U8 { 0.0 } else { 50.0 },
    };
    let count = sizes.iter().product();
    let bytes: Vec<u8> = (0..count).flat_map(|_| number(random).to_le_bytes()).collect();
    AnyTensor::from_bytes(&bytes, DType::F64, sizes).unwrap().to(dtype).unwrap()
}

/// The elements in the order of the axes; any NaN is a NaN.
fn listed(x: &AnyTensor) -> Vec<Option<u64>> {
    let bytes = x.to(DType::F64).unwrap().contiguous().unwrap().to_bytes().unwrap();
    let numbers = bytes.chunks_exact(8).map(|one| f64::from_le_bytes(one.try_into().unwrap()));
    numbers.map(|number| (!number.is_nan()).then(|| number.to_bits())).collect()
}

/// Pools both: the elements are the same, and channels stay last; or neither can be pooled.
fn expect_same(what: &str, first: &AnyTensor, format: MemoryFormat, pool: impl Fn(&AnyTensor) -> Result<AnyTensor>) {
    let last = first.contiguous_in(format).unwrap();
    match (pool(first), pool(&last)) {
        (Ok(expected), Ok(found)) => {
            assert_eq!((found.shape(), found.dtype()), (expected.shape(), expected.dtype()), "{what}");
            let is_last = MemoryFormat::suggested(last.shape(), last.stride()) == format;
            assert!(!is_last || found.is_contiguous_in(format), "{what}: {:?}", found.stride());
            assert_eq!(listed(&found), listed(&expected), "{what}");
        }
        (expected, found) => assert_eq!(
            found.map(|_| ()).map_err(|error| error.to_string()),
            expected.map(|_| ()).map_err(|error| error.to_string()),
            "{what}"
        ),
    }
}

const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

/// Numbers of channels that are one vector, several, and no multiple of any.
const CHANNELS: [usize; 8] = [1, 3, 8, 13, 20, 32, 67, 131];

fn options(random: &mut Random, axes: usize) -> PoolOptions {
    let mut each =
        |low: usize, below: usize| -> Vec<i64> { (0..axes).map(|_| (low + random.next(below)) as i64).collect() };
    let (kernel, stride) = (each(1, 4), each(1, 3));
    let padding: Vec<i64> = each(0, 3).iter().zip(&kernel).map(|(&padding, &kernel)| padding.min(kernel / 2)).collect();
    PoolOptions::new(&kernel).stride(&stride).padding(&padding).ceil_mode(random.next(2) == 1)
}

#[test]
fn the_largest_of_windows_are_the_same_where_channels_lie_last() {
    let mut random = Random(5);
    let dtypes = [&FLOATS[..], &[DType::U8, DType::I8, DType::I16, DType::I32, DType::I64]].concat();
    for round in 0..180 {
        let (dtype, channels) = (dtypes[round % 9], CHANNELS[random.next(8)]);
        let sizes = [random.next(3), channels, 1 + random.next(11), 1 + random.next(11)];
        let dilation = [1 + random.next(3) as i64, 1 + random.next(3) as i64];
        let (x, options) = (images(&mut random, &sizes, dtype), options(&mut random, 2).dilation(&dilation));
        let what = format!("{round}: {dtype} {sizes:?} {options:?}");
        expect_same(&what, &x, MemoryFormat::CHANNELS_LAST, |x| x.max_pool2d(&options));
        expect_same(&what, &x, MemoryFormat::CHANNELS_LAST, |x| Ok(x.max_pool2d_with_indices(&options)?.0));
    }
}

#[test]
fn the_means_of_windows_are_the_same_where_channels_lie_last() {
    let mut random = Random(6);
    for round in 0..160 {
        let (dtype, channels) = ([&FLOATS[..], &[DType::I64]].concat()[round % 5], CHANNELS[random.next(8)]);
        let sizes = [random.next(3), channels, 1 + random.next(11), 1 + random.next(11)];
        let options = options(&mut random, 2).count_include_pad(random.next(2) == 1);
        let options = if random.next(3) == 0 { options.divisor_override(3) } else { options };
        let x = images(&mut random, &sizes, dtype);
        let what = format!("{round}: {dtype} {sizes:?} {options:?}");
        expect_same(&what, &x, MemoryFormat::CHANNELS_LAST, |x| x.avg_pool2d(&options));
    }
}

#[test]
fn so_are_those_over_three_axes() {
    let mut random = Random(7);
    for round in 0..80 {
        let (dtype, channels) = (FLOATS[round % 4], CHANNELS[random.next(8)]);
        let sizes = [random.next(3), channels, 1 + random.next(5), 1 + random.next(6), 1 + random.next(6)];
        let (x, options) = (images(&mut random, &sizes, dtype), options(&mut random, 3));
        let what = format!("{round}: {dtype} {sizes:?} {options:?}");
        expect_same(&what, &x, MemoryFormat::CHANNELS_LAST_3D, |x| x.max_pool3d(&options));
        expect_same(&what, &x, MemoryFormat::CHANNELS_LAST_3D, |x| x.avg_pool3d(&options));
    }
}

#[test]
fn windows_of_hundreds_of_positions_are_pooled_alike() {
    let mut random = Random(8);
    for dtype in FLOATS {
        let x = images(&mut random, &[2, 20, 21, 19], dtype);
        for kernel in [15, 16, 17, 19] {
            let options = PoolOptions::new(&[kernel]).stride(&[2]).padding(&[kernel / 2]);
            let what = format!("{dtype} {options:?}");
            expect_same(&what, &x, MemoryFormat::CHANNELS_LAST, |x| x.max_pool2d(&options));
            expect_same(&what, &x, MemoryFormat::CHANNELS_LAST, |x| x.avg_pool2d(&options));
        }
    }
}

/// Parts that are equally long leave channels where they are; of others the result is row-major.
#[test]
fn equal_parts_are_pooled_alike_where_channels_lie_last() {
    let mut random = Random(9);
    for dtype in FLOATS {
        for (sizes, places) in
            [([2, 13, 6, 8], [3, 2]), ([1, 67, 6, 6], [6, 6]), ([2, 8, 20, 21], [2, 3]), ([0, 3, 4, 4], [2, 2])]
        {
            let x = images(&mut random, &sizes, dtype);
            let what = format!("{dtype} {sizes:?} {places:?}");
            expect_same(&what, &x, MemoryFormat::CHANNELS_LAST, |x| x.adaptive_avg_pool2d(places));
            expect_same(&what, &x, MemoryFormat::CHANNELS_LAST, |x| x.adaptive_max_pool2d(places));
        }
        let x = images(&mut random, &[2, 13, 7, 8], dtype);
        let last = x.contiguous_in(MemoryFormat::CHANNELS_LAST).unwrap();
        for places in [[3, 4], [7, 3], [1, 1]] {
            let pool = [AnyTensor::adaptive_avg_pool2d, AnyTensor::adaptive_max_pool2d];
            for pool in pool {
                assert_eq!(
                    listed(&pool(&last, places).unwrap()),
                    listed(&pool(&x, places).unwrap()),
                    "{dtype} {places:?}"
                );
            }
        }
    }
}

/// Every other channel, and every other row: channels have a step, and so have rows.
#[test]
fn views_with_gaps_are_pooled_as_their_copies_are() {
    let mut random = Random(10);
    let options = PoolOptions::new(&[3, 2]).stride(&[2, 1]).padding(&[1]);
    for dtype in FLOATS {
        let x = images(&mut random, &[2, 26, 9, 8], dtype).contiguous_in(MemoryFormat::CHANNELS_LAST).unwrap();
        let steps = x.stride().to_vec();
        for (sizes, strides, offset) in [
            ([2, 13, 9, 8], [steps[0], 2, steps[2], steps[3]], 1),
            ([2, 13, 9, 8], [steps[0], 1, steps[2], steps[3]], 5),
            ([2, 26, 4, 8], [steps[0], 1, 2 * steps[2], steps[3]], steps[2]),
            ([1, 26, 9, 4], [steps[0], 1, steps[2], 2 * steps[3]], 0),
        ] {
            let view = x.as_strided(&sizes, &strides, Some(offset)).unwrap();
            let copy = view.contiguous().unwrap();
            for pool in [AnyTensor::max_pool2d, AnyTensor::avg_pool2d] {
                assert_eq!(
                    listed(&pool(&view, &options).unwrap()),
                    listed(&pool(&copy, &options).unwrap()),
                    "{strides:?}"
                );
            }
        }
    }
}
